"""The group's library: the manual, a tree of sections, and the five kinds of product."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from uuid import UUID

from sqlalchemy import Computed, ForeignKey, Index, Numeric, UniqueConstraint
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TEXT
from sqlalchemy.orm import Mapped, mapped_column

from app.db import Base, JsonList, JsonObject, new_id, utc_now
from app.text.bilingual import in_language

SECTION_KINDS = ("sop", "policy", "training", "recipe")
PRODUCT_KINDS = ("dishes", "wines", "cocktails", "recipes", "beer_liquor")


class ManualSection(Base):
    """One heading of the manual with the text under it, in either or both languages."""

    __tablename__ = "manual_sections"
    __table_args__ = (
        UniqueConstraint("group_id", "slug"),
        Index("ix_manual_sections_reading_order", "group_id", "parent_id", "position", "slug"),
    )

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
    # The words of both titles, folded, with a blank around each; kept by the database.
    title_words: Mapped[str] = mapped_column(
        Computed("name_words(title_en, title_es)", persisted=True)
    )
    is_published: Mapped[bool] = mapped_column(default=True)
    version: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now, onupdate=utc_now)

    def title(self, language: str) -> str:
        """The title in `language`, else in the one there is."""
        return in_language(language, self.title_en, self.title_es)

    def body(self, language: str) -> str:
        """The Markdown body in `language`, else in the one there is."""
        return in_language(language, self.body_en, self.body_es)

    def is_written_in(self, language: str) -> bool:
        """True when it has words of its own in `language`, be it a title alone."""
        if language == "es":
            return bool(self.title_es or self.body_es)
        return bool(self.title_en or self.body_en)


class Product(Base):
    """Something the group serves or cooks: a dish, wine, cocktail, recipe, beer or spirit."""

    __tablename__ = "products"
    __table_args__ = (UniqueConstraint("group_id", "kind", "slug"),)
    __mapper_args__ = {"eager_defaults": False}  # noqa: RUF012 (SQLAlchemy's own name)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    kind: Mapped[str]
    slug: Mapped[str]
    name_en: Mapped[str]
    name_es: Mapped[str]
    # As with the titles of sections.
    name_words: Mapped[str] = mapped_column(
        Computed("name_words(name_en, name_es)", persisted=True)
    )
    description_en: Mapped[str] = mapped_column(default="")
    description_es: Mapped[str] = mapped_column(default="")
    category: Mapped[str] = mapped_column(default="")
    price: Mapped[Decimal | None] = mapped_column(Numeric(10, 2))
    # None means that nobody has declared any: not the same as none.
    allergens: Mapped[list[str] | None] = mapped_column(ARRAY(TEXT))
    ingredients: Mapped[JsonList] = mapped_column(default=list)
    # Names, descriptions and ingredients, without case and accents, as far as they are not far
    # too long; for searching only: nobody loads it.
    folded: Mapped[str | None] = mapped_column(
        Computed(
            "product_words(name_en, name_es, description_en, description_es, ingredients)",
            persisted=True,
        ),
        deferred=True,
    )
    steps: Mapped[JsonList] = mapped_column(default=list)
    tags: Mapped[list[str]] = mapped_column(ARRAY(TEXT), default=list)
    pairing_notes_en: Mapped[str] = mapped_column(default="")
    pairing_notes_es: Mapped[str] = mapped_column(default="")
    facts: Mapped[JsonObject] = mapped_column(default=dict)
    is_active: Mapped[bool] = mapped_column(default=True)
    version: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now, onupdate=utc_now)

    def name(self, language: str) -> str:
        return self.name_es if language == "es" else self.name_en

    def description(self, language: str) -> str:
        return self.description_es if language == "es" else self.description_en

    def pairing_notes(self, language: str) -> str:
        return self.pairing_notes_es if language == "es" else self.pairing_notes_en


class LibraryImport(Base):
    """A file that somebody brings into the library: read, shown, then applied as a whole.

    `target` is a section kind or a product kind; `plan` is what applying it would do, as
    the preview shows it; `problems` are what is wrong with the file, by row or place.
    """

    __tablename__ = "library_imports"
    __table_args__ = (Index("ix_library_imports_group_id_id", "group_id", "id"),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    user_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    role: Mapped[str]  # the person's role when they brought it, with which it is applied
    target: Mapped[str]
    language: Mapped[str]
    filename: Mapped[str]
    digest: Mapped[str]
    options: Mapped[JsonObject] = mapped_column(default=dict)
    status: Mapped[str] = mapped_column(default="waiting")
    step: Mapped[str] = mapped_column(default="")
    done: Mapped[int] = mapped_column(default=0)
    total: Mapped[int] = mapped_column(default=0)
    plan: Mapped[JsonObject] = mapped_column(default=dict)
    problems: Mapped[JsonList] = mapped_column(default=list)
    report: Mapped[JsonObject] = mapped_column(default=dict)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=utc_now, onupdate=utc_now)


class LibraryImportFile(Base):
    """The file of an import until it is applied, and what was read in it for longer."""

    __tablename__ = "library_import_files"

    import_id: Mapped[UUID] = mapped_column(
        ForeignKey("library_imports.id", ondelete="CASCADE"), primary_key=True
    )
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    content: Mapped[bytes]
    reading: Mapped[bytes | None]  # compressed JSON; see import_files


class LibraryImportSection(Base):
    """What was read in the file of an import as one section: `place` in the `document`th of it.

    The same stands in the file's `reading`, which takes long to unpack for the sake of one.
    """

    __tablename__ = "library_import_sections"

    import_id: Mapped[UUID] = mapped_column(
        ForeignKey("library_import_files.import_id", ondelete="CASCADE"), primary_key=True
    )
    document: Mapped[int] = mapped_column(primary_key=True)
    place: Mapped[int] = mapped_column(primary_key=True)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    title: Mapped[str]
    body: Mapped[str]


class LibraryRevision(Base):
    """A section or product as it stood before a change, and who made that change.

    `version` is the one it had; `snapshot` is null where there was nothing before.
    """

    __tablename__ = "library_revisions"
    __table_args__ = (
        UniqueConstraint("entity_id", "version"),
        Index("ix_library_revisions_import_id", "import_id"),
        Index("ix_library_revisions_group_id_slug", "group_id", "slug"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    group_id: Mapped[UUID] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"))
    entity: Mapped[str]  # section or product
    entity_id: Mapped[UUID]
    version: Mapped[int]
    snapshot: Mapped[JsonObject | None] = mapped_column(JSONB(none_as_null=True))
    # Kept by the database, so that an old address is found quickly.
    slug: Mapped[str | None] = mapped_column(Computed("snapshot ->> 'slug'", persisted=True))
    author_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    import_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("library_imports.id", ondelete="SET NULL")
    )
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
