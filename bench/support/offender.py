"""One person who misbehaves, as fast as the answers come, until told to stop.

Whatever is refused is asked for again after a pause; every answer is counted by its status.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from itertools import count
from typing import Any
from uuid import uuid4

from bench.support.pictures import photo, photo_of_many_scans, photo_with_comments
from bench.support.replies import ReplyEvents, reply_of
from bench.support.wire import Answer, Guest, Line, follow, multipart, read_answer

# Whatever the benchmark says or does not say, it is over then.
LONGEST_SECONDS = 120.0
# After a refusal, so that the refusals are not what is measured.
PAUSE_SECONDS = 3.0
STREAM_PAUSE_SECONDS = 10.0
PATIENCE_SECONDS = 20.0
TURNS_AT_ONCE = 3
LARGE_BYTES = 19 * 2**20
SCANS = 3_000
# So many streams are being opened at a time, each as soon as another one is answered.
OPENED_AT_ONCE = 20
PIECE = 256 * 1024


async def drive(plan: dict[str, Any], say: Callable[[str], None]) -> dict[str, Any]:
    """Do everything that the plan names at once; the answers, by what was done and status."""
    offender = Offender(plan)
    work = [asyncio.create_task(each) for each in offender.work()]
    say("begun")
    with suppress(TimeoutError):
        await asyncio.wait_for(asyncio.to_thread(input), LONGEST_SECONDS)
    for each in work:
        each.cancel()
    ends = await asyncio.gather(*work, return_exceptions=True)
    broken = {repr(end) for end in ends if not isinstance(end, asyncio.CancelledError)}
    return {"answers": offender.answers, "broken": sorted(broken)}


class Offender:
    """What one person asks for, and how often it was answered with what."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan, self.port, self.guest = plan, plan["port"], Guest(**plan["guest"])
        self.answers: dict[str, Counter[str]] = defaultdict(Counter)
        self._begun: dict[str, asyncio.Event] = {}
        self._opening = asyncio.Semaphore(OPENED_AT_ONCE)
        # Conversations and forms begin under ids that were issued to this person.
        self._ids = iter(plan["ids"])

    def _next_id(self) -> str:
        return str(next(self._ids))

    def work(self) -> list[Coroutine[Any, Any, None]]:
        """All that goes on at once, as the plan says."""
        work = [*self._turns(self.plan.get("kinds", [])), *self._uploads()]
        work += [self._look(self.plan["page"]) for _ in range(self.plan.get("looks", 0))]
        threads, streams = list(self._begun), range(self.plan.get("streams", 0))
        work += [self._stream(threads[number % len(threads)]) for number in streams]
        return work

    # Messages

    def _turns(self, kinds: list[str]) -> list[Coroutine[Any, Any, None]]:
        if not kinds:
            return []
        self._begun = {self._next_id(): asyncio.Event() for _ in range(TURNS_AT_ONCE)}
        return [self._ask(kinds, thread, first) for first, thread in enumerate(self._begun)]

    async def _ask(self, kinds: list[str], own_thread: str, first: int) -> None:
        """One message after the other, each as soon as the last one's answer has ended.

        Whoever opens streams stays in one thread; else each message begins another one.
        """
        stays = bool(self.plan.get("streams"))
        for number in count(first):
            thread = own_thread if stays else self._next_id()
            status, body = await self._post_message(thread, kinds[number % len(kinds)])
            self.answers["messages"][status] += 1
            if status == "200":
                self._begun[own_thread].set()
                self.answers["replies"][await self._end_of(thread, reply_of(body))] += 1
            else:
                await asyncio.sleep(PAUSE_SECONDS)

    async def _post_message(self, thread: str, kind: str) -> tuple[str, bytes]:
        line = Line(self.port)
        message, path = f"Please give me {kind}", f"/chat/{thread}/messages"
        try:
            return await _answered(
                line.post(path, self.guest, message=message, message_key=uuid4().hex)
            )
        finally:
            line.close()

    async def _end_of(self, thread: str, reply: str) -> str:
        """How the reply ended, if it did while somebody waited."""
        events = ReplyEvents("done", "error")
        path = f"/chat/{thread}/events"
        following = asyncio.create_task(follow(self.port, path, self.guest.header, events.hear))
        ended = asyncio.create_task(events.wait_for(reply))
        try:
            await asyncio.wait({following, ended}, timeout=PATIENCE_SECONDS,
                               return_when=asyncio.FIRST_COMPLETED)  # fmt: skip
            if ended.done():
                return ended.result()[0]
            return "stream closed" if following.done() else f"none in {PATIENCE_SECONDS:.0f} s"
        finally:
            ended.cancel()
            following.cancel()
            await asyncio.gather(ended, following, return_exceptions=True)

    # Pages

    async def _look(self, page: str) -> None:
        """Look at the page again and again, with a connection of one's own."""
        line = Line(self.port)
        while True:
            status, _body = await _answered(line.get(page, self.guest.header))
            self.answers["looks"][status] += 1
            if status != "200":
                line.close()
                await asyncio.sleep(PAUSE_SECONDS)

    # Files

    def _uploads(self) -> list[Coroutine[Any, Any, None]]:
        """So many uploads of each kind at once, each again as soon as it is answered."""
        scans, large = self.plan.get("scans", 0), self.plan.get("large", 0)
        files = self.plan.get("files", 0)
        work = []
        if scans:
            sent = self._file(photo_of_many_scans(SCANS))
            work += [self._repeat("pictures of 3,000 scans", sent) for _ in range(scans)]
        if large:
            sent = self._file(photo_with_comments(LARGE_BYTES))
            work += [self._repeat("uploads of 19 MB", sent) for _ in range(large)]
        if files:
            work.append(self._repeat(f"forms with {files} files", self._form(files)))
        return work

    async def _repeat(self, what: str, send: Callable[[], Awaitable[str]]) -> None:
        while True:
            try:
                status = await send()
            except asyncio.CancelledError:
                self.answers[what]["none when it was over"] += 1
                raise
            self.answers[what][status] += 1
            if status not in ("200", "303"):
                await asyncio.sleep(PAUSE_SECONDS)

    def _file(self, content: bytes) -> Callable[[], Awaitable[str]]:
        fields = {"csrf_token": self.guest.csrf, "rules": self.plan["rules"]}
        kind, body = multipart(fields, [("file", "walk-in.jpg", content)])
        return lambda: self._upload("/files", kind, body)

    def _form(self, files: int) -> Callable[[], Awaitable[str]]:
        """A form saved with so many files in its one field, as browsers without scripts do."""
        fields = {"csrf_token": self.guest.csrf, "begin": self.plan["form"], "action": "save"}
        small = photo((16, 16))
        sent = [("u-file", f"walk-in-{number}.jpg", small) for number in range(files)]
        kind, body = multipart(fields, sent)
        return lambda: self._upload(f"/forms/drafts/{self._next_id()}", kind, body)

    async def _upload(self, path: str, kind: str, body: bytes) -> str:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            return "not connected"
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
            f"{self.guest.header}{kind}Content-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode())
        # A server that refuses it may say so before it has all come.
        writing = asyncio.create_task(_write(writer, body))
        try:
            status, _body = await _answered(_read(reader))
            return status
        finally:
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)
            writer.transport.abort()

    # Streams

    async def _stream(self, thread: str) -> None:
        """Keep one event stream open, and open it again when it is closed or refused."""
        await self._begun[thread].wait()
        while True:
            self.answers["streams"][await self._listen(thread)] += 1
            await asyncio.sleep(STREAM_PAUSE_SECONDS)

    async def _listen(self, thread: str) -> str:
        """Listen to the end; why it ended, or the status of what was no stream."""
        await self._opening.acquire()
        is_open = False

        def hear(_piece: bytes) -> None:
            nonlocal is_open
            if not is_open:
                is_open = True
                self._opening.release()
                self.answers["streams"]["200"] += 1

        try:
            await follow(self.port, f"/chat/{thread}/events", self.guest.header, hear)
        except ConnectionError as error:
            # `follow` gives the beginning of an answer that is no stream.
            head = error.args[0] if error.args else b""
            return head.split()[1].decode() if isinstance(head, bytes) else "connection closed"
        except (OSError, EOFError):
            return "connection closed"
        finally:
            if not is_open:
                self._opening.release()
        return "ended"


async def _write(writer: asyncio.StreamWriter, body: bytes) -> None:
    whole = memoryview(body)
    for start in range(0, len(body), PIECE):
        writer.write(whole[start : start + PIECE])
        await writer.drain()


async def _read(reader: asyncio.StreamReader) -> Answer:
    answer, _keeps = await read_answer(reader)
    return answer


async def _answered(asked: Awaitable[Answer]) -> tuple[str, bytes]:
    """An answer's status and body; what came of it where there was none."""
    try:
        answer = await asyncio.wait_for(asked, LONGEST_SECONDS)
    except TimeoutError:
        return "no answer", b""
    except (OSError, EOFError):
        return "connection closed", b""
    return str(answer.status), answer.body
