"""Where the pages of the ledger hang, and what their templates ask."""

from __future__ import annotations

from decimal import Decimal

from flask import Blueprint
from flask_babel import get_locale

from app.amounts import format_amount
from app.web import require_role

blueprint = Blueprint("expenses", __name__, url_prefix="/expenses")


@blueprint.before_request
def people_only() -> None:
    require_role()


def reader_language() -> str:
    return str(get_locale())


@blueprint.app_template_filter()
def money(amount: Decimal, currency: str) -> str:
    """`{{ amount|money(currency) }}`: an amount as the reader's language writes it."""
    return format_amount(amount, currency, reader_language())
