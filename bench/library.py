"""How quickly a library of ten thousand sections is read and searched as one types.

Options: --sections=10000. Times are taken over HTTP at a client that asks for one thing after
the other: pages of sections from all over the tree, the contents, and each state of the search
field while sentences are typed letter by letter.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote
from uuid import UUID

from sqlalchemy import text

from app.db import new_id
from app.retrieval.evaluate import percentile
from app.retrieval.index import index_sources
from app.skills.knowledge.models import ManualSection
from app.skills.knowledge.services.search_sources import section_source
from bench.support.house import House, as_plan, open_house
from bench.support.load import run_load
from bench.support.wire import HTMX, Guest, Line

SECTION_BAR_MS = 30
SEARCH_BAR_MS = 60
CHAPTERS, BATCH = 40, 500
WARM = 20
ENGLISH = (
    "chicken beef shrimp cooler freezer temperature hours minutes clean sanitize wash hands knife"
    " board table guest order ticket kitchen server manager shift break uniform allergy peanut milk"
    " label date rotate delivery receive store thaw cook grill fry steam hold serve garnish wine"
    " bottle glass pour refund complaint injury report emergency exit extinguisher training policy"
    " schedule payroll tips overtime request checklist opening closing inventory supplier invoice"
).split()
SPANISH = (
    "pollo res camarón refrigerador congelador temperatura horas minutos limpiar desinfectar lavar"
    " manos cuchillo tabla mesa cliente pedido comanda cocina mesero gerente turno uniforme"
    " alergia cacahuate leche etiqueta fecha rotar entrega recibir guardar descongelar cocinar asar"
    " freír vapor mantener servir guarnición botella copa reembolso queja lesión reporte salida"
    " extintor capacitación política horario nómina propinas solicitud lista apertura cierre"
).split()
# What a language is made of besides: few words that stand everywhere, and many that hardly do.
SYLLABLES = "ba ce di fo gu la me ni po ru sa te vi zo cha tra ble gri".split()
POOL = 4000
TYPED = (
    "raw chicken cooler",
    "refrigerador temperatura",
    "emergency exit",
    "camaron",
    "label date",
)


def measure(arguments: Sequence[str]) -> dict[str, Any]:
    """The 95th percentiles of section pages, of the contents, and of searching as one types."""
    parser = argparse.ArgumentParser(prog="library")
    parser.add_argument("--sections", type=int, default=10_000)
    options = parser.parse_args(list(arguments))
    with open_house(runners=0) as house:
        slugs = fill(house, options.sections)
        [(_member, guest)] = house.hire(1)
        plan = {"port": house.port, "guests": as_plan([guest]), "slugs": slugs[::50]}
        measured = run_load("library", plan)
    bars = {"section": SECTION_BAR_MS, "contents": SECTION_BAR_MS, "search": SEARCH_BAR_MS}
    for name, bar in bars.items():
        measured[name] |= {"bar_ms": bar, "met": measured[name]["p95_ms"] <= bar}
    met = all(measured[name]["met"] for name in bars)
    return {"met": met, "sections": len(slugs), **measured}


def fill(house: House, count: int) -> list[str]:
    """A manual of three levels in both languages, stored and indexed; returns its slugs."""
    chance = random.Random(7)
    pools = _vocabulary(ENGLISH), _vocabulary(SPANISH)
    sections: list[ManualSection] = []
    titles: dict[UUID, list[str]] = {}
    for number in range(count):
        parent = _parent(sections, number)
        section = _section(house, chance, number, parent, pools)
        titles[section.id] = [*(titles[parent.id] if parent else []), section.title_en]
        sections.append(section)
    with house.owner.transaction() as session:
        for start in range(0, count, BATCH):
            session.add_all(sections[start : start + BATCH])
            session.flush()
    for start in range(0, count, BATCH):
        sources = [
            section_source(each, titles[each.id][:-1], titles[each.id][:-1])
            for each in sections[start : start + BATCH]
        ]
        with house.owner.transaction() as session:
            index_sources(session, group_id=house.group_id, sources=sources)
    with house.owner.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as line:
        line.execute(text("VACUUM ANALYZE"))
    return [section.slug for section in sections]


def _parent(sections: list[ManualSection], number: int) -> ManualSection | None:
    """Forty chapters, a few hundred sections under them, and the rest under those."""
    if number < CHAPTERS:
        return None
    return sections[number % CHAPTERS] if number < CHAPTERS * 11 else sections[number % 400 + 40]


def _section(
    house: House,
    chance: random.Random,
    number: int,
    parent: ManualSection | None,
    pools: tuple[list[str], list[str]],
) -> ManualSection:
    def said(pool: list[str], length: int) -> str:
        # Zipf's law, nearly: the word of rank n stands in one place of n.
        return " ".join(pool[int(len(pool) ** chance.random()) - 1] for _ in range(length))

    def body(pool: list[str]) -> str:
        return "\n\n".join(f"{said(pool, 40)}." for _ in range(chance.randint(1, 5)))

    return ManualSection(
        id=new_id(),
        group_id=house.group_id,
        parent_id=parent.id if parent else None,
        slug=f"section-{number}",
        position=number,
        title_en=f"{said(pools[0], 3)} {number}".capitalize(),
        title_es=f"{said(pools[1], 3)} {number}".capitalize(),
        body_en=body(pools[0]),
        body_es=body(pools[1]),
        is_published=True,
    )


def _vocabulary(known: list[str]) -> list[str]:
    """The known words and many others, in an order that is not that of their letters."""
    chance = random.Random(len(known))
    made = {"".join(chance.choices(SYLLABLES, k=chance.randint(2, 4))) for _ in range(POOL)}
    pool = [*known, *sorted(made)]
    chance.shuffle(pool)
    return pool


# The load


async def drive(plan: dict[str, Any], say: Callable[[str], None]) -> dict[str, Any]:
    """Everything once after the other, as one browser asks for it."""
    guest, line = Guest(**plan["guests"][0]), Line(plan["port"])
    searches = [
        f"/library/search?q={quote(typed[: end + 1])}"
        for typed in TYPED
        for end in range(len(typed))
    ]
    asked = {
        "nothing": (["/healthz"] * 100, ""),
        "section": ([f"/library/manual/{slug}" for slug in plan["slugs"]], ""),
        "contents": (["/library/"] * 100, ""),
        "search": (searches * 3, HTMX),
    }
    measured = {}
    for name, (paths, headers) in asked.items():
        times = [await _get(line, path, guest.header + headers) for path in paths[:WARM] + paths]
        measured[name] = {
            "p50_ms": round(percentile(times[WARM:], 0.5), 1),
            "p95_ms": round(percentile(times[WARM:], 0.95), 1),
            "most_ms": round(max(times[WARM:]), 1),
        }
    return measured


async def _get(line: Line, path: str, headers: str) -> float:
    began = time.perf_counter()
    answer = await line.get(path, headers)
    assert answer.status == 200, (path, answer.status)
    return (time.perf_counter() - began) * 1000
