"""A storage that speaks S3 and answers as it is told: late, wrongly, or not at all."""

from __future__ import annotations

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BUSY = (503, b"<Error><Code>SlowDown</Code><Message>Please reduce your rate</Message></Error>")
MISSING = (404, b"<Error><Code>NoSuchKey</Code><Message>It is not there</Message></Error>")
FINE = (200, b"bytes")
# The connection ends without an answer.
NOTHING = (0, b"")

Answer = tuple[int, bytes]


class ScriptedS3(ThreadingHTTPServer):
    """Gives the answers of its script one after the other, the last of them for ever."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, *script: Answer, seconds: float = 0) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = list(script)
        self.seconds = seconds
        self.asked: list[str] = []
        self.contents: list[bytes] = []
        self.lock = threading.Lock()
        self.address = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self) -> ScriptedS3:
        return self

    def __exit__(self, *_error: object) -> None:
        self.shutdown()
        self.server_close()

    def next_answer(self) -> Answer:
        with self.lock:
            return self.script.pop(0) if len(self.script) > 1 else self.script[0]


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedS3
    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append(f"{self.command} {self.path}")
        self.server.contents.append(content)
        status, body = self.server.next_answer()
        time.sleep(self.server.seconds)
        if not status:
            self.close_connection = True
            return
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self._answer()

    def do_PUT(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def log_message(self, *_arguments: object) -> None:
        """Nobody reads what it says."""
