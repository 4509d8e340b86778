"""The ledger's list: narrowed down, summed up and drawn; its tables, and the receipts."""

from __future__ import annotations

import datetime as dt
from uuid import UUID

from flask import Response, render_template, request, send_file, stream_with_context
from flask.typing import ResponseReturnValue

from app.errors import InvalidInput, NotFound
from app.files.models import StoredFile
from app.files.storage import preview_of
from app.files.views import send_stored
from app.skills.expenses.services.expenses import count_expenses, load_expense
from app.skills.expenses.services.export import Table, write_csv
from app.skills.expenses.services.filters import Narrowed, read_narrowed
from app.skills.expenses.services.receipt_files import load_receipt
from app.skills.expenses.services.settings import EDITORS, Ledger, load_ledger
from app.skills.expenses.web.blueprint import blueprint
from app.skills.expenses.web.flash import told_of
from app.skills.expenses.web.presenters import filter_choices, ledger_context, sums_context
from app.text.bilingual import reader_language
from app.web.pages import db_session, page_number, release_session, require_role, transactions
from app.web.rate_limits import limit_person, limit_searches


def read_address() -> tuple[Ledger, Narrowed]:
    """The reader's ledger, and what the address narrows it to."""
    session = db_session()
    ledger = load_ledger(session)
    return ledger, read_narrowed(session, ledger, request.args, reader_language())


@blueprint.get("")
@limit_searches
def index() -> ResponseReturnValue:
    """The expenses that this person may see; for htmx what is narrowed, or the sums alone."""
    session = db_session()
    ledger, narrowed = read_address()
    if request.htmx.target_id == "sums":  # type: ignore[attr-defined]
        return render_template("expenses/_sums.html", **sums_context(session, ledger, narrowed))
    context = ledger_context(session, ledger, narrowed, page_number())
    if request.htmx.wants_fragment:  # type: ignore[attr-defined]
        return render_template("expenses/_ledger.html", **context)
    return render_template(
        "expenses/index.html",
        told=told_of(session, request.args),
        **context,
        **filter_choices(session, ledger),
    )


@blueprint.get("/export.csv")
@limit_person("20 per minute", "expense tables")
def export_csv() -> ResponseReturnValue:
    """The rows that the list is narrowed to, as text for any spreadsheet; for managers."""
    table = _table()
    release_session()
    response = Response(
        stream_with_context(write_csv(table)), content_type="text/csv; charset=utf-8"
    )
    response.headers.set("Content-Disposition", "attachment", filename=_file_name(table, "csv"))
    response.headers["X-Accel-Buffering"] = "no"
    return response


@blueprint.get("/export.xlsx")
@limit_person("6 per minute", "expense workbooks")
def export_xlsx() -> ResponseReturnValue:
    """The same as a workbook, with numbers that are numbers and a total by currency."""
    from app.skills.expenses.services.workbook import MOST_ROWS, write_workbook

    table = _table()
    if count_expenses(db_session(), table.filters) > MOST_ROWS:
        raise InvalidInput(
            "That is more than fits in one workbook. Filter the list, or download the CSV."
        )
    release_session()
    file = write_workbook(table)
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    name = _file_name(table, "xlsx")
    return send_file(file, kind, as_attachment=True, download_name=name)


def _table() -> Table:
    require_role(*EDITORS)
    ledger, narrowed = read_address()
    return Table(transactions(), ledger, narrowed.filters, reader_language())


def _file_name(table: Table, ending: str) -> str:
    """ "expenses-2026-11-01-to-2026-11-30.csv"; the day of today where no time was named."""
    filters, today = table.filters, table.ledger.today
    if filters.start is None and filters.end is None:
        return f"expenses-until-{today.isoformat()}.{ending}"
    last = filters.end - dt.timedelta(days=1) if filters.end else today
    since = f"{filters.start.isoformat()}-to" if filters.start else "until"
    return f"expenses-{since}-{last.isoformat()}.{ending}"


@blueprint.get("/<uuid:expense_id>/receipt")
def receipt(expense_id: UUID) -> ResponseReturnValue:
    """The receipt of an expense that this person may see: a picture to look at, else to save."""
    file = _load_receipt(expense_id)
    is_picture = file.kind == "image"
    return send_stored(file.key, file.media_type, file.name, as_attachment=not is_picture)


@blueprint.get("/<uuid:expense_id>/receipt/preview")
def receipt_preview(expense_id: UUID) -> ResponseReturnValue:
    """A small picture of the receipt."""
    file = _load_receipt(expense_id)
    if file.kind != "image":
        raise NotFound("This expense has no receipt, or it is not yours.")
    return send_stored(preview_of(file.key), file.media_type, as_attachment=False)


def _load_receipt(expense_id: UUID) -> StoredFile:
    session = db_session()
    return load_receipt(session, load_expense(session, expense_id))
