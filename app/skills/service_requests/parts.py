"""What the chat shows of a request: which type, the fields that are asked for, all so far."""

from __future__ import annotations

from typing import Any, ClassVar, Literal
from uuid import UUID, uuid4

from pydantic import BaseModel, ConfigDict, Field

from app.assistant.tools.parts import Part
from app.fields.definitions import FormField, read_fields
from app.fields.display import CallingCode, calling_codes
from app.skills.service_requests.labels import status_words
from app.skills.service_requests.services.definitions import REQUEST_FIELD_TYPES
from app.web.links import Target


class Posting(Part):
    """A part that is answered with a post of its own."""

    @property
    def message_key(self) -> str:
        """The key of the answer: a new one each time that the part is drawn."""
        return uuid4().hex


class TreeNode(BaseModel):
    """A type that can be chosen, or a category of them."""

    model_config = ConfigDict(extra="forbid")

    type_id: UUID
    name: str
    description: str = ""
    icon: str = "ticket"
    is_submittable: bool = True
    children: list[TreeNode] = Field(default_factory=list)


class TypeSelectorPart(Posting):
    """All types as a tree, with the likeliest ones apart.

    `state` is open, answered (`answer` says with what) or closed.
    """

    template: ClassVar[str] = "parts/_type_selector.html"
    type: Literal["type_selector"] = "type_selector"
    query: str
    suggestions: list[TreeNode] = Field(default_factory=list)
    types_tree: list[TreeNode]
    state: Literal["open", "answered", "closed"] = "open"
    answer: str = ""

    @property
    def once(self) -> str:
        return "selector"

    @property
    def request(self) -> tuple[str, dict[str, Any]]:
        """What a client is asked to draw, and with what."""
        shown = self.model_dump(mode="json", include={"suggestions", "types_tree"})
        suggestion = shown["suggestions"][0] if shown["suggestions"] else None
        return "select_service_request_type", {
            "suggestion": suggestion,
            "types_tree": shown["types_tree"],
        }


class FieldWidgetPart(Posting):
    """One field of a request, asked for with a control of its own.

    `block` is the field as `definitions` stores it, with its texts in both languages; `usual`
    is what most answer, `starts_with` what the control holds at first, `region` the country
    of numbers that name none. `state` is as for the selector.
    """

    template: ClassVar[str] = "parts/_field_widget.html"
    type: Literal["field_widget"] = "field_widget"
    field_id: UUID
    block: dict[str, Any]
    usual: str = ""
    starts_with: str = ""
    region: str = "US"
    state: Literal["open", "answered", "closed"] = "open"
    answer: str = ""

    @property
    def once(self) -> str:
        return str(self.field_id)

    @property
    def field(self) -> FormField | None:
        """The field alone, to be drawn; None where its block is none that a request can ask for."""
        block = {name: value for name, value in self.block.items() if name != "show_if"}
        try:
            [field] = read_fields([block])
        except ValueError:
            return None
        return field if field.type in REQUEST_FIELD_TYPES else None

    def calling_codes(self, language: str) -> tuple[CallingCode, ...]:
        """The countries that a phone number can be of."""
        return calling_codes(language, self.region)

    @property
    def request(self) -> tuple[str, dict[str, Any]]:
        """What a client is asked to draw, and with what."""
        return "render_field_input", {
            "field_id": str(self.field_id),
            "block_definition": self.block,
        }


class SummaryLine(BaseModel):
    """A field of the request so far: what it holds and where that came from."""

    model_config = ConfigDict(extra="forbid")

    field_id: UUID
    label: str
    value: str = ""
    words: str = ""
    is_inferred: bool = False
    is_required: bool = False
    before: str = ""


class RequestSummaryPart(Part):
    """The request so far; folded to a line unless somebody asked to see it."""

    template: ClassVar[str] = "parts/_request_summary.html"
    type: Literal["request_summary"] = "request_summary"
    type_name: str
    path: list[str]
    icon: str = "ticket"
    lines: list[SummaryLine]
    answers: list[tuple[str, str]] = Field(default_factory=list)
    is_open: bool = False

    @property
    def once(self) -> str:
        return "summary"


class RequestFieldsPart(Posting):
    """Several fields of a request on one card: what is needed, below what is known already.

    `missing` must be answered, `others` may be; `lines` are the request so far. `state` is as
    for the selector.
    """

    template: ClassVar[str] = "parts/_request_fields.html"
    type: Literal["request_fields"] = "request_fields"
    type_name: str
    icon: str = "ticket"
    lines: list[SummaryLine]
    missing: list[FieldWidgetPart]
    others: list[FieldWidgetPart] = Field(default_factory=list)
    state: Literal["open", "answered", "closed"] = "open"
    answer: str = ""

    @property
    def once(self) -> str:
        return "fields"

    @property
    def field_ids(self) -> list[str]:
        """Of all fields that the card asks for, in their order."""
        return [str(each.field_id) for each in (*self.missing, *self.others)]


class ListedRequest(BaseModel):
    """One of the person's requests as it was when they asked; its page tells how it is now."""

    model_config = ConfigDict(extra="forbid")

    reference: str
    title: str
    status: str
    assignee: str = ""
    url: Target = ""

    @property
    def status_in_words(self) -> str:
        """In the reader's language."""
        return status_words().get(self.status, self.status)


class RequestListPart(Part):
    """Some of the person's own requests, each with the way to its page; `url` leads to all."""

    template: ClassVar[str] = "parts/_request_list.html"
    type: Literal["request_list"] = "request_list"
    rows: list[ListedRequest]
    url: Target = ""


PARTS = (
    TypeSelectorPart,
    FieldWidgetPart,
    RequestSummaryPart,
    RequestFieldsPart,
    RequestListPart,
)
