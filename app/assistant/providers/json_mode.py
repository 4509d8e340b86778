"""Tools for models that cannot call any: they are asked for strict JSON, and it is read.

The model gets one object, {message, today, tools, history}, and must return one of
{"type": "clarify", "question"}, {"type": "tool_call", "tool", "args"} and
{"type": "answer", "content"}. What cannot be read is sent back once with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from app.assistant.providers.base import (
    ChatMessage,
    ModelEvent,
    ModelRequest,
    Provider,
    ProviderError,
    TextDelta,
    ToolCall,
    Usage,
)
from app.assistant.providers.json_reader import (
    Call,
    Clarify,
    Reply,
    Unreadable,
    WordsReader,
    read_reply,
)
from app.text.json_text import parse_json
from app.text.plain_text import clean_text, clean_value

TRIES = 2
# Of one reply so many characters are read, thoughts included; a whole answer in escapes fits.
LONGEST_PAYLOAD = 200_000
# Of a reply that could not be read, this much is shown to the model that wrote it.
LONGEST_REMINDER = 2_000
INSTRUCTIONS = """\
You get one JSON object: the person's message, today's date, the tools you may use and what was \
said and found before. Reply with exactly one JSON object and nothing else, one of:
{"type": "clarify", "question": "..."} when you cannot go on without an answer;
{"type": "tool_call", "tool": "...", "args": {...}} to use one of the tools, with arguments that \
fit its parameters; where it would change something, "confirmationSuggested": true and \
"confirmationMessage": "..." may be added;
{"type": "answer", "content": "..."} with the reply to the person, in Markdown, with the numbers \
of your sources in square brackets. When there are no tools, answer with what was found."""


class JsonModeProvider:
    """Speaks JSON with a provider that only has to write text."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self.name, self.model = provider.name, provider.model
        self.uses_hints = provider.uses_hints

    def stream(self, request: ModelRequest) -> Generator[ModelEvent, None, None]:
        """Yield the words of an answer or question as they come, or one tool call.

        Usage is yielded as it comes, that of a reply which could not be read too.

        Raises:
            ProviderError: the model's own; `malformed` after two replies that are none, or one
                without an end; `interrupted` where the words that were given out have none.
        """
        asked = _as_json(request)
        for _ in range(TRIES):
            reader = WordsReader()
            yield from self._ask(asked, reader)
            if reader.is_over and reader.has_begun:
                return
            if reader.has_begun:
                raise ProviderError("interrupted", "the words have no end")
            if reader.length > LONGEST_PAYLOAD:
                raise ProviderError("malformed", "longer than any reply")
            try:
                reply = read_reply(reader.text)
            except Unreadable as problem:
                asked = _with_complaint(asked, reader.text, problem)
                continue
            yield _event(reply, request)
            return
        raise ProviderError("malformed", "not the JSON that was asked for, twice")

    def _ask(
        self, asked: ModelRequest, reader: WordsReader
    ) -> Generator[TextDelta | Usage, None, None]:
        """One call, read to its end so that its usage is counted; gives out words as they come.

        One that goes on beyond the longest reply is closed.
        """
        with closing(self._provider.stream(asked)) as events:
            for event in events:
                if isinstance(event, Usage):
                    yield event
                elif isinstance(event, TextDelta) and (words := reader.feed(event.text)):
                    yield TextDelta(words)
                if reader.length > LONGEST_PAYLOAD:
                    break
        if words := reader.close():
            yield TextDelta(words)

    def check(self) -> str:
        return self._provider.check()


def _as_json(request: ModelRequest) -> ModelRequest:
    """The same request as a system prompt with instructions and one JSON object."""
    spoken = [message for message in request.messages if message.role != "system"]
    asked = max((n for n, message in enumerate(spoken) if message.role == "user"), default=0)
    payload = {
        "message": spoken[asked].text if spoken else "",
        "today": request.today or datetime.now(UTC).date().isoformat(),
        "tools": [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in request.tools
        ],
        "history": [_said(message) for n, message in enumerate(spoken) if n != asked],
    }
    system = [message.text for message in request.messages if message.role == "system"]
    messages = (
        ChatMessage("system", "\n\n".join([*system, INSTRUCTIONS])),
        ChatMessage("user", json.dumps(payload, ensure_ascii=False)),
    )
    return replace(request, messages=messages, tools=())


def _said(message: ChatMessage) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool": message.tool_name, "result": _value(message.text)}
    said: dict[str, Any] = {"role": message.role}
    if message.text:
        said["text"] = message.text
    if message.tool_calls:
        said["tool_calls"] = [
            {"tool": call.name, "args": _value(call.arguments)} for call in message.tool_calls
        ]
    return said


def _value(text: str) -> Any:
    """JSON as it is rather than as a text in a text; what is none stays a text."""
    try:
        return parse_json(text)
    except ValueError:
        return text


def _with_complaint(asked: ModelRequest, text: str, problem: Unreadable) -> ModelRequest:
    """The request once more, with what came back and what is wrong with it."""
    again = f"That is not one of the three objects ({problem}). Reply with one of them only."
    said = ChatMessage("assistant", text[:LONGEST_REMINDER] or "(nothing)")
    return replace(asked, messages=(*asked.messages, said, ChatMessage("user", again)))


def _event(reply: Reply, request: ModelRequest) -> ModelEvent:
    if isinstance(reply, Call):
        number = sum(len(message.tool_calls) for message in request.messages) + 1
        arguments = json.dumps(clean_value(reply.args), ensure_ascii=False)
        return ToolCall(
            f"call_{number}",
            clean_text(reply.tool),
            arguments,
            reply.confirmationSuggested,
            clean_text(reply.confirmationMessage).strip(),
        )
    return TextDelta(reply.question if isinstance(reply, Clarify) else reply.content)
