"""Makes everything ready before the programs start: the database, and then the demo.

Where programs follow that answer messages, what they understand them by is looked at first.

A process of its own, because it needs the whole app, which the supervisor should not
carry in memory for as long as it runs. `python -m app.embedded.prepare DESCRIPTOR` writes
one JSON object to the pipe: {"sign_ins": text or null}, or {"problem": sentence}.
"""

from __future__ import annotations

import json
import os
import sys

from app.errors import ConfigurationError

SERVICES_ONLY = "--services-only"


def main(arguments: list[str]) -> int:
    descriptor, *flags = arguments
    try:
        answer: dict[str, str | None] = {"sign_ins": _prepare(serves=SERVICES_ONLY not in flags)}
    except ConfigurationError as error:
        answer = {"problem": str(error)}
    with os.fdopen(int(descriptor), "w") as answers:
        json.dump(answer, answers)
    return 1 if "problem" in answer else 0


def read_answer(answer: bytes) -> str | None:
    """The sign-ins from what `main` wrote.

    Raises:
        ConfigurationError: it could not do its work; the text says why.
    """
    try:
        fields: dict[str, str | None] = json.loads(answer)
    except ValueError:
        raise ConfigurationError(
            "Comanda could not be made ready to start; the lines above say why"
        ) from None
    if problem := fields.get("problem"):
        raise ConfigurationError(problem)
    return fields["sign_ins"]


def _prepare(*, serves: bool) -> str | None:
    from redis.exceptions import RedisError
    from sqlalchemy.exc import OperationalError

    from app.config import load_settings
    from app.schema import upgrade

    if serves:
        from app.nlu.model import load_model

        # Each message would fail. The services alone, which tests start, answer none.
        load_model()
    settings = load_settings()
    try:
        upgrade(settings)
    except OperationalError as error:
        raise ConfigurationError(f"DATABASE_URL: {_first_line(error.orig)}") from None
    try:
        _ping_redis(settings.redis_url or "")
    except RedisError as error:
        raise ConfigurationError(f"REDIS_URL: {_first_line(error)}") from None
    from app.assistant.prompts.system_prompt import refresh_prompts
    from app.assistant.tools.registry import Registry
    from app.db import owner_database
    from app.demo import seed
    from app.skills import SKILLS

    sign_ins = (seed(settings) or None) if serves and settings.loads_demo else None
    # An upgrade may bring prompts that groups which are there already do not have.
    with owner_database(settings).transaction() as session:
        refresh_prompts(session, Registry(SKILLS))
    return sign_ins


def _ping_redis(url: str) -> None:
    from redis import Redis

    with Redis.from_url(url, socket_connect_timeout=5, socket_timeout=5) as client:
        client.ping()


def _first_line(error: BaseException | None) -> str:
    """The one line of a driver's complaint that a person can act on."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else "cannot be reached"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
