"""The page of one prompt row: its texts side by side, and the test bench under them."""

from __future__ import annotations

from typing import Any

from flask import request
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _
from flask_login import current_user

from app.accounts.form_pages import page
from app.admin.prompts_pages import domain_choices, in_common, tools_of, whole_sizes
from app.assistant.models import Prompt
from app.assistant.prompts.bench import Bench, Run
from app.assistant.prompts.editor import Texts, is_seeded
from app.assistant.prompts.history import offered_seed
from app.assistant.prompts.saved_cases import list_sentences
from app.assistant.prompts.system_prompt import load_prompts
from app.errors import ComandaError
from app.extensions import services
from app.web.pages import db_session

NEVER_OPENED = -1
# The database counts versions no further.
LARGEST_VERSION = 2**31


def edit_page(
    row: Prompt, error: ComandaError | None = None, bench_error: str = ""
) -> ResponseReturnValue:
    """The page of a row; after an error with what was typed."""
    session, registry = db_session(), services().registry
    kept = Texts(row.prompt_en, row.prompt_es)
    texts, version = kept, row.version
    if bench_error or (error and error.field):
        texts, version = typed_texts(), opened_version()
    elif "tried" in request.args and (run := _run_of(row)):
        # A browser without scripts comes back to what it tried and has not saved.
        texts, version = Texts(run.trial.prompt_en, run.trial.prompt_es), run.trial.version
    return page(
        "admin/prompts/edit.html",
        error,
        row=row,
        texts=texts,
        is_unsaved=texts != kept,
        version=version,
        tools=tools_of(registry, row),
        is_own=not is_seeded(registry, row),
        news=offered_seed(registry, row),
        whole=whole_sizes(load_prompts(session), row.domain or "manual"),
        **bench_state(row, bench_error),
        **in_common(session),
    )


def typed_texts() -> Texts:
    """What stands in the form."""
    return Texts(request.form.get("prompt_en", ""), request.form.get("prompt_es", ""))


def opened_version() -> int:
    """The version that the form was opened with; what cannot be one never was."""
    version = request.form.get("version", NEVER_OPENED, type=int)
    return version if 0 < version < LARGEST_VERSION else NEVER_OPENED


def bench_state(row: Prompt, error: str = "") -> dict[str, Any]:
    """What the bench under this row's texts shows."""
    run = _run_of(row)
    running = own_bench().read() if run is None else None
    return {
        "run": run,
        # One that is running for another row keeps this one waiting.
        "elsewhere": running if running and running.status == "running" else None,
        "bench_error": error,
        "domains": domain_choices(services().registry),
        "sentence_count": len(list_sentences(db_session())),
        "miss_words": miss_words,
    }


def miss_words(kind: str, what: str) -> str:
    """What was not as expected, in the page's language."""
    said = {
        "tool_missing": _("%(what)s did not run", what=what),
        "no_tool_expected": _("no tool was expected, but %(what)s ran", what=what),
        "tool_ran": _("%(what)s ran", what=what),
        "part_missing": _("%(what)s is not shown", what=what),
        "words_missing": _("“%(what)s” is not in the answer", what=what),
        "failed": _("there was no full answer"),
    }
    return said[kind]


def own_bench() -> Bench:
    """Where the one who asks tries things out."""
    return Bench(services(), current_user.scope)


def _run_of(row: Prompt) -> Run | None:
    run = own_bench().read()
    return run if run and run.trial.prompt_id == str(row.id) else None
