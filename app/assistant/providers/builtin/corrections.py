"""Another value for what was just proposed: "make it 250", "mejor en el bar"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from app.assistant.providers.base import ToolSpec
from app.assistant.providers.builtin.slots import fill_named
from app.text.normalize import fold, words

_CUE = re.compile(
    r"^\W*(?:(?:no|nope|wait|actually|sorry|oh|ah|mejor|espera|perdon|bueno)\W+)*"
    r"(?:make (?:it|that)|change|set it|it s|it was|it is|it should|should be|i meant|instead|not"
    r"|que sea\w*|cambia\w*|ponl[eoa]\w*|pon|era|eran|son|es|quise decir|quiero decir|en vez)\b"
    r"|\b(?:instead|en (?:su )?lugar|en vez)\b"
)
# A message as short as this that names a value is about the value, not about something new.
_FEW_WORDS = 4


def amend(
    tools: Sequence[ToolSpec], proposed: Any, message: str
) -> tuple[ToolSpec, dict[str, Any]] | None:
    """The tool to call again and its new arguments; None where the message changes nothing.

    `proposed` is the hint {tool, arguments} of what waits for a confirmation.
    """
    if not isinstance(proposed, Mapping):
        return None
    tool = next((tool for tool in tools if tool.name == proposed.get("tool")), None)
    # What its skill reads out of a message, its skill changes too.
    if tool is None or tool.is_wished:
        return None
    if not _CUE.search(fold(message)) and len(words(message)) > _FEW_WORDS:
        return None
    before = dict(proposed.get("arguments") or {})
    changed = fill_named(tool.parameters, message)
    if not changed or {**before, **changed} == before:
        return None
    return tool, {**before, **changed}
