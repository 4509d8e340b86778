"""The quality that is promised, measured as `flask eval retrieval` does, on real questions."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import text

from app.db import Database
from app.errors import InvalidInput
from app.retrieval.embedder import WordLlamaEmbedder
from app.retrieval.evaluate import SCRATCH_PREFIX, Collection, evaluate, read_collection

COLLECTIONS = Path(__file__).resolve().parents[3] / "shared" / "data" / "retrieval"

BAR = 0.955
# Hybrid may be this much below lexical alone, and no more.
TOLERANCE = 0.005


def collection(name: str) -> Collection:
    folder = COLLECTIONS / name
    return read_collection(folder / "corpus.jsonl", folder / "queries.jsonl", folder / "qrels.tsv")


@pytest.mark.skipif(not COLLECTIONS.is_dir(), reason="../shared/data/retrieval is absent")
@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("xquad-en", "en"),
        ("xquad-es", "es"),
        ("xquad-bilingual-en", "mul"),
        ("xquad-bilingual-es", "mul"),
    ],
)
def test_search_is_as_good_as_promised(
    database: Database, owner: Database, embedder: WordLlamaEmbedder, name: str, language: str
) -> None:
    lexical, hybrid = (
        evaluate(
            collection(name),
            owner=owner,
            app=database,
            embedder=embedder,
            mode=mode,
            language=language,
        )
        for mode in ("lexical", "hybrid")
    )
    assert lexical.queries == hybrid.queries == 612
    assert lexical.ndcg_at_10 >= BAR
    assert hybrid.ndcg_at_10 >= BAR
    assert hybrid.ndcg_at_10 >= lexical.ndcg_at_10 - TOLERANCE
    assert hybrid.mrr_at_10 <= hybrid.recall_at_10 <= 1


SMALL = Collection(
    documents={"soup": ("Soup", "Boil the broth."), "bread": ("Bread", "Bake the dough.")},
    queries={"q1": "boiling broth", "q2": "baking dough"},
    grades={"q1": {"soup": 1}, "q2": {"bread": 1}},
)


def scratch_groups(owner: Database) -> int:
    with owner.transaction() as session:
        return session.execute(
            text("SELECT count(*) FROM groups WHERE starts_with(slug, :prefix)"),
            {"prefix": SCRATCH_PREFIX},
        ).scalar_one()


def test_a_measurement_leaves_nothing_behind(
    database: Database, owner: Database, embedder: WordLlamaEmbedder
) -> None:
    result = evaluate(SMALL, owner=owner, app=database, embedder=embedder)
    assert (result.ndcg_at_10, result.mrr_at_10, result.recall_at_3) == (1, 1, 1)
    assert scratch_groups(owner) == 0


def test_a_measurement_that_breaks_leaves_nothing_behind(
    database: Database, owner: Database
) -> None:
    class BrokenEmbedder(WordLlamaEmbedder):
        def embed_query(self, text: str) -> None:  # type: ignore[override]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(SMALL, owner=owner, app=database, embedder=BrokenEmbedder())
    assert scratch_groups(owner) == 0


@pytest.mark.parametrize(
    ("corpus", "queries", "qrels", "message"),
    [
        ("not json", '{"_id": "q", "text": "x"}', "q\td\t1", "corpus.jsonl, line 1"),
        ('{"_id": "d"}', '{"_id": "q", "text": "x"}', "q\td\t1", "corpus.jsonl, line 1"),
        ('{"_id": "d", "text": "x"}', "\n[]", "q\td\t1", "queries.jsonl, line 2"),
        ('{"_id": "d", "text": "x"}', '{"_id": "q", "text": "x"}', "h\nq\td\tx", "line 2"),
        ('{"_id": "d", "text": "x"}', '{"_id": "q", "text": "x"}', "z\td\t1", "Nothing to"),
    ],
)
def test_a_file_in_another_format_is_named_with_its_line(
    tmp_path: Path, corpus: str, queries: str, qrels: str, message: str
) -> None:
    files = []
    for name, content in (
        ("corpus.jsonl", corpus),
        ("queries.jsonl", queries),
        ("qrels.tsv", qrels),
    ):
        files.append(tmp_path / name)
        files[-1].write_text(content, "utf-8")
    with pytest.raises(InvalidInput) as caught:
        read_collection(*files)
    assert message in caught.value.message % caught.value.params


def test_judgments_may_be_of_either_format(tmp_path: Path) -> None:
    (tmp_path / "c").write_text('{"_id": 1, "text": "x"}\n', "utf-8")
    (tmp_path / "q").write_text('{"_id": "q", "text": "x"}\n\n', "utf-8")
    for judgment in ("query-id\tcorpus-id\tscore\nq\t1\t1\n", "q\t0\t1\t1\n"):
        (tmp_path / "r").write_text(judgment, "utf-8")
        read = read_collection(tmp_path / "c", tmp_path / "q", tmp_path / "r")
        assert read.grades == {"q": {"1": 1}}
