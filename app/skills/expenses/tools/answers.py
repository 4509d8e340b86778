"""What the ledger answers: a balance or a list, in words, for a model, and as a part."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from flask_babel import gettext as _
from flask_babel import ngettext

from app.assistant.tools.tool import ToolFailure, ToolResult
from app.db import ScopedSession
from app.periods import Period, period_words
from app.periods.period import BEGINNING, END
from app.skills.expenses.models import Expense
from app.skills.expenses.parts import ExpenseListPart, ListedExpense, ListedSum
from app.skills.expenses.services.expenses import Filters, find_expenses, may_see_all
from app.skills.expenses.services.people import names_of
from app.skills.expenses.services.settings import Ledger
from app.skills.expenses.services.sums import Balance, sum_up
from app.skills.expenses.services.times import read_time
from app.skills.expenses.texts import listed
from app.skills.expenses.tools.arguments import BalanceArguments, ListArguments
from app.text.bilingual import in_both
from app.text.money import amount_words
from app.web.links import Link

LISTED = 10
SAID_CATEGORIES = 3


def answer_balance(
    session: ScopedSession, ledger: Ledger, said: BalanceArguments, category: str, language: str
) -> ToolResult:
    """How much was spent: {total, count, by_category} and a sentence that says of whom."""
    asked, balance, say = _look(session, ledger, said, category, language)
    if balance.count and not category:
        say = f"{say} {asked.most_in_words(balance)}".strip()
    payload = {**asked.facts(balance), "results": []}
    return ToolResult(payload, parts=[asked.part(balance, [])] if balance.count else [], say=say)


def answer_list(
    session: ScopedSession, ledger: Ledger, said: ListArguments, category: str, language: str
) -> ToolResult:
    """A page of the expenses, their total, and a sentence that says of whom."""
    asked, balance, say = _look(session, ledger, said, category, language)
    rows = find_expenses(session, asked.filters, page=said.page, size=LISTED)
    part = asked.part(balance, rows)
    payload = {
        **asked.facts(balance),
        "page": said.page,
        "pages": -(-balance.count // LISTED),
        "results": [_result(row) for row in part.rows],
    }
    return ToolResult(payload, parts=[part] if rows else [], say=say)


def _look(
    session: ScopedSession, ledger: Ledger, said: BalanceArguments, category: str, language: str
) -> tuple[_Asked, Balance, str]:
    """What was asked for, its balance and that in words; where no item has the words, all others.

    How people ask has words of many kinds, and with a wrong one nothing is found.
    """
    asked = _Asked(session, ledger, said, category, language)
    balance = sum_up(session, asked.filters)
    say = asked.total_in_words(balance)
    if balance.count or not said.matching:
        return asked, balance, say
    whole = said.model_copy(update={"matching": None})
    asked, balance, of_all = _look(session, ledger, whole, category, language)
    return asked, balance, f"{say} {of_all}" if balance.count else of_all


class _Asked:
    """One question to the ledger: which rows it is about, and how that is said."""

    def __init__(
        self,
        session: ScopedSession,
        ledger: Ledger,
        said: BalanceArguments,
        category: str,
        language: str,
    ) -> None:
        self.session, self.ledger, self.language = session, ledger, language
        self.period = _period(said.range, language, ledger)
        self.is_own = said.mine or not may_see_all(session)
        self.filters = Filters(
            start=self.period.start if self.period and self.period.start > BEGINNING else None,
            end=self.period.end if self.period and self.period.end < END else None,
            category=category,
            currency=said.currency or "",
            user_id=session.scope.user_id if self.is_own else None,
            words=said.matching or "",
        )

    def when(self, language: str) -> str:
        return period_words(self.period, language, self.ledger.today) if self.period else ""

    def about(self, language: str) -> str:
        """ "Your expenses, last month, Cleaning": which rows these are."""
        whose = _("Your expenses") if self.is_own else _("Everybody's expenses")
        category = self.filters.category
        name = self.ledger.name_of(category, language) if category else ""
        words = f"“{self.filters.words}”" if self.filters.words else ""
        facts = [whose, self.when(language), name, self.filters.currency, words]
        return ", ".join(filter(None, facts))

    def total_in_words(self, balance: Balance) -> str:
        which = self.about(self.language)
        if not balance.count:
            return _("%(which)s: nothing has been logged.", which=which)
        total = listed([self._money(amount, code) for code, amount in balance.totals().items()])
        count = ngettext("%(num)d expense", "%(num)d expenses", balance.count)
        return _("%(which)s: %(total)s (%(count)s).", which=which, total=total, count=count)

    def most_in_words(self, balance: Balance) -> str:
        """The largest categories, where there is more than one."""
        code = next(iter(balance.totals()))
        largest = list(balance.by_category(code).items())[:SAID_CATEGORIES]
        if len(largest) < 2:
            return ""
        named = [
            f"{self.ledger.name_of(slug, self.language)} {self._money(total, code)}"
            for slug, total in largest
        ]
        return _("Most of it: %(named)s.", named=listed(named))

    def facts(self, balance: Balance) -> dict[str, Any]:
        """For a model and for programs: exact amounts as text."""
        return {
            "whose": "own" if self.is_own else "group",
            "start": self.filters.start.isoformat() if self.filters.start else None,
            "end": self.period.last.isoformat() if self.period and self.filters.end else None,
            "count": balance.count,
            "totals": [
                {"currency": code, "total": str(total)} for code, total in balance.totals().items()
            ],
            "by_category": [
                {"category": slug, "currency": code, "total": str(total)}
                for code in balance.totals()
                for slug, total in balance.by_category(code).items()
            ],
        }

    def part(self, balance: Balance, rows: list[Expense]) -> ExpenseListPart:
        names = {} if self.is_own else names_of(self.session, [row.user_id for row in rows])
        return ExpenseListPart(
            about=in_both(self.about),
            count=balance.count,
            rows=[
                ListedExpense(
                    id=row.id,
                    item=row.item,
                    amount=row.amount,
                    currency=row.currency,
                    date=row.date,
                    category=self._names(row.category),
                    who=names.get(row.user_id, ""),
                )
                for row in rows
            ],
            totals=[
                ListedSum(total=total, currency=code) for code, total in balance.totals().items()
            ],
            by_category=[
                ListedSum(total=total, currency=code, category=self._names(slug))
                for code in balance.totals()
                for slug, total in balance.by_category(code).items()
            ],
            url=self._link(),
        )

    def _names(self, slug: str) -> dict[str, str]:
        return {language: self.ledger.name_of(slug, language) for language in ("en", "es")}

    def _money(self, amount: Decimal, code: str) -> str:
        return amount_words(amount, code, self.language)

    def _link(self) -> Link:
        filters = self.filters
        return Link.to(
            "expenses.index",
            start=filters.start.isoformat() if filters.start else None,
            end=self.period.last.isoformat() if self.period and filters.end else None,
            category=filters.category or None,
            currency=filters.currency or None,
            q=filters.words or None,
            who="mine" if self.is_own and may_see_all(self.session) else None,
        )


def _period(words: str | None, language: str, ledger: Ledger) -> Period | None:
    """The time that the words name; None where none was named.

    Raises:
        ToolFailure: they name none that can be read.
    """
    if not words:
        return None
    found = read_time(words, language, ledger.today)
    if found is None:
        raise ToolFailure(
            f"{words!r} is no time that can be read.",
            suggestion="Use words such as: today, last month, in March, since 1 June.",
            say=_(
                "I could not read “%(words)s” as a date. Say, for example, “last month” "
                "or “since June 1”.",
                words=words,
            ),
            code="invalid_input",
            field="range",
        )
    return found


def _result(row: ListedExpense) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "item": row.item,
        "amount": str(row.amount),
        "currency": row.currency,
        "date": row.date.isoformat(),
        "category": row.category["en"],
        **({"who": row.who} if row.who else {}),
    }
