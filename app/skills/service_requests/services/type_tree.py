"""Where a type stands in the tree of its group, and where it can stand. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from app.errors import InvalidInput
from app.fields.definitions import Words
from app.skills.service_requests.models import RequestType
from app.skills.service_requests.services.type_catalog import DEEPEST
from app.skills.service_requests.services.write_rules import check_length, is_called_like


@dataclass(frozen=True)
class TypeNode:
    """A type or category with what stands below it; `depth` is 0 at the top."""

    type: RequestType
    depth: int
    below: tuple[TypeNode, ...]
    is_first: bool
    is_last: bool


def grow(
    types: Sequence[RequestType], parent_id: UUID | None = None, depth: int = 0
) -> tuple[TypeNode, ...]:
    """The whole tree, archived ones too, in its order."""
    here = [each for each in types if each.parent_id == parent_id] if depth <= DEEPEST else []
    return tuple(
        TypeNode(each, depth, grow(types, each.id, depth + 1), each is here[0], each is here[-1])
        for each in here
    )


def along(branches: Sequence[TypeNode]) -> Iterator[TypeNode]:
    """Every branch, each before those below it."""
    for branch in branches:
        yield branch
        yield from along(branch.below)


def own_branch(types: Sequence[RequestType], type_: RequestType) -> list[RequestType]:
    """A type and all that stands below it."""
    return [type_, *(each.type for each in along(grow(types, type_.id)))]


def siblings_of(types: Sequence[RequestType], type_: RequestType) -> list[RequestType]:
    """Those in the same category, itself too, in their order."""
    return [each for each in types if each.parent_id == type_.parent_id]


def places_for(types: Sequence[RequestType], type_: RequestType | None) -> list[TypeNode]:
    """The categories that it can be put in: not itself, nor what stands below it."""
    own = {each.id for each in own_branch(types, type_)} if type_ else set()
    return [
        branch
        for branch in along(grow(types))
        if not branch.type.is_submittable and branch.type.id not in own
    ]


def check_place(
    types: Sequence[RequestType], type_: RequestType | None, parent_id: UUID | None, name: Words
) -> None:
    """Refuse a name that is none, or a neighbour's, and a place where a type cannot stand.

    Raises:
        InvalidInput: with the field.
    """
    if not name:
        raise InvalidInput("Give it a name in at least one language.", field="name_en")
    check_length(name)
    _check_parent(types, type_, parent_id)
    beside = [each for each in types if each.parent_id == parent_id and each is not type_]
    if any(is_called_like(name, each.name_en, each.name_es) for each in beside):
        raise InvalidInput("Another one in the same place already has this name.", field="name_en")


def _check_parent(
    types: Sequence[RequestType], type_: RequestType | None, parent_id: UUID | None
) -> None:
    if parent_id is None:
        return
    if type_ and parent_id in {each.id for each in own_branch(types, type_)}:
        raise InvalidInput("A category cannot be inside itself.", field="parent_id")
    places = {branch.type.id: branch.depth for branch in places_for(types, type_)}
    if parent_id not in places:
        raise InvalidInput("Choose from the list.", field="parent_id")
    tallest = (
        max((each.depth for each in along(grow(types, type_.id))), default=-1) if type_ else -1
    )
    if places[parent_id] + 1 + tallest + 1 >= DEEPEST:
        raise InvalidInput("Categories cannot be nested any deeper.", field="parent_id")
