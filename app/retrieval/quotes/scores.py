"""How well each piece of the found passages answers a question."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from app.nlu.questions import asks_the_same, expected_amount
from app.retrieval.embedder import Embedder
from app.retrieval.quotes.passages import Piece, condition_of, take_apart
from app.text.normalize import fold, words
from app.text.stems import content_words, stems
from app.text.synonyms import WORTH, synonyms_of, with_meant

# What a piece is worth: words shared with the question, nearness in meaning, an amount of
# the kind that was asked for; and of its passage, the words that the whole of it shares and
# how high the search ranked it. Measured on the questions of two writers who had read the manual
# and avoided its words: 44 of 127 answers came first, where 38 did with the first figures.
WORDS, MEANING, AMOUNT = 1.0, 1.0, 0.4
PASSAGE_WORDS, PASSAGE_RANK = 0.4, (0.12, 0.08, 0.04, 0.02)
# "If the rinse does not reach 180 °F, …" is meant where somebody says that it does not.
CONDITION = 0.6
# "Who to tell" introduces what "who do I tell" asks for.
LEAD_ASKS = 0.6
# "The MD5 sum" is what "how do I check a file's MD5 sum" is about: more than words in common, and
# word by word, since "the walk-in cooler" has the stems of "Walk-in not cooling".
NAMED_BY_TITLE = 0.5
# Words in the line that introduces a piece, in the section's title, in that of the section
# above it or in the table's header count less.
LEAD_SHARE, TITLE_SHARE, ABOVE_SHARE, HEADER_SHARE = 0.7, 0.8, 0.4, 0.35

# Stems of a question, each with those of other words for it and what they are worth.
Others = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Passage:
    """A passage as a tool found it; `cite` is its number in this reply.

    `above` is the title of the section that its own section stands in.
    """

    cite: int
    title: str
    text: str
    language: str
    above: str = ""


@dataclass(frozen=True)
class Scored:
    """A piece with what it is worth.

    `shared`, `own`, `by_condition`, `by_lead` and `by_title` are the shares of the question's
    words, 0..1, that stand in the piece or what introduces it, in its text alone, in its
    condition, in its lead and in the section's title; `of_title` is the share of the title's words
    that stand in the question; `near` is the cosine of the question and the piece with its titles.
    """

    piece: Piece
    passage: int
    cite: int
    score: float
    shared: float
    own: float
    by_condition: float
    by_lead: float
    by_title: float
    of_title: float
    has_amount: bool
    near: float

    @property
    def block(self) -> tuple[int, int]:
        """The paragraph, list or table it stands in, across passages."""
        return self.passage, self.piece.block


def score_pieces(question: str, passages: Sequence[Passage], embedder: Embedder) -> list[Scored]:
    """All pieces of `passages`, in order, each with its score."""
    found = [
        (number, passage, piece)
        for number, passage in enumerate(passages)
        for piece in take_apart(passage.text)
    ]
    if not found:
        return []
    question = with_meant(question, _language(passages))
    others = _other_stems(question, passages)
    # By passages: what a section is about stands in each of its pieces, and is no common word.
    weight = _weights(set(stems(question)), [_words_of(one, others) for one in passages])
    texts = [_Texts(piece, passage, others) for _, passage, piece in found]
    vectors = embedder.embed(
        [question, *(f"{one.title} {piece.lead} {piece.text}" for _, one, piece in found)]
    )
    meaning = np.clip(vectors[1:] @ vectors[0], 0, 1)
    amount = expected_amount(question)
    worth = _passages_worth(weight, passages, set(words(question)), others)
    scored = []
    for (number, passage, piece), text, near in zip(found, texts, meaning, strict=True):
        shared = _share(weight, text.shared)
        # An amount of anything else answers nothing.
        has_amount = bool(shared and amount and amount.search(fold(piece.text)))
        score = WORDS * shared + MEANING * float(near) + AMOUNT * has_amount + worth[number]
        by_condition = _share_of_condition(weight, stems(condition_of(piece.text)))
        score += CONDITION * by_condition
        by_lead = _share(weight, dict.fromkeys(text.lead, 1.0))
        if asks_the_same(question, piece.lead):
            by_lead = max(by_lead, LEAD_ASKS)
            score += LEAD_SHARE * LEAD_ASKS
        by_title = _share(weight, dict.fromkeys(text.title, 1.0))
        of_title = len(weight.keys() & text.title.keys()) / max(len(text.title), 1)
        scored.append(
            Scored(
                piece,
                number,
                passage.cite,
                score,
                shared,
                _share(weight, text.own),
                by_condition,
                by_lead,
                by_title,
                of_title,
                has_amount,
                float(near),
            )
        )
    return scored


def _passages_worth(
    weight: Mapping[str, float], passages: Sequence[Passage], asked: Set[str], others: Others
) -> list[float]:
    """What each piece of a passage is worth because of where it stands; `asked` are all words."""
    ranks = [*PASSAGE_RANK, *([0.0] * len(passages))]
    return [
        PASSAGE_WORDS * _share(weight, _words_of(one, others))
        + rank
        + NAMED_BY_TITLE * _is_named(one.title, asked)
        for one, rank in zip(passages, ranks, strict=False)
    ]


def _words_of(passage: Passage, others: Others) -> dict[str, float]:
    said = {*_stems(passage.title), *_stems(passage.above), *_stems(passage.text)}
    return _with_others(dict.fromkeys(said, 1.0), others)


def _other_stems(question: str, passages: Sequence[Passage]) -> Others:
    """The stems of the question's words, each with those of other words for it."""
    found: dict[str, dict[str, float]] = {}
    for word, meant in synonyms_of(question, _language(passages)).items():
        for said in stems(word):
            found.setdefault(said, {}).update(
                {one: WORTH for other in meant for one in stems(other)}
            )
    return found


def _language(passages: Sequence[Passage]) -> str | None:
    languages = {passage.language for passage in passages}
    return languages.pop() if len(languages) == 1 else None


def _with_others(counts: dict[str, float], others: Others) -> dict[str, float]:
    """What stands in a text, with the words of a question for which another word stands there."""
    meant = {
        word: max(counts.get(one, 0.0) * worth for one, worth in each.items())
        for word, each in others.items()
        if each
    }
    return {**counts, **{w: max(counts.get(w, 0.0), n) for w, n in meant.items() if n}}


@lru_cache(1024)
def _stems(text: str) -> tuple[str, ...]:
    """Kept, because what stands above a passage stands above each of its pieces."""
    return tuple(stems(text))


def _is_named(title: str, asked: Set[str]) -> bool:
    """Whether all that a title says is among the words, but for its number; one word is little."""
    said = {word for word in content_words(title) if not word.isdecimal()}
    return len(said) > 1 and said <= asked


class _Texts:
    """The words of a piece and of what introduces it, with what each counts."""

    def __init__(self, piece: Piece, passage: Passage, others: Others) -> None:
        def counted(text: str, share: float) -> dict[str, float]:
            return _with_others(dict.fromkeys(_stems(text), share), others)

        self.own = counted(piece.text, 1.0)
        self.lead = counted(piece.lead, LEAD_SHARE)
        self.header = counted(piece.header, HEADER_SHARE)
        self.title = counted(passage.title, TITLE_SHARE)
        self.above = counted(passage.above, ABOVE_SHARE)

    @property
    def shared(self) -> dict[str, float]:
        """Every word with the most that it counts anywhere."""
        parts = (self.header, self.above, self.title, self.lead, self.own)
        return {word: max(part.get(word, 0.0) for part in parts) for part in parts for word in part}


def unknown_share(question: str, passages: Sequence[Passage]) -> float:
    """The share of the question's words that stand in none of the passages, 0..1."""
    question = with_meant(question, _language(passages))
    others = _other_stems(question, passages)
    texts = [_words_of(one, others) for one in passages]
    weight = _weights(set(stems(question)), texts)
    return 1 - _share(weight, {word: 1.0 for text in texts for word in text})


def _share(weight: Mapping[str, float], counts: Mapping[str, float]) -> float:
    """The share of the question's words that a text has, rare words counting more."""
    whole = sum(weight.values())
    return sum(weight[word] * counts.get(word, 0.0) for word in weight) / whole if whole else 0.0


def _share_of_condition(weight: Mapping[str, float], condition: Sequence[str]) -> float:
    """The share of the question's words that a condition has; one word alone says nothing."""
    named = weight.keys() & set(condition)
    return _share(weight, dict.fromkeys(named, 1.0)) if len(named) > 1 else 0.0


def _weights(asked: set[str], texts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    counts = Counter(word for text in texts for word in text)
    return {word: math.log(1 + len(texts) / (1 + counts[word])) for word in asked}
