"""The charts of a balance: what was spent by category and by month, currency by currency."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal

from app.skills.expenses.services.settings import Ledger
from app.skills.expenses.services.sums import Balance
from app.skills.expenses.web.blueprint import in_words
from app.text.bilingual import reader_language
from app.web.charts import Bar, Columns, columns, stretch

MOST_MONTHS = 24


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


def draw(balance: Balance, ledger: Ledger, language: str) -> list[Charts]:
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
        Month(_name(month, short=len(shown) > 1), amount)
        for month, amount in zip(shown, amounts, strict=True)
    )
    return Charts(code, total, shares, months, columns(marked), len(every) > len(shown))


def _every_month(first: dt.date, last: dt.date) -> list[dt.date]:
    """The months from one to the other, those in between in which nothing was spent with them."""
    count = (last.year - first.year) * 12 + last.month - first.month + 1
    months = (divmod(first.month - 1 + step, 12) for step in range(count))
    return [dt.date(first.year + years, month + 1, 1) for years, month in months]


def _name(month: dt.date, *, short: bool) -> str:
    return in_words(month, "MMM y" if short else "MMMM y", reader_language())
