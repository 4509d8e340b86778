"""From a text to the signs of its words, numbers and marks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from app.periods.nodes import Node
from app.periods.numerals import join_numbers
from app.periods.numeric import read_numeric
from app.periods.vocabulary import Vocabulary
from app.text.normalize import fold

_WORD = r"[^\W\d_][^\W\d_\u0300-\u036f]*(?:[\u0300-\u036f]+[^\W\d_]*)*"
_PIECE = re.compile(
    rf"""
    (?P<nothing> \b24/7\b                          # always
        | [$€£¥\#]\s?\d[\d.,]*                     # prices, and what has a number
        | \+?\d{{2,4}}(?:[ .-]\d{{2,4}}){{3,}}     # telephones
        | \+\d[\d -]*
        | \(?\d{{3}}\)?[ .-]\d{{3}}[ .-]?\d{{4}}
        | (?<!\d)\d{{1,2}}[ ]?[x×%€$£](?!\w)
    )
    | (?P<hour> (?<!\d)\d{{1,2}}:\d\d(?::\d\d)?(?!\d)
        | (?<!\d)\d{{1,2}}\s?[ap]\.?m\b\.? )
    | (?P<date> (?<![\d/.,-]) (?:
          \d{{4}}(?P<same>[-/.])\d{{1,2}}(?P=same)\d{{1,2}}
        | \d{{1,2}}(?P<sep>[-/.])\d{{1,2}}(?P=sep)\d{{4}}
        | \d{{1,2}}(?P<dash>[-/])\d{{1,2}}(?P=dash)\d\d
        | \d{{1,2}}/\d{{1,2}},(?:\s?\d{{4}}|\d\d)
        | \d{{1,2}}/\d{{1,2}}
        | \d{{4}}\.\d
        | \d{{1,2}}\.\d{{4}}
      ) (?!\w | [/.,-]\d) )
    | (?P<amount> \d+(?:[.,]\d+)+ | \d{{5,}} )
    | (?P<digits> \d+ )(?P<tail> [^\W_]* [º°ª]? )
    | (?P<word> {_WORD} )(?P<count> \d* )(?P<genitive> ['’]s\b | )
    | (?P<mark> [^\w\s] )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_MARKS = {",": "comma", ".": "dot", "/": "slash", "&": "and", **dict.fromkeys("-–—~", "dash")}
# In letters and a figure; in Spanish also "T3" and "S1", which may be tables.
_QUARTERS = {"q": ("quarter", 4), "h": ("half", 2), "t": ("quarter", 4), "s": ("half", 2)}


class Piece(NamedTuple):
    """A folded word with its place, or a node that is known already."""

    word: str
    start: int
    end: int
    node: Node | None = None


def read_tokens(text: str, vocabulary: Vocabulary) -> list[Node]:
    """The nodes of all words, numbers and marks of a text, numbers in letters as numbers."""
    pieces = list(_pieces(text, vocabulary))
    words = [piece.word for piece in pieces]
    nodes: list[Node] = []
    at = 0
    while at < len(pieces):
        node, length = pieces[at].node, 1
        if node is None:
            meaning, length = vocabulary.meaning(words, at)
            start, end = pieces[at].start, pieces[at + length - 1].end
            is_spelled = meaning.sign in ("number", "ordinal")
            node = Node(meaning.sign, start, end, meaning.value, meaning.is_weak, is_spelled)
        nodes.append(node)
        at += length
    return join_numbers(nodes, vocabulary.language)


def _pieces(text: str, vocabulary: Vocabulary) -> Iterator[Piece]:
    for match in _PIECE.finditer(text):
        start, end = match.span()
        if match["word"]:
            yield from _words(match, vocabulary)
        elif match["digits"]:
            yield from _digits(match, vocabulary)
        elif match["date"]:
            yield Piece("", start, end, read_numeric(match[0], start, vocabulary.day_first))
        elif match["mark"]:
            yield Piece("", start, end, Node(_MARKS.get(match[0], "stop"), start, end))
        else:
            sign = "clear" if match["hour"] else "word"
            yield Piece("", start, end, Node(sign, start, end))


def _words(match: re.Match[str], vocabulary: Vocabulary) -> Iterator[Piece]:
    word, (start, end) = fold(match["word"]), match.span()
    if match["count"]:
        yield from _word_and_number(word, match["count"], start, end, vocabulary)
        return
    for each in vocabulary.contractions.get(word, (word,)):
        yield Piece(each, start, end)


def _word_and_number(
    word: str, count: str, start: int, end: int, vocabulary: Vocabulary
) -> Iterator[Piece]:
    """ "Q3" and "October2"; "A4" is a word."""
    meaning, _ = vocabulary.meaning([word], 0)
    unit, most = _QUARTERS.get(word, ("", 0))
    if len(count) == 1 and 1 <= int(count) <= most:
        is_weak = word in "ts"
        yield Piece("", start, end, Node("quarter", start, end, (unit, int(count)), is_weak))
    elif meaning.sign == "month" and len(count) <= 2:
        yield Piece(word, start, end)
        yield Piece("", start, end, Node("number", start, end, int(count)))
    else:
        yield Piece("", start, end, Node("word", start, end))


def _digits(match: re.Match[str], vocabulary: Vocabulary) -> Iterator[Piece]:
    """ "12", "2020", "3rd" and "3years"; "5kg" is a word."""
    tail, (start, end) = fold(match["tail"]), match.span()
    number = int(match["digits"])
    # What has four figures after a month is a year, and if it is none of ours, no date is.
    sign = "year" if len(match["digits"]) == 4 else "number"
    if not tail:
        yield Piece("", start, end, Node(sign, start, end, number))
    elif tail in vocabulary.endings and len(match["digits"]) <= 2:
        yield Piece("", start, end, Node("ordinal", start, end, number))
    elif vocabulary.meaning([tail], 0)[0].sign == "unit":
        middle = match.end("digits")
        yield Piece("", start, middle, Node("number", start, middle, number))
        yield Piece(tail, middle, end)
    else:
        yield Piece("", start, end, Node("word", start, end))
