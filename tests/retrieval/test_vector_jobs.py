"""An upgrade that brings another model: its index, and jobs for what has no vectors of it."""

from __future__ import annotations

from sqlalchemy import text

from app.db import Database
from app.retrieval.sentence_encoder import SentenceEmbedder
from app.retrieval.vector_jobs import lock_of, queue_missing
from app.retrieval.vectors import embed_missing, index_name
from tests.retrieval.shelf import Shelf


class NextModel(SentenceEmbedder):
    """What a later version may bring."""

    model = "next-model"


def waiting_jobs(owner: Database, shelf: Shelf) -> int:
    query = text("SELECT count(*) FROM procrastinate_jobs WHERE lock = :lock AND status = 'todo'")
    with owner.session() as session:
        return session.execute(query, {"lock": lock_of(shelf.group_id)}).scalar_one()


def test_what_has_no_vector_of_the_model_is_queued_once(shelf: Shelf, owner: Database) -> None:
    shelf.put("Boil the broth.", "Soup")
    assert waiting_jobs(owner, shelf) == 0
    model = NextModel()
    assert queue_missing(owner, model) >= 1
    queue_missing(owner, model)
    assert waiting_jobs(owner, shelf) == 1
    with owner.session() as session:
        name = index_name(model.model, model.dimensions)
        assert session.execute(text("SELECT to_regclass(:name)"), {"name": name}).scalar_one()


def test_what_has_its_vectors_is_left_alone(shelf: Shelf, owner: Database) -> None:
    shelf.put("Boil the broth.", "Soup")
    with owner.session() as session:
        embed_missing(session, NextModel(), group_id=shelf.group_id)
    queue_missing(owner, NextModel())
    assert waiting_jobs(owner, shelf) == 0
