"""What a turn knows before the model is asked, each piece fetched on its own.

A piece that cannot be had is left out and noted; it never stops the answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from typing import Any, TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

import structlog
from babel.dates import get_day_names
from sqlalchemy import Row, bindparam, select
from sqlalchemy.exc import SQLAlchemyError

from app.accounts.clock import local_now
from app.accounts.models import Group, User, UserProfile
from app.assistant.models import AGENT, Message, Prompt, Proposal, Turn
from app.assistant.prompts.system_prompt import load_prompts
from app.assistant.proposals.proposals import (
    decided_by_button,
    latest_proposal,
    receipt_of,
    state_at,
)
from app.assistant.providers.base import USUAL_NUMBER, ChatMessage
from app.assistant.threads.branches import IN_SIGHT, leads_to, said_up
from app.assistant.threads.steps import Step, StepLoader, as_told
from app.assistant.tools.registry import Opening, Registry, TurnInput
from app.assistant.tools.tool import Profile, ThreadTool, WriteTool
from app.db import ScopedSession, utc_now
from app.nlu.emergency import read_emergency
from app.nlu.model import read_intents
from app.nlu.queries import first_want
from app.text.markdown import escape_markdown

HISTORY_MESSAGES = 20
# Read beside them, for the replies among them that have nothing to say.
UNFINISHED_AT_MOST = 10
# A model need not reread a long answer to know what was talked about.
HISTORY_CHARACTERS = 2000
_YES = {"en": "Yes.", "es": "Sí."}
# What other buttons say, and what became of it; a receipt says itself what was done.
_PRESSED = {
    "no": {
        "en": ("No.", "All right, nothing was done."),
        "es": ("No.", "De acuerdo, no se hizo nada."),
    },
    "undo": {
        "en": ("Undo that.", "That is undone."),
        "es": ("Deshaz eso.", "Eso quedó deshecho."),
    },
}

# Made once: to put a statement together takes longer than to run one as small as these.
_PERSON = (
    select(User.name, UserProfile)
    .outerjoin(UserProfile, UserProfile.user_id == User.id)
    .where(User.id == bindparam("user_id"))
)
_GROUP = select(Group.name, Group.timezone, Group.emergency_number).where(
    Group.id == bindparam("group_id")
)

Found = TypeVar("Found")
# Gets a piece by its name, or the default where it cannot be had.
Fetch = Callable[[str, Callable[[], Any], Any], Any]
PIECE_ERRORS = (SQLAlchemyError, LookupError, ValueError)
NO_PROFILE = Profile()
# Whether there may be a proposal, and what is said of it, where nobody can look.
_UNKNOWN: tuple[bool, Mapping[str, Any], list[str]] = (True, {}, [])
log = structlog.get_logger()


@dataclass(frozen=True)
class TurnContext:
    """Everything a turn starts from; `missing` names the pieces that could not be had."""

    message: str
    language: str
    history: tuple[ChatMessage, ...] = ()
    profile: Profile = NO_PROFILE
    prompts: tuple[Prompt, ...] = ()
    hints: Mapping[str, Any] = field(default_factory=dict)
    generated: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    today: str = ""
    emergency_number: str = USUAL_NUMBER
    # Whether the thread may have an open proposal, be it out of sight.
    has_proposal: bool = True
    # In threads of another kind than the chat: which, and what they start from.
    conversation: str = ""
    opening: Opening | None = None
    # What skills have worked out for this turn.
    memo: dict[Any, Any] = field(default_factory=dict)

    @property
    def rest(self) -> str:
        """What the message wants besides, which is left for the next one."""
        return str(self.hints.get("rest") or "")


def build_context(
    transaction: Callable[[], AbstractContextManager[ScopedSession]],
    registry: Registry,
    turn: Turn,
    message: Message,
    load_before: StepLoader,
    *,
    hints: bool,
) -> TurnContext:
    """Fetch each piece for `turn`, whose question is `message`.

    `load_before` loads the steps of the conversation up to the message, without its own.
    The skills' hints cost a search; they are fetched only for a provider that uses them.
    """
    try:
        # Usually nothing fails, and savepoints would cost as much as what they are around.
        with transaction() as session:
            return _fetch_pieces(session, registry, turn, message, load_before, hints, nullcontext)
    except PIECE_ERRORS:
        with transaction() as session:
            apart = session.begin_nested
            return _fetch_pieces(session, registry, turn, message, load_before, hints, apart)


def _fetch_pieces(
    session: ScopedSession,
    registry: Registry,
    turn: Turn,
    message: Message,
    load_before: StepLoader,
    hints: bool,
    apart: Callable[[], AbstractContextManager[Any]],
) -> TurnContext:
    """Fetch each piece within `apart()`; without a savepoint in it, the first failure ends it."""
    missing, memo = list[str](), dict[Any, Any]()

    def fetch(name: str, get: Callable[[], Found], default: Found) -> Found:
        try:
            with apart():
                return get()
        except PIECE_ERRORS as error:
            if apart is nullcontext:
                raise
            log.warning("context piece missing", piece=name, error=type(error).__name__)
            missing.append(name)
            return default

    language = message.language
    profile = fetch("profile", lambda: _profile(session, turn.user_id), NO_PROFILE)
    earlier = partial(_history, session, turn, message, hints)
    history = fetch("history", earlier, list[ChatMessage]())
    prompts = fetch("prompts", lambda: load_prompts(session), list[Prompt]())
    today, number, generated = fetch("today", partial(_here, session, language), _no_group_facts())
    generated += _about(profile, language)
    has_proposal, proposed, lines = fetch("proposal", lambda: _proposal(session, message), _UNKNOWN)
    known, generated = {**proposed}, generated + lines
    kind = str(turn.request.get("conversation", ""))
    opening = fetch(kind, lambda: _open(session, registry, turn, message), None) if kind else None
    if opening:
        known |= {"listens": opening.listens, "says": opening.says}
        generated += opening.lines
    # What a conversation of another kind is about, its opening has said.
    if not kind:
        said = _turn_input(session, message, load_before, history, today, known, fetch, memo)
        for name, tell in registry.prompt_state.items():
            generated += fetch(name, partial(tell, session, said), [])
        if hints:
            generated += _look(session, registry, fetch, said, known)
    return TurnContext(
        _words(message, str(known.get("rest") or ""), in_words=hints),
        language,
        tuple(history),
        profile,
        tuple(prompts),
        known,
        tuple(generated),
        tuple(missing),
        today,
        number,
        has_proposal,
        kind,
        opening,
        memo,
    )


def _turn_input(
    session: ScopedSession,
    message: Message,
    load_before: StepLoader,
    history: list[ChatMessage],
    today: str,
    known: Mapping[str, Any],
    fetch: Fetch,
    memo: dict[Any, Any],
) -> TurnInput:
    """The message in its conversation, as skills look at it."""
    no_steps: Sequence[Step] = ()
    return TurnInput(
        message.content,
        message.language,
        date.fromisoformat(today) if today else utc_now().date(),
        history,
        known.get("proposal"),
        message.thread_id,
        fetch("steps", partial(load_before, session), no_steps),
        message.internal_content,
        memo=memo,
        done=known.get("done"),
    )


def _words(message: Message, rest: str, *, in_words: bool) -> str:
    """The message as its provider is given it, without the `rest` that is left for the next."""
    if not in_words:
        return as_told(message.content, message.internal_content)
    return message.content.rstrip().removesuffix(rest).rstrip() if rest else message.content


def _first_of_it(registry: Registry, said: TurnInput) -> tuple[TurnInput, str]:
    """What is taken of a message that wants several things, and what is left for the next one.

    What answers something that is open, and a call for help, is taken as a whole.
    """
    if said.is_going_on or read_emergency(said.message, said.language):
        return said, ""
    acting = {
        name for name, tool in registry.tools.items() if isinstance(tool, WriteTool | ThreadTool)
    }
    first, rest = first_want(said.message, acting)
    return replace(said, message=first), rest


def _look(
    session: ScopedSession,
    registry: Registry,
    fetch: Fetch,
    said: TurnInput,
    known: dict[str, Any],
) -> list[str]:
    """Ask the skills what they see in the message: into `known`, and lines for the prompt."""
    lines: list[str] = []
    said, known["rest"] = _first_of_it(registry, said)
    said = replace(said, intents=read_intents(said.message))
    for name, source in registry.context.items():
        look = partial(source, session, said.message, said.language)
        nothing: tuple[Mapping[str, Any], list[str]] = ({}, [])
        found, more = fetch(name, look, nothing)
        _add_hints(known, found)
        lines += more
    for name, reader in registry.readers.items():
        _add_hints(known, fetch(name, partial(reader, session, said), {}))
    return lines


def _add_hints(known: dict[str, Any], found: Mapping[str, Any]) -> None:
    """Take in what a source found; what several say of their tools is kept together."""
    together = {
        name: {**known.get(name, {}), **found.get(name, {})}
        for name in ("wanted", "odds", "goes_on", "ordered", "instead")
        if name in known or name in found
    }
    known |= {**found, **together}


def _open(session: ScopedSession, registry: Registry, turn: Turn, message: Message) -> Opening:
    """What the thread's own kind of conversation starts from.

    Raises:
        LookupError: no skill has such conversations any more, or it has nothing to talk about.
    """
    kind = registry.conversations[turn.request["conversation"]]
    return kind.open(session, turn.thread_id, message.content, message.language)


def _profile(session: ScopedSession, user_id: UUID) -> Profile:
    row = session.execute(_PERSON, {"user_id": user_id}).one()
    name: str = row[0]
    profile: UserProfile | None = row[1]
    if profile is None:
        return Profile(name=name)
    return Profile(
        name,
        profile.units,
        tuple(profile.allergens),
        tuple(profile.diets),
        tuple(profile.cuisines),
    )


def _history(
    session: ScopedSession, turn: Turn, question: Message, in_words: bool
) -> list[ChatMessage]:
    """The messages that led up to this one, oldest first; unfinished replies are left out.

    Steps that somebody posted are as they are meant, unless all is to be `in_words`. What
    colleagues wrote is left out: it is no part of what is said between the two, and a question
    of theirs is not one that the next message answers.

    A client that keeps its conversations itself has said what came before.
    """
    if "history" in turn.request:
        return [ChatMessage(said["role"], said["content"]) for said in turn.request["history"]]
    before = said_up(session, question.parent_id, HISTORY_MESSAGES + UNFINISHED_AT_MOST)
    pressed = decided_by_button(session, [said.id for said in before])
    told: list[ChatMessage] = []
    for said in before:
        is_over = said.status in ("complete", "stopped", "interrupted")
        if said.role == AGENT or not said.content or not is_over:
            continue
        content = _told(said, in_words) if said.role == "user" else said.content
        told.append(ChatMessage(said.role, content[:HISTORY_CHARACTERS]))
        if said.id in pressed:
            told += _as_words(pressed[said.id], said.content, question.language)
    return told[-HISTORY_MESSAGES:]


def _as_words(proposal: Proposal, reply: str, language: str) -> list[ChatMessage]:
    """The buttons of a proposal that were pressed, and what they did, as if all had been said.

    Nothing of what a reply has done by itself, which it tells.
    """
    if proposal.state == "declined":
        return _exchange("no", language)
    done = receipt_of(proposal).summary[language]
    told: list[ChatMessage] = []
    if done not in reply and escape_markdown(done) not in reply:
        told = [ChatMessage("user", _YES[language]), ChatMessage("assistant", done)]
    return told + (_exchange("undo", language) if proposal.undone_at else [])


def _exchange(button: str, language: str) -> list[ChatMessage]:
    said, answer = _PRESSED[button][language]
    return [ChatMessage("user", said), ChatMessage("assistant", answer)]


def _told(said: Row[Any], in_words: bool) -> str:
    content: str = said.content
    return content if in_words else as_told(content, said.internal_content)


def _no_group_facts() -> tuple[str, str, list[str]]:
    """What `_here` gives where the group cannot be read; a new list each time."""
    return "", USUAL_NUMBER, []


def _here(session: ScopedSession, language: str) -> tuple[str, str, list[str]]:
    """The date where the group is, whom one calls there in danger, and lines that tell a model."""
    name, zone, number = session.execute(_GROUP, {"group_id": session.scope.group_id}).one()
    now = local_now(ZoneInfo(zone))
    day, date = get_day_names(locale=language)[now.weekday()], f"{now:%Y-%m-%d}"
    if language == "es":
        lines = [
            f"Restaurante: {name}. Número de emergencias: {number}.",
            f"Hoy es {day} {date}. Contesta en español.",
        ]
    else:
        lines = [
            f"Restaurant: {name}. Emergency number: {number}.",
            f"Today is {day} {date}. Answer in English.",
        ]
    return date, number, lines


def _proposal(
    session: ScopedSession, message: Message
) -> tuple[bool, Mapping[str, Any], list[str]]:
    """What waits for a confirmation while the person writes something else than yes or no.

    First whether anything does; what cannot be seen from here is not told of.
    """
    found = latest_proposal(session, message.thread_id)
    if found is not None and found.state == "confirmed":
        return False, _done_just_now(session, found, message), []
    if found is None or found.state not in ("pending", "declined"):
        return False, {}, []
    is_open = state_at(found, utc_now()) == "pending"
    if not is_open and not _was_asked_to_differ(session, found, message):
        return found.state == "pending", {}, []
    if not leads_to(session, found.message_id, message.parent_id, IN_SIGHT):
        return is_open, {}, []
    hint = {
        "proposal": {"tool": found.tool, "arguments": found.arguments, "is_open": is_open},
    }
    arguments = json.dumps(found.arguments, ensure_ascii=False)
    if message.language == "es":
        line = (
            f"Propuesta abierta, sin hacer: {found.tool} {arguments}. El mensaje la cambia o pasa a"
            f" otra cosa; para cambiarla, llama otra vez a {found.tool} con todos los argumentos."
        )
    else:
        line = (
            f"Open proposal, not done: {found.tool} {arguments}. The message changes it or goes on"
            f" to something else; to change it, call {found.tool} again with all arguments."
        )
    return is_open, hint, [line]


def _done_just_now(session: ScopedSession, found: Proposal, message: Message) -> Mapping[str, Any]:
    """What the reply before told of, or its button did: "make it 15" is about that."""
    before = session.get(Message, message.parent_id) if message.parent_id else None
    if before is None or found.undone_at is not None:
        return {}
    is_told = found.decided_by is not None and found.decided_by == before.parent_id
    if not is_told and found.message_id != before.id:
        return {}
    return {"done": {"tool": found.tool, "arguments": found.arguments}}


def _was_asked_to_differ(session: ScopedSession, found: Proposal, message: Message) -> bool:
    """True where the person has just said no to it, and was asked what should be different."""
    if found.state != "declined" or found.decided_by is None:
        return False
    asked = session.get(Message, message.parent_id) if message.parent_id else None
    return asked is not None and asked.parent_id == found.decided_by


def _about(profile: Profile, language: str) -> list[str]:
    """What the model should heed about the person, in a line."""
    if not profile.allergens:
        return []
    listed = ", ".join(profile.allergens)
    return [f"Alergias de la persona: {listed}." if language == "es" else f"Allergies: {listed}."]
