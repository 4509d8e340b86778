"""Markdown from models and editors: nothing runs, nothing is fetched, no word is lost."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from flask import Flask
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markupsafe import Markup

from app.assistant.web.presenters import MOST_CITE_LINKS, cite_html
from app.text.markdown import (
    escape_loading,
    escape_markdown,
    hides_words,
    join_paragraphs,
    paragraph_after,
    plain_line,
    render_library_text,
    render_model_text,
    split_blocks,
)
from tests.html_checks import Element, parse_html
from tests.script_payloads import PAYLOADS

MODEL_TAGS = frozenset(
    "p br strong em s code pre blockquote hr ul ol li h1 h2 h3 h4 h5 h6"
    " table thead tbody tr th td".split()
)
HOUSE_SCHEMES = {"", "http", "https", "mailto", "tel"}

MIXED = st.lists(
    st.sampled_from(
        [
            *("<", ">", "script", "alert(1)", "</p>", "<!--", "-->", "javascript:", "onload="),
            *("](", "![", "[", ")", "`", "```\n", "~~~\n", "\n", "\n\n", "|", "\n|---|\n", "# "),
            *("- ", "1. ", "  ", "*", "**", "_", "&#60;", "&lt;", "&", '"', "'", "\\", "\0", "x"),
            *("[1]", "http://evil.example", "\ufeff", "\u2028", "é", "<img src=x onerror=y>"),
        ]
    ),
    max_size=30,
).map("".join)

DOCUMENT = st.lists(
    st.sampled_from(
        [
            *("word", "two words", "\n", "\n\n", "\n\n\n", "- item", "* item", "1. item", "12"),
            *("12) item", "3", "```", "~~~", "````", "    code", "| a | b |", "|---|---|", "#"),
            *(" ", "**bold**", "> quote", "---", "2024 was", "`", "1"),
        ]
    ),
    max_size=30,
).map("".join)


def check_model_html(html: str) -> None:
    for element in parse_html(html).children:
        for each in element:
            assert each.tag in MODEL_TAGS, f"<{each.tag}> in {html!r}"
            allowed = {"ol": {"start"}, "th": {"align"}, "td": {"align"}}.get(each.tag, set())
            assert set(each.attributes) <= allowed, f"{each.attributes} in {html!r}"


def check_link(link: Element) -> None:
    assert urlsplit(link.attributes.get("href", "")).scheme in HOUSE_SCHEMES
    assert set(link.attributes) <= {"href", "title", "rel"}


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_payload_survives_as_model_text(payload: str) -> None:
    check_model_html(render_model_text(payload))
    for around in ("before\n\n{}\n\nafter", "- {}", "> {}", "**{}**", "a | {}\n---|---\nb | {}"):
        check_model_html(render_model_text(around.replace("{}", payload)))


@pytest.mark.fault(25)
@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_payload_survives_the_split_into_blocks_at_any_byte(payload: str) -> None:
    whole = f"First words.\n\n{payload}\n\nLast words [1]."
    as_bytes = whole.encode()
    for end in range(len(as_bytes) + 1):
        text = as_bytes[:end].decode(errors="ignore")
        blocks, tail = split_blocks(text)
        assert "\n".join([*blocks, tail]) == text
        for block in (*blocks[-1:], tail):
            check_model_html(render_model_text(block))


@given(MIXED)
@settings(max_examples=300, deadline=None)
def test_no_mixture_of_markup_survives_as_model_text(text: str) -> None:
    check_model_html(render_model_text(text))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_payload_runs_in_a_library_text(payload: str) -> None:
    for element in parse_html(render_library_text(payload)):
        assert element.tag in MODEL_TAGS | {"a", "#document"}
        if element.tag == "a":
            check_link(element)
        else:
            assert not set(element.attributes) - {"start", "align"}


@pytest.mark.parametrize("payload", PAYLOADS)
def test_citations_add_only_links_into_the_house(app: Flask, payload: str) -> None:
    citation = {
        "number": 1,
        "document_id": "0190a000-0000-7000-8000-000000000001",
        "title": '"><img src=x onerror=alert(1)>',
        "language": "mul",
    }
    with app.test_request_context("/"):
        html = cite_html(f"{payload} so it is [1][2].", [citation])
    for element in parse_html(html):
        if element.tag == "a":
            assert element.attributes["href"].startswith("/library/passages/")
            assert set(element.attributes) == {"class", "href", "data-cite", "title"}
        else:
            assert element.tag in MODEL_TAGS | {"#document"}
            assert not set(element.attributes) - {"start", "align"}


@pytest.mark.fault(26)
def test_links_and_images_of_a_model_leave_their_words_and_no_address() -> None:
    html = render_model_text(
        "See [the list](https://evil.example/?q=1) ![a cat](https://evil.example/cat.png?q=2)"
    )
    assert "the list" in html
    assert "evil.example" not in html
    assert "<img" not in html


def test_a_bare_address_stays_text() -> None:
    root = parse_html(render_model_text("Go to https://evil.example/x or <https://evil.example>"))
    assert not root.find_all("a")
    assert "https://evil.example/x" in root.text


def test_links_of_an_editor_work_and_images_do_not() -> None:
    root = parse_html(
        render_library_text(
            "[Call](tel:+12105550100) [Next](/library/) ![x](https://evil.example/x)"
        )
    )
    assert [link.attributes["href"] for link in root.find_all("a")] == [
        "tel:+12105550100",
        "/library/",
    ]
    assert not root.find_all("img")


def test_headings_of_a_model_start_below_those_of_the_page() -> None:
    root = parse_html(render_model_text("# One\n\n## Two\n\n### Three\n\n###### Six"))
    assert [element.tag for element in root.children] == ["h3", "h3", "h4", "h6"]


def test_lists_tables_and_code_are_drawn() -> None:
    root = parse_html(
        render_model_text("3. a\n4. b\n\n| x | y |\n|:-:|---|\n| 1 | 2 |\n\n```sh\n<rm>\n```")
    )
    assert root.find("ol").attributes == {"start": "3"}
    assert root.find_all("th")[0].attributes == {"align": "center"}
    assert root.find("code").text == "<rm>"


def test_what_is_rendered_is_marked_safe_and_plain_text_is_not_lost() -> None:
    html = render_model_text('5 < 6 & 7 > 6, "quoted"')
    assert isinstance(html, Markup)
    assert parse_html(html).text == '5 < 6 & 7 > 6, "quoted"'


@given(DOCUMENT)
@settings(max_examples=300, deadline=None)
def test_blocks_and_tail_joined_are_the_text(text: str) -> None:
    blocks, tail = split_blocks(text)
    assert "\n".join([*blocks, tail]) == text


@given(DOCUMENT)
@example("1. first\n\n2. second\n\nEnd\n\nx")
@example("~~~\na\n\nb\n~~~\n\nx")
@example("````\n```\n\nx\n\n````\n\nx")
@settings(max_examples=300, deadline=None)
def test_a_finished_block_stays_as_it_is_while_the_text_grows(text: str) -> None:
    # The page has drawn it by then, and is never told to take it back.
    sent: list[str] = []
    for end in range(len(text) + 1):
        blocks, _tail = split_blocks(text[:end])
        assert blocks[: len(sent)] == sent
        sent = blocks


@pytest.mark.parametrize(
    "text",
    [
        "One.\n\nTwo.\n\nThree.",
        "1. one\n\n2. two\n\n   more of two\n\nEnd.\n\n",
        "- a\n- b\n\nEnd.",
        "```\na\n\nb\n```\n\nEnd.",
        "~~~\na\n\nb\n~~~\n\nEnd.",
        "| a |\n|---|\n| b |\n\nEnd.",
        "# Title\n\nText\n\n> quote\n\nEnd.",
    ],
)
def test_blocks_drawn_one_by_one_look_like_the_whole(text: str) -> None:
    blocks, tail = split_blocks(text)
    one_by_one = "".join(render_model_text(block) for block in [*blocks, tail])
    assert one_by_one == render_model_text(text)


def test_a_list_and_a_table_are_not_finished_by_a_blank_line_alone() -> None:
    assert split_blocks("- a\n\n") == ([], "- a\n\n")
    assert split_blocks("- a\n\n- b") == ([], "- a\n\n- b")
    assert split_blocks("1. a\n\n2") == ([], "1. a\n\n2")
    assert split_blocks("- a\n\nEnd") == (["- a\n"], "End")


# One line of plain words


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("# Big **bold**, *it* and __so__ ~~on~~", "Big bold, it and so on"),
        ("### Below {#below-1}\nThe text", "Below The text"),
        ("Over\n====\n\n* * *\n\n---", "Over"),
        ("- one\n* two\n+ three\n1. four", "one two three 1. four"),
        ("> > quoted\n>\n> - and listed", "quoted and listed"),
        ("| A | B |\n|---|:-:|\n| 1 | `2` |", "A · B 1 · 2"),
        ("| half of a row | x", "half of a row · x"),
        ('see [the **page**](/x "t"), [this][ref] and ![a cake](cake.png)',
         "see the page, this and a cake"),
        ("cut [off](https://exam", "cut off"),
        ("begun](/before) here", "begun here"),
        ("<https://example.org> and <b>", "https://example.org and <b>"),
        ("```sh\nls\n```", "ls"),
        ("snake_case, 2 * 3, \\*, \\|, table #4, [1], [ ]",
         "snake_case, 2 * 3, *, |, table #4, [1], [ ]"),
        ("half **of a stress", "half of a stress"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_line_of_an_excerpt_has_no_signs_of_markdown(markdown: str, plain: str) -> None:
    assert plain_line(markdown) == plain


@given(MIXED)
@settings(max_examples=200, deadline=None)
def test_a_line_is_one_line_whatever_it_was(text: str) -> None:
    assert plain_line(text) == " ".join(plain_line(text).split())


# What a model may leave open, and what begins or ends it.
OPENINGS = st.lists(
    st.sampled_from(
        [
            *("```", "~~~", "````", "~~~~~", "``` py", "~~~ `x", "```\u00a0", "``", "`", "~~"),
            *(" ", "   ", "    ", "\t", "\n", "\n\n", "> ", "- ", "+ ", "1. ", "10) ", "# "),
            *("| a | b |", "|---|---|", "[a]: ", "/x", "'", '"', "(", "[", "]: <", "![", "]("),
            *("<!--", "&lt;!--", "<details>", "&lt;details>", "<pre>", "<script>", "<![CDATA["),
            *("\\", "**", "_", "---", "===", "word", "\u00a0", "\u2028", "\0", "\r", "\f"),
        ]
    ),
    max_size=25,
).map("".join)
ASKED = "Should I do this?"


@given(OPENINGS)
@example("```\nx")
@example("~~~~ sh\n~~~")
@example("```\n```\u00a0")
@example("   ````\n```\n")
@example("- a\n\n  ~~~\n  b\n\n```")
@example("> ```\n```")
@settings(max_examples=1_000, deadline=None)
def test_what_is_asked_below_a_text_is_a_paragraph_of_its_own(text: str) -> None:
    last = parse_html(render_model_text(text + paragraph_after(text, ASKED))).children[-1]
    assert (last.tag, last.text.strip()) == ("p", ASKED)


@given(st.lists(OPENINGS, min_size=1, max_size=4))
@settings(max_examples=300, deadline=None)
def test_what_is_joined_ends_in_a_paragraph_of_its_own(texts: list[str]) -> None:
    last = parse_html(render_model_text(join_paragraphs(*texts, ASKED))).children[-1]
    assert (last.tag, last.text.strip()) == ("p", ASKED)


def test_a_text_that_leaves_nothing_open_is_not_changed() -> None:
    assert join_paragraphs("", "- a\n\n~~~\nb\n~~~", "", "c") == "- a\n\n~~~\nb\n~~~\n\nc"
    assert join_paragraphs("", "") == ""


SIGNS = "ab 1[](){}<>!*_`~&;#|\\-+=\"'.:/$^@\u2020\u3010\u3011"


def shown(app: Flask, text: str) -> list[str]:
    """The words that a reader sees of a reply that cites nothing."""
    with app.test_request_context("/"):
        return parse_html(str(cite_html(text, []))).text.split()


@given(text=st.text(SIGNS, max_size=40))
@example(text="[coffee](<$4.50, laptop $900>)")
@example(text="&#x202E;")
@example(text="<http://x.example>")
@example(text="__wine__")
@example(text="coffee [1\u2020 $5, laptop] $900")
@example(text="invoice [12]")
@example(text="invoice \u301012\u3011")
def test_escaped_text_is_shown_as_it_is(app: Flask, text: str) -> None:
    drawn = shown(app, f"Shall I add {escape_markdown(text)} now?")
    assert drawn == f"Shall I add {text} now?".split()


@given(text=st.text(SIGNS, min_size=1, max_size=40))
@example(text="# wine")
@example(text="1. wine")
@example(text="> wine")
def test_escaped_text_that_begins_a_line_is_shown_as_it_is(app: Flask, text: str) -> None:
    drawn = shown(app, f"{escape_markdown(text.strip() or 'a')} is it.")
    assert drawn == f"{text} is it.".split() or not text.strip()


def test_a_citation_takes_no_tag_with_it(app: Flask) -> None:
    """A reply that broke its own tags struck out the page around it."""
    with app.test_request_context("/"):
        html = str(cite_html("Fine. ~~&#91;1\u2020x~~ ] end [1]", []))
    assert html.count("<s>") == html.count("</s>") == 1


def test_a_number_that_is_repeated_thousands_of_times_is_a_link_some_hundred_times(
    app: Flask,
) -> None:
    """Fifteen such replies on a page kept everybody else waiting for seconds."""
    citation = {
        "number": 1,
        "document_id": "0190a000-0000-7000-8000-000000000001",
        "title": "Tips",
        "language": "en",
    }
    with app.test_request_context("/"):
        assert cite_html("[1]" * 6_600, [citation]).count("<a ") == MOST_CITE_LINKS
        assert cite_html("So it is [1][2].", [citation]).count("<a ") == 1


HIDDEN = [
    "1. Turn it off [1].\n\n[x]: # (pay 900)",
    '1. Turn it off.\n\n[x]: <secret> "words"',
    "Turn it off. ![secret words](x.png)",
    "| a |\n|---|\n| b | secret |",
    "```secret\nTurn it off\n```",
    "[Turn it off](https://secret.example)",
]


@pytest.mark.parametrize("text", HIDDEN)
def test_words_that_no_reader_sees_are_noticed(text: str) -> None:
    assert hides_words(text)


@pytest.mark.parametrize(
    "text",
    [
        "1. Turn it **off** [1].\n2. Wait 10 minutes.\n   - or longer",
        "_Never_ __ever__ **t**ouch a\\_wire, 5\u00b0 or\\*more",
        "> 1) Quoted\n\n- [ ] a box & a sign < 5",
        "| a | b |\n|---|---|\n| c | d |\n\n```\ncode\n```",
        "",
    ],
)
def test_what_is_drawn_whole_hides_nothing(text: str) -> None:
    assert not hides_words(text)


# Readers of Markdown differ in what they know: with tables, and without.
READERS = [MarkdownIt("commonmark", {"html": True}), MarkdownIt("default", {"html": True})]
LOADING = st.lists(
    st.sampled_from(
        [
            *("\\", "\\", "![", "!", "[", "]", "<", ">", "<img src=//evil.example>", "x", "/", "?"),
            *("![x](//evil.example/y)", "(//evil.example)", "[x]: //evil.example", "<!--", "-->"),
            *(
                "`",
                "```",
                "\n",
                "\n\n",
                "    ",
                "> ",
                "- ",
                "|",
                "\n|---|\n",
                "\0",
                "\r",
                "*",
                "&lt;",
            ),
        ]
    ),
    max_size=25,
).map("".join)
SIGNS = st.text("\\\\[]<>!()a", max_size=25)


def names_of_tokens(reader: MarkdownIt, text: str) -> set[str]:
    """What a text is made of for a reader of Markdown: "image", "html_inline" and so on."""
    blocks = reader.parse(text)
    return {each.type for block in blocks for each in (block, *(block.children or ()))}


@given(SIGNS | LOADING)
@settings(max_examples=1_000, deadline=None)
@example("\\![x](//evil.example)")
@example("\\\\\\<img src=//evil.example>")
@example("[![x](//evil.example)](y)")
def test_no_reader_loads_what_is_escaped_for_it(text: str) -> None:
    escaped = escape_loading(text)
    for reader in READERS:
        made_of = names_of_tokens(reader, escaped)
        assert made_of.isdisjoint({"image", "html_inline", "html_block"}), escaped


@given(SIGNS | LOADING)
@settings(max_examples=300, deadline=None)
def test_what_loads_nothing_is_not_escaped_once_more(text: str) -> None:
    assert escape_loading(escape_loading(text)) == escape_loading(text)
    plain = text.replace("!", "").replace("<", "")
    assert escape_loading(plain) == plain
    assert len(escape_loading(text)) <= len(text) + text.count("!") + text.count("<")


def test_thousands_of_backslashes_take_no_time() -> None:
    text = "\\" * 200_001
    assert escape_loading(text + "x") == text + "x"
    assert escape_loading(text + "<x") == text + "<x"
