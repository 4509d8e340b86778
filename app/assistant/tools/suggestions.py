"""What skills offer beside an answer: chips to something that was not asked for in words."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager

import structlog
from sqlalchemy.exc import SQLAlchemyError

from app.assistant.tools.parts import Suggestion
from app.assistant.tools.registry import Registry
from app.db import ScopedSession

log = structlog.get_logger(__name__)


def find_suggestions(
    registry: Registry,
    transaction: Callable[[], AbstractContextManager[ScopedSession]],
    message: str,
    language: str,
    *,
    offered: Collection[str],
    used: Collection[str],
) -> tuple[Suggestion, ...]:
    """The chips of the skills whose tool could have been used and was not.

    Small talk, for which no tool ran, is offered nothing. What cannot be had is left out.
    """
    wanted = [
        source
        for tool, source in registry.suggestions.items()
        if used and tool in offered and tool not in used
    ]
    if not wanted:
        return ()
    try:
        with transaction() as session:
            return tuple(chip for source in wanted for chip in source(session, message, language))
    except SQLAlchemyError as error:
        log.warning("nothing offered", error=type(error).__name__)
        return ()
