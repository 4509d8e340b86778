"""The types of request that a house begins with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy import select

from app.db import Database
from app.demo import HERE, load_requests
from app.fields.definitions import Words
from app.skills.service_requests.models import PRIORITIES, RequestTeam, RequestType, TeamMember
from app.skills.service_requests.services.definitions import (
    PRIORITY,
    QUESTIONS_ASKED,
    REQUEST_FIELD_TYPES,
    TITLE,
    read_request_fields,
)
from app.skills.service_requests.services.starters import (
    Starter,
    add_starters,
    fields_of,
    read_starters,
    read_teams,
)
from app.skills.service_requests.services.type_catalog import load_form, load_tree, submittable
from app.web.icons import SHAPES
from tests.factories import Member, make_group, make_user

TYPES = [each for each in read_starters().values() if each.category]


@pytest.mark.parametrize("starter", TYPES, ids=[each.slug for each in TYPES])
def test_every_type_is_whole_in_both_languages(starter: Starter) -> None:
    fields = read_request_fields(fields_of(starter))
    assert [each.field.name for each in fields[:2]] == [TITLE, PRIORITY]
    assert {each.step for each in fields[:2]} == {"main"}
    said: list[Words] = [starter.name, starter.description]
    for each in fields:
        said.append(each.field.label)
        said += [option.label for option in getattr(each.field, "options", ())]
    said += [Words.model_validate(each["ask"]) for each in starter.questions]
    assert all(each.en and each.es for each in said)
    assert len(starter.questions) >= QUESTIONS_ASKED
    assert {each.get("unless", "") for each in starter.questions} <= {
        "", *(each.field.name for each in fields)
    }  # fmt: skip
    assert starter.icon in SHAPES and starter.priority in PRIORITIES
    assert starter.team in read_teams() and starter.words["en"] and starter.words["es"]


def test_together_they_use_every_type_of_field_and_conditions() -> None:
    fields = [each.field for starter in TYPES for each in read_request_fields(fields_of(starter))]
    assert {field.type for field in fields} == set(REQUEST_FIELD_TYPES)
    assert any(field.show_if for field in fields)
    categories = [each for each in read_starters().values() if not each.category]
    assert [each.slug for each in categories][:2] == ["maintenance", "it"]


def test_a_house_is_given_them_once_and_what_it_has_changed_stays(owner: Database) -> None:
    group_id = make_group(owner)
    with owner.transaction() as session:
        assert add_starters(session, group_id) == len(TYPES)
    with owner.transaction() as session:
        query = select(RequestType).where(
            RequestType.group_id == group_id, RequestType.slug == "refrigeration"
        )
        session.scalars(query).one().name_en = "Cold things"
    with owner.transaction() as session:
        assert add_starters(session, group_id) == 0
        assert session.scalars(query).one().name_en == "Cold things"


def test_only_the_types_that_are_named_come_with_their_categories_and_teams(
    owner: Database,
) -> None:
    admin = make_user(owner, role="admin")
    other = make_user(owner)
    with owner.transaction() as session:
        emails = [admin.email.upper(), other.email, "nobody@example.com"]
        add_starters(session, admin.group_id, ["plumbing"], {"maintenance": emails})
        add_starters(session, admin.group_id, ["plumbing"], {"maintenance": []})
    with owner.session(admin.scope) as session:
        [category] = load_tree(session)
        [type_] = category.children
        assert (category.slug, type_.slug, category.is_submittable) == (
            "maintenance", "plumbing", False
        )  # fmt: skip
        form = load_form(session, type_.id)
        assert [words.en for words in form.path] == ["Maintenance"]
        assert form.by_name(TITLE) and form.by_name(PRIORITY)
        [team] = session.scalars(
            select(RequestTeam).where(RequestTeam.group_id == admin.group_id)
        ).all()
        members = select(TeamMember.user_id).where(TeamMember.team_id == team.id)
        assert session.scalars(members).all() == [admin.user_id]


def test_the_demo_has_its_types_and_people_and_loads_twice(owner: Database) -> None:
    for folder, count in (("alamo_prime", 15), ("casa_lucero", 3)):
        member: Member = make_user(owner, role="admin")
        for _ in range(2):
            with owner.transaction() as session:
                load_requests(session, member.group_id, HERE / folder)
        with owner.session(member.scope) as session:
            assert len(submittable(load_tree(session))) == count


def written(folder: Path, **type_: Any) -> Path:
    content = {
        "slug": "odd",
        "name": {"en": "Odd"},
        "icon": "wrench",
        "types": [{"slug": "one", "name": {"en": "One"}, "icon": "wrench", **type_}],
    }
    (folder / "odd.yaml").write_text(yaml.safe_dump(content), "utf-8")
    (folder / "teams.yaml").write_text("[]", "utf-8")
    return folder


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"fields": [{"type": "signature", "name": "x", "label": {"en": "X"}}]}, "signature"),
        ({"fields": [{"type": "text", "name": "title", "label": {"en": "X"}}]}, "title"),
        ({"fields": [{"type": "text", "name": "x", "label": {"en": "X"}, "step": "up"}]}, "step"),
        ({"fields": [], "questions": [{"ask": "Why?"}]}, "ask"),
        ({"fields": [], "slug": "odd"}, "odd"),
    ],
)
def test_a_file_that_holds_no_type_is_refused(
    tmp_path: Path, wrong: dict[str, Any], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        read_starters(written(tmp_path, **wrong))


def test_a_type_of_ones_own_folder_is_added_without_a_team(owner: Database, tmp_path: Path) -> None:
    group_id = make_group(owner)
    with owner.transaction() as session:
        assert add_starters(session, group_id, folder=written(tmp_path, fields=[])) == 1
        with pytest.raises(KeyError):
            add_starters(session, group_id, ["two"], folder=tmp_path)
