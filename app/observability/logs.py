"""Structured logs: ids, sizes and timings, never what somebody wrote."""

from __future__ import annotations

import logging
import sys
import traceback

import structlog

from app.config import Settings


def _where_it_broke(exc_info: structlog.typing.ExcInfo) -> str:
    """The kinds of error and the lines they came through, outermost first.

    Never an error's own text: a database repeats the value it could not take, and that is
    what somebody wrote.
    """
    lines: list[str] = []
    error: BaseException | None = exc_info[1]
    while error is not None:
        state = getattr(getattr(error, "orig", None), "sqlstate", None)
        lines.append(type(error).__qualname__ + (f" (SQLSTATE {state})" if state else ""))
        frames = traceback.extract_tb(error.__traceback__)
        lines += [f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\n".join(lines)


def init_logs(settings: Settings) -> None:
    """Send everything to standard error, one JSON object a line (plain on a terminal)."""
    level = getattr(logging, settings.log_level.upper())
    shared: list[structlog.types.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    broken = structlog.processors.ExceptionRenderer(_where_it_broke)
    renderer: structlog.types.Processor = (
        structlog.dev.ConsoleRenderer()
        if sys.stderr.isatty()
        else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[*shared, broken, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                broken,
                renderer,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    # The first ones name each request's address, and with it what a person looks for;
    # procrastinate tells of every periodic job, and alembic, whenever somebody asks whether a
    # migration is missing, of the database it looks at.
    for noisy in ("httpx", "httpcore", "httpx2", "werkzeug", "procrastinate", "alembic"):
        logging.getLogger(noisy).setLevel(max(level, logging.WARNING))
