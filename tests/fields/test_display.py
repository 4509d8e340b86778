"""Values as people read them, in both languages, and as tables take them."""

from __future__ import annotations

from typing import Any

import pytest

from app.fields.definitions import FormField, read_fields
from app.fields.display import display, plain
from tests.skills.forms.filling import EVERY_TYPE

FIELDS: dict[str, FormField] = {each.type: each for each in read_fields(EVERY_TYPE)}
ADDRESS = {
    "line1": "1 Main St",
    "line2": "Apt 2",
    "city": "Austin",
    "state": "TX",
    "postal": "78701",
}


@pytest.mark.parametrize(
    ("type_", "value", "english", "spanish", "table"),
    [
        ("text", "=1+1", "=1+1", "=1+1", "=1+1"),
        ("number", "1250.5", "1,250.5 °F", "1,250.5 °F", "1250.5"),
        ("number", "-3", "-3 °F", "-3 °F", "-3"),
        ("phone", "+12105550123", "(210) 555-0123", "(210) 555-0123", "(210) 555-0123"),
        ("phone", "+525512345678", "+52 55 1234 5678", "+52 55 1234 5678", None),
        ("phone", "+12105550123;ext=45", "(210) 555-0123 ext. 45", "(210) 555-0123 ext. 45",
         "(210) 555-0123 ext. 45"),
        ("phone", "+525512345678;ext=9", "+52 55 1234 5678 ext. 9", "+52 55 1234 5678 ext. 9",
         None),
        ("date", "2026-11-22", "November 22, 2026", "22 de noviembre de 2026", "2026-11-22"),
        ("time", "15:00", "3:00 PM", "15:00", "15:00"),
        ("datetime", "2026-11-22T15:05", "November 22, 2026, 3:05 PM",
         "22 de noviembre de 2026, 15:05", "2026-11-22 15:05"),
        ("select", "high", "High", "Alta", "High"),
        ("radio", "gone", "gone", "gone", "gone"),
        ("multi_select", ["low", "high"], "Low, High", "Baja, Alta", "Low, High"),
        ("checkbox", True, "Yes", "Sí", "Yes"),
        ("checkbox", None, "No", "No", "No"),
        ("address", ADDRESS, "1 Main St\nApt 2\nAustin, TX 78701",
         "1 Main St\nApt 2\nAustin, TX 78701", None),
        ("person", {"name": "Ana Núñez", "contact_id": "7"}, "Ana Núñez", "Ana Núñez", "Ana Núñez"),
        ("file", [{"id": "1", "name": "a.pdf", "size": 1}, {"id": "2", "name": "b.pdf", "size": 1}],
         "a.pdf, b.pdf", "a.pdf, b.pdf", None),
        ("text", None, "", "", ""),
        ("datetime", None, "", "", ""),
    ],
)  # fmt: skip
def test_a_value_is_shown_in_both_languages(
    type_: str, value: Any, english: str, spanish: str, table: str | None
) -> None:
    field = FIELDS[type_]
    assert display(field, value, "en") == english
    assert display(field, value, "es") == spanish
    if table is not None:
        assert plain(field, value, "en") == table
