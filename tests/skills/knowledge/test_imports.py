"""Imports as services: planned, applied as a whole, re-imported, cancelled and undone."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import func, select, text, update

from app.accounts.models import AuditEntry
from app.db import Database
from app.errors import Conflict, InvalidInput, NotFound, TooMany
from app.retrieval.models import SearchDocument
from app.skills.knowledge.models import (
    LibraryImport,
    LibraryImportFile,
    LibraryRevision,
    ManualSection,
)
from app.skills.knowledge.services import import_jobs, import_plan
from app.skills.knowledge.services.import_jobs import TASKS
from app.skills.knowledge.services.imports import (
    apply_when_ready,
    cancel_import,
    choose_editions,
    load_import,
    receive_file,
    undo_import,
)
from app.skills.knowledge.services.sections import count_letters
from tests.factories import Member, embed_library, make_section, make_user
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
PAGO = """# Pago {#pay}
Cómo pagamos.

## Propinas {#tips}
Las propinas se juntan cada viernes.
"""


@pytest.fixture(autouse=True)
def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read in this process: starting one for each file would take minutes in all."""
    monkeypatch.setattr(import_jobs, "read_apart", read_in_this_process)


@pytest.fixture
def member(owner: Database) -> Member:
    return make_user(owner, role="manager")


def sections(owner: Database, member: Member) -> dict[str, ManualSection]:
    with owner.session() as session:
        query = select(ManualSection).where(ManualSection.group_id == member.group_id)
        return {section.slug: section for section in session.scalars(query)}


def passages(owner: Database, member: Member) -> Sequence[SearchDocument]:
    with owner.session() as session:
        query = select(SearchDocument).where(SearchDocument.group_id == member.group_id)
        return session.scalars(query.order_by(SearchDocument.title)).all()


def revisions(owner: Database, item: LibraryImport) -> int:
    with owner.session() as session:
        query = select(func.count()).where(LibraryRevision.import_id == item.id)
        return session.scalar(query) or 0


def vectors_made_at(owner: Database, member: Member) -> dict[Any, Any]:
    with owner.session() as session:
        rows = session.execute(
            text("SELECT document_id, created_at FROM embeddings WHERE group_id = :group"),
            {"group": member.group_id},
        )
        return {row.document_id: row.created_at for row in rows}


def test_a_preview_changes_nothing_and_says_what_would(
    database: Database, owner: Database, member: Member
) -> None:
    item = bring_file(database, member, PAY)
    assert item.status == "ready"
    assert item.plan["counts"] == {"added": 3, "changed": 0, "removed": 0, "unchanged": 0}
    assert [(e["title"], e["depth"], e["what"]) for e in item.plan["entries"]] == [
        ("Pay", 0, "added"),
        ("Tips", 1, "added"),
        ("Overtime", 1, "added"),
    ]
    assert sections(owner, member) == {}


def test_a_file_that_brings_more_sections_than_a_manual_has_is_refused(
    database: Database, owner: Database, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_file(database, member, PAY)
    monkeypatch.setattr(import_plan, "MOST_SECTIONS", 3)
    item = bring_file(database, member, PAY + "\n## Holidays {#holidays}\nTwelve days.\n")
    assert (item.status, item.problems) == ("failed", [["", "manual_full", "4", True]])
    assert set(sections(owner, member)) == {"pay", "tips", "overtime"}
    # What is there may still be changed.
    again = bring_file(database, member, PAY.replace("Tips", "Tips and more", 1))
    assert again.status == "ready"


@pytest.mark.fault(67)
def test_a_file_by_which_a_manual_has_too_many_characters_is_refused(
    database: Database, owner: Database, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_file(database, member, PAY)
    letters = sum(map(count_letters, sections(owner, member).values()))
    monkeypatch.setattr(import_plan, "MOST_LETTERS_IN_ALL", letters + 10)
    holidays = "\n## Holidays {#holidays}\nTwelve days.\n"
    item = bring_file(database, member, PAY + holidays)
    problem = ["", "manual_too_long", str(letters + len("HolidaysTwelve days.")), True]
    assert (item.status, item.problems) == ("failed", [problem])
    assert set(sections(owner, member)) == {"pay", "tips", "overtime"}
    assert bring_file(database, member, PAY.replace("Tips", "Tips, too", 1)).status == "ready"
    # Shorter it may become, though it is too long still.
    monkeypatch.setattr(import_plan, "MOST_LETTERS_IN_ALL", 10)
    assert bring_file(database, member, PAY.replace("Tips", "Tip", 1)).status == "ready"


@pytest.mark.fault(67)
def test_what_there_is_no_room_for_any_more_is_not_imported(
    database: Database, owner: Database, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = bring_file(database, member, PAY)
    assert item.status == "ready"
    # Another file was imported meanwhile.
    monkeypatch.setattr(import_plan, "MOST_LETTERS_IN_ALL", 10)
    done = apply_file(database, member, item)
    assert (done.status, [each[1] for each in done.problems]) == ("failed", ["manual_too_long"])
    assert sections(owner, member) == {}


def test_what_was_shown_is_imported_and_found_and_noted(
    database: Database, owner: Database, member: Member
) -> None:
    item = import_file(database, member, PAY)
    assert item.status == "applied"
    assert item.report["added"] == 3
    assert {"pay", "tips", "overtime"} == set(sections(owner, member))
    assert len(passages(owner, member)) == 3
    assert revisions(owner, item) == 3
    assert ("embed_missing", {"group_id": str(member.group_id)}) in waiting_jobs(
        database, member.group_id
    )
    with owner.session() as session:
        actions = session.scalars(
            select(AuditEntry.action).where(AuditEntry.group_id == member.group_id)
        ).all()
        content = session.scalar(
            select(LibraryImportFile.content).where(LibraryImportFile.import_id == item.id)
        )
    assert {"import_uploaded", "import_applied"} <= set(actions)
    assert content == b""


def test_the_same_file_again_is_nothing_to_do(database: Database, member: Member) -> None:
    import_file(database, member, PAY)
    again = bring_file(database, member, PAY)
    assert again.status == "applied"
    assert again.report["nothing"] is True
    with database.session(member.scope) as session, pytest.raises(Conflict):
        undo_import(session, again.id)


def test_a_changed_file_changes_only_what_differs(
    database: Database, owner: Database, member: Member
) -> None:
    import_file(database, member, PAY)
    changed = PAY.replace("every Friday", "every Monday").split("## Overtime")[0]
    item = bring_file(database, member, changed + "\n## Holidays {#holidays}\nTwelve days.\n")
    assert item.plan["counts"] == {"added": 1, "changed": 1, "removed": 1, "unchanged": 1}
    apply_file(database, member, item)
    assert sections(owner, member)["tips"].body_en == "Tips are pooled every Monday."
    assert not sections(owner, member)["overtime"].is_published
    assert revisions(owner, item) == 3


def test_an_edited_paragraph_gets_new_vectors_for_its_passages_only(
    database: Database, owner: Database, member: Member
) -> None:
    import_file(database, member, PAY)
    embed_library(owner, member.group_id)
    before = vectors_made_at(owner, member)
    import_file(database, member, PAY.replace("every Friday", "every Monday"))
    embed_library(owner, member.group_id)
    after = vectors_made_at(owner, member)
    assert len(after) == len(before) == 3
    assert sum(after[id_] != before.get(id_) for id_ in after) == 1


def test_the_same_file_at_once_is_one_import(database: Database, member: Member) -> None:
    first = bring_file(database, member, PAY)
    with database.session(member.scope) as session:
        second, is_new = receive_file(session, PAY.encode(), "other.md", "sop", "en")
    assert second.id == first.id
    assert not is_new


def test_two_at_once_of_the_same_file_become_one_import(database: Database, member: Member) -> None:
    found: list[Any] = []

    def bring() -> None:
        with database.session(member.scope) as session:
            found.append(receive_file(session, PAY.encode(), "pay.md", "sop", "en"))

    threads = [threading.Thread(target=bring) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({item.id for item, _is_new in found}) == 1
    assert sum(is_new for _item, is_new in found) == 1


def test_applying_twice_at_once_imports_once(
    database: Database, owner: Database, member: Member
) -> None:
    item = bring_file(database, member, PAY)
    with database.session(member.scope) as session:
        apply_when_ready(session, item.id, item.plan["signature"])
        apply_when_ready(session, item.id, item.plan["signature"])
    [job] = [job for job in waiting_jobs(database, member.group_id) if job[0] == "apply_import"]
    # As when a worker was taken for dead, and was only slow.
    workers = [
        threading.Thread(target=TASKS["apply_import"], args=(database,), kwargs=job[1])
        for _ in range(2)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert look_at(database, member, item.id).status == "applied"
    assert revisions(owner, item) == 3
    assert {section.version for section in sections(owner, member).values()} == {1}


@pytest.mark.fault(65)
def test_what_is_done_with_a_groups_imports_takes_turns(
    owner: Database, database: Database, member: Member
) -> None:
    """Or one group's would take every place that there is."""
    done = bring_file(database, member, PAY)
    with database.session(member.scope) as session:
        receive_file(session, PAGO.encode(), "pago.md", "sop", "es")
        apply_when_ready(session, done.id, str(done.plan["signature"]))
    with owner.session() as session:
        query = text("SELECT task_name, lock FROM procrastinate_jobs WHERE args->>'group_id' = :id"
                     " AND task_name ~ '_import$'")  # fmt: skip
        jobs = session.execute(query, {"id": str(member.group_id)}).all()
    assert {name.split(":")[1] for name, _lock in jobs} >= {"read_import", "apply_import"}
    assert {lock for _name, lock in jobs} == {f"imports:{member.group_id}"}


def test_two_imports_of_one_chapter_applied_at_once_take_turns(
    database: Database, owner: Database, member: Member
) -> None:
    texts = (PAY, PAY.replace("every Friday", "every Monday"))
    items = [bring_file(database, member, content) for content in texts]
    with database.session(member.scope) as session:
        for item in items:
            apply_when_ready(session, item.id, item.plan["signature"])
    jobs = [job for job in waiting_jobs(database, member.group_id) if job[0] == "apply_import"]
    workers = [
        threading.Thread(target=TASKS[name], args=(database,), kwargs=args) for name, args in jobs
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    statuses = sorted(look_at(database, member, item.id).status for item in items)
    # The second found a library that was not the one of its preview, and shows that.
    assert statuses == ["applied", "ready"]
    [late] = [each for each in items if look_at(database, member, each.id).status == "ready"]
    late = look_at(database, member, late.id)
    assert late.report["is_replanned"] is True
    assert late.plan["counts"]["changed"] == 1
    assert len(sections(owner, member)) == 3


def test_a_library_that_changed_since_the_preview_shows_the_new_plan(
    database: Database, owner: Database, member: Member
) -> None:
    item = bring_file(database, member, PAY)
    make_section(owner, member.group_id, "tips", "Tips", "Nobody shares.")
    again = apply_file(database, member, item)
    assert again.status == "ready"
    assert again.report["is_replanned"] is True
    assert again.plan["counts"]["changed"] == 1
    assert sections(owner, member)["tips"].body_en == "Nobody shares."
    assert apply_file(database, member, again).status == "applied"


def test_an_old_preview_cannot_be_applied(database: Database, member: Member) -> None:
    item = bring_file(database, member, PAY)
    with database.session(member.scope) as session, pytest.raises(Conflict):
        apply_when_ready(session, item.id, "another")


@pytest.mark.parametrize("status", ["waiting", "reading", "ready", "applying"])
def test_an_import_can_be_cancelled_until_it_is_written(
    database: Database, owner: Database, member: Member, status: str
) -> None:
    item = bring_file(database, member, PAY)
    with database.session(member.scope) as session:
        if status == "applying":
            apply_when_ready(session, item.id, item.plan["signature"])
        else:
            load_import(session, item.id).status = status
            session.commit()
        cancel_import(session, item.id, status)
    do_jobs(database, member.group_id)
    assert look_at(database, member, item.id).status == "cancelled"
    assert sections(owner, member) == {}


def test_cancelling_in_the_middle_of_applying_leaves_nothing(
    database: Database, owner: Database, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = bring_file(database, member, PAY)
    written = import_jobs.store

    def store_then_somebody_cancels(*args: Any, **facts: Any) -> None:
        written(*args, **facts)
        with database.session(member.scope) as session:
            cancel_import(session, item.id, "applying")

    monkeypatch.setattr(import_jobs, "store", store_then_somebody_cancels)
    assert apply_file(database, member, item).status == "cancelled"
    assert sections(owner, member) == {}
    assert passages(owner, member) == []


def test_it_is_too_late_to_cancel_what_is_imported(database: Database, member: Member) -> None:
    item = import_file(database, member, PAY)
    with database.session(member.scope) as session, pytest.raises(Conflict):
        cancel_import(session, item.id, item.status)


def test_undo_takes_back_what_was_added_changed_and_removed(
    database: Database, owner: Database, member: Member
) -> None:
    import_file(database, member, PAY)
    before = {s.slug: (s.body_en, s.is_published) for s in sections(owner, member).values()}
    words = {(p.title, p.text, p.is_published) for p in passages(owner, member)}
    changed = PAY.replace("every Friday", "every Monday").split("## Overtime")[0]
    item = import_file(database, member, changed + "\n## Holidays {#holidays}\nTwelve days.\n")
    undone = undo_file(database, member, item)
    assert undone.status == "undone"
    assert undone.report["undone"] == {
        "restored": 2, "removed": 1, "left": [], "left_count": 0,
    }  # fmt: skip
    assert before == {s.slug: (s.body_en, s.is_published) for s in sections(owner, member).values()}
    assert words == {(p.title, p.text, p.is_published) for p in passages(owner, member)}


def test_undo_leaves_what_was_changed_since_and_names_it(
    database: Database, owner: Database, member: Member
) -> None:
    import_file(database, member, PAY)
    item = import_file(database, member, PAY.replace("every Friday", "every Monday"))
    import_file(database, member, PAY.replace("every Friday", "every Tuesday"))
    undone = undo_file(database, member, item)
    assert undone.report["undone"]["left"] == ["Tips"]
    assert sections(owner, member)["tips"].body_en == "Tips are pooled every Tuesday."


def test_undo_keeps_an_added_chapter_that_others_have_put_something_under(
    database: Database, owner: Database, member: Member
) -> None:
    item = import_file(database, member, PAY)
    own = make_section(owner, member.group_id, "night-pay", "Night pay", "More.")
    chapter = sections(owner, member)["pay"]
    with owner.transaction() as session:
        session.execute(
            update(ManualSection).where(ManualSection.id == own.id).values(parent_id=chapter.id)
        )
    undone = undo_file(database, member, item)
    assert undone.report["undone"]["left"] == ["Pay"]
    assert set(sections(owner, member)) == {"pay", "night-pay"}


def test_an_import_after_an_undo_imports_again(
    database: Database, owner: Database, member: Member
) -> None:
    undo_file(database, member, import_file(database, member, PAY))
    assert sections(owner, member) == {}
    assert import_file(database, member, PAY).report["added"] == 3


def test_the_other_language_joins_its_sections_by_name(
    database: Database, owner: Database, member: Member
) -> None:
    import_file(database, member, PAY, "pay.en.md")
    item = bring_file(database, member, PAGO, "pay.es.md", language="es")
    [document] = item.plan["documents"]
    assert document["chapter"] == "pay"
    assert document["alone_there"] == ["Overtime"]
    assert item.plan["counts"] == {"added": 0, "changed": 2, "removed": 0, "unchanged": 0}
    apply_file(database, member, item)
    tips = sections(owner, member)["tips"]
    assert (tips.title_en, tips.title_es) == ("Tips", "Propinas")


LONG = "A sentence that is long enough to be read. " * 90
HANDBOOK = f"""# Handbook
Welcome.

## Doors
Open at 7:30. {LONG}

## Cold
Below 41 F. {LONG}

## Night
Close at 23:15. {LONG}
"""
MANUAL = f"""# Manual
Hola.

## Puertas
Abrimos a las 7:30. {LONG}

## Noche
Cerramos a las 23:15. {LONG}
"""


def test_a_person_says_what_a_file_is_the_other_language_of(
    database: Database, owner: Database, member: Member
) -> None:
    import_file(database, member, HANDBOOK, "handbook.md")
    item = bring_file(database, member, MANUAL, "manual-de-casa.md", language="es")
    assert item.plan["counts"]["added"] == 3
    with database.session(member.scope) as session:
        choose_editions(session, item.id, {"manual-de-casa": "handbook"}, item.plan["signature"])
    do_jobs(database, member.group_id)
    item = look_at(database, member, item.id)
    # The section about the cold is missing, and the one after it still finds its partner.
    assert item.plan["counts"] == {"added": 0, "changed": 3, "removed": 0, "unchanged": 0}
    assert item.plan["documents"][0]["alone_there"] == ["Cold"]
    apply_file(database, member, item)
    assert sections(owner, member)["handbook-night"].title_es == "Noche"
    assert sections(owner, member)["handbook-cold"].title_es == ""
    again = bring_file(database, member, MANUAL, "manual-de-casa.md", language="es")
    assert again.report["nothing"] is True


def test_a_text_of_its_own_shares_no_section_with_the_other_language(
    database: Database, owner: Database, member: Member
) -> None:
    import_file(database, member, PAY, "pay.en.md")
    item = bring_file(database, member, PAGO, "pay.es.md", language="es")
    with database.session(member.scope) as session:
        choose_editions(session, item.id, {"pay": ""}, item.plan["signature"])
    do_jobs(database, member.group_id)
    item = look_at(database, member, item.id)
    assert item.plan["counts"] == {"added": 2, "changed": 0, "removed": 0, "unchanged": 0}
    apply_file(database, member, item)
    assert sections(owner, member)["tips"].title_es == ""
    assert sections(owner, member)["tips-es"].title_es == "Propinas"
    changed = bring_file(
        database, member, PAGO.replace("viernes", "lunes"), "pay.es.md", language="es"
    )
    assert changed.plan["counts"] == {"added": 0, "changed": 1, "removed": 0, "unchanged": 1}


def test_only_a_chapter_in_the_other_language_can_be_chosen(
    database: Database, owner: Database, member: Member
) -> None:
    make_section(owner, member.group_id, "house", "House", "Ours.")
    item = bring_file(database, member, PAY)
    with database.session(member.scope) as session, pytest.raises(InvalidInput):
        choose_editions(session, item.id, {"pay": "house"}, item.plan["signature"])


def test_markdown_says_itself_what_kind_it_is(
    database: Database, owner: Database, member: Member
) -> None:
    import_file(database, member, f"---\nkind: policy\n---\n{PAY}")
    assert {section.kind for section in sections(owner, member).values()} == {"policy"}


def test_a_chapter_that_is_not_there_cannot_be_chosen(database: Database, member: Member) -> None:
    item = bring_file(database, member, PAY)
    with database.session(member.scope) as session, pytest.raises(InvalidInput):
        choose_editions(session, item.id, {"pay": "no-such-chapter"}, item.plan["signature"])


def test_a_file_that_cannot_be_read_fails_with_the_reason(
    database: Database, member: Member
) -> None:
    item = bring_file(database, member, b"%PDF-1.7 and no more", "pay.pdf")
    assert item.status == "failed"
    assert item.problems


@pytest.mark.parametrize(
    ("content", "target", "language"),
    [(b"", "sop", "en"), (b"x", "songs", "en"), (b"x", "sop", "fr")],
)
def test_what_cannot_be_an_import_is_refused(
    database: Database, member: Member, content: bytes, target: str, language: str
) -> None:
    with database.session(member.scope) as session, pytest.raises(InvalidInput):
        receive_file(session, content, "pay.md", target, language)


def test_imports_of_another_house_do_not_exist(
    database: Database, owner: Database, member: Member
) -> None:
    item = bring_file(database, member, PAY)
    stranger = make_user(owner, role="admin")
    with database.session(stranger.scope) as session, pytest.raises(NotFound):
        cancel_import(session, item.id, item.status)


def test_a_job_that_is_done_again_does_nothing_again(
    database: Database, owner: Database, member: Member
) -> None:
    item = import_file(database, member, PAY)
    scope = {"group_id": str(member.group_id), "user_id": str(member.user_id), "role": "manager"}
    for name in ("read_import", "apply_import", "undo_import"):
        TASKS[name](database, import_id=str(item.id), **scope)
    assert look_at(database, member, item.id).status == "applied"
    assert revisions(owner, item) == 3


def test_what_breaks_here_is_told_and_changes_nothing(
    database: Database, owner: Database, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = bring_file(database, member, PAY)

    def break_down(*_: Any, **__: Any) -> None:
        raise RuntimeError("a mistake of ours")

    monkeypatch.setattr(import_jobs, "store", break_down)
    broken = apply_file(database, member, item)
    assert (broken.status, broken.report["is_broken"]) == ("failed", True)
    assert sections(owner, member) == {}


@pytest.mark.fault(42)
def test_imports_that_nobody_applies_leave_room_for_no_more(
    database: Database, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The package names a blueprint like the module.
    monkeypatch.setattr(sys.modules[receive_file.__module__], "MOST_HELD", 2)
    with database.session(member.scope) as session:
        for number in range(2):
            receive_file(session, f"# Part {number}".encode(), "pay.md", "sop", "en")
        with pytest.raises(TooMany):
            receive_file(session, b"# One more", "pay.md", "sop", "en")
        # The same file under way is no other one.
        _item, is_new = receive_file(session, b"# Part 0", "pay.md", "sop", "en")
    assert not is_new
