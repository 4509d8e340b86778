"""The ledger's pages as a test looks at them, and what has come of them."""

from __future__ import annotations

from sqlalchemy import select

from app.accounts.models import AuditEntry
from app.db import Database
from app.skills.expenses.models import Expense
from tests.factories import Member, Page

HOME = "/expenses"


def rows(owner: Database, member: Member) -> list[Expense]:
    """All that the house has, the deleted ones too."""
    with owner.session() as session:
        query = select(Expense).where(Expense.group_id == member.group_id).order_by(Expense.id)
        return list(session.scalars(query))


def items(page: Page) -> list[str]:
    """The items that are listed, in their order."""
    return [
        " ".join(str(each) for each in cell.contents if isinstance(each, str)).strip()
        for cell in page.find_all("td", class_="expense-item")
    ]


def typed(page: Page, **changes: str) -> dict[str, str]:
    """What the form of the page would send."""
    form = next(each for each in page.find_all("form") if each.has_class("expense-form"))
    sent = {
        each.attributes["name"]: each.attributes.get("value", "")
        for each in form.find_all("input")
        if each.attributes["name"] in ("key", "item", "amount", "currency", "date", "version")
    }
    return {**sent, **changes}


def audited(owner: Database, member: Member) -> list[str]:
    with owner.session() as session:
        query = select(AuditEntry).where(AuditEntry.user_id == member.user_id)
        entries = session.scalars(query.order_by(AuditEntry.id))
        return [each.action for each in entries if each.action.startswith("expense.")]
