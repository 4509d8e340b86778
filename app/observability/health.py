"""Is it alive, is it ready, and what is missing: for load balancers and `flask doctor`."""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import Literal

from flask import Blueprint, Flask, current_app, jsonify
from flask.typing import ResponseReturnValue
from redis.exceptions import RedisError
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from app.db import utc_now
from app.extensions import Services, limiter, services
from app.files.errors import StorageAway
from app.files.storage import Storage, files_folder, new_key
from app.observability.presence import Presence, Trace

blueprint = Blueprint("health", __name__)

# A question that has waited this long is a fault that its person has noticed.
LONG_WAIT_SECONDS = 30.0
# A worker of background jobs tells every two seconds; see app.jobs.tasks.
JOBS_SILENT_SECONDS = 15.0
# Whoever asks need not be signed in, and a check takes a connection of the database.
KEPT_SECONDS = 1.0
EXTENSION = "comanda_readiness"
BUCKET_FIX = (
    "Check S3_ENDPOINT_URL, S3_REGION, S3_BUCKET and the keys; they must be allowed to get, put"
    " and delete its objects, and to list the bucket."
)
FOLDER_FIX = "Give it to the user that Comanda runs as, and look whether the disk is full."

State = Literal["ok", "degraded", "away"]


@dataclass(frozen=True)
class Finding:
    """One thing looked at; `fix` says what to do when it is not well.

    `state` is what a probe is told: "away" takes the web server out of service, "degraded"
    does not.
    """

    name: str
    ok: bool
    detail: str
    fix: str = ""
    is_vital: bool = True

    @property
    def state(self) -> State:
        if self.ok:
            return "ok"
        return "away" if self.is_vital else "degraded"


@dataclass(frozen=True)
class Queue:
    """The turns of all groups: how many wait for a runner, the oldest for how long."""

    waiting: int
    oldest_seconds: float
    running: int


class Readiness:
    """What this process found when it last looked, so that many who ask make one check."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._findings: list[Finding] = []
        self._found_at = -math.inf

    def findings(self, on: Services) -> list[Finding]:
        """What `check_readiness` found within the last `KEPT_SECONDS`.

        Who asks during a check waits for it and is told the same: it may be slow just because
        the database is.
        """
        with self._lock:
            if monotonic() - self._found_at >= KEPT_SECONDS:
                self._findings = check_readiness(on)
                self._found_at = monotonic()
            return self._findings


@blueprint.get("/healthz")
def alive() -> ResponseReturnValue:
    """The process answers; says nothing of what it depends on."""
    return jsonify(status="ok")


@blueprint.get("/readyz")
def ready() -> ResponseReturnValue:
    """Whether to send people here: 503 when a question could be neither kept nor answered."""
    readiness: Readiness = current_app.extensions[EXTENSION]
    findings = readiness.findings(services())
    states = {finding.name: finding.state for finding in findings}
    is_away = "away" in states.values()
    status = "unavailable" if is_away else "degraded" if "degraded" in states.values() else "ok"
    return jsonify(status=status, **states), 503 if is_away else 200


def check_readiness(on: Services) -> list[Finding]:
    """What a request needs, in words for an operator; what cannot be looked at is left out."""
    findings = [check_database(on), check_redis(on)]
    if not all(finding.ok for finding in findings):
        return findings
    try:
        runners = Presence(on.redis).runners()
        return [*findings, check_queue(on, runners), check_jobs(on), check_model(on, runners)]
    except (RedisError, SQLAlchemyError) as error:
        # One of them went away, or the schema is older than this code.
        return [*findings, Finding("queue", False, type(error).__name__, is_vital=False)]


def check_database(on: Services) -> Finding:
    try:
        on.database.ping()
    except SQLAlchemyError as error:
        return Finding("database", False, type(error).__name__, "Is DATABASE_URL right and up?")
    return Finding("database", True, "answers")


def check_redis(on: Services) -> Finding:
    try:
        on.redis.ping()
    except RedisError as error:
        return Finding("redis", False, type(error).__name__, "Is REDIS_URL right and up?")
    return Finding("redis", True, "answers")


def check_queue(on: Services, runners: list[Trace]) -> Finding:
    """Whether questions are being answered.

    Without a runner everything but new answers works, and while one is restarted questions
    wait for seconds. So it counts as away only once a question has waited for long.
    """
    queue = read_queue(on)
    waits = f"{queue.waiting} waiting, the oldest for {queue.oldest_seconds:.0f} s"
    is_late = queue.oldest_seconds > LONG_WAIT_SECONDS
    if not runners:
        fix = "Start one: python -m gevent.monkey --module app.assistant.turns.runner"
        return Finding("queue", False, f"no runner is alive; {waits}", fix, is_vital=is_late)
    detail = f"{len(runners)} alive; {queue.running} running, {waits}"
    fix = "Start more runners, or raise RUNNER_CONCURRENCY."
    return Finding("queue", not is_late, detail, fix, is_vital=False)


def read_queue(on: Services) -> Queue:
    with on.database.engine.connect() as connection:
        row = connection.execute(text("SELECT * FROM turn_queue()")).one()
    return Queue(row.waiting, row.oldest_seconds, row.running)


def check_jobs(on: Services) -> Finding:
    """Whether anybody sends mail and gives documents their vectors."""
    alive = living_job_workers(on)
    detail = f"{alive} alive" if alive else "no worker is alive"
    return Finding("jobs", bool(alive), detail, "Start one: python -m app.jobs", is_vital=False)


def living_job_workers(on: Services) -> int:
    statement = text(
        "SELECT count(*) FROM procrastinate_workers"
        " WHERE last_heartbeat > now() - make_interval(secs => :silent)"
    )
    with on.database.engine.connect() as connection:
        alive: int = connection.execute(statement, {"silent": JOBS_SILENT_SECONDS}).scalar_one()
    return alive


def check_model(on: Services, runners: list[Trace]) -> Finding:
    """How the runners find the model. The built-in assistant stands in for one that is down."""
    if on.settings.provider == "builtin":
        return Finding("model", True, "the built-in assistant")
    failing = [runner for runner in runners if not runner.model_ok]
    detail = f"{len(failing)} of {len(runners)} runners leave it alone for now"
    fix = "The built-in assistant answers meanwhile. Check the model's server and its key."
    return Finding("model", not failing, detail, fix, is_vital=False)


def check_schema(on: Services) -> Finding:
    from app import schema

    if schema.pending(on.settings):
        return Finding("migrations", False, "behind the code", "Run `flask db upgrade`.")
    return Finding("migrations", True, "up to date")


def check_files(on: Services) -> Finding:
    """Look at the bucket, or at the folder, by writing something that is gone again at once."""
    bucket = on.settings.s3_bucket
    if not bucket:
        return _check_files_folder(on)
    name = f"the bucket {bucket} at {on.settings.s3_endpoint_url or 'Amazon S3'}"
    try:
        _try_storage(on.files)
    except StorageAway as error:
        return Finding("files", False, f"{name}: {error.reason}", BUCKET_FIX)
    return Finding("files", True, f"{name} is written, read, listed and cleared")


def _try_storage(storage: Storage) -> None:
    """
    Raises:
        StorageAway: it does not do something that uploads or the clean-up need.
    """
    name, content = new_key(), b"Written by flask doctor."
    storage.put(name, content)
    try:
        with storage.open(name) as file:
            if file.read() != content:
                raise StorageAway("what was read is not what was written")
    except FileNotFoundError:
        raise StorageAway("what was written is not there") from None
    finally:
        storage.remove(name)
    next(storage.old_names(utc_now()), None)
    try:
        # Who may not list a bucket is told that everything that is missing is forbidden.
        storage.open(name).close()
    except FileNotFoundError:
        return
    raise StorageAway("what was removed is still there")


def _check_files_folder(on: Services) -> Finding:
    folder = files_folder(on.settings)
    if not folder.exists():
        return Finding("files", True, f"{folder}, made with the first upload")
    try:
        # Without a name: whoever looks may be another user than the one it belongs to.
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"Written by flask doctor.")
    except OSError as error:
        detail = f"{folder} cannot be written: {error.strerror or error}"
        return Finding("files", False, detail, FOLDER_FIX)
    return Finding("files", True, f"{folder} is written")


def init_health(app: Flask) -> None:
    app.extensions[EXTENSION] = Readiness()
    limiter.exempt(blueprint)
    app.register_blueprint(blueprint)
