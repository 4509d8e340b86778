"""What a model is asked and which tools it is offered, from what the context knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.accounts.models import ROLES
from app.assistant.prompts.system_prompt import assemble, inactive_slugs
from app.assistant.providers.base import ChatMessage, ModelRequest
from app.assistant.tools.registry import Registry
from app.assistant.tools.tool import Tool
from app.assistant.turns.context import TurnContext


def offered_tools(registry: Registry, context: TurnContext, role: str) -> dict[str, Tool]:
    """The tools that this role may use and whose prompt rows are not switched off.

    In a conversation of another kind than the chat they are those that its opening names.
    """
    inactive = inactive_slugs(context.prompts)
    named = context.opening.tools if context.opening else ()
    return {
        name: tool
        for name, tool in registry.tools.items()
        if tool.prompt_slug not in inactive
        and tool.allows(role)
        and (name in named if context.conversation else not tool.conversation)
    }


def usual_requests(registry: Registry) -> Iterator[ModelRequest]:
    """A greeting of somebody of each role in a chat where no prompt is switched off.

    Who has answered them has opened all that an answer needs and learned every role's tools.
    """
    for role in ROLES:
        usual = [each for each in registry.tools.values() if not each.conversation]
        tools = tuple(tool.spec() for tool in usual if tool.allows(role))
        denied = tuple(sorted(tool.name for tool in usual if not tool.allows(role)))
        hints = {"domain": "manual", "denied": denied}
        yield ModelRequest((ChatMessage("user", "hello"),), tools, "en", "", hints)


def denied_tools(registry: Registry, context: TurnContext, role: str) -> frozenset[str]:
    """The tools that others may use here and this role may not."""
    if context.conversation:
        return frozenset()
    return frozenset(
        name
        for name, tool in registry.tools.items()
        if not tool.conversation and not tool.allows(role)
    )


def model_request(
    registry: Registry, context: TurnContext, request: Mapping[str, Any], role: str
) -> ModelRequest:
    """The first request of a turn; `request` names its domain and its action, if any."""
    domain, action = request.get("domain", "manual"), request.get("action", "")
    prompts = context.prompts
    if context.conversation:
        # Another persona: nothing of the chat's own is said to it.
        domain = registry.conversations[context.conversation].domain
        prompts = tuple(row for row in prompts if row.domain == domain)
    system = assemble(
        prompts,
        language=context.language,
        domain=domain,
        action=action,
        generated=context.generated,
    )
    messages = (
        ChatMessage("system", system),
        *context.history,
        ChatMessage("user", context.message),
    )
    # In an order that is always the same: what these tools come to is computed once.
    denied = tuple(sorted(denied_tools(registry, context, role)))
    hints = {**context.hints, "domain": domain, "denied": denied}
    records = {name: tool.records for name, tool in registry.tools.items() if tool.records}
    return ModelRequest(
        messages,
        (),
        context.language,
        action,
        hints,
        context.today,
        context.emergency_number,
        records,
    )
