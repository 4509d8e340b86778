"""A bucket: what is asked of it, how it is signed, and what is said when it is out of reach."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from app.config import Settings
from app.db import utc_now
from app.files import s3
from app.files.errors import StorageAway
from app.files.s3 import Keys, S3Storage, bucket_address, sign
from app.files.storage import new_key, place_of
from tests.bucket.fixtures import Bucket
from tests.files.s3_server import BUSY, FINE, MISSING, NOTHING, Answer, ScriptedS3

ROOT = Path(__file__).parents[2]
SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
EXAMPLE = Keys("AKIAIOSFODNN7EXAMPLE", SECRET, "us-east-1")


def storage_at(settings: Settings, address: str, **more: Any) -> S3Storage:
    told = {
        "s3_bucket": "house",
        "s3_endpoint_url": address,
        "s3_access_key_id": "id",
        "s3_secret_access_key": SECRET,
        **more,
    }
    return S3Storage(settings.model_copy(update=told))


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pauses between tries, a hundred times shorter."""
    monkeypatch.setattr(s3, "PAUSES", tuple(each / 100 for each in s3.PAUSES))


def everything(storage: S3Storage) -> list[str]:
    return list(storage.old_names(utc_now() + timedelta(minutes=1)))


# Where things are


@pytest.mark.parametrize(
    ("more", "address"),
    [
        ({}, "https://house.s3.eu-west-1.amazonaws.com"),
        ({"s3_bucket": "my.house"}, "https://s3.eu-west-1.amazonaws.com/my.house"),
        ({"s3_endpoint_url": "http://minio:9000"}, "http://minio:9000/house"),
        ({"s3_endpoint_url": "https://x.example/s3/v1"}, "https://x.example/s3/v1/house"),
    ],
)
def test_a_bucket_is_where_its_kind_of_storage_has_it(
    settings: Settings, more: dict[str, str], address: str
) -> None:
    told = {"s3_bucket": "house", "s3_region": "eu-west-1", **more}
    assert bucket_address(settings.model_copy(update=told)) == address


def test_objects_lie_where_files_would_behind_the_prefix(
    settings: Settings, bucket: Bucket
) -> None:
    key = new_key()
    S3Storage(bucket.of(settings)).put(key, b"bytes")
    S3Storage(bucket.of(settings, s3_prefix="a/house/")).put(key, b"bytes")
    assert sorted(bucket.places()) == sorted([place_of(key), f"a/house/{place_of(key)}"])


def test_houses_that_share_a_bucket_see_their_own(settings: Settings, bucket: Bucket) -> None:
    one, other = (S3Storage(bucket.of(settings, s3_prefix=each)) for each in ("one/", "other/"))
    key = new_key()
    one.put(key, b"bytes")
    assert (everything(one), everything(other)) == ([key], [])
    with pytest.raises(FileNotFoundError):
        other.open(key)


def test_what_others_put_there_is_left_alone(settings: Settings, bucket: Bucket) -> None:
    storage, key = S3Storage(bucket.of(settings)), new_key()
    storage.put(key, b"bytes")
    for odd in ("notes.txt", f"x/{key}", key, "a b/ñ&<é>.jpg", "00/00/" + "f" * 32):
        bucket.client.put_object(Bucket=bucket.name, Key=odd, Body=b"x")
    assert everything(storage) == [key]


def test_more_than_a_page_of_names_is_listed_whole(settings: Settings, bucket: Bucket) -> None:
    storage = S3Storage(bucket.of(settings))
    keys = {new_key() for _ in range(1_003)}
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda key: storage.put(key, b"x"), keys))
    listed = everything(storage)
    assert len(listed) == len(keys)
    assert set(listed) == keys


# Signatures


def test_a_signature_is_that_of_amazons_own_example() -> None:
    request = httpx2.Request(
        "GET", "https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J", content=b""
    )
    sign(request, EXAMPLE, datetime(2013, 5, 24, tzinfo=UTC))
    assert request.headers["authorization"].endswith(
        "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
    )


@pytest.mark.parametrize(
    ("method", "url", "content"),
    [
        ("PUT", "https://house.s3.eu-west-1.amazonaws.com/ab/cd/abcd.preview", b"\x00\xff" * 99),
        ("GET", "http://minio:9000/house/a/b_c/x", b""),
        ("DELETE", "https://x.example/s3/v1/house/ab/cd/e", b""),
        ("GET", "http://m:9/h?encoding-type=url&list-type=2&prefix=a%2Fb%2F", b""),
        ("GET", "http://m:9/h?list-type=2&prefix=&continuation-token=1%2B%2F%3D%20%26~", b""),
    ],
)
def test_signatures_are_those_of_amazons_own_library(method: str, url: str, content: bytes) -> None:
    ours = httpx2.Request(method, url, content=content)
    moment = utc_now()
    sign(ours, EXAMPLE, moment)
    theirs = AWSRequest(
        method, url, headers={"x-amz-content-sha256": ours.headers["x-amz-content-sha256"]},
        data=content,
    )  # fmt: skip
    theirs.context["timestamp"] = ours.headers["x-amz-date"]
    theirs.headers["X-Amz-Date"] = ours.headers["x-amz-date"]
    credentials = Credentials(EXAMPLE.access_key_id, SECRET)
    signer = S3SigV4Auth(credentials, "s3", "us-east-1")
    to_sign = signer.string_to_sign(theirs, signer.canonical_request(theirs))
    assert ours.headers["authorization"].endswith(signer.signature(to_sign, theirs))


# Out of reach


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"s3_secret_access_key": "wrong"}, "403 SignatureDoesNotMatch"),
        ({"s3_access_key_id": "AKIAIOSFODNN7EXAMPLE"}, "403 InvalidAccessKeyId"),
        ({"s3_bucket": "no-such-bucket"}, "404 NoSuchBucket"),
    ],
)
def test_what_is_wrong_with_the_settings_is_said_and_no_secret(
    settings: Settings, bucket: Bucket, more: dict[str, str], why: str
) -> None:
    storage = S3Storage(bucket.of(settings, **more))
    for ask in (
        lambda: storage.put(new_key(), b"x"),
        lambda: storage.open(new_key()),
        lambda: everything(storage),
    ):
        with pytest.raises(StorageAway) as caught:
            ask()
        assert caught.value.reason.startswith(why)
        assert bucket.key not in caught.value.reason
        assert bucket.key_id not in caught.value.reason


def test_an_address_where_nobody_listens_is_out_of_reach(
    settings: Settings, impatient: None
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        storage = storage_at(settings, f"http://127.0.0.1:{taken.getsockname()[1]}")
        with pytest.raises(StorageAway) as caught:
            storage.open(new_key())
    assert caught.value.reason.startswith("ConnectError")
    assert caught.value.status == 503


@pytest.mark.parametrize("passing", [BUSY, (500, b""), NOTHING], ids=["busy", "500", "hangs up"])
def test_what_may_pass_is_tried_three_times_and_not_more(
    settings: Settings, impatient: None, passing: Answer
) -> None:
    with ScriptedS3(passing, passing, FINE) as server:
        assert storage_at(settings, server.address).open(new_key()).read() == b"bytes"
        assert len(server.asked) == 3
    with ScriptedS3(passing) as server:
        with pytest.raises(StorageAway):
            storage_at(settings, server.address).put(new_key(), b"bytes")
        assert server.contents == [b"bytes"] * 3


def test_what_was_removed_by_a_try_without_an_answer_is_removed(
    settings: Settings, impatient: None
) -> None:
    with ScriptedS3(NOTHING, MISSING) as server:
        storage_at(settings, server.address).remove(new_key())
        assert len(server.asked) == 2


def test_what_is_not_there_after_it_was_put_was_not_put(settings: Settings) -> None:
    with ScriptedS3(MISSING) as server, pytest.raises(StorageAway):
        storage_at(settings, server.address).put(new_key(), b"bytes")


@pytest.mark.parametrize(
    "answer",
    [
        (403, b"<Error><Code>AccessDenied</Code></Error>"),
        (404, b"<html>There is nothing here</html>"),
        (301, b"<Error><Code>PermanentRedirect</Code></Error>"),
        (400, b"\xff not XML"),
    ],
    ids=["denied", "no storage", "moved", "garbage"],
)
def test_what_does_not_pass_is_not_tried_again(settings: Settings, answer: Answer) -> None:
    with ScriptedS3(answer) as server:
        with pytest.raises(StorageAway) as caught:
            storage_at(settings, server.address).open(new_key())
        assert caught.value.reason.startswith(str(answer[0]))
        assert len(server.asked) == 1


def test_a_wrong_region_is_told_with_the_right_one(settings: Settings) -> None:
    body = b"<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-3</Region></Error>"
    with ScriptedS3((400, body)) as server, pytest.raises(StorageAway) as caught:
        storage_at(settings, server.address).open(new_key())
    assert "S3_REGION=eu-west-3" in caught.value.reason


def test_silence_is_waited_for_once(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(s3, "READ_SECONDS", 0.2)
    with ScriptedS3(FINE, seconds=2) as server:
        with pytest.raises(StorageAway) as caught:
            storage_at(settings, server.address).open(new_key())
        assert caught.value.reason.startswith("ReadTimeout")
        assert len(server.asked) == 1


@pytest.mark.parametrize(
    "listed",
    [
        b"<html/>",
        b"{}",
        b"<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
        b"<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>",
        b'<!DOCTYPE x [<!ENTITY a "b">]><ListBucketResult>&a;</ListBucketResult>',
    ],
    ids=["page", "json", "endless", "without times", "entities"],
)
def test_a_list_that_is_none_is_said_to_be_none(settings: Settings, listed: bytes) -> None:
    with ScriptedS3((200, listed)) as server:
        with pytest.raises(StorageAway) as caught:
            everything(storage_at(settings, server.address))
        assert "cannot be read" in caught.value.reason


def test_a_slow_storage_keeps_nobody_else_waiting_in_a_web_worker() -> None:
    with ScriptedS3(FINE, seconds=1) as server:
        done = subprocess.run(
            [sys.executable, "-m", "tests.files.under_gevent", server.address],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["contents"] == ["bytes"] * 20
    # One after the other would take twenty seconds; a hub that waits would let nobody tick.
    assert report["seconds"] < 12
    assert report["longest"] < 2
