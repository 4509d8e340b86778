"""The typed parts of a reply, its citations and chips, and the reply envelope 1.0.

Adding a part type is a pydantic model with a `type`, an entry in its skill's declaration
and a template `templates/parts/_<type>.html`. Parts carry data, never HTML.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from app.web.links import Target


class Part(BaseModel):
    """The base of every part: `type` picks the template that draws it."""

    model_config = ConfigDict(extra="forbid")
    template: ClassVar[str]
    type: str

    @property
    def once(self) -> str:
        """What a reply shows one part of at most; empty where it may show many alike."""
        return ""

    @property
    def request(self) -> tuple[str, dict[str, Any]] | None:
        """What a client is asked to draw for it, and with what; None for what only tells."""
        return None


class NoticePart(Part):
    """Something the person should know about this reply, in words.

    `kind` picks the icon: degraded, interrupted, unavailable, not_found or limit.
    """

    template: ClassVar[str] = "parts/_notice.html"
    type: Literal["notice"] = "notice"
    kind: str
    text: str


class ProposalPart(Part):
    """What the assistant would do, waiting for its person's word.

    `summary` and `details` (label and value pairs) are by language. `state` is pending,
    confirmed, declined, expired or superseded, as of now: see app.assistant.proposals.proposals.
    """

    template: ClassVar[str] = "parts/_proposal.html"
    type: Literal["proposal"] = "proposal"
    proposal_id: UUID
    tool: str
    summary: dict[str, str]
    details: dict[str, list[tuple[str, str]]]
    state: str = "pending"
    reason: str = ""
    expires_at: datetime


class ReceiptPart(Part):
    """What a confirmed write did; it can be taken back until `undo_until`, where there is one."""

    template: ClassVar[str] = "parts/_receipt.html"
    type: Literal["receipt"] = "receipt"
    proposal_id: UUID
    tool: str
    result_id: str
    summary: dict[str, str]
    details: dict[str, list[tuple[str, str]]]
    url: Target = ""
    done_at: datetime
    undo_until: datetime | None = None
    undone_at: datetime | None = None


def words_of_part(part: Mapping[str, Any], language: str) -> str:
    """What a stored part says in a line: its sentence, text or name; "" where it has none."""
    for by_language in (part.get("summary"), part.get("about")):
        if isinstance(by_language, Mapping):
            return str(by_language.get(language) or "")
    named = (part.get(name) for name in ("text", "name", "title", "type_name"))
    return next((str(each) for each in named if each), "")


def details_of_part(part: Mapping[str, Any], language: str) -> list[tuple[str, str]]:
    """The label and value pairs under that line, as a card shows them."""
    details = part.get("details")
    pairs = details.get(language) if isinstance(details, Mapping) else None
    return [(str(label), str(value)) for label, value in pairs or ()]


class Citation(BaseModel):
    """Where a statement stands: a passage of a source, numbered within one reply.

    `context` is manual, training, dishes, wines, cocktails, recipes, beer_liquor or forms.
    `quote` is the passage's text as it stood when it was cited.
    """

    model_config = ConfigDict(extra="forbid")

    number: int = 0
    context: str
    document_id: UUID
    source_id: UUID
    title: str
    path: list[str] = Field(default_factory=list)
    url: Target
    quote: str
    language: str


class Suggestion(BaseModel):
    """A chip: tapping it sends `message`, with `action` when it is a product's chip."""

    model_config = ConfigDict(extra="forbid")

    label: str
    message: str
    domain: str | None = None
    action: str | None = None


class Action(BaseModel):
    """A button beside the reply; the registered types are in the envelope's contract."""

    model_config = ConfigDict(extra="forbid")

    type: Literal[
        "start_cooking", "view_recipe", "save_recipe", "set_timer", "resume_cooking", "open_form"
    ]
    label: str
    payload: dict[str, Any] = Field(default_factory=dict)


class Envelope(BaseModel):
    """One grounded reply, as the JSON API returns it and the templates render it."""

    version: Literal["1.0"] = "1.0"
    message: str
    answer: str
    language: str
    mode: Literal["search", "action"] = "search"
    session_id: UUID
    sessionId: UUID  # noqa: N815 - the contract spells it so
    message_id: UUID
    status: str
    citations: list[dict[str, Any]]
    parts: list[dict[str, Any]]
    suggestions: list[dict[str, Any]]
    actions: list[dict[str, Any]]
    usage: dict[str, Any] | None = None
    degraded: bool = False
