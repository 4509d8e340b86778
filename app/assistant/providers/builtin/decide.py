"""What to do with a message: reply at once, ask back, or call tools.

Nothing is remembered between calls: the same messages lead to the same decision, so that
the answer to a tool's result is composed for the question that the tool was called for.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Any

from app.assistant.providers.base import ModelRequest, ToolSpec
from app.assistant.providers.builtin import phrases
from app.assistant.providers.builtin.intent import (
    LEAST,
    Evidence,
    IntentIndex,
    Ranked,
    read_evidence,
)
from app.assistant.providers.builtin.lexicon import PATTERNS
from app.assistant.providers.builtin.nonsense import WordShapes
from app.assistant.providers.builtin.reader import Reading, read_message, split_clauses
from app.assistant.providers.builtin.slots import fill_arguments, fill_named
from app.nlu.control import UNDO, listed_act, read_answer
from app.nlu.courtesies import Courtesy, read_courtesy
from app.nlu.emergency import call_for_help
from app.nlu.lexicon import (
    ASKING_WORDS,
)
from app.nlu.model import OFF_TOPIC, SMALL_TALK, read_intents
from app.nlu.named_allergens import wants_without
from app.nlu.normalization import normalize
from app.retrieval.embedder import Embedder
from app.text.normalize import fold, words
from app.text.stems import content_words

MOST_CALLS = 2
# A clause needs a tool of its own with this much certainty, less of it where it is a question
# by itself; else the message is one question.
SURE_OF_CLAUSE, SURE_OF_QUESTION = 0.8, 0.5
# What a skill has read in a message counts where nothing else is clearly likelier.
NEARLY = 0.75
# With less than this a message is rather looked up than made a form, a request or an expense.
LEAST_SHARE = 0.45
# A message is clearly for a tool with this share, and hardly for another one with this.
CLEAR_SHARE, FAR_SHARE = 0.9, 0.02
# A document that answers with these odds, as their logarithm, makes it a topic of the group.
LIKELY_ENOUGH = -0.45
# With more evidence than this for a tool the message is less likely for none, by so much of it.
MUCH_EVIDENCE, AGAINST_OTHERS = 1.9, 2.0
# The hints are about the whole message, so they say less about a part of it, and little
# about one that leans on what was said before.
TRUST_IN_CLAUSE, TRUST_IN_FOLLOW_UP = 0.3, 0.3
FOLLOW_UP_BONUS = 2.5
DOMAIN_BONUS = 2.5
# What tells a tool that listens nothing.
FAREWELLS = frozenset(("thanks", "goodbye"))
# One reading is less than so many times as likely as the next, for so few words and with
# nothing in the group's texts for either. A longer question is better looked up than asked back.
UNSURE, UNSURE_COVERAGE, UNSURE_WORDS = 1.5, 0.3, 2
# The group's texts know the question's words when a document has this share of them.
KNOWN_COVERAGE = 0.4
# Where one tool had nothing, another is tried whose documents have this much of the question.
PROMISING_COVERAGE = 0.5
POSSIBLE_SHARE, POSSIBLE_COVERAGE = 0.1, 0.3


@dataclass(frozen=True)
class PlannedCall:
    """A tool to call, its arguments, and the question it is called for."""

    tool: str
    arguments: Mapping[str, Any]
    question: str

    @property
    def json(self) -> str:
        return json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True)
class Decision:
    """Words to say, tools to call, or words before a call that follows from another; and why."""

    text: str = ""
    calls: tuple[PlannedCall, ...] = ()
    why: str = ""


def _tell_listener(request: ModelRequest) -> Decision | None:
    """Where one tool listens to all that is said: pass it on, or say why there is no such tool."""
    listener = request.hints.get("listens")
    if not any(tool.name == listener for tool in request.tools):
        said = str(request.hints.get("says") or "")
        return Decision(said, why="listens") if said else None
    words = request.messages[-1].text
    courtesy = read_courtesy(words)
    if not courtesy.rest and FAREWELLS.issuperset(courtesy.kinds):
        said = phrases.small_talk(courtesy.kinds, request.tools, request.language)
        return Decision(said, why="small_talk")
    return Decision(calls=(PlannedCall(str(listener), {"words": words}, words),), why="listens")


def _let_go(request: ModelRequest) -> Decision | None:
    """What is said to who calls off, refuses or undoes where there is nothing for it to mean."""
    hints = request.hints
    if request.action:
        return None
    if listed_act(request.messages[-1].text) == UNDO:
        return Decision(phrases.nothing_to_undo(), why="small_talk")
    if hints.get("proposal"):
        return None
    is_taken = hints.get("goes_on") or ("reply" in hints and "reply_for" not in hints)
    if is_taken:
        return None
    if read_answer(normalize(request.messages[-1].text)) != "no":
        return None
    said = phrases.small_talk(("agreement",), request.tools, request.language)
    return Decision(said, why="small_talk")


def decide(
    request: ModelRequest, index: IntentIndex, shapes: WordShapes, embedder: Embedder
) -> Decision:
    """Decide on the last message of `request`, which is the user's."""
    tools, language = request.tools, request.language
    told = _tell_listener(request) or _let_go(request)
    if told:
        return told
    reading = read_message(request.messages, embedder, language)
    wanted = wanted_calls(request)
    if reading.emergency and tools and not request.action:
        likeliest = index.rank(call_for_help(language), {})
        call = _plan(likeliest, reading.text)
        if call is None:
            return Decision(
                phrases.call_for_help(request.emergency_number), wanted, why="emergency"
            )
        # Help comes first, and what was asked for besides with it.
        besides = (each for each in wanted if each.tool != call.tool)
        return Decision(calls=(call, *besides), why="emergency")
    if request.hints.get("reply") and not request.action and _is_for_reply(request, index):
        return Decision(str(request.hints["reply"]), why="wished")
    amended = amend(tools, request.hints.get("proposal"), request.messages[-1].text)
    if amended and amended[0].name not in {call.tool for call in wanted}:
        tool, arguments = amended
        return Decision(calls=(PlannedCall(tool.name, arguments, reading.text),), why="changed")
    if not request.action and (calls := _agreed(wanted, request, index)):
        return Decision(calls=(*calls, *_help_besides(request, index)), why="wished")
    courtesy = read_courtesy(request.messages[-1].text)
    if not courtesy.rest:
        if courtesy.kinds == ("agreement",) and _has_asked(request):
            return Decision(phrases.use_what_is_shown(), why="small_talk")
        said = phrases.small_talk(courtesy.kinds, tools, language)
        return Decision(said, why="small_talk")
    if not tools:
        return Decision(phrases.nothing_to_search())
    return _decide_question(request, reading, courtesy, index, shapes)


def _help_besides(request: ModelRequest, index: IntentIndex) -> tuple[PlannedCall, ...]:
    """What to look up for somebody hurt, or for who asks what to do, beside what comes first."""
    said = request.messages[-1].text
    asked = str(
        request.hints.get("help") or (said if PATTERNS["what_to_do"].search(fold(said)) else "")
    )
    call = _plan(index.rank(call_for_help(request.language), {}), asked) if asked else None
    return (call,) if call else ()


def _ordered(wanted: tuple[PlannedCall, ...], request: ModelRequest) -> tuple[PlannedCall, ...]:
    """Of the calls that skills have read, those that come before what answers a question.

    What is ordered does; and where the one that waits `yields`, what another skill reads whole.
    """
    hints = request.hints
    ordered = hints.get("ordered") or (hints.get("goes_on") if "yields" in hints else None) or ()
    own = hints.get("yields") or ()
    return tuple(call for call in wanted if call.tool in ordered and call.tool not in own)


def _agreed(
    wanted: tuple[PlannedCall, ...], request: ModelRequest, index: IntentIndex
) -> tuple[PlannedCall, ...]:
    """Of the calls that skills have read in the message, those that it is for.

    What is ordered in so many words answers nothing that is open; what goes on with that is its
    skill's alone to read; of the others the tool must be likely.
    """
    if ordered := _ordered(wanted, request):
        return ordered
    possible = {tool.name for tool in index.tools}
    goes_on = request.hints.get("goes_on") or ()
    sure = [call for call in wanted if call.tool in goes_on or call.tool not in possible]
    likely = (call for call in wanted if _is_likeliest(call.tool, request, index))
    return tuple(sure) or tuple(islice(likely, 1))


def _is_for_reply(request: ModelRequest, index: IntentIndex) -> bool:
    """Whether a skill's question is to be asked: of a tool that was not named, if it is likely.

    As for calls, one of which nothing was learned is not weighed. What is ordered besides answers
    no question that is open.
    """
    if _ordered(wanted_calls(request), request):
        return False
    tool = request.hints.get("reply_for")
    offered = {each.name for each in request.tools} - {each.name for each in index.tools}
    return not tool or tool in offered or _is_likeliest(str(tool), request, index)


def _is_likeliest(tool: str, request: ModelRequest, index: IntentIndex) -> bool:
    """Whether nothing is clearly likelier than this tool, and what is for no tool is not."""
    text = request.messages[-1].text
    evidence = read_evidence(request.hints)
    ranking = index.rank(text, evidence, bonus=odds_of(request))
    share = next((ranked.share for ranked in ranking if ranked.tool.name == tool), 0.0)
    is_near = bool(ranking) and share >= max(NEARLY * ranking[0].share, LEAST_SHARE)
    return is_near and not _likeliest_other(text, ranking, index, evidence)


def _decide_question(
    request: ModelRequest,
    reading: Reading,
    courtesy: Courtesy,
    index: IntentIndex,
    shapes: WordShapes,
) -> Decision:
    """Decide on a message that says more than a courtesy."""
    tools, language = request.tools, request.language
    evidence = read_evidence(request.hints)
    if courtesy.kinds and _says_nothing_else(courtesy.rest, evidence):
        said = phrases.small_talk(courtesy.kinds, tools, language)
        return Decision(said, why="small_talk")
    alone = not reading.earlier and not request.action
    ranking = rank_tools(reading, request, index, evidence)
    if alone:
        if _is_noise(courtesy.rest, evidence, shapes):
            return Decision(phrases.not_understood(tools, language), why="not_understood")
        other = _likeliest_other(reading.text, ranking, index, evidence)
        if other == SMALL_TALK:
            kind, _lead = index.small_talk(courtesy.rest)
            said = phrases.small_talk((*courtesy.kinds, kind), tools, language)
            return Decision(said, why="small_talk")
        if other == OFF_TOPIC:
            return Decision(phrases.not_of_this_group(tools, language), why="off_topic")
    if not reading.earlier and (calls := _calls_by_clause(reading.text, request, index, evidence)):
        return Decision(calls=calls, why="several")
    if alone and _is_unsure(reading.text, ranking, evidence):
        return Decision(_ask_back(ranking, language), why="unsure")
    wanted = wanted_calls(request)
    call = _plan(ranking, reading.text, wanted, evidence)
    if call is None or _is_far_from(call.tool, ranking, wanted):
        return Decision(_ask_anew(ranking, language), why="unsure")
    return Decision(calls=(call,), why="likeliest")


def _has_asked(request: ModelRequest) -> bool:
    """True when the last answer ended in a question, to which "yes" is a reply."""
    said = (message.text for message in reversed(request.messages) if message.role == "assistant")
    return next(said, "").rstrip().endswith("?")


def wanted_calls(request: ModelRequest) -> tuple[PlannedCall, ...]:
    """The calls that the message asks for in so many words, as the skills' hints say."""
    wanted = request.hints.get("wanted") or {}
    # What the person's role may not do is asked for all the same: the refusal is the answer.
    offered = {tool.name for tool in request.tools} | set(request.hints.get("denied", ()))
    asked = request.messages[-1].text
    return tuple(
        PlannedCall(tool, arguments, asked) for tool, arguments in wanted.items() if tool in offered
    )


def odds_of(request: ModelRequest) -> dict[str, float]:
    """What the skills' own indexes say for their tools, in log odds."""
    return {str(tool): float(odds) for tool, odds in (request.hints.get("odds") or {}).items()}


def rank_tools(
    reading: Reading,
    request: ModelRequest,
    index: IntentIndex,
    evidence: Mapping[str, Evidence],
) -> list[Ranked]:
    """The tools for a whole message, the likeliest first."""
    bonus = odds_of(request)
    if reading.earlier:
        before = index.rank(reading.earlier, {})
        bonus = {before[0].tool.name: FOLLOW_UP_BONUS} if before else {}
    if domain := _domain(request):
        bonus |= {
            tool.name: bonus.get(tool.name, 0) + DOMAIN_BONUS
            for tool in request.tools
            if domain in tool.name
        }
    if request.action:
        named = [tool for tool, found in evidence.items() if found.names]
        bonus |= {tool: bonus.get(tool, 0) + FOLLOW_UP_BONUS for tool in named}
    trust = TRUST_IN_FOLLOW_UP if reading.earlier else 1.0
    return index.rank(reading.text, evidence, trust=trust, bonus=bonus)


def _domain(request: ModelRequest) -> str:
    """The domain that was asked in; the manual's is only where everybody starts."""
    domain = str(request.hints.get("domain", ""))
    return "" if domain == "manual" else domain


def _says_nothing_else(rest: str, evidence: Mapping[str, Evidence]) -> bool:
    """True when what goes with a greeting or a thank-you asks nothing the group knows of."""
    if "?" in rest or "¿" in rest or ASKING_WORDS & set(words(rest)):
        return False
    return all(not found.names and found.coverage < KNOWN_COVERAGE for found in evidence.values())


def _likeliest_other(
    text: str,
    ranking: Sequence[Ranked],
    index: IntentIndex,
    evidence: Mapping[str, Evidence],
) -> str:
    """What no tool is for, where that is likelier than the likeliest tool; else nothing."""
    if PATTERNS["sum"].search(fold(text)):
        return OFF_TOPIC
    others = index.other_intents(text)
    # What the group's own documents answer is its topic, whatever it is for other restaurants.
    is_answered = any(found.odds >= LIKELY_ENOUGH for found in evidence.values())
    names = (SMALL_TALK,) if is_answered else (OFF_TOPIC, SMALL_TALK)
    name = max(names, key=lambda each: others[each])
    # Of what a document has every word it is hardly said for nothing.
    known = max(0.0, max(each.evidence for each in ranking) - MUCH_EVIDENCE)
    score = math.log(max(others[name], LEAST)) - AGAINST_OTHERS * known
    return name if score > ranking[0].score else ""


def _is_noise(text: str, evidence: Mapping[str, Evidence], shapes: WordShapes) -> bool:
    best = max((found.coverage for found in evidence.values()), default=0.0)
    found = content_words(text) if best >= KNOWN_COVERAGE else ()
    return shapes.is_nonsense(text, found)


def _is_unsure(text: str, ranking: Sequence[Ranked], evidence: Mapping[str, Evidence]) -> bool:
    if len(ranking) < 2 or len(content_words(text)) > UNSURE_WORDS:
        return False
    if ranking[0].share >= UNSURE * ranking[1].share:
        return False
    return max((found.coverage for found in evidence.values()), default=0.0) < UNSURE_COVERAGE


def _ask_back(ranking: Sequence[Ranked], language: str) -> str:
    examples = [
        example
        for ranked in ranking[:2]
        for example in phrases.examples_of(ranked.tool, language)[:1]
    ]
    return phrases.ask_which(examples) if len(examples) == 2 else phrases.ask_more()


def _calls_by_clause(
    text: str, request: ModelRequest, index: IntentIndex, evidence: Mapping[str, Evidence]
) -> tuple[PlannedCall, ...]:
    """A call for each of several questions, when they are for different tools."""
    clauses = split_clauses(text)
    # "Allergic to nuts. Which desserts?" is one question.
    if len(clauses) < 2 or wants_without(text):
        return ()
    calls: dict[str, PlannedCall] = {}
    for clause in clauses:
        ranking = index.rank(clause, evidence, trust=TRUST_IN_CLAUSE)
        asks = bool(ASKING_WORDS & set(words(clause)[:3]))
        # "I am new here." goes with the question, and is none.
        says_little = not asks and len(content_words(clause)) <= 1
        if says_little or _likeliest_other(clause, ranking, index, evidence):
            continue
        call = _plan(ranking, clause, (), evidence)
        sure = SURE_OF_QUESTION if asks else SURE_OF_CLAUSE
        # What a skill reads for itself is about all that was said.
        if call is None or ranking[0].share < sure or ranking[0].tool.is_wished:
            return ()
        calls.setdefault(call.tool, call)
    return tuple(calls.values())[:MOST_CALLS] if len(calls) > 1 else ()


def _plan(
    ranking: Sequence[Ranked],
    question: str,
    wanted: Sequence[PlannedCall] = (),
    evidence: Mapping[str, Evidence] = MappingProxyType({}),
) -> PlannedCall | None:
    """The call of the likeliest tool whose arguments are known: read by its skill, or filled.

    What only its skill can read, and has not, is no call.
    """
    read = {call.tool: call for call in wanted}
    for ranked in ranking:
        if ranked.tool.name in read and ranked.share >= LEAST_SHARE:
            return read[ranked.tool.name]
        # Of one that the person's role may not use, no more is known than its name.
        if ranked.tool.name in read or ranked.tool.is_wished or not ranked.tool.parameters:
            continue
        found = evidence.get(ranked.tool.name)
        names_one = bool(found and found.names)
        arguments = fill_arguments(ranked.tool.parameters, question, names_one=names_one)
        if arguments is not None:
            return PlannedCall(ranked.tool.name, arguments, question)
    return None


def _is_far_from(tool: str, ranking: Sequence[Ranked], wanted: Sequence[PlannedCall]) -> bool:
    """Whether the message is clearly for another tool, whose skill could not read it."""
    first = ranking[0]
    is_unread = first.tool.is_wished and first.tool.name not in {call.tool for call in wanted}
    share = next(ranked.share for ranked in ranking if ranked.tool.name == tool)
    return is_unread and first.share >= CLEAR_SHARE and share < FAR_SHARE


def _ask_anew(ranking: Sequence[Ranked], language: str) -> str:
    """A question back where a message is for a tool and does not say what it needs."""
    first = ranking[:1]
    tools = [each.tool for each in first if each.tool.is_wished and each.share >= CLEAR_SHARE]
    return phrases.not_understood(tools, language) if tools else phrases.ask_more()


def better_place(
    tried: Sequence[str],
    tools: Sequence[ToolSpec],
    evidence: Mapping[str, Evidence],
    question: str,
) -> PlannedCall | None:
    """The tool not tried yet whose documents promise most for the question, and the call of it.

    They have most of its words; fewer are enough where the question may well be for the tool.
    """
    shares = read_intents(question)

    def promise(tool: ToolSpec) -> float:
        found, share = evidence[tool.name], shares.get(tool.name, 0.0)
        least = PROMISING_COVERAGE if share < POSSIBLE_SHARE else POSSIBLE_COVERAGE
        return found.score + found.coverage + share if found.coverage >= least else 0.0

    others = [tool for tool in tools if tool.name not in tried and tool.name in evidence]
    best = max(others, key=promise, default=None)
    if best is None or not promise(best):
        return None
    names_one = bool(evidence[best.name].names)
    arguments = fill_arguments(best.parameters, question, names_one=names_one)
    return PlannedCall(best.name, arguments, question) if arguments else None


# A message as short as this that names a value is about the value, not about something new.
_FEW_WORDS = 4


def amend(
    tools: Sequence[ToolSpec], proposed: Any, message: str
) -> tuple[ToolSpec, dict[str, Any]] | None:
    """The tool to call again and its new arguments; None where the message changes nothing.

    `proposed` is the hint {tool, arguments} of what waits for a confirmation.
    """
    if not isinstance(proposed, Mapping):
        return None
    tool = next((tool for tool in tools if tool.name == proposed.get("tool")), None)
    # What its skill reads out of a message, its skill changes too.
    if tool is None or tool.is_wished:
        return None
    if not PATTERNS["changes"].search(fold(message)) and len(words(message)) > _FEW_WORDS:
        return None
    before = dict(proposed.get("arguments") or {})
    changed = fill_named(tool.parameters, message)
    if not changed or {**before, **changed} == before:
        return None
    return tool, {**before, **changed}
