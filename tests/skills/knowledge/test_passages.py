"""A cited passage is marked where it stands, and the section keeps its shape."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.skills.knowledge.web.presenters import mark_passage
from app.text.markdown import render_library_text
from tests.html_checks import parse_html
from tests.script_payloads import PAYLOADS

BODY = """Keep raw chicken cold.

1. Receive it at **41°F** or below.
2. Write down the time.

| Food | Hours |
|---|---|
| Chicken | 2 |

> Ask the chef.

```
probe = 165
```

Throw it away after two hours."""


def marked(body: str, passage: str) -> str:
    start = body.index(passage)
    return str(mark_passage(body, start, start + len(passage)))


@pytest.mark.parametrize(
    "passage",
    [
        "raw chicken",
        "1. Receive it at **41°F** or below.\n2. Write down the time.",
        "| Food | Hours |\n|---|---|\n| Chicken | 2 |",
        "> Ask the chef.",
        "Throw it away after two hours.",
        BODY,
    ],
)
def test_the_words_are_marked_and_the_rest_looks_the_same(passage: str) -> None:
    html = marked(BODY, passage)
    root = parse_html(html)
    marks = root.find_all("mark")
    assert marks[0].attributes == {"id": "passage"}
    assert all(not mark.attributes for mark in marks[1:])
    without = html.replace('<mark id="passage">', "").replace("<mark>", "").replace("</mark>", "")
    assert without == render_library_text(BODY)


def test_a_marked_list_is_still_a_list_and_a_table_a_table() -> None:
    root = parse_html(marked(BODY, BODY))
    assert len(root.find_all("li")) == 2
    assert len(root.find_all("td")) == 2
    assert root.find("blockquote").text == "Ask the chef."


@pytest.mark.parametrize(("start", "end"), [(-1, 4), (0, 0), (4, 2), (0, 10_000), (9000, 9001)])
def test_a_range_outside_the_body_marks_nothing(start: int, end: int) -> None:
    assert mark_passage(BODY, start, end) == render_library_text(BODY)


@given(st.integers(0, len(BODY)), st.integers(0, len(BODY)))
@settings(max_examples=300, deadline=None)
def test_any_range_gives_well_formed_html(start: int, end: int) -> None:
    parse_html(mark_passage(BODY, start, end))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_marking_lets_nothing_through(payload: str) -> None:
    body = f"Before\n\n{payload}\n\nAfter"
    for element in parse_html(mark_passage(body, 0, len(body))):
        assert element.tag not in ("script", "img", "svg", "iframe", "style", "form", "object")
        assert not any(name.startswith("on") for name in element.attributes)
        assert not element.attributes.get("href", "").lower().startswith(("javascript:", "data:"))


def test_signs_that_an_author_typed_do_not_become_marks() -> None:
    root = parse_html(mark_passage("a \u2e4e b \u2e4f and the rest", 8, 20))
    assert [mark.text for mark in root.find_all("mark")] == ["and the rest"]


@pytest.mark.parametrize("line", ["_quickly_", "**(now)**", "**41°F**", "`165`", "[ask](/chat)"])
def test_a_mark_beside_emphasis_leaves_it_emphasis(line: str) -> None:
    html = str(mark_passage(line, 0, len(line)))
    inner = str(render_library_text(line)).removeprefix("<p>").removesuffix("</p>\n")
    assert html == f'<p><mark id="passage">{inner}</mark></p>\n'
