"""The house's library: the manual, a tree of sections, and the five kinds of product."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from uuid import UUID

from sqlalchemy import ForeignKey, Numeric, UniqueConstraint
from sqlalchemy.dialects.postgresql import ARRAY, TEXT
from sqlalchemy.orm import Mapped, mapped_column

from app.db import Base, JsonList, JsonObject, new_id, utc_now

SECTION_KINDS = ("sop", "policy", "training", "recipe")
PRODUCT_KINDS = ("dishes", "wines", "cocktails", "recipes", "beer_liquor")


class ManualSection(Base):
    """One heading of the manual with the text under it, in either or both languages."""

    __tablename__ = "manual_sections"
    __table_args__ = (UniqueConstraint("group_id", "slug"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    parent_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("manual_sections.id", ondelete="CASCADE"), index=True
    )
    slug: Mapped[str]
    kind: Mapped[str] = mapped_column(default="sop")
    position: Mapped[int] = mapped_column(default=0)
    source: Mapped[str] = mapped_column(default="")  # the file it was imported from
    title_en: Mapped[str] = mapped_column(default="")
    title_es: Mapped[str] = mapped_column(default="")
    body_en: Mapped[str] = mapped_column(default="")
    body_es: Mapped[str] = mapped_column(default="")
    is_published: Mapped[bool] = mapped_column(default=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now, onupdate=utc_now)

    def title(self, language: str) -> str:
        """The title in `language`, else in the one there is."""
        first, second = self.title_en, self.title_es
        return (second or first) if language == "es" else (first or second)

    def body(self, language: str) -> str:
        """The Markdown body in `language`, else in the one there is."""
        first, second = self.body_en, self.body_es
        return (second or first) if language == "es" else (first or second)

    def is_written_in(self, language: str) -> bool:
        """True when it has words of its own in `language`, be it a title alone."""
        if language == "es":
            return bool(self.title_es or self.body_es)
        return bool(self.title_en or self.body_en)


class Product(Base):
    """Something the house serves or cooks: a dish, wine, cocktail, recipe, beer or spirit."""

    __tablename__ = "products"
    __table_args__ = (UniqueConstraint("group_id", "kind", "slug"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    kind: Mapped[str]
    slug: Mapped[str]
    name_en: Mapped[str]
    name_es: Mapped[str]
    description_en: Mapped[str] = mapped_column(default="")
    description_es: Mapped[str] = mapped_column(default="")
    category: Mapped[str] = mapped_column(default="")
    price: Mapped[Decimal | None] = mapped_column(Numeric(10, 2))
    # None means that nobody has declared any: not the same as none.
    allergens: Mapped[list[str] | None] = mapped_column(ARRAY(TEXT))
    ingredients: Mapped[JsonList] = mapped_column(default=list)
    steps: Mapped[JsonList] = mapped_column(default=list)
    tags: Mapped[list[str]] = mapped_column(ARRAY(TEXT), default=list)
    pairing_notes_en: Mapped[str] = mapped_column(default="")
    pairing_notes_es: Mapped[str] = mapped_column(default="")
    facts: Mapped[JsonObject] = mapped_column(default=dict)
    is_active: Mapped[bool] = mapped_column(default=True)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now, onupdate=utc_now)

    def name(self, language: str) -> str:
        return self.name_es if language == "es" else self.name_en

    def description(self, language: str) -> str:
        return self.description_es if language == "es" else self.description_en

    def pairing_notes(self, language: str) -> str:
        return self.pairing_notes_es if language == "es" else self.pairing_notes_en
