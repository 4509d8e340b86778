"""Imports afterwards: undone one after the other, read anew, left lying, or gone wrong."""

from __future__ import annotations

import sys
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import delete, func, select, text, update
from sqlalchemy.exc import OperationalError

from app.db import Database, utc_now
from app.errors import TooMany
from app.skills.knowledge.models import (
    LibraryImport,
    LibraryImportFile,
    LibraryImportSection,
    ManualSection,
)
from app.skills.knowledge.services import import_files, import_jobs, import_plan
from app.skills.knowledge.services.import_jobs import KEPT, LOST_AFTER, TASKS
from app.skills.knowledge.services.imports import apply_when_ready, choose_editions, receive_file
from app.skills.knowledge.services.revisions import snapshot
from tests.factories import Member, make_user
from tests.factories.imports import (
    apply_file,
    bring_file,
    do_jobs,
    import_file,
    look_at,
    read_in_this_process,
    undo_file,
    waiting_jobs,
)

PAY = """# Pay {#pay}
How we pay.

## Tips {#tips}
Tips are pooled every Friday.

## Overtime {#overtime}
Above forty hours.
"""
MONDAY = PAY.replace("every Friday", "every Monday")
# The one moves what the other has, adds to it, and takes something out.
OTHERWISE = """# Pay {#pay}
How we pay now.

## Bonus {#bonus}
Now and then.

### Tips {#tips}
Tips are pooled every Monday.
"""


@pytest.fixture(autouse=True)
def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read in this process: starting one for each file would take minutes in all."""
    monkeypatch.setattr(import_jobs, "read_apart", read_in_this_process)


@pytest.fixture
def member(owner: Database) -> Member:
    return make_user(owner, role="manager")


def library(owner: Database, member: Member) -> dict[str, Any]:
    """Everything that people can change of every section, by its slug."""
    with owner.session() as session:
        query = select(ManualSection).where(ManualSection.group_id == member.group_id)
        return {row.slug: snapshot(row) for row in session.scalars(query)}


# Undoing


@pytest.mark.parametrize("second", [MONDAY, OTHERWISE])
def test_two_imports_undone_in_reverse_order_leave_what_was_there_before_both(
    database: Database, owner: Database, member: Member, second: str
) -> None:
    import_file(database, member, PAY.replace("forty", "thirty"))
    before = library(owner, member)
    first = import_file(database, member, PAY + "\n## Holidays {#holidays}\nTwelve days.\n")
    between = library(owner, member)
    later = import_file(database, member, second)
    undo_file(database, member, later)
    assert library(owner, member) == between
    undone = undo_file(database, member, first)
    assert undone.report["undone"] == {
        "restored": 1, "removed": 1, "left": [], "left_count": 0,
    }  # fmt: skip
    assert library(owner, member) == before


def test_the_first_import_of_all_is_undone_to_nothing_after_the_later_one(
    database: Database, owner: Database, member: Member
) -> None:
    first = import_file(database, member, PAY)
    undo_file(database, member, import_file(database, member, OTHERWISE))
    undo_file(database, member, first)
    assert library(owner, member) == {}


def test_an_undo_that_finds_all_of_it_changed_says_so_and_can_be_asked_for_again(
    database: Database, owner: Database, member: Member
) -> None:
    import_file(database, member, PAY)
    first = import_file(database, member, MONDAY)
    later = import_file(database, member, PAY.replace("every Friday", "every Tuesday"))
    tried = undo_file(database, member, first)
    assert tried.status == "applied"
    assert tried.report["undone"] == {
        "restored": 0, "removed": 0, "left": ["Tips"], "left_count": 1,
    }  # fmt: skip
    undo_file(database, member, later)
    undone = undo_file(database, member, first)
    assert (undone.status, undone.report["undone"]["restored"]) == ("undone", 1)
    assert library(owner, member)["tips"]["body_en"] == "Tips are pooled every Friday."


# Reading anew


def test_the_same_file_is_read_anew_by_a_better_reader_only(
    database: Database, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def reads(content: bytes, filename: str, *rest: Any, **facts: Any) -> Any:
        read.append(filename)
        return read_in_this_process(content, filename, *rest, **facts)

    monkeypatch.setattr(import_jobs, "read_apart", reads)
    import_file(database, member, PAY)
    bring_file(database, member, PAY)
    assert len(read) == 1
    monkeypatch.setattr(import_files, "READER", import_files.READER + 1)
    bring_file(database, member, PAY)
    assert len(read) == 2


# What was read, by section


def test_what_was_read_is_kept_by_section_as_well_until_it_is_forgotten(
    database: Database, owner: Database, member: Member
) -> None:
    first = import_file(database, member, PAY)
    assert sections_kept(owner, first) == {
        (0, 0): ("Pay", "How we pay."),
        (0, 1): ("Tips", "Tips are pooled every Friday."),
        (0, 2): ("Overtime", "Above forty hours."),
    }
    # The next version of the file takes the place of what was read in the one before.
    second = import_file(database, member, MONDAY)
    assert sections_kept(owner, first) == {}
    assert sections_kept(owner, second)[0, 1] == ("Tips", "Tips are pooled every Monday.")
    undo_file(database, member, second)
    assert sections_kept(owner, second) == {}


def test_a_plan_that_is_made_anew_keeps_each_section_once(
    database: Database, owner: Database, member: Member
) -> None:
    item = bring_file(database, member, PAY)
    kept = sections_kept(owner, item)
    with database.session(member.scope) as session:
        choose_editions(session, item.id, {"pay": ""}, item.plan["signature"])
    do_jobs(database, member.group_id)
    assert look_at(database, member, item.id).status == "ready"
    assert sections_kept(owner, item) == kept


def test_an_import_that_is_removed_takes_its_sections_with_it(
    database: Database, owner: Database, member: Member
) -> None:
    item = bring_file(database, member, PAY)
    with owner.transaction() as session:
        session.execute(delete(LibraryImport).where(LibraryImport.id == item.id))
    assert sections_kept(owner, item) == {}


# What is left lying


def age(owner: Database, item: LibraryImport, by: timedelta, **values: Any) -> None:
    with owner.transaction() as session:
        session.execute(
            update(LibraryImport)
            .where(LibraryImport.id == item.id)
            .values(updated_at=utc_now() - by, **values)
        )


def has_file(owner: Database, item: LibraryImport) -> bool:
    """Whether its file is kept; what was read in it section by section goes with that."""
    sections = select(func.count()).where(LibraryImportSection.import_id == item.id)
    with owner.session() as session:
        is_kept = session.get(LibraryImportFile, item.id) is not None
        assert is_kept or session.scalar(sections) == 0
        return is_kept


def sections_kept(owner: Database, item: LibraryImport) -> dict[tuple[int, int], tuple[str, str]]:
    """Titles and bodies that were read in its file, by document and place."""
    with owner.session() as session:
        rows = session.scalars(
            select(LibraryImportSection).where(LibraryImportSection.import_id == item.id)
        )
        return {(row.document, row.place): (row.title, row.body) for row in rows}


def tidy(database: Database, member: Member) -> None:
    TASKS["tidy_imports"](database, group_id=str(member.group_id))


def tidies_later(owner: Database, member: Member) -> bool:
    with owner.transaction() as session:
        removed = session.execute(
            text("DELETE FROM procrastinate_jobs WHERE lock = :lock RETURNING scheduled_at"),
            {"lock": f"tidy_imports:{member.group_id}"},
        )
        return any(row.scheduled_at > utc_now() for row in removed)


def test_what_nobody_confirms_is_cancelled_in_the_end(
    database: Database, owner: Database, member: Member
) -> None:
    item, other = bring_file(database, member, PAY), bring_file(database, member, MONDAY)
    assert tidies_later(owner, member)
    age(owner, item, KEPT + timedelta(hours=1))
    tidy(database, member)
    expired = look_at(database, member, item.id)
    assert (expired.status, expired.report) == ("cancelled", {"is_expired": True})
    assert not has_file(owner, item)
    assert look_at(database, member, other.id).status == "ready"
    assert has_file(owner, other)
    assert tidies_later(owner, member)


def test_the_file_of_a_failed_import_is_not_kept_for_ever(
    database: Database, owner: Database, member: Member
) -> None:
    item = bring_file(database, member, b"%PDF-1.7 and no more", "pay.pdf")
    tidy(database, member)
    assert has_file(owner, item)
    assert tidies_later(owner, member)
    age(owner, item, KEPT + timedelta(hours=1))
    tidy(database, member)
    assert not has_file(owner, item)
    assert look_at(database, member, item.id).problems
    # Nothing is left that could grow old.
    assert not tidies_later(owner, member)


def test_the_imports_of_another_house_are_not_touched(
    database: Database, owner: Database, member: Member
) -> None:
    item = bring_file(database, member, PAY)
    age(owner, item, KEPT + timedelta(hours=1))
    tidy(database, make_user(owner, role="admin"))
    assert look_at(database, member, item.id).status == "ready"


@pytest.mark.parametrize(
    ("status", "then"), [("reading", "failed"), ("applying", "failed"), ("undoing", "applied")]
)
def test_an_import_without_its_job_does_not_wait_for_ever(
    database: Database, owner: Database, member: Member, status: str, then: str
) -> None:
    item = bring_file(database, member, PAY)
    age(owner, item, LOST_AFTER - timedelta(minutes=1), status=status)
    tidy(database, member)
    assert look_at(database, member, item.id).status == status
    age(owner, item, LOST_AFTER + timedelta(minutes=1))
    tidy(database, member)
    lost = look_at(database, member, item.id)
    assert (lost.status, lost.report["is_broken"]) == (then, True)


def test_an_import_whose_job_still_waits_is_not_given_up(
    database: Database, owner: Database, member: Member
) -> None:
    item = bring_file(database, member, PAY)
    with database.session(member.scope) as session:
        apply_when_ready(session, item.id, item.plan["signature"])
    age(owner, item, LOST_AFTER * 3)
    tidy(database, member)
    assert look_at(database, member, item.id).status == "applying"


# What goes wrong in the database


def broken_by(statement: str) -> Any:
    """Storing that ends with the error of this statement."""

    def store(staging: Any, **_: Any) -> None:
        staging.session.execute(text("SET LOCAL statement_timeout = '50ms'"))
        staging.session.execute(text(statement))

    return store


def test_what_no_second_try_would_mend_in_the_database_ends_the_import(
    database: Database, owner: Database, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = bring_file(database, member, PAY)
    monkeypatch.setattr(import_jobs, "store", broken_by("SELECT 1 / 0"))
    broken = apply_file(database, member, item)
    assert (broken.status, broken.report["is_broken"]) == ("failed", True)
    assert library(owner, member) == {}


def test_a_database_that_is_busy_is_asked_again_and_at_last_the_import_fails(
    database: Database, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = bring_file(database, member, PAY)
    monkeypatch.setattr(import_jobs, "store", broken_by("SELECT pg_sleep(5)"))
    with pytest.raises(OperationalError):
        apply_file(database, member, item)
    assert look_at(database, member, item.id).status == "applying"
    scope = {"group_id": str(member.group_id), "user_id": str(member.user_id), "role": "manager"}
    TASKS["apply_import"](database, import_id=str(item.id), is_last_try=True, **scope)
    broken = look_at(database, member, item.id)
    assert (broken.status, broken.report["is_broken"]) == ("failed", True)
    assert waiting_jobs(database, member.group_id) == []


@pytest.mark.fault(42)
def test_imports_that_failed_wait_for_nobody_and_leave_their_room_to_others(
    database: Database, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_plan, "MOST_SECTIONS", 3)
    too_much = PAY + "\n## Holidays {#holidays}\nTwelve days.\n"
    assert bring_file(database, member, too_much).status == "failed"
    item = bring_file(database, member, PAY)
    monkeypatch.setattr(import_jobs, "store", broken_by("SELECT 1 / 0"))
    assert apply_file(database, member, item).status == "failed"
    monkeypatch.setattr(sys.modules[receive_file.__module__], "MOST_HELD", 1)
    with database.session(member.scope) as session:
        receive_file(session, b"# One more", "pay.md", "sop", "en")


@pytest.mark.fault(42)
def test_a_restaurant_imports_so_many_files_a_day_and_no_more(
    database: Database, owner: Database, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[receive_file.__module__], "MOST_A_DAY", 1)
    item = bring_file(database, member, PAY)
    with database.session(member.scope) as session, pytest.raises(TooMany):
        receive_file(session, b"# One more", "more.md", "sop", "en")
    with owner.transaction() as session:
        yesterday = {"created_at": LibraryImport.created_at - timedelta(days=1)}
        session.execute(update(LibraryImport).where(LibraryImport.id == item.id).values(yesterday))
    with database.session(member.scope) as session:
        receive_file(session, b"# One more", "more.md", "sop", "en")
