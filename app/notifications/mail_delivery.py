"""Mail of the outbox, sent by the jobs process.

Without SMTP_HOST a message's address and link are written to the log, so that a restaurant
without a mail server can still invite people; its subject and text are not. A message is
never sent twice: just before its text goes to the server it is marked as handed over, and what
happens to it after that without a clear answer is not tried again.
"""

from __future__ import annotations

import smtplib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from email.errors import MessageError
from email.message import EmailMessage
from email.policy import SMTPUTF8
from email.utils import format_datetime
from itertools import takewhile
from time import monotonic
from uuid import UUID

import structlog
from email_validator import EmailNotValidError, validate_email
from sqlalchemy import text

from app.config import Settings
from app.db import Database, new_id, utc_now
from app.notifications.mail_connection import MailServer, connect
from app.text.plain_text import clean_line

MOST_ATTEMPTS = 7
# A claim is one's own for two minutes, which the minute of one letter fits into.
OWN_SECONDS = 100.0
FIRST_WAIT = timedelta(seconds=30)

# How an encoded word begins, and a word joiner.
_ENCODED, _UNSEEN = "=?", "\u2060"

log = structlog.get_logger()


class NotDelivered(Exception):
    """The message is certainly not on its way; `worth_retrying` unless it was refused for good."""

    def __init__(self, reason: str, *, worth_retrying: bool) -> None:
        super().__init__(reason)
        self.worth_retrying = worth_retrying


class _LeftAlone(Exception):
    """The message is somebody else's by now."""


@dataclass(frozen=True)
class _Waiting:
    id: UUID
    to_address: str
    subject: str
    body: str
    attempts: int
    claimed_at: float


def send_waiting_mail(database: Database, settings: Settings, most: int = 20) -> int:
    """Send what is due, at most `most` messages; return how many went out.

    Any number of processes may do this at once: each message is claimed by one.
    """
    waiting = takewhile(bool, (_claim(database) for _ in range(most)))
    return sum(_send(database, settings, message) for message in waiting if message)


def _claim(database: Database) -> _Waiting | None:
    """The next that is due: what somebody waits for to get in first, then the longest due.

    One at a time: while it is sent, whatever else is claimed would become another's.
    """
    now = monotonic()
    with database.transaction() as session:
        row = session.execute(text("SELECT * FROM claim_mail(1)")).one_or_none()
        return _Waiting(**row._mapping, claimed_at=now) if row else None


def forget_old_mail(database: Database) -> None:
    """Remove messages older than 30 days; the last attempt is made within three."""
    _call(database, "forget_old_mail()")


def deliver(
    settings: Settings,
    to: str,
    subject: str,
    body: str,
    *,
    message_id: UUID | None = None,
    hand_over: Callable[[], bool] = lambda: True,
) -> None:
    """Send one message by SMTP, or write its address and link to the log without a server.

    `hand_over` is called last thing before the message's text goes to the server; when it
    returns False the message is somebody else's by now and is left alone.

    Raises:
        NotDelivered: certainly not sent.
        OSError, smtplib.SMTPException: the server went away, before `hand_over` or after.
    """
    if settings.smtp_host is None:
        if hand_over():
            # A warning, so that a quiet log level does not swallow somebody's way in. What the
            # letter says may be what somebody wrote, which is no business of the log's.
            link = _link_in(body, settings.base_url)
            log.warning("mail, as SMTP_HOST is not set", mail=str(message_id), to=to, link=link)
        return
    message = _compose(settings, to, subject, body, message_id or new_id())
    with connect(settings, settings.smtp_host) as server, suppress(_LeftAlone):
        _hand_to(server, message, hand_over)


def _link_in(body: str, site: str) -> str:
    """The link of ours that stands on a line of its own; empty when there is none."""
    ours = (line for line in body.splitlines() if line.startswith(f"{site}/"))
    return next((line for line in ours if " " not in line), "")


def _send(database: Database, settings: Settings, message: _Waiting) -> bool:
    """One claimed message: sent, put off, or left alone because nobody knows."""
    handed_over = False

    def hand_over() -> bool:
        nonlocal handed_over
        handed_over = bool(_call(database, "hand_over_mail(:id)", id=message.id))
        return handed_over

    try:
        deliver(
            settings,
            message.to_address,
            message.subject,
            message.body,
            message_id=message.id,
            hand_over=hand_over,
        )
    except Exception as error:  # noqa: BLE001 - one letter must not keep the others waiting
        _note_failure(database, message, error, unsure=handed_over)
        return False
    if handed_over:
        _call(database, "mail_was_sent(:id)", id=message.id)
    return handed_over


def _note_failure(database: Database, message: _Waiting, error: Exception, *, unsure: bool) -> None:
    """Put the message off, or leave it for good when it may have been sent.

    Where it took so long to get to the server that it is somebody else's by now, they may be
    sending it: it is left to them.
    """
    if not unsure and monotonic() - message.claimed_at > OWN_SECONDS:
        log.warning("mail not sent", mail=str(message.id), error=type(error).__name__, again=True)
        return
    again = error.worth_retrying if isinstance(error, NotDelivered) else not unsure
    again = again and message.attempts < MOST_ATTEMPTS
    next_try = utc_now() + FIRST_WAIT * 4 ** (message.attempts - 1) if again else None
    reason = clean_line(_sayable(f"{type(error).__name__}: {error}"))[:300]
    # A server's complaint names addresses; it is kept with the letter, and not in the log.
    code = getattr(error, "smtp_code", None)
    log.warning(
        "mail not sent", mail=str(message.id), error=type(error).__name__, code=code, again=again
    )
    _call(
        database, "mail_failed(:id, :reason, :next_try)",
        id=message.id, reason=reason, next_try=next_try,
    )  # fmt: skip


def _call(database: Database, door: str, **arguments: object) -> object:
    with database.transaction() as session:
        return session.scalar(text(f"SELECT {door}"), arguments)


def _compose(
    settings: Settings, to: str, subject: str, body: str, message_id: UUID
) -> EmailMessage:
    """A message as it is sent.

    Raises:
        NotDelivered: it holds what no mail can say.
    """
    message = EmailMessage()
    try:
        if _ENCODED in to:
            raise ValueError("the address is not one")
        message["From"] = settings.mail_from
        message["To"] = _as_sent(to)
        # What people wrote is not decoded: line breaks in it would begin headers of their own
        # (before Python 3.12.5). A sign that nobody sees keeps it from being taken for encoded.
        message["Subject"] = " ".join(_sayable(subject).split()).replace(_ENCODED, f"={_UNSEEN}?")
        message["Date"] = format_datetime(utc_now())
        # The same on every attempt, so that a mailbox can recognise a repetition.
        message["Message-ID"] = f"<{message_id}@{settings.mail_from.rpartition('@')[2]}>"
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(_sayable(body))
        message.as_bytes(policy=SMTPUTF8)
    except (ValueError, LookupError, MessageError) as error:
        raise NotDelivered(f"cannot be written: {error}", worth_retrying=False) from error
    return message


def _as_sent(address: str) -> str:
    """An address with its domain as every mail server takes it; names beyond ASCII stay."""
    try:
        checked = validate_email(address, check_deliverability=False)
    except EmailNotValidError:
        return address
    return checked.ascii_email or address


def _sayable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _hand_to(server: MailServer, message: EmailMessage, hand_over: Callable[[], bool]) -> None:
    """Send, telling a refusal (which is certain) from a silence (which is not)."""

    def before_text() -> None:
        if not hand_over():
            raise _LeftAlone

    server.before_text = before_text
    try:
        server.send_message(message)
    except smtplib.SMTPRecipientsRefused as error:
        codes = [code for code, _words in error.recipients.values()]
        raise NotDelivered(str(error), worth_retrying=all(map(_passing, codes))) from error
    except smtplib.SMTPResponseException as error:
        raise NotDelivered(str(error), worth_retrying=_passing(error.smtp_code)) from error


def _passing(code: int) -> bool:
    """SMTP: 4xx is "not now", 5xx is "not at all"."""
    return code < 500
