"""Text without the characters that are not to be seen but to be obeyed, to hide or to break it.

Control characters (C0 and C1: among them ESC and CSI, which begin the commands of a terminal)
but for the line feed and the tab; the marks, embeddings, overrides and isolates that turn the
direction of writing; what Unicode lets nobody see ("default ignorable": blanks of no width,
fillers, tags and the like), with which a word is hidden in another one or kept from being
found; and halves of characters, which no database keeps. The languages here are written from
left to right, and a word of another one is drawn rightly without such marks: all that they can
do is to show a number, a name or an address other than it is.

The two separators of Unicode, of lines and of paragraphs, are line feeds: some programs break a
line at them and others do not.

Two kinds of unseen characters stay, because people write them: the joiners of emoji and of
scripts such as Persian and Hindi, and the two selectors that make a sign a picture or a letter.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import groupby
from typing import Any

_UNWANTED = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction
    "\u00ad\u034f\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff"  # no width
    "\u115f\u1160\u17b4\u17b5\u3164\uffa0"  # fillers: letters by their category
    "\u180b-\u180d\u180f\ufe00-\ufe0d"  # selectors, but for those of emoji
    "\ufff0-\ufffc"  # notes between the lines, and what stands for an object that is not there
    "\ufdd0-\ufdef\ufffe\uffff"  # what is no character
    "\u2d7f\U0001107f\U00013430-\U00013440"  # joiners of Tifinagh, Brahmi and hieroglyphs
    "\U00016fe4\U0001bca0-\U0001bca3"  # fillers of Khitan, marks of shorthand
    "\U0001d159\U0001d173-\U0001d17a"  # a note without a head, and marks of music
    "\U000e0000-\U000e0fff"  # tags and further selectors
    "]"
)
_HALVES = re.compile("[\ud800-\udfff]")
# A blank by its looks, and a sign by its category.
_BLANKS = re.compile("[\\s\u2800]+")
# The scripts that have joiners.
_JOINING = re.compile("[\u0600-\u1cff\ua800-\uabff\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00011fff]")
# What can be drawn as a picture or as a letter, which a selector says; joined, two are one.
_PICTURES = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u23cf"
    "\u23e9-\u23f3\u23f8-\u23fa\u24c2\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u2604\u260e"
    "\u2611\u2614\u2615\u2618\u261d\u2620\u2622\u2623\u2626\u262a\u262e\u262f\u2638-\u263a\u2640"
    "\u2642\u2648-\u2653\u265f\u2660\u2663\u2665\u2666\u2668\u267b\u267e\u267f\u2692-\u2697\u2699"
    "\u269b\u269c\u26a0\u26a1\u26a7\u26aa\u26ab\u26b0\u26b1\u26bd\u26be\u26c4\u26c5\u26c8\u26ce"
    "\u26cf\u26d1\u26d3\u26d4\u26e9\u26ea\u26f0-\u26f5\u26f7-\u26fa\u26fd\u2702\u2705\u2708-\u270d"
    "\u270f\u2712\u2714\u2716\u271d\u2721\u2728\u2733\u2734\u2744\u2747\u274c\u274e\u2753-\u2755"
    "\u2757\u2763\u2764\u2795-\u2797\u27a1\u27b0\u27bf\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50"
    "\u2b55\u3030\u303d\u3297\u3299\U0001f004\U0001f0cf\U0001f170\U0001f171\U0001f17e\U0001f17f"
    "\U0001f18e\U0001f191-\U0001f19a\U0001f201-\U0001f251\U0001f300-\U0001faff]"
)
# What is drawn as a key, where this follows it.
_KEYS = re.compile("[0-9#*]")
_KEY = "\u20e3"
_ZWJ = "\u200d"
_MARKS = "\u200c\u200d\ufe0e\ufe0f"
# What stands before them, one selector, one joiner, and further ones, which have no meaning.
_MARKED = re.compile(
    f"([^{_MARKS}]?)(?=[{_MARKS}])([\ufe0e\ufe0f]?)([\u200c\u200d]?)[{_MARKS}]*", re.DOTALL
)
# More than any name, title or message that is kept.
LONGEST_LINE = 10_000
# Nobody writes more marks on one letter; putting a long run of them in order takes the square of
# its length.
MOST_MARKS = 8
# Some are letters by themselves, and come apart into marks. What this Unicode does not know may be
# a mark to the database, which has a newer one; behind these there are symbols alone.
_FIRST_MARK, _LAST_SCRIPT = 0x300, 0x1F000


def _may_be_mark(character: str) -> bool:
    kind = unicodedata.category(character)
    first = unicodedata.normalize("NFKD", character)[0]
    # Half a character cannot.
    return kind == "Cn" or (kind != "Cs" and bool(unicodedata.combining(first)))


def _ranges(numbers: Iterable[int]) -> str:
    """Characters, by their numbers and in order, as ranges of a pattern."""
    numbered = enumerate(numbers)
    runs = (list(run) for _, run in groupby(numbered, lambda each: each[1] - each[0]))
    return "".join(f"{chr(run[0][1])}-{chr(run[-1][1])}" for run in runs)


# Most texts have no such run, and are looked through in a tenth of the time.
_LONG_RUN = re.compile(f"[{chr(_FIRST_MARK)}-{chr(_LAST_SCRIPT)}]{{{MOST_MARKS + 1}}}")


@cache
def _too_many_marks() -> re.Pattern[str]:
    """Made at the first need: it looks at a hundred thousand characters."""
    marks = _ranges(n for n in range(_FIRST_MARK, _LAST_SCRIPT) if _may_be_mark(chr(n)))
    return re.compile(f"([{marks}]{{{MOST_MARKS}}})[{marks}]+")


def shorten_marks(text: str) -> str:
    """The text with at most `MOST_MARKS` marks on a letter, so that any form of it is quick."""
    if text.isascii() or not _LONG_RUN.search(text):
        return text
    return _too_many_marks().sub(r"\1", text)


def compose(text: str) -> str:
    """The text with a letter and its marks as one character where there is one (NFC)."""
    return unicodedata.normalize("NFC", shorten_marks(text))


def storable(text: str) -> str:
    """The text without what no database keeps, NUL and halves of characters; all else stays."""
    return _HALVES.sub("", text.replace("\0", ""))


def printable(text: str) -> str:
    """The text without anything of Unicode's category C: not even joiners, or what it knows not.

    For addresses and names of files, which other programs read.
    """
    return "".join(sign for sign in text if unicodedata.category(sign)[0] != "C")


def _separated(text: str) -> str:
    """The text with line feeds for the separators of Unicode."""
    return text if text.isascii() else text.replace("\u2028", "\n").replace("\u2029", "\n")


def clean_text(text: str) -> str:
    """The text without what is named above; half a character is a "?".

    Cleaning pieces is the same as cleaning the whole, so that text may be cleaned as it comes.
    """
    return _UNWANTED.sub("", _separated(text)).encode("utf-8", "replace").decode("utf-8")


def clean_lines(text: str) -> str:
    """What somebody typed, whole: cleaned, with line ends of one kind and no half characters."""
    lines = _separated(text.replace("\r\n", "\n").replace("\r", "\n"))
    # What is left out may have stood between the marks of a letter.
    return shorten_marks(_UNWANTED.sub("", _HALVES.sub("", lines)))


def clean_line(text: str) -> str:
    """A name or a title: cleaned, on one line, with single blanks between its words.

    A joiner or a selector is dropped where it joins or selects nothing, so that no two names
    look the same and are not. What is longer than `LONGEST_LINE` is cut there: it is too long
    for whoever asked, and reading all of it would keep others waiting.
    """
    text = text[:LONGEST_LINE]
    bare = _UNWANTED.sub("", _HALVES.sub("", _BLANKS.sub(" ", text)))
    return shorten_marks(_BLANKS.sub(" ", _MARKED.sub(_at_work, bare)).strip())


def _at_work(found: re.Match[str]) -> str:
    """What was found, with the joiner and the selector that have something to do there."""
    before, selector, joiner = found.groups()
    after = found.string[found.end() : found.end() + 1]
    is_picture = _PICTURES.match(before)
    is_key = after == _KEY and _KEYS.match(before)
    joins_pictures = is_picture and joiner == _ZWJ and _PICTURES.match(after)
    return (
        before
        + (selector if is_picture or is_key else "")
        + (joiner if joins_pictures or _JOINING.match(before) else "")
    )


def clean_value(value: Any) -> Any:
    """A value of JSON (not deeper than `json_text.MOST_LEVELS`), each text in it cleaned."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_value(key): clean_value(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [clean_value(each) for each in value]
    return value


def was_written(quote: str, said: Sequence[str]) -> bool:
    """Whether a quote stands in one of the messages, sign by sign but for blanks and case."""
    quoted = " ".join(quote.split()).lower()
    return any(quoted in " ".join(text.split()).lower() for text in said)
