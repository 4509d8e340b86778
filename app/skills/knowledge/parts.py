"""The card of a product, as it stands under a reply."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import ConfigDict, Field

from app.assistant.tools.parts import Part, Suggestion
from app.web.links import Target


class ProductCardPart(Part):
    """A product of the group, in the language of the reply."""

    # Cards are kept with their messages; one that an earlier version drew may hold more.
    model_config = ConfigDict(extra="ignore")
    template: ClassVar[str] = "parts/_product_card.html"
    type: Literal["product_card"] = "product_card"
    kind: str
    slug: str
    name: str
    description: str
    category: str
    price: str | None = None
    allergens: list[str] | None = None  # codes; None when nobody has declared them
    # Label and value; a list, because the database keeps no order of a mapping.
    facts: list[tuple[str, str]] = Field(default_factory=list)
    url: Target
    chips: list[Suggestion] = Field(default_factory=list)
