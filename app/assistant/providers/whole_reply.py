"""A reply that is read as a whole, by who makes something of it other than a conversation."""

from __future__ import annotations

from contextlib import closing

from app.assistant.providers.base import (
    LONGEST_ARGUMENTS,
    ModelRequest,
    Provider,
    ProviderError,
    TextDelta,
    ToolCall,
)


def read_whole(provider: Provider, request: ModelRequest) -> tuple[str, str]:
    """What the model says, and the arguments of the first tool that it asks for, as they came.

    Raises:
        ProviderError: the provider's own; `malformed` where either is longer than 64,000
            characters.
    """
    said: list[str] = []
    length, arguments = 0, ""
    with closing(provider.stream(request)) as events:
        for event in events:
            if isinstance(event, TextDelta):
                said.append(event.text)
                length += len(event.text)
            elif isinstance(event, ToolCall):
                arguments = arguments or event.arguments
            if max(length, len(arguments)) > LONGEST_ARGUMENTS:
                raise ProviderError("malformed", "longer than what is read")
    return "".join(said), arguments
