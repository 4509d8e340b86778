"""Messages as people type them, brought into one form before anything reads them.

Only for comparing: whatever is quoted, kept or searched for are the person's own words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import yaml

from app.text.normalize import fold

SPELLINGS = Path(__file__).with_name("spellings.yaml")
_APOSTROPHES = re.compile("['`\u00b4\u2018\u2019\u02bc]")
# "sooo", "holaaa": three of a letter and more are never meant.
_DRAWN_OUT = re.compile(r"([a-z])\1{2,}")
# "5pm" begins with a number; "gr8" and "b52" are words. No sum has more than thirty figures: a
# longer run would be gone through from each of them.
_AMOUNT = re.compile(
    r"(?P<money>[$€£]\s*\d[\d.,]*|(?<![\d.,])\d[\d.,]{0,30}\s*[$€£])"
    r"|(?<![^\W_])\d+(?:[.,:/-]\d+)*"
)
_WORD = re.compile(r"[^\W_]+")
# What stands in place of what differs from message to message and means the same.
MONEY, NUMBER = "0money", "0number"


def normalize(text: str) -> str:
    """The words of a message: folded, as they are usually spelled, with one blank between them.

    Amounts of money and other numbers become `MONEY` and `NUMBER`; one that is a word too ("86 the
    salmon") keeps that behind it.
    """
    bare = _AMOUNT.sub(_mask, _APOSTROPHES.sub("", fold(text)))
    spelled = _spellings()
    words = (_DRAWN_OUT.sub(r"\1", word) for word in _WORD.findall(bare))
    return " ".join(spelled.get(word, word) for word in words)


def _mask(amount: re.Match[str]) -> str:
    return f" {MONEY if amount['money'] else NUMBER} {_spellings().get(amount[0], '')} "


@cache
def _spellings() -> Mapping[str, str]:
    loaded = yaml.safe_load(SPELLINGS.read_text("utf-8"))
    return {str(short): str(meant) for short, meant in loaded.items()}
