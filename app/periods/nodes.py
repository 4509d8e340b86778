"""What stands in a sentence, from its words to the periods that they make."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any


class Needs(Enum):
    """What must be around an expression for it to be one, as many mean something else too."""

    NOTHING = "it is clear as it stands"
    ROOM = "no noun follows: 'Friday', not 'the Friday roast'"
    LEAD = "a word such as 'in' or 'on' stands before it: 'in May'"
    EITHER = "one of both"
    BOTH = "both"
    DEED = "room, and before it what was done: 'gasté el 15', 'gastos del 1 al 15'"
    WHOLE = "nothing else was said: 'the week'"


@dataclass(frozen=True)
class Node:
    """A sign of the grammar, what it is worth, and where in the text it stands.

    `is_weak`: as a word it often means something else. `is_spelled`: a number in letters.
    """

    sign: str
    start: int
    end: int
    value: Any = None
    is_weak: bool = False
    is_spelled: bool = False
    needs: Needs = Needs.NOTHING
