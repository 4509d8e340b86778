"""What goes over the wire to a Chat Completions server, and what comes back.

Pure: requests become JSON here, and the events of a stream become text and tool calls.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from app.assistant.providers.base import (
    LONGEST_ARGUMENTS,
    MOST_CALLS,
    ChatMessage,
    ModelEvent,
    ModelRequest,
    ProviderError,
    TextDelta,
    ToolCall,
    ToolSpec,
    Usage,
)
from app.text.json_text import ObjectScanner, parse_json
from app.text.plain_text import storable

# Text is given out in pieces of at most so many characters, so that whoever takes them can let
# others go on between two of them.
LONGEST_DELTA = 2_000
# What a server may say in one event: a reply has one choice, and a name and an id are short.
MOST_CONTAINERS, MOST_VALUES, MOST_CHOICES, LONGEST_NAME = 10_000, 100_000, 16, 200
SURROGATE = re.compile("[\ud800-\udfff]")
NOT_IN_A_TOOL_NAME = re.compile(r"[^A-Za-z0-9_-]")
ERROR_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")

Json = dict[str, Any]


def wire_request(model: str, request: ModelRequest) -> Json:
    """The body of the request; only what every compatible server understands."""
    body: Json = {
        "model": model,
        "messages": [_wire_message(message) for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = [_wire_tool(spec) for spec in request.tools]
    return body


def _wire_message(message: ChatMessage) -> Json:
    wire: Json = {"role": message.role, "content": message.text}
    if message.role == "tool":
        wire["tool_call_id"] = message.tool_call_id
    elif message.tool_calls:
        wire["content"] = message.text or None
        wire["tool_calls"] = [_wire_call(call) for call in message.tool_calls]
    return wire


def _wire_call(call: ToolCall) -> Json:
    """Repeat a call to the model that made it, in a form that no server chokes on.

    Servers check the names and parse the arguments of past calls, and answer 400 or 500
    for what the model itself got wrong; the tool's error result tells it about that.
    """
    name = NOT_IN_A_TOOL_NAME.sub("_", call.name)[:64] or "unknown"
    arguments = call.arguments if _is_json_object(call.arguments) else "{}"
    return {"id": call.id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _wire_tool(spec: ToolSpec) -> Json:
    return {
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.description,
            "parameters": dict(spec.parameters),
        },
    }


# What comes back.


class Reply:
    """A reply while it is being read.

    `begun`: some text was given out. `alive`: the model has shown a sign of life, be it
    only its thoughts. `complete`: the model said all it had to. `closed`: nothing follows, or
    nothing that is read, for the calls are more or longer than is taken (`overflows`).
    """

    def __init__(self) -> None:
        self.begun = self.alive = self.complete = self.closed = self.overflows = False
        self._filtered = False
        self._half_character = ""
        self._calls = _ToolCalls()
        self._usage: Usage | None = None

    def read(self, data: str) -> list[TextDelta]:
        """Take in the data of one event and give out the text in it.

        Raises:
            ProviderError: the event tells of an error, or is not JSON.
        """
        if data.strip() == "[DONE]":
            self.complete = self.closed = True
            return []
        return self._read_chunk(_parsed(data)) if data.strip() else []

    def _read_chunk(self, chunk: Json) -> list[TextDelta]:
        if chunk.get("error") or chunk.get("object") == "error":
            raise _told_failure(_object(chunk.get("error")) or chunk)
        if usage := _object(chunk.get("usage")):
            # Usage makes numbers of whatever stands there.
            self._usage = Usage(usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0))
        choices = _objects(chunk.get("choices"))[:MOST_CHOICES]
        texts = [self._read_choice(choice) for choice in choices]
        return [
            TextDelta(text[at : at + LONGEST_DELTA])
            for text in texts
            for at in range(0, len(text), LONGEST_DELTA)
        ]

    def _read_choice(self, choice: Json) -> str:
        # Some servers end a stream with the whole message once more.
        message = {} if self.alive else _object(choice.get("message"))
        delta = _object(choice.get("delta")) or message
        self.alive |= any(value for name, value in delta.items() if name != "role")
        for fragment in _objects(delta.get("tool_calls")):
            self._calls.add(fragment)
        if self._calls.overflow:
            # What there is stands; a call that was cut short is the tool's to refuse.
            self.complete = self.closed = self.overflows = True
        if reason := choice.get("finish_reason"):
            self.complete = True
            self._filtered = reason == "content_filter"
        return self._say(_text(delta.get("content")) + _text(delta.get("refusal")))

    def _say(self, text: str) -> str:
        """The text to give out, less the first half of a character that was cut in two."""
        text, self._half_character = self._half_character + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half_character = text[:-1], text[-1]
        text = _mended(text)
        self.begun |= bool(text)
        return text

    def finish(self) -> Iterator[ModelEvent]:
        """Give out what is known only at the end.

        Raises:
            ProviderError: the stream ended before the reply, or all of it was held back.
        """
        if not self.complete:
            raise ProviderError("interrupted", "the stream ended early")
        if self._half_character:
            yield TextDelta(_mended(self._half_character))
        calls = self._calls.finished()
        if self._filtered and not self.begun and not calls:
            raise ProviderError("declined", "content_filter")
        yield from calls
        if self._usage:
            yield self._usage


class _OpenCall:
    """A tool call of which parts may still be missing; each part is looked at once."""

    def __init__(self, index: int | None, call_id: str, name: str) -> None:
        self.index = index
        self.id = call_id
        self.name = name
        self._pieces: list[str] = []
        self._scanner = ObjectScanner()
        self._has_ended = self._is_whole = False

    @property
    def arguments(self) -> str:
        return "".join(self._pieces)

    def add(self, piece: str) -> None:
        """Some more of the arguments."""
        self._pieces.append(piece)
        if self._has_ended:
            # What has more behind its end, or has ended and is none, never becomes one.
            self._is_whole = self._is_whole and not piece.strip()
        elif self._scanner.feed(piece) is not None:
            self._has_ended = True
            self._is_whole = _is_json_object(self.arguments)

    def goes_on_with(self, call_id: str, name: str) -> bool:
        """Whether a fragment with this id and name belongs to this call.

        Only a first fragment needs a name, but some servers repeat it; and some give all
        calls one index or none, so that a finished call is followed by another in its place.
        """
        if not name:
            return True
        if name != self.name or (call_id and self.id and call_id != self.id):
            return False
        return bool(call_id and self.id) or not self._is_whole


class _ToolCalls:
    """Puts tool calls together from the fragments that a stream carries.

    `overflow`: there were more of them, or more in them, than is read.
    """

    def __init__(self) -> None:
        self.overflow = False
        self._calls: list[_OpenCall] = []
        self._length = 0

    def add(self, fragment: Json) -> None:
        if self.overflow:
            return
        function = _object(fragment.get("function"))
        index = fragment.get("index")
        # Both are kept with the reply and told to its readers, whatever becomes of the call.
        call_id, name = (
            _mended(_text(value)[:LONGEST_NAME])
            for value in (fragment.get("id"), function.get("name"))
        )
        call = self._find(index, call_id)
        if call is None or not call.goes_on_with(call_id, name):
            if len(self._calls) >= MOST_CALLS:
                self.overflow = True
                return
            call = _OpenCall(index, call_id, name)
            self._calls.append(call)
        arguments = function.get("arguments")
        # A few servers send the object itself where its JSON text is expected.
        piece = json.dumps(arguments) if isinstance(arguments, dict) else _text(arguments)
        # One character beyond the longest, by which the toolbox knows.
        call.add(piece[: LONGEST_ARGUMENTS + 1 - self._length])
        self._length += len(piece)
        self.overflow = self._length > LONGEST_ARGUMENTS

    def _find(self, index: int | None, call_id: str) -> _OpenCall | None:
        """The call opened last at this index; without an index, the one of this id or the last."""
        if index is not None:
            same = [call for call in self._calls if call.index == index]
        else:
            same = [call for call in self._calls if call_id and call.id == call_id] or self._calls
        return same[-1] if same else None

    def finished(self) -> list[ToolCall]:
        """The calls in the order they were begun, each with an id of its own."""
        calls: dict[str, ToolCall] = {}
        for call in self._calls:
            is_own = call.id and call.id not in calls
            call_id = call.id if is_own else f"call_{uuid4().hex[:24]}"
            if call.name:
                arguments = _mended(call.arguments).strip() or "{}"
                calls[call_id] = ToolCall(call_id, call.name, arguments)
        return list(calls.values())


def _parsed(data: str) -> Json:
    # To read one of these takes up to a microsecond, and an event is read in one go.
    containers = data.count("{") + data.count("[")
    if containers > MOST_CONTAINERS or data.count(",") > MOST_VALUES:
        raise ProviderError("server_error", "too many values")
    try:
        return _object(parse_json(data, any_number=True))
    except ValueError:
        raise ProviderError("server_error", "malformed JSON") from None


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> list[Json]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: object) -> str:
    """Text as it is, or the text of a list of content parts; anything else is none."""
    if isinstance(value, list):
        return "".join(_text(part.get("text")) for part in _objects(value))
    return value if isinstance(value, str) else ""


def _is_json_object(text: str) -> bool:
    try:
        return isinstance(parse_json(text), dict)
    except ValueError:
        return False


def _mended(text: str) -> str:
    """Join the halves of characters and drop NUL: neither could be stored or sent on."""
    if SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return storable(text)


# How a server says that it failed.


# Bad Request, Content Too Large, Unprocessable Content: what is asked, not who asks or whom.
_OF_THE_REQUEST = (400, 413, 422)


def _told_failure(told: Json) -> ProviderError:
    """An error that came as an event of a stream which had begun with status 200."""
    status = next((told[key] for key in ("code", "status") if isinstance(told.get(key), int)), 500)
    if "rate_limit" in named_reason(told):
        status = 429
    return ProviderError(code_of_status(status, told), named_reason(told))


def code_of_status(status: int, body: Json) -> str:
    """The `ProviderError` code for an HTTP status of 400 or more and the error's body."""
    # Used-up credit also comes as 429, but waiting does not bring it back.
    if status == 429:
        return "refused" if named_reason(body) == "insufficient_quota" else "rate_limited"
    if status == 408:
        return "timeout"
    if status in _OF_THE_REQUEST:
        return "declined"
    return "refused" if status < 500 else "server_error"


def named_reason(body: Json) -> str:
    """The server's short name for an error; its message may repeat the conversation."""
    names = (_text(body.get(key)) for key in ("code", "type"))
    return next((name for name in names if ERROR_NAME.fullmatch(name)), "")
