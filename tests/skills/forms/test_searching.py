"""The search for forms: which are found, in which order, and for whom."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.db import Database, Scope, new_id
from app.skills.forms.services import search
from app.skills.forms.services.search import FoundForm, find_by_slugs, search_forms
from tests.factories import Member, make_form, make_group, make_house_forms, make_user

Search = Callable[..., list[FoundForm]]


@pytest.fixture(scope="module")
def member(owner: Database) -> Member:
    """Somebody of a house with the six forms."""
    member = make_user(owner)
    make_house_forms(owner, member.group_id)
    return member


@pytest.fixture
def find(database: Database, member: Member) -> Search:
    """Searches as that person, or in another scope."""

    def search_as(
        query: str, language: str = "en", scope: Scope | None = None, limit: int = 5
    ) -> list[FoundForm]:
        with database.transaction(scope or member.scope) as session:
            return search_forms(session, query, language, limit)

    return search_as


def slugs(found: list[FoundForm]) -> list[str]:
    return [form.slug for form in found]


@pytest.mark.parametrize(
    ("query", "language", "wanted"),
    [
        ("injury report", "en", ["employee-injury-report"]),
        ("amonestacion empleado", "es", ["employee-write-up"]),
        ("amonestación empleado", "es", ["employee-write-up"]),
        ("AMONESTACIÓN de un empleado", "en", ["employee-write-up"]),
        ("reporte de lesión", "en", ["employee-injury-report"]),
        ("write up", "en", ["employee-write-up"]),
        ("the injury report form", "en", ["employee-injury-report"]),
        ("formulario de queja", "es", ["guest-complaint"]),
        ("complaints", "en", ["guest-complaint"]),
        ("pizza recipe", "en", []),
        ("expense report", "en", []),
        ("form", "en", []),
        ("formularios", "es", []),
        ("the of and", "en", []),
        ("something", "en", []),
        ("'; DROP TABLE form_templates; -- & | !", "en", []),
        ("\N{PILE OF POO}", "en", []),
    ],
)
def test_every_word_that_matters_must_be_there(
    find: Search, query: str, language: str, wanted: list[str]
) -> None:
    assert slugs(find(query, language)) == wanted


@pytest.mark.parametrize("language", ["en", "es"])
def test_employee_finds_the_two_forms_about_employees_and_no_other(
    find: Search, language: str
) -> None:
    wanted = {"employee-injury-report", "employee-write-up"}
    assert set(slugs(find("employee", language))) == wanted
    assert set(slugs(find("empleado", language))) == wanted


def test_what_is_found_is_in_the_language_asked_with_its_hits(find: Search) -> None:
    [english] = find("injury hurt", "en")
    assert english.title == "Employee injury report"
    assert english.description == "For when somebody on the team gets hurt at work."
    assert english.hits == ("hurt",)
    assert english.icon == "first-aid"
    assert english.score > 0
    [spanish] = find("injury hurt", "es")
    assert spanish.title == "Reporte de lesión de un empleado"
    assert spanish.hits == ()
    [spanish] = find("lesion equipo", "es")
    assert spanish.hits == ("equipo",)


def test_a_title_in_the_language_asked_counts_most(owner: Database, find: Search) -> None:
    member = make_user(owner)
    make_form(owner, member.group_id, "b-title", title_en="Locker key", title_es="Llave")
    make_form(
        owner,
        member.group_id,
        "a-description",
        title_en="Inventory",
        title_es="Inventario",
        description_en="Count each locker.",
        description_es="Locker por locker.",
    )
    found = find("locker", "en", member.scope)
    assert slugs(found) == ["b-title", "a-description"]
    assert found[0].score > found[1].score
    assert slugs(find("locker", "es", member.scope)) == ["a-description", "b-title"]


def test_at_most_five_are_found(owner: Database, find: Search) -> None:
    member = make_user(owner)
    for number in range(7):
        make_form(owner, member.group_id, f"check-{number}", title_en=f"Locker check {number}")
    assert len(find("locker check", "en", member.scope)) == 5
    assert len(find("locker check", "en", member.scope, limit=2)) == 2


def test_only_published_forms_are_found(owner: Database, find: Search) -> None:
    member = make_user(owner)
    for status in ("draft", "archived"):
        make_form(owner, member.group_id, f"{status}-form", title_en="Key request", status=status)
    assert find("key request", "en", member.scope) == []


def test_a_shared_form_is_found_until_the_group_has_its_own(
    owner: Database, find: Search, member: Member
) -> None:
    word = f"zebra{new_id().hex[:8]}"
    make_form(owner, None, f"shared-{word}", title_en=f"{word} shared")
    assert [form.title for form in find(word)] == [f"{word} shared"]
    make_form(owner, member.group_id, f"shared-{word}", title_en=f"{word} ours")
    assert [form.title for form in find(word)] == [f"{word} ours"]


def test_another_groups_forms_are_not_found(owner: Database, find: Search) -> None:
    stranger = make_user(owner)
    assert find("injury report", "en", stranger.scope) == []


def test_a_group_that_does_not_exist_finds_nothing_not_even_what_is_shared(
    owner: Database, find: Search
) -> None:
    word = f"okapi{new_id().hex[:8]}"
    make_form(owner, None, word, title_en=f"{word} shared")
    assert find(word, "en", Scope(new_id(), new_id(), "staff")) == []
    with owner.transaction(Scope(new_id())) as session:
        assert search_forms(session, word, "en") == []
        assert search_forms(session, "injury report", "en") == []


def test_without_a_group_the_owner_searches_every_group(owner: Database) -> None:
    word = f"tapir{new_id().hex[:8]}"
    groups = {make_group(owner), make_group(owner)}
    for group_id in groups:
        make_form(owner, group_id, "tapir", title_en=f"{word} form")
    with owner.transaction() as session:
        assert len(search_forms(session, word, "en")) == 2


def test_without_the_predicate_row_level_security_still_keeps_groups_apart(
    owner: Database, database: Database, find: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    stranger = make_user(owner)
    make_form(owner, stranger.group_id, "foreign", title_en="Injury report of theirs")
    monkeypatch.setattr(search, "which_forms", lambda session: ("true", {}))
    assert "foreign" not in slugs(find("injury report"))
    with database.transaction(stranger.scope) as session:
        assert [f.slug for f in search_forms(session, "injury report", "en")] == ["foreign"]
    assert find("injury report", "en", Scope()) == []


def test_the_fields_of_a_form_are_no_part_of_what_is_found(find: Search) -> None:
    [found] = find("injury report")
    assert "fields" not in vars(found)
    assert find("who was hurt") != []  # "hurt" stands in the description
    assert find("cuándo") == []


def test_the_index_serves_whoever_searches_every_group(owner: Database) -> None:
    with owner.transaction() as session:
        session.connection().exec_driver_sql("SET LOCAL enable_seqscan = off")
        statement = "SELECT id FROM form_templates WHERE search_en @@ 'injury'::tsquery"
        plan = str(session.connection().exec_driver_sql(f"EXPLAIN {statement}").scalars().all())
    assert "ix_form_templates_search" in plan


def test_forms_are_loaded_by_their_addresses_in_order(database: Database, member: Member) -> None:
    with database.transaction(member.scope) as session:
        wanted = ["guest-complaint", "no-such-form", "incident-report", "guest-complaint"]
        found = find_by_slugs(session, wanted, "es")
    assert slugs(found) == ["guest-complaint", "incident-report"]
    assert found[0].title == "Queja de un cliente"
