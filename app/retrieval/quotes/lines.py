"""The lines of a reply, and how they become Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from app.retrieval.sentences import split_sentences

# `more` goes on in the item before it; a note stands before the quotations it is about.
Form = Literal["sentence", "note", "lead", "item", "more", "step"]
_LIST_FORMS = {"item": "list", "more": "list", "step": "steps"}


@dataclass(frozen=True)
class Line:
    """Something the reply says.

    `cite` is the number of the source that `text` is quoted from, None for the
    assistant's own words. `title` is quoted too and goes before the text in bold;
    `label` says what the text is ("Price"). `number` is a step's own.
    """

    text: str
    cite: int | None = None
    form: Form = "sentence"
    title: str = ""
    label: str = ""
    number: int = 0


_ENDS = tuple(".!?…»”")


def to_markdown(lines: Sequence[Line]) -> str:
    """Sentences run on in a paragraph, items and steps become lists."""
    blocks = []
    for block, group in groupby(lines, key=lambda line: _LIST_FORMS.get(line.form, line.form)):
        together = [*group]
        shown = zip(together, _each_shown(together), strict=True)
        if block == "list":
            blocks.append("".join(_listed(line, text) for line, text in shown).lstrip("\n"))
        elif block == "steps":
            blocks.append("\n".join(f"{line.number}. {text}" for line, text in shown))
        else:
            between = " " if block == "sentence" else "\n\n"
            blocks.append(between.join(text for _, text in shown))
    return "\n\n".join(blocks)


def _listed(line: Line, text: str) -> str:
    return f"\n- {text}" if line.form == "item" else f" {text}"


def _each_shown(lines: Sequence[Line]) -> Iterator[str]:
    """Each line as text; a title that the line before has already is not repeated."""
    title = ""
    for line in lines:
        yield _shown(line, with_title=line.title != title)
        title = line.title


def _shown(line: Line, *, with_title: bool) -> str:
    text = f"**{line.text.rstrip(':')}**" if line.form == "lead" else line.text
    if line.label and line.form == "sentence" and text[-1:] not in _ENDS:
        text += "."  # a list of ingredients is no sentence, and another may follow
    if line.cite is not None:
        text = _cited(text, line.cite)
    if line.label:
        text = f"{line.label}: {text}"
    if line.title and with_title:
        text = f"**{line.title.rstrip('.:')}**: {text}"
    return text


def _cited(text: str, number: int) -> str:
    """An item may hold several sentences: each of them names its source."""
    return " ".join(f"{sentence.text} [{number}]" for sentence in split_sentences(text))
