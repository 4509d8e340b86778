"""The ledger's page: the list with its filters and totals."""

from __future__ import annotations

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from app.skills.expenses.ledger import Filters, find_expenses
from app.skills.expenses.settings import load_ledger
from app.skills.expenses.sums import sum_up
from app.web import db_session, page_number, require_role

blueprint = Blueprint("expenses", __name__, url_prefix="/expenses")


@blueprint.before_request
def people_only() -> None:
    require_role()


@blueprint.get("")
def index() -> ResponseReturnValue:
    """The expenses that this person may see."""
    session, filters = db_session(), Filters()
    return render_template(
        "expenses/index.html",
        ledger=load_ledger(session),
        balance=sum_up(session, filters),
        rows=find_expenses(session, filters, page=page_number()),
    )
