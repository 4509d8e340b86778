"""What the templates of the ledger are given: the list, its sums and charts, and a form."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from flask import url_for
from flask_babel import gettext as _

from app.db import ScopedSession, new_id
from app.extensions import services
from app.files.field_rules import UploadRules, upload_rules
from app.files.models import StoredFile
from app.files.presenters import FileView, file_view
from app.skills.expenses.models import Expense
from app.skills.expenses.services.expenses import PAGE, find_expenses, may_see_all
from app.skills.expenses.services.filters import MINE, Narrowed, about
from app.skills.expenses.services.people import list_people, names_of
from app.skills.expenses.services.receipt_files import KINDS, find_receipts
from app.skills.expenses.services.settings import Ledger
from app.skills.expenses.services.sums import Balance, sum_up
from app.skills.expenses.web.blueprint import in_words
from app.skills.expenses.web.form import Errors, Typed
from app.text.bilingual import reader_language
from app.web.charts import Bar, Columns, columns, stretch

Choices = list[tuple[str, str]]


MOST_MONTHS = 24


@dataclass(frozen=True)
class Line:
    """An expense as the list draws it; `who` is empty where all are one's own."""

    expense: Expense
    category: str
    who: str = ""
    receipt: FileView | None = None


class Told(NamedTuple):
    """What has just happened to an expense, and what can be done about it."""

    kind: str
    expense: Expense


def view_lines(
    session: ScopedSession, ledger: Ledger, expenses: Sequence[Expense], *, with_names: bool
) -> list[Line]:
    """Expenses with the names of their categories and people, and their receipts."""
    names = names_of(session, [each.user_id for each in expenses]) if with_names else {}
    receipts = find_receipts(session, expenses)
    language = reader_language()
    return [
        Line(
            each,
            ledger.name_of(each.category, language),
            (names.get(each.user_id) or _("Former colleague")) if with_names else "",
            file_view(receipts[each.id]) if each.id in receipts else None,
        )
        for each in expenses
    ]


def sums_context(session: ScopedSession, ledger: Ledger, narrowed: Narrowed) -> dict[str, Any]:
    """The totals and the charts, and which rows they are of."""
    balance, language = sum_up(session, narrowed.filters), reader_language()
    return {
        "about": about(session, ledger, narrowed, language),
        "count": balance.count,
        "totals": balance.totals(),
        "drawn": draw_charts(balance, ledger, language),
        "narrowed": narrowed,
        "here": _address(narrowed),
    }


def ledger_context(
    session: ScopedSession, ledger: Ledger, narrowed: Narrowed, page: int
) -> dict[str, Any]:
    """A page of the list, with what is said above it."""
    context = sums_context(session, ledger, narrowed)
    expenses = find_expenses(session, narrowed.filters, page=page)
    sees_all = may_see_all(session)

    def turned(number: int) -> str:
        return _address(narrowed, page=number)

    with_names = sees_all and narrowed.filters.user_id is None
    return {
        **context,
        "lines": view_lines(session, ledger, expenses, with_names=with_names),
        "sees_all": sees_all,
        "newer": turned(page - 1) if page > 1 else "",
        "older": turned(page + 1) if page * PAGE < context["count"] else "",
        **row_context(turned(page) if page > 1 else context["here"], with_names=with_names),
        "quick": _quick(narrowed),
    }


def row_context(here: str, *, with_names: bool) -> dict[str, Any]:
    """What rows need besides their expense, made once for all of them.

    `ways` is what their addresses end in, so that each leads back to the list as it is.
    """
    return {
        "here": here,
        "with_names": with_names,
        "home": url_for("expenses.index"),
        "ways": urlencode({"next": here, **({"names": 1} if with_names else {})}),
        "said": {"edit": _("Edit"), "delete": _("Delete")},
    }


def _address(narrowed: Narrowed, **more: Any) -> str:
    """The address of this list; None among `more` leaves an argument out."""
    arguments: dict[str, Any] = {**narrowed.typed, **more}
    return url_for("expenses.index", **arguments)


def _quick(narrowed: Narrowed) -> list[tuple[str, str, bool]]:
    """The times that are asked for most: their words, where they lead, and whether they are on."""
    said = narrowed.typed.get("range", "").casefold()
    anytime = {"range": None, "start": None, "end": None}
    words = [_("today"), _("this week"), _("this month"), _("last month")]
    found = [
        (each, _address(narrowed, **{**anytime, "range": each}), said == each.casefold())
        for each in words
    ]
    is_all = narrowed.period is None and not said
    return [(_("any time"), _address(narrowed, **anytime), is_all), *found]


def filter_choices(session: ScopedSession, ledger: Ledger) -> dict[str, Choices]:
    """What the list can be narrowed to."""
    language = reader_language()
    categories = [
        (each["slug"], ledger.name_of(each["slug"], language)) for each in ledger.categories
    ]
    whose = [(MINE, _("Mine"))]
    if may_see_all(session):
        own = session.scope.user_id
        others = [(str(id_), name) for id_, name in list_people(session) if id_ != own]
        whose = [("", _("Everybody")), *whose, *others]
    return {
        "categories": [("", _("All categories")), *categories],
        "currencies": [("", _("All currencies")), *((code, code) for code in ledger.currencies)],
        "people": whose,
    }


@dataclass(frozen=True)
class ReceiptField:
    """The field of the receipt, as the templates of file fields take theirs."""

    name: str
    required: bool = False

    @property
    def label(self) -> ReceiptField:
        return self

    def text(self, _language: str) -> str:
        return _("Receipt")

    @property
    def rules(self) -> UploadRules:
        return upload_rules(self.name, KINDS)


@dataclass(frozen=True)
class ExpenseForm:
    """The form of an expense, new or kept, with what was typed and what is wrong with it.

    `read` names the fields that were filled in from the receipt; `now` is what stands there
    where somebody else has changed it meanwhile. `version` is the one that the form was opened
    with, where it comes back: what was not shown is not saved over.
    """

    key: str
    typed: Typed
    ledger: Ledger
    errors: Errors = field(default_factory=dict)
    expense: Expense | None = None
    file: StoredFile | None = None
    read: frozenset[str] = frozenset()
    now: Line | None = None
    version: int | None = None

    @property
    def receipt(self) -> ReceiptField:
        return ReceiptField("receipt" if self.expense is None else f"receipt-{self.key}")

    @property
    def files(self) -> list[FileView]:
        return [file_view(self.file)] if self.file else []

    @property
    def reads_receipts(self) -> bool:
        """Whether a photo of a receipt fills in what is empty: of a new expense alone."""
        return self.expense is None and bool(services().settings.ai_vision_model)

    @property
    def currencies(self) -> Choices:
        codes = self._known.currencies
        return [(code, code) for code in codes] if len(codes) > 1 else []

    @property
    def currency(self) -> str:
        """What the amount is in: the page carries it, though there is nothing to choose."""
        chosen = self.typed.currency
        return chosen if chosen in self._known.currencies else self.ledger.currency

    @property
    def categories(self) -> Choices:
        language = reader_language()
        guessed = [("", _("Choose it for me"))] if self.expense is None else []
        named = [
            (each["slug"], self.ledger.name_of(each["slug"], language))
            for each in self._known.offered
        ]
        return [*guessed, *named]

    @property
    def _known(self) -> Ledger:
        """With what the expense has, though it is not offered any more."""
        if self.expense is None:
            return self.ledger
        return self.ledger.keeping(self.expense.currency, self.expense.category)


def new_form(ledger: Ledger, key: str = "", **facts: Any) -> ExpenseForm:
    """The form of an expense that is not written yet; its key makes it be written once."""
    begun = Typed(currency=ledger.currency, date=ledger.today.isoformat())
    return ExpenseForm(key or str(new_id()), facts.pop("typed", begun), ledger, **facts)


def with_argument(address: str, **more: str) -> str:
    """An address of ours with further arguments."""
    parts = urlsplit(address)
    kept = [(name, value) for name, value in parse_qsl(parts.query) if name not in more]
    return urlunsplit(parts._replace(query=urlencode([*kept, *more.items()])))


@dataclass(frozen=True)
class Share:
    """A category with its sum, and its bar beside the largest."""

    name: str
    total: Decimal
    bar: Bar


@dataclass(frozen=True)
class Month:
    """A month with its sum; one in which nothing was spent has its place, too."""

    name: str
    total: Decimal


@dataclass(frozen=True)
class Charts:
    """What is drawn of one currency, and told in tables; one month alone is no chart."""

    currency: str
    total: Decimal
    categories: tuple[Share, ...]
    months: tuple[Month, ...]
    columns: Columns
    is_cut: bool

    @property
    def most(self) -> Decimal:
        return max((each.total for each in self.months), default=Decimal(0))


def draw_charts(balance: Balance, ledger: Ledger, language: str) -> list[Charts]:
    """The charts of each currency, the largest sum first; amounts are never added across them."""
    return [
        _draw_currency(balance, code, total, ledger, language)
        for code, total in balance.totals().items()
    ]


def _draw_currency(
    balance: Balance, code: str, total: Decimal, ledger: Ledger, language: str
) -> Charts:
    by_category = balance.by_category(code)
    largest = float(max(by_category.values(), default=0))
    shares = tuple(
        Share(ledger.name_of(slug, language), amount, stretch(0, float(amount), largest))
        for slug, amount in by_category.items()
    )
    by_month = balance.by_month(code)
    every = _every_month(min(by_month), max(by_month))
    shown = every[-MOST_MONTHS:]
    amounts = [by_month.get(month, Decimal(0)) for month in shown]
    now = ledger.today.replace(day=1)
    marked = [
        (float(a), float(a) if m == now else 0.0) for m, a in zip(shown, amounts, strict=True)
    ]
    months = tuple(
        Month(_month_name(month, short=len(shown) > 1), amount)
        for month, amount in zip(shown, amounts, strict=True)
    )
    return Charts(code, total, shares, months, columns(marked), len(every) > len(shown))


def _every_month(first: dt.date, last: dt.date) -> list[dt.date]:
    """The months from one to the other, those in between in which nothing was spent with them."""
    count = (last.year - first.year) * 12 + last.month - first.month + 1
    months = (divmod(first.month - 1 + step, 12) for step in range(count))
    return [dt.date(first.year + years, month + 1, 1) for years, month in months]


def _month_name(month: dt.date, *, short: bool) -> str:
    return in_words(month, "MMM y" if short else "MMMM y", reader_language())
