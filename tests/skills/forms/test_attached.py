"""Files as values of a form: only one's own, only what the field takes, and only so many."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pytest

from app.db import utc_now
from app.fields.definitions import MIB, read_fields
from app.fields.values import Attachment, FieldContext, Problem, read_value
from tests.skills.forms.filling import field

FILES = {
    "a": Attachment("a", "a.jpg", 100, "image/jpeg", "image"),
    "b": Attachment("b", "b.pdf", 3 * MIB, "application/pdf", "pdf"),
    "c": Attachment("c", "c.txt", 100, "text/plain", "text"),
}
AROUND = FieldContext(utc_now(), ZoneInfo("UTC"), find_file=FILES.get)


def read(type_: str, raw: Any, **facts: Any) -> Any:
    [field_] = read_fields([field(type_, **facts)])
    return read_value(field_, raw, AROUND)


def test_files_are_kept_in_their_order_and_each_once() -> None:
    found = read("file", ["b", "", "a", {"id": "b"}])
    assert [each["name"] for each in found] == ["b.pdf", "a.jpg"]
    assert read("photo", ["", ""]) is None
    assert read("signature", "a") == [{"id": "a", "name": "a.jpg", "size": 100}]


@pytest.mark.parametrize(
    ("type_", "raw", "facts", "words"),
    [
        ("photo", ["b"], {}, "This type of file can't be added here"),
        ("signature", ["b"], {}, "This type of file can't be added here"),
        ("file", ["c"], {}, "This type of file can't be added here"),
        ("file", ["b"], {"largest_mib": 2}, "larger than"),
        ("file", ["a", "b"], {"most": 1}, "At most"),
        ("signature", ["a", "b"], {}, "At most"),
        ("photo", ["gone"], {}, "This file is no longer there"),
    ],
)
def test_what_a_field_does_not_take_is_said(
    type_: str, raw: list[str], facts: dict[str, Any], words: str
) -> None:
    with pytest.raises(Problem, match=words):
        read(type_, raw, **facts)
