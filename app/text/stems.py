"""Words as texts are compared: folded, cut to their stem, without filler.

English and Spanish go through one stemmer, since a kitchen mixes both in one sentence. It
is rough on purpose: it only has to bring "cook", "cooked" and "cooking", or "preparo",
"prepara" and "preparar", to the same piece of text.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from app.text.normalize import words
from app.text.yaml_file import read_yaml

_WORDS = read_yaml(Path(__file__).with_name("stems.yaml"))
# Those that say nothing about what a text is about.
FILLER_WORDS = frozenset(" ".join(_WORDS["filler"].values()).split())

# Without plural endings, which go before. The longest first: "iendo" is tried before "o".
_ENDINGS = tuple(sorted(_WORDS["endings"].split(), key=len, reverse=True))
_SHORTEST_STEM = 3


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """The common beginning of a folded word's forms; numbers stay as they are."""
    if word[0].isdecimal() or word.endswith("ss"):
        return word
    # The plural goes first, so that "lockers" loses as much as "locker" does.
    if word.endswith("s") and len(word) > _SHORTEST_STEM:
        word = word[:-1]
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return _single(word[: -len(ending)])
    return word


def _single(cut: str) -> str:
    """ "stopp" of "stopped" back to "stop"; a doubled s, l or r belongs to the word."""
    doubled = len(cut) > _SHORTEST_STEM and cut[-1] == cut[-2] and cut[-1] not in "aeioslr"
    return cut[:-1] if doubled else cut


# The stem of every word to that of the first word of its meaning.
_SAME_STEMS = {
    stem(word): stem(line.split()[0]) for line in _WORDS["same"] for word in line.split()
}


def content_words(text: str) -> list[str]:
    """The folded words that say what a text is about, in order."""
    return [word for word in words(text) if word not in FILLER_WORDS]


def stems(text: str) -> list[str]:
    """The stems of the content words, in order; words of one meaning have one stem."""
    found = (stem(word) for word in content_words(text))
    return [_SAME_STEMS.get(one, one) for one in found]
