"""Writing what a page sends into a draft: field by field, only what was changed on that page."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select

from app.db import ScopedSession, read_id
from app.errors import Conflict, NotFound
from app.fields.definitions import FormField
from app.fields.form_data import (
    TypedForm,
    mark_of,
    raw_of,
    read_seen,
    read_shape,
    shape_of,
)
from app.fields.phones import read_region
from app.fields.validation import check_values
from app.fields.values import has_value
from app.skills.forms.models import FormDraft, FormTemplate, FormTemplateVersion
from app.skills.forms.services.attachments import hold_draft_files, let_draft_files_go
from app.skills.forms.services.drafts import (
    Change,
    Filling,
    blank_draft,
    change_fields,
    check_room,
    forget_discarded,
    load_draft,
    open_draft,
    read_fields_of,
    read_filling,
    undo_change,
)
from app.skills.forms.services.field_context import field_context
from app.skills.forms.services.templates import load_template, version_of
from app.text.normalize import fold

LONGEST_PAGE = 32


@dataclass(frozen=True)
class Saved:
    """What came of a save.

    `changed` are the fields that this page changed; of these `overtaken` had been changed
    elsewhere since it saw them. `behind` are those that it shows as they were before. `on_page`
    are the fields that it shows at all. `resolved` are those in which it has the beginning of a
    name, which is read as that of a contact.
    """

    filling: Filling
    changed: frozenset[str]
    overtaken: frozenset[str]
    behind: frozenset[str]
    on_page: frozenset[str]
    resolved: frozenset[str]

    @property
    def unseen(self) -> frozenset[str]:
        """The fields that would be handed in with something, and that the page does not show."""
        shown = {field.name for field in self.filling.shown}
        return frozenset(shown & self.filling.checked.values.keys()) - self.on_page


def lock_draft(
    session: ScopedSession, draft_id: UUID, form: TypedForm, *, may_begin: bool
) -> tuple[FormDraft, bool]:
    """The draft that a page writes to, locked; begun now where the page has just begun it.

    One begins only where the id `may_begin` one, because it was issued to this person.

    Returns:
        It, and whether it is new.

    Raises:
        NotFound: there is none, and the page names no form to begin or may begin none.
        Conflict: the form has been archived before anything was saved.
        TooMany: as many are begun as one person may have.
    """
    template_id = read_id(form.get("begin") or "")
    try:
        draft = load_draft(session, draft_id, lock=True)
    except NotFound:
        if template_id is None or not may_begin:
            raise
    else:
        if draft.status == "discarded":
            # Whoever goes on typing has not meant to throw it away.
            check_room(session)
            draft.status = "open"
            hold_draft_files(session, draft, read_fields_of(session, draft))
        return draft, False
    template = load_template(session, template_id)
    if template.status == "archived":
        raise Conflict(
            "This form was archived in the meantime and can no longer be started. "
            "What you typed is still here: copy what you need, or ask whoever "
            "manages the forms."
        )
    if template.status != "published":
        raise NotFound("There is no such form here. It may have been archived.")
    version = _version_seen(session, template, form.get("version") or "")
    return open_draft(session, template, draft_id=draft_id, version=version), True


def read_posted_fields(
    session: ScopedSession, draft_id: UUID, form: TypedForm
) -> tuple[FormField, ...]:
    """The fields of the page that a form was posted from; none where nothing can be written."""
    try:
        draft = load_draft(session, draft_id)
    except NotFound:
        template = load_template(session, read_id(form.get("begin") or "") or UUID(int=0))
        if template.status != "published":
            return ()
        version = _version_seen(session, template, form.get("version") or "")
        return version_of(session, template, version).fields
    return () if draft.status == "submitted" else read_fields_of(session, draft)


def _version_seen(session: ScopedSession, template: FormTemplate, seen: str) -> int:
    """The version of the template that the page was made with, if there is such a one."""
    version = int(seen) if seen.isdecimal() and len(seen) < len("1000000") else template.version
    if version == template.version:
        return version
    kept = session.scalar(
        select(FormTemplateVersion.version).where(
            FormTemplateVersion.template_id == template.id, FormTemplateVersion.version == version
        )
    )
    return kept or template.version


def save_typed(session: ScopedSession, draft: FormDraft, form: TypedForm, language: str) -> Saved:
    """Write what a page sent into a draft that is held. Never commits.

    Raises:
        Conflict: it has been handed in or thrown away meanwhile.
    """
    filling = read_filling(session, draft, language)
    changes: dict[str, Change] = {}
    behind: set[str] = set()
    on_page: set[str] = set()
    people: dict[str, str] = {}
    region = read_region(form.get("region"))
    for field in filling.fields:
        seen = read_seen(form.get(f"s-{field.name}"))
        if seen is None:
            continue
        on_page.add(field.name)
        if not has_value(field):
            continue
        shape = read_shape(field, form, shape_in(filling, field))
        if field.type == "person":
            people[field.name] = shape["name"]
        if mark_of(shape) != seen.mark:
            changes[field.name] = Change(raw_of(field, shape), seen=seen.version, region=region)
        elif draft.field_versions.get(field.name, 0) > seen.version:
            behind.add(field.name)
    page = (form.get("page") or "")[:LONGEST_PAGE]
    own = {name for name, origin in draft.origins.items() if page and origin.get("page") == page}
    done = change_fields(session, draft, changes, language)
    _sign(draft, done.changed, page)
    hold_draft_files(session, draft, filling.fields)
    return Saved(
        done.filling,
        # What is there already counts too: the page that sent it does not know of it.
        frozenset(changes),
        # A page whose answer was lost has not seen its own last save.
        frozenset(done.overtaken) - own,
        frozenset(behind),
        frozenset(on_page),
        frozenset(_read_as_others(done.filling, people)),
    )


def _read_as_others(filling: Filling, names: Mapping[str, str]) -> Iterator[str]:
    """The fields that name somebody otherwise than the page did; `names` are the page's."""
    for field, name in names.items():
        read = filling.checked.values.get(field)
        if isinstance(read, Mapping) and fold(str(read["name"])).strip() != fold(name).strip():
            yield field


def undo_on_page(
    session: ScopedSession, draft: FormDraft, name: str, form: TypedForm, language: str
) -> Filling:
    """Give a field back what it held before what the page shows, and save all else that it sent.

    Pressed twice is once: the second time the page has not seen what the first has brought
    back, and it is only shown. Never commits.

    Raises:
        Conflict: it has been handed in or thrown away meanwhile.
    """
    seen = read_seen(form.get(f"s-{name}"))
    is_seen = seen is None or seen.version == draft.field_versions.get(name, 0)
    saved = save_typed(session, draft, form, language)
    return undo_change(session, draft, name, language).filling if is_seen else saved.filling


def _sign(draft: FormDraft, names: Collection[str], page: str) -> None:
    """Note which page has changed these fields."""
    signed = {name: {**draft.origins[name], "page": page} for name in names}
    draft.origins = {**draft.origins, **signed}


def unsaved_filling(
    session: ScopedSession,
    template: FormTemplate,
    form: TypedForm,
    language: str,
    *,
    draft_id: UUID | None = None,
) -> Filling:
    """A form as a page has it that is stored nowhere: a new one, or one that could not be saved."""
    version = _version_seen(session, template, form.get("version") or "")
    draft = blank_draft(session, template, draft_id=draft_id, version=version)
    shown = version_of(session, template, draft.template_version)
    shapes = {
        field.name: read_shape(field, form, shape_of(field, None))
        for field in shown.fields
        if has_value(field) and read_seen(form.get(f"s-{field.name}"))
    }
    raws = {
        field.name: raw_of(field, shapes[field.name])
        for field in shown.fields
        if field.name in shapes
    }
    draft.typed = {name: raw for name, raw in raws.items() if raw is not None}
    around = field_context(session, language, draft.id)
    return Filling(draft, template, shown, check_values(shown.fields, draft.typed, around))


def shape_in(filling: Filling, field: FormField) -> object:
    """A field of a draft as the page shows it."""
    name = field.name
    return shape_of(field, filling.draft.typed.get(name), filling.checked.values.get(name))


def discard_draft(session: ScopedSession, draft_id: UUID) -> FormDraft:
    """Throw a half-filled form away; `restore_draft` brings it back within a day. Commits.

    Raises:
        Conflict: it has been handed in.
    """
    return _move(session, draft_id, "discarded")


def restore_draft(session: ScopedSession, draft_id: UUID) -> FormDraft:
    """Bring back what was thrown away. Commits.

    Raises:
        TooMany: as many are open as one person may have.
    """
    return _move(session, draft_id, "open")


def _move(session: ScopedSession, draft_id: UUID, status: str) -> FormDraft:
    draft = load_draft(session, draft_id, lock=True)
    if draft.status == "submitted":
        raise Conflict("This form has already been sent. Open a new one.")
    if status == "open" and draft.status != "open":
        check_room(session)
    draft.status = status
    if status == "open":
        hold_draft_files(session, draft, read_fields_of(session, draft))
    else:
        let_draft_files_go(session, draft)
        session.flush()
        forget_discarded(session)
    session.commit()
    return draft
