"""Sections and products of a group, searchable at once."""

from __future__ import annotations

from functools import cache
from typing import Any
from uuid import UUID

from sqlalchemy import select
from werkzeug.test import TestResponse

from app.db import Database
from app.retrieval.embedder import WordLlamaEmbedder
from app.retrieval.vectors import embed_missing
from app.skills.knowledge.models import ManualSection, Product
from app.skills.knowledge.services.importer import import_documents, import_products
from app.skills.knowledge.services.markdown_import import parse_markdown
from tests.factories.browser import CheckedClient


def make_section(
    owner: Database,
    group_id: UUID,
    slug: str = "raw-chicken",
    title: str = "Raw chicken",
    body: str = "Raw chicken may stay out of the cooler for two hours at most.",
    *,
    language: str = "en",
    kind: str = "sop",
) -> ManualSection:
    """A section of the manual, imported and indexed; again with another language adds to it."""
    document = parse_markdown(f"# {title} {{#{slug}}}\n\n{body}", slug, kind)
    with owner.session() as session:
        import_documents(session, [document], group_id=group_id, language=language)
        session.commit()
        return session.scalars(
            select(ManualSection).where(
                ManualSection.group_id == group_id, ManualSection.slug == slug
            )
        ).one()


def withdraw(browser: CheckedClient, section: ManualSection) -> TestResponse:
    """Take a section out of readers' sight, with the form that is on its page now."""
    return _send_shown(browser, f"/library/edit/sections/{section.id}/withdraw")


def restore(browser: CheckedClient, section: ManualSection) -> TestResponse:
    """Show a section again, with the form that is on its page now."""
    return _send_shown(browser, f"/library/edit/sections/{section.id}/restore")


def _send_shown(browser: CheckedClient, address: str) -> TestResponse:
    return browser.post(address, **shown_fields(browser, address))


def shown_fields(browser: CheckedClient, address: str) -> dict[str, str]:
    """What the form of a page sends that nobody types, without its token."""
    inputs = browser.page(address).find("main").find_all("input", type="hidden")
    fields = {each.attributes["name"]: each.attributes["value"] for each in inputs}
    return {name: value for name, value in fields.items() if name != "csrf_token"}


def make_product(
    owner: Database, group_id: UUID, kind: str = "dishes", slug: str = "ribeye", **facts: Any
) -> Product:
    """A product of the menu, imported and indexed."""
    item: dict[str, Any] = {
        "slug": slug,
        "name_en": "Ribeye",
        "name_es": "Ribeye",
        "description_en": "Sixteen ounces, grilled over oak.",
        "description_es": "Medio kilo, a la parrilla con encino.",
        "category": "steaks",
        "price": "48.00",
        "allergens": ["milk"],
        "ingredients": [{"en": "beef", "es": "res"}, {"en": "butter", "es": "mantequilla"}],
        "steps": [],
        "tags": [],
        "pairing_notes_en": "A bold red.",
        "pairing_notes_es": "Un tinto con cuerpo.",
        "facts": {"weight": "16 oz"},
        **facts,
    }
    with owner.session() as session:
        import_products(session, [item], group_id=group_id, kind=kind)
        session.commit()
        return session.scalars(
            select(Product).where(
                Product.group_id == group_id, Product.kind == kind, Product.slug == slug
            )
        ).one()


@cache
def _embedder() -> WordLlamaEmbedder:
    return WordLlamaEmbedder()


def embed_library(owner: Database, group_id: UUID) -> None:
    """Give every document of the group its vector, as importing from the command line does."""
    with owner.session() as session:
        embed_missing(session, _embedder(), group_id=group_id)
