"""Writing types of requests and their categories: added, saved, moved, archived, brought back.

Every save that changes something is a version; what was begun with an older one goes on with it.
Who writes holds the group's tree alone, so that no two make a circle of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import select

from app.accounts.audit import record
from app.accounts.edit_history import Versions, name_of_editor
from app.db import JsonObject, ScopedSession, new_id, utc_now
from app.errors import N_, Conflict, InvalidInput
from app.fields.definitions import Words
from app.skills.service_requests.models import RequestTeam, RequestType, RequestTypeVersion
from app.skills.service_requests.services.definitions import (
    dump_request_fields,
    main_fields,
    read_request_fields,
)
from app.skills.service_requests.services.type_catalog import (
    CONTENT,
    content_of,
    load_type,
    load_types,
)
from app.skills.service_requests.services.type_tree import (
    check_place,
    own_branch,
    siblings_of,
)
from app.skills.service_requests.services.write_rules import free_slug, lock_alone
from app.text.edits import check_same, sign

# What is saved besides what a conversation needs; a version keeps it for those who look back.
ASIDE = ("parent_id", "team_id", "sla_hours")
MOST_TYPES = 300
# What people call the types of a group: a message is held against all of that.
MOST_WORDS_IN_ALL = 10_000
VERSIONS = Versions(
    RequestTypeVersion,
    RequestTypeVersion.type_id,
    N_("This version of the type no longer exists."),
)


class StaleType(Conflict):
    """Somebody else has saved the type since it was opened.

    `type` is how it stands now, `editor` the name of who saved it, if that is known.
    """

    def __init__(self, type_: RequestType, editor: str) -> None:
        super().__init__("Somebody changed this in the meantime. Look at it again first.")
        self.type = type_
        self.editor = editor


def lock_tree(session: ScopedSession) -> list[RequestType]:
    """All types of the group, which nobody else writes until the transaction ends."""
    lock_alone(session, "types")
    return load_types(session)


def kept_content(type_: RequestType) -> JsonObject:
    """A type as a version holds it."""
    content = {**content_of(type_), "fields": _as_stored(type_.fields)}
    aside = {name: getattr(type_, name) for name in ASIDE}
    aside |= {name: str(id_) for name, id_ in aside.items() if isinstance(id_, UUID)}
    return deepcopy({**content, **aside})


def _as_stored(fields: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return dump_request_fields(read_request_fields(fields))


def is_stored(type_: RequestType, content: Mapping[str, Any]) -> bool:
    """Whether a type holds this content as it is."""
    now = kept_content(type_)
    return all(_bare(now[name]) == _bare(value) for name, value in content.items())


def _bare(value: Any) -> Any:
    """What is kept of something, where the order of the kinds of files, or of the values of a
    condition, says nothing.
    """
    if isinstance(value, dict):
        return {
            name: sorted(each) if name in ("kinds", "values") else _bare(each)
            for name, each in value.items()
            # As usual, in whichever order, is not written down.
            if name != "kinds" or set(each) != {"pdf", "image"}
        }
    return [_bare(each) for each in value] if isinstance(value, list) else value


def add_type(
    session: ScopedSession, name: Words, parent_id: UUID | None, *, is_submittable: bool
) -> RequestType:
    """A new type, or a category, as the last one in its category.

    Raises:
        InvalidInput: it has no name, or one that its neighbour has, or cannot stand there.
    """
    types = lock_tree(session)
    if len(types) >= MOST_TYPES:
        raise InvalidInput("There can be at most %(limit)s types.", limit=MOST_TYPES)
    check_place(types, None, parent_id, name)
    made = RequestType(
        id=new_id(),
        group_id=session.scope.group_id,
        parent_id=parent_id,
        slug=free_slug(name.text("en"), {each.slug for each in types}, "type"),
        name_en=name.en,
        name_es=name.es,
        icon="ticket" if is_submittable else "clipboard",
        is_submittable=is_submittable,
        fields=_as_stored(main_fields(new_id(), new_id())) if is_submittable else [],
        words={"en": [], "es": []},
        sort_order=1 + max((each.sort_order for each in types), default=0),
        edited_by=session.scope.user_id,
    )
    session.add(made)
    session.flush()
    VERSIONS.keep(session, made, kept_content(made))
    record(session, "request_type_added", made.slug)
    session.commit()
    return made


def save_type(
    session: ScopedSession, type_id: UUID, version: int, content: Mapping[str, Any]
) -> RequestType:
    """Give a type this content as its next version; the same content again is none.

    `content` has ids as texts, as `kept_content` gives them.

    Raises:
        NotFound
        StaleType: somebody else saved other content since `version`; nothing is written.
        InvalidInput: its name is its neighbour's, or it cannot stand there; or no such team.
    """
    types = lock_tree(session)
    type_ = load_type(session, type_id)
    if is_stored(type_, content):
        return type_
    if type_.version != version:
        raise StaleType(type_, name_of_editor(session, type_.edited_by))
    _check(session, types, type_, {**kept_content(type_), **content})
    _change(session, type_, content)
    record(session, "request_type_edited", f"{type_.slug} v{type_.version}")
    session.commit()
    return type_


def _check(
    session: ScopedSession,
    types: Sequence[RequestType],
    type_: RequestType,
    content: Mapping[str, Any],
) -> None:
    name = Words(en=content["name_en"], es=content["name_es"])
    check_place(types, type_, _id(content["parent_id"]), name)
    _check_words(types, type_, content["words"])
    if content["team_id"]:
        team = select(RequestTeam.id).where(
            RequestTeam.id == _id(content["team_id"]),
            RequestTeam.group_id == session.scope.group_id,
        )
        if session.scalar(team) is None:
            raise InvalidInput("This team is no longer there.", field="team_id")


def _check_words(
    types: Sequence[RequestType], type_: RequestType, words: Mapping[str, Sequence[str]]
) -> None:
    """Refuse more words than all types may have; fewer than before are never too many."""
    mine, before = _count(words), _count(type_.words)
    others = sum(_count(each.words) for each in types if each is not type_)
    if mine > before and mine + others > MOST_WORDS_IN_ALL:
        raise InvalidInput(
            "All types together can have at most %(limit)s words. Remove some, here "
            "or from another type.",
            field=f"words_{max(words, key=lambda code: len(words[code]))}",
            limit=MOST_WORDS_IN_ALL,
        )


def _count(words: Mapping[str, Sequence[str]]) -> int:
    return sum(map(len, words.values()))


def _id(text: str | None) -> UUID | None:
    return UUID(text) if text else None


def _change(session: ScopedSession, type_: RequestType, content: Mapping[str, Any]) -> None:
    VERSIONS.keep(session, type_, kept_content(type_))
    for name, value in deepcopy(dict(content)).items():
        setattr(type_, name, _id(value) if name in ("parent_id", "team_id") else value)
    type_.version += 1
    type_.edited_by = session.scope.user_id
    type_.updated_at = utc_now()
    session.flush()
    VERSIONS.keep(session, type_, kept_content(type_))


def move_type(session: ScopedSession, type_id: UUID, step: Literal[-1, 1]) -> RequestType:
    """One place up or down among its neighbours; at the end nothing happens. No new version."""
    types = lock_tree(session)
    type_ = load_type(session, type_id)
    beside = siblings_of(types, type_)
    place = beside.index(type_)
    if 0 <= place + step < len(beside):
        beside.insert(place + step, beside.pop(place))
        orders = sorted(each.sort_order for each in beside)
        for number, (each, order) in enumerate(zip(beside, orders, strict=True)):
            # Orders may be the same where nobody has moved anything yet.
            each.sort_order = orders[0] + number if len(set(orders)) < len(orders) else order
        record(session, "request_type_moved", type_.slug)
    session.commit()
    return type_


def offered_below(types: Sequence[RequestType], type_: RequestType) -> list[RequestType]:
    """What is archived, and comes back, together with a category."""
    return [each for each in own_branch(types, type_)[1:] if each.is_active]


def sign_types(types: Iterable[RequestType]) -> str:
    """What tells these types from others."""
    return sign(*(each.id for each in types))


def set_active(
    session: ScopedSession, type_id: UUID, version: int, *, is_active: bool, signature: str
) -> RequestType:
    """Archive a type, or bring it back; twice is the same as once. No new version.

    What is in an archived category is not offered either, and comes back with it: `signature` is
    of what the person was told (`sign_types` of `offered_below`).

    Raises:
        NotFound. Conflict: it is of another version, or other types would go with it.
    """
    types = lock_tree(session)
    type_ = load_type(session, type_id)
    if type_.is_active == is_active:
        return type_
    check_same((version, signature), (type_.version, sign_types(offered_below(types, type_))))
    type_.is_active = is_active
    record(
        session, "request_type_brought_back" if is_active else "request_type_archived", type_.slug
    )
    session.commit()
    return type_


def restore_version(
    session: ScopedSession, type_id: UUID, number: int, seen_version: int
) -> RequestType:
    """Make a type again what it was in a version, as its next one; it stays where it stands.

    Raises:
        NotFound. StaleType: somebody has saved it since `seen_version`.
        InvalidInput: a neighbour has its name by now.
    """
    types = lock_tree(session)
    type_ = load_type(session, type_id)
    was = VERSIONS.find(session, type_.id, number).content
    if type_.version != seen_version:
        raise StaleType(type_, name_of_editor(session, type_.edited_by))
    content = {name: was[name] for name in (*CONTENT, "sla_hours") if name in was}
    now = kept_content(type_)
    _check(session, types, type_, {**now, **content})
    _change(session, type_, content)
    record(session, "request_type_restored", f"{type_.slug} v{number}")
    session.commit()
    return type_
