"""Cutting a Markdown body into the chunks that are searched and cited.

Pure: no database, no request. A chunk is a slice of its body, so that a citation can open
the section at the very passage; `body[chunk.start:chunk.end] == chunk.text`, always.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import takewhile

from markdown_it import MarkdownIt
from markdown_it.token import Token

from app.jobs.system_threads import RealThreads
from app.retrieval.sentences import Sentence, split_sentences
from app.text.normalize import words
from app.text.slugs import UsedSlugs

# In letters: what introduces a table or list is no longer.
LONGEST_LEAD = 300
_LISTED = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s")

# In words. A chunk is filled evenly, below the longest that embeds well, and repeats the
# end of the one before it so that no thought is cut in two.
LONGEST_CHUNK = 350
OVERLAP = 50
# How much of a chunk is new on average; the rest is overlap and room for whole sentences.
FRESH = 270
# What is longer may take seconds, if somebody wants it to. Whoever saves it is in the middle of a
# transaction, and so keeps their connection meanwhile.
SHORT_BODY = 2_000
_CUTTING = RealThreads(1)


@dataclass(frozen=True)
class Heading:
    """A heading of a body; `start` and `end` are the offsets of its line or lines."""

    level: int
    text: str
    anchor: str
    start: int
    end: int


@dataclass(frozen=True)
class Chunk:
    """A passage: its text, its place in the body, and the headings it stands under.

    `anchor` is the id of the nearest heading above it, empty where there is none.
    """

    text: str
    start: int
    end: int
    anchor: str
    headings: tuple[str, ...]


def chunk_markdown(body: str) -> list[Chunk]:
    """Cut `body` at its headings, then between sentences, into 200 to 350 words each.

    A long section becomes several chunks that overlap by up to 50 words; short ones in a
    row become one chunk, whose `headings` are what their paths have in common and whose
    anchor is that of the first. Every word stands in some chunk, but those of headings
    that begin one, which stand in its `headings`. Nobody waits for a long one but its writer.
    """
    if len(body) <= SHORT_BODY:
        return _chunk_markdown(body)
    return _CUTTING.run(partial(_chunk_markdown, body))


def _chunk_markdown(body: str) -> list[Chunk]:
    chunks: list[Chunk] = []
    for group in _together(body):
        path = _common(group)
        anchor = group[0].anchor
        start, end = group[0].start, group[-1].end
        spans = _passages(body, start, end) if len(group) == 1 else [_bare(body, start, end)]
        chunks += [Chunk(body[first:last], first, last, anchor, path) for first, last in spans]
    return [chunk for chunk in chunks if words(chunk.text)]


@dataclass(frozen=True)
class _Section:
    """What stands under one heading, up to the next of any level."""

    path: tuple[str, ...]
    anchor: str
    start: int
    end: int


def _sections(body: str) -> list[_Section]:
    """The sections of `body` that have any words, in order."""
    found = headings(body)
    starts = [0, *(heading.end for heading in found)]
    ends = [*(heading.start for heading in found), len(body)]
    sections: list[_Section] = []
    path: list[Heading] = []
    for heading, start, end in zip([None, *found], starts, ends, strict=True):
        if heading is not None:
            path = [*(above for above in path if above.level < heading.level), heading]
        names = tuple(part.text for part in path)
        anchor = path[-1].anchor if path else ""
        if words(body[start:end]):
            sections.append(_Section(names, anchor, start, end))
    return sections


def _together(body: str) -> list[list[_Section]]:
    """Sections in a row that fit into one chunk, with the headings between them, together."""
    groups: list[list[_Section]] = []
    for section in _sections(body):
        if groups and len(words(body[groups[-1][0].start : section.end])) <= FRESH:
            groups[-1].append(section)
        else:
            groups.append([section])
    return groups


def readable(body: str, start: int, end: int) -> str:
    """A span of `body` as it can be read by itself: with whole rows, and what they stand under.

    Of a table or list that is cut in two the second part does not say what it lists.
    """
    start = body.rfind("\n", 0, start) + 1 if _is_row(_line_at(body, start)) else start
    if _is_row(_line_at(body, max(start, end - 1))):
        found = body.find("\n", end)
        end = found if found >= 0 else len(body)
    line = _line_at(body, start)
    is_alike = next((each for each in (_is_row, _is_of_list) if each(line)), None)
    if is_alike is None:
        return body[start:end]
    above, head = body[:start].splitlines(), list[str]()
    # A blank line ends a table; between the items of a list there may be some.
    while above and (is_alike(above[-1]) or (is_alike is _is_of_list and not above[-1].strip())):
        head.append(above.pop())
    rows = [each for each in reversed(head) if _is_row(each)][:2]
    while above and not above[-1].strip():
        above.pop()
    # What stands above a list may as well be any other paragraph.
    leads = _is_row(line) or (bool(above) and above[-1].rstrip().endswith((":", "**", "?")))
    is_lead = above and leads and len(above[-1]) <= LONGEST_LEAD and not _is_row(above[-1])
    lead = [above[-1], ""] if is_lead else []
    return "\n".join([*lead, *rows, body[start:end]])


def _line_at(body: str, place: int) -> str:
    begins = body.rfind("\n", 0, place) + 1
    ends = body.find("\n", place)
    return body[begins : ends if ends >= 0 else len(body)]


def _is_of_list(line: str) -> bool:
    """Whether it is an item of a list, or goes on with one."""
    return _LISTED.match(line) is not None or line.startswith("  ")


def _is_row(line: str) -> bool:
    return line.lstrip().startswith("|")


def _common(group: Sequence[_Section]) -> tuple[str, ...]:
    """The headings that all sections of the group stand under."""
    shared = group[0].path
    for section in group[1:]:
        pairs = zip(shared, section.path, strict=False)
        shared = tuple(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return shared


def _bare(body: str, start: int, end: int) -> tuple[int, int]:
    """The span without the white space at its ends."""
    text = body[start:end]
    return start + len(text) - len(text.lstrip()), start + len(text.rstrip())


def headings(body: str) -> list[Heading]:
    """The headings of `body` in order, each with an anchor that is unique in it."""
    offsets = _line_offsets(body)
    found: list[Heading] = []
    taken = UsedSlugs()
    tokens = _parser().parse(body)
    for position, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            text = _inline_text(tokens[position + 1])
            first, last = (offsets[min(line, len(offsets) - 1)] for line in token.map)
            anchor = taken.free(slug(text))
            taken.add(anchor)
            found.append(Heading(int(token.tag[1:]), text, anchor, first, last))
    return found


def slug(text: str) -> str:
    """The anchor of a heading: "Limpieza & Higiéne" becomes "limpieza-higiene"."""
    return "-".join(words(text)) or "section"


def plain_text(markdown: str) -> str:
    """What a reader sees of `markdown`: no signs, no link targets, a block a line."""
    blocks = [
        token.content.rstrip() if token.type in ("fence", "code_block") else _inline_text(token)
        for token in _parser().parse(markdown)
        if token.type in ("inline", "fence", "code_block")
    ]
    return "\n".join(block for block in blocks if block)


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")


def _inline_text(token: Token) -> str:
    pieces = (
        " " if child.type in ("softbreak", "hardbreak") else child.content
        for child in token.children or ()
        if child.type in ("text", "code_inline", "softbreak", "hardbreak", "image")
    )
    return re.sub(r"\s+", " ", "".join(pieces)).strip()


def _line_offsets(body: str) -> list[int]:
    """Where each line begins, by the parser's idea of a line, and where the body ends."""
    starts = [0, *(match.end() for match in re.finditer(r"\r\n?|\n", body))]
    return [*starts, len(body)] if starts[-1] != len(body) else starts


def _passages(body: str, start: int, end: int) -> list[tuple[int, int]]:
    """Cut a section into spans of at most `LONGEST_CHUNK` words, evenly filled."""
    pieces = [
        piece for sentence in split_sentences(body[start:end]) for piece in _short_pieces(sentence)
    ]
    lengths = [len(words(piece.text)) for piece in pieces]
    spans = _fill(lengths)
    return [(start + pieces[first].start, start + pieces[last].end) for first, last in spans]


def _short_pieces(sentence: Sentence) -> list[Sentence]:
    """The sentence, cut between words where it alone would be longer than a chunk."""
    longest = LONGEST_CHUNK - OVERLAP
    runs = list(re.finditer(r"\S+", sentence.text))
    if len(words(sentence.text)) <= longest:
        return [sentence]
    pieces, first, count = [], 0, 0
    for position, run in enumerate(runs):
        count += max(1, len(words(run.group())))
        if count >= longest or position == len(runs) - 1:
            begin, finish = runs[first].start(), run.end()
            text = sentence.text[begin:finish]
            pieces.append(Sentence(text, sentence.start + begin, sentence.start + finish))
            first, count = position + 1, 0
    return pieces


def _fill(lengths: Sequence[int]) -> list[tuple[int, int]]:
    """Group pieces of these lengths: (first, last) of each group, both included."""
    total = sum(lengths)
    groups = -(-total // FRESH) or 1
    target = total / groups
    spans: list[tuple[int, int]] = []
    first, size = 0, 0
    for position, length in enumerate(lengths):
        too_long = size + length > LONGEST_CHUNK
        full = size >= target + (OVERLAP if spans else 0)
        if position > first and (too_long or full):
            spans.append((first, position - 1))
            first, size = _overlap_start(lengths, first, position, length)
        size += length
    if lengths:
        spans.append((first, len(lengths) - 1))
    return spans


def _overlap_start(
    lengths: Sequence[int], first: int, position: int, following: int
) -> tuple[int, int]:
    """Where the group that continues at `position` begins, and its size before it."""
    start, size = position, 0
    room = min(OVERLAP, LONGEST_CHUNK - following)
    while start - 1 > first and size + lengths[start - 1] <= room:
        start -= 1
        size += lengths[start]
    return start, size
