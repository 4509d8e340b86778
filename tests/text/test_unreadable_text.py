"""A NUL, which no database keeps, in whatever is posted: refused or cleaned, never an error."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from werkzeug.routing import AnyConverter, IntegerConverter, Rule, UUIDConverter

from app.db import Database, new_id
from tests.factories import Member, make_user, sign_in

TEXT = "a\0b"
# With these as they should be, the others are looked at.
USUAL = {"role": "staff", "language": "en", "units": "us", "theme": "dark", "target": "sop",
         "email": "ann@example.com", "kind": "sop"}  # fmt: skip
NAMED = re.compile(r"""form(?:\.get|\.getlist)?[(\[]\s*"([\w-]+)"|name="([\w-]+)\"""")


def names_of_fields() -> set[str]:
    """The names of what forms post, in the code and in the templates."""
    files = [*Path("app").rglob("*.py"), *Path("templates").rglob("*.html")]
    found = (NAMED.findall(file.read_text("utf-8")) for file in files)
    return {name for pairs in found for pair in pairs for name in pair if name} - {"csrf_token"}


def address_of(app: Flask, rule: Rule) -> str:
    def value_for(converter: Any) -> Any:
        if isinstance(converter, AnyConverter):
            return min(converter.items)
        kinds = {UUIDConverter: new_id(), IntegerConverter: 1}
        return kinds.get(type(converter), "x")

    values = {name: value_for(each) for name, each in rule._converters.items()}
    return app.url_map.bind("localhost").build(rule.endpoint, values, "POST")


@pytest.mark.parametrize("usual", [{}, USUAL], ids=["everywhere", "in texts"])
def test_no_form_breaks_over_a_sign_that_no_database_keeps(
    app: Flask, owner: Database, usual: dict[str, str]
) -> None:
    boss, names = make_user(owner, role="admin"), names_of_fields()
    browser = sign_in(app, owner, boss)
    posting = [rule for rule in app.url_map.iter_rules() if "POST" in (rule.methods or ())]
    assert len(names) > 50 and len(posting) > 50
    for rule in posting:
        form = {**dict.fromkeys(names, TEXT), **usual, "csrf_token": browser.csrf_token}
        address = address_of(app, rule)
        answer = browser.client.post(address, data=form)
        assert answer.status_code < 500, address
        if answer.status_code == 401 or "/sign-in" in answer.headers.get("Location", ""):
            browser = sign_in(app, owner, boss)


@pytest.mark.parametrize("name", ["sessionId", "message_key", "timezone", "role"])
def test_a_program_is_told_that_its_message_cannot_be_read(
    app: Flask, owner: Database, member: Member, name: str
) -> None:
    browser = sign_in(app, owner, member)
    sent = {"message": "hello", name: TEXT}
    answer = browser.client.post(
        "/api/chat", json=sent, headers={"X-CSRFToken": browser.csrf_token}
    )
    assert answer.status_code in (400, 422), answer.text
