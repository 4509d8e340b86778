"""A small program for a supervisor: says what happens to it, and serves /healthz as `web`."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Health(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/healthz" else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing for each request."""


def main(name: str, *more: str) -> None:
    if name == "setup":
        os.write(int(more[0]), b'{"sign_ins": "Sign in as somebody@example.com"}')
        return
    asked = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: asked.set())
    print(f"{name} starts {os.getpid()}", flush=True)
    if name == "web":
        server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Health)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    while not asked.wait(0.1):
        pass
    time.sleep(0.2)
    print(f"{name} ends", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
