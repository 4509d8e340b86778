"""What applying an import would do: worked out by doing it in a session that is not written.

The plan is what the preview shows, and its signature what the import compares itself with:
a library that has changed since gives another one.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from app.config import LANGUAGES
from app.db import JsonList, JsonObject, ScopedSession
from app.skills.knowledge.models import (
    PRODUCT_KINDS,
    LibraryImport,
    ManualSection,
    Product,
)
from app.skills.knowledge.readers import FileProblem, Reading, ReadRow
from app.skills.knowledge.services.documents import Edition, Library, prepare_documents
from app.skills.knowledge.services.import_changes import (
    Change,
    Staging,
    load_all_sections,
    stage_documents,
    stage_products,
)
from app.skills.knowledge.services.markdown_import import ParsedDocument
from app.skills.knowledge.services.menu_limits import find_overflow, load_counts
from app.skills.knowledge.services.sections import (
    MOST_LETTERS_IN_ALL,
    MOST_SECTIONS,
    count_letters,
)

LONGEST_TEXT = 160
MOST_PROBLEMS = 500
MORE = "and_more"
MOST_ALONE = 50
CHANGES = ("added", "changed", "removed")
# Problems of a row for which it is left out, and which say something of allergens all the same.
UNDECLARED = ("allergen_unknown", "allergens_contradict")
# In this order, before all else: what a dish is called, costs and may do to somebody.
SHOWN_FIRST = ("name_en", "name_es", "price", "allergens", "ingredients")
# Of what is new, beside its name.
SHOWN_OF_NEW = ("price", "allergens")


@dataclass(frozen=True)
class Planned:
    """The changes, ready to be written, and the plan as it is kept and shown.

    `sections` is how many the manual would have, and `letters` how many characters it has now and
    would have. `wrong` are rows of a menu that are left out for what would become of their
    products, `overflow` is what the menus would have too much of.
    """

    staging: Staging
    plan: JsonObject
    sections: int = 0
    letters: tuple[int, int] = (0, 0)
    wrong: Sequence[FileProblem] = ()
    overflow: FileProblem | None = None

    @property
    def changes_nothing(self) -> bool:
        return not any(self.plan["counts"][what] for what in CHANGES)

    @property
    def too_much(self) -> FileProblem | None:
        """What of it would be more than the manual or the menus may have, if anything would."""
        if self.sections > MOST_SECTIONS and self.plan["counts"]["added"]:
            return FileProblem("", "manual_full", str(self.sections), is_fatal=True)
        before, after = self.letters
        if after > max(before, MOST_LETTERS_IN_ALL):
            return FileProblem("", "manual_too_long", str(after), is_fatal=True)
        return self.overflow


def plan_import(
    session: ScopedSession, item: LibraryImport, reading: Reading, *, lock: bool = False
) -> Planned:
    """Stage an import; the caller writes it, or rolls the session back.

    With `lock`, what it is compared with stays as it is until the transaction's end.
    """
    if item.target in PRODUCT_KINDS:
        return _plan_menu(session, item, reading, lock)
    return _plan_manual(session, item, reading, lock)


def problems_of(reading: Reading, wrong: Sequence[FileProblem] = ()) -> JsonList:
    """What is wrong with the file, as it is kept: those of the whole before those of rows.

    `wrong` is what planning it has found of rows that can be read.
    """
    problems = [*reading.problems, *wrong, *(p for row in reading.rows for p in row.problems)]
    more = len(problems) - MOST_PROBLEMS
    kept = problems if more <= 0 else [*problems[:MOST_PROBLEMS], FileProblem("", MORE, str(more))]
    return [[each.place, each.code, each.detail, each.is_fatal] for each in kept]


def problem_from(values: list[Any]) -> FileProblem:
    """The problem that `problems_of` kept."""
    return FileProblem(*values)


def _plan_manual(
    session: ScopedSession, item: LibraryImport, reading: Reading, lock: bool
) -> Planned:
    there = load_all_sections(session, item.group_id, lock=lock)
    letters = sum(map(count_letters, there.values()))
    library = Library(there)
    documents, editions = prepare_documents(
        reading.documents,
        library,
        kind=item.target,
        language=item.language,
        chosen=item.options.get("editions", {}),
    )
    staging = stage_documents(
        session,
        documents,
        group_id=item.group_id,
        language=item.language,
        editions=[edition.source for edition in editions if edition.chapter],
    )
    entries = [_section_entry(change, staging, documents, editions) for change in staging.changes]
    facts = [_edition_entry(edition, library, item.language) for edition in editions]
    plan = _plan(staging, entries) | {"documents": facts}
    # Those that are there are the ones that were staged.
    added = [each.entity for each in staging.changes if each.what == "added"]
    would_be = {**there, **{each.id: each for each in added if isinstance(each, ManualSection)}}
    after = sum(map(count_letters, would_be.values()))
    return Planned(staging, plan, len(would_be), (letters, after))


def _plan_menu(
    session: ScopedSession, item: LibraryImport, reading: Reading, lock: bool
) -> Planned:
    usable = [row for row in reading.rows if not row.problems]
    undeclared = [row for row in reading.rows if _is_left_out_and_declares(row)]
    counts = load_counts(session, item.group_id, item.target)
    staging = stage_products(
        session,
        [*map(_item_of, usable), *map(_undeclared, undeclared)],
        group_id=item.group_id,
        kind=item.target,
        is_partial=True,
        lock=lock,
    )
    lines = [row.line for row in [*usable, *undeclared]]
    entries = [
        _product_entry(change, lines[change.place[0]], staging) for change in staging.changes
    ]
    wrong = [FileProblem(f"row {lines[row]}", *excess) for row, excess in staging.refused.items()]
    plan = _plan(staging, entries)
    plan["counts"]["wrong"] = len(reading.rows) - len(usable) + len(wrong)
    excess = find_overflow(counts, _changed_products(staging))
    overflow = FileProblem("", *excess, is_fatal=True) if excess else None
    return Planned(staging, plan, wrong=wrong, overflow=overflow)


def _changed_products(staging: Staging) -> Iterator[tuple[JsonObject | None, Product]]:
    for id_, product in staging.touched.items():
        if isinstance(product, Product):
            yield staging.before[id_], product


def _item_of(row: ReadRow) -> JsonObject:
    return {**row.values, "borrowed": row.borrowed, "is_coded": row.is_coded}


def _is_left_out_and_declares(row: ReadRow) -> bool:
    codes = {each.code for each in row.problems} - {"duplicate_name"}
    is_named = "slug" in row.values and "name_en" in row.values
    declares = "allergens" in row.values or not codes.isdisjoint(UNDECLARED)
    return bool(codes) and is_named and declares


def _undeclared(row: ReadRow) -> JsonObject:
    """A row that is left out: where it declares anything else, what was declared is not so."""
    names = {name: row.values[name] for name in ("slug", "name_en", "name_es")}
    more = {"borrowed": row.borrowed, "is_coded": row.is_coded, "is_left_out": True}
    return {**names, **more, "allergens": row.values.get("allergens")}


def _plan(staging: Staging, entries: JsonList) -> JsonObject:
    counted = Counter(change.what for change in staging.changes)
    counts = {what: counted[what] for what in (*CHANGES, "unchanged")}
    # Of what is touched besides, such as what hung below a removed section, the version tells.
    signed = [
        (
            change.what,
            change.fields,
            getattr(change.entity, "slug", ""),
            0 if change.what == "added" else change.entity.version,
        )
        for change in staging.changes
        if change.what != "unchanged"
    ]
    signature = hashlib.sha256(json.dumps(signed).encode()).hexdigest()
    return {"counts": counts, "entries": entries, "signature": signature}


def _section_entry(
    change: Change, staging: Staging, documents: list[ParsedDocument], editions: list[Edition]
) -> JsonObject:
    assert isinstance(change.entity, ManualSection)
    entry: JsonObject = {"what": change.what, "slug": change.entity.slug}
    if not change.place:
        # Its words are staged to go: what it is called is what it was called.
        before = staging.before[change.entity.id] or {}
        titles = [before.get("title_en"), before.get("title_es"), change.entity.slug]
        return entry | {"title": _shortened(next(filter(None, titles))), "depth": 0}
    number, place = change.place
    section = documents[number].sections[place]
    depth, above = 0, section.parent
    while above is not None:
        depth, above = depth + 1, above.parent
    entry |= {"title": _shortened(section.title), "depth": depth, "at": [number, place]}
    if place in editions[number].alone_here:
        entry["alone"] = True
    return entry


def _edition_entry(edition: Edition, library: Library, language: str) -> JsonObject:
    chapter = library.chapter(edition.chapter) if edition.chapter else None
    return {
        "source": edition.source,
        "title": _shortened(edition.title),
        "chapter": edition.chapter,
        "is_known": edition.is_known,
        "chapter_title": _shortened(chapter.title("es" if language == "en" else "en"))
        if chapter
        else "",
        "alone_here": len(edition.alone_here),
        "alone_there": [_shortened(title) for title in edition.alone_there[:MOST_ALONE]],
        "alone_there_count": len(edition.alone_there),
    }


def _product_entry(change: Change, line: int, staging: Staging) -> JsonObject:
    product = change.entity
    assert isinstance(product, Product)
    before = staging.before.get(product.id) or {}
    return {
        "what": change.what,
        "slug": product.slug,
        "title": _shortened(product.name_en or product.name_es),
        "line": line,
        "fields": [
            # What is declared is kept as it is: nothing is another thing than none.
            [name, before.get(name), getattr(product, name)]
            if name == "allergens"
            else [name, _shown(before.get(name)), _shown(getattr(product, name))]
            for name in _fields_to_show(change)
        ],
    }


def _fields_to_show(change: Change) -> list[str]:
    fields = SHOWN_OF_NEW if change.what == "added" else change.fields
    rank = {name: number for number, name in enumerate(SHOWN_FIRST)}
    return sorted(fields, key=lambda name: rank.get(name, len(rank)))


def _shown(value: Any) -> str:
    """A value as it is shown beside another; empty for what is not there."""
    if value is None:
        return ""
    if isinstance(value, list):
        return _shortened(", ".join(_shown(each) for each in value))
    if isinstance(value, dict) and {*LANGUAGES} <= value.keys():
        return " / ".join(dict.fromkeys(value[each] for each in LANGUAGES))
    if isinstance(value, dict):
        return _shortened(", ".join(f"{name}: {_shown(each)}" for name, each in value.items()))
    return _shortened(str(value))


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"
