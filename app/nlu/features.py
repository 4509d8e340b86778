"""What a message is made of, as a learned model counts it: pieces of words, words and pairs.

Each as it is spelled and as it sounds, because many write as they speak: "aser", "qeso", "nite".
What a language model writes is spelled well, and counted with its accents and signs: "registré" is
done, "registre" is a wish.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from app.nlu.normalization import normalize

# A message says what it is for in its first words; a pasted menu has thousands more.
MOST_WORDS = 80
LONGEST_WORD = 24
SHORTEST_PIECE, LONGEST_PIECE = 2, 5
# Answers of so many words are told apart by their length.
LENGTHS = (1, 2, 3, 4, 5, 9)
# Words are the same in a question and its answer that begin with the same letters, so many.
STEM = 4
# A word of a reply, with its accents; or a sign that parts what it says.
_SAID = re.compile(r"[$€£]?[^\W_]+(?:['.,:/-][^\W_]+)*|[,;:—]")
# Letters that sound alike in Spanish, and mostly in English; in this order.
_SOUNDS = tuple(
    (re.compile(spelled), sound)
    for spelled, sound in (
        ("ph", "f"), ("qu|q|ck", "k"), ("c(?=[ei])|z", "s"), ("c(?!h)", "k"), ("v", "b"),
        ("ll", "y"), ("g(?=[ei])", "j"), ("gu(?=[ei])", "g"), ("(?<!c)h", ""),
        (r"(.)\1+", r"\1"), ("y$", "i"),
    )
)  # fmt: skip


def count_features(text: str) -> tuple[Counter[int], ...]:
    """How often each feature is in a message, by group and by its number of 32 bits.

    Groups are the pieces of words, and the words and pairs of them; then both again as they
    sound. Two features that share a number are told apart by nobody.
    """
    spelled = normalize(text).split()[:MOST_WORDS]
    heard = [sound_of(word) for word in spelled]
    return tuple(
        Counter(map(_number, found(words)))
        for words in (spelled, heard)
        for found in (_pieces, _words)
    )


def count_answer_features(text: str, asked: str) -> tuple[Counter[int], ...]:
    """The same of a message that answers `asked`, with a group for how the two belong together.

    "It did" is a yes to "Did this solve it?", and nothing by itself.
    """
    return (*count_features(text), Counter(map(_number, _answering(text, asked))))


def count_claim_features(sentence: str) -> tuple[Counter[int], ...]:
    """The same of a sentence of a reply: pieces of its words, and runs of up to three of them."""
    plain = sentence.lower().replace("\u2019", "'")
    words = [_mask(word) for word in _SAID.findall(plain)][:MOST_WORDS]
    return Counter(map(_number, _pieces(words))), Counter(map(_number, _runs(words)))


def _mask(word: str) -> str:
    return word if not any(map(str.isdigit, word)) else "0sum" if word[0] in "$€£" else "0number"


def _runs(words: list[str]) -> Iterator[str]:
    ends = ["^", *words, "$"]
    yield f"#long {next((most for most in LENGTHS if len(words) <= most), '')}"
    yield from (f"={word}" for word in words)
    yield from (f"={first} {second}" for first, second in pairwise(ends))
    for first, second, third in zip(ends, ends[1:], ends[2:], strict=False):
        yield f"={first} {second} {third}"
        yield f"={first} _ {third}"


def _answering(text: str, asked: str) -> Iterator[str]:
    words = [sound_of(word) for word in normalize(text).split()[:MOST_WORDS]]
    question = [sound_of(word) for word in normalize(asked).split()[-MOST_WORDS:]]
    is_question = "?" in asked
    kind = f"{is_question} {''.join(question[:1])}"
    yield f"#long {next((most for most in LENGTHS if len(words) <= most), '')}"
    yield f"#asked {is_question}"
    yield f"#kind {kind}"
    for word in {*words[:2], *words[-1:]}:
        yield f"#{kind} {word}"
    stems = {word[:STEM] for word in question if len(word) >= STEM}
    repeated = sum(word[:STEM] in stems for word in words if len(word) >= STEM)
    yield f"#repeated {min(repeated, 2)}"
    for word in question:
        yield f"#in question {word}"


def sound_of(word: str) -> str:
    """A folded word as it sounds, roughly: "quiero" and "kiero" are the same."""
    for spelled, sound in _SOUNDS:
        word = spelled.sub(sound, word)
    return word


def _pieces(words: list[str]) -> Iterator[str]:
    for word in words:
        padded = f" {word[:LONGEST_WORD]} "
        for size in range(SHORTEST_PIECE, LONGEST_PIECE + 1):
            for start in range(max(1, len(padded) - size + 1)):
                yield padded[start : start + size]


def _words(words: list[str]) -> Iterator[str]:
    # The sign keeps them apart from pieces that read alike.
    ends = ["^", *words, "$"]
    for word in words:
        yield f"={word}"
    for first, second in pairwise(ends):
        yield f"={first} {second}"


def _number(feature: str) -> int:
    return zlib.crc32(feature.encode())
