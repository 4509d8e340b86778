"""What nobody needs is let go of; what somebody needs is not."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select, text, update

from app.db import Database, new_id, utc_now
from app.files.clean_up import ORPHAN_DAYS, clean_up_files
from app.files.models import StoredFile
from app.files.storage import DiskStorage, new_key, preview_of
from app.skills.forms.models import FormDraft, FormTemplate
from tests.factories import Member, make_user

DAY = timedelta(days=1)


@pytest.fixture
def member(owner: Database) -> Member:
    return make_user(owner)


@pytest.fixture
def storage(tmp_path: Path) -> DiskStorage:
    return DiskStorage(tmp_path / "files")


def make_file(
    owner: Database, storage: DiskStorage, member: Member, age: timedelta, **facts: Any
) -> UUID:
    key = new_key()
    storage.put(key, b"bytes")
    storage.put(preview_of(key), b"few")
    with owner.transaction() as session:
        file = StoredFile(
            group_id=member.group_id,
            user_id=member.user_id,
            key=key,
            name="a.jpg",
            kind="image",
            media_type="image/jpeg",
            size=5,
            sha256="",
            created_at=utc_now() - age,
            **facts,
        )
        session.add(file)
        session.flush()
        return file.id


def make_draft(owner: Database, member: Member, **facts: Any) -> UUID:
    with owner.transaction() as session:
        template = FormTemplate(group_id=member.group_id, slug=str(new_id()), fields=[])
        session.add(template)
        session.flush()
        draft = FormDraft(
            group_id=member.group_id,
            user_id=member.user_id,
            template_id=template.id,
            template_version=1,
            **facts,
        )
        session.add(draft)
        session.flush()
        return draft.id


def left(owner: Database, member: Member) -> set[UUID]:
    with owner.transaction() as session:
        mine = StoredFile.user_id == member.user_id
        return set(session.scalars(select(StoredFile.id).where(mine)))


def names(storage: DiskStorage) -> int:
    return len(list(storage.old_names(utc_now() + DAY)))


def test_the_jobs_process_does_it_every_hour() -> None:
    from app.jobs.tasks import tasks

    assert "clean_up_files" in tasks.tasks
    assert tasks.tasks["clean_up_files"].queueing_lock == "clean_up_files"


def test_what_was_uploaded_and_never_sent_goes_after_a_day(
    database: Database, owner: Database, member: Member, storage: DiskStorage
) -> None:
    make_file(owner, storage, member, 25 * DAY / 24)
    young = make_file(owner, storage, member, 23 * DAY / 24)
    kept = make_file(owner, storage, member, 90 * DAY, state="kept", owner_id=new_id())
    assert clean_up_files(database, storage).files >= 1
    assert left(owner, member) == {young, kept}
    assert names(storage) == 4
    assert clean_up_files(database, storage) == (0, 0)


@pytest.mark.parametrize(
    ("status", "age", "stays"),
    [("open", 2, True), ("open", 31, False), ("discarded", 2, False), ("submitted", 2, False)],
)
def test_a_draft_holds_its_files_while_it_is_being_filled_in(
    database: Database,
    owner: Database,
    member: Member,
    storage: DiskStorage,
    status: str,
    age: int,
    stays: bool,
) -> None:
    draft = make_draft(owner, member, status=status, updated_at=utc_now() - age * DAY)
    held = {"owner_kind": "form_draft", "owner_id": draft}
    file = make_file(owner, storage, member, 40 * DAY, **held)
    clean_up_files(database, storage)
    assert (file in left(owner, member)) is stays
    assert names(storage) == (2 if stays else 0)


def test_bytes_without_a_file_go_once_no_upload_can_be_writing_them(
    database: Database, owner: Database, member: Member, storage: DiskStorage
) -> None:
    kept = make_file(owner, storage, member, DAY, state="kept", owner_id=new_id())
    for name in (new_key(), preview_of(new_key()), f"{new_key()}.new-0a1b2c3d"):
        storage.put(name, b"left behind")
    assert clean_up_files(database, storage).orphans == 0
    past = time.time() - (ORPHAN_DAYS * 86_400 + 60)
    for path in storage.folder.glob("??/??/*"):
        os.utime(path, (past, past))
    assert clean_up_files(database, storage).orphans == 3
    assert names(storage) == 2
    assert left(owner, member) == {kept}


def test_the_files_of_a_removed_house_go_with_it(
    database: Database, owner: Database, member: Member, storage: DiskStorage
) -> None:
    make_file(owner, storage, member, DAY, state="kept", owner_id=new_id())
    with owner.transaction() as session:
        session.execute(text("DELETE FROM files WHERE group_id = :id"), {"id": member.group_id})
    past = time.time() - (ORPHAN_DAYS * 86_400 + 60)
    for path in storage.folder.glob("??/??/*"):
        os.utime(path, (past, past))
    clean_up_files(database, storage)
    assert names(storage) == 0


def test_a_colleague_can_neither_change_nor_remove_a_file(
    database: Database, owner: Database, member: Member, storage: DiskStorage
) -> None:
    file = make_file(owner, storage, member, DAY, state="kept", owner_id=new_id())
    boss = make_user(owner, member.group_id, "admin")
    with database.transaction(boss.scope) as session:
        assert session.get(StoredFile, file) is not None
        changed = session.execute(update(StoredFile).values(state="temporary"))
        assert changed.rowcount == 0  # type: ignore[attr-defined]
    colleague = make_user(owner, member.group_id)
    with database.transaction(colleague.scope) as session:
        assert session.get(StoredFile, file) is None
