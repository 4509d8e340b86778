"""How quickly a form is found among two thousand, as the app searches: with row-level security.

Options: --templates=2000 --searches=500. DATABASE_URL and MIGRATION_DATABASE_URL choose the
database; without them a throw-away one is started.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import text

from app.db import Database, Scope, app_database, new_id, owner_database
from app.retrieval.evaluate import percentile
from app.skills.forms.models import FormTemplate
from app.skills.forms.services.search import search_forms
from bench.library import ENGLISH, SPANISH
from bench.support.house import measured_services
from tests.factories import make_group

BAR_MS = 5
WARM = 20
OTHER_GROUPS = 4
FIELDS_A_FORM = 12
SEARCHES = (
    ("chicken report", "en"),
    ("injury", "en"),
    ("reporte de queja", "es"),
    ("uniform request form", "en"),
    ("solicitud uniforme", "es"),
    ("knife board table", "en"),
    ("pizza recipe", "en"),
)


def measure(arguments: Sequence[str]) -> dict[str, Any]:
    """The percentiles of a search in a house with that many forms, others having theirs."""
    parser = argparse.ArgumentParser(prog="forms")
    parser.add_argument("--templates", type=int, default=2000)
    parser.add_argument("--searches", type=int, default=500)
    options = parser.parse_args(list(arguments))
    with measured_services() as settings:
        owner, database = owner_database(settings), app_database(settings)
        group_id = fill(owner, options.templates)
        times, found = _search(database, group_id, options.searches)
        plan = _plan(database, group_id)
    p95 = percentile(times, 0.95)
    return {
        "met": p95 <= BAR_MS,
        "templates": options.templates,
        "p50_ms": round(percentile(times, 0.5), 2),
        "p95_ms": round(p95, 2),
        "most_ms": round(max(times), 2),
        "bar_ms": BAR_MS,
        "found": found,
        "plan": plan,
    }


def fill(owner: Database, count: int) -> UUID:
    """So many forms in one house, and as many again in all others; returns the house's id."""
    chance = random.Random(5)
    groups = [make_group(owner) for _ in range(OTHER_GROUPS + 1)]
    for number, group_id in enumerate(groups):
        with owner.transaction() as session:
            amount = count if number == 0 else count // OTHER_GROUPS
            session.add_all([_form(chance, group_id, each) for each in range(amount)])
    with owner.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as line:
        line.execute(text("VACUUM ANALYZE form_templates"))
    return groups[0]


def _form(chance: random.Random, group_id: UUID, number: int) -> FormTemplate:
    def said(pool: list[str], length: int) -> str:
        return " ".join(chance.choices(pool, k=length)).capitalize()

    fields = [
        {
            "type": "text",
            "name": f"field_{each}",
            "label": {"en": said(ENGLISH, 3), "es": said(SPANISH, 3)},
            "help": {"en": said(ENGLISH, 8), "es": said(SPANISH, 8)},
        }
        for each in range(FIELDS_A_FORM)
    ]
    return FormTemplate(
        id=new_id(),
        group_id=group_id,
        slug=f"form-{number}",
        title_en=f"{said(ENGLISH, 2)} report",
        title_es=f"Reporte de {said(SPANISH, 2)}",
        description_en=said(ENGLISH, 14),
        description_es=said(SPANISH, 14),
        fields=fields,
        status="published",
    )


def _search(database: Database, group_id: UUID, count: int) -> tuple[list[float], dict[str, int]]:
    """Milliseconds of each search, and how many forms each query found."""
    times: list[float] = []
    found: dict[str, int] = {}
    with database.transaction(Scope(group_id)) as session:
        for number in range(count + WARM):
            query, language = SEARCHES[number % len(SEARCHES)]
            began = time.perf_counter()
            found[query] = len(search_forms(session, query, language))
            times.append((time.perf_counter() - began) * 1000)
            session.expunge_all()
    return times[WARM:], found


def _plan(database: Database, group_id: UUID) -> list[str]:
    """How the database goes about it, for the record."""
    statement = (
        "EXPLAIN SELECT id FROM form_templates WHERE status = 'published'"
        " AND (group_id = :group OR group_id IS NULL) AND search_en @@ 'injuri'::tsquery"
    )
    with database.transaction(Scope(group_id)) as session:
        lines = session.execute(text(statement), {"group": group_id}).scalars()
        return [line.strip() for line in lines if "Scan" in line]
