"""Vectors that are the same each time and closer the more words two texts share."""

from __future__ import annotations

import base64
import hashlib
import math
import re
import struct
from typing import Any

# Each word moves this many of a vector's numbers.
PLACES_PER_WORD = 16


def embed(text: str, dimensions: int) -> list[float]:
    """A unit vector of so many numbers for a text."""
    vector = [0.0] * dimensions
    for word in re.findall(r"\w+", text.lower()) or [text]:
        digest = hashlib.shake_128(word.encode()).digest(5 * PLACES_PER_WORD)
        for place, sign in struct.iter_unpack(">IB", digest):
            vector[place % dimensions] += 1.0 if sign % 2 else -1.0
    length = math.sqrt(sum(number * number for number in vector)) or 1.0
    return [number / length for number in vector]


def embeddings_reply(body: dict[str, Any], dimensions: int) -> dict[str, Any]:
    """The reply to a request for embeddings, as numbers or in base64 as the client wishes."""
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    size = body.get("dimensions") or dimensions
    vectors: list[Any] = [embed(str(text), size) for text in texts]
    if body.get("encoding_format") == "base64":
        vectors = [base64.b64encode(struct.pack(f"<{size}f", *each)).decode() for each in vectors]
    tokens = sum(len(str(text)) // 4 for text in texts)
    return {
        "object": "list",
        "model": body.get("model", "scripted"),
        "data": [
            {"object": "embedding", "index": index, "embedding": vector}
            for index, vector in enumerate(vectors)
        ],
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }
