"""All of one's chats as a file that is made in the background, and kept for a day.

A person has one export in a group at a time: who asks while it is made gets the same one. Its
bytes lie in the storage of files under a random name that only this row knows, and nobody but
its person sees the row. A job that died begins again from the first chat; one that was
cancelled, or that is not the newest, finds its row gone and leaves nothing behind.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import structlog
from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from app.assistant.models import ChatExport, own
from app.assistant.threads.export import Letterhead, as_zip
from app.assistant.threads.threads import own_threads
from app.db import Database, JsonObject, Scope, ScopedSession, new_id, utc_now
from app.errors import N_, NotFound
from app.files.spool import SpooledFile
from app.files.storage import Storage, new_key
from app.jobs.queue import defer
from app.notifications.services import notify
from app.text.translation import translated

# So many are written while they are sent; more would keep a worker of the web server busy.
FEW_CHATS = 20
KEPT = timedelta(hours=24)
# A job that lives tells how far it is twice a second, and is tried again for a minute or two.
LOST_AFTER = timedelta(hours=1)
TELL_EVERY = 0.5
WORKING = ("waiting", "working")
READY = N_("Your chats are ready to download. The file is kept for a day.")
FAILED = N_("Your chats could not be exported. Try again.")
PAGE = "/chats"

log = structlog.get_logger()


def count_chats(session: ScopedSession) -> int:
    """How many chats the person has in this group."""
    chats = own_threads(session).order_by(None).subquery()
    return session.scalar(select(func.count()).select_from(chats)) or 0


def state_of(export: ChatExport) -> str:
    """Its status, but for one whose job was lost: that has failed."""
    is_lost = export.status in WORKING and export.updated_at < utc_now() - LOST_AFTER
    return "failed" if is_lost else export.status


def find_export(session: ScopedSession) -> ChatExport | None:
    """The person's export, unless its day is over."""
    found = session.scalar(select(ChatExport).where(*own(session, ChatExport)))
    is_over = found and found.status == "ready" and found.updated_at < utc_now() - KEPT
    return None if is_over else found


def load_ready_export(session: ScopedSession, export_id: UUID) -> ChatExport:
    """The person's own export that can be downloaded.

    Raises:
        NotFound: it is not ready, its day is over, or it is not theirs.
    """
    found = find_export(session)
    if found is None or found.id != export_id or found.status != "ready":
        raise NotFound("This export is no longer there. Export your chats again.")
    return found


def begin_export(session: ScopedSession, letterhead: Letterhead) -> ChatExport:
    """Have all chats exported; commits. One that is being made already is the same one."""
    scope = session.scope
    now, head = utc_now(), _as_stored(letterhead)
    fresh = {"id": new_id(), "status": "waiting", "done": 0, "letterhead": head, "updated_at": now}
    fresh["total"] = count_chats(session)
    is_over = ChatExport.status.not_in(WORKING) | (ChatExport.updated_at < now - LOST_AFTER)
    made = session.scalar(
        insert(ChatExport)
        .values(**fresh, group_id=scope.group_id, user_id=scope.user_id, key=new_key(), size=0)
        # The next one of this person has the same key, so that no bytes are left behind.
        .on_conflict_do_update(index_elements=["group_id", "user_id"], set_=fresh, where=is_over)
        .returning(ChatExport.id)
    )
    if made is not None:
        lock = f"exports:{scope.group_id}"
        defer(session, "export_chats", lock=lock, **_arguments(scope, made))
    session.commit()
    return session.scalars(select(ChatExport).where(*own(session, ChatExport))).one()


def cancel_export(session: ScopedSession) -> str | None:
    """Forget the person's export, whatever has come of it; commits. Returns its bytes' name."""
    gone = delete(ChatExport).where(*own(session, ChatExport)).returning(ChatExport.key)
    key = session.scalar(gone)
    session.commit()
    return key


def _as_stored(letterhead: Letterhead) -> JsonObject:
    return {**asdict(letterhead), "zone": letterhead.zone.key}


def _letterhead(stored: JsonObject) -> Letterhead:
    return Letterhead(**{**stored, "zone": ZoneInfo(stored["zone"])})


def _arguments(scope: Scope, export_id: UUID) -> dict[str, Any]:
    return {"export_id": export_id, "group_id": scope.group_id, "user_id": scope.user_id}


# In the background


class NotWanted(Exception):
    """Somebody cancelled the export, or asked for another, while it was made."""


@dataclass
class Job:
    """The export that is made, and how far it is: told in transactions of its own."""

    database: Database
    scope: Scope
    export_id: UUID
    done: int = 0
    _told: float = field(default=0.0, repr=False)

    def tell(self) -> None:
        """Note that another chat is done, twice a second at most.

        Raises:
            NotWanted
        """
        self.done += 1
        if time.monotonic() - self._told >= TELL_EVERY:
            self._told = time.monotonic()
            self.note(status="working", done=self.done)

    def note(self, **values: Any) -> None:
        """Write it down, as long as it is still to be made.

        Raises:
            NotWanted
        """
        with self.database.transaction(self.scope) as session:
            self.note_in(session, **values)

    def note_in(self, session: ScopedSession, **values: Any) -> None:
        """The same in a transaction that there is."""
        mine = (*own(session, ChatExport), ChatExport.id == self.export_id)
        noted = session.execute(
            update(ChatExport)
            .where(*mine, ChatExport.status.in_(WORKING))
            .values(**values, updated_at=utc_now())
            .returning(ChatExport.id)
        )
        if noted.first() is None:
            raise NotWanted


def export_chats(
    database: Database,
    storage: Storage,
    *,
    export_id: str,
    group_id: str,
    user_id: str,
    is_last_try: bool = False,
) -> None:
    """Write the file of an export, put it into the storage, and tell its person.

    Needs a request context, because what was cited is linked to.
    """
    job = Job(database, Scope(UUID(group_id), UUID(user_id)), UUID(export_id))
    try:
        _export(job, storage)
    except NotWanted:
        log.info("chat export cancelled", id=export_id)
    except Exception:
        if not is_last_try:
            raise
        log.exception("chat export failed", id=export_id)
        _end(job, FAILED, status="failed")


def _export(job: Job, storage: Storage) -> None:
    with job.database.transaction(job.scope) as session:
        job.note_in(session, status="working", done=0, total=count_chats(session))
        item = session.scalars(select(ChatExport).where(*own(session, ChatExport))).one()
        key, letterhead = item.key, _letterhead(item.letterhead)
    with SpooledFile(storage.spool) as file:
        for piece in as_zip(lambda: job.database.transaction(job.scope), letterhead, job.tell):
            file.write(piece)
        size = file.size
        job.note(status="working", done=job.done)
        storage.put(key, file)
    try:
        _end(job, READY, status="ready", done=job.done, total=job.done, size=size)
    except NotWanted:
        _remove_unknown(job, storage, key)
        raise


def _end(job: Job, told: str, **values: Any) -> None:
    """Note how it ended, tell its person, and have it forgotten after its day."""
    with job.database.transaction(job.scope) as session:
        job.note_in(session, **values)
        texts = {language: translated(told, language) for language in ("en", "es")}
        assert job.scope.user_id
        notify(session, job.scope.user_id, texts, PAGE)
        arguments = _arguments(job.scope, job.export_id)
        defer(session, "forget_chat_export", at=utc_now() + KEPT, **arguments)


def _remove_unknown(job: Job, storage: Storage, key: str) -> None:
    """Let go of what was put after it was cancelled, unless another export has this key."""
    with job.database.transaction(job.scope) as session:
        known = select(ChatExport.id).where(*own(session, ChatExport), ChatExport.key == key)
        is_known = session.scalar(known) is not None
    if not is_known:
        storage.remove(key)


def forget_chat_export(
    database: Database,
    storage: Storage,
    *,
    export_id: str,
    group_id: str,
    user_id: str,
) -> None:
    """Let go of an export whose day is over: its row, then its bytes."""
    scope = Scope(UUID(group_id), UUID(user_id))
    with database.transaction(scope) as session:
        mine = (*own(session, ChatExport), ChatExport.id == UUID(export_id))
        over = ChatExport.status.not_in(WORKING)
        key = session.scalar(delete(ChatExport).where(*mine, over).returning(ChatExport.key))
    if key is not None:
        storage.remove(key)
