"""Whether a message agrees to what was asked, and says nothing else whatsoever.

All that agrees is listed word for word in agreement.yaml, and nothing that was learned is asked:
people take back, change, put off or hedge what they begin by agreeing to, in more ways than are
learned. A message is cut into listed phrases, the longest first, each of one kind; the kinds in
their order make a plain yes or none. One word that is not listed makes it none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from app.nlu.normalization import normalize
from app.text.normalize import fold
from app.text.plain_text import compose
from app.text.stop_words import STOP_WORDS
from app.text.yaml_file import read_yaml

PHRASES = Path(__file__).with_name("agreement.yaml")
Phrase = tuple[str, ...]

# All signs that may stand in a plain yes; any other may take it back.
_PLAIN = re.compile(
    r"(?:[^\W_]|[\s,.!¡'\u2019-]|[👍👌✅✔🙏🙌👏🎉😀😃😄😁😊🙂]|[:;]-?\)"
    r"|[\ufe0f\U0001f3fb-\U0001f3ff])*"
)
_WORD = re.compile(r"[^\W\d_]+|[👍👌✅✔]\ufe0f?|\d+|[,.;:!()\u2026-]")
_PAUSE = frozenset(",.;:!()\u2026-")
# "siii" is "si": nobody means another word by so many letters.
_DRAWN_OUT = re.compile(r"(\w)\1{2,}")
# Who trails off has more to say: "bueno…", "yes -", "yes,".
_UNFINISHED = re.compile(r"\u2026|[.]\s*[.]|[-,]\s*$")
_SENTENCE_END = re.compile(r"[.!]\s+")
# "Si" by itself may be an if: it agrees before a pause, and before what no condition begins with.
_MAY_BE_IF = ("si",)

# The kinds of phrases, a letter each, so that their order can be held against a pattern.
YES, ALSO, MORE, ENOUGH, IF, ORDER, VERB, NOW, SOLVED, PLEASE, THANKS, NAME, PAUSE, OTHER = (
    "yadgiobnsptv,x"
)
_POLITE = f"[{PLEASE}{THANKS}{NAME}{PAUSE}]*"
_ANY = f"[{YES}{ALSO}{MORE}{ENOUGH}]"
_AND_MORE = f"(?:[{ALSO}{MORE}{ENOUGH}]{_POLITE})*"
_AGREED = (
    f"(?:{_ANY}{_POLITE}{_AND_MORE}"
    f"|{IF}(?:{PAUSE}+{_POLITE}{_AND_MORE}|{_POLITE}(?:{ALSO}{_POLITE}{_AND_MORE})?))"
    f"(?:{IF}{_POLITE})?"
)
# A name behind a bare verb may be whom or what it is done to: "tell chef".
_TOLD = (
    f"(?:(?:{NOW}{PAUSE}?)?{ORDER}{_POLITE}(?:{NOW}{_POLITE})?"
    f"|{VERB}[{PLEASE}{THANKS}{PAUSE}]*(?:{NOW}[{PLEASE}{THANKS}{PAUSE}]*)?)"
)
_DOES = re.compile(f"{_POLITE}(?:{_AGREED}(?:{_TOLD})?|{_TOLD})")
# "Fixed please" wants it to be.
_GLAD = f"[{THANKS}{NAME}{PAUSE}]*"
_WORKS = re.compile(
    f"{_GLAD}(?:(?:{_ANY}{_GLAD}(?:{ALSO}{_GLAD})*|{IF}{PAUSE}+{_GLAD})?{SOLVED}{_GLAD}"
    f"|(?:{_ANY}|{IF}){_POLITE}(?:{ALSO}{_POLITE})*)"
)


_FIRST_WORD = re.compile(r"\W{0,8}(\w\S{0,40})")


@dataclass(frozen=True)
class _Listed:
    """The phrases of agreement.yaml as they are written, by kind; and how questions are read.

    `orders` has the phrases that tell to do what a verb asks, with the kind of each.
    """

    kinds: Mapping[Phrase, str]
    yes: frozenset[Phrase]
    affirms: frozenset[Phrase]
    solved: frozenset[Phrase]
    unclear: tuple[str, ...]
    asks_if_solved: tuple[str, ...]
    asking: frozenset[str]
    or_words: frozenset[str]
    orders: Mapping[str, Mapping[Phrase, str]]


@cache
def _listed() -> _Listed:
    loaded: Mapping[str, Any] = read_yaml(PHRASES)
    polite = loaded["courtesies"]
    lists = [
        (OTHER, [*loaded["no"], *loaded["unclear"]]),
        (NOW, loaded["orders"]["now"]),
        (PLEASE, polite["please"]),
        (THANKS, polite["thanks"]),
        (NAME, polite["names"]),
        (YES, loaded["yes"]),
        (MORE, loaded["also"]["after_yes"]),
        (ENOUGH, loaded["enough"]),
        (IF, loaded["may_go_on"]),
        (ALSO, loaded["also"]["always"]),
    ]
    return _Listed(
        kinds={_phrase(each): kind for kind, listed in lists for each in listed},
        yes=frozenset(
            _phrase(each) for name in ("yes", "enough", "may_go_on") for each in loaded[name]
        ),
        affirms=frozenset(map(_phrase, loaded["affirms"])),
        solved=frozenset(map(_phrase, loaded["solved"]["says"])),
        unclear=tuple(fold(each) for each in loaded["unclear"]),
        asks_if_solved=tuple(normalize(each) for each in loaded["solved"]["asks"]),
        asking=frozenset(loaded["asking"]),
        or_words=frozenset(loaded["or"]),
        orders=_orders(loaded["orders"]),
    )


def _phrase(text: str) -> Phrase:
    return tuple(text.split())


def _orders(loaded: Mapping[str, Any]) -> dict[str, dict[Phrase, str]]:
    """By the folded verb of a question: what tells to do just that."""
    objects = ("", *loaded["objects"])
    said = {
        verb: {_phrase(f"{verb} {each}"): ORDER if each else VERB for each in objects}
        for verb in loaded["en"]
    }
    said |= {verb: {(each,): ORDER for each in one["says"]} for verb, one in loaded["es"].items()}
    alike: dict[str, dict[Phrase, str]] = {}
    for group in loaded["alike"]:
        together = {phrase: kind for verb in group["verbs"] for phrase, kind in said[verb].items()}
        together |= {_phrase(each): ORDER for each in group["says"]}
        for verb in group["verbs"]:
            alike[verb] = {**alike.get(verb, {}), **together}
    said |= {verb: {**together, **said[verb]} for verb, together in alike.items()}
    forms = {fold(form): verb for verb, one in loaded["es"].items() for form in one["asks"]}
    asked = {verb: said[verb] for verb in loaded["en"]}
    asked |= {form: {**asked.get(form, {}), **said[verb]} for form, verb in forms.items()}
    return {verb: _with_beginnings(loaded["before"], phrases) for verb, phrases in asked.items()}


def _with_beginnings(beginnings: list[str], phrases: Mapping[Phrase, str]) -> dict[Phrase, str]:
    """The phrases, and each behind "go ahead and"."""
    begun = {
        (*_phrase(each), *phrase): kind for each in beginnings for phrase, kind in phrases.items()
    }
    return {**phrases, **begun}


def agrees(message: str, asked: str = "") -> bool:
    """Whether a whole message is a plain yes to `asked`, the line that it follows.

    It is listed words of agreement, then what was asked for told to be done ("add it", "agrégalo"),
    if either, with courtesies. "Fixed" agrees where `asked` is whether something works again.
    """
    if not is_plain(message):
        return False
    words = _words_of(message)
    if _is_unclear([word for word in words if word not in _PAUSE]):
        return False
    if "?" in asked and _asks_if_solved(asked):
        return bool(_WORKS.fullmatch("".join(_kinds(words, _kinds_for_solved()))))
    kinds = "".join(_kinds(words, _kinds_for(asked)))
    # "I'm good, thanks" wants nothing.
    declines = THANKS in kinds and not set(kinds) - {ENOUGH, THANKS, NAME, PAUSE}
    return bool(_DOES.fullmatch(kinds)) and not declines


def is_plain(message: str) -> bool:
    """Whether no sign in a message can take back what its words say, nor is it left unfinished."""
    return bool(_PLAIN.fullmatch(compose(message))) and not _UNFINISHED.search(message)


def _is_unclear(words: list[str]) -> bool:
    """Whether a listed hesitation stands anywhere, whatever signs part it."""
    said = f" {' '.join(map(fold, words))} "
    return any(f" {each} " in said for each in _listed().unclear)


def _words_of(message: str) -> list[str]:
    """The words in lower case with their accents, pictures that answer, and signs that part."""
    found = _WORD.findall(unicodedata.normalize("NFC", message).casefold())
    return [_DRAWN_OUT.sub(r"\1", word) for word in found]


def _asks_if_solved(asked: str) -> bool:
    sentence = " ".join(normalize(_question(asked)).split())
    return sentence.startswith(_listed().asks_if_solved)


def _question(asked: str) -> str:
    """The sentence that asks, up to its question mark.

    What it asks about may have stops and signs of its own in its name ("add Yahoo! cancel fee"),
    so that it begins where somebody is first asked, and not behind the last stop.
    """
    before, spanish = asked.partition("?")[0], asked.partition("?")[0].find("¿")
    starts = [0, *(found.end() for found in _SENTENCE_END.finditer(before))]
    asking = next((at for at in starts if _begins_to_ask(before, at)), -1)
    if spanish >= 0 and not 0 <= asking < spanish:
        return before[spanish + 1 :]
    return before[asking if asking >= 0 else starts[-1] :]


def _begins_to_ask(text: str, at: int) -> bool:
    # Its first word alone is looked at: a line may have thousands of stops.
    first = _FIRST_WORD.match(text, at)
    return first is not None and (normalize(first[1]).split() or [""])[0] in _listed().asking


@cache
def _kinds_for_solved() -> Mapping[Phrase, str]:
    listed = _listed()
    kinds = _only(listed.affirms)
    return _spelled({**kinds, **dict.fromkeys(listed.solved, SOLVED)})


def _kinds_for(asked: str) -> Mapping[Phrase, str]:
    """The kinds of phrases where this is what was asked."""
    question = fold(_question(asked)).split() if "?" in asked else []
    return _kinds_of(bool(_listed().or_words & set(question)), order_of(asked))


@cache
def _kinds_of(of_two: bool, order: str) -> Mapping[Phrase, str]:
    """Those of a question between two, or not, that asks to do this; few are ever asked."""
    listed = _listed()
    kinds = _only(listed.affirms) if of_two else dict(listed.kinds)
    return {**_spelled(kinds), **_spelled(listed.orders.get(order, {}))}


def _only(affirms: frozenset[Phrase]) -> dict[Phrase, str]:
    """The kinds where no other yes than these agrees."""
    listed = _listed()
    left = listed.yes - affirms
    return {phrase: OTHER if phrase in left else kind for phrase, kind in listed.kinds.items()}


def order_of(asked: str) -> str:
    """What a question asks to do: its first word that says something by itself, folded.

    Empty where that is none of the listed verbs, or a name in it holds another question.
    """
    if asked.count("?") != 1:
        return ""
    listed = _listed()
    passed = {*listed.asking, *STOP_WORDS}
    said = (word for word in normalize(_question(asked)).split() if word not in passed)
    order = next(said, "")
    return order if order in listed.orders else ""


def _spelled(kinds: Mapping[Phrase, str]) -> Mapping[Phrase, str]:
    """The phrases as they are written and without their accents; "si" may be an if then."""
    bare = {tuple(map(fold, phrase)): kind for phrase, kind in kinds.items()}
    if _MAY_BE_IF in bare:
        bare[_MAY_BE_IF] = IF
    return {**bare, **kinds}


def _kinds(words: list[str], kinds: Mapping[Phrase, str]) -> Iterator[str]:
    """The kind of each phrase that the words are cut into, the longest first."""
    longest = max(map(len, kinds))
    at = 0
    while at < len(words):
        if words[at] in _PAUSE:
            yield PAUSE
            at += 1
            continue
        lengths = range(min(longest, len(words) - at), 0, -1)
        length = next((n for n in lengths if tuple(words[at : at + n]) in kinds), 0)
        yield kinds[tuple(words[at : at + length])] if length else OTHER
        at += length or 1
