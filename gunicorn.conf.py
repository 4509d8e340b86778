"""How gunicorn serves Comanda: `gunicorn -c gunicorn.conf.py wsgi:app`.

Everything that differs between installations comes from Settings; what is here follows from
how the app streams (docs/architecture.md).
"""

import gc
import os
import resource
import sys
from pathlib import Path

from app.config import load_settings
from app.observability.metric_files import metrics_folder, sweep

settings = load_settings()

host = f"[{settings.host}]" if ":" in settings.host else settings.host
bind = f"{host}:{settings.port}"
workers = settings.web_workers

# A stream is a greenlet that mostly waits: 2,000 of them share one worker.
worker_class = "app.web.gunicorn_worker.FairWorker"
worker_connections = 4000

# Each of them is an open file, and a stream has one more to Redis.
files, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
wanted_files = 2 * worker_connections + 1000
if files < wanted_files:
    most = wanted_files if most_files == resource.RLIM_INFINITY else min(wanted_files, most_files)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(files, most), most_files))

# The app is loaded in each worker, after gevent has patched it: psycopg chooses how it
# waits when it is imported, and chosen too early every query would block all streams.
preload_app = False

# Streams are ended on shutdown and resumed by their readers; a page that is being made
# has this long to be finished.
graceful_timeout = 4
timeout = 30
# Both how long a connection may be idle and how long a request's headers may take. Its body
# has a limit of its own (app/web/request_body.py).
keepalive = 5

# Nothing that a request says about where it comes from, or which part of the site this is, is
# believed here, whoever sends it: TRUSTED_PROXIES says whom the app believes what.
forwarder_headers = ""
secure_scheme_headers = {}

# The workers' heartbeat files must not wait for a slow disk.
if Path("/dev/shm").is_dir() and os.access("/dev/shm", os.W_OK):
    worker_tmp_dir = "/dev/shm"

# Addresses carry CSRF tokens on partial requests; the app writes its own log without them.
accesslog = None
errorlog = "-"
loglevel = settings.log_level
proc_name = "comanda-web"
control_socket_disable = True


def post_fork(server, worker):  # type: ignore[no-untyped-def]
    """Refuse to serve from a worker whose every query would block the others."""
    if "psycopg" in sys.modules:
        server.log.error("psycopg was imported before gevent patched it; see gunicorn.conf.py")
        sys.exit(4)


def on_starting(server):  # type: ignore[no-untyped-def]
    """Begin with numbers of living processes only."""
    sweep(metrics_folder(settings), gauges_only=False)


def post_worker_init(worker):  # type: ignore[no-untyped-def]
    """Share this worker's numbers, and end its streams when it is told to end."""
    import gevent

    from app.assistant.web.stream import end_streams
    from app.observability.metrics import share

    share(settings)
    # A line may be gone for a while in the middle of a file.
    worker.send_seconds = 4 * settings.request_timeout_seconds
    worker.most_of_address = None if settings.trusted_proxies else settings.connections_per_address

    def watch() -> None:
        while worker.alive:
            gevent.sleep(0.1)
        # Again and again, because a reader whose request was under way may still come in.
        while True:
            end_streams()
            gevent.sleep(0.1)

    gevent.spawn(watch)
    # Spare the collector what the app is made of: looking through it stops streams.
    gc.collect()
    gc.freeze()
