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
from pathlib import Path
from typing import Any, Literal, get_args

import yaml

from app.nlu.features import STEM
from app.nlu.model import CONTROLS, NO_ACT, load_model, number_of_word
from app.nlu.normalization import normalize
from app.text.normalize import fold, plain_words
from app.text.plain_text import compose
from app.text.stop_words import STOP_WORDS

Answer = Literal["yes", "no"]
Act = Literal[
    "yes", "no", "cancel", "skip", "finish", "submit", "undo", "repeat", "show", "correct"
]  # fmt: skip
# Those that are only listed, and not learned.
ListedAct = Literal["why", "go_on", "unknown"]
ANSWERS = Path(__file__).with_name("answers.yaml")
CORRECT: Act = "correct"
YES: Act = "yes"
# So likely must an act be: a yes lets something be written, a no only leaves it.
SURE_OF_YES, SURE_OF_NO, SURE = 0.65, 0.5, 0.5
# So likely must it be for asking whether it was one.
LIKELY_YES = 0.4
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
# Later ones are what a phrase of two lists is.
_KINDS = ("solved", "beside", "filler", "agreeing", "yes", "no")
_PATTERN = "(?:(?:{before}) )*(?:{said})(?: (?:{after}))?"


@dataclass(frozen=True)
class _Phrases:
    """Whole answers by their words, None where they say nothing; words of doubt; acts."""

    known: Mapping[tuple[str, ...], Answer | None]
    # What may be part of an agreement, and what is no agreement: a listed phrase and its list.
    kinds: Mapping[tuple[str, ...], str]
    longest: int
    asking: tuple[str, ...]
    solved: frozenset[str]
    losing: frozenset[str]
    doubts: tuple[str, ...]
    unclear: tuple[str, ...]
    acts: Mapping[Act | ListedAct, re.Pattern[str]]
    condition: re.Pattern[str]


@cache
def _phrases() -> _Phrases:
    loaded: Mapping[str, Any] = yaml.safe_load(ANSWERS.read_text("utf-8"))
    known: dict[tuple[str, ...], Answer | None] = {
        **{tuple(each.split()): None for each in loaded["filler"]},
        **{tuple(each.split()): "yes" for each in loaded["yes"]},
        **{tuple(each.split()): "no" for each in loaded["no"]},
    }
    kinds = {
        tuple(normalize(each).split()): kind
        for kind in _KINDS
        for each in (loaded[kind]["says"] if kind == "solved" else loaded[kind])
    }
    unclear = tuple(f" {normalize(each)} " for each in loaded["unclear"])
    doubts = (*(f" {normalize(each)} " for each in loaded["doubts"]), *unclear)
    acts = {
        act: re.compile(_PATTERN.format(said="|".join(said).replace("{thing}", thing), **loaded))
        for thing in (loaded["thing"],)
        for act, said in loaded["acts"].items()
    }
    condition = re.compile(loaded["condition"])
    longest = max(map(len, known | kinds))
    asking, solved = tuple(loaded["asking"]), frozenset(loaded["solved"]["asks"])
    losing = frozenset(loaded["losing"])
    return _Phrases(known, kinds, longest, asking, solved, losing, doubts, unclear, acts, condition)


def read_answer(message: str, asked: str = "") -> Answer | None:
    """Whether a whole message is a yes or a no, in English or Spanish; None for anything else.

    "Yes please", "sí, dale" and "ok 👍" are; "yes but 250", "no problem" and "no, yes" are not.
    `asked` are the words of the question it follows: "go on, add it" is a yes to "Shall I add it?".
    """
    if not may_be_answer(message):
        return None
    said = f" {normalize(message)} "
    if any(unclear in said for unclear in _phrases().unclear):
        return None
    return _listed(message) or (_learned(message, asked) if "?" in asked else None)


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


def _listed(message: str) -> Answer | None:
    """What a message of nothing but listed phrases says."""
    phrases = _phrases()
    words = _WORD.findall(fold(message))
    said: set[Answer] = set()
    while words:
        length = next(
            (
                n
                for n in range(min(phrases.longest, len(words)), 0, -1)
                if tuple(words[:n]) in phrases.known
            ),
            0,
        )
        if not length:
            return None
        meaning = phrases.known[tuple(words[:length])]
        if meaning:
            said.add(meaning)
        del words[:length]
    return said.pop() if len(said) == 1 else None


def _learned(message: str, asked: str) -> Answer | None:
    """What a message says that is made of the words of such answers and of its question."""
    words = _without(None, normalize(message).split())
    if not 0 < len(words) <= _MOST_WORDS or not _numbers(message) <= _numbers(asked):
        return None
    shares = load_model()[CONTROLS].shares(" ".join(words), asked)
    if shares["yes"] + shares["submit"] >= SURE_OF_YES and _only_agrees(message, asked):
        return "yes"
    says_no_more = _says_no_more(_without("yes", words, shortest=2), asked)
    return "no" if shares["no"] >= (SURE_OF_NO if says_no_more else SURE_OF_YES) else None


def _only_agrees(message: str, asked: str) -> bool:
    """Whether a message says that what was asked for be done, and nothing else whatsoever.

    What was learned alone lets nothing be written: in more ways than are learned people take back,
    change or put off what they begin by agreeing to ("yes, cancel it", "yes, twice"), or speak of
    something else ("she said yes").
    """
    phrases, words = _phrases(), normalize(message).split()
    # What is listed as a yes leaves no doubt, though one of its words may: "claro que sí".
    said = f" {' '.join(_without('yes', words, shortest=2))} "
    is_doubtful = phrases.condition.search(said) or any(doubt in said for doubt in phrases.doubts)
    if is_doubtful or _DIGITS.search(message):
        return False
    question, order = _stems(_content_of(asked)), _stems(_order_of(asked))
    meant = {"yes", _fitting(asked)}
    agrees = False
    for part, kind in _parts(words):
        if kind in meant or any(_is_among(word, order) for word in part):
            agrees = True
        elif kind not in {"filler", "beside"} and not all(_is_among(w, question) for w in part):
            return False
    return agrees


def _fitting(asked: str) -> str:
    """The list that agrees to it beside a plain yes: "send it" keeps what "Cancel?" would lose."""
    if _phrases().solved & {*normalize(asked).split()}:
        return "solved"
    return "yes" if _phrases().losing & {*_order_of(asked)} else "agreeing"


def _order_of(asked: str) -> list[str]:
    """What a question asks to do: its first word that says something by itself."""
    return _content_of(asked.rpartition("?")[0].rpartition("?")[2])[:1]


def _content_of(asked: str) -> list[str]:
    """The words of a question that say something by themselves."""
    passed = {*_phrases().asking, *STOP_WORDS}
    return [word for word in normalize(asked).split() if word not in passed]


def _parts(words: Sequence[str]) -> Iterator[tuple[Sequence[str], str]]:
    """The words cut into the longest listed phrases, each with what it is; "" is not listed."""
    kinds, longest, at = _phrases().kinds, _phrases().longest, 0
    while at < len(words):
        lengths = range(min(longest, len(words) - at), 0, -1)
        length = next((n for n in lengths if tuple(words[at : at + n]) in kinds), 1)
        part = words[at : at + length]
        yield part, kinds.get(tuple(part), "")
        at += length


def _stems(words: Sequence[str]) -> set[str]:
    return {word[:STEM] for word in words} | {word[: STEM - 1] for word in words}


def _is_among(word: str, stems: Collection[str]) -> bool:
    """Whether it is one of these words, by its beginning: "pídalos" is "pido"."""
    return word[:STEM] in stems or bool(_ORDER.search(word) and word[: STEM - 1] in stems)


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
    of_question = _stems(normalize(asked).split())
    return all(
        number_of_word(word) in known
        or word in STOP_WORDS
        or (word,) in _phrases().known
        or _is_among(word, of_question)
        for word in words
    )


# A yes is never taken where there may be more to it.
_LEFT: tuple[Act, ...] = tuple(act for act in get_args(Act) if act != YES)


def listed_act(message: str) -> Act | ListedAct | None:
    """What a message does in words that are listed, or None."""
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
