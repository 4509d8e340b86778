"""Files in a bucket of an S3-compatible storage, which several hosts share.

Four requests are all that is asked of it: put, get, delete and list. What goes wrong on the way
is a StorageAway that says to the operator why, and to people that they may try again.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from typing import IO, NamedTuple
from urllib.parse import quote, unquote
from xml.etree.ElementTree import Element, ParseError

import httpx2
import structlog
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from app.config import Settings
from app.db import utc_now
from app.files.errors import StorageAway
from app.files.spool import PIECE_BYTES, SpooledFile, digest_of, size_of
from app.files.storage import as_file, name_at, place_of, spool_folder

CONNECT_SECONDS, READ_SECONDS = 5, 30
# How long is waited before it is asked again, each time; and for how long it is asked at all.
PAUSES = (0.2, 1.0)
ASK_SECONDS = 30
_PASSING = frozenset({429, 500, 502, 503, 504})
_LONGEST_REASON = 300
CONTENT_DIGEST = "x-amz-content-sha256"
ALGORITHM = "AWS4-HMAC-SHA256"
# What of a request is signed besides its method, address and content, in this order.
SIGNED = ("host", CONTENT_DIGEST, "x-amz-date")

log = structlog.get_logger()


class S3Storage:
    """Files in a bucket, at the places that they would have in a folder."""

    def __init__(self, settings: Settings) -> None:
        self._address = bucket_address(settings)
        self._prefix = settings.s3_prefix
        self.spool = spool_folder(settings)
        keys = Keys(
            settings.s3_access_key_id or "",
            settings.s3_secret_access_key or "",
            settings.s3_region,
        )
        self._client = httpx2.Client(
            auth=Signature(keys),
            timeout=httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
            # Bytes come as they were put; packed ones would not be those.
            headers={"accept-encoding": "identity"},
        )

    def put(self, name: str, content: bytes | IO[bytes]) -> None:
        self._ask("PUT", f"/{self._prefix}{place_of(name)}", as_file(content))

    def open(self, name: str) -> IO[bytes]:
        # All of it before any of it is passed on: half a download would look like a whole one.
        found = SpooledFile(self.spool)
        answer = self._ask("GET", f"/{self._prefix}{place_of(name)}", into=found)
        if answer.status_code == HTTPStatus.NOT_FOUND:
            found.close()
            raise FileNotFoundError(name)
        found.seek(0)
        return found

    def remove(self, name: str) -> None:
        self._ask("DELETE", f"/{self._prefix}{place_of(name)}")

    def old_names(self, before: datetime) -> Iterator[str]:
        after: str | None = ""
        while after is not None:
            places, after = self._list(after)
            for place, written in places:
                if written < before and (name := name_at(place)):
                    yield name

    def _list(self, after: str) -> _Page:
        """A thousand places, or as many as are left, behind those of the page before."""
        query = {"encoding-type": "url", "list-type": "2", "prefix": self._prefix}
        if after:
            query["continuation-token"] = after
        written = "&".join(f"{name}={quote(value, safe='')}" for name, value in query.items())
        answer = self._ask("GET", f"?{written}")
        try:
            return _read_page(fromstring(answer.content), self._prefix)
        except (ParseError, DefusedXmlException, ValueError):
            raise _away("what it lists cannot be read; is S3_ENDPOINT_URL a storage?") from None

    def _ask(
        self,
        method: str,
        what: str,
        content: IO[bytes] | None = None,
        into: IO[bytes] | None = None,
    ) -> httpx2.Response:
        """Ask, more than once where it may help: each of the four can be asked again.

        What `content` holds is sent; what comes is written to `into` where one is given.

        Returns:
            The answer when it is done, or 404 when there is no such object.

        Raises:
            StorageAway: it was not done.
        """
        give_up_at = time.monotonic() + ASK_SECONDS
        tried = self._try(method, what, content, into)
        for pause in PAUSES:
            if not tried.may_pass or time.monotonic() + pause > give_up_at:
                break
            time.sleep(pause)
            tried = self._try(method, what, content, into)
        if tried.answer is None:
            raise _away(tried.problem)
        return tried.answer

    def _try(
        self, method: str, what: str, content: IO[bytes] | None, into: IO[bytes] | None
    ) -> _Tried:
        headers = _describe(content) if content else {}
        try:
            with self._client.stream(
                method, self._address + what, content=content, headers=headers
            ) as answer:
                _receive(answer, into)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            # Whoever waits for a page has waited for long enough after one silence.
            is_silence = isinstance(error, httpx2.ReadTimeout | httpx2.WriteTimeout)
            return _Tried(None, f"{type(error).__name__}: {error}", not is_silence)
        if _is_done(method, answer):
            return _Tried(answer, "", False)
        return _Tried(None, _complaint(answer), answer.status_code in _PASSING)


def _describe(content: IO[bytes]) -> dict[str, str]:
    """How long content is and its digest, found without ever having all of it in memory."""
    return {"content-length": str(size_of(content)), CONTENT_DIGEST: digest_of(content)}


def _receive(answer: httpx2.Response, into: IO[bytes] | None) -> None:
    """Write what came into the file for it; what is only told stays with the answer."""
    if into is None or not answer.is_success:
        answer.read()
        return
    into.seek(0)
    into.truncate()
    for piece in answer.iter_bytes(PIECE_BYTES):
        into.write(piece)


class _Tried(NamedTuple):
    """One try: its answer, or what went wrong and whether that may pass by itself."""

    answer: httpx2.Response | None
    problem: str
    may_pass: bool


class _Page(NamedTuple):
    """Places and when they were written, and what leads to the next page; None is the end."""

    places: list[tuple[str, datetime]]
    after: str | None


def bucket_address(settings: Settings) -> str:
    """Where the bucket is: in Amazon's own storage it has a name, elsewhere a path."""
    bucket, region = settings.s3_bucket or "", settings.s3_region
    if settings.s3_endpoint_url:
        return f"{settings.s3_endpoint_url}/{bucket}"
    if "." in bucket:
        # The certificate of all buckets is for names without one.
        return f"https://s3.{region}.amazonaws.com/{bucket}"
    return f"https://{bucket}.s3.{region}.amazonaws.com"


def _is_done(method: str, answer: httpx2.Response) -> bool:
    if answer.status_code == HTTPStatus.NOT_FOUND:
        # That a whole bucket is missing, or the address is no storage's, is another matter.
        return method != "PUT" and _told(answer, "Code") == "NoSuchKey"
    return answer.is_success


def _complaint(answer: httpx2.Response) -> str:
    """What it says of itself, without what it was sent: its name for the fault, and a line."""
    said = [str(answer.status_code), _told(answer, "Code"), _told(answer, "Message")]
    if region := answer.headers.get("x-amz-bucket-region") or _told(answer, "Region"):
        said.append(f"(the bucket is in S3_REGION={region})")
    return " ".join(filter(None, said))


def _told(answer: httpx2.Response, name: str) -> str:
    """One line of an error's XML; nothing where the answer is something else."""
    try:
        return (fromstring(answer.content).findtext(f"{{*}}{name}") or "").strip()
    except (ParseError, DefusedXmlException, ValueError):
        return ""


def _read_page(listed: Element, prefix: str) -> _Page:
    """What is listed, without the prefix.

    Raises:
        ValueError: it is no list, or one that would begin again.
    """
    if not listed.tag.endswith("ListBucketResult"):
        raise ValueError(listed.tag)
    places = []
    for each in listed.iterfind("{*}Contents"):
        key = unquote(each.findtext("{*}Key") or "")
        written = datetime.fromisoformat(each.findtext("{*}LastModified") or "")
        places.append((key.removeprefix(prefix), written))
    if listed.findtext("{*}IsTruncated") != "true":
        return _Page(places, None)
    if not (after := listed.findtext("{*}NextContinuationToken")):
        raise ValueError("no token")
    return _Page(places, after)


def _away(reason: str) -> StorageAway:
    reason = " ".join(reason.split())[:_LONGEST_REASON]
    log.error("the files' storage does not do what it is asked", reason=reason)
    return StorageAway(reason)


@dataclass(frozen=True)
class Keys:
    """Who asks, and in which region."""

    access_key_id: str
    secret_access_key: str = field(repr=False)
    region: str


class Signature(httpx2.Auth):
    """AWS Signature Version 4, in one piece: the day and the content are part of it.

    The names of headers, the order of lines and how things are hashed are those of
    "Authenticating Requests: Using the Authorization Header" in Amazon's S3 API Reference.

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
