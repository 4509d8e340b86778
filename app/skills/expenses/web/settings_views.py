"""The ledger's settings, for admins: which currencies and which categories it has.

What is worked on stands in the page's form, and its buttons change that alone until it is saved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from babel.numbers import get_currency_name
from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _
from werkzeug.datastructures import MultiDict

from app.accounts.audit import record
from app.errors import ComandaError, Conflict, InvalidInput
from app.skills.expenses.services.settings import (
    LONGEST_NAME,
    OTHER,
    Ledger,
    load_ledger,
    save_settings,
    split_words,
)
from app.skills.expenses.web.blueprint import blueprint
from app.text.bilingual import reader_language
from app.text.currencies import CODES
from app.text.normalize import words
from app.web.pages import db_session, is_htmx, require_role, wants_fragment
from app.web.rate_limits import limit_building

# More than any field takes, so that what is too long can be shown and told.
LONGEST_TEXT = 40_000
TEXTS = ("name_en", "name_es", "words_en", "words_es")
UP, DOWN, ADD = "up", "down", "add"


@blueprint.get("/settings")
def settings() -> ResponseReturnValue:
    """What the ledger offers, to be changed."""
    require_role("admin")
    return _page(work_of(load_ledger(db_session())))


@blueprint.post("/settings")
@limit_building
def save_ledger() -> ResponseReturnValue:
    """Do what the pressed button does; where that is saving, save or say what is wrong."""
    require_role("admin")
    work, do = read_work(request.form), request.form.get("do", "save")
    if do not in ("save", "overwrite"):
        return _page(act(work, do))
    work = without_empty(work)
    try:
        _save(work, over=do == "overwrite")
    except (InvalidInput, Conflict) as error:
        db_session().rollback()
        return _page(replace(work, is_unsaved=True), error)
    told = _("The settings are saved.")
    if is_htmx():
        return _page(work_of(load_ledger(db_session())), told=told)
    flash(told)
    return redirect(url_for(".settings"), HTTPStatus.SEE_OTHER)


def _save(work: Work, *, over: bool) -> None:
    """Write and commit it; `over` what somebody else has saved, where that was looked at."""
    session = db_session()
    version = request.form.get("latest", 0, type=int) if over else work.version
    # The restaurant's own stays among them: it may be one of several again.
    save_settings(session, work.currencies, categories_of(work), version)
    record(session, "expense.settings")
    session.commit()


def _page(work: Work, error: ComandaError | None = None, told: str = "") -> ResponseReturnValue:
    """The page, or what is worked on alone; `error` stands at its row where it has one."""
    ledger, language = load_ledger(db_session()), reader_language()
    names = [(code, str(get_currency_name(code, locale=language))) for code in sorted(CODES)]
    message = _(error.message, **error.params) if error else ""
    kind, _dot, number = (error.field or "" if error else "").partition(".")
    wrong = int(number) if kind == "categories" and number.isdecimal() else None
    page = render_template(
        "expenses/_settings.html" if wants_fragment() else "expenses/settings.html",
        work=work,
        home=ledger.currency,
        latest=ledger.version,
        names=names,
        is_overtaken=isinstance(error, Conflict),
        wrong=wrong,
        message=message,
        told=told,
    )
    return page, error.status if error else HTTPStatus.OK


@dataclass(frozen=True)
class CategoryRow:
    """A category as it stands on the page; one that is new has no slug yet."""

    key: str
    slug: str = ""
    name_en: str = ""
    name_es: str = ""
    words_en: str = ""
    words_es: str = ""
    is_active: bool = True

    @property
    def is_empty(self) -> bool:
        return not self.slug and not any(getattr(self, name).strip() for name in TEXTS)

    @property
    def is_fixed(self) -> bool:
        """What takes everything else cannot be switched off."""
        return self.slug == OTHER


@dataclass(frozen=True)
class Work:
    """All that is worked on, with the version that it was begun with.

    `focus` is the button that one goes on from, by its id on the page.
    """

    currencies: tuple[str, ...]
    rows: tuple[CategoryRow, ...]
    version: int
    is_unsaved: bool = False
    focus: str = ""


def work_of(ledger: Ledger) -> Work:
    """What a group says now, to begin with."""
    rows = (
        CategoryRow(
            each["slug"],
            each["slug"],
            each["name_en"],
            each["name_es"],
            ", ".join(each.get("words_en", ())),
            ", ".join(each.get("words_es", ())),
            each.get("is_active", True),
        )
        for each in ledger.categories
    )
    return Work(ledger.currencies, tuple(rows), ledger.version)


def read_work(form: MultiDict[str, str]) -> Work:
    """What a page was sent with; rows are told apart by their keys."""
    keys, slugs = form.getlist("row"), form.getlist("slug")
    texts = [[text[:LONGEST_TEXT] for text in form.getlist(name)] for name in TEXTS]
    active = set(form.getlist("on"))
    rows = tuple(
        CategoryRow(
            key[:LONGEST_NAME],
            slug,
            is_active=key in active or slug == OTHER,
            **dict(zip(TEXTS, said, strict=True)),
        )
        for key, slug, said in zip(keys, slugs, zip(*texts, strict=False), strict=False)
    )
    currencies = tuple(code for code in form.getlist("currencies") if code in CODES)
    return Work(currencies, rows, form.get("version", 0, type=int))


def act(work: Work, do: str) -> Work:
    """What a button does to the work: `up:key`, `down:key`, `add`; anything else, nothing."""
    verb, _, key = do.partition(":")
    rows = list(work.rows)
    places = [place for place, row in enumerate(rows) if row.key == key]
    if verb == ADD:
        rows.append(CategoryRow(_new_key(rows)))
        return replace(work, rows=tuple(rows), is_unsaved=True, focus=f"name-{rows[-1].key}")
    if verb not in (UP, DOWN) or not places:
        return replace(work, is_unsaved=True)
    to = places[0] + (-1 if verb == UP else 1)
    if 0 <= to < len(rows):
        rows.insert(to, rows.pop(places[0]))
    return replace(work, rows=tuple(rows), is_unsaved=True, focus=f"{verb}-{key}")


def _new_key(rows: Sequence[CategoryRow]) -> str:
    taken = {row.key for row in rows}
    return next(key for number in range(1, len(rows) + 2) if (key := f"new-{number}") not in taken)


def categories_of(work: Work) -> list[dict[str, Any]]:
    """The categories as they are saved; a new one is given a slug of its own by its name."""
    found: list[dict[str, Any]] = []
    taken = {row.slug for row in work.rows if row.slug}
    for row in work.rows:
        if row.is_empty:
            continue
        slug = row.slug or _new_slug(row, taken)
        taken.add(slug)
        found.append(
            {
                "slug": slug,
                "name_en": row.name_en,
                "name_es": row.name_es,
                "words_en": split_words(row.words_en),
                "words_es": split_words(row.words_es),
                "is_active": row.is_active,
            }
        )
    return found


def without_empty(work: Work) -> Work:
    """The same without new rows in which nothing was written."""
    return replace(work, rows=tuple(row for row in work.rows if not row.is_empty))


def _new_slug(row: CategoryRow, taken: set[str]) -> str:
    base = "-".join(words(row.name_en or row.name_es))[: LONGEST_NAME - 4] or "category"
    names = [base, *(f"{base}-{number}" for number in range(2, 100))]
    return next(name for name in names if name not in taken)
