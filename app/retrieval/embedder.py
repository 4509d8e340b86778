"""Turning text into vectors: by the model inside a package, or by an API.

Both sides of a comparison must come from the same model, so a model's name goes with its
vectors everywhere. Vectors are float32 and have length 1: a dot product is the cosine.
"""

from __future__ import annotations

import base64
import importlib.util
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import httpx2
import numpy as np
import redis
from numpy.typing import NDArray
from safetensors import safe_open
from tokenizers import Tokenizer

from app.config import Settings
from app.errors import ConfigurationError
from app.retrieval.hybrid_query import NAME
from app.retrieval.query_cache import EmbeddingUnavailable, QueryCache, normalise_query
from app.text.normalize import fold
from app.text.stop_words import ENGLISH, SPANISH, STOP_WORDS
from app.web.model_client import RefusedResponse, open_client, post_json

if TYPE_CHECKING:
    import openai

Vectors = NDArray[np.float32]  # (texts, dimensions)
Vector = NDArray[np.float32]  # (dimensions,)

_WORD = re.compile(r"[^\W_]+")

WORDLLAMA = "wordllama-256"
WORDLLAMA_DIMENSIONS = 256
# Of a number as a server writes it, with its comma and its place in a line.
BYTES_PER_NUMBER = 32
# What stands around the numbers; room too for the vector of a model of another size, so that its
# size can be told.
MORE_BYTES, MORE_VALUES = 64 * 1024, 8_192
VALUES_PER_ROW = 16
# What it raises to read an answer that is none, such as the page of a gateway.
MISSHAPEN = (ValueError, TypeError, LookupError, OverflowError)
# A person waits for a query's vector and is better served by words alone than late.
QUERY_TIMEOUT_SECONDS = 4.0
BATCH_TIMEOUT_SECONDS = 60.0


class WrongVectorSize(EmbeddingUnavailable):
    """The model answers with vectors of another size than the settings say."""

    code = "wrong_vector_size"

    def __init__(self, model: str, expected: int, actual: int) -> None:
        super().__init__(
            f"{model} gives {actual} numbers a text where EMBEDDING_DIMENSIONS says {expected}"
        )


class Embedder(Protocol):
    """Makes vectors of `dimensions` float32 numbers, of length 1."""

    @property
    def model(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text, of the text as it stands.

        Raises:
            EmbeddingUnavailable: no vectors could be had; asking again later may work.
        """

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """One row a text, to be compared with the vectors of `embed_query`.

        Raises:
            EmbeddingUnavailable: as for `embed`.
        """

    def embed_query(self, text: str) -> Vector:
        """The vector of what somebody asks, where a cache may answer.

        Raises:
            EmbeddingUnavailable: as for `embed`, but decided within seconds.
        """


@dataclass(frozen=True)
class _WordVectors:
    """The two files of the package, and the direction in which Spanish differs from English.

    A vector's part along `tongue` says in which language a text is, and nothing of what
    it is about.
    """

    tokenizer: Tokenizer
    weights: NDArray[np.float16]  # (tokens, dimensions)
    tongue: Vector

    @classmethod
    def open(cls) -> _WordVectors:
        spec = importlib.util.find_spec("wordllama")
        if spec is None or spec.origin is None:
            raise ConfigurationError("wordllama is missing: install what requirements.txt lists")
        folder = Path(spec.origin).parent
        tokenizer = Tokenizer.from_file(
            str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json")
        )
        tokenizer.no_padding()
        tokenizer.no_truncation()
        weights_file = folder / "weights" / "l2_supercat_256.safetensors"
        with safe_open(str(weights_file), framework="np") as tensors:
            weights = tensors.get_tensor("embedding.weight")
        plain = cls(tokenizer, weights, np.zeros(weights.shape[1], dtype=np.float32))
        spanish, english = (
            _of_length_one(plain.means(sorted(language))).mean(axis=0)
            for language in (SPANISH, ENGLISH)
        )
        return replace(plain, tongue=_of_length_one((spanish - english)[np.newaxis])[0])

    def means(self, texts: Sequence[str]) -> Vectors:
        """The mean of each text's token vectors; a text without any gets the unknown one's."""
        means = np.empty((len(texts), self.weights.shape[1]), dtype=np.float32)
        encoded = self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
        for row, text in enumerate(encoded):
            tokens = np.minimum(np.array(text.ids or [0]), len(self.weights) - 1)
            means[row] = self.weights[tokens].mean(axis=0, dtype=np.float32)
        return means


class WordLlamaEmbedder:
    """The model inside the wordllama package: 256 numbers, no network, 50 µs a sentence.

    Its own loader looks for the tokenizer in the wrong folder and then asks the network,
    so its two files are opened here. They are read at the first use, once a process.
    """

    model = WORDLLAMA
    dimensions = WORDLLAMA_DIMENSIONS
    _vectors: _WordVectors | None = None
    _loading = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The mean of the vectors of each text's tokens; case makes no difference."""
        return _of_length_one(self._load().means([text.lower() for text in texts]))

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """As `embed`, but of the content words alone, and whatever their language.

        On XQuAD this lifts nDCG@10 from .70 to .82 in Spanish, from .49 to .58 for Spanish
        questions on English texts, and leaves English at .93.
        """
        vectors = self._load()
        means = vectors.means([_content(text.lower()) for text in texts])
        return _of_length_one(means - np.outer(means @ vectors.tongue, vectors.tongue))

    def embed_query(self, text: str) -> Vector:
        """Computing it takes less time than asking a cache."""
        vector: Vector = self.embed_documents([normalise_query(text)])[0]
        return vector

    @classmethod
    def _load(cls) -> _WordVectors:
        with cls._loading:
            if WordLlamaEmbedder._vectors is None:
                WordLlamaEmbedder._vectors = _WordVectors.open()
            return WordLlamaEmbedder._vectors


def _content(text: str) -> str:
    """The words of `text` that are no stop words; all of them where nothing else is left."""
    kept = [word for word in _WORD.findall(text) if fold(word) not in STOP_WORDS]
    return " ".join(kept) or text


class OpenAIEmbedder:
    """Vectors from OpenAI or a server that speaks its embeddings API."""

    def __init__(self, settings: Settings, cache: QueryCache | None = None) -> None:
        # Importing it takes half a second, which an installation without it need not wait.
        import openai

        self._errors = openai.OpenAIError
        self.model = settings.embedding_model
        self.dimensions = settings.embedding_dimensions
        self._cache = cache or QueryCache()
        connect = settings.ai_connect_timeout_seconds
        # Whoever embeds a batch repeats it; see index.embed_missing.
        self._client = open_client(
            settings, timeout=openai.Timeout(BATCH_TIMEOUT_SECONDS, connect=connect)
        )
        self._hurried = self._client.with_options(
            timeout=openai.Timeout(
                QUERY_TIMEOUT_SECONDS, connect=min(connect, QUERY_TIMEOUT_SECONDS / 2)
            )
        )

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        return self._ask(self._client, texts, BATCH_TIMEOUT_SECONDS)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return self.embed(texts)

    def embed_query(self, text: str) -> Vector:
        """From the cache where the same question was asked in the last ten minutes."""
        query = normalise_query(text)

        def ask() -> Vector:
            vector: Vector = self._ask(self._hurried, [query], QUERY_TIMEOUT_SECONDS)[0]
            return vector

        return self._cache.vector(f"{self.model}/{self.dimensions}", query, ask)

    def _ask(self, client: openai.OpenAI, texts: Sequence[str], seconds: float) -> Vectors:
        try:
            reply = self._post(client, texts, seconds)
            rows = sorted(reply["data"], key=lambda row: row["index"])
            vectors = np.array([_numbers(row["embedding"]) for row in rows], dtype=np.float32)
        except RefusedResponse as error:
            raise EmbeddingUnavailable(str(error)) from None
        except (self._errors, httpx2.HTTPError, *MISSHAPEN) as error:
            # The server's words may repeat the texts: only the kind of failure is kept.
            raise EmbeddingUnavailable(type(error).__name__) from None
        is_whole = vectors.ndim == 2 and len(vectors) == len(texts)
        # What has no length is near to nothing, and would be stored as if it were.
        if not is_whole or not np.isfinite(vectors).all():
            raise EmbeddingUnavailable("malformed answer")
        if vectors.shape[1] != self.dimensions:
            raise WrongVectorSize(self.model, self.dimensions, vectors.shape[1])
        # In double precision: a number may be too large or too small to be squared as it is kept.
        made = _of_length_one(vectors.astype(np.float64))
        if not made.any(axis=1).all():
            raise EmbeddingUnavailable("malformed answer")
        return made

    def _post(self, client: openai.OpenAI, texts: Sequence[str], seconds: float) -> Any:
        body: dict[str, Any] = {
            "model": self.model,
            "input": list(texts),
            "encoding_format": "base64",
        }
        # Only this family can be asked for a size; other servers refuse the field.
        if self.model.startswith("text-embedding-3"):
            body["dimensions"] = self.dimensions
        count = len(texts)
        return post_json(
            client,
            "/embeddings",
            body,
            seconds=seconds,
            most_bytes=count * self.dimensions * BYTES_PER_NUMBER + MORE_BYTES,
            most_values=count * (self.dimensions + VALUES_PER_ROW) + MORE_VALUES,
        )


def _numbers(embedding: Any) -> Any:
    """A vector as a server gives it: packed in base64 as it is asked for, or as numbers."""
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding), dtype="<f4")
    return embedding


def make_embedder(settings: Settings, shared: redis.Redis | None = None) -> Embedder:
    """The embedder that the settings name; API vectors of queries are shared by Redis.

    Raises:
        ConfigurationError: the model needs an API that is not configured, or has another
            size than the settings say.
    """
    if settings.embedding_model == WORDLLAMA:
        if settings.embedding_dimensions != WORDLLAMA_DIMENSIONS:
            raise ConfigurationError(
                f"EMBEDDING_DIMENSIONS: {WORDLLAMA} has {WORDLLAMA_DIMENSIONS}"
            )
        return WordLlamaEmbedder()
    if not NAME.fullmatch(settings.embedding_model):
        raise ConfigurationError("EMBEDDING_MODEL: not the name of a model")
    if not (settings.openai_api_key or settings.openai_base_url):
        raise ConfigurationError(
            f"EMBEDDING_MODEL: {settings.embedding_model} needs OPENAI_API_KEY or"
            f" OPENAI_BASE_URL; {WORDLLAMA} needs neither"
        )
    return OpenAIEmbedder(settings, QueryCache(shared))


def _of_length_one(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths == 0, 1, lengths), dtype=np.float32)
