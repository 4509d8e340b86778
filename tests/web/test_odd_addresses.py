"""Whatever stands after the question mark of any page, the page answers, and never with 500."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from werkzeug.routing import Rule

from app.admin.search_inspector_views import FILTERS
from app.assistant.threads.threads import latest_messages
from app.db import Database, new_id
from app.extensions import limiter
from app.web.pages import MOST_PAGES
from tests.factories import (
    CheckedClient,
    Member,
    make_product,
    make_section,
    make_thread,
    make_user,
    sign_in,
)

READ = re.compile(r"\b(?:args|said|values)\.get\(\s*\"(\w+)\"")
# What is read by another module than the page's own.
READ_ELSEWHERE = {
    "knowledge.menu": ("q", "category", "tag", "without", "up_to", "sort", "page"),
    "menu.allergens": ("page",),
    "imports.show": ("page",),
    "inspector.index": (*FILTERS, "free_of"),
    "inbox.index": ("state", "rating", "reason"),
    "inbox.unanswered": ("state", "rating", "reason"),
}
ODD = (
    "%00",
    "a%00b",
    "9" * 21,
    f"-{'9' * 21}",
    "-1",
    "\xff\xfe",
    "%ED%A0%80",
    "x" * 10_000,
    "9999-12-31T23:59:59-14:00",
    "'%25_\\%22<",
)
# Of a kind with one of the others: `make soak` walks through all pages with these, too.
ALIKE = {"a%00b", f"-{'9' * 21}", "-1", "%ED%A0%80"}
ANSWERS = {200, 204, 301, 302, 303, 400, 404, 422}


@pytest.fixture(scope="module")
def boss(owner: Database) -> Member:
    return make_user(owner, role="admin")


@pytest.fixture(scope="module")
def browser(app: Flask, owner: Database, boss: Member) -> Iterator[CheckedClient]:
    """An admin's, whom no limit stops."""
    limiter.enabled = False
    yield sign_in(app, owner, boss)
    limiter.enabled = True


@pytest.fixture(scope="module")
def places(owner: Database, database: Database, boss: Member) -> dict[str, Any]:
    """What the addresses of the pages are filled with: things that are there, where it matters."""
    section = make_section(owner, boss.group_id, "ribeye", "Ribeye")
    product = make_product(owner, boss.group_id, slug="ribeye")
    thread_id = make_thread(database, boss, "How long?")
    with database.transaction(boss.scope) as session:
        reply = latest_messages(session, thread_id)[-1]
    return {
        "slug": "ribeye",
        "kind": "dishes",
        "section_id": section.id,
        "source_id": section.id,
        "product_id": product.id,
        "thread_id": thread_id,
        "message_id": reply.id,
        "turn_id": reply.turn_id,
        "extension": "md",
        "number": 1,
        "token": "x",
        "index": 0,
        "document": 0,
        "place": 0,
    }


def pages_of(app: Flask) -> list[Rule]:
    """The rules of everything that a browser can ask for, but files, figures and a probe's page.

    The probe's says how busy the house is, and beside other tests it may be: it answers 503 then.
    """
    left_out = ("static", "favicon", "metrics_page.metrics", "health.ready")
    return [
        rule
        for rule in app.url_map.iter_rules()
        if "GET" in (rule.methods or ()) and rule.endpoint not in left_out
    ]


def address_of(app: Flask, rule: Rule, places: dict[str, Any]) -> str:
    values = {name: places.get(name, new_id()) for name in rule.arguments}
    with app.test_request_context():
        return app.url_for(rule.endpoint, **values)


def names_read_by(app: Flask, rule: Rule) -> list[str]:
    module = inspect.getmodule(inspect.unwrap(app.view_functions[rule.endpoint]))
    assert module is not None
    own = READ.findall(inspect.getsource(module))
    return sorted({*own, *READ_ELSEWHERE.get(rule.endpoint, ())})


def queries_of(names: list[str], value: str) -> list[str]:
    """Each name with this value, and those that every page reads in one query."""
    return [*(f"{name}={value}" for name in names), f"lang={value}&next={value}&odd={value}"]


def status_of(browser: CheckedClient, address: str, query: str) -> int:
    """The status of the answer, which is read to its end where it has one."""
    with browser.get(address, environ_overrides={"QUERY_STRING": query}) as answer:
        if answer.mimetype != "text/event-stream":
            answer.get_data()
        return answer.status_code


def test_the_names_that_pages_read_are_found(app: Flask) -> None:
    rules = {rule.endpoint: rule for rule in pages_of(app)}
    assert len(rules) > 40
    assert {"before", "status", "days"} <= set(names_read_by(app, rules["admin.turns"]))
    assert {"at", "before", "edit"} <= set(names_read_by(app, rules["chat.thread"]))
    assert "q" in names_read_by(app, rules["history.index"])
    assert set(READ_ELSEWHERE) <= set(rules)


@pytest.mark.parametrize(
    "value",
    [pytest.param(each, marks=[pytest.mark.soak] * (each in ALIKE)) for each in ODD],
    ids=lambda value: ascii(value[:24]),
)
def test_no_page_breaks_at_what_an_address_says(
    app: Flask, browser: CheckedClient, places: dict[str, Any], value: str
) -> None:
    statuses = {
        f"{rule.endpoint}?{query}": status_of(browser, address_of(app, rule, places), query)
        for rule in pages_of(app)
        for query in queries_of(names_read_by(app, rule), value)
    }
    assert {asked: status for asked, status in statuses.items() if status not in ANSWERS} == {}


def test_bytes_that_are_no_text_do_not_break_the_way_to_signing_in(app: Flask) -> None:
    answer = app.test_client().get("/library/", environ_overrides={"QUERY_STRING": "q=\xff"})
    assert answer.status_code == 303


@pytest.mark.parametrize("number", ["0", "-3", "x", "", "9" * 30, "9" * 5_000])
def test_a_page_that_no_list_has_is_the_first_or_an_empty_one(
    browser: CheckedClient, places: dict[str, Any], number: str
) -> None:
    page = browser.page(f"/library/dishes?page={number}")
    assert ("Ribeye" in page.text) is (len(number) != 30)
    if len(number) == 30:
        assert page.find_all("a", href=f"/library/dishes?page={MOST_PAGES - 1}")
