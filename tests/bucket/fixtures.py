"""The bucket's server for a run of tests, and a new bucket for each test that wants one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from app.config import Settings

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Bucket:
    """A bucket that is new and empty; `client` is Amazon's own, to look at it from outside."""

    name: str
    address: str
    key_id: str
    key: str
    client: Any

    @property
    def settings(self) -> dict[str, Any]:
        """What a house is told so that it keeps its files there."""
        return {
            "s3_bucket": self.name,
            "s3_endpoint_url": self.address,
            "s3_access_key_id": self.key_id,
            "s3_secret_access_key": self.key,
        }

    def of(self, settings: Settings, **more: Any) -> Settings:
        return settings.model_copy(update={**self.settings, **more})

    def places(self) -> list[str]:
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.name)
        return [each["Key"] for page in pages for each in page.get("Contents", [])]


@pytest.fixture(scope="session")
def bucket_server() -> Iterator[dict[str, str]]:
    """The server's address and the keys of somebody who may use it."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.bucket"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as server:
        assert server.stdin and server.stdout
        facts: dict[str, str] = json.loads(server.stdout.readline())
        yield facts
        server.stdin.close()


@pytest.fixture
def bucket(bucket_server: dict[str, str]) -> Bucket:
    # Large, and of use to few tests.
    import boto3

    client = boto3.client(
        "s3",
        endpoint_url=bucket_server["address"],
        region_name="us-east-1",
        aws_access_key_id=bucket_server["key_id"],
        aws_secret_access_key=bucket_server["key"],
    )
    name = f"house-{uuid4().hex}"
    client.create_bucket(Bucket=name)
    return Bucket(name=name, client=client, **bucket_server)
