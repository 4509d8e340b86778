"""Forms that are being filled in: opened, changed field by field, read as they stand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, delete, func, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import defer

from app.accounts.group_settings import load_zone_and_region
from app.db import JsonObject, ScopedSession, new_id, utc_now
from app.errors import Conflict, InvalidInput, NotFound, TooMany
from app.fields.definitions import MIB, FormField
from app.fields.validation import check_form, check_values, missing_fields, shown_fields
from app.fields.values import Checked
from app.skills.forms.models import FormDraft, FormTemplate
from app.skills.forms.services.field_context import field_context
from app.skills.forms.services.templates import (
    WITHOUT_FIELDS,
    FormVersion,
    load_template,
    version_of,
)

# What a field held before it was changed is kept for undoing, this often.
MOST_KEPT_BEFORE = 5
# What is longer is kept once.
LONGEST_KEPT_OFTEN = 1_000
# What a draft may hold in all, with what its fields held before, as JSON.
MOST_BYTES = 1024 * 1024
# Forms that one person may have begun at a time.
MOST_OPEN = 200
# Begun within a day; a thousand may be handed in.
MOST_BEGUN = 1_200
# Thrown away, and kept to be brought back.
MOST_DISCARDED = 50
_BEGUN_WITH = ("id", "thread_id", "group_id", "user_id", "context",
               "template_id", "template_version")  # fmt: skip


@dataclass(frozen=True)
class Change:
    """A new raw value of a field (None takes it away), and where it comes from.

    `seen` is the version of the field that whoever changes it has seen; None means that they
    do not care what it holds. `by` is typed or said; `words`, `confidence` and the id
    of the `message` belong to said. `region` is the country that a phone number is of where it
    names none, as its page said; without it the group's own.
    """

    raw: Any
    by: str = "typed"
    seen: int | None = None
    words: str = ""
    confidence: float | None = None
    message: str = ""
    region: str = ""


@dataclass(frozen=True)
class Filling:
    """A draft with its form, drawn from the draft's own version of the template."""

    draft: FormDraft
    template: FormTemplate
    form: FormVersion
    checked: Checked

    @property
    def fields(self) -> tuple[FormField, ...]:
        return self.form.fields

    @property
    def shown(self) -> list[FormField]:
        """The fields whose conditions are met."""
        return shown_fields(self.fields, self.checked.values)

    @property
    def missing(self) -> list[str]:
        """The required fields that are shown and have nothing yet, nor get it from the page."""
        asked = [each for each in self.shown if not self.starts_now(each)]
        return missing_fields(asked, self.checked)

    def starts_now(self, field: FormField) -> bool:
        """Whether the page fills a field in with the moment at which it is opened.

        Nothing of it is stored before the page sends it, as what its person has typed.
        """
        # What must be later than now cannot start with it, unless it is a day.
        is_later = field.type == "datetime" and getattr(field, "when", "") == "future"
        return (
            getattr(field, "starts_now", False)
            and not is_later
            and self.draft.status == "open"
            and not self.draft.field_versions.get(field.name)
        )


@dataclass(frozen=True)
class Changed:
    """What came of changes: `overtaken` names fields that somebody else had changed since they
    were seen, whose values are these all the same: the later save wins, and the page says so.
    """

    filling: Filling
    changed: list[str] = field(default_factory=list)
    overtaken: list[str] = field(default_factory=list)


def open_draft(
    session: ScopedSession,
    template: FormTemplate,
    context: str = "",
    *,
    draft_id: UUID | None = None,
    version: int = 0,
) -> FormDraft:
    """Begin to fill in a form; a page that has begun it already names its id. Never commits.

    Of two that begin the same draft at once, the later one gets that of the first.

    Raises:
        NotFound: the id is taken, by somebody else's.
        TooMany: as many are begun as one person may have.
    """
    check_room(session)
    blank = blank_draft(session, template, context, draft_id=draft_id, version=version)
    facts = {name: getattr(blank, name) for name in _BEGUN_WITH}
    session.execute(insert(FormDraft).values(**facts).on_conflict_do_nothing())
    return load_draft(session, blank.id, lock=True)


def check_room(session: ScopedSession) -> None:
    """Nobody fills the database with what is never sent.

    Raises:
        TooMany: as many are open, or were begun within a day, as one person may have.
    """
    a_day = utc_now() - timedelta(days=1)
    begun_lately = (FormDraft.updated_at > a_day) & (FormDraft.created_at > a_day)
    counts = session.execute(
        select(
            func.count().filter(FormDraft.status == "open"), func.count().filter(begun_lately)
        ).where(*own_drafts(session), (FormDraft.status == "open") | begun_lately)
    ).one()
    if counts[0] >= MOST_OPEN:
        raise TooMany(
            "You have started %(limit)s forms that are not sent yet. Send or discard "
            "some of them first.",
            limit=MOST_OPEN,
        )
    if counts[1] >= MOST_BEGUN:
        raise TooMany(
            "You have started %(limit)s forms in one day, and that is the limit. "
            "Start more tomorrow.",
            limit=MOST_BEGUN,
        )


def own_drafts(session: ScopedSession) -> tuple[ColumnElement[bool], ...]:
    return (
        FormDraft.group_id == session.scope.group_id,
        FormDraft.user_id == session.scope.user_id,
    )


def forget_discarded(session: ScopedSession) -> None:
    """Remove what one threw away long ago: the last ones are kept, to be brought back."""
    discarded = (*own_drafts(session), FormDraft.status == "discarded")
    latest = select(FormDraft.id).where(*discarded).order_by(FormDraft.updated_at.desc())
    session.execute(
        delete(FormDraft).where(*discarded, FormDraft.id.not_in(latest.limit(MOST_DISCARDED)))
    )


def blank_draft(
    session: ScopedSession,
    template: FormTemplate,
    context: str = "",
    *,
    draft_id: UUID | None = None,
    version: int = 0,
) -> FormDraft:
    """A draft of a form that is stored nowhere yet."""
    draft_id = draft_id or new_id()
    return FormDraft(
        id=draft_id,
        # Known before either is stored, so that a page can name the conversation that it begins.
        thread_id=draft_id,
        group_id=session.scope.group_id,
        user_id=session.scope.user_id,
        template_id=template.id,
        template_version=version or template.version,
        context=context,
        typed={},
        origins={},
        field_versions={},
        status="open",
    )


def load_draft(session: ScopedSession, draft_id: UUID, *, lock: bool = False) -> FormDraft:
    """One's own draft, in whatever state; with `lock`, nobody else changes it until the commit.

    Raises:
        NotFound: there is none, or it is somebody else's.
    """
    return _load(session, FormDraft.id == draft_id, lock)


def load_draft_of_thread(
    session: ScopedSession, thread_id: UUID, *, lock: bool = False
) -> FormDraft:
    """One's own draft that this conversation is about, or NotFound."""
    return _load(session, FormDraft.thread_id == thread_id, lock)


def _load(session: ScopedSession, condition: Any, lock: bool) -> FormDraft:
    query = select(FormDraft).where(
        condition,
        FormDraft.group_id == session.scope.group_id,
        FormDraft.user_id == session.scope.user_id,
    )
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    draft = session.scalar(query)
    if draft is None:
        raise NotFound("This form does not exist, or it is not yours.")
    return draft


def find_open_draft(session: ScopedSession, template_id: UUID) -> FormDraft | None:
    """One's own half-filled form of that template, the last changed of several."""
    query = select(FormDraft).where(
        FormDraft.group_id == session.scope.group_id,
        FormDraft.user_id == session.scope.user_id,
        FormDraft.status == "open",
        FormDraft.template_id == template_id,
    )
    return session.scalar(query.order_by(FormDraft.updated_at.desc()).limit(1))


def list_open_work(session: ScopedSession, most: int) -> list[tuple[FormDraft, FormTemplate]]:
    """One's own half-filled forms with what they are forms of, the last changed first.

    Neither with the fields nor with what was typed.
    """
    typed = (FormDraft.typed, FormDraft.origins, FormDraft.field_versions, FormDraft.context)
    query = (
        select(FormDraft, FormTemplate)
        .join(FormTemplate, FormTemplate.id == FormDraft.template_id)
        .where(
            FormDraft.group_id == session.scope.group_id,
            FormDraft.user_id == session.scope.user_id,
            FormDraft.status == "open",
            or_(FormTemplate.group_id == session.scope.group_id, FormTemplate.group_id.is_(None)),
        )
        .order_by(FormDraft.updated_at.desc())
        .limit(most)
        .options(WITHOUT_FIELDS, *(defer(column, raiseload=True) for column in typed))
    )
    return [(draft, template) for draft, template in session.execute(query)]


def read_fields_of(session: ScopedSession, draft: FormDraft) -> tuple[FormField, ...]:
    """The fields of a draft, as its own version of the form has them."""
    template = load_template(session, draft.template_id)
    return version_of(session, template, draft.template_version).fields


def read_filling(session: ScopedSession, draft: FormDraft, language: str) -> Filling:
    """A draft with its form and its values as they are read now."""
    template = load_template(session, draft.template_id)
    form = version_of(session, template, draft.template_version)
    around = field_context(session, language, draft.id, draft.origins)
    return Filling(draft, template, form, check_values(form.fields, draft.typed, around))


def check_to_submit(session: ScopedSession, filling: Filling, language: str) -> Checked:
    """The values as they would be handed in, and what keeps them from it."""
    draft = filling.draft
    around = field_context(session, language, draft.id, draft.origins)
    return check_form(filling.fields, draft.typed, around)


def change_fields(
    session: ScopedSession, draft: FormDraft, changes: Mapping[str, Change], language: str
) -> Changed:
    """Write changes into a draft that is held; right or wrong, what was typed is kept.

    Fields that the form does not have are left out. Never commits.

    Raises:
        Conflict: it has been handed in or thrown away meanwhile.
        InvalidInput: the draft would hold more than a draft may.
    """
    require_open(draft)
    known = {each.name: each for each in read_fields_of(session, draft)}
    typed, origins, versions = dict(draft.typed), dict(draft.origins), dict(draft.field_versions)
    changed: list[str] = []
    overtaken: list[str] = []
    for name, change in changes.items():
        if name not in known or typed.get(name) == change.raw:
            continue
        version = versions.get(name, 0)
        if change.seen is not None and change.seen < version:
            overtaken.append(name)
        origins[name] = _origin(change, typed.get(name), origins.get(name))
        if known[name].type == "phone":
            origins[name]["region"] = change.region or load_zone_and_region(session)[1]
        versions[name] = version + 1
        if change.raw is None:
            typed.pop(name, None)
        else:
            typed[name] = change.raw
        changed.append(name)
    if changed:
        _check_size(typed, origins, versions)
        draft.typed, draft.origins, draft.field_versions = typed, origins, versions
        draft.version += 1
        draft.updated_at = utc_now()
        session.flush()
    return Changed(read_filling(session, draft, language), changed, overtaken)


def require_open(draft: FormDraft) -> None:
    """See that a draft can still be changed.

    Raises:
        Conflict: it has been handed in or thrown away meanwhile.
    """
    if draft.status == "submitted":
        raise Conflict("This form has already been sent. Open a new one.")
    if draft.status != "open":
        raise Conflict("This form was discarded. Bring it back to continue.")


def undo_change(session: ScopedSession, draft: FormDraft, name: str, language: str) -> Changed:
    """Give a field back what it held before its last change. Never commits."""
    kept: Sequence[Any] = draft.origins.get(name, {}).get("before", [])
    if not kept:
        return Changed(read_filling(session, draft, language))
    changed = change_fields(session, draft, {name: Change(kept[-1])}, language)
    origins = dict(draft.origins)
    origins[name] = {**origins[name], "before": list(kept[:-1])}
    draft.origins = origins
    session.flush()
    return changed


def _check_size(*held: JsonObject) -> None:
    """Nobody makes a draft that is slow to load for everybody else in the same process."""
    if sum(map(_size, held)) > MOST_BYTES:
        raise InvalidInput(
            "This form is larger than %(limit)s MB, which is more than can be saved. "
            "Shorten what you typed.",
            limit=MOST_BYTES // MIB,
        )


def _size(value: Any) -> int:
    """How many bytes a value takes as JSON."""
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def _is_long(value: Any) -> bool:
    """Whether keeping it several times would make a draft slow to load."""
    return _size(value) > LONGEST_KEPT_OFTEN


def _origin(change: Change, before: Any, known: Mapping[str, Any] | None) -> dict[str, Any]:
    """Where the value of a field comes from, and what it held before."""
    earlier = [] if _is_long(before) else (known or {}).get("before", [])
    kept = [*earlier, before][-MOST_KEPT_BEFORE:]
    origin: dict[str, Any] = {"by": change.by, "at": utc_now().isoformat(), "before": kept}
    if change.words:
        origin["words"] = change.words
    if change.message:
        origin["message"] = change.message
    if change.confidence is not None:
        origin["confidence"] = round(change.confidence, 2)
    return origin
