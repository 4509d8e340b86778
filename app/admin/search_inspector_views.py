"""The search inspector: any search as the assistant does it, with everything it weighed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from flask import Blueprint, make_response, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _
from flask_login import current_user
from pydantic import ValidationError

from app.admin import figures
from app.admin.search_inspector import (
    MODES,
    Inspection,
    find_subjects,
    inspect,
    load_subject,
    search_tools,
    why_not,
)
from app.admin.search_inspector_words import (
    finding_words,
    kind_words,
    mode_words,
    reason_words,
    score,
)
from app.config import LANGUAGES
from app.errors import InvalidInput
from app.extensions import services
from app.retrieval.evidence import GOOD, THIN
from app.retrieval.search import remember_vector
from app.skills.knowledge.tools.search_tools import SearchTool
from app.text.allergens import ALLERGENS, allergen_name
from app.text.free_text import limit_search
from app.text.plain_text import clean_line
from app.web.pages import db_session, require_role
from app.web.rate_limits import limit_searches

blueprint = Blueprint("inspector", __name__, url_prefix="/admin/search")

LONGEST_QUERY = 200
FILTERS = ("max_time_minutes", "difficulty", "cuisine", "meal", "diet")


@blueprint.get("")
@limit_searches
def index() -> ResponseReturnValue:
    """A search, what it found, and why something is not among it."""
    require_role("admin")
    tools = search_tools(services().registry)
    chosen = _chosen(request.args, tools)
    inspection, errors = None, {}
    try:
        inspection = _inspect(tools[chosen["tool"]], chosen) if chosen["q"] else None
    except InvalidInput as error:
        errors = {error.field or "form": _(error.message, **error.params)}
    return _drawn(chosen, tools, inspection, errors)


def address_of_search(call: Mapping[str, Any], language: str) -> str:
    """Where an admin looks into a call of a search tool; empty for others, and other calls."""
    name, arguments = call["tool"], call["args"]
    if current_user.role != "admin" or name not in search_tools(services().registry):
        return ""
    said = {key: arguments[key] for key in FILTERS if arguments.get(key)}
    if arguments.get("free_of"):
        said["free_of"] = arguments["free_of"][0]
    said |= {"q": arguments.get("query", ""), "tool": name, "language": language}
    return f"{url_for('inspector.index')}?{urlencode(said)}"


def _chosen(said: Mapping[str, str], tools: Mapping[str, SearchTool]) -> dict[str, str]:
    """What the form says; what is not offered counts as not chosen."""
    offered = {"tool": tuple(tools), "language": (current_user.language, *LANGUAGES), "mode": MODES}
    chosen = {"q": clean_line(said.get("q", ""))}
    for name, values in offered.items():
        chosen[name] = said.get(name, "") if said.get(name, "") in values else values[0]
    filters = {name: said.get(name, "").strip() for name in (*FILTERS, "free_of")}
    return chosen | {name: value for name, value in filters.items() if value}


def _inspect(tool: SearchTool, chosen: Mapping[str, str]) -> Inspection:
    """Run the search of the form, with the filters that this tool has."""
    fields = tool.arguments.model_fields
    wanted: dict[str, Any] = {name: chosen[name] for name in FILTERS if name in chosen}
    if "free_of" in chosen:
        wanted["free_of"] = [chosen["free_of"]]
    wanted = {name: value for name, value in wanted.items() if name in fields}
    try:
        arguments = tool.arguments.model_validate({"query": chosen["q"], **wanted})
    except ValidationError as error:
        raise _refused(error) from None
    session, embedder = db_session(), services().embedder
    mode = next(mode for mode in MODES if mode == chosen["mode"])
    # Whoever else uses the database is served while the vector is made.
    session.rollback()
    if mode != "lexical":
        remember_vector(tool.request(arguments, chosen["language"]).text, embedder)
    with limit_search(session):
        return inspect(session, tool, arguments, chosen["language"], mode, embedder)


def _refused(error: ValidationError) -> InvalidInput:
    field = str(error.errors()[0]["loc"][0])
    if field == "query":
        return InvalidInput(
            "A search can have up to %(limit)s characters.", field="q", limit=str(LONGEST_QUERY)
        )
    return InvalidInput("Choose one of the options.", field=field)


def _drawn(
    chosen: dict[str, str],
    tools: Mapping[str, SearchTool],
    inspection: Inspection | None,
    errors: Mapping[str, str],
) -> ResponseReturnValue:
    page = render_template(
        "admin/search_inspector.html",
        chosen=chosen,
        kept=urlencode(chosen),
        errors=errors,
        tools={name: kind_words(tool.domain) for name, tool in tools.items()},
        modes={mode: mode_words(mode) for mode in MODES},
        allergens={code: allergen_name(code, current_user.language) for code in ALLERGENS},
        found=inspection,
        reason=reason_words(inspection.outcome.reason) if inspection else "",
        limits={"good": GOOD, "thin": THIN},
        kind_words=kind_words,
        score=score,
        figures=figures,
        **_about(inspection),
    )
    return make_response(page, InvalidInput.status if errors else 200)


def _about(inspection: Inspection | None) -> dict[str, Any]:
    """The other half of the page: something that was expected, and why it is not there."""
    wanted, source_id = request.args.get("why", ""), request.args.get("source", type=UUID)
    if inspection is None:
        return {"wanted": "", "subjects": [], "subject": None, "findings": []}
    session = db_session()
    subject = load_subject(session, source_id) if source_id else None
    findings = []
    if subject:
        with limit_search(session):
            told = why_not(session, inspection.request, services().embedder, subject)
        findings = [finding_words(finding, inspection.request.limit) for finding in told]
    subjects = [] if subject else find_subjects(session, wanted)
    return {"wanted": wanted, "subjects": subjects, "subject": subject, "findings": findings}
