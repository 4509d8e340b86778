"""An expense on its pages: adding one, and what a photo proposes; correcting it, for managers.

A row of the ledger becomes its form, goes away, and comes back.
"""

from __future__ import annotations

import json
from dataclasses import replace
from http import HTTPStatus
from typing import Any
from uuid import UUID

from flask import flash, jsonify, make_response, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _
from flask_login import current_user

from app.accounts.form_pages import moment_in_words
from app.db import read_id
from app.errors import Conflict, InvalidInput, TooMany
from app.extensions import services
from app.files.models import StoredFile
from app.files.posted_files import allow_files
from app.skills.expenses.models import Expense
from app.skills.expenses.services.expenses import Row, list_deleted, load_expense
from app.skills.expenses.services.ledger_writes import (
    add_once,
    bring_back,
    id_of,
    remove_expense,
    save_row,
)
from app.skills.expenses.services.receipt_files import (
    LARGEST_FORM,
    find_receipts,
    load_fresh_picture,
    take_receipt,
)
from app.skills.expenses.services.receipt_reader import fill_empty, propose_from
from app.skills.expenses.services.settings import EDITORS, Ledger, load_ledger
from app.skills.expenses.web.blueprint import blueprint
from app.skills.expenses.web.flash import told_of
from app.skills.expenses.web.form import Errors, Typed, read_row, read_typed, typed_of
from app.skills.expenses.web.presenters import (
    ExpenseForm,
    Line,
    new_form,
    row_context,
    view_lines,
    with_argument,
)
from app.text.bilingual import reader_language
from app.web.issued_ids import own_id
from app.web.pages import db_session, is_htmx, next_page, require_role, wants_fragment
from app.web.rate_limits import limit_person

# What an answer to a row tells the rest of the page: the sums are others now.
CHANGED = {"HX-Trigger": json.dumps({"ledger-changed": {"target": "#sums"}})}
TAKES_FILES = ("expenses.add", "expenses.save")


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
        shown = replace(form, expense=now.expense, now=now, version=None)
        return _form(shown, _(error.message), error.status)
    except InvalidInput as error:
        session.rollback()
        found_now = load_expense(session, expense_id)
        kept = _receipt_of(found_now) if error.field == "receipt" else form.file
        shown = replace(form, expense=found_now, file=kept, errors=_in_words(error))
        return _form(shown, status=error.status)
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
        # In place of what could not be taken stands what there is: saving loses no receipt.
        file = _receipt_of(expense)
    ledger = load_ledger(session)
    known = ledger.keeping(expense.currency, expense.category)
    # What is not said is left as it is, whatever is the restaurant's own currency by now.
    typed = replace(typed, currency=typed.currency or expense.currency)
    row, wrong = read_row(known, typed, reader_language(), file.id if file else None)
    form = ExpenseForm(
        expense.id.hex, typed, ledger, {**wrong, **errors}, expense, file, version=_version()
    )
    return form, row, status


def _receipt_of(expense: Expense) -> StoredFile | None:
    return find_receipts(db_session(), [expense]).get(expense.id)


def _in_words(error: InvalidInput | TooMany) -> Errors:
    return {error.field or "form": _(error.message, **error.params)}


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
    expense = remove_expense(db_session(), expense_id, _version())
    return _after(expense, "deleted", _row(expense, focus="undo", is_deleted=True))


@blueprint.post("/<uuid:expense_id>/restore")
def restore(expense_id: UUID) -> ResponseReturnValue:
    """Bring back what was deleted."""
    expense = bring_back(db_session(), expense_id, _version())
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


@blueprint.url_value_preprocessor
def let_files_in(endpoint: str | None, _values: dict[str, Any] | None) -> None:
    """Without scripts the receipt comes with the form; reading its token reads all of it."""
    if endpoint in TAKES_FILES and current_user.is_authenticated:
        allow_files(LARGEST_FORM, most=1)


@blueprint.get("/new")
def new() -> ResponseReturnValue:
    """The form of an expense."""
    return render_template("expenses/new.html", form=new_form(load_ledger(db_session())))


@blueprint.post("/new")
@limit_person("60 per minute", "expenses")
def add() -> ResponseReturnValue:
    """Write the expense once, or show what was typed with what is wrong."""
    session, typed = db_session(), read_typed(request.form)
    ledger, key = load_ledger(session), read_id(request.form.get("key", ""))
    row, wrong = read_row(ledger, typed, reader_language(), None)
    file, errors, status = _take_new_receipt(id_of(session, row, own_id(key)) if key else None)
    row = replace(row, file_id=file.id if file else None)
    if wrong or errors or key is None:
        return _show_again(ledger, typed, {**wrong, **errors}, file), status
    try:
        expense = add_once(session, row, file, own_id(key))
    except (InvalidInput, TooMany) as error:
        session.rollback()
        kept = None if error.field == "receipt" else file
        return _show_again(ledger, typed, _in_words(error), kept), error.status
    if expense.deleted_at is not None:
        flash(_("This was added before and deleted since. Use a new form to add it again."), "warn")
    elif file is not None and expense.file_id != file.id:
        flash(_("This was added before. Its receipt stays; open the expense to change it."), "warn")
    return redirect(url_for(".index", added=expense.id), HTTPStatus.SEE_OTHER)


def _take_new_receipt(expense_id: UUID | None) -> tuple[StoredFile | None, Errors, int]:
    """The receipt that came; it waits as a temporary file whatever becomes of the form.

    A form that is sent again names what its expense, of this id, may have already. No connection
    is kept from others while a file is examined.

    Returns:
        It, why it was not taken, and the status of a form that is shown again.
    """
    status = int(HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        file = take_receipt(
            db_session(), services().files, request.form, "receipt", new_id=expense_id
        )
    except InvalidInput as error:
        return None, {"receipt": _(error.message, **error.params)}, error.status
    return file, {}, status


def _show_again(ledger: Ledger, typed: Typed, errors: Errors, file: StoredFile | None) -> str:
    """The form once more; a photo that came with it fills in what was left empty."""
    read: frozenset[str] = frozenset()
    had = set(map(read_id, request.form.getlist("v-receipt")))
    if file is not None and file.kind == "image" and file.id not in had:
        typed, read = fill_empty(typed, propose_from(file, ledger), ledger)
    errors = {name: said for name, said in errors.items() if name not in read}
    key = request.form.get("key", "") if read_id(request.form.get("key", "")) else ""
    form: ExpenseForm = new_form(ledger, key, typed=typed, errors=errors, file=file, read=read)
    return render_template("expenses/new.html", form=form)


@blueprint.post("/receipt-readings")
@limit_person("20 per minute", "receipts")
def read_receipt() -> ResponseReturnValue:
    """What a photo of a receipt says, for the fields that are empty: {fields} and {told}."""
    file_id = read_id(request.form.get("file", "")) or UUID(int=0)
    session = db_session()
    file, ledger = load_fresh_picture(session, file_id), load_ledger(session)
    proposed = propose_from(file, ledger)
    told = (
        _("Read from the receipt. Please check it.")
        if proposed
        else _("The receipt could not be read. Fill in the form yourself.")
    )
    return jsonify({"fields": proposed, "told": told})
