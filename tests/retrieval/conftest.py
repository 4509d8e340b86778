"""What the tests of search share: a house to search in, and the model in the package."""

from __future__ import annotations

import pytest

from app.db import Database
from app.retrieval.embedder import WordLlamaEmbedder
from tests.factories import Member
from tests.retrieval.shelf import Shelf


@pytest.fixture(scope="session")
def embedder() -> WordLlamaEmbedder:
    return WordLlamaEmbedder()


@pytest.fixture
def shelf(database: Database, member: Member, embedder: WordLlamaEmbedder) -> Shelf:
    """An empty index, in which `member` searches."""
    return Shelf(database, member.scope, embedder)
