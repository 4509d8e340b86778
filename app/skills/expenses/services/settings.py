"""What a group says of its ledger: its currencies and its categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from app.accounts.clock import local_now
from app.accounts.models import Group
from app.db import ScopedSession
from app.errors import Conflict, Forbidden, InvalidInput
from app.skills.expenses.models import ExpenseSettings
from app.skills.expenses.nlu import Category, make_category
from app.text.bilingual import in_language
from app.text.currencies import CODES
from app.text.plain_text import clean_line
from app.text.yaml_file import read_yaml

DEFAULTS = Path(__file__).with_name("categories.yaml")
# Beside the group's own; an admin may take them away, or allow others.
DEFAULT_CURRENCIES = ("USD", "EUR", "GBP", "MXN", "CAD")
OTHER = "other"
MOST_CATEGORIES = 40
LONGEST_NAME = 60
MOST_WORDS = 600
# Of the words of all categories together.
MOST_LETTERS = 200_000
EDITORS = ("manager", "admin")


@dataclass(frozen=True)
class Ledger:
    """A group's ledger as everything here needs to know it.

    `currency` is what an amount is in where nothing else is said; `today` is the group's date.
    `categories` are all of them, `offered` those that may be chosen.
    """

    currency: str
    currencies: tuple[str, ...]
    categories: tuple[dict[str, Any], ...]
    today: date
    version: int = 0

    @property
    def offered(self) -> tuple[dict[str, Any], ...]:
        return tuple(each for each in self.categories if each.get("is_active", True))

    def name_of(self, slug: str, language: str) -> str:
        """What a category is called; its slug, where the group does not have it any more."""
        for each in self.categories:
            if each["slug"] == slug:
                return in_language(language, each["name_en"], each["name_es"])
        return slug

    def keeping(self, currency: str, category: str) -> Ledger:
        """The same, in which what an expense says already is still taken."""
        return replace(
            self,
            currencies=tuple(dict.fromkeys((*self.currencies, currency))),
            categories=tuple(
                {**each, "is_active": True} if each["slug"] == category else each
                for each in self.categories
            ),
        )

    def for_reading(self) -> tuple[Category, ...]:
        """The offered categories, as the reader of sentences takes them."""
        return tuple(
            make_category(
                each["slug"],
                {"en": each["name_en"], "es": each["name_es"]},
                ",".join((*each["words_en"], *each["words_es"])),
            )
            for each in self.offered
        )


@cache
def default_categories() -> tuple[dict[str, Any], ...]:
    """The product's own categories, from the file beside this one."""
    raw = read_yaml(DEFAULTS)
    return tuple(
        {
            **each,
            "words_en": split_words(each["words_en"]),
            "words_es": split_words(each["words_es"]),
            "is_active": True,
        }
        for each in raw
    )


def split_words(text: str) -> list[str]:
    """The words and phrases between the commas of a text, each once, in their order."""
    return list(dict.fromkeys(filter(None, map(clean_line, text.split(",")))))


def load_ledger(session: ScopedSession) -> Ledger:
    """The group's ledger: what it says, else the defaults."""
    group_id = session.scope.group_id
    currency, zone = session.execute(
        select(Group.currency, Group.timezone).where(Group.id == group_id)
    ).one()
    said = session.scalar(select(ExpenseSettings).where(ExpenseSettings.group_id == group_id))
    today = local_now(ZoneInfo(zone)).date()
    if said is None:
        allowed = tuple(dict.fromkeys((currency, *DEFAULT_CURRENCIES)))
        return Ledger(currency, allowed, default_categories(), today)
    allowed = tuple(dict.fromkeys((currency, *said.currencies)))
    return Ledger(currency, allowed, tuple(said.categories), today, said.version)


def save_settings(
    session: ScopedSession,
    currencies: Sequence[str],
    categories: Sequence[dict[str, Any]],
    version: int,
) -> ExpenseSettings:
    """Keep what an admin says; what has expenses stays known by its name. Never commits.

    `version` is the one that was shown (0 for the defaults).

    Raises:
        Forbidden: no admin. InvalidInput: with the field. Conflict: somebody was faster.
    """
    if session.scope.role != "admin":
        raise Forbidden("Only admins can change the expense settings.")
    wrong = [code for code in currencies if code not in CODES]
    if wrong:
        raise InvalidInput(
            "%(code)s is not a currency. Choose from the list.", field="currencies", code=wrong[0]
        )
    said = session.scalar(
        select(ExpenseSettings)
        .where(ExpenseSettings.group_id == session.scope.group_id)
        .with_for_update()
    )
    if (said.version if said else 0) != version:
        raise Conflict("Somebody else changed this in the meantime. Look at it again, then save.")
    checked = [_check(each, number) for number, each in enumerate(categories)]
    before = said.categories if said else default_categories()
    kept = {each["slug"] for each in checked}
    gone = [{**each, "is_active": False} for each in before if each["slug"] not in kept]
    # What is gone is stored, and read at each message, like what is there.
    _check_all([*checked, *gone])
    said = said or _begin(session)
    said.currencies, said.categories = list(currencies), [*checked, *gone]
    said.version, said.edited_by = version + 1, session.scope.user_id
    session.flush()
    return said


def _begin(session: ScopedSession) -> ExpenseSettings:
    """The group's row, in which nothing is said yet.

    Raises:
        Conflict: somebody else has just begun.
    """
    begun = ExpenseSettings(
        group_id=session.scope.group_id, currencies=[], categories=[], version=0
    )
    try:
        with session.begin_nested():
            session.add(begun)
    except IntegrityError:
        raise Conflict(
            "Somebody else changed this in the meantime. Look at it again, then save."
        ) from None
    return begun


def _check(category: dict[str, Any], number: int) -> dict[str, Any]:
    field = f"categories.{number}"
    english = clean_line(str(category.get("name_en", "")))
    spanish = clean_line(str(category.get("name_es", "")))
    if not (english or spanish):
        raise InvalidInput("Give the category a name.", field=field)
    if max(len(english), len(spanish)) > LONGEST_NAME:
        raise InvalidInput(
            "A category name can have up to %(limit)d characters.", field=field, limit=LONGEST_NAME
        )
    said = [list(category.get(name, ())) for name in ("words_en", "words_es")]
    if any(
        len(words) > MOST_WORDS or max(map(len, words), default=0) > LONGEST_NAME for words in said
    ):
        raise InvalidInput(
            "A category can have up to %(limit)d words per language, each up to "
            "%(letters)d characters long. Separate them with commas.",
            field=field,
            limit=MOST_WORDS,
            letters=LONGEST_NAME,
        )
    return {
        "slug": str(category["slug"])[:LONGEST_NAME],
        "name_en": english,
        "name_es": spanish,
        "words_en": said[0],
        "words_es": said[1],
        "is_active": bool(category.get("is_active", True)),
    }


def _check_all(categories: Sequence[dict[str, Any]]) -> None:
    slugs = [each["slug"] for each in categories]
    if len(set(slugs)) < len(slugs):
        raise InvalidInput("Two categories have the same name.", field="categories")
    if len(slugs) > MOST_CATEGORIES:
        raise InvalidInput(
            "There can be at most %(limit)d categories.", field="categories", limit=MOST_CATEGORIES
        )
    words = [
        word
        for each in categories
        for name in ("words_en", "words_es")
        for word in each.get(name, ())
    ]
    if sum(map(len, words)) > MOST_LETTERS:
        raise InvalidInput(
            "The words of all categories together can have at most %(limit)d characters.",
            field="categories",
            limit=MOST_LETTERS,
        )
    if not any(each["slug"] == OTHER and each["is_active"] for each in categories):
        raise InvalidInput(
            "Keep the category for everything else: it takes what fits nowhere.",
            field="categories",
        )
