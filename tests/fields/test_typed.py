"""What is shown of a field comes back as it was; what was typed is kept as it was typed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from werkzeug.datastructures import MultiDict

from app.fields.definitions import FormField, read_fields
from app.fields.form_data import mark_of, raw_of, read_seen, read_shape, shape_of
from app.fields.values import ADDRESS_PARTS
from tests.skills.forms.filling import EVERY_TYPE

FIELDS: dict[str, FormField] = {each.type: each for each in read_fields(EVERY_TYPE)}


def sent(name: str, shape: Any) -> MultiDict[str, str]:
    """The shape as a browser sends it."""
    form: MultiDict[str, str] = MultiDict()
    if isinstance(shape, list):
        form.setlist(f"v-{name}", shape)
    elif isinstance(shape, dict) and "contact_id" in shape:
        form[f"v-{name}"], form[f"v-{name}-contact"] = shape["name"], shape["contact_id"]
    elif isinstance(shape, dict):
        form.update({f"v-{name}-{part}": text for part, text in shape.items()})
    elif shape or name != "checkbox":
        form[f"v-{name}"] = shape.replace("\n", "\r\n")
    return form


@pytest.mark.parametrize(
    ("type_", "raw", "value"),
    [
        ("text", "two  words ", "two words"),
        ("textarea", "one\ntwo", "one\ntwo"),
        ("number", "1,250.5", "1250.5"),
        ("number", 38, "38"),
        ("number", "many", None),
        ("phone", "210 555 0123", "+12105550123"),
        ("date", "2026-11-22", "2026-11-22"),
        ("datetime", "2026-11-22T15:00:00", "2026-11-22T15:00"),
        ("select", "low", "low"),
        ("checkbox", True, True),
        ("checkbox", "true", True),
        ("checkbox", None, None),
        ("multi_select", ["low", "high"], ["low", "high"]),
        ("multi_select", "low", ["low"]),
        ("address", {"line1": "1 Main St", "city": "Austin"}, None),
        ("address", "1 Main St", None),
        ("person", "John", {"name": "John Carter", "contact_id": "7"}),
        ("person", {"name": "Ann"}, {"name": "Ann"}),
        ("photo", [{"id": "a", "name": "x", "size": 1}], [{"id": "a"}]),
        ("photo", ["a", "b"], None),
        *((name, None, None) for name in FIELDS if name != "heading"),
    ],
)
def test_what_nobody_touched_comes_back_with_its_mark(type_: str, raw: Any, value: Any) -> None:
    field = FIELDS[type_]
    shape = shape_of(field, raw, value)
    back = read_shape(field, sent(field.name, shape), shape)
    assert mark_of(back) == mark_of(shape)


@pytest.mark.parametrize(
    ("type_", "form", "raw"),
    [
        ("text", {"v-text": " as typed "}, " as typed "),
        ("text", {"v-text": "nul\0s"}, "nuls"),
        ("text", {"v-text": "  "}, None),
        ("textarea", {"v-textarea": "a\r\nb"}, "a\nb"),
        ("checkbox", {"v-checkbox": "true"}, "true"),
        ("checkbox", {}, None),
        ("multi_select", {}, None),
        ("address", {"v-address-city": "Austin"}, {"city": "Austin"}),
        ("person", {"v-person": "Ann", "pick-person": "7"}, {"name": "Ann", "contact_id": "7"}),
        ("person", {"v-person": ""}, None),
        ("select", {"v-select": "", "pick-select": "low"}, "low"),
    ],
)
def test_what_was_typed_is_kept_as_it_is(type_: str, form: dict[str, str], raw: Any) -> None:
    field = FIELDS[type_]
    shape = read_shape(field, MultiDict(form), shape_of(field, None))
    assert raw_of(field, shape) == raw


@pytest.mark.fault(48)
@pytest.mark.parametrize("type_", FIELDS)
def test_a_field_keeps_at_most_64_kib_whatever_is_sent(type_: str) -> None:
    field = FIELDS[type_]
    long = "\U0001f525" * 20_000
    keys = ("v-{}", "v-{}-contact", "pick-{}", *(f"v-{{}}-{part}" for part in ADDRESS_PARTS))
    form: MultiDict[str, str] = MultiDict()
    for key in keys:
        form.setlist(key.format(field.name), [f"{n}{long}" for n in range(200)])
    raw = raw_of(field, read_shape(field, form, shape_of(field, None)))
    assert len(json.dumps(raw, ensure_ascii=False).encode()) <= 64 * 1024
    assert not isinstance(raw, list) or len(raw) <= 4


def test_one_file_or_choice_too_many_is_kept_and_can_be_told() -> None:
    for name, most in (("file", 3), ("photo", 3), ("signature", 1), ("multi_select", 2)):
        values = [f"{n}" * 36 for n in range(8)]
        form = sent(name, values)
        shape = read_shape(FIELDS[name], form, shape_of(FIELDS[name], None))
        assert shape == values[: most + 1]


def test_another_name_in_the_field_means_another_person() -> None:
    field = FIELDS["person"]
    shown = {"name": "John Carter", "contact_id": "7"}
    form = MultiDict({"v-person": "Ann Lee", "v-person-contact": "7"})
    assert read_shape(field, form, shown) == {"name": "Ann Lee", "contact_id": ""}
    form = MultiDict({"v-person": "Ann Lee", "v-person-contact": "8"})
    assert read_shape(field, form, shown) == {"name": "Ann Lee", "contact_id": "8"}


def test_what_a_page_has_seen_is_read_whatever_it_sends() -> None:
    assert read_seen(None) is None
    assert read_seen("3-abc") == (3, "abc")
    assert read_seen("") == (0, "")
    assert read_seen("x-²-y") == (0, "²-y")
