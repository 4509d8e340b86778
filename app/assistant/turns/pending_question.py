"""The question that a reply ends in because the conversation waits for its answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.assistant.models import Message
from app.assistant.proposals.consent import load_asked
from app.assistant.tools.registry import Registry
from app.assistant.tools.tool import ToolContext
from app.assistant.turns.delivery import relay
from app.assistant.turns.loop import PartReady
from app.assistant.turns.writer import ReplyWriter
from app.text.markdown import join_paragraphs, paragraph_after


def ask_again(
    registry: Registry,
    context: ToolContext,
    message: Message,
    hinted: str | None,
    writer: ReplyWriter,
) -> str:
    """Let the reply end in what the conversation waits for, whatever a model said; its name.

    `hinted` is the question that the built-in assistant has ended in already, "" for none. What a
    yes would do is shown with the question, unless the reply before had it and asked the same.
    """
    if hinted == "":
        return ""
    with context.transaction() as session:
        found = (source(session, context) for source in registry.questions.values())
        question = next((each for each in found if each is not None), None)
        before = load_asked(session, message)
    if question is None or (hinted and question.about != hinted):
        return hinted or ""
    is_known = before == question.about
    if hinted and is_known:
        return hinted
    for part in () if is_known else question.parts:
        relay(PartReady(part), writer, registry, context.language)
    text = join_paragraphs("" if is_known else question.words, question.text)
    writer.add_text(paragraph_after(writer.text, text))
    return question.about


def asked_by_hints(hints: Mapping[str, Any], said: str) -> str:
    """The skill's question that the built-in assistant has ended in; no model is told of it."""
    words = hints.get("lead_back") or hints.get("reply") or ""
    return str(hints["asks"]) if "asks" in hints and said.endswith(str(words)) else ""
