"""The list of expenses that stands under a reply."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import ClassVar, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from app.assistant.tools.parts import Part
from app.web.links import Target


class ListedExpense(BaseModel):
    """One row; `category` is its name by language, `who` is empty where all are one's own."""

    model_config = ConfigDict(extra="ignore")
    id: UUID
    item: str
    amount: Decimal
    currency: str
    date: dt.date
    category: dict[str, str]
    who: str = ""


class ListedSum(BaseModel):
    """A sum in one currency, of all or of one category (its name by language)."""

    model_config = ConfigDict(extra="ignore")
    total: Decimal
    currency: str
    category: dict[str, str] = Field(default_factory=dict)


class ExpenseListPart(Part):
    """Expenses or their sums: which ones by language (`about`), and where all of them stand."""

    model_config = ConfigDict(extra="ignore")
    template: ClassVar[str] = "parts/_expense_list.html"
    type: Literal["expense_list"] = "expense_list"
    about: dict[str, str]
    count: int
    rows: list[ListedExpense] = Field(default_factory=list)
    totals: list[ListedSum] = Field(default_factory=list)
    by_category: list[ListedSum] = Field(default_factory=list)
    url: Target = ""
