"""Which reply a message answers, where its program or its page had another one before it.

Several programs of one person may go on in one conversation, each with turns of its own that it
tells with a message, and so may several pages: the reply that stands last here need not be the one
that its person was shown.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Row, func, select

from app.assistant.models import Message, Proposal, Turn, own
from app.assistant.threads.branches import said_up
from app.db import ScopedSession
from app.text.plain_text import clean_text

# More replies in the same words than this are not told apart, nor so many of other branches, nor by
# more messages before them.
MOST_ALIKE, MOST_ELSEWHERE, MOST_LOOKED_AT = 50, 3, 2_000
# A model may begin a reply with any of these.
BLANKS = "".join(filter(str.isspace, map(chr, range(0x3001))))


class Told(NamedTuple):
    """The digests of the turns before a message, oldest first, as a program told them beside it.

    `last` is that of the reply right before the message: "" where the program told
    something else last, or has gone on after it. `reply_to` is the id of the reply that it
    answers, where the program said so, which goes before all that was told.
    """

    turns: Sequence[str]
    last: str
    reply_to: str = ""


def digest_of_turn(role: str, content: str) -> str:
    """What tells a turn from any other one, in 32 letters; blanks around it do not."""
    said = f"{role}\n{clean_text(content).strip(BLANKS)}"
    return hashlib.sha256(said.encode()).hexdigest()[:32]


def load_told(session: ScopedSession, question: Message) -> Told | None:
    """What was told beside a message; None where nothing was.

    A page that more was said behind has told of nothing that ends here.
    """
    request = session.scalar(
        select(Turn.request)
        .where(Turn.user_message_id == question.id, *own(session, Turn))
        .order_by(Turn.id)
        .limit(1)
    )
    if request is not None and request.get("is_behind"):
        return Told((), "")
    if request is None or not (request.get("tells_turns") or request.get("reply_to")):
        return None
    told_last, reply_to = request.get("told_last", ""), request.get("reply_to", "")
    return Told(request.get("told", ()), str(told_last), str(reply_to))


def is_told(session: ScopedSession, told: Told, reply: Message) -> bool:
    """Whether what was told ends in this reply, and in no other that comes to something else.

    Replies in the same words may ask for, or have done, different things: the category of an
    expense stands on its card alone. Where there are such, all that was told must have come before
    this one, and must not have before any of the others; else neither is meant.
    """
    alike = _alike(session, reply)
    meanings = _meanings(session, alike)
    is_cut = len(alike) > MOST_ALIKE
    others = [each for each in alike if is_cut or meanings[each.id] != meanings[reply.id]]
    return _is_meant(session, told, reply, others)


def is_place_told(session: ScopedSession, told: Told, reply: Message) -> bool:
    """Whether what was told ends in this reply, and in no other, whatever those come to.

    A question may be asked in the same words about whichever request was open.
    """
    alike = _alike(session, reply)
    is_cut = len(alike) > MOST_ALIKE
    others = [each for each in alike if is_cut or each.id != reply.id]
    return _is_meant(session, told, reply, others)


def _is_meant(
    session: ScopedSession, told: Told, reply: Message, others: Sequence[Message]
) -> bool:
    if told.reply_to:
        return told.reply_to == str(reply.id)
    if told.last != digest_of_turn("assistant", reply.content) or len(others) > MOST_ALIKE:
        return False
    if not others:
        return True
    rows = said_up(session, reply.parent_id, MOST_LOOKED_AT)
    all_told = _place_of_all(told, rows)
    if all_told is None or len(rows) == MOST_LOOKED_AT:
        return False
    places = {row.id: place for place, row in enumerate(rows)}
    elsewhere = [each for each in others if each.id not in places]
    return (
        all(all_told > places[each.id] for each in others if each.id in places)
        and len(elsewhere) <= MOST_ELSEWHERE
        and not any(_may_come_before(session, told, each) for each in elsewhere)
    )


def _alike(session: ScopedSession, reply: Message) -> Sequence[Message]:
    """The replies of the conversation in the same words, this one among them.

    What is stored has been cleaned, so that these are those of the same digest.
    """
    query = (
        select(Message)
        .where(
            Message.thread_id == reply.thread_id,
            Message.role == "assistant",
            func.btrim(Message.content, BLANKS) == reply.content.strip(BLANKS),
            *own(session, Message),
        )
        .order_by((Message.id == reply.id).desc(), Message.id.desc())
        .limit(MOST_ALIKE + 1)
    )
    return session.scalars(query).all()


def _meanings(session: ScopedSession, replies: Iterable[Message]) -> dict[UUID, tuple[str, ...]]:
    """What each reply asks for and shows, by its id: of a proposal, what would be done."""
    said = {reply.id: (reply.asked or "", *_proposals_on(reply)) for reply in replies}
    rows = session.execute(
        select(Proposal.id, Proposal.message_id, Proposal.digest).where(
            Proposal.thread_id.in_([reply.thread_id for reply in replies]), *own(session, Proposal)
        )
    ).all()
    digests = {str(row.id): row.digest for row in rows}
    proposed: dict[UUID, list[str]] = {}
    for row in rows:
        proposed.setdefault(row.message_id, []).append(row.digest)
    return {
        reply_id: (
            *(digests.get(name.rpartition(" ")[2], name) for name in names),
            *sorted(proposed.get(reply_id, ())),
        )
        for reply_id, names in said.items()
    }


def _proposals_on(reply: Message) -> list[str]:
    """The proposals whose cards and receipts stand on a reply."""
    return [str(part["proposal_id"]) for part in reply.parts if part.get("proposal_id")]


def _may_come_before(session: ScopedSession, told: Told, reply: Message) -> bool:
    """Whether all that was told stands before a reply of another branch, or more than is read."""
    rows = said_up(session, reply.parent_id, MOST_LOOKED_AT)
    return len(rows) == MOST_LOOKED_AT or _place_of_all(told, rows) is not None


def _place_of_all(told: Told, rows: Sequence[Row[Any]]) -> int | None:
    """Behind how many of these messages all turns that were told stand, in their order.

    Those of other programs may stand between them. None where they do not.
    """
    left = iter(told.turns[:-1])
    wanted = next(left, None)
    for place, row in enumerate(rows):
        if wanted is None:
            return place
        if digest_of_turn(row.role, row.content) == wanted:
            wanted = next(left, None)
    return len(rows) if wanted is None else None
