"""How calls to a model fail, and what the openai provider makes of it."""

from __future__ import annotations

import logging
import socket
import time
import traceback
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from app.assistant.providers.base import (
    ModelEvent,
    ProviderError,
)
from app.assistant.providers.openai import OpenAIProvider
from tests.assistant.providers.asking import (
    MakeProvider,
    asking,
    failure_of,
    text_of,
)
from tests.model_server import (
    Chunk,
    CutAfter,
    Delta,
    Ending,
    HttpError,
    ModelServer,
    Page,
    Raw,
    Say,
    Stall,
    Step,
    scenario,
)
from tests.model_server.script import Exchange

pytestmark = pytest.mark.timeout(120)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (HttpError(400), "declined"),
        (HttpError(401, code="invalid_api_key"), "refused"),
        (HttpError(403), "refused"),
        (HttpError(404, code="model_not_found"), "refused"),
        (HttpError(413), "declined"),
        (HttpError(422), "declined"),
        (HttpError(429, code="insufficient_quota"), "refused"),
        (HttpError(429), "rate_limited"),
        (HttpError(408), "timeout"),
        (HttpError(500), "server_error"),
        (HttpError(502), "server_error"),
        (HttpError(503), "server_error"),
        (HttpError(504), "server_error"),
        (Page("<h1>Bad gateway</h1>", 502), "server_error"),
        (Page("<h1>Sign in to the network</h1>"), "server_error"),
        (Raw(b"data: {not json\n\n"), "server_error"),
        (Chunk({"error": {"message": "boom", "code": None}}), "server_error"),
        (Chunk({"error": "boom"}), "server_error"),
        (Chunk({"error": {"type": "rate_limit_exceeded"}}), "rate_limited"),
        (Chunk({"error": {"code": 400}}), "declined"),
        (Chunk({"object": "error", "message": "boom", "code": 503}), "server_error"),
        (CutAfter(0), "unreachable"),
        ([Delta({"reasoning": "hm"}), CutAfter(1)], "interrupted"),
        (Ending(reason=None, done=False), "interrupted"),
        (Ending(reason="content_filter"), "declined"),
    ],
)
def test_each_failure_before_the_first_word_has_its_code(
    model_server: ModelServer, provider: OpenAIProvider, error: Step | list[Step], code: str
) -> None:
    model_server.script(scenario(error))
    said: list[ModelEvent] = []
    assert failure_of(provider, said).code == code
    assert said == []
    assert len(model_server.calls) == 1


@pytest.mark.parametrize(
    "end",
    [
        CutAfter(2),
        Ending(reason=None, done=False),
        Chunk({"error": {"type": "rate_limit_exceeded"}}),
        Raw(b"data: {not json\n\n"),
        Stall(20),
    ],
)
def test_whatever_fails_after_the_first_word_is_an_interruption(
    model_server: ModelServer, make_provider: MakeProvider, end: Step
) -> None:
    model_server.script(scenario([Say("Tips are "), end]))
    said: list[ModelEvent] = []
    assert failure_of(make_provider(ai_first_token_timeout_seconds=0.5), said).code == "interrupted"
    assert text_of(said) == "Tips are "


def test_what_is_declined_after_the_first_word_is_known_to_be(
    model_server: ModelServer, make_provider: MakeProvider
) -> None:
    """A filter of contents that speaks up late says nothing of the server either."""
    model_server.script(scenario([Say("Tips are "), Chunk({"error": {"code": 400}})]))
    assert failure_of(make_provider()).code == "declined"


class MovedTo:
    """An address to go on to, which a client would send the whole request to once more."""

    def __init__(self, address: str) -> None:
        self.address = address

    async def play(self, exchange: Exchange) -> None:
        await exchange.respond(307, {"location": self.address}, b"")


def test_a_conversation_goes_nowhere_but_to_the_address_that_was_set(
    model_server: ModelServer, provider: OpenAIProvider
) -> None:
    with ModelServer() as elsewhere:
        address = elsewhere.base_url + "/chat/completions"
        model_server.script(scenario(MovedTo(address)))
        assert "307" in str(failure_of(provider))
        assert elsewhere.calls == []


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7),
        ("1.5", 1.5),
        ("-3", 0),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        (None, None),
    ],
)
def test_retry_after_is_passed_on_in_seconds(
    model_server: ModelServer,
    provider: OpenAIProvider,
    header: str | None,
    seconds: float | None,
) -> None:
    model_server.script(scenario(HttpError(429, header)))
    told = failure_of(provider).retry_after
    assert told == seconds


@pytest.mark.parametrize(("minutes", "seconds"), [(5, 300), (-5, 0)])
def test_a_date_to_retry_after_is_told_in_seconds(
    model_server: ModelServer, provider: OpenAIProvider, minutes: int, seconds: float
) -> None:
    moment = format_datetime(datetime.now(UTC) + timedelta(minutes=minutes), usegmt=True)
    model_server.script(scenario(HttpError(429, moment)))
    assert failure_of(provider).retry_after == pytest.approx(seconds, abs=60)


def test_a_server_that_is_not_there_is_unreachable(make_provider: MakeProvider) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        assert failure_of(make_provider(openai_base_url=nobody)).code == "unreachable"


def test_a_server_that_never_accepts_is_unreachable(make_provider: MakeProvider) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(deaf.getsockname())
        address = f"http://127.0.0.1:{deaf.getsockname()[1]}/v1"
        provider = make_provider(openai_base_url=address, ai_connect_timeout_seconds=0.3)
        assert failure_of(provider).code == "unreachable"
        for filler in fillers:
            filler.close()


@pytest.mark.parametrize(
    "steps",
    [
        [Stall(20)],
        [Delta({"role": "assistant"}), Stall(20)],
        [Stall(20, ping=0.1)],
        [Delta({"role": "assistant"}), Stall(20, ping=0.1)],
    ],
    ids=["no answer", "no word", "only pings", "a role and pings"],
)
def test_a_model_that_stays_silent_times_out(
    model_server: ModelServer, make_provider: MakeProvider, steps: list[Step]
) -> None:
    model_server.script(scenario(steps))
    started = time.monotonic()
    assert failure_of(make_provider(ai_first_token_timeout_seconds=0.5)).code == "timeout"
    assert time.monotonic() - started < 5
    assert model_server.last_call.client_left.wait(5)


def test_thinking_aloud_is_a_sign_of_life(
    model_server: ModelServer, make_provider: MakeProvider
) -> None:
    thoughts = [step for _ in range(5) for step in (Delta({"reasoning": "hm"}), Stall(0.2))]
    model_server.script(scenario([*thoughts, Say("Yes.")]))
    provider = make_provider(ai_first_token_timeout_seconds=0.6)
    assert text_of(list(provider.stream(asking()))) == "Yes."


def test_no_call_outlasts_the_limit_of_a_turn(
    model_server: ModelServer, make_provider: MakeProvider
) -> None:
    model_server.script(scenario(Say("and on " * 500, delay=0.05)))
    started = time.monotonic()
    assert failure_of(make_provider(ai_turn_timeout_seconds=0.8)).code == "interrupted"
    assert time.monotonic() - started < 8


def test_a_slow_reader_of_the_reply_is_not_taken_for_a_silent_model(
    model_server: ModelServer, make_provider: MakeProvider
) -> None:
    model_server.script(scenario([Say("One "), Stall(0.1), Say("two.")]))
    stream = make_provider(ai_first_token_timeout_seconds=0.4).stream(asking())
    first = next(stream)
    time.sleep(0.8)
    assert text_of([first, *stream]) == "One two."


def test_neither_errors_nor_logs_repeat_the_conversation(
    model_server: ModelServer, provider: OpenAIProvider, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    secret = "private words"
    failures: list[Step] = [
        HttpError(400, message=f"You said: {secret}", code=secret),
        Chunk({"error": {"message": secret, "type": secret}}),
        Raw(f"data: {secret}\n\n".encode()),
        Say(secret),
    ]
    shown = ""
    for step in failures:
        model_server.script(scenario([step, Ending(reason=None, done=False)]))
        with pytest.raises(ProviderError) as caught:
            list(provider.stream(asking(secret)))
        shown += "".join(traceback.format_exception(caught.value))
    assert secret not in shown + caplog.text
