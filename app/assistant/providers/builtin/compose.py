"""The reply to what the tools brought: quotations with their numbers, or an honest "no"."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.assistant.providers.base import ChatMessage, ModelRequest, ToolCall
from app.assistant.providers.builtin import phrases
from app.assistant.providers.builtin.decide import PlannedCall, better_place
from app.assistant.providers.builtin.intent import Evidence, read_evidence
from app.assistant.providers.builtin.reader import read_message, split_clauses
from app.nlu.courtesies import read_courtesy
from app.nlu.queries import make_query
from app.retrieval.embedder import Embedder
from app.retrieval.quotes.extract import (
    LEAST_WORTH,
    Extract,
    extract_answer,
    tell_whole,
)
from app.retrieval.quotes.lines import Line
from app.retrieval.quotes.scores import Passage
from app.text.stems import stems
from app.text.synonyms import restate

MOST_ROUNDS = 2
# Asked again, a search does without what was only wished for; what somebody must not eat
# was no wish.
KEPT = ("query", "free_of")
MOST_NEAR = 3
# With less than this share of the question's words in the quotation, or more than that share
# of them in nothing that was found, the reply says that it is only the closest there is, and
# without a title that was named, that there is nothing.
CLOSE_ENOUGH, UNKNOWN = 0.25, 0.45
# What is quoted answers with these odds, as their logarithm; with less it is only said to come
# near, and with less again it is not shown.
SURE, NEAR = 0.5, -1.0
# A quotation from a weak search, or from a place that was only searched because another had
# nothing, must have more of the question.
CLOSE_ENOUGH_IF_WEAK, CLOSE_ENOUGH_ELSEWHERE = 0.3, 0.5


@dataclass(frozen=True)
class Brought:
    """What one call brought, and the question it was made for."""

    call: ToolCall
    question: str
    payload: Mapping[str, Any]

    @property
    def failed(self) -> bool:
        return bool(self.payload.get("error"))

    @property
    def lost(self) -> bool:
        """True when asking again cannot help."""
        return self.failed and not self.payload.get("recoverable", True)

    @property
    def weak(self) -> bool:
        return bool(self.payload.get("weak"))

    @property
    def pointless(self) -> bool:
        """True when what was found is most likely about something else."""
        return bool(self.payload.get("evidence", "none" if self.weak else "good") == "none")

    @property
    def says(self) -> bool:
        """True when the tool itself says what there is to say, be it why it could not."""
        return bool(self.payload.get("say"))

    @property
    def leads_on(self) -> bool:
        """True when it names the call that comes next."""
        return bool(self.payload.get("next"))

    @property
    def results(self) -> Sequence[Mapping[str, Any]]:
        found = self.payload.get("results")
        return [one for one in found if isinstance(one, Mapping)] if found else []

    @property
    def records(self) -> Sequence[Mapping[str, Any]]:
        """Those of the results that are no text but something with a name."""
        return [one for one in self.results if "name" in one]

    @property
    def arguments(self) -> Mapping[str, Any]:
        return _as_object(self.call.arguments)


@dataclass(frozen=True)
class Composed:
    """The lines of the reply, an answer for each call; and one more call to make, if any."""

    answers: tuple[tuple[Line, ...], ...] = ()
    next_call: PlannedCall | None = None


def compose(request: ModelRequest, embedder: Embedder) -> Composed:
    """Answer the last user message of `request` from the tool results after it."""
    return _Composer(request, embedder).compose()


class _Composer:
    """One reply in the making: the question, what was brought, and who asks."""

    def __init__(self, request: ModelRequest, embedder: Embedder) -> None:
        start = _last_user(request.messages)
        asked, after = request.messages[: start + 1], request.messages[start + 1 :]
        self.request = request
        self.embedder = embedder
        self.reading = read_message(asked, embedder, request.language)
        # What comes back to the asker is in the asker's own words, unless they lean on others.
        own_words = read_courtesy(asked[-1].text).rest
        self.asked = self.reading.text if self.reading.earlier else own_words
        self.said = _said_before(asked) if self.reading.more else ""
        self.brought = _pair_up(self.reading.text, after)
        self.rounds = sum(bool(message.tool_calls) for message in after)
        self.evidence = read_evidence(request.hints)
        self._extracts: dict[str, Extract] = {}

    def compose(self) -> Composed:
        if self.reading.emergency:
            besides = [(Line(str(one.payload["say"])),) for one in self.brought if one.says]
            return Composed((self._help(), *besides))
        following = self._following()
        if following:
            said = self.brought[-1].payload.get("say")
            return Composed(((Line(str(said)),),) if said else (), following)
        found = [(one, tuple(self._answer(one))) for one in self._unsaid()]
        if any(lines for _, lines in found):
            # Of two questions asked at once, the one without an answer is told so.
            at_once = self.rounds == 1
            return Composed(
                tuple(
                    lines or _not_found([one], one.question)
                    for one, lines in found
                    if lines or at_once
                )
            )
        again = self._search_again() if self.rounds < MOST_ROUNDS else None
        if again:
            return Composed(next_call=again)
        return Composed((self._nearest() or _not_found(self.brought, self.asked),))

    def _following(self) -> PlannedCall | None:
        """The call that the last result names as the next one, where its tool is offered."""
        last = self.brought[-1].payload.get("next") if self.brought else None
        offered = {tool.name for tool in self.request.tools}
        if not isinstance(last, Mapping) or last.get("tool") not in offered:
            return None
        return PlannedCall(str(last["tool"]), last.get("arguments") or {}, self.reading.text)

    def _unsaid(self) -> list[Brought]:
        """What was brought since the last result that led on to another call."""
        led = [number for number, one in enumerate(self.brought) if one.leads_on]
        return self.brought[led[-1] + 1 :] if led else self.brought

    def _help(self) -> tuple[Line, ...]:
        """What stands there about an emergency, whole; else whom to call."""
        language = self.request.language
        passages = [
            _passage(result, language)
            for brought in self.brought
            if not brought.failed and not brought.pointless
            for result in brought.results
            if "text" in result
        ]
        own = [passage for passage in passages if passage.language in (language, "mul")]
        told = tell_whole(self.reading.text, self.reading.emergency, own or passages)
        return told or (Line(phrases.call_for_help(self.request.emergency_number)),)

    def _answer(self, brought: Brought) -> list[Line]:
        """The lines that this result gives; none where it does not answer."""
        if "proposal" in brought.payload:
            # The card says what; words of one's own would be a second version of it.
            return [Line(phrases.proposed())]
        if brought.says and (brought.results or self._is_wanted(brought)):
            return [Line(str(brought.payload["say"]))]
        if brought.failed and "searched" not in brought.payload and self._is_wanted(brought):
            return [Line(phrases.did_not_work())]
        if brought.failed or not brought.results:
            # Asked again without its filter, it would bring what somebody must not eat.
            answers = self.request.records.get(brought.call.name)
            return answers.describe_none(brought.payload) if answers else []
        if "name" in brought.results[0]:
            return self._describe(brought) or self._quote(brought)
        return self._quote(brought) or self._describe(brought)

    def _is_wanted(self, brought: Brought) -> bool:
        """True when this tool was asked for: then "there is none" answers, else it was a guess."""
        led = any(one.leads_on for one in self.brought)
        return led or brought.call.name in (self.request.hints.get("wanted") or {})

    def _describe(self, brought: Brought) -> list[Line]:
        answers = self.request.records.get(brought.call.name)
        if answers is None or not brought.records:
            return []
        records, question = brought.records, brought.question
        named = self.evidence.get(brought.call.name, Evidence()).names
        # Few of a question's words may be found, and yet it names the very product; and
        # what passed a filter is what was asked for.
        is_filtered = len(brought.arguments) > 1
        if brought.weak and not (is_filtered or answers.names_one(question, records, named)):
            return []
        lines = answers.describe(question, records, named, self.request.action)
        is_sure = self.request.action or self.reading.earlier or is_filtered
        if lines and not is_sure and answers.is_only_near(question, records):
            name = next(str(one["name"]) for one in records if one.get("cite") == lines[0].cite)
            lines = [Line(phrases.closest(name), form="note"), *lines]
        return lines

    def _passages(self, brought: Brought) -> tuple[list[Passage], list[Passage]]:
        """What was found in the language of the reply, and all that was found."""
        language = self.request.language
        passages = [_passage(result, language) for result in brought.results if "text" in result]
        return [one for one in passages if one.language in (language, "mul")], passages

    def _extract(self, brought: Brought) -> Extract:
        """What answers of it, worked out once: what is not sure is looked at again at the end."""
        own, passages = self._passages(brought)
        if brought.call.id not in self._extracts:
            # Words of one language are not found in the other: there the search alone must do.
            self._extracts[brought.call.id] = extract_answer(
                brought.question,
                own or passages,
                self.embedder,
                said=self.said,
                least=LEAST_WORTH if own else 0.0,
            )
        return self._extracts[brought.call.id]

    def _quote(self, brought: Brought) -> list[Line]:
        own, passages = self._passages(brought)
        extract = self._extract(brought)
        if not extract.lines:
            return [Line(phrases.nothing_more())] if self.said and passages else []
        if own and not self._answers(brought, extract):
            return []
        note = "" if own else phrases.only_in_other_language(passages[0].language)
        if own and self._is_doubtful(brought, extract):
            return _closest(extract)
        return [*([Line(note, form="note")] if note else []), *extract.lines]

    def _is_doubtful(self, brought: Brought, extract: Extract) -> bool:
        if self.reading.earlier:
            return False
        return brought.weak or extract.odds < SURE or extract.unknown > UNKNOWN

    def _nearest(self) -> tuple[Line, ...]:
        """What comes nearest of all that was brought, where none of it answers."""
        to_the_point = [one for one in self.brought if not (one.failed or one.pointless)]
        quoted = [each for each in map(self._extract, to_the_point) if each.unknown <= UNKNOWN]
        near = [each for each in quoted if each.lines and each.odds >= NEAR]
        best = max(near, key=lambda extract: extract.odds, default=None)
        return tuple(_closest(best)) if best else ()

    def _answers(self, brought: Brought, extract: Extract) -> bool:
        """What is quoted in doubt must at least stand under a title that was named."""
        if self.reading.earlier:
            return not brought.pointless
        named = extract.by_title and extract.unknown <= UNKNOWN
        if brought.pointless:
            return named and extract.shared >= CLOSE_ENOUGH_IF_WEAK
        if self.rounds > 1 and extract.shared < CLOSE_ENOUGH_ELSEWHERE:
            return False
        return extract.by_title or extract.shared >= CLOSE_ENOUGH

    def _search_again(self) -> PlannedCall | None:
        """A second try: without the wishes, else in a place that has clearly more to say."""
        offered = {tool.name for tool in self.request.tools}
        for one in self.brought:
            kept = {name: one.arguments[name] for name in KEPT if name in one.arguments}
            if "query" in kept and kept != one.arguments and one.call.name in offered:
                return PlannedCall(one.call.name, kept, one.question)
        if any(one.lost for one in self.brought):
            return None
        tried = [one.call.name for one in self.brought]
        place = better_place(tried, self.request.tools, self.evidence, self.reading.text)
        return place or self._instead(tried)

    def _instead(self, tried: Sequence[str]) -> PlannedCall | None:
        """What a skill would do for whoever is told nothing."""
        offered = {tool.name for tool in self.request.tools}.difference(tried)
        calls = self.request.hints.get("instead") or {}
        wanted = [tool for tool in calls if tool in offered]
        if not wanted:
            return None
        return PlannedCall(wanted[0], calls[wanted[0]], self.reading.text)


def _closest(extract: Extract) -> list[Line]:
    """What comes near, said to be no more than that."""
    own = [line for line in extract.lines if line.cite == extract.lines[0].cite]
    lines = [Line(phrases.closest(extract.title), form="note"), *own]
    if extract.near:
        lines += [Line(phrases.also_near(), form="note"), *extract.near]
    return lines


def _last_user(messages: Sequence[ChatMessage]) -> int:
    return max((i for i, message in enumerate(messages) if message.role == "user"), default=0)


def _pair_up(question: str, after: Sequence[ChatMessage]) -> list[Brought]:
    """Every result with its call and with the clause of the question it was made for."""
    calls = {call.id: call for message in after for call in message.tool_calls}
    clauses = split_clauses(question)
    several = len(calls) > 1 and len(clauses) > 1
    brought = []
    for message in after:
        if message.role != "tool" or message.tool_call_id not in calls:
            continue
        call = calls[message.tool_call_id]
        own = _nearest_clause(clauses, call) if several else question
        payload = _as_object(message.text)
        brought.append(Brought(call, restate(own, _meanings(payload)), payload))
    return brought


def _meanings(payload: Mapping[str, Any]) -> dict[str, str]:
    """What was searched for in place of what was said; see `app.retrieval.team_words`."""
    means = payload.get("means")
    found = means.items() if isinstance(means, Mapping) else ()
    return {said: meant for said, meant in found if isinstance(meant, str)}


def _nearest_clause(clauses: Sequence[str], call: ToolCall) -> str:
    """The clause whose words the call's arguments were made of."""
    used = set(stems(call.arguments))
    return max(clauses, key=lambda clause: len(used & set(stems(clause))))


def _as_object(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text) if text.strip() else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _said_before(asked: Sequence[ChatMessage]) -> str:
    """The last answer, without marks and numbers, so that "more" does not repeat it."""
    answers = [message.text for message in asked if message.role == "assistant"]
    return answers[-1].replace("*", "") if answers else ""


def _passage(result: Mapping[str, Any], language: str) -> Passage:
    return Passage(
        cite=int(result.get("cite") or 0),
        title=str(result.get("title") or ""),
        text=str(result["text"]),
        language=str(result.get("language") or language),
        above=str((result.get("path") or [""])[-1]),
    )


def _not_found(brought: Sequence[Brought], question: str) -> tuple[Line, ...]:
    """Say what was searched, and what comes near; or that the search itself failed."""
    worked = [one for one in brought if not one.failed]
    if not worked:
        if said := [one.payload["say"] for one in brought if one.says]:
            return (Line(str(said[-1])),)
        lost = any(one.lost for one in brought)
        return (Line(phrases.search_failed(recoverable=not lost)),)
    places = [str(one.payload["place"]) for one in worked if one.payload.get("place")]
    near = [str(title) for one in worked for title in one.payload.get("near") or ()]
    titles = list(dict.fromkeys(near))[:MOST_NEAR]
    return (Line(phrases.nothing_found(places, make_query(question), titles)),)
