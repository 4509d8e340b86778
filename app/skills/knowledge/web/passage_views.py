"""The passage behind a citation: as it stood when it was cited, and as it stands now."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from flask import render_template, request, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from app.assistant.threads.cited import load_citation
from app.errors import NotFound
from app.retrieval.models import SearchDocument
from app.skills.knowledge.models import PRODUCT_KINDS, Product
from app.skills.knowledge.services.cited_passages import CitedPassage, look_up
from app.skills.knowledge.services.library import load_passage, load_product
from app.skills.knowledge.services.vocabulary import category_name, kind_name
from app.text.bilingual import reader_language
from app.text.markdown import render_library_text
from app.web.pages import db_session, wants_fragment


def passage(document_id: UUID) -> ResponseReturnValue:
    """The passage behind a citation: a sheet beside the chat, or a page of its own.

    `cited` names the message, one's own, that cites it; without one the passage is shown as
    it stands now.
    """
    view = _as_cited(document_id) or _as_it_is(document_id)
    fragment = wants_fragment()
    template = "library/_passage.html" if fragment else "library/passage.html"
    return render_template(template, passage=view)


def _as_cited(document_id: UUID) -> dict[str, Any] | None:
    try:
        message_id = UUID(request.args.get("cited", ""))
    except ValueError:
        return None
    then = load_citation(db_session(), message_id, document_id)
    if then is None:
        return None
    found = look_up(db_session(), then)
    citation = found.citation
    return {
        "title": citation.title,
        "path": citation.path,
        "is_product": isinstance(found.entity, Product)
        or (found.entity is None and citation.context in PRODUCT_KINDS),
        "html": render_library_text(citation.quote),
        "language": citation.language,
        "url": _now_url(found, document_id),
        "state": found.state,
        "cited_at": found.cited_at,
        "changed_at": found.changed_at,
        "changes": found.changes,
    }


def _now_url(found: CitedPassage, document_id: UUID) -> str:
    """Where it stands now, at the passage where that is still the same; nowhere if it is gone."""
    if found.state in ("withdrawn", "unpublished") or found.entity is None:
        return ""
    if isinstance(found.entity, Product):
        return url_for("knowledge.product", kind=found.entity.kind, slug=found.entity.slug)
    try:
        document = load_passage(db_session(), document_id)
    except NotFound:
        return url_for("knowledge.section", slug=found.entity.slug)
    return _document_url(document)


def _as_it_is(document_id: UUID) -> dict[str, Any]:
    language = reader_language()
    document = load_passage(db_session(), document_id)
    is_section = document.details["entity"] == "section"
    return {
        "title": document.title if is_section else document.title.split(" / ")[_place(language)],
        "path": _path(document, language),
        "is_product": not is_section,
        "html": render_library_text(document.text) if is_section else _product_quote(document),
        "url": _document_url(document),
        "language": document.language,
        "state": "same",
    }


def _place(language: str) -> int:
    return -1 if language == "es" else 0


def _path(document: SearchDocument, language: str) -> list[str]:
    if document.details["entity"] == "section":
        return list(document.details.get("path", []))[:-1]
    category = category_name(document.details.get("category", ""), language)
    return [kind_name(document.source_type, language), *([category] if category else [])]


def _product_quote(document: SearchDocument) -> Markup:
    """A product's own words, in the reader's language."""
    found = load_product(db_session(), document.source_type, document.details["slug"])
    language = reader_language()
    notes = [found.description(language), found.pairing_notes(language)]
    return render_library_text("\n\n".join(note for note in notes if note))


def _document_url(document: SearchDocument) -> str:
    if document.details["entity"] == "section":
        return url_for(
            "knowledge.section",
            slug=document.details["slug"],
            passage=str(document.id),
            _anchor="passage",
        )
    return url_for("knowledge.product", kind=document.source_type, slug=document.details["slug"])
