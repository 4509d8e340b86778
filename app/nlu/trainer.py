"""`make nlu`: learns what messages are for from sentences, measures it, and writes the artefact.

Measured by leaving out whole authors, never single sentences: what somebody else says is what
counts. Needs scikit-learn, which nothing needs at run time.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice, repeat, zip_longest
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import yaml
from hassil.parse_expression import parse_sentence
from hassil.parser import ParseError
from hassil.sample import sample_sentence
from numpy.typing import NDArray
from scipy.sparse import csr_matrix  # type: ignore[import-untyped]
from sklearn.svm import LinearSVC  # type: ignore[import-untyped]

from app.nlu.evaluation import CONTROL, NO_TOOL, QUESTION, Case, read_cases
from app.nlu.features import count_answer_features, count_claim_features, count_features
from app.nlu.model import (
    ARTEFACT,
    CLAIMS,
    CONTROLS,
    FOLDER,
    INTENTS,
    NO_ACT,
    REPLY,
    SMALL_TALK,
    Classifier,
    FeatureGroup,
    digest,
    number_of_word,
    pack,
)
from app.nlu.normalization import normalize

SENTENCES, SLOTS = FOLDER / "sentences", FOLDER / "slots.yaml"
SKILLS = FOLDER.parent / "skills"
# Of a template so many sentences are learned, of as many as are read of it.
MOST_SAMPLES, MOST_READ = 40, 20_000
_SLOT = re.compile(r"\{(\w+)\}")
# How often a slot is left empty in them.
LEFT_EMPTY = 0.2
# A feature of one sentence alone says nothing about others; of those left, so many are kept.
FEWEST_SENTENCES, MOST_FEATURES = 2, 25_000
# How freely it learns; more or less made held-out authors worse.
FREEDOM = 0.5
# What speaks for a class counts so much more where its skill's examples are all there is of it:
# strangers share about half of their words, and writers of other classes have taught many more.
# Measured on six skills in other people's words; with 2.2, messages of other tools are taken.
EXAMPLES_ALONE = 2.0
# What speaks for any tool of a skill counts so much for each of them: a word that several have in
# common tells them from other skills, but not from each other (decision 17).
SKILL_SHARE = 0.3
# The largest step of a weight.
LARGEST = 127
# So many messages that do nothing to what is open: with more, what acts is read as one of them.
MOST_OTHERS = 1_500
# What was asked for, and nothing else: "since yesterday", "fryer 2".
ANSWER = "answer"
# Of the acts, the one that tells a value.
CORRECT = "correct"
# Author of the examples that stand in the skills' own files.
EXAMPLES = "examples"


class UnreadableTemplate(ValueError):
    """A line of a skill's templates is none; the text says which and why."""


@dataclass(frozen=True)
class Sentence:
    """A message, the class it belongs to, and who wrote it."""

    text: str
    label: str
    author: str
    # What it answers; None for what is not learned as an answer.
    asked: str | None = None
    # A sentence of a reply, and no message.
    is_reply: bool = False

    def count(self) -> tuple[Counter[int], ...]:
        if self.is_reply:
            return count_claim_features(self.text)
        if self.asked is None:
            return count_features(self.text)
        return count_answer_features(self.text, self.asked)


def load_sentences(folder: Path = SENTENCES) -> dict[str, list[Sentence]]:
    """What there is to learn from, for each classifier."""
    cases = [case for path in sorted(folder.glob("*.jsonl")) for case in read_cases(path)]
    intents = [Sentence(case.text, _intent_of(case), case.author) for case in cases]
    return {
        INTENTS: intents + list(_examples()),
        CONTROLS: _controls(cases),
        CLAIMS: list(_claims(folder / "claims")),
    }


def _claims(folder: Path) -> Iterator[Sentence]:
    """What replies say of something as done, and what they say else."""
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            told = json.loads(line)
            yield Sentence(told["text"], told["claims"], path.stem, is_reply=True)


def _controls(cases: Sequence[Case]) -> list[Sentence]:
    """What answers do to what is open, and as many other messages that do nothing to it.

    Those are read as if something had been asked. Small talk is left out: "perfect" is a yes
    where something was asked.
    """
    asked = {
        language: [case.asked for case in cases if case.asked and case.lang == language]
        for language in ("en", "es")
    }
    choice = Random(0)  # noqa: S311 (the same pairs each time, and nothing secret)
    acts, answers, others = [], [], []
    for case in cases:
        about = case.asked or choice.choice(asked[case.lang])
        if case.kind.startswith(CONTROL):
            acts.append(Sentence(case.text, case.kind.removeprefix(CONTROL), case.author, about))
        elif case.kind == ANSWER:
            answers.append(Sentence(case.text, NO_ACT, case.author, about))
        elif case.kind != SMALL_TALK:
            others.append(Sentence(case.text, NO_ACT, case.author, about))
    choice.shuffle(others)
    return acts + answers + others[:MOST_OTHERS]


def _intent_of(case: Case) -> str:
    first = case.tools[0]
    if case.kind == ANSWER or case.kind.startswith(CONTROL):
        return REPLY
    return case.kind if first in (NO_TOOL, QUESTION) else first


def _examples(skills: Path = SKILLS) -> Iterable[Sentence]:
    """What the skills say of their tools: examples as they stand, and templates by samples."""
    for path in sorted(skills.glob("*/tools/examples.yaml")):
        for tool, by_language in yaml.safe_load(path.read_text("utf-8")).items():
            for lines in by_language.values():
                yield from (Sentence(str(line), tool, EXAMPLES) for line in lines)
    for path in sorted(skills.glob("*/tools/templates.yaml")):
        for tool, by_language in yaml.safe_load(path.read_text("utf-8")).items():
            for language, lines in by_language.items():
                for line in lines:
                    samples = sample_template(str(line), language)
                    yield from (Sentence(text, tool, EXAMPLES) for text in samples)


def sample_template(template: str, language: str) -> list[str]:
    """Sentences that a template stands for, always the same: `(add|log) {money} for {item}`.

    Raises:
        UnreadableTemplate: it is none, or has a slot that slots.yaml has nothing for.
    """
    choice = Random(template)  # noqa: S311 (the same samples each time, and nothing secret)
    try:
        found = list(
            islice(sample_sentence(parse_sentence(template), expand_lists=False), MOST_READ)
        )
        chosen = (choice.choice(found) for _ in range(MOST_SAMPLES))
        filled = [_SLOT.sub(lambda slot: _fill(slot, language, choice), text) for text in chosen]
    except (AssertionError, LookupError, ParseError) as error:
        raise UnreadableTemplate(f"{template!r} cannot be read: {error}") from error
    return list(dict.fromkeys(" ".join(text.split()) for text in filled))


def _fill(slot: re.Match[str], language: str, choice: Random) -> str:
    """Something for a slot, or nothing: what a sentence is for is said by its other words."""
    things = _slots()[slot[1]][language]
    return "" if choice.random() < LEFT_EMPTY else str(choice.choice(things))


@cache
def _slots() -> Mapping[str, Mapping[str, list[str]]]:
    loaded: Mapping[str, Mapping[str, list[str]]] = yaml.safe_load(SLOTS.read_text("utf-8"))
    return loaded


def learn(sentences: Sequence[Sentence]) -> Classifier:
    """A classifier of these sentences; its shares are not calibrated yet."""
    counted = [each.count() for each in sentences]
    groups = tuple(_choose(list(counts)) for counts in zip_longest(*counted))
    rows = [_row(groups, counts) for counts in counted]
    places = np.concatenate([each for each, _ in rows])
    values = np.concatenate([each for _, each in rows])
    ends = np.cumsum([0, *(len(each) for each, _ in rows)])
    size = sum(len(group.numbers) for group in groups)
    matrix = csr_matrix((values, places, ends), shape=(len(rows), size))
    classes, weights, start = _fit(matrix, [each.label for each in sentences])
    scale = np.abs(weights).max(axis=1) / LARGEST
    return Classifier(
        classes,
        groups,
        np.rint(weights / scale[:, None]).T.astype(np.int8),
        (scale * _boldness(sentences, classes)).astype(np.float32),
        start.astype(np.float32),
        _words_of_acts(sentences),
    )


def _fit(
    matrix: Any, labels: Sequence[str]
) -> tuple[tuple[str, ...], NDArray[np.float64], NDArray[np.float64]]:
    """The classes, what each feature says for each of them, and where each of them starts."""
    skills = _skills_of_tools()
    tools = LinearSVC(C=FREEDOM, random_state=0).fit(matrix, labels)
    classes = tuple(map(str, tools.classes_))
    groups = [skills.get(label, label) for label in labels]
    if groups == list(labels):
        return classes, tools.coef_, tools.intercept_
    shared = LinearSVC(C=FREEDOM, random_state=0).fit(matrix, groups)
    places = np.searchsorted(shared.classes_, [skills.get(name, name) for name in classes])
    weights = tools.coef_ + SKILL_SHARE * shared.coef_[places]
    return classes, weights, tools.intercept_ + SKILL_SHARE * shared.intercept_[places]


def _skills_of_tools(skills: Path = SKILLS) -> dict[str, str]:
    """Which skill each tool belongs to that has examples."""
    return {
        str(tool): path.parent.parent.name
        for path in skills.glob("*/tools/examples.yaml")
        for tool in yaml.safe_load(path.read_text("utf-8"))
    }


def _boldness(sentences: Sequence[Sentence], classes: Sequence[str]) -> NDArray[np.float64]:
    """How much more counts what speaks for each class than what was learned says."""
    written = {each.label for each in sentences if each.author != EXAMPLES}
    return np.array([1.0 if name in written else EXAMPLES_ALONE for name in classes])


def _words_of_acts(sentences: Sequence[Sentence]) -> frozenset[int]:
    """What answers that only do something are made of, by more than one author."""
    authors: defaultdict[str, set[str]] = defaultdict(set)
    for each in sentences:
        if each.asked is not None and each.label not in (NO_ACT, CORRECT):
            for word in normalize(each.text).split():
                authors[word].add(each.author)
    return frozenset(number_of_word(word) for word, by in authors.items() if len(by) > 1)


def _choose(counted: Sequence[Counter[int]]) -> FeatureGroup:
    """The features that most sentences have, and how rare each is."""
    found = Counter(number for counts in counted for number in counts)
    kept = sorted(number for number, n in found.most_common(MOST_FEATURES) if n >= FEWEST_SENTENCES)
    often = np.array([found[number] for number in kept])
    rarity = np.log((1 + len(counted)) / (1 + often)) + 1
    # As it is stored, so that it is measured as it will be read.
    return FeatureGroup(np.array(kept, np.uint32), rarity.astype(np.float16).astype(np.float32))


def _row(
    groups: Sequence[FeatureGroup], counted: Sequence[Mapping[int, int]]
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    places, values, first = [], [], 0
    for group, counts in zip(groups, counted, strict=True):
        place, value = group.read(counts)
        places.append(place + first)
        values.append(value)
        first += len(group.numbers)
    return np.concatenate(places), np.concatenate(values)


Held = list[tuple[Sentence, dict[str, float]]]


def read_held_out(sentences: Sequence[Sentence]) -> Held:
    """Each sentence as it is read by a classifier that never saw its author."""
    with ProcessPoolExecutor() as processes:
        return list(chain(*processes.map(_read_authors, repeat(sentences), _folds(sentences))))


def _read_authors(sentences: Sequence[Sentence], authors: Collection[str]) -> Held:
    classifier = learn([each for each in sentences if each.author not in authors])
    return [(each, classifier.weigh(each.count())) for each in sentences if each.author in authors]


def _folds(sentences: Sequence[Sentence]) -> list[tuple[str, ...]]:
    """The authors two by two, of one language each; the tools' examples are always known."""
    names = sorted({each.author for each in sentences} - {EXAMPLES})
    english = [name for name in names if name.startswith("en")]
    spanish = [name for name in names if not name.startswith("en")]
    return [tuple(filter(None, pair)) for pair in zip_longest(english, spanish, fillvalue="")]


def calibrate(classifier: Classifier, held: Held) -> Classifier:
    """The same with shares that are right as often as they say, on the authors left out."""
    logs = np.array([[np.log(max(s, 1e-12)) for s in shares.values()] for _, shares in held])
    names = list(held[0][1])
    right = np.array([names.index(each.label) for each, _ in held])

    def loss(temperature: float) -> float:
        scores = logs / temperature
        scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return float(-scores[np.arange(len(right)), right].mean())

    best = min(np.arange(0.05, 2.0, 0.01), key=loss)
    return Classifier(
        classifier.classes,
        classifier.groups,
        classifier.weights,
        (classifier.scale / best).astype(np.float32),
        (classifier.start / best).astype(np.float32),
        classifier.words,
    )


def describe(name: str, held: Held) -> str:
    """How many of the sentences of authors left out were read right, by class and author."""
    by_class: defaultdict[str, Counter[bool]] = defaultdict(Counter)
    by_author: defaultdict[str, Counter[bool]] = defaultdict(Counter)
    for each, shares in held:
        is_right = max(shares, key=lambda label: shares[label]) == each.label
        by_class[each.label][is_right] += 1
        by_author[each.author][is_right] += 1
    lines = [f"{name}: {_share(sum(by_class.values(), Counter()))} of {len(held)} sentences"]
    for counted in (by_class, by_author):
        lines += [f"  {what:32} {_share(counted[what])}" for what in sorted(counted)]
    return "\n".join(lines)


def _share(counted: Mapping[bool, int]) -> str:
    return f"{counted[True] / max(1, sum(counted.values())):6.1%}"


def main(artefact: Path = ARTEFACT) -> None:
    """Learn, measure, and write the artefact with what was measured beside it.

    That report belongs into the commit as well: its diff shows what a change has moved.
    """
    packed: dict[str, Any] = {}
    report = []
    for name, sentences in load_sentences().items():
        _say(f"{name}: learning from {len(sentences)} sentences, which takes minutes …")
        held = read_held_out(sentences)
        report.append(describe(name, held))
        _say(report[-1])
        packed |= pack(name, calibrate(learn(sentences), held))
    np.savez_compressed(artefact, digest=np.array(digest()), **packed)
    artefact.with_suffix(".txt").write_text("\n".join([*report, ""]), "utf-8")
    _say(f"{artefact.name}: {artefact.stat().st_size // 1024} KiB")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
