"""Where the pages of the ledger hang, and what their templates ask."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from functools import lru_cache

from babel.dates import format_date
from flask import Blueprint

from app.text.bilingual import reader_language
from app.text.money import format_amount
from app.web.pages import require_role

blueprint = Blueprint("expenses", __name__, url_prefix="/expenses")
# A page writes some hundred amounts and days, and the next page many of them again.
_amount = lru_cache(maxsize=8192)(format_amount)


@blueprint.before_request
def people_only() -> None:
    require_role()


@blueprint.app_template_filter()
def money(amount: Decimal, currency: str) -> str:
    """`{{ amount|money(currency) }}`: an amount as the reader's language writes it."""
    return _amount(amount, currency, reader_language())


@blueprint.app_template_filter()
def day_in_words(date: dt.date) -> str:
    """`{{ date|day_in_words }}`: "Nov 20, 2026", as the reader's language writes it."""
    return in_words(date, "medium", reader_language())


@lru_cache(maxsize=8192)
def in_words(date: dt.date, pattern: str, language: str) -> str:
    """A day or a month after a pattern."""
    return str(format_date(date, pattern, locale=language))
