"""Searches of what people wrote: few words, texts that are folded already, and an end in time."""

from __future__ import annotations

from itertools import cycle, islice

import pytest
from flask import Flask
from sqlalchemy import column, func, select, text
from sqlalchemy.dialects import postgresql

from app import create_app
from app.config import Settings
from app.db import Database, Impatient
from app.errors import TooMany
from app.skills.forms.models import FormSubmission
from app.skills.knowledge.models import Product
from app.text.free_text import MOST_WORDS, has_words, limit_search
from app.web.pages import db_session
from tests.factories import CheckedClient, Member, make_product, make_user, sign_in
from tests.skills.forms.test_submissions import add_submissions, references
from tests.statements import noted_statements

# Each address that finds something by its words, and a table that this reads.
SEARCHES = {
    "/forms/submissions/": "form_submissions",
    "/admin/contacts/": "contacts",
    "/expenses": "expenses",
    "/requests/queue": "service_requests",
    "/library/search": "search_documents",
    "/library/dishes": "products",
    "/chats": "messages",
    "/admin/search": "search_documents",
}
A_MINUTE = 120
AS_KEPT = 16_000


@pytest.fixture
def member(owner: Database) -> Member:
    return make_user(owner, role="admin")


@pytest.fixture
def browser(app: Flask, owner: Database, member: Member) -> CheckedClient:
    return sign_in(app, owner, member)


@pytest.mark.fault(47)
def test_searching_large_forms_folds_nothing_and_looks_for_six_words(
    database: Database, member: Member, browser: CheckedClient
) -> None:
    add_submissions(database, member, 3, **{f"f{n}": "Añejo Ñandú " * 400 for n in range(100)})
    with noted_statements() as statements:
        found = browser.page("/forms/submissions/?q=" + "+".join("x" * 50))
        assert len(references(browser.page("/forms/submissions/?q=nandu+report"))) == 3
    assert references(found) == []
    asked = [each for each in statements if "FROM form_submissions" in each]
    assert asked
    assert not [each for each in asked if "fold_text" in each or "jsonb_path" in each]
    with database.transaction(member.scope) as session:
        kept = select(func.max(func.length(FormSubmission.folded)))
        assert (session.scalar(kept) or 0) <= AS_KEPT


@pytest.mark.fault(47)
def test_a_product_is_searched_in_what_is_folded_already(
    owner: Database, database: Database, member: Member, browser: CheckedClient
) -> None:
    make_product(owner, member.group_id, kind="dishes", description_en="Jalapeño " * 10_000)
    with noted_statements() as statements:
        page = browser.page("/library/dishes?q=jalapeno")
    assert "Nothing" not in page.find("h1").text
    asked = [each for each in statements if "LIKE all" in each and "FROM products" in each]
    assert asked
    assert not [each for each in asked if "strpos" in each or "jsonb_path" in each]
    with database.transaction(member.scope) as session:
        of_house = select(Product.folded).where(Product.group_id == member.group_id)
        [kept] = session.scalars(of_house)
        assert kept is not None
        assert len(kept) <= AS_KEPT
        assert "jalapeno" in kept


@pytest.mark.fault(47)
def test_of_many_words_the_first_six_count() -> None:
    condition = has_words(column("said"), [f"w{number}%" for number in range(50)])
    [patterns] = condition.compile(dialect=postgresql.dialect()).params.values()
    assert patterns == [f"%w{number}\\%%" for number in range(MOST_WORDS)]


@pytest.mark.fault(47)
@pytest.mark.parametrize(("path", "table"), SEARCHES.items())
def test_a_search_that_takes_too_long_is_ended_wherever_one_searches(
    app: Flask,
    owner: Database,
    browser: CheckedClient,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    table: str,
) -> None:
    monkeypatch.setattr("app.text.free_text.LONGEST_WAIT", 100)
    # What else a page reads of the table that is locked here.
    monkeypatch.setattr(app.extensions["comanda"].database, "statement_milliseconds", 500)
    with owner.transaction() as session:
        session.execute(text(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"))
        assert "That search takes too long." in browser.page(f"{path}?q=ladder", 429).text
    assert browser.get(f"{path}?q=ladder").status_code == 200


@pytest.mark.fault(47)
def test_searches_of_one_person_count_together(
    app: Flask, owner: Database, member: Member, browser: CheckedClient
) -> None:
    # Chats have a number of their own.
    paths = [*(path for path in SEARCHES if path != "/chats"), "/forms/", "/admin/forms/"]
    for path in islice(cycle(paths), A_MINUTE):
        assert browser.get(f"{path}?q=zzz").status_code == 200, path
    for path in paths:
        assert browser.get(f"{path}?q=zzz").status_code == 429, path
        assert browser.get(path).status_code == 200, path
    colleague = sign_in(app, owner, make_user(owner, member.group_id, role="admin"))
    assert colleague.get("/forms/submissions/?q=zzz").status_code == 200


@pytest.mark.fault(47)
def test_of_one_persons_searches_one_runs_at_a_time(
    database: Database, owner: Database, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six of somebody with 100,000 expenses kept both cores of the database busy."""
    monkeypatch.setattr("app.text.free_text.LONGEST_WAIT", 300)
    colleague = make_user(owner, member.group_id)
    with database.transaction(member.scope) as first, limit_search(first):
        with database.transaction(colleague.scope) as other, limit_search(other):
            pass
        with database.transaction(member.scope) as export, limit_search(export, alone=False):
            pass
        with (
            pytest.raises(TooMany),
            database.transaction(member.scope) as second,
            limit_search(second),
        ):
            pass
    with database.transaction(member.scope) as third, limit_search(third):
        pass


def test_what_follows_a_search_has_the_usual_time_again(database: Database, member: Member) -> None:
    slow = text("SELECT pg_sleep(0.2)")
    with database.session(member.scope) as session:
        with session.patience(50):
            session.execute(text("SELECT 1"))
        session.execute(slow)
        with pytest.raises(Impatient), session.patience(50):
            session.execute(slow)
        session.execute(slow)


@pytest.mark.fault(47)
def test_a_statement_of_a_page_that_takes_too_long_is_ended_with_503(
    settings: Settings, database: Database
) -> None:
    app = create_app(settings.model_copy(update={"statement_timeout_seconds": 0.1}))

    def sleep() -> str:
        db_session().execute(text("SELECT pg_sleep(60)"))
        return "slept"

    app.add_url_rule("/sleep", view_func=sleep)
    browser = CheckedClient(app.test_client())
    assert "That took too long." in browser.page("/sleep", 503).text
    assert browser.get("/sign-in").status_code == 200
    limit = text("SELECT current_setting('statement_timeout')")
    with app.extensions["comanda"].database.transaction() as session:
        assert session.scalar(limit) == "100ms"
    # Runners and jobs take their time.
    with database.transaction() as session:
        assert session.scalar(limit) == "0"
    app.extensions["comanda"].database.engine.dispose()
