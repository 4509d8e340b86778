"""A Markdown passage taken apart into the pieces that an answer may quote.

A piece is a sentence, an item of a list, a numbered step or a row of a table, with the
line that introduces it, so that it can be understood by itself. Its text is the passage's
own, without Markdown's marks; nothing is reworded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from app.nlu.lexicon import allergens_in
from app.retrieval.quotes.lexicon import WORDS
from app.retrieval.sentences import split_sentences
from app.text.normalize import fold

Kind = Literal["sentence", "item", "step", "row"]

_ITEM = re.compile(r"^\s*(?:[-*+•]|(\d{1,3})[.)])\s+(.*)$")
_HEADING = re.compile(r"^\s*#{1,6}\s+(\S.*)$")
_ANCHOR = re.compile(r"\{#[^{}]*\}\s*$")
_TABLE_RULE = re.compile(r"^\s*\|?\s*:?-{2,}[-|:\s]*$")
# "**Card tips.** They are paid…" and "**Log:** time, date": a title that runs into its text.
_RUN_IN = re.compile(r"^\*\*([^*]{1,60}?[.:?])\*\*\s*")
_ALL_BOLD = re.compile(r"^\*\*([^*]+)\*\*$")
_ASKS = re.compile(r"\?[\"'”’»)]*$")
_ENUMERATED = re.compile(r"^\d{1,3}[.)]\s+")
# A bracket within ends it: else a run of them would be gone through from each.
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*(?:\([^()]*\)[^()]*)*\)")
_MARKS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)|`|(?<!\S)>\s?")
# What says nothing without what it is an answer to, and a sign or letter that stands for that.
_SAYS_LITTLE = re.compile(rf"\W*(?:{WORDS['says_little']})\W*")
MOST_LETTERS_OF_A_SIGN = 3
_OF_ALLERGENS = re.compile(rf"\b(?:{WORDS['of_allergens']})")
_CONDITION = re.compile(
    rf"(?i)(?:^|[.;:,]\s)(?:{WORDS['condition']})\s([^,;:.]{{6,160}})(?=[,;:.])"
)


@dataclass(frozen=True)
class Piece:
    """Something quotable.

    `lead` is the line or title that introduces it, `header` the header of its table;
    `block` numbers the paragraph, list or table it stands in, `number` is a step's own.
    """

    text: str
    kind: Kind
    lead: str
    block: int
    header: str = ""
    number: int = 0


def condition_of(text: str) -> str:
    """When what a piece says is meant: "the rinse stays cold" of "If the rinse stays cold, …"."""
    return " ".join(_CONDITION.findall(text))


def take_apart(passage: str) -> list[Piece]:
    """The pieces of a Markdown passage, in order."""
    pieces: list[Piece] = []
    lead = ""
    for number, lines in enumerate(_blocks(passage)):
        if heading := _HEADING.match(lines[0]):
            lead = plain(_ANCHOR.sub("", heading.group(1)))
        elif lines[0].lstrip().startswith("|"):
            pieces += _rows(lines, lead, number)
        elif _ITEM.match(lines[0]):
            pieces += _items(lines, lead, number)
        elif introduces := _introduction(lines):
            lead = introduces
        else:
            found = _sentences(lines, number)
            pieces += found
            lead = _leads_on(found)
    return pieces


def _leads_on(sentences: list[Piece]) -> str:
    """What a paragraph says to introduce the list or table after it."""
    if not sentences:
        return ""
    return sentences[-1].text if sentences[-1].text.endswith(":") else sentences[-1].lead


def plain(text: str) -> str:
    """`text` without Markdown's marks for bold, italics, code, links and quotes."""
    return re.sub(r"\s+", " ", _MARKS.sub("", _LINK.sub(r"\1", text))).strip()


def _blocks(passage: str) -> Iterator[list[str]]:
    """Groups of lines that belong together: a paragraph, a list, a table, a heading."""
    block: list[str] = []
    for line in [*passage.splitlines(), ""]:
        if block and (not line.strip() or _kind_of(line) != _kind_of(block[0])):
            if _kind_of(line) == "text" and line.strip() and _ITEM.match(block[0]):
                block.append(line)  # a list item that goes on in the next line
                continue
            yield block
            block = []
        if line.strip():
            block.append(line)


def _kind_of(line: str) -> str:
    if _HEADING.match(line):
        return "heading " + line
    if line.lstrip().startswith("|"):
        return "table"
    match = _ITEM.match(line)
    if match:
        return "steps" if match.group(1) else "list"
    return "text"


def _introduction(lines: list[str]) -> str:
    """The text of a paragraph that is nothing but a title in bold."""
    match = _ALL_BOLD.match(" ".join(line.strip() for line in lines))
    return plain(match.group(1)) if match and len(match.group(1)) < 90 else ""


def _sentences(lines: list[str], block: int) -> list[Piece]:
    """The sentences of a paragraph, each led by the title that ran into it, if there is one.

    A question that the text asks itself leads the sentence after it.
    """
    pieces: list[Piece] = []
    title = question = ""
    for sentence in split_sentences(" ".join(line.strip() for line in lines)):
        text = plain(sentence.text)
        if run_in := _RUN_IN.match(sentence.text):
            title = plain(run_in.group(1))
        if _ASKS.search(text):
            question = text
        elif text and text != title:  # a title alone leads what follows
            lead = question or ("" if text.startswith(title) else title)
            pieces.append(Piece(text, "sentence", lead, block))
            question = ""
    return pieces


def _items(lines: list[str], lead: str, block: int) -> list[Piece]:
    pieces: list[Piece] = []
    for line in lines:
        match = _ITEM.match(line)
        if match:
            kind: Kind = "step" if match.group(1) else "item"
            number = int(match.group(1) or 0)
            pieces.append(Piece(plain(match.group(2)), kind, lead, block, number=number))
        elif pieces:
            pieces[-1] = replace(pieces[-1], text=f"{pieces[-1].text} {plain(line)}")
    return [piece for piece in pieces if piece.text]


def _rows(lines: list[str], lead: str, block: int) -> list[Piece]:
    """Each row as "first cell: other cells", the others with their headers where needed."""
    cells = [_cells(line) for line in lines if not _TABLE_RULE.match(line)]
    has_header = len(lines) > 1 and bool(_TABLE_RULE.match(lines[1]))
    header = cells[0] if has_header else []
    texts = [_row_text(row, header) for row in cells[1 if has_header else 0 :]]
    return [Piece(text, "row", lead, block, " ".join(header)) for text in texts if text]


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    inner = re.sub(r"(?<!\\)\|$", "", inner)
    return [plain(cell.replace("\\|", "|")) for cell in re.split(r"(?<!\\)\|", inner)]


def _row_text(row: list[str], header: list[str]) -> str:
    """A row as it can be understood by itself; "" for one that cannot, or is empty.

    "Brownie: no" answers anything: where a cell says so little it goes with what heads it.
    """
    row = row + [""] * (len(header) - len(row))
    first, *others = row
    first = _ENUMERATED.sub("", first)  # "8. Check back" reads like the end of a sentence
    says_little = any(says_little_alone(cell) for cell in others)
    if len(header) != len(row):
        # Nobody knows what heads which cell.
        return "" if any(map(_is_mark, others)) else _joined(first, others)
    if _is_of_allergens(header[0]):
        # It lists what others have in their first column: "Contains nuts", "Nut free".
        return "; ".join(_named(header, row))
    if len(others) > 1 or says_little:
        others = _named(header[1:], others)
    return _joined(first, others)


def _joined(first: str, others: Sequence[str]) -> str:
    rest = "; ".join(cell for cell in others if cell)
    return f"{first}: {rest}" if first and rest else first or rest


def _named(header: Sequence[str], cells: Sequence[str]) -> list[str]:
    named = zip(header, cells, strict=True)
    return [f"{name}: {cell}" if name else cell for name, cell in named if cell]


def _is_of_allergens(heading: str) -> bool:
    return _OF_ALLERGENS.search(fold(heading)) is not None or any(allergens_in(heading))


def says_little_alone(text: str) -> bool:
    """Whether it is but a yes, a no or a sign, or ends in one after a colon."""
    last = text.rpartition(":")[2].strip()
    return _is_mark(last) or (bool(last) and _letters(last) <= MOST_LETTERS_OF_A_SIGN)


def _is_mark(text: str) -> bool:
    """Whether it is a yes, a no, a sign or a letter."""
    return bool(text) and (_SAYS_LITTLE.fullmatch(fold(text)) is not None or _letters(text) <= 1)


def _letters(text: str) -> float:
    """How many letters; what has figures says something."""
    return math.inf if any(map(str.isdecimal, text)) else sum(map(str.isalpha, text))
