"""What stands under replies: the card of a form, and what a form's assistant has filled in."""

from __future__ import annotations

from typing import ClassVar, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from app.assistant.tools.parts import Part
from app.text.normalize import split_marked

# Below it the page and the reply ask the person to look at a value again.
SURE = 0.7


class FormCardPart(Part):
    """A form that somebody may want to fill in, in the language of the reply.

    `context` is what they said that led here, word by word, and `message_id` where they said
    it; `hits` are the words of the description that were looked for, folded.
    """

    # Cards are kept with their messages; one that an earlier version drew may hold more.
    model_config = ConfigDict(extra="ignore")
    template: ClassVar[str] = "parts/_form_card.html"
    type: Literal["form_card"] = "form_card"
    slug: str
    title: str
    description: str
    icon: str
    language: str
    hits: list[str] = Field(default_factory=list)
    message_id: UUID | None = None
    context: str = ""
    is_best: bool = False

    @property
    def once(self) -> str:
        """A form is shown once, however often it was found."""
        return self.slug

    @property
    def pieces(self) -> list[tuple[str, bool]]:
        """The description cut up, each piece with whether it was looked for."""
        return split_marked(self.description, set(self.hits).__contains__)


class FilledField(BaseModel):
    """A field that was filled: what it is called and what it says now, for the reader."""

    model_config = ConfigDict(extra="ignore")
    name: str
    label: str
    value: str
    # From 0 to 1; the page asks to check what is not sure.
    confidence: float = 1.0

    @property
    def is_doubtful(self) -> bool:
        return self.confidence < SURE


class RefusedField(BaseModel):
    """A field that could not be filled, and why, in the reader's language."""

    model_config = ConfigDict(extra="ignore")
    name: str
    label: str
    reason: str


class FormUpdatesPart(Part):
    """The fields of a draft that one reply has filled, and those that it could not fill."""

    model_config = ConfigDict(extra="ignore")
    template: ClassVar[str] = "parts/_form_updates.html"
    type: Literal["form_updates"] = "form_updates"
    draft_id: UUID
    filled: list[FilledField] = Field(default_factory=list)
    refused: list[RefusedField] = Field(default_factory=list)
    # Labels of required fields that have nothing yet.
    missing: list[str] = Field(default_factory=list)

    @property
    def once(self) -> str:
        """The same said twice in one reply is shown once."""
        return self.model_dump_json(exclude={"missing"})
