"""What is counted and timed, for Prometheus: every instrument, by name.

A label has few values, known beforehand: never a person, an address or a word. Processes
that serve call `share`, so that /metrics tells of all processes of the machine; in others
the numbers stay in the process.
"""

from __future__ import annotations

import os

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, values
from prometheus_client.values import MultiProcessValue

from app.config import Settings
from app.observability.metric_files import make_folder, metrics_folder, process_name

# Each instrument has a label: those without one would be made before `share` says where.
REGISTRY = CollectorRegistry()
METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
PAGE_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)
SEARCH_SECONDS = (0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 5)
TURN_SECONDS = (0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 90)

_requests = Counter(
    "comanda_http_requests",
    "Requests that were answered.",
    ["endpoint", "method", "status"],
    registry=REGISTRY,
)
_request_seconds = Histogram(
    "comanda_http_request_seconds",
    "Time to an answer's first byte.",
    ["endpoint"],
    registry=REGISTRY,
    buckets=PAGE_SECONDS,
)
_streams = Gauge(
    "comanda_open_streams",
    "Event streams that are open now.",
    ["kind"],
    registry=REGISTRY,
    multiprocess_mode="livesum",
)
_turns = Counter(
    "comanda_turns",
    "Turns that ended, by how; degraded when the built-in assistant stood in.",
    ["status", "provider", "degraded"],
    registry=REGISTRY,
)
_turn_seconds = Histogram(
    "comanda_turn_seconds",
    "Time from the claim of a turn to its end.",
    ["provider"],
    registry=REGISTRY,
    buckets=TURN_SECONDS,
)
_first_token_seconds = Histogram(
    "comanda_first_token_seconds",
    "Time from the claim of a turn to the first word of its reply.",
    ["provider"],
    registry=REGISTRY,
    buckets=TURN_SECONDS,
)
_model_calls = Counter(
    "comanda_model_calls",
    "Calls to the language model: ok, or why each failed.",
    ["outcome"],
    registry=REGISTRY,
)
_tool_calls = Counter("comanda_tool_calls", "Tools that ran.", ["tool", "ok"], registry=REGISTRY)
_tool_seconds = Histogram(
    "comanda_tool_seconds",
    "Time that a tool took.",
    ["tool"],
    registry=REGISTRY,
    buckets=SEARCH_SECONDS,
)
_search_seconds = Histogram(
    "comanda_search_seconds",
    "Time that a search took, its query's embedding included.",
    ["mode"],
    registry=REGISTRY,
    buckets=SEARCH_SECONDS,
)


def share(settings: Settings) -> None:
    """Keep this process's numbers where /metrics finds them; call it before the first one."""
    if settings.metrics_token is None:
        return
    folder = metrics_folder(settings)
    make_folder(folder)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    values.ValueClass = MultiProcessValue(process_name)  # type: ignore[no-untyped-call]


def count_request(endpoint: str | None, method: str, status: int, seconds: float) -> None:
    name = endpoint or "none"
    verb = method if method in METHODS else "other"
    _requests.labels(name, verb, f"{status // 100}xx").inc()
    _request_seconds.labels(name).observe(seconds)


def count_stream(step: int) -> None:
    """A stream was opened (1) or has ended (-1)."""
    _streams.labels("thread").inc(step)


def count_turn(
    status: str, provider: str, *, degraded: bool, latency_ms: int, first_token_ms: int | None
) -> None:
    _turns.labels(status, provider, str(degraded).lower()).inc()
    _turn_seconds.labels(provider).observe(latency_ms / 1000)
    if first_token_ms is not None:
        _first_token_seconds.labels(provider).observe(first_token_ms / 1000)


def count_model_call(outcome: str) -> None:
    """`outcome` is "ok" or the code of a ProviderError."""
    _model_calls.labels(outcome).inc()


def count_tool(tool: str, ok: bool, seconds: float) -> None:
    """`tool` is the name of one that exists: a model may ask for any other."""
    _tool_calls.labels(tool, str(ok).lower()).inc()
    _tool_seconds.labels(tool).observe(seconds)


def time_search(mode: str, seconds: float) -> None:
    _search_seconds.labels(mode).observe(seconds)
