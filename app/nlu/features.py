"""What a message is made of, as a learned model counts it: pieces of words, words and pairs."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from app.nlu.normalization import normalize

# A message says what it is for in its first words; a pasted menu has thousands more.
MOST_WORDS = 80
LONGEST_WORD = 24
SHORTEST_PIECE, LONGEST_PIECE = 2, 5
PIECES, WORDS = 0, 1


def count_features(text: str) -> tuple[Counter[int], Counter[int]]:
    """How often each piece of a word, and each word and pair of words, is in a message.

    By their numbers of 32 bits; two that share one are told apart by nobody.
    """
    words = normalize(text).split()[:MOST_WORDS]
    return Counter(map(_number, _pieces(words))), Counter(map(_number, _words(words)))


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
