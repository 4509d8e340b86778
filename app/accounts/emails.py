"""The messages that accounts send, each in the language of whoever reads it."""

from __future__ import annotations

from dataclasses import dataclass

from flask_babel import force_locale
from flask_babel import gettext as _


@dataclass(frozen=True)
class Letter:
    subject: str
    body: str


def invitation(language: str, group: str, inviter: str, link: str, days: int) -> Letter:
    with force_locale(language):
        return Letter(
            _("%(inviter)s invites you to %(group)s on Comanda", inviter=inviter, group=group),
            _(
                "Hello,\n\n%(inviter)s invites you to join %(group)s on Comanda, the "
                "restaurant's assistant. Open this link to accept; it works once, for "
                "%(days)s days:\n\n%(link)s\n\nIf you don't know %(inviter)s, you can ignore "
                "this message.\n",
                inviter=inviter,
                group=group,
                link=link,
                days=days,
            ),
        )


def password_reset(language: str, name: str, link: str, minutes: int) -> Letter:
    with force_locale(language):
        return Letter(
            _("A new password for Comanda"),
            _(
                "Hello %(name)s,\n\nSomebody asked for a new password for this address. If "
                "it was you, choose it here; the link works once, for %(minutes)s "
                "minutes:\n\n%(link)s\n\nIf it wasn't you, nothing has changed and you don't "
                "need to do anything.\n",
                name=name,
                link=link,
                minutes=minutes,
            ),
        )


def password_changed(language: str, name: str) -> Letter:
    with force_locale(language):
        return Letter(
            _("Your Comanda password was changed"),
            _(
                "Hello %(name)s,\n\nYour password was just changed. Every other device was "
                "signed out, and your API tokens no longer work. If it wasn't you, ask "
                "for a new password on the sign-in page and tell a manager.\n",
                name=name,
            ),
        )
