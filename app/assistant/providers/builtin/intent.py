"""Which tool a message is for: what was learned from sentences, and the evidence beside it.

The log of each tool's share, as `app.nlu.model` learned it, is added to what else speaks for the
tool: its skill read the wish for it, the message names one of its things, its documents would
answer. The weights are fitted to authors whom the model had not read. No tool is known here by
name. A tool that the model has not learned is told by how near the message is to its examples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.assistant.providers.base import Candidate, ToolSpec
from app.nlu.lexicon import SMALL_TALK
from app.nlu.model import INTENTS, OTHER_INTENTS, load_model, read_intents
from app.retrieval.embedder import Embedder
from app.text.normalize import words
from app.text.stems import content_words, stem, stems

Scores = NDArray[np.float64]  # one number a tool

# Of a tool that the model knows, by what speaks for it.
EVIDENCE = 1.2  # score of the best document, 0..1
COVERAGE = 2.6  # share of the question that the best document has, 0..1
NAMED = 0.4  # a product of the tool is named
NAMED_ALONE = 1.2  # and none of any other tool
TITLE, MOST_OF_TITLE = 1.2, 3  # a word of a whole title that stands in the question
# What a tool's documents would say to anything; the evidence speaks for it beyond that.
USUAL = 1.3
LEAST = 1e-6  # no class is ruled out by the model alone
# Of a tool that is told by its examples.
NEAR = 4.0  # mean cosine with the three nearest examples
SUBJECT = 6.0  # the same, comparing content words only
WORDS = 0.5  # log odds of the content words
PHRASES = 0.65  # log odds of the word pairs, which tell "how do I" from "do we have"

_NEAREST = 3
# A word nobody has used for a tool still has this much of a count there.
_UNSEEN_WORD = 0.3
_UNSEEN_PHRASE = 0.5
_KEPT_EXAMPLES = 256
_NAME_COUNT = 3  # a word of the tool's own name counts as so many examples


@dataclass(frozen=True)
class Ranked:
    """A tool with its share of certainty; the shares of a ranking add up to 1."""

    tool: ToolSpec
    score: float
    share: float
    learned: float
    evidence: float
    bonus: float

    def as_candidate(self) -> Candidate:
        return Candidate(
            self.tool.name,
            *(round(n, 3) for n in (self.share, self.learned, self.evidence, self.bonus)),
        )


@dataclass(frozen=True)
class Evidence:
    """What the context's hints say about one tool.

    `odds` is the logarithm of the odds that its documents answer (`app.retrieval.evidence`),
    `title` how many words the longest title of one has that stands in the message.
    """

    score: float = 0.0
    coverage: float = 0.0
    names: tuple[str, ...] = ()
    odds: float = -math.inf
    title: int = 0


def read_evidence(hints: Mapping[str, Any]) -> dict[str, Evidence]:
    """The hints `evidence` and `mentions` by tool name; what is malformed counts as absent."""
    found: dict[str, Evidence] = {}
    given = hints.get("evidence")
    for tool, values in given.items() if isinstance(given, Mapping) else ():
        score, coverage = (float(values.get(name, 0)) for name in ("score", "coverage"))
        odds, title = float(values.get("odds", -math.inf)), int(values.get("title", 0))
        found[tool] = Evidence(score, coverage, odds=odds, title=title)
    for entry in hints.get("mentions") or ():
        known = found.get(entry["tool"], Evidence())
        names = (*known.names, *entry.get("names", ()))
        found[entry["tool"]] = replace(known, names=names)
    return found


class IntentIndex:
    """The examples of one set of tools, ready to be compared with."""

    def __init__(self, tools: Sequence[ToolSpec], embedder: Embedder, read: ReadExamples) -> None:
        self.tools = tuple(tools)
        self._embedder = embedder
        learned = load_model()[INTENTS].classes
        self._is_known = np.array([tool.name in learned for tool in tools], dtype=bool)
        self._sets = [
            read(tuple(line for lines in tool.examples.values() for line in lines))
            for tool in tools
        ]
        # Single words say too little to be near to.
        chat = {
            " ".join(phrase): kind
            for kind, phrases in SMALL_TALK.items()
            for phrase in phrases
            if len(phrase) > 1
        }
        self._chat, self._chat_kinds = read(tuple(chat)), tuple(chat.values())
        self._words = _Counts(
            [
                [*_word_sets(examples.lines), set(stems(tool.description)), *_name_words(tool)]
                for tool, examples in zip(self.tools, self._sets, strict=True)
            ],
            _UNSEEN_WORD,
        )
        self._phrases = _Counts(
            [[set(_pairs(line)) for line in examples.lines] for examples in self._sets],
            _UNSEEN_PHRASE,
        )
        self.vocabulary = frozenset(
            word for examples in self._sets for line in examples.lines for word in words(line)
        )

    def other_intents(self, message: str) -> dict[str, float]:
        """How likely each of what no tool is for is, 0..1."""
        shares = read_intents(message)
        return {name: shares.get(name, 0.0) for name in OTHER_INTENTS}

    def rank(
        self,
        question: str,
        evidence: Mapping[str, Evidence],
        *,
        trust: float = 1.0,
        bonus: Mapping[str, float] | None = None,
    ) -> list[Ranked]:
        """The tools, the likeliest first.

        `trust` weighs the evidence, 0..1; `bonus` is added to the scores of the tools it
        names.
        """
        if not self.tools:
            return []
        learned = self._shares(question)
        found = trust * self._evidence(evidence)
        added = np.array([(bonus or {}).get(tool.name, 0.0) for tool in self.tools])
        total = np.log(np.maximum(learned, LEAST)) + found + added
        shares = np.exp(total - total.max())
        shares /= shares.sum()
        figures = zip(total, shares, learned, found, added, strict=True)
        ranked = [
            Ranked(tool, *map(float, numbers))
            for tool, numbers in zip(self.tools, figures, strict=True)
        ]
        return sorted(ranked, key=lambda entry: -entry.score)

    def small_talk(self, message: str) -> tuple[str, float]:
        """The kind of small talk a message is most like, and how much more than any example."""
        vector = self._embedder.embed([message])[0]
        nearest = max((examples.near(vector) for examples in self._sets), default=0.0)
        return self._chat_kinds[self._chat.nearest(vector)], self._chat.near(vector) - nearest

    def _shares(self, question: str) -> Scores:
        """What was learned; tools that were not keep the share that their examples give them."""
        learned = read_intents(question)
        shares = np.array([learned.get(tool.name, 0.0) for tool in self.tools])
        if self._is_known.all():
            return shares
        likeness = self._likeness(question)
        likely = np.exp(likeness - likeness.max())
        likely /= likely.sum()
        left = 1.0 - likely[~self._is_known].sum()
        return np.asarray(np.where(self._is_known, shares * left, likely))

    def _likeness(self, question: str) -> Scores:
        whole, subject = self._embedder.embed(
            [question, " ".join(content_words(question)) or question]
        )
        near = np.array([examples.near(whole) for examples in self._sets])
        about = np.array([examples.near_subject(subject) for examples in self._sets])
        return np.asarray(
            NEAR * near
            + SUBJECT * about
            + WORDS * self._words.odds(stems(question))
            + PHRASES * self._phrases.odds(_pairs(question))
        )

    def _evidence(self, evidence: Mapping[str, Evidence]) -> Scores:
        found = [evidence.get(tool.name, Evidence()) for tool in self.tools]
        named = NAMED_ALONE if sum(bool(one.names) for one in found) == 1 else NAMED
        return np.array(
            [
                EVIDENCE * one.score
                + COVERAGE * one.coverage
                + named * bool(one.names)
                + TITLE * min(one.title, MOST_OF_TITLE)
                - USUAL * (tool.name in evidence)
                for tool, one in zip(self.tools, found, strict=True)
            ]
        )


class Examples:
    """The example utterances of one tool as vectors, whole and by content words."""

    def __init__(self, lines: Iterable[str], embedder: Embedder) -> None:
        self.lines = tuple(lines)
        subjects = [" ".join(content_words(line)) or line for line in self.lines]
        self._whole = embedder.embed(list(self.lines))
        self._subjects = embedder.embed(subjects)

    def near(self, vector: NDArray[np.float32]) -> float:
        return _mean_of_nearest(self._whole, vector)

    def nearest(self, vector: NDArray[np.float32]) -> int:
        """The number of the line that is nearest of all."""
        return int(np.argmax(self._whole @ vector))

    def near_subject(self, vector: NDArray[np.float32]) -> float:
        return _mean_of_nearest(self._subjects, vector)


ReadExamples = Callable[[tuple[str, ...]], Examples]


def example_reader(embedder: Embedder) -> ReadExamples:
    """Reads examples, and keeps them: each role is offered other tools, most of them the same."""
    return lru_cache(_KEPT_EXAMPLES)(lambda lines: Examples(lines, embedder))


def _mean_of_nearest(vectors: NDArray[np.float32], vector: NDArray[np.float32]) -> float:
    if not len(vectors):
        return 0.0
    return float(np.sort(vectors @ vector)[-_NEAREST:].mean())


class _Counts:
    """In how many examples of each tool a word stands, as odds against the other tools."""

    def __init__(self, by_tool: Sequence[Sequence[set[str]]], unseen: float) -> None:
        self._unseen = unseen
        self._sizes = np.array([max(len(sets), 1) for sets in by_tool], dtype=float)
        self._counts: dict[str, Scores] = {}
        for number, sets in enumerate(by_tool):
            for word in (word for one in sets for word in one):
                row = self._counts.setdefault(word, np.zeros(len(by_tool)))
                row[number] += 1

    def odds(self, asked: Iterable[str]) -> Scores:
        """Log odds of each tool; words in nobody's examples say nothing."""
        total = np.zeros(len(self._sizes))
        for word in set(asked):
            if word in self._counts:
                share = (self._counts[word] + self._unseen) / (self._sizes + 2 * self._unseen)
                logs = np.log(share)
                total += logs - logs.mean()
        return total


def _word_sets(lines: Iterable[str]) -> list[set[str]]:
    return [set(stems(line)) for line in lines]


def _name_words(tool: ToolSpec) -> list[set[str]]:
    own = {stem(word) for word in words(tool.name.replace("_", " "))}
    return [own] * _NAME_COUNT


def _pairs(text: str) -> list[str]:
    spoken = words(text)
    return [" ".join(pair) for pair in zip(["^", *spoken], spoken, strict=False)]
