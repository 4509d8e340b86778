"""What a message is for, as a model learned it from sentences: a share for each class.

The artefact is made by `make nlu` (`app.nlu.trainer`) and read with numpy alone. It holds three
classifiers: of intents (a tool's name, or one of `OTHER_INTENTS`), of what a short message does to
what is open, and of whether a sentence of a reply says that something has been done (`CLAIMS`).
"""

from __future__ import annotations

import hashlib
import re
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.errors import NotLearned
from app.nlu.features import count_answer_features, count_features

FOLDER = Path(__file__).parent
ARTEFACT = FOLDER / "model.npz"
# What changes the artefact when it changes: the sentences, how they are read, and how it learns.
SOURCES = (
    "sentences/*.jsonl", "sentences/claims/*.jsonl", "features.py", "normalization.py",
    "spellings.yaml", "slots.yaml", "trainer.py",
)  # fmt: skip
INTENTS, CONTROLS, CLAIMS = "intents", "controls", "claims"
EMERGENCY, CRISIS, OFF_TOPIC, SMALL_TALK = "emergency", "crisis", "none_offtopic", "none_smalltalk"
# An answer to what was asked or done: "yes add it", "skip that one".
REPLY = "reply"
# Messages that no tool is for.
OTHER_INTENTS = (EMERGENCY, CRISIS, OFF_TOPIC, SMALL_TALK, REPLY)
# A message that does nothing to what is open: an answer to it, or something else.
NO_ACT = "none"
# A sentence says that something was noted or changed for its person; that it has gone out to others
# or taken effect for them; or neither.
KEPT, SENT, NO_CLAIM = "kept", "sent", "none"
# Where a tool begins in a skill's examples and templates.
_TOOL = re.compile(r"^(\w+):", re.MULTILINE)

Numbers = NDArray[np.uint32]  # (features,), ascending
Values = NDArray[np.float32]
Weights = NDArray[np.int8]  # (features, classes)


@dataclass(frozen=True)
class FeatureGroup:
    """Features that are weighed and scaled together: their numbers and how rare each is."""

    numbers: Numbers
    rarity: Values

    def read(self, counts: Mapping[int, int]) -> tuple[NDArray[np.intp], Values]:
        """The places of the known features of a message, and their values; of length 1 together."""
        asked = np.fromiter(counts, np.uint32, len(counts))
        places = np.searchsorted(self.numbers, asked)
        places[places == len(self.numbers)] = 0
        known = self.numbers[places] == asked
        often = np.fromiter(counts.values(), np.float32, len(counts))[known]
        places = places[known]
        values = (1 + np.log(often)) * self.rarity[places]
        length = float(np.sqrt((values**2).sum()))
        return places, (values / length if length else values).astype(np.float32)


@dataclass(frozen=True)
class Classifier:
    """A linear classifier over the features of a message."""

    classes: tuple[str, ...]
    groups: tuple[FeatureGroup, ...]
    weights: Weights
    # What one step of a weight means, and where each class begins; both are divided by the
    # temperature, so that a share says how often it is right.
    scale: Values
    start: Values
    # The words that the sentences of acts are made of, by number; none for what has no acts.
    words: frozenset[int] = frozenset()

    def shares(self, text: str, asked: str | None = None) -> dict[str, float]:
        """How likely each class is, together 1.

        Whoever has learned from answers is told what was `asked`, "" for nothing.
        """
        return self.weigh(
            count_features(text) if asked is None else count_answer_features(text, asked)
        )

    def weigh(self, counted: Sequence[Mapping[int, int]]) -> dict[str, float]:
        """How likely each class is by the features that were `counted`, together 1."""
        scores = self.start.copy()
        first = 0
        for group, counts in zip(self.groups, counted, strict=True):
            places, values = group.read(counts)
            scores += (values @ self.weights[first + places].astype(np.float32)) * self.scale
            first += len(group.numbers)
        odds = np.exp(scores - scores.max())
        return dict(zip(self.classes, (odds / odds.sum()).tolist(), strict=True))


@cache
def load_model(path: Path = ARTEFACT) -> Mapping[str, Classifier]:
    """The classifiers of the artefact: `INTENTS`, `CONTROLS` and `CLAIMS`.

    Raises:
        NotLearned: it is missing, damaged, or older than what it was made from.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            made_from = str(stored["digest"])
            model = {name: _unpack(stored, name) for name in (INTENTS, CONTROLS, CLAIMS)}
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, EOFError) as error:
        raise NotLearned(f"{path.name} cannot be read ({type(error).__name__})") from error
    if made_from != digest(learned=model[INTENTS].classes):
        raise NotLearned(f"{path.name} is older than its sentences")
    return model


# Of one message several readers ask, in different places of its turn.
@lru_cache(maxsize=256)
def read_intents(message: str, *, is_answer: bool = False) -> Mapping[str, float]:
    """How likely a message is for each intent, together 1.

    Where it answers nothing, it is no `REPLY`: "the fryer will not light" may be one.
    """
    shares = load_model()[INTENTS].shares(message)
    if not is_answer:
        shares.pop(REPLY, None)
        # What is nothing but a reply may leave nothing to share.
        left = sum(shares.values()) or 1.0
        shares = {name: share / left for name, share in shares.items()}
    return MappingProxyType(shares)


def digest(folder: Path = FOLDER, learned: Collection[str] | None = None) -> str:
    """The SHA-256 of what the artefact is made from, in hexadecimal.

    Where it is said which classes were `learned`, a skill of whose tools none is among them does
    not count: it was added since, and is recognised by how near a message is to its examples.
    """
    found = hashlib.sha256()
    for path in _sources(folder, learned):
        found.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()


def _sources(folder: Path, learned: Collection[str] | None) -> Iterator[Path]:
    for pattern in SOURCES:
        yield from sorted(folder.glob(pattern))
    # The tools' own examples and templates; whoever adds a skill adds these.
    for name in ("examples", "templates"):
        for path in sorted(folder.parent.glob(f"skills/*/tools/{name}.yaml")):
            if learned is None or not _is_unlearned(path.parent, learned):
                yield path


def _is_unlearned(tools: Path, learned: Collection[str]) -> bool:
    """Whether this folder of a skill has tools, and none of them is among the learned classes."""
    files = [tools / f"{name}.yaml" for name in ("examples", "templates")]
    texts = [path.read_text("utf-8") for path in files if path.exists()]
    named = {name for text in texts for name in _TOOL.findall(text)}
    return bool(named) and named.isdisjoint(learned)


def pack(name: str, classifier: Classifier) -> dict[str, Any]:
    """A classifier as arrays of an artefact."""
    packed: dict[str, Any] = {
        f"{name}.classes": np.array(classifier.classes),
        f"{name}.weights": classifier.weights,
        f"{name}.scale": classifier.scale,
        f"{name}.start": classifier.start,
        f"{name}.words": np.array(sorted(classifier.words), np.uint32),
    }
    for number, group in enumerate(classifier.groups):
        packed[f"{name}.{number}.numbers"] = group.numbers
        packed[f"{name}.{number}.rarity"] = group.rarity.astype(np.float16)
    return packed


def _unpack(stored: Mapping[str, NDArray[Any]], name: str) -> Classifier:
    numbers = [key for key in stored if key.startswith(f"{name}.") and key.endswith(".numbers")]
    groups = tuple(
        FeatureGroup(stored[key], stored[f"{key.removesuffix('numbers')}rarity"].astype("f4"))
        for key in sorted(numbers)
    )
    return Classifier(
        tuple(map(str, stored[f"{name}.classes"])),
        groups,
        stored[f"{name}.weights"],
        stored[f"{name}.scale"],
        stored[f"{name}.start"],
        frozenset(stored[f"{name}.words"].tolist()),
    )


def number_of_word(word: str) -> int:
    """The number by which a normalized word is known."""
    return zlib.crc32(word.encode())
