"""Numbers as people read them, in the page's language; a dash for what is not known."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from babel.numbers import format_currency
from flask_babel import format_date, format_time
from flask_babel import gettext as _
from flask_login import current_user

from app.text.bilingual import reader_language
from app.text.numbers import NUMBER_LOCALES, figures

NOT_KNOWN = "—"
SECOND = 1000
SHORT_NUMBER = 1000
TENTHS_BELOW = 10
# Below this, a tenth of a cent still means something.
SMALL_AMOUNT = Decimal("0.1")


def number(value: int | None) -> str:
    if value is None:
        return NOT_KNOWN
    # Written alike in all our languages, and ten times as fast: pages have hundreds of them.
    return str(value) if 0 <= value < SHORT_NUMBER else figures(value)


def share(part: int, whole: int) -> str:
    """`part` of `whole` in percent; to a tenth where that is less than ten."""
    if not whole:
        return NOT_KNOWN
    percent = part / whole * 100
    digits = 1 if percent < TENTHS_BELOW else 0
    return _("%(number)s%%", number=figures(round(percent, digits)))


def duration(milliseconds: int | None) -> str:
    """Milliseconds up to a second, seconds to a tenth after that."""
    if milliseconds is None:
        return NOT_KNOWN
    if milliseconds < SECOND:
        return f"{milliseconds} ms"
    return f"{figures(milliseconds / SECOND, '#,##0.0')} s"


def dollars(amount: Decimal | None) -> str:
    if amount is None:
        return NOT_KNOWN
    if Decimal(0) < amount < SMALL_AMOUNT:
        return f"{figures(amount, '0.0000')} USD"
    return format_currency(amount, "USD", locale=NUMBER_LOCALES[reader_language()])


def day(value: date) -> str:
    return format_date(value, "medium")


def moment(value: datetime) -> str:
    """Day and time, in the group's zone."""
    local = value.astimezone(current_user.zone)
    return f"{format_date(local.date(), 'medium')}, {format_time(value, 'medium')}"
