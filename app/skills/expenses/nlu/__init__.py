"""What people say about expenses, read without a model: from a sentence to a command.

Pure: no request, no database. A command is only ever proposed, and still a false one is worse
than none, so whatever may be about the menu, a table or an order is not read as money.
"""

from __future__ import annotations

from app.skills.expenses.nlu.amendments import amend_command
from app.skills.expenses.nlu.answers import answer_command, read_conversation
from app.skills.expenses.nlu.categories import (
    Category,
    default_categories,
    guess_category,
    make_category,
)
from app.skills.expenses.nlu.reader import Command, read_wish

__all__ = [
    "Category",
    "Command",
    "amend_command",
    "answer_command",
    "default_categories",
    "guess_category",
    "make_category",
    "read_conversation",
    "read_wish",
]
