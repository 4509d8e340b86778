"""Which form a message names by its title, or may be about. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from app.skills.forms.services.lexicon import FORM_WORDS, PAPER_WORDS
from app.text.normalize import fold, words
from app.text.stems import stem, stems

# A form is named when this much of its title, by weight of its words, is there; less is enough
# for one that may be wanted for what has happened, or so many words of what it is about.
NAMED, ABOUT = 0.5, 0.3
WORDS_IN_COMMON = 2
# Of how many groups the titles are kept, as they were last asked for.
MOST_LISTS = 12
_WORD = re.compile(r"[^\W_]+")

# A form's address, its titles and its descriptions, English first.
Naming = tuple[str, str, str, str, str]


@dataclass(frozen=True)
class FormName:
    """One title of a form, and what it is about, as stems."""

    slug: str
    title: str
    language: str
    title_stems: frozenset[str]
    about: frozenset[str]


@dataclass(frozen=True)
class FormNames:
    """The titles of a group's forms, and how much each of their words tells them apart."""

    names: tuple[FormName, ...]
    weight: Mapping[str, float]

    def share(self, name: FormName, said: frozenset[str]) -> float:
        """How much of a title was said, by weight of its words, 0..1."""
        whole = self.worth(name.title_stems)
        return self.worth(name.title_stems & said) / whole if whole else 0.0

    def worth(self, words_of_forms: frozenset[str]) -> float:
        return sum(self.weight[each] for each in words_of_forms)


# What is kept goes by the names themselves, so that no change of a form can be missed.
@lru_cache(maxsize=MOST_LISTS)
def fold_names(forms: tuple[Naming, ...]) -> FormNames:
    """The titles of these forms, folded and weighed: a word weighs the more, the rarer it is."""
    names = tuple(
        FormName(slug, title, language, _stems(title), _stems(about) | _stems(title))
        for slug, *texts in forms
        for language, title, about in zip(("en", "es"), texts[:2], texts[2:], strict=True)
        if title
    )
    counts = Counter(each for each, _slug in {(e, n.slug) for n in names for e in n.about})
    weight = {each: math.log(1 + len(forms) / count) for each, count in counts.items()}
    return FormNames(names, weight)


def named_form(message: str, names: FormNames) -> FormName | None:
    """The form whose title the message says best, where it says enough of one.

    A kind of paper alone is not enough: a loan log is no temperature log.
    """
    said, literal = _stems(message), set(words(message))

    def likeness(name: FormName) -> tuple[float, int]:
        # Of two languages that say it alike, the one that was spoken.
        return names.share(name, said), len(literal & set(words(name.title)))

    best = max(names.names, key=likeness, default=None)
    if best is None or names.share(best, said) < NAMED:
        return None
    return best if best.title_stems & said - _PAPERS or best.title_stems <= said else None


def titled_form(message: str, names: FormNames) -> FormName | None:
    """The form whose whole title the message says, in any order of its words."""
    named = named_form(message, names)
    return named if named and named.title_stems <= _stems(message) else None


def title_words(message: str, name: FormName) -> str:
    """The words of the title that the message has too: what to search for."""
    literal, said = set(words(message)), _stems(message)
    tokens = [match[0] for match in _WORD.finditer(name.title)]
    common = [each for each in tokens if fold(each) in literal or _stems(each) & said]
    return " ".join(common).lower()


def related_form(message: str, names: FormNames, language: str) -> FormName | None:
    """The form that may be wanted for what the message tells of, if there is one."""
    said = _stems(message)
    about = [
        name
        for name in names.names
        if name.language == language
        and (names.share(name, said) >= ABOUT or len(name.about & said) >= WORDS_IN_COMMON)
    ]
    return max(about, key=lambda name: names.worth(name.about & said), default=None)


def _stems(text: str) -> frozenset[str]:
    return frozenset(stems(text)) - _NOTHING


_NOTHING = frozenset(stem(word) for word in FORM_WORDS)
_PAPERS = frozenset(stems(PAPER_WORDS))
