"""What kind of thing an item is, as far as a bare number beside it can be taken for money.

It is told by the categories that a group starts with, whatever its own list is by now.
"""

from __future__ import annotations

from functools import lru_cache

from app.skills.expenses.nlu.categories import Category, default_categories, guess_category

# A number beside one of these is money; beside food it may be a count or a price on the menu,
# beside a fridge a temperature.
_MONEY_ALONE = frozenset({"transport", "utilities", "fees", "repairs", "office", "cleaning"})
# Of these one logs nothing but what they cost: a repair and a cleaning are logged as done.
_LOGGED_FOR_COST = frozenset({"transport", "utilities", "fees"})
_COUNTED = frozenset({"ingredients", "drinks", "equipment", "staff"})
_ON_THE_MENU = frozenset({"ingredients", "drinks"})


@lru_cache(maxsize=1)
def _defaults() -> tuple[Category, ...]:
    return default_categories()


@lru_cache(maxsize=2048)
def _kind(item: str, language: str) -> str:
    return guess_category(item, _defaults(), language)


def is_known(item: str, language: str) -> bool:
    """Whether it is a thing that a restaurant buys."""
    return bool(_kind(item, language))


def is_paid_for(item: str, language: str) -> bool:
    """Whether a number beside it is what it cost."""
    return _kind(item, language) in _MONEY_ALONE


def is_logged_for_cost(item: str, language: str) -> bool:
    return _kind(item, language) in _LOGGED_FOR_COST


def is_counted(item: str, language: str) -> bool:
    """Whether a number beside it may be how many, how hot, or for how many."""
    return _kind(item, language) in _COUNTED


def is_on_the_menu(item: str, language: str) -> bool:
    """Whether guests may order it; what is not known may be a dish."""
    return _kind(item, language) in _ON_THE_MENU | {""}
