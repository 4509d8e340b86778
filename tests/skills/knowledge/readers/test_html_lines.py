"""Which words of a page stand in one line, and what is raised, lowered or struck out in it."""

from __future__ import annotations

import random
import re

import pytest

from tests.skills.knowledge.readers.files import body, everything, outline, read, told

BLOCKS = (
    "p div center address aside details summary fieldset legend label option hgroup section"
    " article figure figcaption form ul ol menu li dl dt dd blockquote h3 x-note table pre"
).split()
INLINE = "span b i em strong a s del sub sup code q small u mark font abbr kbd".split()


def text_of(html: str, head: str = "") -> str:
    page = f"<html><head>{head}</head><body><h1>Rules</h1>{html}</body></html>"
    return body(read(page, "x.html"), "Rules")


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("145<sup>1</sup> F", "145¹ F"),
        ("145 <sup>1</sup>F", "145 ¹F"),
        ("145<sup><a href='#n'>1</a></sup> F", "145¹ F"),
        ("<b>145</b><sup>1</sup> F", "**145**¹ F"),
        ("145<sup>1, 2</sup> F", "145¹, ² F"),
        ("145<sup>[3]</sup> F", "145[³] F"),
        ("145<sup>1</sup>/165<sup>2</sup> F", "145¹/165² F"),
        ("145<sup>a</sup>F", "145 (a) F"),
        ("the 1<sup>st</sup> of May", "the 1st of May"),
        ("12<sup>.50</sup>", "12 (.50)"),
        ("10<sup>-3</sup>", "10⁻³"),
        ("CO<sub>2</sub> and H<sub>2</sub>O", "CO₂ and H₂O"),
        ("T<sub>max</sub>40", "T (max) 40"),
        ("<small><sup>a</sup> Contains milk</small>", "a Contains milk"),
        ("<sup>a</sup>Contains milk", "(a) Contains milk"),
        ("145<span style='vertical-align: super'>1</span> F", "145¹ F"),
        ("1<sup>1</sup>/<sub>2</sub> cups", "1 1/2 cups"),
        ("1<sup>1</sup>&frasl;<sub>2</sub>cups", "1 1/2 cups"),
        ("1<sup>1</sup>&frasl;2 cups", "1 1/2 cups"),
        ("1 <sup>1/2</sup> cups", "1 1/2 cups"),
        ("3<sup>3/4</sup> cups", "3 3/4 cups"),
        ("<b>1</b><sup>1</sup>/<sub>2</sub> cups", "**1**(1/2) cups"),
        ("<math><mn>3</mn><mfrac><mn>1</mn><mn>2</mn></mfrac></math> l", "3 1/2 l"),
        ("<math><mfrac><mi>a</mi><mi>b</mi></mfrac></math>", "(a/b)"),
        (
            "<math><mfrac><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow><mn>2</mn></mfrac></math>",
            "((a+1)/2)",
        ),
        ("<math><msup><mn>10</mn><mn>2</mn></msup></math>", "10²"),
    ],
)
def test_what_is_raised_or_lowered_joins_no_word_and_no_number(html: str, text: str) -> None:
    assert text_of(f"<p>{html}</p>") == text
    cell = f"<table><tr><th>Heat</th></tr><tr><td>{html}</td></tr></table>"
    assert text in text_of(cell)


def test_a_title_keeps_raised_numbers_apart() -> None:
    page = "<html><h1>Rules</h1><h2>Hold at 145<sup>1</sup> F</h2><p>x</p></html>"
    assert outline(read(page, "x.html"))[1][0] == "Hold at 145 ¹ F"


@pytest.mark.parametrize("tag", [*BLOCKS, "footer", "header", "marquee", "th", "tr", "button"])
def test_two_blocks_are_two_lines(tag: str) -> None:
    page = f"<p>start</p><{tag}>Do not hold at 140</{tag}><{tag}>165 F never</{tag}>end"
    said = everything(read(f"<html><body><h1>Rules</h1>{page}</body></html>", "x.html"))
    assert "140165" not in said
    assert re.search(r"\bnever\b", said)
    assert re.search(r"\bend\b", said)


def test_what_follows_a_list_within_an_item_is_not_its_last_item() -> None:
    html = "<ul><li>Fryer at 350<ul><li>Drain 2</li></ul>5 minutes rest</li></ul>"
    assert text_of(html) == "- Fryer at 350\n  - Drain 2\n\n  5 minutes rest"


def test_lists_keep_the_numbers_that_their_items_are_given() -> None:
    assert text_of("<ol><li value=3>Wash</li><li>Dry</li></ol>") == "3. Wash\n4. Dry"
    assert text_of("<ol reversed><li>Wash</li><li>Dry</li></ol>") == "2. Wash\n1. Dry"


@pytest.mark.parametrize("seed", range(60))
def test_words_of_two_blocks_never_join_and_none_is_lost(seed: int) -> None:
    """Random trees; each word is one of its own, so that a joined one is not found."""
    words: list[str] = []
    html = tree(random.Random(seed), words, depth=5)
    page = f"<html><body><h1>Rules</h1><p>Text.</p>{html}</body></html>"
    said = everything(read(page, "x.html"))
    found = re.findall(r"[a-z]+", said)
    assert [word for word in words if word not in found] == [], html


def tree(chance: random.Random, words: list[str], depth: int) -> str:
    """Elements that hold words; within a line a blank parts two words, and nothing else does."""
    parts = []
    for _ in range(chance.randint(1, 4)):
        if depth and chance.random() < 0.6:
            tag = chance.choice(BLOCKS)
            inside = tree(chance, words, depth - 1)
            parts.append(f"<{tag}>{inside}</{tag}>")
        elif depth and chance.random() < 0.5:
            tag = chance.choice(INLINE)
            inside = tree(chance, words, depth - 1)
            parts.append(f" <{tag}>{inside}</{tag}> ")
        elif not parts or parts[-1].endswith((">", " ")):
            # Letters alone: "aaab" is found in no word but itself.
            number, letters = len(words), ""
            for _ in range(4):
                number, digit = divmod(number, 26)
                letters = chr(97 + digit) + letters
            words.append(f"w{letters}w")
            is_last_inline = bool(parts) and parts[-1].endswith(" ")
            parts.append(f"{' ' if is_last_inline else ''}{words[-1]}")
    return "".join(parts)


@pytest.mark.parametrize(
    ("style", "html", "text"),
    [
        (".c5{text-decoration:line-through}", "No <span class=c5>milk</span>", "No ~~milk~~"),
        (".c5 , p.x{TEXT-DECORATION: none LINE-THROUGH !important}", "<p class='a c5'>x", "~~x~~"),
        ("span.old{text-decoration-line:line-through}", "<span class=old>x</span>", "~~x~~"),
        ("u{text-decoration:line-through}", "a <u>x</u>", "a ~~x~~"),
        ("/* .b{} */ @import 'x.css'; .c{text-decoration:line-through", "<p class=c>x", "~~x~~"),
        (".c{text-decoration:line-through} .c{text-decoration:none}", "<p class=c>x", "x"),
        ("p.c{text-decoration:none} .c{text-decoration:line-through}", "<p class=c>x", "x"),
        (".c{vertical-align:super}", "145<span class=c>1</span> F", "145¹ F"),
    ],
)
def test_a_style_sheet_of_the_page_strikes_out_and_raises(style: str, html: str, text: str) -> None:
    assert text_of(html, f"<style>{style}</style>") == text


def test_what_a_style_shows_as_a_block_or_a_cell_runs_into_nothing() -> None:
    style = "<style>.b{display:block} .c{display:table-cell}</style>"
    html = "<p><span class=b>Hold at 140</span><span class=b>165 F</span></p>"
    assert text_of(html, style) == "Hold at 140\n\n165 F"
    cells = "<div><span class=c>Soup</span><b class=c>140</b><span class=c>F</span></div>"
    assert text_of(cells, style).split() == ["Soup", "**140**", "F"]


def test_whole_blocks_are_struck_out_paragraph_by_paragraph() -> None:
    style = "<style>.old{text-decoration:line-through}</style>"
    html = "<div class=old><p>Thaw <b>warm</b>.</p><ul><li>Then <s>fry</s></li></ul></div>Now"
    assert text_of(html, style) == "~~Thaw **warm**.~~\n\n- ~~Then fry~~\n\nNow"
    assert text_of("<del><p>Old</p><p>rule</p></del>") == "~~Old~~\n\n~~rule~~"
    assert text_of("<p>x <b>140<br></b>165</p>") == "x **140**  \n165"


def test_what_a_style_sheet_hides_is_left_out_and_told() -> None:
    style = "<style>.h{display:none} @media print{.n{display:none}}</style>"
    page = f"<html>{style}<h1>Rules</h1><p>Ice.</p><p class=h>An old rule.</p><p class=n>Cold.</p>"
    reading = read(page, "x.html")
    assert body(reading, "Rules") == "Ice.\n\nCold."
    assert told(reading, "left_out") == ["An old rule."]
    assert told(reading, "struck_unclear") == []


@pytest.mark.parametrize(
    "style",
    [
        "p .old{text-decoration:line-through}",
        "#old{text-decoration:line-through}",
        "a:hover{text-decoration:line-through}",
        "@media screen{.old{text-decoration:line-through}}",
        ".x{.old{text-decoration:line-through}}",
    ],
)
def test_a_rule_that_is_not_followed_and_strikes_out_is_told_once(style: str) -> None:
    page = f"<html><style>{style * 2}</style><h1>Rules</h1><p class=old>Ice.</p></html>"
    assert told(read(page, "x.html"), "struck_unclear") == [""]
