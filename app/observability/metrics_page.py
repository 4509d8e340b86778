"""GET /metrics: what Prometheus fetches, for whoever has the token."""

from __future__ import annotations

import hmac
from collections.abc import Iterator

from flask import Blueprint, Flask, Response, request
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from redis.exceptions import RedisError
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from app.errors import NotFound
from app.extensions import Services, limiter, services
from app.observability.health import living_job_workers, read_queue
from app.observability.metric_files import metrics_folder, sweep
from app.observability.metrics import REGISTRY
from app.observability.presence import Presence

blueprint = Blueprint("metrics_page", __name__)

# Those that went well are deleted.
# What is for later does not wait yet.
_JOBS = text(
    "SELECT status::text, count(*) AS jobs FROM procrastinate_jobs"
    " WHERE status <> 'todo' OR scheduled_at IS NULL OR scheduled_at <= now() GROUP BY status"
)


@blueprint.get("/metrics")
def metrics() -> Response:
    """Every number of this machine's processes, and of the queues that all machines share."""
    on = services()
    _only_with_token(on.settings.metrics_token)
    registry = CollectorRegistry()
    folder = metrics_folder(on.settings)
    if folder.is_dir():
        sweep(folder, gauges_only=True)
        MultiProcessCollector(registry, path=str(folder))  # type: ignore[no-untyped-call]
        told = generate_latest(registry)
    else:
        # A process by itself, such as Flask's own server.
        told = generate_latest(REGISTRY)
    shared = CollectorRegistry()
    shared.register(SharedState(on))
    return Response(told + generate_latest(shared), content_type=CONTENT_TYPE_LATEST)


def _only_with_token(token: str | None) -> None:
    """Look as if there was nothing, to whoever may not see it."""
    sent = request.headers.get("Authorization", "")
    if token is None or not hmac.compare_digest(sent.encode(), f"Bearer {token}".encode()):
        raise NotFound("This page does not exist, or you don't have access to it.")


class SharedState(Collector):
    """What stands in the database and in Redis, read when it is asked for."""

    def __init__(self, on: Services) -> None:
        self.on = on

    def collect(self) -> Iterator[Metric]:
        """Nothing of what cannot be read: a missing series is what an alert looks for."""
        try:
            yield from self._turns()
            yield from self._jobs()
        except SQLAlchemyError:
            yield _gauge("database_up", "Whether the database answers.", 0)
        else:
            yield _gauge("database_up", "Whether the database answers.", 1)
        try:
            runners = Presence(self.on.redis).runners()
        except RedisError:
            yield _gauge("redis_up", "Whether Redis answers.", 0)
            return
        yield _gauge("redis_up", "Whether Redis answers.", 1)
        yield _gauge("runners", "Runners that are alive.", len(runners))
        failing = sum(not runner.model_ok for runner in runners)
        yield _gauge("runners_without_model", "Runners that leave a failing model alone.", failing)

    def _turns(self) -> Iterator[Metric]:
        queue = read_queue(self.on)
        yield _gauge("queue_waiting", "Turns that wait for a runner.", queue.waiting)
        oldest = "Seconds that the oldest of them has waited."
        yield _gauge("queue_oldest_seconds", oldest, queue.oldest_seconds)
        yield _gauge("queue_running", "Turns that are being answered.", queue.running)

    def _jobs(self) -> Iterator[Metric]:
        jobs = GaugeMetricFamily("comanda_jobs", "Background jobs, by state.", labels=["status"])
        with self.on.database.engine.connect() as connection:
            counts = {row.status: row.jobs for row in connection.execute(_JOBS)}
        for status in ("todo", "doing", "failed"):
            jobs.add_metric([status], counts.get(status, 0))
        yield jobs
        alive = living_job_workers(self.on)
        yield _gauge("jobs_workers", "Workers of background jobs that are alive.", alive)


def _gauge(name: str, says: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"comanda_{name}", says, value=value)


def init_metrics_page(app: Flask) -> None:
    limiter.exempt(blueprint)
    app.register_blueprint(blueprint)
