"""What is no value of any field."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pytest

from app.db import utc_now
from app.fields.definitions import read_fields
from app.fields.values import Surroundings, read_value
from tests.skills.forms.filling import EVERY_TYPE

FIELDS = {each.type: each for each in read_fields(EVERY_TYPE)}


UNSEEN = ["", " ", "\0", "\u200b"]
GIVEN = [
    *(("text", each) for each in UNSEEN),
    *(("textarea", each) for each in UNSEEN),
    *(("file", each) for each in [*UNSEEN, [], ["\0"]]),
    ("address", {}),
    ("address", {"line1": "\0"}),
]


@pytest.mark.parametrize(("type_", "raw"), GIVEN)
def test_what_cannot_be_seen_is_none(type_: str, raw: Any) -> None:
    around = Surroundings(utc_now(), ZoneInfo("UTC"))
    assert read_value(FIELDS[type_], raw, around) is None
