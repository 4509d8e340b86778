"""Everything at once, as `make bench ARGS=chaos` does it too."""

from __future__ import annotations

import json

import pytest

from bench.chaos import measure


@pytest.mark.soak
@pytest.mark.fault(1)
@pytest.mark.timeout(600)
def test_two_hundred_streams_in_chaos_lose_double_and_reorder_nothing() -> None:
    """Client drops, a web worker and a runner killed, Redis frozen for two seconds."""
    counts = measure([])
    print(json.dumps(counts, indent=2))
    assert counts["met"], counts
