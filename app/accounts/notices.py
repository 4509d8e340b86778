"""Telling people of the group something at the bell and in a letter, each in their language.

Part of the transaction that it tells of. Nobody is told of what they have done themselves, nor
anybody who has left the group. Of what people wrote, names alone are in it: a mail goes through
many hands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from uuid import UUID

from flask_babel import force_locale
from flask_babel import gettext as _
from sqlalchemy import select, text

from app.accounts.models import Membership, User
from app.db import ScopedSession
from app.notifications.mail import queue_mail
from app.notifications.services import notify
from app.text.bilingual import in_both

EDITORS = ("manager", "admin")
# None for whoever has left the group: their profile is theirs alone, so the door tells.
_LANGUAGE = text("SELECT language_of_colleague(:person)")


def send_notice(
    session: ScopedSession, people: Iterable[UUID | None], line: Callable[[], str], url: str
) -> None:
    """Tell people a line about the page `url` of this site. Never commits.

    `line` is made in the reader's language, which is the current one while it is called.
    """
    lines = in_both(lambda _language: line())
    for person in dict.fromkeys(people):
        if person is None or person == session.scope.user_id:
            continue
        language = session.scalar(_LANGUAGE, {"person": person})
        if language is None:
            continue
        notify(session, person, lines, url)
        address = session.scalar(select(User.email).where(User.id == person)) or ""
        link = f"{session.settings.base_url}{url}"
        with force_locale(language):
            said = line()
            body = _(
                "Hello,\n\n%(line)s\n\nHere are the details:\n%(link)s\n", line=said, link=link
            )
        queue_mail(session, address, said, body)


def list_editors(session: ScopedSession) -> list[UUID]:
    """The managers and admins of the group."""
    of_group = select(Membership.user_id).join(User, User.id == Membership.user_id)
    return list(
        session.scalars(
            of_group.where(
                Membership.group_id == session.scope.group_id,
                Membership.role.in_(EDITORS),
                User.is_active,
            ).order_by(Membership.user_id)
        )
    )
