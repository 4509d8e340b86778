"""`flask eval understanding`: what becomes of messages, as one turn each that leaves no trace."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import click
from flask import current_app
from flask.cli import with_appcontext

from app.assistant.cli import Asker, find_asker, require_ready
from app.assistant.prompts.dry_run import Sentence, rehearse
from app.assistant.prompts.system_prompt import load_prompts
from app.assistant.providers.base import Provider
from app.assistant.providers.builtin import BuiltinProvider
from app.extensions import services
from app.nlu.control import read_reply
from app.nlu.evaluation import (
    CONTROL,
    Case,
    Judged,
    Score,
    Understood,
    UnreadableCase,
    judge,
    read_cases,
    score_by,
)
from app.text.plain_text import clean_text

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
NEW_FILE = click.Path(dir_okay=False, path_type=Path)
MOST_CONFUSIONS, MOST_NAMED = 12, 20


@click.command("understanding")
@click.option("--cases", "files", type=FILE, required=True, multiple=True, help="JSON lines.")
@click.option("--user", "email", help="Ask as this person where a case names nobody.")
@click.option("--output", type=NEW_FILE, help="Keep what each became here, as JSON.")
@click.option("--compare", type=FILE, help="A run that was kept: name what is better and worse.")
@with_appcontext
def eval_understanding(
    files: tuple[Path, ...], email: str | None, output: Path | None, compare: Path | None
) -> None:
    """Measure what the built-in assistant makes of messages, by class and language."""
    try:
        cases = [case for file in files for case in read_cases(file)]
    except UnreadableCase as error:
        raise click.ClickException(str(error)) from None
    require_ready()
    judged = evaluate(cases, email)
    for by in ("class", "lang", "author"):
        click.echo(_table(by, score_by(judged, by=by)))
    click.echo(_confusions(score_by(judged, by="class")["all"]))
    click.echo(_wrong_ones(judged))
    run = {_key(each.case): [each.outcome, each.is_right] for each in judged}
    if compare is not None:
        click.echo(_changes(json.loads(compare.read_text("utf-8")), run))
    if output is not None:
        output.write_text(json.dumps(run, ensure_ascii=False, indent=0), "utf-8")


def evaluate(cases: Sequence[Case], email: str | None = None) -> list[Judged]:
    """Answer each case with the built-in assistant; nothing is stored."""
    provider = BuiltinProvider(services().embedder)
    askers: dict[str | None, Asker] = {}
    judged = []
    for case in cases:
        name = case.user or email
        if name not in askers:
            askers[name] = find_asker(name)
        judged.append(judge(case, understand(provider, askers[name], case)))
    return judged


def understand(provider: Provider, asker: Asker, case: Case) -> Understood:
    """What becomes of a case's message as the first of a conversation, or as an answer."""
    if case.asked:
        act = read_reply(case.text, case.asked)
        return Understood([(f"{CONTROL}{act}", {})] if act else ())
    with services().database.transaction(asker.scope) as session:
        rows = load_prompts(session)
    with current_app.test_request_context("/"):
        sentence = Sentence(case.text, case.lang)
        done = rehearse(services(), provider, asker.scope, sentence, rows)
    calls = [(call["tool"], _arguments(call)) for call in done.calls]
    return Understood(calls, done.answer, done.milliseconds)


def _arguments(call: Mapping[str, Any]) -> Mapping[str, Any]:
    return call["args"] if isinstance(call["args"], Mapping) else {}


def _table(by: str, scores: Mapping[str, Score]) -> str:
    lines = [f"{by:24} cases  right   share  slots right/missing/wrong  ms (median)"]
    for name, score in sorted(scores.items()):
        slots = "/".join(str(score.slots[kind]) for kind in ("right", "missing", "wrong"))
        lines.append(
            f"{name or '-':24} {score.cases:5}  {score.right:5}  {score.share:6.1%}"
            f"  {slots:25}  {median(score.milliseconds or [0]):.0f}"
        )
    return "\n".join([*lines, ""])


def _confusions(score: Score) -> str:
    lines = [
        f"{count:4}  {kind} taken for {outcome}"
        for (kind, outcome), count in score.confusions.most_common(MOST_CONFUSIONS)
    ]
    return "\n".join(["What was taken for something else:", *lines, ""])


def _wrong_ones(judged: Sequence[Judged]) -> str:
    """The first cases that went wrong, with what was wanted of each and what became of it."""
    wrong = [each for each in judged if not each.is_right]
    lines = [
        f"  {' '.join(_key(each.case).split())}: {' or '.join(each.case.tools)} -> {each.outcome}"
        for each in wrong[:MOST_NAMED]
    ]
    more = len(wrong) - len(lines)
    rest = [f"  and {more} more: --output keeps all of them"] if more else []
    return clean_text("\n".join(["Wanted and got:", *lines, *rest, ""])) if wrong else ""


def _changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    better = [key for key in now if key in before and now[key][1] and not before[key][1]]
    worse = [key for key in now if key in before and before[key][1] and not now[key][1]]
    lines = [f"  {key}: {before[key][0]} -> {now[key][0]}" for key in worse]
    return "\n".join([f"{len(better)} better, {len(worse)} worse than then:", *lines])


def _key(case: Case) -> str:
    return f"{case.lang} {case.text}"
