"""The types of a group as conversations and pages find them: the tree, and one type's form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import defer, load_only

from app.db import JsonObject, ScopedSession
from app.errors import InvalidInput, NotFound
from app.fields.definitions import Words
from app.skills.service_requests.models import RequestType, RequestTypeVersion
from app.skills.service_requests.services.definitions import (
    RequestForm,
    read_questions,
    read_request_fields,
)

# What a version of a type holds.
CONTENT = (
    "name_en", "name_es", "description_en", "description_es", "icon", "words", "fields",
    "questions", "priority", "is_guided",
)  # fmt: skip
WITHOUT_WHAT_IS_ASKED = (defer(RequestType.fields), defer(RequestType.questions))
# What a choice of types shows.
AS_NAMED = load_only(RequestType.slug, RequestType.name_en, RequestType.name_es, raiseload=True)
# More levels than any group needs, and an end to a circle.
DEEPEST = 8


@dataclass(frozen=True)
class TypeNode:
    """A type that is offered, or a category with such types below it.

    `words` are what people call it, by language.
    """

    id: UUID
    slug: str
    name: Words
    description: Words
    icon: str
    is_submittable: bool
    is_guided: bool
    words: Mapping[str, Sequence[str]]
    children: tuple[TypeNode, ...] = ()


def load_types(session: ScopedSession) -> list[RequestType]:
    """All types and categories of the group, in the order of the tree's levels.

    What they ask for is read where it is looked at: it is long, and lists do not show it.
    """
    query = select(RequestType).where(RequestType.group_id == session.scope.group_id)
    light = query.options(*WITHOUT_WHAT_IS_ASKED)
    return list(session.scalars(light.order_by(RequestType.sort_order, RequestType.slug)))


def load_tree(session: ScopedSession) -> tuple[TypeNode, ...]:
    """The types that can be submitted, under their categories; empty ones are left out."""
    query = select(RequestType).where(
        RequestType.group_id == session.scope.group_id, RequestType.is_active
    )
    # A message is held against the tree in every turn.
    light = query.options(*WITHOUT_WHAT_IS_ASKED)
    below: dict[UUID | None, list[RequestType]] = {}
    for each in session.scalars(light.order_by(RequestType.sort_order, RequestType.slug)):
        below.setdefault(each.parent_id, []).append(each)
    return _nodes(below, None, DEEPEST)


def _nodes(
    below: Mapping[UUID | None, list[RequestType]], parent: UUID | None, depth: int
) -> tuple[TypeNode, ...]:
    found = []
    for each in below.get(parent, ()) if depth else ():
        children = _nodes(below, each.id, depth - 1)
        if each.is_submittable or children:
            found.append(_node(each, children))
    return tuple(found)


def _node(found: RequestType, children: tuple[TypeNode, ...]) -> TypeNode:
    return TypeNode(
        found.id,
        found.slug,
        Words(en=found.name_en, es=found.name_es),
        Words(en=found.description_en, es=found.description_es),
        found.icon,
        found.is_submittable,
        found.is_guided,
        found.words,
        children,
    )


def submittable(nodes: Sequence[TypeNode]) -> list[TypeNode]:
    """The types of a tree that can be submitted, in the order of the tree."""
    found: list[TypeNode] = []
    for node in nodes:
        found += [node] if node.is_submittable else []
        found += submittable(node.children)
    return found


def load_type(session: ScopedSession, type_id: UUID) -> RequestType:
    """A type or category of the group, or NotFound."""
    found = session.scalar(
        select(RequestType).where(
            RequestType.id == type_id, RequestType.group_id == session.scope.group_id
        )
    )
    if found is None:
        raise NotFound("There is no such type of request here.")
    return found


def load_form(session: ScopedSession, type_id: UUID, version: int | None = None) -> RequestForm:
    """A type as its requests need it: as it is now, or as it was in a version.

    Raises:
        NotFound: it is not the group's, or has no such version.
        InvalidInput: as it is now, nobody can submit it (a category, or archived).
    """
    found = load_type(session, type_id)
    if version is None and not (found.is_submittable and _is_offered(session, found)):
        raise InvalidInput("You can't send requests of this type. Choose another one.")
    content: Mapping[str, Any] = content_of(found)
    if version is not None and version != found.version:
        content = _content_at(session, found, version)
    return RequestForm(
        found.id,
        found.version if version is None else version,
        Words(en=content["name_en"], es=content["name_es"]),
        path_of(session, found),
        read_request_fields(content["fields"]),
        read_questions(content["questions"]),
        content["icon"],
        content["priority"],
        # Versions of before this was a choice do not say it.
        content.get("is_guided", False),
    )


def _is_offered(session: ScopedSession, found: RequestType) -> bool:
    """Whether neither it nor a category that it stands in is archived."""
    for _ in range(DEEPEST):
        if not found.is_active or found.parent_id is None:
            return found.is_active
        found = load_type(session, found.parent_id)
    return False


def content_of(found: RequestType) -> JsonObject:
    """A type as a version holds it."""
    return {name: getattr(found, name) for name in CONTENT}


def _content_at(session: ScopedSession, found: RequestType, version: int) -> Mapping[str, Any]:
    content = session.scalar(
        select(RequestTypeVersion.content).where(
            RequestTypeVersion.type_id == found.id,
            RequestTypeVersion.group_id == session.scope.group_id,
            RequestTypeVersion.version == version,
        )
    )
    if content is None:
        raise NotFound("There is no such type of request here.")
    return content


def path_of(session: ScopedSession, found: RequestType) -> tuple[Words, ...]:
    """The names of the categories that a type is in, the widest first."""
    path: list[Words] = []
    parent = found.parent_id
    while parent is not None and len(path) < DEEPEST:
        above = load_type(session, parent)
        path.insert(0, Words(en=above.name_en, es=above.name_es))
        parent = above.parent_id
    return tuple(path)
