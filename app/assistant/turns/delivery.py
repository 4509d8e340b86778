"""From the pure turn to its readers: each event of a turn as the reply's writer tells it."""

from __future__ import annotations

from flask_babel import gettext as _

from app.assistant.tools.registry import Registry
from app.assistant.turns.loop import (
    PartReady,
    Text,
    ToolFinished,
    ToolStarted,
    TurnEvent,
    trace_entry,
)
from app.assistant.turns.outcome import tool_step
from app.assistant.turns.writer import ReplyWriter
from app.observability import metrics


def relay(event: TurnEvent, writer: ReplyWriter, registry: Registry, language: str) -> None:
    """Pass one event of the turn on to the reply and its readers."""
    if isinstance(event, Text):
        writer.add_text(event.text)
    elif isinstance(event, ToolStarted):
        writer.flush()
        label = _label(registry, event.call.name, language)
        writer.publish("tool", {"id": event.call.id, "label": label, "state": "started"})
    elif isinstance(event, ToolFinished):
        writer.trace.append(trace_entry(event))
        writer.steps.append(tool_step(event, registry.tools, writer.began))
        label = _label(registry, event.call.name, language)
        body = {"id": event.call.id, "label": label, "state": "finished", "ok": event.outcome.ok}
        if event.call.name in registry.tools:
            metrics.count_tool(event.call.name, event.outcome.ok, event.milliseconds / 1000)
        writer.publish("tool", body)
    elif isinstance(event, PartReady):
        writer.parts.append(event.part.model_dump(mode="json"))
        writer.save()
        writer.publish("part", {"index": len(writer.parts) - 1})
        if event.part.request:
            action, payload = event.part.request
            writer.publish("action_request", {"action": action, **payload})


def _label(registry: Registry, tool: str, language: str) -> str:
    known = registry.tools.get(tool)
    return known.activity[language] if known else _("Looking for the right tool…")
