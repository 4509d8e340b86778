"""What a vision model's server may send: no more than an answer, whatever it says it is."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import Mapping
from typing import Any

import httpx2
import openai
import pytest

from app.config import Settings
from app.skills.expenses.services.receipt_reader import (
    LONGEST_ANSWER_BYTES,
    MISSHAPEN,
    read_picture,
)
from tests.files import samples
from tests.model_server import plain_server

JSON = {"Content-Type": "application/json"}
ICE = '{"item": "Ice"}'


def completion(content: Any, **more: Any) -> bytes:
    return json.dumps({"choices": [{"message": {"content": content}}], **more}).encode()


def read(body: bytes, status: int = 200, headers: Mapping[str, str] = JSON) -> str | None:
    """The item of a receipt, by a server that answers so."""
    with plain_server(status, headers, body) as url:
        settings = Settings(ai_vision_model="eyes", openai_base_url=url)
        return read_picture(settings, samples.picture(), "image/jpeg").item


def of_length(length: int) -> bytes:
    """A good answer of so many bytes."""
    bare = completion(ICE, pad="")
    return completion(ICE, pad="x" * (length - len(bare)))


def test_an_answer_of_the_greatest_length_is_read() -> None:
    assert read(of_length(LONGEST_ANSWER_BYTES)) == "Ice"


def test_what_the_server_packs_though_it_was_not_asked_to_is_not_unpacked() -> None:
    with pytest.raises((openai.OpenAIError, httpx2.HTTPError)):
        read(gzip.compress(completion(ICE)), headers={**JSON, "Content-Encoding": "gzip"})


@pytest.mark.parametrize(
    "body",
    [
        of_length(LONGEST_ANSWER_BYTES + 1),
        completion(ICE, pad=[[]] * 1_000_000),
        # Within its bounds, but of more values or deeper than any answer.
        completion(ICE, pad=[0] * 10_000),
        completion(ICE, pad=0).replace(b"0", b"[" * 100 + b"]" * 100),
        completion(ICE, pad=0).replace(b"0", b"[" * 30_000 + b"]" * 30_000),
        completion('{"item": "Ice", "pad": ' + json.dumps([0] * 5_000) + "}"),
        completion('{"item": "Ice", "pad": ' + "[" * 10_000 + "]" * 10_000 + "}"),
    ],
    ids=["a byte more", "lists", "values", "levels", "many levels", "values within", "deep within"],
)
def test_what_is_too_long_too_large_or_too_deep_is_no_answer(body: bytes) -> None:
    with pytest.raises((openai.OpenAIError, httpx2.HTTPError, *MISSHAPEN)):
        read(body)


@pytest.mark.parametrize(
    "said",
    [[], {}, {"choices": {}}, {"choices": [{}]}, {"choices": [{"message": None}]}, "x", 5, None],
)
def test_what_has_not_the_shape_of_a_completion_is_no_answer(said: Any) -> None:
    with pytest.raises(MISSHAPEN):
        read(json.dumps(said).encode())


@pytest.mark.parametrize("status", [200, 302, 500])
def test_a_flood_is_given_up_before_it_fills_the_worker(status: int) -> None:
    flood = completion(ICE, pad="x" * 5_000_000)
    with plain_server(status, JSON, flood) as url:
        settings = Settings(ai_vision_model="eyes", openai_base_url=url)
        picture = samples.picture()
        tracemalloc.start()
        try:
            with pytest.raises((openai.OpenAIError, httpx2.HTTPError)):
                read_picture(settings, picture, "image/jpeg")
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert most < 2_500_000


def test_an_amount_of_a_hundred_thousand_digits_is_none() -> None:
    with pytest.raises((openai.OpenAIError, httpx2.HTTPError, *MISSHAPEN)):
        read(completion('{"item": "Ice", "amount": "' + "9" * 100_000 + '"}'))
