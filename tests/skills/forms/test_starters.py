"""The starter forms, and the people that the demo's forms may name."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select, text

from app.db import Database
from app.demo import HERE, load_forms
from app.fields.definitions import FIELD_TYPES, Words, dump_fields, read_fields
from app.skills.forms.models import Contact, FormTemplate
from app.skills.forms.services.contact_names import find_people
from app.skills.forms.services.starters import Starter, add_starters, read_starters
from tests.factories import make_group, make_user

SEEDED = {
    "employee-injury-report", "employee-write-up", "incident-report", "temperature-log",
    "equipment-failure", "guest-complaint",
}  # fmt: skip
STARTERS = list(read_starters().values())
FOUND = text(
    "SELECT slug FROM form_templates WHERE group_id = :group_id AND status = 'published'"
    " AND form_stems(:query) <> ''::tsvector AND search_en @@ ("
    "  SELECT string_agg(quote_literal(lexeme), ' & ')::tsquery FROM unnest(form_stems(:query)))"
)


@pytest.mark.parametrize("starter", STARTERS, ids=[starter.slug for starter in STARTERS])
def test_every_starter_is_whole_in_both_languages(starter: Starter) -> None:
    assert read_fields(dump_fields(starter.fields)) == starter.fields
    assert 8 <= len(starter.fields) <= 20
    options = [o.label for field in starter.fields for o in getattr(field, "options", ())]
    labels = [field.label for field in starter.fields]
    for words in (starter.title, starter.description, *labels, *options):
        assert isinstance(words, Words)
        assert words.en and words.es


def test_together_they_use_every_type_of_field_and_conditions() -> None:
    fields = [field for starter in STARTERS for field in starter.fields]
    assert {field.type for field in fields} == set(FIELD_TYPES)
    assert any(field.show_if for field in fields)
    assert read_starters().keys() > SEEDED


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("injury report", {"employee-injury-report"}),
        ("amonestacion empleado", {"employee-write-up"}),
        ("amonestación empleado", {"employee-write-up"}),
        ("employee", {"employee-injury-report", "employee-write-up"}),
        ("empleado", {"employee-injury-report", "employee-write-up"}),
        ("write up", {"employee-write-up"}),
        ("incident", {"incident-report"}),
        ("queja", {"guest-complaint"}),
        ("pizza recipe", set()),
    ],
)
def test_the_seeded_forms_are_found_by_their_words(
    owner: Database, query: str, wanted: set[str]
) -> None:
    group_id = make_group(owner)
    with owner.transaction() as session:
        add_starters(session, group_id, SEEDED)
        found = session.execute(FOUND, {"group_id": group_id, "query": query})
        assert set(found.scalars()) == wanted


def test_loading_the_demos_forms_again_changes_nothing(owner: Database) -> None:
    group_id = make_group(owner)
    for _ in range(2):
        with owner.transaction() as session:
            load_forms(session, group_id, HERE / "alamo_prime")
    with owner.transaction() as session:
        slugs = session.scalars(select(FormTemplate.slug).where(FormTemplate.group_id == group_id))
        people = select(func.count()).where(Contact.group_id == group_id)
        assert set(slugs) == read_starters().keys()
        assert session.scalar(people) == 14


def test_a_form_that_the_house_has_changed_stays_as_it_is(owner: Database) -> None:
    group_id = make_group(owner)
    with owner.transaction() as session:
        add_starters(session, group_id, ["guest-complaint"])
        template = session.scalars(
            select(FormTemplate).where(FormTemplate.group_id == group_id)
        ).one()
        template.title_en = "Our own"
    with owner.transaction() as session:
        add_starters(session, group_id, ["guest-complaint"])
        titles = select(FormTemplate.title_en).where(FormTemplate.group_id == group_id)
        assert session.scalars(titles).all() == ["Our own"]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("John", ["John Miller"]),
        ("juan", ["Juan Pérez"]),
        ("maria", ["María Salas", "María Torres"]),
        ("Hernandez", ["Diego Hernández", "Lucía Hernández"]),
        ("Nobody", []),
    ],
)
def test_a_name_means_those_contacts_of_the_demo(
    owner: Database, database: Database, name: str, wanted: list[str]
) -> None:
    member = make_user(owner)
    with owner.transaction() as session:
        load_forms(session, member.group_id, HERE / "alamo_prime")
    with database.transaction(member.scope) as session:
        assert sorted(person.name for person in find_people(session, name)) == wanted
