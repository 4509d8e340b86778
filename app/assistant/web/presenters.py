"""Messages as the templates draw them: safe HTML with citations that can be opened."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog
from flask import url_for
from markupsafe import Markup, escape
from pydantic import ValidationError

from app.assistant.feedback.feedback import is_rateable
from app.assistant.models import AGENT, Message, MessageFeedback, Proposal
from app.assistant.proposals.proposals import NONE_PROPOSED, part_as_of_now
from app.assistant.threads.branches import Place
from app.assistant.tools.registry import Registry
from app.assistant.turns.citations import MARKED, mark_citations
from app.text.markdown import render_model_text, split_blocks

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class MessageView:
    """A message, ready for `templates/chat/_message.html`.

    Of a colleague's reply `agent` has its author, and the request that it is about.
    """

    id: str
    thread_id: str
    turn_id: str
    role: str
    status: str
    blocks_html: Markup
    tail: str
    text: str
    cursor: str
    language: str
    created_at: Any
    citations: list[dict[str, Any]]
    parts: list[dict[str, Any]]
    suggestions: list[dict[str, Any]]
    activity: list[dict[str, str]]
    degraded: bool
    provider: str
    place: Place | None
    feedback: MessageFeedback | None
    is_rateable: bool
    found_nothing: bool
    agent: Mapping[str, Any] | None
    # It was tapped and not typed: there are no words in it that could be changed.
    is_step: bool


def view_message(
    message: Message,
    registry: Registry,
    proposals: Mapping[UUID, Proposal] = NONE_PROPOSED,
    place: Place | None = None,
    feedback: MessageFeedback | None = None,
) -> MessageView:
    """Draw a message; one that is still being said ends in a raw tail.

    `proposals` are those that it shows, as they stand now; `place` is where it stands among
    its siblings, where it has any; `feedback` is what the person thinks of it.
    """
    streaming = message.status == "streaming"
    if message.role in ("user", AGENT):
        html, tail = _plain(message.content), ""
    else:
        blocks, tail = split_blocks(message.content) if streaming else ([message.content], "")
        html = Markup("").join(cite_html(block, message.citations, message.id) for block in blocks)
    return MessageView(
        id=str(message.id),
        thread_id=str(message.thread_id),
        turn_id=str(message.turn_id or ""),
        role=message.role,
        status=message.status,
        blocks_html=html,
        tail=tail,
        text=message.content,
        cursor=message.event_cursor,
        language=message.language,
        created_at=message.created_at,
        citations=[_citation(citation, message.id) for citation in message.citations],
        parts=[
            view
            for part in message.parts
            if (view := view_part(part_as_of_now(part, proposals), registry))
        ],
        suggestions=message.suggestions,
        activity=_activity(message, registry),
        degraded=message.degraded,
        provider=message.provider,
        place=place,
        feedback=feedback,
        is_rateable=is_rateable(message),
        found_nothing=found_nothing(message, registry),
        agent=message.internal_content if message.role == AGENT else None,
        is_step=message.role == "user" and message.internal_content is not None,
    )


def found_nothing(message: Message, registry: Registry) -> bool:
    """True of a whole reply that has searched, and has nothing to show for it."""
    if message.status != "complete" or message.citations or message.parts:
        return False
    tools = [registry.tools.get(entry["tool"]) for entry in message.tool_trace]
    return any(tool is not None and tool.is_search for tool in tools)


def view_part(data: Mapping[str, Any], registry: Registry) -> dict[str, Any] | None:
    """A stored part with its template; None when no skill draws it (like that) any more."""
    model = registry.parts.get(data.get("type", ""))
    if model is None:
        return None
    try:
        return {"template": model.template, "part": model.model_validate(data)}
    except ValidationError as error:
        # An old card of a form that has changed since must not take its thread with it.
        log.warning("part not shown", type=model.__name__, problems=error.error_count())
        return None


# Far more than an answer needs; what is beyond is left out.
MOST_CITE_LINKS = 300


def cite_html(
    markdown: str, citations: list[dict[str, Any]], message_id: UUID | None = None
) -> Markup:
    """Safe HTML of a Markdown block; its [n] become links to the cited passages.

    With the message that cites them they open as they stood then.
    """
    # A model may repeat a number thousands of times: each link is made once.
    known = {each["number"]: _cite_link(each, message_id) for each in citations}
    left = MOST_CITE_LINKS

    def link(match: re.Match[str]) -> str:
        nonlocal left
        numbers = [int(number) for number in re.findall(r"\d+", match[1])]
        links = [known[each] for each in numbers if each in known][: max(left, 0)]
        left -= len(links)
        return "".join(links)

    html = MARKED.sub(link, str(render_model_text(mark_citations(markdown))))
    return Markup(html)  # noqa: S704 - cleaned text and links made here


def _cite_link(citation: Mapping[str, Any], message_id: UUID | None) -> str:
    address, title = escape(passage_url(citation, message_id)), escape(citation["title"])
    number = citation["number"]
    return f'<a class="cite" href="{address}" data-cite="{number}" title="{title}">{number}</a>'


def passage_url(citation: Mapping[str, Any], message_id: UUID | None = None) -> str:
    """Where the citation's passage opens, in the language it was quoted in."""
    asked: dict[str, Any] = {"cited": message_id} if message_id else {}
    if citation["language"] != "mul":
        asked["lang"] = citation["language"]
    return url_for("knowledge.passage", document_id=citation["document_id"], **asked)


def _citation(citation: dict[str, Any], message_id: UUID) -> dict[str, Any]:
    return {**citation, "passage_url": passage_url(citation, message_id)}


def _activity(message: Message, registry: Registry) -> list[dict[str, str]]:
    """What was looked up, in words, each kind once.

    What was done for something beside the conversation, its page shows.
    """
    tools = [registry.tools.get(entry["tool"]) for entry in message.tool_trace]
    labels = dict.fromkeys(
        tool.activity[message.language] for tool in tools if tool and not tool.conversation
    )
    # What was being done is done: "Searching the manual…" goes on no more.
    return [{"label": label.rstrip("…"), "state": "finished"} for label in labels]


def _plain(text: str) -> Markup:
    """What a person wrote, as they wrote it: escaped, with its line breaks."""
    return Markup("<br>").join(text.split("\n"))
