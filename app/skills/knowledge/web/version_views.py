"""The older versions of a section, for those who edit it: read, compared, brought back."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _

from app.errors import Conflict, InvalidInput
from app.skills.knowledge.models import ManualSection
from app.skills.knowledge.services.versions import (
    compare_with_now,
    list_versions,
    load_for_editor,
    load_version,
    restore_version,
)
from app.skills.knowledge.web.editors import EDITORS
from app.text.bilingual import reader_language
from app.web.pages import db_session, require_role


def versions(slug: str) -> ResponseReturnValue:
    """Every version of a section, the latest first."""
    require_role(*EDITORS)
    session = db_session()
    section = load_for_editor(session, slug)
    return render_template(
        "library/versions.html",
        section=_section_view(section),
        versions=list_versions(session, section),
    )


def version(slug: str, number: int) -> ResponseReturnValue:
    """What has changed since one version, and the way back to it."""
    require_role(*EDITORS)
    return _version_page(slug, number)


def restore(slug: str, number: int) -> ResponseReturnValue:
    """Bring a version back, unless the section has changed since it was looked at."""
    require_role(*EDITORS)
    seen = request.form.get("version", "")
    try:
        version_seen = int(seen) if seen.isdecimal() and len(seen) < 10 else 0
        section = restore_version(db_session(), slug, number, version_seen)
    except (Conflict, InvalidInput) as error:
        db_session().rollback()
        return _version_page(slug, number, _(error.message)), error.status
    flash(_("The section says again what it said in version %(number)s.", number=number))
    if not section.is_published:
        return redirect(url_for("knowledge.versions", slug=slug), HTTPStatus.SEE_OTHER)
    return redirect(url_for("knowledge.section", slug=section.slug), HTTPStatus.SEE_OTHER)


def _version_page(slug: str, number: int, problem: str = "") -> str:
    session = db_session()
    section = load_for_editor(session, slug)
    difference = compare_with_now(section, load_version(session, section, number))
    return render_template(
        "library/version.html",
        section=_section_view(section),
        version=next((v for v in list_versions(session, section) if v.number == number), None),
        difference=difference,
        fields={
            "title_en": _("Title in English"),
            "title_es": _("Title in Spanish"),
            "body_en": _("Text in English"),
            "body_es": _("Text in Spanish"),
        },
        problem=problem,
    )


def _section_view(section: ManualSection) -> dict[str, Any]:
    language = reader_language()
    return {
        "title": section.title(language) or section.slug,
        "slug": section.slug,
        "version": section.version,
        "is_published": section.is_published,
        "updated_at": section.updated_at,
        "language": language,
    }
