"""Writing an import: the same whether a page or the command line asked for it."""

from __future__ import annotations

from collections.abc import Callable

from app.accounts.audit import record
from app.db import ScopedSession, utc_now
from app.skills.knowledge.models import LibraryImport
from app.skills.knowledge.readers import Reading
from app.skills.knowledge.services.import_files import forget_earlier_readings
from app.skills.knowledge.services.import_plan import Planned, plan_import
from app.skills.knowledge.services.importer import store
from app.skills.knowledge.services.imports import LONGEST_NAME, OPERATOR, former_options
from app.skills.knowledge.services.library_lock import lock_library


def note_applied(session: ScopedSession, item: LibraryImport, planned: Planned) -> None:
    """Say of an import that it is done, and keep what the next version of its file needs."""
    item.status, item.step, item.updated_at = "applied", "", utc_now()
    item.plan, item.report = planned.plan, dict(planned.plan["counts"])
    editions = {
        document["source"]: document["chapter"]
        for document in planned.plan.get("documents", [])
        if document["chapter"]
    }
    item.options = {**item.options, "editions": {**item.options.get("editions", {}), **editions}}
    forget_earlier_readings(session, item)
    record(session, "import_applied", item.filename, item.digest)


def import_now(
    session: ScopedSession,
    reading: Reading,
    *,
    filename: str,
    digest: str,
    target: str,
    language: str,
    editions: dict[str, str],
    on_progress: Callable[[int, int], None],
) -> Planned:
    """Bring what was read into the library of the session's group, when its turn has come.

    The caller commits, or does not. The import stands in the list of them and can be undone
    there; one that changes nothing leaves no trace. `editions` are chosen as on the page.
    """
    lock_library(session)
    filename = filename[-LONGEST_NAME:]
    options = former_options(session, filename, target, language)
    options["editions"] = {**options.get("editions", {}), **editions}
    item = LibraryImport(
        group_id=session.scope.group_id, role=OPERATOR, target=target, language=language,
        filename=filename, digest=digest, options=options,
    )  # fmt: skip
    session.add(item)
    # Before anything is staged: what is staged must be written in its own order.
    session.flush()
    planned = plan_import(session, item, reading, lock=True)
    store(planned.staging, group_id=item.group_id, import_id=item.id, on_progress=on_progress)
    if planned.changes_nothing:
        session.delete(item)
    else:
        note_applied(session, item, planned)
    return planned
