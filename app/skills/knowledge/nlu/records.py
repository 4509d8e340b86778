"""Products as the tools found them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Record:
    """A product as a tool found it; `allergens` is None where nobody has listed them."""

    cite: int
    name: str
    description: str = ""
    category: str = ""
    price: str = ""
    allergens: tuple[str, ...] | None = ()
    ingredients: tuple[str, ...] = ()
    pairing: str = ""
    tags: tuple[str, ...] = ()
    facts: Mapping[str, str] | None = None
    steps: tuple[str, ...] = ()


def read_record(result: Mapping[str, Any]) -> Record:
    """A result of a tool as a record; what is missing is empty."""

    def texts(key: str) -> tuple[str, ...]:
        return tuple(str(value) for value in result.get(key) or ())

    listed = "allergens" in result and result["allergens"] is None
    return Record(
        cite=int(result.get("cite") or 0),
        name=str(result["name"]),
        description=str(result.get("description") or ""),
        category=str(result.get("category") or ""),
        price=str(result.get("price") or ""),
        allergens=None if listed else texts("allergens"),
        ingredients=texts("ingredients"),
        pairing=str(result.get("pairing") or ""),
        tags=texts("tags"),
        facts={str(k): str(v) for k, v in (result.get("facts") or {}).items()},
        steps=texts("steps"),
    )


def read_records(results: Sequence[Mapping[str, Any]]) -> list[Record]:
    """Those of a tool's results that are products."""
    return [read_record(result) for result in results if "name" in result]
