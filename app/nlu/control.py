"""What a message does to what is open: agrees, denies, cancels, skips, asks to see it again.

Some answers are listed whole; what was learned from sentences reads the others, together with the
question that they answer. Nothing is written for what is not clearly a yes: where a message says
anything beside it, it is none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

from app.nlu.agreement import PHRASES, agrees
from app.nlu.courtesies import read_courtesy
from app.nlu.features import STEM
from app.nlu.model import CONTROLS, NO_ACT, load_model, number_of_word
from app.nlu.normalization import normalize
from app.text.normalize import fold, plain_words
from app.text.plain_text import compose
from app.text.stop_words import STOP_WORDS
from app.text.yaml_file import read_yaml

Answer = Literal["yes", "no"]
Act = Literal[
    "yes", "no", "cancel", "skip", "finish", "submit", "undo", "repeat", "show", "correct"
]  # fmt: skip
# Those that are only listed, and not learned.
ListedAct = Literal["why", "go_on", "unknown"]
CORRECT: Act = "correct"
YES: Act = "yes"
UNDO: Act = "undo"
CANCEL: Act = "cancel"
# So likely must an act be: a yes lets something be written, a no only leaves it.
SURE_OF_YES, SURE_OF_NO, SURE = 0.65, 0.5, 0.5
# So likely must it be for asking whether it was one.
LIKELY_YES = 0.3
_LONGEST = 60  # characters; a longer message says more than yes or no
_LONGEST_OF_MORE = 200
_MOST_WORDS = 14
_WORD = re.compile(r"[^\W_]+|[👍👎👌✅✔❌✖]️?")
# Questions in any script, struck-out words, and pictures that may take back what is said.
_UNSURE = re.compile(
    "[?¿\uff1f\u061f\u037e\u2047-\u2049\u0300-\u036f\u20d0-\u20ff\u2753\u2754]"
    "|(?![👍👎👌✅✔❌✖🙏🙌👏🎉😀😃😄😁😊🙂😉])[\u2600-\u27bf\U0001f000-\U0001f3fa\U0001f400-\U0001faff]"
)


_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")
# The pronoun behind what is told to be done: "pídalos" agrees to "¿Pido tus días?".
_ORDER = re.compile("(?:l[aeo]s?|se)$")
# "No, cancel it" is two sentences; "no cancelar" is one.
NO_FIRST = re.compile(r"(?i)^\s*no+\s*[,.;:!]+\s*")
_PATTERN = "(?:(?:{before}) )*(?:{said})(?: (?:{after}))?"


@dataclass(frozen=True)
class _Phrases:
    """Whole answers by their words, None where they say nothing; and acts."""

    known: Mapping[tuple[str, ...], Answer | None]
    longest: int
    acts: Mapping[Act | ListedAct, re.Pattern[str]]


@cache
def _phrases() -> _Phrases:
    loaded: Mapping[str, Any] = read_yaml(PHRASES)
    courtesies = [each for listed in loaded["courtesies"].values() for each in listed]
    known: dict[tuple[str, ...], Answer | None] = {
        **{_spelled(each): None for each in (*courtesies, *loaded["filler"])},
        **{_spelled(each): "yes" for each in loaded["yes"]},
        **{_spelled(each): "no" for each in loaded["no"]},
    }
    acts = {
        act: re.compile(_PATTERN.format(said="|".join(each).replace("{thing}", thing), **loaded))
        for thing in (loaded["thing"],)
        for act, each in loaded["acts"].items()
    }
    return _Phrases(known, max(map(len, known)), acts)


def _spelled(phrase: str) -> tuple[str, ...]:
    return tuple(_words_of(phrase))


def read_answer(message: str, asked: str = "") -> Answer | None:
    """Whether a whole message is a yes or a no, in English or Spanish; None for anything else.

    "Yes please", "sí, dale" and "ok 👍" are; "yes but 250", "no problem" and "no, yes" are not.
    `asked` is the line that it follows: "ok, add it" is a yes to "Shall I add it?".
    """
    if not may_be_answer(message):
        return None
    return "yes" if agrees(message, asked) else _listed_no(message) or _learned_no(message, asked)


def may_be_answer(message: str) -> bool:
    """Whether a message can be a whole yes or no at all; most are told from one by their length."""
    return len(message) <= _LONGEST and not _UNSURE.search(compose(message))


def may_agree(message: str, asked: str) -> bool:
    """Whether a message is more likely a yes to this question than anything else it does to it.

    For what `read_answer` leaves open: "yes, it has been dripping since five" may hold what
    nobody asked about, so nothing is written for it, and it is asked for once more.
    """
    is_open = len(message) <= _LONGEST_OF_MORE and not _UNSURE.search(compose(message))
    if not is_open or "?" not in asked or not normalize(message):
        return False
    shares = load_model()[CONTROLS].shares(message, asked)
    agrees = shares[YES] + shares["submit"]
    sure = LIKELY_YES if _numbers(message) <= _numbers(asked) else SURE_OF_YES
    return agrees >= sure and agrees > max(shares["no"], shares[CORRECT])


def last_line(reply: str) -> str:
    """The last line of a reply, where its question stands."""
    return reply.rstrip().rpartition("\n")[2]


def _words_of(message: str) -> list[str]:
    """The words, as they are spelled, and the pictures that answer by themselves."""
    return [normalize(word) or word for word in _WORD.findall(fold(message))]


def _listed_no(message: str) -> Answer | None:
    """Whether a message is nothing but listed refusals and courtesies."""
    kinds = set(_kinds(_words_of(message)))
    return "no" if "no" in kinds and kinds <= {"no", None} else None


def _kinds(words: Sequence[str]) -> Iterator[Answer | Literal[""] | None]:
    """What each phrase that the words are cut into says, the longest first; "" is not listed."""
    known, longest, at = _phrases().known, _phrases().longest, 0
    while at < len(words):
        lengths = range(min(longest, len(words) - at), 0, -1)
        length = next((n for n in lengths if tuple(words[at : at + n]) in known), 1)
        yield known.get(tuple(words[at : at + length]), "")
        at += length


def _learned_no(message: str, asked: str) -> Answer | None:
    """Whether a message refuses in words that nobody listed; a no leaves things as they are.

    Neither thanks nor what agrees to other questions does: "good" says not whether it works.
    """
    if read_courtesy(message).kinds == ("thanks",) or agrees(message):
        return None
    words = _without(None, normalize(message).split())
    is_open = "?" in asked and _numbers(message) <= _numbers(asked)
    if not is_open or not 0 < len(words) <= _MOST_WORDS:
        return None
    says_no_more = _says_no_more(_without("yes", words, shortest=2), asked)
    shares = load_model()[CONTROLS].shares(" ".join(words), asked)
    return "no" if shares["no"] >= (SURE_OF_NO if says_no_more else SURE_OF_YES) else None


def _numbers(text: str) -> set[str]:
    return set(_DIGITS.findall(text))


def _without(listed: Answer | None, words: Sequence[str], shortest: int = 1) -> list[str]:
    """The words without listed phrases of one meaning, and of so many words or more.

    All of them where nothing would be left.
    """
    phrases, left, at = _phrases(), list[str](), 0
    while at < len(words):
        lengths = range(min(phrases.longest, len(words) - at), shortest - 1, -1)
        known = (n for n in lengths if phrases.known.get(tuple(words[at : at + n]), "") == listed)
        length = next(known, 0)
        left += [] if length else [words[at]]
        at += length or 1
    return left or list(words)


def _says_no_more(words: Collection[str], asked: str) -> bool:
    """Whether all words are of answers or of the question, or say nothing by themselves."""
    known = load_model()[CONTROLS].words
    question = normalize(asked).split()
    of_question = {word[:STEM] for word in question} | {word[: STEM - 1] for word in question}
    return all(
        number_of_word(word) in known
        or word in STOP_WORDS
        or (word,) in _phrases().known
        or word[:STEM] in of_question
        or (_ORDER.search(word) and word[: STEM - 1] in of_question)
        for word in words
    )


# A yes is never taken where there may be more to it.
_LEFT: tuple[Act, ...] = tuple(act for act in get_args(Act) if act != YES)


def listed_act(message: str) -> Act | ListedAct | None:
    """What a message does in words that are listed, or None; what is longer says more."""
    if len(message) > _LONGEST_OF_MORE:
        return None
    message = NO_FIRST.sub("", message) or message
    # As they stand, and as they are usually spelled: "idk".
    spelled = {plain_words(message), normalize(message)}
    return next(
        (act for act, said in _phrases().acts.items() if any(map(said.fullmatch, spelled))), None
    )


def read_reply(message: str, asked: str) -> Act | None:
    """What a message does that answers `asked`, of all that can be done; None for nothing."""
    return read_answer(message, asked) or read_act(message, asked, _LEFT)


def read_act(message: str, asked: str, possible: Collection[Act], sure: float = SURE) -> Act | None:
    """What a message does, of what can be done; None where that is less than so `sure`."""
    shares = load_model()[CONTROLS].shares(message, asked)
    likely = {act: shares[act] for act in possible}
    if not likely or not 0 < len(normalize(message).split()) <= _MOST_WORDS:
        return None
    best = max(likely, key=lambda act: likely[act])
    # What it may be beside them: nothing at all, the correction of a value, or a yes.
    others = {NO_ACT, CORRECT, YES} - likely.keys()
    whole = sum(likely.values()) + sum(shares[each] for each in others)
    return best if likely[best] >= sure * whole else None
