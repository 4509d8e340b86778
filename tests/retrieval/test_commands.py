"""`flask eval retrieval` and `flask embeddings backfill`, as an operator types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from flask.testing import FlaskCliRunner
from sqlalchemy import text

from app.db import Database
from tests.retrieval.shelf import Shelf


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """The options that name a small collection."""
    contents = {
        "corpus": '{"_id": "a", "title": "Sopa", "text": "Hervir."}\n{"_id": "b", "text": "Pan."}',
        "queries": '{"_id": "q", "text": "¿Cómo se hierve la sopa?"}',
        "qrels": "query-id\tcorpus-id\tscore\nq\ta\t1",
    }
    options = []
    for name, content in contents.items():
        file = tmp_path / name
        file.write_text(content, "utf-8")
        options += [f"--{name}", str(file)]
    return options


@pytest.mark.parametrize("mode", ["hybrid", "lexical", "semantic"])
def test_a_measurement_is_one_json_object(cli: FlaskCliRunner, files: list[str], mode: str) -> None:
    result = cli.invoke(args=["eval", "retrieval", *files, "--mode", mode, "--language", "es"])
    assert result.exit_code == 0, result.output
    measured = json.loads(result.stdout)
    assert (measured["ndcg_at_10"], measured["mode"], measured["queries"]) == (1, mode, 1)
    assert set(measured) >= {"mrr_at_10", "recall_at_3", "recall_at_10", "p50_ms", "p95_ms"}


def test_a_wrong_file_is_a_message_and_not_a_traceback(
    cli: FlaskCliRunner, files: list[str]
) -> None:
    Path(files[1]).write_text("nonsense", "utf-8")
    result = cli.invoke(args=["eval", "retrieval", *files])
    assert result.exit_code == 1
    assert "corpus, line 1" in result.stderr


def test_a_backfill_gives_everything_its_vector(
    cli: FlaskCliRunner, shelf: Shelf, owner: Database
) -> None:
    shelf.put("Soup.")
    dry = cli.invoke(args=["embeddings", "backfill", "--dry-run"])
    assert dry.exit_code == 0
    assert "to embed" in dry.stdout
    done = cli.invoke(args=["embeddings", "backfill", "--batch-size", "50"])
    assert done.exit_code == 0, done.output
    assert "coverage 100.0%" in done.stdout
    with owner.transaction() as session:
        query = text("SELECT count(*) FROM embeddings WHERE group_id = :group")
        assert session.execute(query, {"group": shelf.group_id}).scalar_one() == 1
