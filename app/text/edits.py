"""Two people who change the same thing: what each has changed, and where they contradict."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from typing import Any

from app.errors import Conflict


def sign(*facts: Any) -> str:
    """What tells the facts that a page shows from others, in 64 characters.

    The form of a page carries it, and what the form does compares it with that of the facts as
    they are then: nothing is done to what its person has not seen.
    """
    return hashlib.sha256(json.dumps(facts, default=str).encode()).hexdigest()


def check_same(shown: Any, now: Any) -> None:
    """Refuse what would be done to something else than the page showed.

    Raises:
        Conflict: they differ.
    """
    if shown != now:
        raise Conflict("Somebody changed this in the meantime. Look at it again first.")


class Overtaken(Conflict):
    """Somebody else has changed a field meanwhile that is changed here to something else.

    `changed` names the fields that are changed here, `contested` those of them that are others now.
    """

    def __init__(self, changed: Collection[str], contested: Collection[str]) -> None:
        super().__init__("Somebody else changed this in the meantime. Look at it again, then save.")
        self.changed = changed
        self.contested = contested

    def shown_again(
        self, shown: Mapping[str, str], typed: Mapping[str, str]
    ) -> tuple[dict[str, str], dict[str, str]]:
        """What stands in the form then, and what is there in the place of what was typed.

        `shown` is what is there now, as the form writes it.
        """
        texts = {**shown, **{name: typed.get(name, "") for name in self.changed}}
        return texts, {name: shown[name] for name in self.contested}


def merge_edit(
    was: Mapping[str, Any], typed: Mapping[str, Any], now: Mapping[str, Any]
) -> dict[str, Any]:
    """What is written: what `now` is there, with what was `typed` where it differs from what `was`.

    All three have the same fields. What somebody else has changed meanwhile stays.

    Raises:
        Overtaken: both have changed the same field to different values.
    """
    changed = [name for name in typed if typed[name] != was[name]]
    contested = [name for name in changed if now[name] not in (was[name], typed[name])]
    if contested:
        raise Overtaken(changed, contested)
    return {**now, **{name: typed[name] for name in changed}}
