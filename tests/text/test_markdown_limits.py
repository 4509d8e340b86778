"""What a hostile Markdown text costs: its HTML and its work stay near those of any other text."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial

import pytest
from markupsafe import Markup

from app.text import markdown
from app.text.markdown import (
    LONGEST_PREVIEW,
    LONGEST_RENDERED,
    NEARBY,
    SHORT_TEXT,
    hides_words,
    open_fence,
    plain_line,
    plain_line_around,
    preview_library_text,
    render_library_text,
    render_model_text,
)
from app.text.markdown_parser import MOST_CELLS, MOST_COLUMNS, MOST_LINKS
from app.text.plain_text import MOST_MARKS
from tests.growth import check_growth, counted, spent
from tests.html_checks import parse_html

LENGTH = 20_000
# The HTML of a text is at most so many times as long as the text.
MOST_GROWTH = 30
# A hostile text takes at most so many times the processor's time of an ordinary one.
MOST_TIMES = 20
FILLED_TABLE = "a|" * 300 + "\n" + "-|" * 300 + "\n" + "x\n" * 300


def repeat(text: str) -> str:
    return (text * (LENGTH // len(text) + 1))[:LENGTH]


ORDINARY = repeat(
    "The walk-in fridge stays at 3 °C, and the **cooks** write it down at eight.\n- one\n- two\n\n"
)
HOSTILE = {
    "a table that is filled in": FILLED_TABLE,
    "tables that are filled in": (FILLED_TABLE + "\n") * 11,
    "small tables that are filled in": repeat("a|" * 20 + "\n" + ":-:|" * 20 + "\n" + "x\n" * 48),
    "small tables in blocks": repeat(
        "a|" * 20 + "\n" + ":-:|" * 20 + "\n" + "x\n" * 48 + "\n.\n\n"
    ),
    "empty cells": "a|" * 20 + "\n" + ":-:|" * 20 + "\n" + repeat("|" * 21 + "\n"),
    "one column": "a|\n-|\n" + repeat("x\n"),
    "heads of tables": repeat("a|b\n-|-\n"),
    "a wide table": "a|" * 5_000 + "\n" + "-|" * 5_000,
    "tables in quotes": repeat("> a|b\n> -|-\n> x\n"),
    "quotes": repeat(">"),
    "a quote that goes on": ">" * 19 + "a\n" + repeat("a\n"),
    "quotes of every depth": "".join(">" * depth + "a\n" for depth in range(197)),
    "lists in a line": repeat("- "),
    "lists of every depth": "".join("  " * depth + "- a\n" for depth in range(139)),
    "empty items": repeat("-\n+\n"),
    "lists of one item": repeat("- a\n+ a\n* a\n"),
    "numbers": repeat("1)\n2.\n"),
    "quotes and lists": repeat("> - > - > - a\n"),
    "an address used again": f"[a]: /{'x' * 10_000}\n\n" + "[a]" * 3_300,
    "an address of signs used again": f"[a]: /{'&' * 10_000}\n\n" + "[a]" * 3_300,
    "an image used again": f"[a]: /{'x' * 10_000}\n\n" + "![a]" * 2_500,
    "addresses": repeat("[a]: b\n'"),
    "an address without an end": "[a]: b '" + repeat("x\n"),
    "openings of addresses": repeat("[a\n"),
    "links": repeat("[a](é)"),
    "links in angles": repeat("<http://a>"),
    "brackets": repeat("["),
    "images": repeat("!["),
    "images in images": "![" * 3_300 + "a" + "](b)" * 3_300,
    "stress": repeat("*a"),
    "stress of all kinds": repeat("*_a~~**"),
    "a run of stars": "*" * 10_000 + "a" + "*" * 9_999,
    "code": "".join("`" * length + "a" for length in range(1, 199)),
    "entities": repeat("&ngE;"),
    "signs": repeat('<>&"'),
    "fences": repeat("```\n"),
    "headings": repeat("#\n"),
    "lines": repeat("a\n=\n"),
    "breaks": repeat("a\\\n"),
}
RENDERERS: list[Callable[[str], str]] = [render_model_text, render_library_text]


# What has been drawn once is known.
NUMBERS = itertools.count(1)


def cpu_seconds(render: Callable[[str], str], text: str) -> float:
    """The processor's time of the better of two renderings, of texts that were not seen before."""
    times = []
    for _ in range(2):
        text += f" {next(NUMBERS)}"
        times.append(spent(partial(render, text)))
    return min(times)


@cache
def ordinary_seconds() -> float:
    """The processor's time of the best of six renderings of an ordinary text."""
    return min(cpu_seconds(render_library_text, ORDINARY) for _ in range(3))


@pytest.mark.parametrize("render", RENDERERS)
@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.fault(37)
def test_no_text_becomes_much_more_than_it_is(kind: str, render: Callable[[str], str]) -> None:
    text = HOSTILE[kind]
    assert len(render(text)) <= MOST_GROWTH * len(text)


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.fault(37)
def test_no_text_takes_much_longer_than_another_one(kind: str) -> None:
    assert cpu_seconds(render_library_text, HOSTILE[kind]) <= MOST_TIMES * ordinary_seconds()


@pytest.mark.parametrize("render", RENDERERS)
def test_a_table_beyond_the_bounds_is_plain_text(render: Callable[[str], str]) -> None:
    html = render(FILLED_TABLE)
    assert "<t" not in html
    assert html.count("x") == 300
    wide = "|".join(["a"] * (MOST_COLUMNS + 1)) + "\n" + "|".join(["-"] * (MOST_COLUMNS + 1))
    assert "<t" not in render(wide)


@pytest.mark.parametrize("render", RENDERERS)
def test_a_table_that_people_write_is_a_table(render: Callable[[str], str]) -> None:
    row = "|" + " pinto beans |" * 5 + "\n"
    table = row + "|---" * 5 + "|\n" + row * (MOST_CELLS // 5 - 1)
    assert render(table).count("<td>") == MOST_CELLS - 5
    assert "<td>" not in render(table + row)
    uneven = "| what | when | who |\n|---|---|---|\n| fridge |\n| grill | daily |\n"
    assert render(uneven).count("<td>") == 6


def test_the_tables_of_one_text_share_their_cells() -> None:
    table = "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 299 + "\n"
    html = render_library_text(table * 3 + "| c | d |\n|---|---|\n")
    # The second and the third would be too much together with the first; the last is not.
    assert html.count("<table>") == 2
    assert html.count("<td>") == 598


@pytest.mark.fault(37)
def test_what_is_nested_too_deeply_keeps_its_words() -> None:
    for nested in (">" * 30 + " hello", "- " * 30 + "hello", "> - " * 30 + "hello"):
        assert "hello" in parse_html(render_library_text(nested)).text
    assert (
        render_library_text("\n".join("  " * depth + "- a" for depth in range(5))).count("<ul") == 5
    )


def test_a_text_that_is_seen_again_is_not_rendered_again() -> None:
    text = ORDINARY + "seen again"
    html = render_model_text(text)
    assert render_model_text(text) is html
    for number in range(LONGEST_RENDERED // 100_000 + 1):
        render_model_text(f"{number} " + "a" * 100_000)
    assert render_model_text(text) is not html
    assert render_model_text(text) == html


UNDER_GEVENT = """
from gevent import monkey; monkey.patch_all()
import gevent
from app.text.markdown import render_library_text
turns, done = 0, False
def others():
    global turns
    while not done:
        turns += 1
        # As who serves pages: who never waits for anything leaves a thread next to no time.
        gevent.sleep(0.001)
gevent.spawn(others)
drawn = render_library_text("[a](<b>) *c* " * 15_000)
done = True
assert drawn.startswith("<p>")
print(turns)
"""


def test_others_go_on_while_a_long_section_is_drawn() -> None:
    result = subprocess.run(
        [sys.executable, "-c", UNDER_GEVENT], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) > 10


@pytest.mark.fault(44)
def test_a_text_has_so_many_links_and_what_is_beyond_is_text() -> None:
    html = str(render_library_text("[a](/b)" * (MOST_LINKS + 3)))
    assert html.count("<a ") == MOST_LINKS
    assert html.count("[a](/b)") == 3


@pytest.mark.fault(52)
def test_of_a_preview_no_more_is_drawn_than_takes_a_second() -> None:
    with counted() as cost:
        html = preview_library_text("a\n" * 950_000)
    assert cost.seconds < 5
    assert html.count("a") <= LONGEST_PREVIEW


@pytest.mark.fault(52)
@pytest.mark.parametrize("letters", [SHORT_TEXT, SHORT_TEXT + 1])
def test_a_long_reply_is_drawn_in_a_thread(letters: int, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []

    class Thread:
        def run(self, draw: Callable[[], Markup]) -> Markup:
            drawn.append("in a thread")
            return draw()

    monkeypatch.setattr(markdown, "_ANSWERING", Thread())
    text = f"{letters} ".ljust(letters, "a")
    assert render_model_text(text) == f"<p>{text}</p>\n"
    assert bool(drawn) == (letters > SHORT_TEXT)


def test_a_letter_has_few_marks_however_many_a_model_sends() -> None:
    drawn = render_model_text("Z" + "\u0301" * 20_000 + "algo")
    assert "algo" in drawn
    assert drawn.count("\u0301") <= MOST_MARKS


@pytest.mark.fault(46)
@pytest.mark.parametrize("piece", ["[", "](", "[](", "![", "[a][", "<https:", "*a ", "|", "`"])
def test_no_text_is_slow_to_be_shown_in_one_line(piece: str) -> None:
    """Of nothing but brackets 20,000 signs took as long as 400 times as many others."""
    check_growth(lambda size: lambda: plain_line(piece * size), 5_000)


def test_whether_words_are_hidden_is_seen_in_one_pass() -> None:
    check_growth(lambda size: lambda: hides_words("\n" * size + "Wash it."), 4_000)


def test_of_a_long_text_only_what_is_near_is_read() -> None:
    text = "**before** " * 1_000 + "zebra " + "`behind` " * 1_000
    line, is_preceded, is_followed = plain_line_around(text, text.index("zebra"))
    assert "before zebra behind" in line
    assert (is_preceded, is_followed) == (True, True)
    assert len(line) < 2 * NEARBY
    assert plain_line_around("a **zebra**", 4) == ("a zebra", False, False)


@pytest.mark.parametrize(
    ("text", "fence"),
    [
        ("a\n\n```\nb", "```"),
        ("a\n\n~~~~\nb", "~~~~"),
        ("```\na\n```\n", ""),
        ("a `b", ""),
        ("a", ""),
    ],
)
@pytest.mark.parametrize("more", ["", "word \n\n" * 2_000])
def test_the_fence_that_is_open_is_found_in_a_long_text_too(
    text: str, fence: str, more: str
) -> None:
    assert open_fence(more + text) == fence
