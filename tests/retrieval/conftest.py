"""What the tests of search share: a house to search in, and the model in the package."""

from __future__ import annotations

import pytest

from app.db import Database
from app.retrieval.sentence_encoder import SentenceEmbedder
from tests.factories import Member
from tests.retrieval.shelf import Shelf


@pytest.fixture(scope="session")
def embedder() -> SentenceEmbedder:
    return SentenceEmbedder()


@pytest.fixture
def shelf(database: Database, member: Member, embedder: SentenceEmbedder) -> Shelf:
    """An empty index, in which `member` searches."""
    return Shelf(database, member.scope, embedder)
