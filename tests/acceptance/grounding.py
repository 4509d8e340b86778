"""Whether a reply says only what the house's papers say, and whether its sources can be opened.

These are checks of their own making: they use none of the assistant's code for finding
sentences or rendering passages, so that a mistake there is seen here.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from app.text.normalize import fold
from tests.acceptance.asking import Reply, Visitor

RUN = 5  # so many words in a row, as they stand in the papers, are a quotation
SHARE = 0.9  # so much of a sentence's content in one paper comes from there,
ENOUGH = 5  # where it has so many words with a content
CITE = re.compile(r"\s*\[(\d{1,3})\]")
_BOUNDARY = re.compile(r"[.!?…][\"'”’»)*_]*(?:\s*\[\d{1,3}\])*(?=\s+[\"'“‘«(¿¡*_]*[A-ZÁÉÍÓÚÑ0-9])")
_MARKER = re.compile(r"^\s*(?:#{1,6}\s+|[-*+•]\s+|\d{1,3}[.)]\s+|>\s?)+")
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_TAG = re.compile(r"<(script|style)\b.*?</\1>|<[^>]+>", re.DOTALL)
_WORD = re.compile(r"[^\W_]+")
_QUOTED = re.compile(r"[“«\"]([^”»\"]*)[”»\"]")
QUOTE_WORDS = 8

SPANISH = frozenset(
    "el la los las un una de del que y en por para con no se es lo al su tu te si mas o como a"
    " este esta son hay sin antes cada".split()
)
ENGLISH = frozenset(
    "the a an of to and in for with is are it you your this that not or as at on by from if be"
    " what there no do each before".split()
)


def words(text: str) -> list[str]:
    """The words of a text, without case and accents."""
    return _WORD.findall(fold(text))


def written_in(text: str) -> str:
    """The language a text is written in, by its small words; the emptier one loses."""
    found = words(CITE.sub("", text))
    spanish = sum(word in SPANISH for word in found)
    english = sum(word in ENGLISH for word in found)
    return "es" if spanish > english else "en"


@dataclass(frozen=True)
class Statement:
    """A sentence, an item or a table of a reply, and the sources it names.

    It is `covered` when it names one or a later sentence of its paragraph or item does.
    """

    text: str
    cites: tuple[int, ...]
    covered: bool


def statements(markdown: str) -> list[Statement]:
    """A reply taken apart: sentences and items one by one, a table as a whole."""
    return [statement for line in _lines(markdown) for statement in _statements(line)]


def _statements(line: str) -> Iterator[Statement]:
    pieces = [line] if line.startswith("|") else list(_sentences(line))
    for number, piece in enumerate(pieces):
        text = CITE.sub("", piece).strip()
        if words(text):
            cites = tuple(int(cited) for cited in CITE.findall(piece))
            yield Statement(text, cites, any(CITE.search(later) for later in pieces[number:]))


def _lines(markdown: str) -> Iterator[str]:
    """The paragraphs and items without their markers; a table in one line, with its source."""
    table: list[str] = []
    for line in [*markdown.split("\n"), ""]:
        if line.lstrip().startswith("|"):
            table.append(line.lstrip())
            continue
        if table:
            # A table's source may stand right under it.
            alone = not words(CITE.sub("", line))
            yield " ".join([*table, line] if alone else table)
            table = []
        yield _MARKER.sub("", line)


def _sentences(line: str) -> Iterator[str]:
    start = 0
    for match in _BOUNDARY.finditer(line):
        yield line[start : match.end()]
        start = match.end()
    yield line[start:]


class Papers:
    """All that one house knows: the texts and the titles of its sections and products."""

    def __init__(self, texts: Iterable[str], titles: Iterable[str]) -> None:
        documents = [words(text) for text in texts]
        self._bags = [frozenset(document) for document in documents]
        self._runs = {run for document in documents for run in _runs(document)}
        names = {fold(title) for title in titles if title}
        everything = documents + [words(name) for name in names]
        self._all = f" {' | '.join(' '.join(document) for document in everything)} "
        by_length = sorted(names, key=len, reverse=True)
        self._titles = [title for title in by_length if len(title) > 3]

    def mention(self, fact: str) -> bool:
        """Whether these words stand together in one of the papers, or in a title."""
        return f" {' '.join(words(fact))} " in self._all

    def asserts(self, sentence: str, asked: str) -> bool:
        """Whether a sentence states something that only these papers could know.

        A question states nothing; neither does naming a title, or repeating what was asked.
        """
        bare = self._without_names(fold(sentence), asked)
        if bare.rstrip().rstrip('*_)"”»').endswith("?"):
            return False
        if re.search(r"\d", bare):
            return True
        found = words(bare)
        if any(run in self._runs for run in _runs(found)):
            return True
        content = {word for word in found if len(word) > 3} - SPANISH - ENGLISH
        return len(content) >= ENOUGH and self._stands_in_one(content)

    def _stands_in_one(self, content: set[str]) -> bool:
        return any(len(content & bag) >= SHARE * len(content) for bag in self._bags)

    def _without_names(self, sentence: str, asked: str) -> str:
        known = set(words(asked))
        # What was searched for is said in the asker's own words, perhaps not all of them.
        sentence = _QUOTED.sub(lambda m: "…" if set(words(m[1])) <= known else m[0], sentence)
        for name in (fold(asked), *self._titles):
            sentence = sentence.replace(name, " … ")
        return sentence


def _runs(found: list[str]) -> Iterator[tuple[str, ...]]:
    return (tuple(found[start : start + RUN]) for start in range(len(found) - RUN + 1))


def uncited(reply: Reply, papers: Papers) -> list[str]:
    """The statements of a reply that state something and name no source themselves."""
    return [each.text for each in _asserted(reply, papers) if not each.cites]


def unsupported(reply: Reply, papers: Papers) -> list[str]:
    """Those for which not even the rest of their paragraph names a source."""
    return [each.text for each in _asserted(reply, papers) if not each.covered]


def _asserted(reply: Reply, papers: Papers) -> Iterator[Statement]:
    return (
        statement
        for statement in statements(reply.text)
        if papers.asserts(statement.text, reply.asked)
    )


def broken_citations(reply: Reply, visitor: Visitor) -> list[str]:
    """What is wrong with a reply's citations, in words; nothing when all of them open."""
    known = {citation["number"] for citation in reply.citations}
    problems = [
        f"{reply.asked!r} cites [{number}], which is not among its sources"
        for number in reply.numbers
        if number not in known
    ]
    for citation in reply.citations:
        problems += [
            f"{reply.asked!r}: {trouble}" for trouble in _troubles(reply, citation, visitor)
        ]
    return problems


def _troubles(reply: Reply, citation: dict[str, str], visitor: Visitor) -> Iterator[str]:
    """The page of the section or product, and the passage's own page, each with the quote."""
    opening = _opening(citation["quote"])
    passage = f"/library/passages/{citation['document_id']}?cited={reply.body['message_id']}"
    if not opening:
        yield f"[{citation['number']}] quotes nothing"
    for address in (citation["url"], passage):
        response = visitor.get(address)
        if response.status_code != 200:
            yield f"{address} answers {response.status_code}"
        elif f" {opening} " not in f" {_page_words(response.text)} ":
            yield f"{address} does not contain {opening!r}"
        elif "/library/manual/" in address and 'id="passage"' not in response.text:
            yield f"{address} marks no passage"


def _opening(quote: str) -> str:
    """The first words of a quotation, as they read once its Markdown is drawn."""
    bare = _LINK.sub(r"\1", _IMAGE.sub(" ", quote))
    lines = (_MARKER.sub("", line) for line in bare.split("\n"))
    return " ".join(words(" ".join(lines))[:QUOTE_WORDS])


def _page_words(page: str) -> str:
    return " ".join(words(html.unescape(_TAG.sub(" ", page))))
