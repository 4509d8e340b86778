"""Adding an expense on a page: the form, what is wrong with it, and what a photo proposes."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from uuid import UUID

from flask import jsonify, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _
from flask_login import current_user

from app.db import read_id
from app.errors import InvalidInput
from app.extensions import limit_person, services
from app.files.models import StoredFile
from app.files.posted_files import allow_files
from app.skills.expenses.services.receipt_reader import fill_empty, propose_from
from app.skills.expenses.services.receipts import LARGEST_FORM, load_fresh_picture, take_receipt
from app.skills.expenses.services.settings import Ledger, load_ledger
from app.skills.expenses.services.transactions import add_once
from app.skills.expenses.web.blueprint import blueprint
from app.skills.expenses.web.form import Errors, Typed, read_row, read_typed
from app.skills.expenses.web.presenters import ExpenseForm, new_form
from app.text.bilingual import reader_language
from app.web.issued_ids import own_id
from app.web.pages import db_session

TAKES_FILES = ("expenses.add", "expenses.save")


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
    # First of all: no connection is kept from others while a file is examined.
    file, errors, status = _take_receipt()
    ledger, key = load_ledger(session), read_id(request.form.get("key", ""))
    row, wrong = read_row(ledger, typed, reader_language(), file.id if file else None)
    if wrong or errors or key is None:
        return _show_again(ledger, typed, {**wrong, **errors}, file), status
    expense = add_once(session, row, file, own_id(key))
    return redirect(url_for(".index", added=expense.id), HTTPStatus.SEE_OTHER)


def _take_receipt() -> tuple[StoredFile | None, Errors, int]:
    """The receipt that came; it waits as a temporary file whatever becomes of the form.

    Returns:
        It, why it was not taken, and the status of a form that is shown again.
    """
    status = int(HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        file = take_receipt(db_session(), services().files, request.form, "receipt")
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
