"""Proposals: what the assistant would write, and the one word that lets it.

A model can only ever make a proposal. It is a row with the exact arguments and their
digest; confirming executes just those, once, in the transaction that marks the row. All
functions serve the session's person and leave the commit to the caller, who may have more
to do in the same transaction.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import Select, and_, or_, select

from app.accounts.audit import record
from app.assistant.models import Message, Proposal, Thread, own
from app.assistant.threads.branches import IN_SIGHT, ids_up
from app.assistant.threads.steps import LOOK_BACK, keep_steps
from app.assistant.tools.parts import ProposalPart, ReceiptPart
from app.assistant.tools.registry import Registry
from app.assistant.tools.tool import Draft, Receipt, ToolFailure, WriteTool
from app.db import ScopedSession, utc_now
from app.errors import Conflict, Forbidden, NotFound
from app.web.links import Target

# More cards than that wait for nobody.
MOST_LISTED = 20
LIFETIME = timedelta(minutes=30)
NONE_PROPOSED: Mapping[UUID, Proposal] = {}
_TARGET: TypeAdapter[Target] = TypeAdapter(Target)


def digest_of(tool: str, arguments: Mapping[str, Any]) -> str:
    """SHA-256 of a tool's name and its arguments in their one canonical form."""
    canonical = json.dumps([tool, arguments], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def state_at(proposal: Proposal, moment: datetime) -> str:
    """A proposal's state; one that nobody answered in time is expired, marked or not."""
    if proposal.state == "pending" and proposal.expires_at <= moment:
        return "expired"
    return proposal.state


def lock_thread(session: ScopedSession, thread_id: UUID) -> None:
    """One who proposes at a time, so that two at once do not both find nothing pending."""
    session.execute(
        select(Thread.id).where(Thread.id == thread_id, *own(session, Thread)).with_for_update()
    )


def offer(
    session: ScopedSession, tool: WriteTool, draft: Draft, *, thread_id: UUID, message_id: UUID
) -> Proposal:
    """Store a draft as the thread's one pending proposal; an earlier one gives way."""
    lock_thread(session, thread_id)
    _close_pending(session, thread_id, "superseded")
    arguments = draft.arguments.model_dump(mode="json", exclude_none=True)
    now = utc_now()
    proposal = Proposal(
        group_id=session.scope.group_id,
        user_id=session.scope.user_id,
        thread_id=thread_id,
        message_id=message_id,
        tool=tool.name,
        arguments=arguments,
        digest=digest_of(tool.name, arguments),
        summary=dict(draft.summary),
        details=_listed(draft.details),
        created_at=now,
        expires_at=now + LIFETIME,
    )
    session.add(proposal)
    session.flush()
    return proposal


def load_proposal(session: ScopedSession, proposal_id: UUID, *, lock: bool = False) -> Proposal:
    """The person's own proposal.

    Raises:
        NotFound: there is none, it is somebody else's, or its conversation is deleted.
    """
    query = _own(session).where(Proposal.id == proposal_id, Thread.deleted_at.is_(None))
    query = query.join(Thread, Thread.id == Proposal.thread_id)
    if lock:
        query = query.with_for_update(of=Proposal)
    proposal = session.scalar(query.execution_options(populate_existing=True))
    if proposal is None:
        raise NotFound("This proposal does not exist, or it is not yours.")
    return proposal


def proposals_of(session: ScopedSession, messages: Iterable[Message]) -> dict[UUID, Proposal]:
    """The proposals that these messages show, as they stand now, by id."""
    ids = {
        UUID(part["proposal_id"])
        for message in messages
        for part in message.parts
        if "proposal_id" in part
    }
    if not ids:
        return {}
    return {found.id: found for found in session.scalars(_own(session).where(Proposal.id.in_(ids)))}


def latest_proposal(session: ScopedSession, thread_id: UUID) -> Proposal | None:
    """The thread's newest proposal, whatever came of it."""
    query = _own(session).where(Proposal.thread_id == thread_id)
    return session.scalar(query.order_by(Proposal.created_at.desc()).limit(1))


def find_done(
    session: ScopedSession, thread_id: UUID, reply_id: UUID
) -> Literal["", "above", "beside"]:
    """Where something that was proposed in a conversation has been done, and not taken back.

    `above` a reply, in sight of who reads it; `beside` it, with another version of an answer.
    """
    done = select(Proposal.message_id).where(
        Proposal.thread_id == thread_id,
        Proposal.state == "confirmed",
        Proposal.undone_at.is_(None),
        *own(session, Proposal),
    )
    made_by = set(session.scalars(done))
    if not made_by.isdisjoint(ids_up(session, reply_id, IN_SIGHT)):
        return "above"
    return "beside" if made_by - {*ids_up(session, reply_id, LOOK_BACK)} else ""


def tools_done_by(session: ScopedSession, reply_id: UUID) -> list[str]:
    """The tools whose proposals in this reply have been done, and not taken back."""
    done = select(Proposal.tool).where(
        Proposal.message_id == reply_id,
        Proposal.state == "confirmed",
        Proposal.undone_at.is_(None),
        *own(session, Proposal),
    )
    return list(session.scalars(done))


def open_in(session: ScopedSession, thread_id: UUID) -> Proposal | None:
    """What waits for an answer in the thread, whether its time is over or not."""
    query = _own(session).where(Proposal.thread_id == thread_id, Proposal.state == "pending")
    return session.scalar(query)


def list_pending(session: ScopedSession) -> Sequence[Proposal]:
    """One's own that wait for an answer, in conversations that are there, the newest first."""
    shown = select(Thread.id).where(*own(session, Thread), Thread.deleted_at.is_(None))
    waiting = _own(session).where(
        Proposal.state == "pending",
        Proposal.expires_at > utc_now(),
        Proposal.thread_id.in_(shown),
    )
    return session.scalars(waiting.order_by(Proposal.created_at.desc()).limit(MOST_LISTED)).all()


def pending_of(session: ScopedSession, message_id: UUID) -> Proposal | None:
    """What a reply has proposed and nobody has answered yet."""
    query = _own(session).where(Proposal.message_id == message_id, Proposal.state == "pending")
    return session.scalar(query)


def decided_by(session: ScopedSession, message_id: UUID) -> Proposal | None:
    """The proposal that this message confirmed or declined, if it did."""
    return session.scalar(_own(session).where(Proposal.decided_by == message_id))


def decided_by_button(
    session: ScopedSession, message_ids: Collection[UUID]
) -> Mapping[UUID, Proposal]:
    """What these replies have proposed and nobody's words confirmed or cancelled, by reply."""
    if not message_ids:
        return {}
    decided = _own(session).where(
        Proposal.message_id.in_(message_ids),
        or_(
            Proposal.state == "confirmed",
            and_(Proposal.state == "declined", Proposal.reason == "cancelled"),
        ),
        Proposal.decided_by.is_(None),
    )
    return {each.message_id: each for each in session.scalars(decided)}


def confirm(
    session: ScopedSession, registry: Registry, proposal_id: UUID, by: UUID | None = None
) -> Proposal:
    """Execute exactly what was proposed, once; a second confirmation returns the first result.

    `by` is the message whose words confirmed it.

    Raises:
        NotFound: it is not theirs.
        Conflict: it is not open any more, not what was shown, or called something else by now.
        Forbidden: their role may not do that (any more).
        ComandaError: the tool could not do it; the proposal stays open.
    """
    # The conversation before its proposal, as whoever goes on in it takes them: else each could
    # wait for the other, and what is done could be what was taken back at that moment.
    lock_thread(session, load_proposal(session, proposal_id).thread_id)
    proposal = load_proposal(session, proposal_id, lock=True)
    state = state_at(proposal, utc_now())
    if state == "confirmed":
        return proposal
    _require_open(state)
    tool = _tool_of(registry, proposal)
    if not tool.allows(session.scope.role):
        raise Forbidden("Your role in this group does not allow that. Ask a manager.")
    if proposal.digest != digest_of(proposal.tool, proposal.arguments):
        raise Conflict("This is not what was shown to you, so it was not done. Ask again.")
    arguments = tool.arguments.model_validate(proposal.arguments)
    try:
        _check_names(session, tool, proposal, arguments)
        receipt = tool.execute(session, arguments)
    except ToolFailure as failure:
        # What its tool would ask back when it is called, such as a currency that is gone.
        raise Conflict(
            "What this card shows isn't possible any more. Ask for it again."
        ) from failure
    now = utc_now()
    proposal.state, proposal.decided_at, proposal.decided_by = "confirmed", now, by
    proposal.receipt = _as_json(receipt)
    if receipt.step is not None:
        keep_steps(session, proposal.message_id, [receipt.step])
    if tool.undo_minutes:
        proposal.undo_until = now + timedelta(minutes=tool.undo_minutes)
    record(session, f"tool.{tool.name}", receipt.result_id, proposal.digest)
    session.flush()
    return proposal


def _check_names(
    session: ScopedSession, tool: WriteTool, proposal: Proposal, arguments: Any
) -> None:
    now = tool.details_now(session, arguments)
    if now is not None and _listed(now) != _listed(proposal.details):
        raise Conflict("Something on this card now has another name. Ask again to see it.")


def decline(session: ScopedSession, proposal_id: UUID, by: UUID | None = None) -> Proposal:
    """Close a proposal without doing anything; declining twice is the same as once.

    Raises:
        NotFound: it is not theirs. Conflict: it has been done, or it is not open any more.
    """
    proposal = load_proposal(session, proposal_id, lock=True)
    state = state_at(proposal, utc_now())
    if state == "declined":
        return proposal
    if state == "confirmed":
        raise Conflict("This has been done already.")
    _require_open(state)
    _close(proposal, "declined", "cancelled", by)
    session.flush()
    return proposal


def bring_back(session: ScopedSession, proposal_id: UUID) -> Proposal:
    """Open a declined or expired proposal again, for another half hour, as it was.

    Raises:
        NotFound: it is not theirs. Conflict: it has been done, or a newer one took its place.
    """
    found = load_proposal(session, proposal_id)
    lock_thread(session, found.thread_id)
    proposal = load_proposal(session, proposal_id, lock=True)
    now = utc_now()
    state = state_at(proposal, now)
    if state == "confirmed":
        raise Conflict("This has been done already.")
    if state == "superseded":
        raise Conflict("A newer proposal replaced this one. See below.")
    if state != "pending":
        # Not among the pending ones that give way to it, though nobody may have marked it yet.
        proposal.state = "declined"
        session.flush()
        # What was proposed since can be brought back in its turn.
        _close_pending(session, proposal.thread_id, "declined", "moved_on")
        proposal.state, proposal.reason, proposal.decided_at = "pending", "", None
        proposal.decided_by = None
        proposal.created_at, proposal.expires_at = now, now + LIFETIME
    session.flush()
    return proposal


def set_aside(
    session: ScopedSession, thread_id: UUID, before: datetime | None = None
) -> list[UUID]:
    """Decline what is pending in the thread, because its person went on to something else.

    With `before`, only what had been proposed by then. Returns the messages that show it.
    """
    return _close_pending(session, thread_id, "declined", "moved_on", before)


def withdraw(session: ScopedSession, message_id: UUID) -> None:
    """Close what a reply that starts over had proposed; its card is gone.

    What had given way to it waits again: its person has seen no other.
    """
    pending = pending_of(session, message_id)
    if pending is None:
        return
    gave_way = session.scalars(_gave_way_to(session, pending)).all()
    _close(pending, "superseded", "")
    session.flush()
    for each in gave_way[-1:]:
        each.state, each.reason, each.decided_at = "pending", "", None
    session.flush()


def call_off(session: ScopedSession, message_id: UUID) -> None:
    """Close what a reply had proposed that ended without a word, and what gave way to it.

    Either can be brought back: nobody has seen one that counts in its place.
    """
    pending = pending_of(session, message_id)
    if pending is None:
        return
    _close(pending, "declined", "")
    for each in session.scalars(_gave_way_to(session, pending)):
        each.state = "declined"
    session.flush()


def _gave_way_to(session: ScopedSession, pending: Proposal) -> Select[Proposal]:
    """What waited until the reply that proposed this one, in the order in which it was closed."""
    begun = select(Message.created_at).where(
        Message.id == pending.message_id, *own(session, Message)
    )
    return (
        _own(session)
        .where(
            Proposal.thread_id == pending.thread_id,
            Proposal.message_id != pending.message_id,
            Proposal.state == "superseded",
            Proposal.decided_at >= begun.scalar_subquery(),
        )
        .order_by(Proposal.decided_at)
    )


def undo(session: ScopedSession, registry: Registry, proposal_id: UUID) -> Proposal:
    """Take back what was confirmed, once; taking it back twice is the same as once.

    Raises:
        NotFound: it is not theirs.
        Conflict: it was never done, or it is too late.
        Forbidden: their role may not do that (any more).
        ComandaError: the tool could not take it back.
    """
    proposal = load_proposal(session, proposal_id, lock=True)
    now = utc_now()
    if proposal.undone_at is not None:
        return proposal
    if proposal.state != "confirmed":
        raise Conflict("Nothing was done, so there is nothing to undo.")
    if proposal.undo_until is None or proposal.undo_until <= now:
        raise Conflict("It is too late to undo this from here.")
    tool = _tool_of(registry, proposal)
    if not tool.allows(session.scope.role):
        raise Forbidden("Your role in this group does not allow that. Ask a manager.")
    receipt = receipt_of(proposal)
    tool.undo(session, receipt)
    proposal.undone_at = now
    record(session, f"tool.{tool.name}.undo", receipt.result_id, proposal.digest)
    session.flush()
    return proposal


def receipt_of(proposal: Proposal) -> Receipt:
    """What the confirmed write returned."""
    kept = proposal.receipt or {}
    url = _TARGET.validate_python(kept["url"])
    return Receipt(kept["result_id"], kept["summary"], kept["details"], url, kept["kept"])


def proposal_part(proposal: Proposal) -> ProposalPart:
    """The card of a proposal, as it stands now."""
    return ProposalPart(
        proposal_id=proposal.id,
        tool=proposal.tool,
        summary=proposal.summary,
        details=proposal.details,
        state=state_at(proposal, utc_now()),
        reason=proposal.reason,
        expires_at=proposal.expires_at,
    )


def receipt_part(proposal: Proposal) -> ReceiptPart:
    """The receipt of a confirmed proposal, as it stands now."""
    receipt = receipt_of(proposal)
    return ReceiptPart(
        proposal_id=proposal.id,
        tool=proposal.tool,
        result_id=receipt.result_id,
        summary=dict(receipt.summary),
        details={language: list(pairs) for language, pairs in receipt.details.items()},
        url=receipt.url,
        done_at=proposal.decided_at or utc_now(),
        undo_until=proposal.undo_until,
        undone_at=proposal.undone_at,
    )


def part_as_of_now(
    stored: Mapping[str, Any], proposals: Mapping[UUID, Proposal]
) -> Mapping[str, Any]:
    """A stored part with what has become of its proposal since; others as they are.

    A card that was confirmed by its button folds into the receipt. One that was confirmed
    in words stays, because the reply to those words shows the receipt.
    """
    if "proposal_id" not in stored:
        return stored
    proposal = proposals.get(UUID(stored["proposal_id"]))
    if proposal is None:
        return stored
    done = proposal.state == "confirmed"
    if done and (stored["type"] == "receipt" or proposal.decided_by is None):
        return receipt_part(proposal).model_dump(mode="json")
    return proposal_part(proposal).model_dump(mode="json")


def _listed(details: Mapping[str, Sequence[Sequence[str]]]) -> dict[str, list[list[str]]]:
    return {language: [list(pair) for pair in pairs] for language, pairs in details.items()}


def _own(session: ScopedSession) -> Select[Proposal]:
    return select(Proposal).where(
        Proposal.group_id == session.scope.group_id, Proposal.user_id == session.scope.user_id
    )


def _require_open(state: str) -> None:
    if state == "expired":
        raise Conflict(
            "This proposal has expired; nothing was done. Press “Bring it back” on "
            "its card, or say again what you need."
        )
    if state == "superseded":
        raise Conflict("A newer proposal replaced this one. See below.")
    if state == "declined":
        raise Conflict(
            "This was canceled; nothing was done. Press “Bring it back” on its card, "
            "or say again what you need."
        )


def _close(proposal: Proposal, state: str, reason: str = "", by: UUID | None = None) -> None:
    proposal.state, proposal.reason = state, reason
    proposal.decided_at, proposal.decided_by = utc_now(), by


def _close_pending(
    session: ScopedSession,
    thread_id: UUID,
    state: str,
    reason: str = "",
    before: datetime | None = None,
) -> list[UUID]:
    """Close the thread's pending proposal, if there is one, as `state` or as expired."""
    query = _own(session).where(Proposal.thread_id == thread_id, Proposal.state == "pending")
    if before is not None:
        query = query.where(Proposal.created_at <= before)
    found = session.scalars(query.with_for_update()).all()
    for proposal in found:
        late = state_at(proposal, utc_now()) == "expired"
        _close(proposal, "expired" if late else state, "" if late else reason)
    session.flush()
    return [proposal.message_id for proposal in found]


def _tool_of(registry: Registry, proposal: Proposal) -> WriteTool:
    tool = registry.tools.get(proposal.tool)
    if not isinstance(tool, WriteTool):
        raise Conflict("Nothing was done: this needs something that is no longer part of Comanda.")
    return tool


def _as_json(receipt: Receipt) -> dict[str, Any]:
    details = {language: list(map(list, pairs)) for language, pairs in receipt.details.items()}
    return {
        "result_id": receipt.result_id,
        "summary": dict(receipt.summary),
        "details": details,
        "url": _TARGET.dump_python(receipt.url, mode="json"),
        "kept": dict(receipt.kept),
    }
