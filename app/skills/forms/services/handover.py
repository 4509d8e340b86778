"""From the chat to a form: what somebody said is handed over on the server, once and soon.

Nothing of it stands in an address, and nothing of it is lost: what has expired, or whose form
is gone, is still in the chat that it was said in.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import delete, select

from app.assistant.models import Message, Thread
from app.assistant.threads.branches import path_up
from app.db import ScopedSession, new_id, utc_now
from app.errors import Gone, LimitReached, NotFound
from app.nlu.courtesies import read_courtesy
from app.skills.forms.models import FormDraft, FormHandover, FormTemplate
from app.skills.forms.nlu import BEFORE_REPEATED, is_repeated
from app.skills.forms.services.drafts import load_draft, open_draft
from app.skills.forms.services.templates import load_published, load_template, visible_templates
from app.skills.forms.workflow.conversation import begin_conversation, has_assistant

GOOD_FOR = timedelta(minutes=30)
# What was handed over is kept so long after it expired, so that its link still leads on.
KEPT_FOR = timedelta(days=1)
# How far back somebody who only says "yes" may have said what they mean.
LOOK_BACK = 6


@dataclass(frozen=True)
class TakenOver:
    """The draft that a handover became; `limit` is why nobody helps with it, if so."""

    draft_id: UUID
    limit: LimitReached | None = None


def own_words(session: ScopedSession, message_id: UUID | None) -> str:
    """What the person said in a message of their own, or before it.

    That is where it only says "yes", or is the chip that repeats what was said.
    """
    message = _load_message(session, message_id) if message_id else None
    if message is None:
        return ""
    is_yes = not read_courtesy(message.content).rest
    if not is_yes and BEFORE_REPEATED not in message.content:
        return message.content
    before = path_up(session, message.parent_id, LOOK_BACK)
    said = [one.content for one in before if one.role == "user" and read_courtesy(one.content).rest]
    is_meant = bool(said) and (is_yes or is_repeated(said[-1], message.content))
    return said[-1] if is_meant else message.content


def hand_over(session: ScopedSession, slug: str, message_id: UUID) -> FormHandover:
    """Hand what was said in one's own message over to the form of that address; commits.

    Raises:
        NotFound: there is no such form, or no such message of theirs.
    """
    template = load_published(session, slug)
    message = _load_message(session, message_id)
    if message is None:
        raise NotFound("This message does not exist, or it is not yours.")
    scope = session.scope
    handover = FormHandover(
        id=new_id(),
        group_id=scope.group_id,
        user_id=scope.user_id,
        template_id=template.id,
        context=own_words(session, message_id),
        language=message.language,
        expires_at=utc_now() + GOOD_FOR,
    )
    _forget_old(session)
    session.add(handover)
    session.commit()
    return handover


def take_over(session: ScopedSession, handover_id: UUID) -> TakenOver:
    """Make a draft of what was handed over, once, and tell it to the form's assistant; commits.

    Used again, it leads to the draft that it became.

    Raises:
        NotFound: there is no such handover, or it is somebody else's.
        Gone: it has expired, its form has been archived, or its draft is gone.
    """
    handover = _load(session, handover_id)
    if handover.used_at is None:
        template = _template(session, handover)
        draft = open_draft(session, template, handover.context)
        handover.draft_id, handover.used_at = draft.id, utc_now()
    elif handover.draft_id is None:
        raise Gone("You have used this link already. Open the form again from the chat.")
    else:
        draft = load_draft(session, handover.draft_id)
    draft_id, language = draft.id, handover.language
    session.commit()
    return TakenOver(draft_id, _begin(session, draft, language))


def _begin(session: ScopedSession, draft: FormDraft, language: str) -> LimitReached | None:
    """Tell the form's assistant what was said; the form opens even where it may not be asked."""
    if not draft.context or draft.status != "open":
        return None
    if not has_assistant(session, load_template(session, draft.template_id)):
        return None
    try:
        begin_conversation(session, draft, language)
    except LimitReached as limit:
        session.rollback()
        return limit
    return None


def _template(session: ScopedSession, handover: FormHandover) -> FormTemplate:
    if handover.expires_at < utc_now():
        raise Gone(
            "This link was good for half an hour. What you wrote is still in the chat: press"
            " “Fill it out” there again."
        )
    wanted = visible_templates(session).where(
        FormTemplate.id == handover.template_id, FormTemplate.status == "published"
    )
    template = session.scalar(wanted)
    if template is None:
        raise Gone(
            "This form was archived in the meantime. What you wrote is still in the "
            "chat; ask there for another form."
        )
    return template


def _load(session: ScopedSession, handover_id: UUID) -> FormHandover:
    """One's own handover, held until the commit, so that of two clicks one makes the draft."""
    handover = session.scalar(
        select(FormHandover)
        .where(
            FormHandover.id == handover_id,
            FormHandover.group_id == session.scope.group_id,
            FormHandover.user_id == session.scope.user_id,
        )
        .with_for_update()
    )
    if handover is None:
        raise NotFound("This link no longer exists, or it is not yours.")
    return handover


def _load_message(session: ScopedSession, message_id: UUID) -> Message | None:
    """One's own words in a chat that is not deleted."""
    return session.scalar(
        select(Message)
        .join(Thread, Thread.id == Message.thread_id)
        .where(
            Message.id == message_id,
            Message.role == "user",
            Message.group_id == session.scope.group_id,
            Message.user_id == session.scope.user_id,
            Thread.deleted_at.is_(None),
        )
    )


def _forget_old(session: ScopedSession) -> None:
    session.execute(
        delete(FormHandover).where(
            FormHandover.group_id == session.scope.group_id,
            FormHandover.user_id == session.scope.user_id,
            FormHandover.expires_at < utc_now() - KEPT_FOR,
        )
    )
