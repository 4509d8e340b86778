"""The HTTP server: a small, real one, on a thread of its own."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tests.model_server.assistant import PlausibleAssistant
from tests.model_server.conformance import complaint
from tests.model_server.embeddings import embeddings_reply
from tests.model_server.exchange import (
    Answer,
    AnswerIsOver,
    StreamedAnswer,
    WholeAnswer,
    json_response,
)
from tests.model_server.recording import RecordedCall
from tests.model_server.script import Script, benchmark

# A model by this name always behaves as the one that speed is measured against.
BENCHMARK_MODEL = "benchmark"
MODELS = ("scripted", BENCHMARK_MODEL)


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class _Reader(asyncio.StreamReader):
    """A stream that tells at once when the other side has gone, without reading from it."""

    def __init__(self) -> None:
        super().__init__()
        self.other_side_left = asyncio.Event()

    def feed_eof(self) -> None:
        super().feed_eof()
        self.other_side_left.set()

    def set_exception(self, exc: Exception) -> None:
        super().set_exception(exc)
        self.other_side_left.set()


class ModelServer:
    """A scripted, OpenAI-compatible server; `with ModelServer() as server:` runs it.

    The script given last is asked first; what none is for is answered by `default`.
    """

    def __init__(
        self,
        *scripts: Script,
        host: str = "127.0.0.1",
        port: int = 0,
        embedding_dimensions: int = 1536,
        default: Script | None = None,
    ) -> None:
        self.host = host
        self.port = port
        self.embedding_dimensions = embedding_dimensions
        self.calls: list[RecordedCall] = []
        self.embedding_requests: list[dict[str, Any]] = []
        self._fixed: list[Script] = [
            benchmark(when=lambda call: call.body.get("model") == BENCHMARK_MODEL),
            default or PlausibleAssistant(),
        ]
        self._scripts: list[Script] = list(scripts)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="model server", daemon=True)
        self._started = threading.Event()
        self._failure: OSError | None = None

    @property
    def base_url(self) -> str:
        """What OPENAI_BASE_URL is set to."""
        return f"http://{self.host}:{self.port}/v1"

    def script(self, *scripts: Script) -> None:
        """Behave like this from now on, where these scripts are meant for the message."""
        self._scripts = [*scripts, *self._scripts]

    @property
    def last_call(self) -> RecordedCall:
        return self.calls[-1]

    def last_call_about(self, message: str) -> RecordedCall | None:
        """The newest call for this message of a user's, if there is one yet."""
        return next((call for call in reversed(self.calls) if call.message == message), None)

    def start(self) -> None:
        """Listen; raises OSError when the port is taken."""
        self._thread.start()
        self._started.wait()
        if self._failure:
            raise self._failure

    def stop(self) -> None:
        """Stop listening and break off every answer that is being given."""
        if self._loop.is_running():
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def __enter__(self) -> ModelServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._listen())
        except OSError as error:
            self._failure = error
            self._started.set()
            return
        self._started.set()
        self._loop.run_forever()
        self._break_off()

    async def _listen(self) -> None:
        def connection() -> asyncio.StreamReaderProtocol:
            return asyncio.StreamReaderProtocol(_Reader(), self._serve)

        # Hundreds of clients may connect in the same moment.
        server = await self._loop.create_server(connection, self.host, self.port, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        self._server = server

    def _break_off(self) -> None:
        self._server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection until one side has had enough."""
        assert isinstance(reader, _Reader)
        # Cancelled is what stop() makes of it; asyncio would log that as a failure.
        ends = (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError)
        try:
            with suppress(*ends):
                while request := await _read_request(reader):
                    if not await self._answer(request, reader, writer):
                        break
        finally:
            writer.transport.abort()

    async def _answer(
        self, request: Request, reader: _Reader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answer one request; returns whether the connection can be used again."""
        try:
            body = json.loads(request.body or b"{}")
        except ValueError:
            writer.write(_error(400, "The body is not JSON"))
            return False
        match request.method, request.path:
            case "POST", "/v1/chat/completions":
                return await self._answer_chat(body, request.headers, reader, writer)
            case "POST", "/v1/embeddings":
                self.embedding_requests.append(body)
                writer.write(json_response(200, embeddings_reply(body, self.embedding_dimensions)))
            case "GET", "/v1/models":
                models = [{"id": name, "object": "model", "owned_by": "tests"} for name in MODELS]
                writer.write(json_response(200, {"object": "list", "data": models}))
            case _:
                writer.write(_error(404, "There is nothing here"))
        await writer.drain()
        return True

    async def _answer_chat(
        self,
        body: dict[str, Any],
        headers: dict[str, str],
        reader: _Reader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        call = RecordedCall(body, headers, writer.get_extra_info("peername")[1])
        self.calls.append(call)
        if problem := complaint(body):
            writer.write(_error(400, problem))
            call.ended.set()
            return True
        playing = asyncio.ensure_future(self._play(call, writer))
        leaving = asyncio.ensure_future(reader.other_side_left.wait())
        try:
            await asyncio.wait({playing, leaving}, return_when=asyncio.FIRST_COMPLETED)
            # Whoever writes to a client that has left may hear of it first.
            if playing.done() and not isinstance(playing.exception(), ConnectionError):
                return playing.result()
            call.note_leaving()
            return False
        finally:
            playing.cancel()
            leaving.cancel()
            call.ended.set()

    async def _play(self, call: RecordedCall, writer: asyncio.StreamWriter) -> bool:
        """Play the script for this call; returns whether the connection can be used again."""
        script = next(each for each in (*self._scripts, *self._fixed) if each.is_for(call))
        answer: Answer
        if call.body.get("stream") and script.streams:
            answer = StreamedAnswer(call, writer, byte_by_byte=script.byte_by_byte)
        else:
            answer = WholeAnswer(call, writer)
        try:
            await _play_steps(script.steps(call), answer)
        except AnswerIsOver as over:
            return over.keep
        return True


async def _play_steps(steps: Sequence[Any], answer: Any) -> None:
    for step in steps:
        await step.play(answer)
    await answer.finish()


async def _read_request(reader: asyncio.StreamReader) -> Request | None:
    """The next request of a connection, or None when the client has closed it."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    method, path, _version = first.split(" ", 2)
    headers = {
        name.strip().lower(): value.strip()
        for name, value in (line.split(":", 1) for line in lines)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, path.split("?")[0], headers, body)


def _error(status: int, message: str) -> bytes:
    return json_response(status, {"error": {"message": message, "type": "invalid_request_error"}})
