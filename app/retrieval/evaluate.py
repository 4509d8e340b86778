"""Measuring search on a collection with judged answers, through the real search.

The collection (BEIR format) goes into a scratch group of its own, is searched as the app's
role, and is removed again whatever happens.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from statistics import fmean
from uuid import UUID

from sqlalchemy import delete, insert

from app.accounts.models import Group
from app.db import Database, Scope, new_id, utc_now
from app.errors import InvalidInput
from app.retrieval.calibration import Calibration
from app.retrieval.embedder import Embedder
from app.retrieval.hybrid_query import Mode
from app.retrieval.index import ChunkInput, SourceInput, embed_missing, index_sources
from app.retrieval.search import SearchRequest, search

DEPTH = 10
SCRATCH_PREFIX = "scratch-eval-"
# A run that was killed leaves its group behind; the next run after so long removes it.
ABANDONED = timedelta(hours=6)
BATCH = 1_000


@dataclass(frozen=True)
class Collection:
    """Documents (id -> title, text), queries (id -> text), and grades by query."""

    documents: Mapping[str, tuple[str, str]]
    queries: Mapping[str, str]
    grades: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class Evaluation:
    """Means over the judged queries, and latencies of `search()` in milliseconds."""

    model: str
    mode: str
    language: str
    documents: int
    queries: int
    ndcg_at_10: float
    mrr_at_10: float
    recall_at_3: float
    recall_at_10: float
    p50_ms: float
    p95_ms: float


def read_collection(corpus: Path, queries: Path, qrels: Path) -> Collection:
    """Read a collection in BEIR format: two JSONL files and a table of judgments.

    Raises:
        InvalidInput: a line is not what the format says; the message names file and line.
    """
    documents = {
        str(row["_id"]): (str(row.get("title") or ""), str(row["text"]))
        for row in _json_lines(corpus)
    }
    asked = {str(row["_id"]): str(row["text"]) for row in _json_lines(queries)}
    grades: dict[str, dict[str, int]] = {}
    for query, document, grade in _judgments(qrels):
        grades.setdefault(query, {})[document] = grade
    judged = {name: text for name, text in asked.items() if grades.get(name)}
    if not documents or not judged:
        raise InvalidInput(
            "Nothing to measure: there are no documents, or no query has a judgment."
        )
    return Collection(documents, judged, grades)


def evaluate(
    collection: Collection,
    *,
    owner: Database,
    app: Database,
    embedder: Embedder,
    mode: Mode = "hybrid",
    language: str = "en",
    calibration: Calibration | None = None,
) -> Evaluation:
    """Load the collection, ask every judged query, and remove it.

    `language` is that of the documents and readers; mul stands for bilingual documents
    and readers of either language.
    """
    with scratch_group(owner) as group_id:
        names = load(collection, owner, embedder, group_id, language=language, mode=mode)
        rankings, latencies = _ask_all(
            collection, app, embedder, group_id, names, mode, language, calibration
        )
    judged = [(rankings[query], collection.grades[query]) for query in collection.queries]
    return Evaluation(
        model=embedder.model,
        mode=mode,
        language=language,
        documents=len(collection.documents),
        queries=len(judged),
        ndcg_at_10=round(fmean(ndcg(*pair, DEPTH) for pair in judged), 4),
        mrr_at_10=round(fmean(reciprocal_rank(*pair, DEPTH) for pair in judged), 4),
        recall_at_3=round(fmean(recall(*pair, 3) for pair in judged), 4),
        recall_at_10=round(fmean(recall(*pair, DEPTH) for pair in judged), 4),
        p50_ms=round(percentile(latencies, 0.5), 2),
        p95_ms=round(percentile(latencies, 0.95), 2),
    )


@contextmanager
def scratch_group(owner: Database) -> Iterator[UUID]:
    """A group that lives as long as the block; everything in it goes with it."""
    group_id = new_id()
    with owner.transaction() as session:
        session.execute(
            delete(Group).where(
                Group.slug.startswith(SCRATCH_PREFIX), Group.created_at < utc_now() - ABANDONED
            )
        )
        session.execute(
            insert(Group).values(
                id=group_id, slug=f"{SCRATCH_PREFIX}{group_id}", name="Search evaluation"
            )
        )
    try:
        yield group_id
    finally:
        with owner.transaction() as session:
            session.execute(delete(Group).where(Group.id == group_id))


def load(
    collection: Collection,
    owner: Database,
    embedder: Embedder,
    group_id: UUID,
    *,
    language: str,
    mode: Mode = "hybrid",
) -> dict[UUID, str]:
    """Index the collection's documents in the group; returns their names by source id."""
    serves = ("en", "es") if language == "mul" else (language,)
    names = {new_id(): name for name in collection.documents}
    sources = []
    for source_id, name in names.items():
        title, body = collection.documents[name]
        chunk = ChunkInput(language=language, serves=serves, title=title, text=body)
        sources.append(SourceInput("manual", source_id, [chunk]))
    for start in range(0, len(sources), BATCH):
        with owner.transaction() as session:
            index_sources(session, group_id=group_id, sources=sources[start : start + BATCH])
    if mode != "lexical":
        with owner.session() as session:
            report = embed_missing(session, embedder, group_id=group_id)
        if report.stopped:
            raise InvalidInput("The documents could not be embedded: %(why)s", why=report.stopped)
    return names


def _ask_all(
    collection: Collection,
    app: Database,
    embedder: Embedder,
    group_id: UUID,
    names: Mapping[UUID, str],
    mode: Mode,
    language: str,
    calibration: Calibration | None,
) -> tuple[dict[str, list[str]], list[float]]:
    rankings: dict[str, list[str]] = {}
    latencies: list[float] = []
    for query, asked in collection.queries.items():
        request = SearchRequest(
            text=asked,
            language=None if language == "mul" else language,
            limit=DEPTH,
            mode=mode,
            calibration=calibration,
        )
        with app.transaction(Scope(group_id=group_id)) as session:
            outcome = search(session, request, embedder)
        rankings[query] = [names[hit.source_id] for hit in outcome.hits]
        latencies.append(outcome.timings["total_ms"])
    return rankings, latencies


def _json_lines(path: Path) -> Iterator[dict[str, object]]:
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                row["_id"], row["text"]
            except (ValueError, KeyError, TypeError):
                raise InvalidInput(
                    "%(file)s, line %(number)s: expected a JSON object with _id and text",
                    file=path.name,
                    number=number,
                ) from None
            yield row


def _judgments(path: Path) -> Iterator[tuple[str, str, int]]:
    with path.open(encoding="utf-8", newline="") as lines:
        rows: Sequence[list[str]] = list(csv.reader(lines, delimiter="\t"))
    for number, row in enumerate(rows, start=1):
        if not row or (number == 1 and not row[-1].lstrip("-").isdecimal()):
            continue  # an empty line, or the line of column names
        # TREC's own format has an unused column in second place.
        try:
            query, document, grade = row[0], row[-2], int(row[-1])
        except (ValueError, IndexError):
            raise InvalidInput(
                "%(file)s, line %(number)s: expected query, document and grade, separated by tabs",
                file=path.name,
                number=number,
            ) from None
        yield query, document, grade


def ndcg(ranking: Sequence[str], grades: Mapping[str, int], depth: int) -> float:
    """Normalised discounted cumulative gain of the first `depth`, between 0 and 1."""
    ideal = _gain(sorted(grades.values(), reverse=True)[:depth])
    return _gain([grades.get(name, 0) for name in ranking[:depth]]) / ideal if ideal else 0.0


def reciprocal_rank(ranking: Sequence[str], grades: Mapping[str, int], depth: int) -> float:
    """1 / the rank of the first relevant document, 0 when none is among the first `depth`."""
    for rank, name in enumerate(ranking[:depth], start=1):
        if grades.get(name, 0) > 0:
            return 1 / rank
    return 0.0


def recall(ranking: Sequence[str], grades: Mapping[str, int], depth: int) -> float:
    """The share of the relevant documents that is among the first `depth`."""
    relevant = {name for name, grade in grades.items() if grade > 0}
    return len(relevant & set(ranking[:depth])) / len(relevant) if relevant else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that `share` (0 to 1) of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


def _gain(grades: Sequence[int]) -> float:
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))
