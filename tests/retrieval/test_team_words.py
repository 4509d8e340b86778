"""A team's own words: what is meant is searched for in place of what is said."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import insert
from sqlalchemy.exc import DBAPIError

from app.accounts.models import AuditEntry
from app.db import Database, new_id
from app.errors import Conflict, Forbidden, InvalidInput, NotFound
from app.retrieval.models import TeamWord
from app.retrieval.team_words import (
    MOST_TEAM_WORDS,
    add_team_word,
    list_team_words,
    load_meanings,
    remove_team_word,
)
from app.text.synonyms import MOST_RESTATED, meanings_in, restate
from tests.factories import Member, make_user
from tests.retrieval.shelf import Shelf

MEANINGS = {"la chispa": "encendedor", "cold thing": "walk-in cooler", "cold": "cold station"}


@pytest.fixture
def admin(owner: Database, shelf: Shelf) -> Member:
    shelf.put("Light the grill with the igniter, never with a match.", "Grill igniter")
    return make_user(owner, shelf.group_id, "admin")


@pytest.mark.parametrize(
    ("text", "restated"),
    [
        ("¿Dónde está LA CHISPA?", "¿Dónde está encendedor?"),
        ("The cold-thing and the colds", "The walk-in cooler and the cold station"),
        ("the cold things are warm", "the walk-in cooler are warm"),
        ("la  chispa\nla chispa", "encendedor\nencendedor"),
        ("chispa", "chispa"),
        ("", ""),
    ],
)  # fmt: skip
def test_what_is_meant_stands_in_place_of_what_is_said(text: str, restated: str) -> None:
    assert restate(text, MEANINGS) == restated


def test_what_only_begins_alike_is_something_else() -> None:
    assert restate("soya but no creamer", {"soys": "x", "butters": "y", "cream": "z"}) == (
        "soya but no creamer"
    )


def test_of_a_phrase_that_is_said_again_and_again_only_some_are_replaced() -> None:
    restated = restate("w " * 2_000, {"w": "x" * 80})
    assert restated.count("x" * 80) == MOST_RESTATED and len(restated) < 6_000


def test_what_was_replaced_is_told_and_nothing_else() -> None:
    assert meanings_in("is la chispa here", MEANINGS) == {"la chispa": "encendedor"}
    assert meanings_in("nothing of it", MEANINGS) == {}
    assert restate("la chispa", {}) == "la chispa"
    assert restate("? !", {"?": "igniter"}) == "? !"


def test_an_admin_adds_a_word_and_takes_it_back(
    database: Database, owner: Database, admin: Member
) -> None:
    with database.session(admin.scope) as session:
        word = add_team_word(session, "  The  SPÁRK ", "Grill   igniter")
        assert (word.said, word.means) == ("the spark", "Grill igniter")
        assert load_meanings(session) == {"the spark": "Grill igniter"}
        word_id = word.id
        assert remove_team_word(session, word_id) == "the spark"
        assert list_team_words(session) == []
        with pytest.raises(NotFound):
            remove_team_word(session, word_id)
    with owner.transaction() as session:
        noted = session.query(AuditEntry).filter_by(group_id=admin.group_id).all()
        assert [one.action for one in noted] == ["team_word.add", "team_word.remove"]


@pytest.mark.parametrize(
    ("said", "means", "field"),
    [
        ("", "igniter", "said"),
        (" \u200b ", "igniter", "said"),
        ("the of", "igniter", "said"),
        ("?!", "igniter", "said"),
        ("x" * 61, "igniter", "said"),
        # The documents say "match": whoever asks for one means it.
        ("Match", "igniter", "said"),
        ("the peanut thing", "igniter", "said"),
        # Nor in another form, which would be found as its own.
        ("soys", "igniter", "said"),
        ("butters", "igniter", "said"),
        ("mantequillas", "igniter", "said"),
        ("squids", "igniter", "said"),
        ("spark", "", "means"),
        ("spark", "y" * 81, "means"),
        ("spark", "the", "means"),
        ("spark", "zorglub", "means"),
        # What a guest must not eat would be looked for, and not left out.
        ("df", "dairy free igniter", "means"),
        ("slac", "igniter sin leche", "means"),
        ("tacc", "gluten", "means"),
        # Whoever says the name of a thing means that thing.
        ("the Grill-igniters", "match", "said"),
    ],
)
def test_what_cannot_help_a_search_is_refused(
    database: Database, admin: Member, said: str, means: str, field: str
) -> None:
    with database.session(admin.scope) as session:
        with pytest.raises(InvalidInput) as refused:
            add_team_word(session, said, means)
        assert refused.value.field == field
        assert load_meanings(session) == {}


def test_the_same_words_mean_one_thing_even_when_two_write_them_at_once(
    database: Database, admin: Member
) -> None:
    def add(means: str) -> bool:
        with database.session(admin.scope) as session:
            try:
                add_team_word(session, "spark", means)
            except Conflict:
                return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(add, ["igniter", "grill", "match", "light"])) == [False] * 3 + [True]


def test_there_is_a_limit(database: Database, owner: Database, admin: Member) -> None:
    rows = [
        {"id": new_id(), "group_id": admin.group_id, "said": f"zorb{number}", "means": "igniter"}
        for number in range(MOST_TEAM_WORDS)
    ]
    with owner.transaction() as session:
        session.execute(insert(TeamWord), rows)
    with database.session(admin.scope) as session, pytest.raises(Conflict):
        add_team_word(session, "spark", "igniter")


@pytest.mark.parametrize("role", ["staff", "manager"])
def test_others_read_the_words_and_do_not_write_them(
    database: Database, owner: Database, admin: Member, role: str
) -> None:
    with database.session(admin.scope) as session:
        word_id = add_team_word(session, "spark", "igniter").id
    colleague = make_user(owner, admin.group_id, role)
    with database.session(colleague.scope) as session:
        assert load_meanings(session) == {"spark": "igniter"}
        with pytest.raises(Forbidden):
            add_team_word(session, "flint", "igniter")
        with pytest.raises(Forbidden):
            remove_team_word(session, word_id)
        with pytest.raises(DBAPIError):
            session.execute(
                insert(TeamWord).values(
                    id=new_id(), group_id=admin.group_id, said="flint", means="igniter"
                )
            )


def test_another_restaurant_has_its_own(database: Database, owner: Database, admin: Member) -> None:
    with database.session(admin.scope) as session:
        word_id = add_team_word(session, "spark", "igniter").id
    stranger = make_user(owner, role="admin")
    with database.session(stranger.scope) as session:
        assert load_meanings(session) == {}
        with pytest.raises(NotFound):
            remove_team_word(session, word_id)
