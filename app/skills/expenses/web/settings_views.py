"""The ledger's settings, for admins: which currencies and which categories it has."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus

from babel.numbers import get_currency_name
from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _

from app.accounts.audit import record
from app.errors import ComandaError, Conflict, InvalidInput
from app.skills.expenses.services.settings import load_ledger, save_settings
from app.skills.expenses.web.blueprint import blueprint
from app.skills.expenses.web.settings_form import (
    Work,
    act,
    categories_of,
    read_work,
    without_empty,
    work_of,
)
from app.text.bilingual import reader_language
from app.text.currencies import CODES
from app.web.pages import db_session, is_htmx, require_role, wants_fragment


@blueprint.get("/settings")
def settings() -> ResponseReturnValue:
    """What the ledger offers, to be changed."""
    require_role("admin")
    return _page(work_of(load_ledger(db_session())))


@blueprint.post("/settings")
def save_ledger() -> ResponseReturnValue:
    """Do what the pressed button does; where that is saving, save or say what is wrong."""
    require_role("admin")
    work, do = read_work(request.form), request.form.get("do", "save")
    if do not in ("save", "overwrite"):
        return _page(act(work, do))
    work = without_empty(work)
    try:
        _save(work, over=do == "overwrite")
    except (InvalidInput, Conflict) as error:
        db_session().rollback()
        return _page(replace(work, is_unsaved=True), error)
    told = _("The settings are saved.")
    if is_htmx():
        return _page(work_of(load_ledger(db_session())), told=told)
    flash(told)
    return redirect(url_for(".settings"), HTTPStatus.SEE_OTHER)


def _save(work: Work, *, over: bool) -> None:
    """Write and commit it; `over` what somebody else has saved, where that was looked at."""
    session = db_session()
    version = request.form.get("latest", 0, type=int) if over else work.version
    home = load_ledger(session).currency
    others = [code for code in work.currencies if code != home]
    save_settings(session, others, categories_of(work), version)
    record(session, "expense.settings")
    session.commit()


def _page(work: Work, error: ComandaError | None = None, told: str = "") -> ResponseReturnValue:
    """The page, or what is worked on alone; `error` stands at its row where it has one."""
    ledger, language = load_ledger(db_session()), reader_language()
    names = [(code, str(get_currency_name(code, locale=language))) for code in sorted(CODES)]
    message = _(error.message, **error.params) if error else ""
    kind, _dot, number = (error.field or "" if error else "").partition(".")
    wrong = int(number) if kind == "categories" and number.isdecimal() else None
    page = render_template(
        "expenses/_settings.html" if wants_fragment() else "expenses/settings.html",
        work=work,
        home=ledger.currency,
        latest=ledger.version,
        names=names,
        is_overtaken=isinstance(error, Conflict),
        wrong=wrong,
        message=message,
        told=told,
    )
    return page, error.status if error else HTTPStatus.OK
