"""Signing what is asked of an S3 storage: AWS Signature Version 4, in one piece.

Pure but for the clock. The names of headers, the order of lines and how things are hashed are
those of "Authenticating Requests: Using the Authorization Header" in Amazon's S3 API Reference.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Generator
from dataclasses import dataclass, field
from datetime import datetime

import httpx2

from app.db import utc_now

CONTENT_DIGEST = "x-amz-content-sha256"
ALGORITHM = "AWS4-HMAC-SHA256"
# What of a request is signed besides its method, address and content, in this order.
SIGNED = ("host", CONTENT_DIGEST, "x-amz-date")


@dataclass(frozen=True)
class Keys:
    """Who asks, and in which region."""

    access_key_id: str
    secret_access_key: str = field(repr=False)
    region: str


class Signature(httpx2.Auth):
    """Signs each request that is sent: the day and the content are part of it.

    What is sent from a file names the digest of its content itself, in CONTENT_DIGEST.
    """

    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    def auth_flow(
        self, request: httpx2.Request
    ) -> Generator[httpx2.Request, httpx2.Response, None]:
        sign(request, self._keys, utc_now())
        yield request


def sign(request: httpx2.Request, keys: Keys, moment: datetime) -> None:
    """Give a request that has its content, or its digest, the headers that prove who sent it."""
    if CONTENT_DIGEST not in request.headers:
        request.headers[CONTENT_DIGEST] = hashlib.sha256(request.content).hexdigest()
    request.headers["x-amz-date"] = f"{moment:%Y%m%dT%H%M%SZ}"
    scope = f"{moment:%Y%m%d}/{keys.region}/s3/aws4_request"
    asked = hashlib.sha256(_canonical(request).encode()).hexdigest()
    to_sign = "\n".join((ALGORITHM, request.headers["x-amz-date"], scope, asked))
    key = f"AWS4{keys.secret_access_key}".encode()
    for step in (*scope.split("/"), to_sign):
        key = hmac.digest(key, step.encode(), "sha256")
    request.headers["authorization"] = (
        f"{ALGORITHM} Credential={keys.access_key_id}/{scope},"
        f"SignedHeaders={';'.join(SIGNED)},Signature={key.hex()}"
    )


def _canonical(request: httpx2.Request) -> str:
    """A request as both sides write it down: what is sent, with its query in order."""
    path, _, query = request.url.raw_path.decode("ascii").partition("?")
    ordered = "&".join(sorted(query.split("&")))
    headers = [f"{name}:{request.headers[name].strip()}" for name in SIGNED]
    content = request.headers[CONTENT_DIGEST]
    return "\n".join((request.method, path, ordered, *headers, "", ";".join(SIGNED), content))
