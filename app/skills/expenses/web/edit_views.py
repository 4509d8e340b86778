"""Correcting the ledger, for managers: a row becomes its form, goes away, and comes back."""

from __future__ import annotations

import json
from dataclasses import replace
from http import HTTPStatus
from uuid import UUID

from flask import make_response, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _

from app.accounts.pages import moment_in_words
from app.errors import Conflict, InvalidInput
from app.extensions import services
from app.skills.expenses.models import Expense
from app.skills.expenses.services.expenses import Row, list_deleted, load_expense
from app.skills.expenses.services.receipts import find_receipts, take_receipt
from app.skills.expenses.services.settings import EDITORS, load_ledger
from app.skills.expenses.services.transactions import bring_back, remove_expense, save_row
from app.skills.expenses.web.blueprint import blueprint
from app.skills.expenses.web.flash import told_of
from app.skills.expenses.web.form import read_row, read_typed, typed_of
from app.skills.expenses.web.presenters import (
    ExpenseForm,
    Line,
    row_context,
    view_lines,
    with_argument,
)
from app.text.bilingual import reader_language
from app.web.pages import db_session, is_htmx, next_page, require_role, wants_fragment

# What an answer to a row tells the rest of the page: the sums are others now.
CHANGED = {"HX-Trigger": json.dumps({"ledger-changed": {"target": "#sums"}})}


def _list() -> str:
    """Where to go on to: the list as it was narrowed."""
    return next_page(url_for("expenses.index"))


@blueprint.get("/<uuid:expense_id>")
def row(expense_id: UUID) -> ResponseReturnValue:
    """A row as it is, for the page whose form is closed again; else the list."""
    expense = load_expense(db_session(), expense_id)
    if not wants_fragment():
        return redirect(with_argument(_list()) + f"#expense-{expense_id}", HTTPStatus.SEE_OTHER)
    return _row(expense, focus="edit")


def _row(expense: Expense, *, focus: str = "", is_deleted: bool = False) -> str:
    """A row alone; `focus` says which of its buttons one goes on from."""
    return render_template(
        "expenses/_row.html",
        line=_line(expense),
        focus=focus,
        is_deleted=is_deleted,
        sees_all=True,
        **row_context(_list(), with_names="names" in request.values),
    )


def _line(expense: Expense) -> Line:
    session = db_session()
    [line] = view_lines(session, load_ledger(session), [expense], with_names=True)
    return line


@blueprint.get("/<uuid:expense_id>/edit")
def edit(expense_id: UUID) -> ResponseReturnValue:
    """The form of an expense: in the place of its row, or a page of its own."""
    require_role(*EDITORS)
    session = db_session()
    expense = load_expense(session, expense_id)
    file = find_receipts(session, [expense]).get(expense.id)
    return _form(
        ExpenseForm(expense.id.hex, typed_of(expense), load_ledger(session), {}, expense, file)
    )


def _form(form: ExpenseForm, error: str = "", status: int = HTTPStatus.OK) -> ResponseReturnValue:
    template = "expenses/_row_form.html" if wants_fragment() else "expenses/edit.html"
    page = render_template(
        template, form=form, error=error, here=_list(), with_names="names" in request.values
    )
    return page, status


@blueprint.post("/<uuid:expense_id>/edit")
def save(expense_id: UUID) -> ResponseReturnValue:
    """Write what was typed; where it is wrong or overtaken, show it again with what is there."""
    require_role(*EDITORS)
    session = db_session()
    form, found, status = _read_form(load_expense(session, expense_id))
    if form.errors:
        return _form(form, status=status)
    try:
        expense = save_row(session, form.ledger, expense_id, found, form.file, _version())
    except Conflict as error:
        now = _line(load_expense(session, expense_id))
        return _form(replace(form, expense=now.expense, now=now), _(error.message), error.status)
    return _after(expense, "changed", _row(expense, focus="edit"))


def _read_form(expense: Expense) -> tuple[ExpenseForm, Row, int]:
    """The form as it came, its row, and its status where it is wrong.

    A receipt that came with it waits as a temporary file.
    """
    session, typed = db_session(), read_typed(request.form)
    file, errors, status = None, {}, int(HTTPStatus.UNPROCESSABLE_ENTITY)
    name = f"receipt-{expense.id.hex}"
    try:
        file = take_receipt(session, services().files, request.form, name, expense)
    except InvalidInput as problem:
        errors["receipt"] = _(problem.message, **problem.params)
        status = problem.status
    ledger = load_ledger(session)
    known = ledger.keeping(expense.currency, expense.category)
    row, wrong = read_row(known, typed, reader_language(), file.id if file else None)
    form = ExpenseForm(expense.id.hex, typed, ledger, {**wrong, **errors}, expense, file)
    return form, row, status


def _version() -> int:
    return request.form.get("version", 0, type=int)


def _after(expense: Expense, what: str, fragment: str) -> ResponseReturnValue:
    """The row as it is now, or the list that tells what happened."""
    if is_htmx():
        return make_response(fragment, HTTPStatus.OK, CHANGED)
    return redirect(with_argument(_list(), **{what: str(expense.id)}), HTTPStatus.SEE_OTHER)


@blueprint.post("/<uuid:expense_id>/delete")
def delete(expense_id: UUID) -> ResponseReturnValue:
    """Take an expense out of the ledger, and offer to bring it back."""
    expense = remove_expense(db_session(), expense_id, request.form.get("version", type=int))
    return _after(expense, "deleted", _row(expense, focus="undo", is_deleted=True))


@blueprint.post("/<uuid:expense_id>/restore")
def restore(expense_id: UUID) -> ResponseReturnValue:
    """Bring back what was deleted."""
    expense = bring_back(db_session(), expense_id)
    return _after(expense, "restored", _row(expense, focus="edit"))


@blueprint.get("/deleted")
def deleted() -> ResponseReturnValue:
    """What was deleted lately and can be brought back."""
    session = db_session()
    found = list_deleted(session)
    lines = view_lines(session, load_ledger(session), found, with_names=True)
    return render_template(
        "expenses/deleted.html",
        lines=lines,
        told=told_of(session, request.args),
        moment_in_words=moment_in_words,
    )
