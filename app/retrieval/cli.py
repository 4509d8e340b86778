"""`flask eval retrieval` and `flask embeddings backfill`, for the operator of an installation."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

import click
from flask.cli import with_appcontext

from app.db import owner_database
from app.errors import InvalidInput
from app.extensions import services
from app.retrieval.calibration import Calibration, calibration_of
from app.retrieval.evaluate import evaluate, read_collection
from app.retrieval.query_cache import EmbeddingUnavailable
from app.retrieval.vectors import BackfillReport, embed_missing

ENOUGH_COVERAGE = 0.95

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("retrieval")
@click.option("--corpus", type=FILE, required=True, help="JSON lines: _id, title, text.")
@click.option("--queries", type=FILE, required=True, help="JSON lines: _id, text.")
@click.option("--qrels", type=FILE, required=True, help="A table: query, document, grade.")
@click.option(
    "--mode",
    type=click.Choice(["lexical", "semantic", "hybrid"]),
    default="hybrid",
    show_default=True,
)
@click.option(
    "--language",
    type=click.Choice(["en", "es", "mul"]),
    default="en",
    show_default=True,
    help="Of the documents; mul: each holds both languages.",
)
@click.option(
    "--semantic-weight",
    type=click.FloatRange(0, 1),
    help="Try another weight of meaning against words in hybrid mode.",
)
@with_appcontext
def eval_retrieval(
    corpus: Path,
    queries: Path,
    qrels: Path,
    mode: str,
    language: str,
    semantic_weight: float | None,
) -> None:
    """Measure search on judged questions (BEIR format); prints one JSON object.

    The collection is loaded into a scratch group, searched as people search, and removed.
    """
    on = services()
    try:
        result = evaluate(
            read_collection(corpus, queries, qrels),
            owner=owner_database(on.settings),
            app=on.database,
            embedder=on.embedder,
            mode=mode,  # type: ignore[arg-type]  # click.Choice has checked it
            language=language,
            calibration=_reweighted(on.embedder.model, semantic_weight),
        )
    except InvalidInput as error:
        raise click.ClickException(error.message % error.params) from None
    except EmbeddingUnavailable as error:
        raise click.ClickException(f"No embeddings: {error.reason}") from None
    click.echo(json.dumps(asdict(result)))


@click.command("backfill")
@click.option("--batch-size", type=click.IntRange(1, 2000), default=200, show_default=True)
@click.option("--dry-run", is_flag=True, help="Only count what is missing.")
@click.option("--force", is_flag=True, help="Embed everything again.")
@with_appcontext
def embeddings_backfill(batch_size: int, dry_run: bool, force: bool) -> None:
    """Give every document its vector; may be stopped and run again at any time.

    Ends with the coverage, and fails when less than 95% of what is published has one.
    """
    on = services()
    with owner_database(on.settings).session() as session:
        try:
            with click.progressbar(length=1, label="Embedding", file=sys.stderr) as bar:

                def advance(done: int, missing: int) -> None:
                    bar.length = missing
                    bar.update(done - bar.pos)

                report = embed_missing(
                    session,
                    on.embedder,
                    batch_size=batch_size,
                    force=force,
                    dry_run=dry_run,
                    on_progress=advance,
                )
        except EmbeddingUnavailable as error:
            raise click.ClickException(f"No embeddings: {error.reason}") from None
    click.echo(_summary(report, on.embedder.model, dry_run=dry_run))
    if not dry_run and (report.stopped or report.coverage < ENOUGH_COVERAGE):
        raise SystemExit(1)


def _reweighted(model: str, semantic_weight: float | None) -> Calibration | None:
    if semantic_weight is None:
        return None
    return replace(
        calibration_of(model), semantic_weight=semantic_weight, lexical_weight=1 - semantic_weight
    )


def _summary(report: BackfillReport, model: str, *, dry_run: bool) -> str:
    verb = f"{report.missing} to embed" if dry_run else f"{report.embedded} embedded"
    stopped = f" Stopped: {report.stopped}; run it again to go on." if report.stopped else ""
    return (
        f"{model}: {report.documents} documents, {verb},"
        f" coverage {report.coverage:.1%} of what is published.{stopped}"
    )
