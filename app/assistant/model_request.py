"""What a model is asked and which tools it is offered, from what the context knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.assistant.context import TurnContext
from app.assistant.prompts import assemble, inactive_slugs
from app.assistant.providers.base import ChatMessage, ModelRequest
from app.assistant.registry import Registry
from app.assistant.tool import Tool


def offered_tools(registry: Registry, context: TurnContext, role: str) -> dict[str, Tool]:
    """The tools that this role may use and whose prompt rows are not switched off."""
    inactive = inactive_slugs(context.prompts)
    return {
        name: tool
        for name, tool in registry.tools.items()
        if tool.prompt_slug not in inactive and tool.allows(role)
    }


def model_request(context: TurnContext, request: Mapping[str, Any]) -> ModelRequest:
    """The first request of a turn; `request` names its domain and its action, if any."""
    domain, action = request.get("domain", "manual"), request.get("action", "")
    system = assemble(
        context.prompts,
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
    hints = {**context.hints, "domain": domain}
    return ModelRequest(messages, (), context.language, action, hints, context.today)
