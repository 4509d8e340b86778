"""A scripted server that speaks OpenAI's wire format over real HTTP.

It stands in for the language model in tests, in benchmarks and when trying things out by
hand (`python -m tests.model_server`). How the model behaves is said in scripts.
"""

from tests.model_server.assistant import PlausibleAssistant
from tests.model_server.json_protocol import InJson, complaint_of, payload_of
from tests.model_server.plain import plain_server
from tests.model_server.recording import RecordedCall
from tests.model_server.script import (
    Call,
    Chunk,
    CutAfter,
    Delta,
    Ending,
    HttpError,
    Page,
    Raw,
    Say,
    Scenario,
    Script,
    Stall,
    Step,
    benchmark,
    scenario,
    split,
)
from tests.model_server.server import ModelServer

__all__ = [
    "Call",
    "Chunk",
    "CutAfter",
    "Delta",
    "Ending",
    "HttpError",
    "InJson",
    "ModelServer",
    "Page",
    "PlausibleAssistant",
    "Raw",
    "RecordedCall",
    "Say",
    "Scenario",
    "Script",
    "Stall",
    "Step",
    "benchmark",
    "complaint_of",
    "payload_of",
    "plain_server",
    "scenario",
    "split",
]
