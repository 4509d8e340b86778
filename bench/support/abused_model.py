"""A model whose replies cost whoever reads them, for `python -m tests.model_server --script`.

A message that names one of the kinds below is answered with it; every other message is
answered after 100 ms, in a few words. Long replies are written in large pieces that are made
beforehand, so that they cost this server next to nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import islice

from tests.model_server import Call, Chunk, Ending, Raw, Say, Scenario, Step, payload_of, scenario
from tests.model_server.recording import RecordedCall

DELTAS = 20_000
WORDS = 40_000
DEPTH = 5_000
TOO_MANY_TOKENS = 2**31
AT_ONCE = 100
ANSWER = [f"token{number} " for number in range(12)]


def _deltas(pieces: Iterable[str]) -> list[Step]:
    """So many deltas without a pause, a hundred in a write."""
    pieces, steps = iter(pieces), list[Step]()
    while some := list(islice(pieces, AT_ONCE)):
        steps.append(Raw(b"".join(_event(piece) for piece in some)))
    return steps


def _event(piece: str) -> bytes:
    choice = {"index": 0, "delta": {"content": piece}, "finish_reason": None}
    body = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [choice]}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def _in_small_pieces(beginning: str, unit: str) -> list[Step]:
    """A text that begins so and goes on with the same for ever, as far as anybody knows."""
    return _deltas([beginning, *[unit] * DELTAS])


def _told(usage: dict[str, object] | None) -> list[Step]:
    """A short answer with this account of its tokens, or with none."""
    steps: list[Step] = [Say("It is noted.")]
    if usage is not None:
        steps.append(Chunk({"choices": [], "usage": usage}))
    return [*steps, Ending(usage=False)]


def _nested() -> list[Step]:
    return [Call("search_manual_v2", '{"query": ' + "[" * DEPTH + "]" * DEPTH + "}", sizes=200)]


def _counted(number: int) -> dict[str, object]:
    return {"prompt_tokens": number, "completion_tokens": number, "total_tokens": number}


KINDS: dict[str, list[list[Step]]] = {
    # A block that is ours, one that might be, and words, none of which comes to an end.
    "fenced-block": [_in_small_pieces('```json\n{"form_navigation": {"forms": [{"slug": "', "abc")],
    "open-object": [_in_small_pieces('Here: {"', '{"a')],
    "word-flood": [_deltas(f"word{number} " for number in range(WORDS))],
    # The same for a model that is asked for JSON.
    "open-thoughts": [_in_small_pieces("<think>", "hm ")],
    "thought-objects": [_in_small_pieces("<think>", '{"')],
    "answer-flood": [_in_small_pieces('{"type": "answer", "content": "', "so ")],
    # Accounts of tokens that no model gives, and arguments that no tool takes.
    "huge-usage": [_told(_counted(TOO_MANY_TOKENS))],
    "negative-usage": [_told(_counted(-TOO_MANY_TOKENS))],
    "missing-usage": [_told(None)],
    "nested-arguments": [_nested(), [Say("It is noted.")]],
}


def _names(kind: str) -> Callable[[RecordedCall], bool]:
    return lambda call: kind in _message(call)


def _message(call: RecordedCall) -> str:
    payload = payload_of(call)
    return str(payload["message"]) if payload else call.message


def _asked_in_json(call: RecordedCall) -> bool:
    return payload_of(call) is not None


_IN_JSON = json.dumps({"type": "answer", "content": "".join(ANSWER)})
SCENARIOS: list[Scenario] = [
    *(scenario(*rounds, when=_names(kind)) for kind, rounds in KINDS.items()),
    scenario(Say(_IN_JSON, sizes=12, after=0.1, delay=0.02), when=_asked_in_json),
    scenario(Say(ANSWER, after=0.1, delay=0.02)),
]
