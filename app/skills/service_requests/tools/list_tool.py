"""The tool that tells how far one's own requests have come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from flask_babel import gettext as _
from flask_babel import ngettext
from pydantic import Field

from app.assistant.tools.examples import load_examples
from app.assistant.tools.tool import Arguments, ReadTool, ToolContext, ToolResult
from app.skills.service_requests.models import OPEN_STATUSES, ServiceRequest
from app.skills.service_requests.parts import RequestListPart
from app.skills.service_requests.services.requests import list_own
from app.skills.service_requests.tools.arguments import LONGEST_SAID, STEP_EXAMPLES
from app.skills.service_requests.tools.type_tools import PROMPT
from app.skills.service_requests.workflow.tool_results import listed_rows
from app.text.stems import stems
from app.web.links import Link

MOST_LISTED = 5


class ListArguments(Arguments):
    state: Literal["open", "all"] = Field(
        "open", description="Those that are not finished, or all of them."
    )
    words: str = Field(
        "", max_length=LONGEST_SAID, description="What the person says of the one they mean."
    )


class ListRequests(ReadTool):
    """Lists one's own requests, newest first, with the way to each."""

    name = "list_service_requests"
    description = (
        "The person's own service requests that were filed already: how far each has come, who"
        " looks after it, and the way to its page, where they write to the team, add something or"
        " say that it is not needed any more."
    )
    arguments = ListArguments
    activity: Mapping[str, str] = {
        "en": "Looking at your requests…",
        "es": "Mirando tus solicitudes…",
    }
    examples = load_examples(STEP_EXAMPLES)["list_service_requests"]
    prompt_slug = PROMPT
    is_wished = True

    def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        """Those that are open; where none is, or none is meant, the latest."""
        with context.transaction() as session:
            is_open = True if arguments.state == "open" else None
            found, _more = list_own(session, is_open=is_open)
            if not found and is_open:
                found, _more = list_own(session)
            shown = _meant(found, arguments.words)[:MOST_LISTED]
            rows = listed_rows(session, shown, context.language)
        said = _tell(shown)
        if not rows:
            return ToolResult({"results": []}, final_text=said, say=said)
        payload = {"results": [row.model_dump(mode="json", exclude={"url"}) for row in rows]}
        part = RequestListPart(rows=rows, url=Link.to("service_requests.index"))
        return ToolResult(payload, [part], say=said)


def _meant(requests: Sequence[ServiceRequest], words: str) -> list[ServiceRequest]:
    """Those whose title or type the words name most of; all where they name none."""
    said = set(stems(words))
    shared = [len(said & set(stems(f"{each.title} {_names(each)}"))) for each in requests]
    most = max(shared, default=0)
    return [each for each, count in zip(requests, shared, strict=True) if count == most]


def _names(request: ServiceRequest) -> str:
    return " ".join(str(name) for name in dict(request.head or {}).get("name", {}).values())


def _tell(requests: Sequence[ServiceRequest]) -> str:
    """How many are open, and what can be done on their pages."""
    count = sum(each.status in OPEN_STATUSES for each in requests)
    if not requests:
        return _("You have not filed any requests yet. Tell me what is broken or missing.")
    if not count:
        return _("You have no open requests. These are your latest; tap one to open it.")
    told = ngettext("You have this request open.", "You have these %(num)d requests open.", count)
    way_on = _(
        "Open it to see what has happened, write to the team, or tell them it's no longer needed."
    )
    return f"{told} {way_on}"
