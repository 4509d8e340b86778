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
from app.extensions import limiter, services
from app.files.models import StoredFile
from app.skills.expenses.blueprint import blueprint, person_asking, reader_language
from app.skills.expenses.pages import ExpenseForm, new_form
from app.skills.expenses.receipt_reading import fill_empty, propose_from
from app.skills.expenses.receipts import LARGEST_FORM, load_fresh_picture, take_receipt
from app.skills.expenses.saving import add_once
from app.skills.expenses.settings import Ledger, load_ledger
from app.skills.expenses.typed import Errors, Typed, read_row, read_typed
from app.web import db_session

TAKES_FILES = ("expenses.add", "expenses.save")


@blueprint.url_value_preprocessor
def let_files_in(endpoint: str | None, _values: dict[str, Any] | None) -> None:
    """Without scripts the receipt comes with the form; reading its token reads all of it."""
    if endpoint in TAKES_FILES and current_user.is_authenticated:
        request.max_content_length = LARGEST_FORM


@blueprint.get("/new")
def new() -> ResponseReturnValue:
    """The form of an expense."""
    return render_template("expenses/new.html", form=new_form(load_ledger(db_session())))


@blueprint.post("/new")
@limiter.limit("60 per minute", key_func=person_asking)
def add() -> ResponseReturnValue:
    """Write the expense once, or show what was typed with what is wrong."""
    session, typed = db_session(), read_typed(request.form)
    ledger, key = load_ledger(session), read_id(request.form.get("key", ""))
    file, errors = _take_receipt()
    row, wrong = read_row(ledger, typed, reader_language(), file.id if file else None)
    if wrong or errors or key is None:
        return _show_again(ledger, typed, {**wrong, **errors}, file)
    expense = add_once(session, row, file, key)
    return redirect(url_for(".index", added=expense.id), HTTPStatus.SEE_OTHER)


def _take_receipt() -> tuple[StoredFile | None, Errors]:
    """The receipt that came; it waits as a temporary file whatever becomes of the form."""
    session = db_session()
    try:
        file = take_receipt(session, services().files, request.form, request.files, "receipt")
    except InvalidInput as error:
        session.rollback()
        return None, {"receipt": _(error.message, **error.params)}
    session.commit()
    return file, {}


def _show_again(
    ledger: Ledger, typed: Typed, errors: Errors, file: StoredFile | None
) -> ResponseReturnValue:
    """The form once more; a photo that came with it fills in what was left empty."""
    read: frozenset[str] = frozenset()
    is_new_photo = any(each.filename for each in request.files.values())
    if file is not None and file.kind == "image" and is_new_photo:
        typed, read = fill_empty(typed, propose_from(file, ledger), ledger)
    errors = {name: said for name, said in errors.items() if name not in read}
    key = request.form.get("key", "") if read_id(request.form.get("key", "")) else ""
    form: ExpenseForm = new_form(ledger, key, typed=typed, errors=errors, file=file, read=read)
    return render_template("expenses/new.html", form=form), HTTPStatus.UNPROCESSABLE_ENTITY


@blueprint.post("/receipt-readings")
@limiter.limit("20 per minute", key_func=person_asking)
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
