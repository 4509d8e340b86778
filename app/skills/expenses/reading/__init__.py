"""What people say about expenses, read without a model: from a sentence to a wish.

Pure: no request, no database. A wish is only ever proposed, and still a false one is worse
than none, so whatever may be about the menu, a table or an order is not read as money.
"""

from __future__ import annotations

from app.skills.expenses.reading.amending import amend_wish
from app.skills.expenses.reading.answering import answer_wish
from app.skills.expenses.reading.categories import (
    Category,
    default_categories,
    guess_category,
    make_category,
)
from app.skills.expenses.reading.conversation import read_conversation
from app.skills.expenses.reading.wishes import Wish, read_wish

__all__ = [
    "Category",
    "Wish",
    "amend_wish",
    "answer_wish",
    "default_categories",
    "guess_category",
    "make_category",
    "read_conversation",
    "read_wish",
]
