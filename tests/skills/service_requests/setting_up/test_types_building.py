"""A type's page: its words, fields and questions, versions, and two who save at once."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from app.db import Database
from app.skills.service_requests.models import RequestType, RequestTypeVersion
from app.skills.service_requests.services.definitions import (
    REQUEST_FIELD_TYPES,
    read_questions,
    read_request_fields,
)
from app.skills.service_requests.services.starters import add_starters
from app.skills.service_requests.services.type_catalog import load_form
from app.skills.service_requests.services.types import MOST_WORDS_IN_ALL, kept_content
from tests.factories import CheckedClient, Member, make_user
from tests.skills.service_requests.setting_up.making import (
    OPTIONS,
    QUESTIONS,
    field,
    path_of,
    press,
    put_category,
    put_team,
    put_type,
    stored,
    types_of,
    versions_of,
    work_on,
)
from tests.statements import noted_statements


def ids_of(type_: RequestType) -> dict[str, UUID]:
    return {each.field.name: each.field_id for each in read_request_fields(type_.fields)}


def test_what_a_type_says_of_itself_is_saved_as_its_next_version(
    owner: Database, admin: Member, browser: CheckedClient, type_: RequestType
) -> None:
    team = put_team(owner, admin.group_id, "Fixers")
    category = put_category(owner, admin.group_id, "Kitchen")
    page = browser.page(path_of(type_))
    # Nothing was changed: nothing is saved.
    assert "Saved." in press(browser, page, type_, "save").text
    page = press(
        browser, page, type_, "save", name_en="Ice", name_es="Hielo", description_en="No ice",
        icon="wrench", parent_id=str(category.id), team_id=str(team.id), priority="urgent",
        sla_hours=" 4 ", words_en="ice machine\n\n  no   ice \nice machine", words_es="sin hielo",
    )  # fmt: skip
    assert "Saved as version 2." in page.text
    now = stored(owner, type_)
    assert (now.name_en, now.name_es, now.description_en, now.icon) == (
        "Ice", "Hielo", "No ice", "wrench"
    )  # fmt: skip
    assert (now.parent_id, now.team_id) == (category.id, team.id)
    assert (now.priority, now.sla_hours, now.version) == ("urgent", 4, 2)
    assert now.words == {"en": ["ice machine", "no ice"], "es": ["sin hielo"]}
    assert now.edited_by == admin.user_id and ids_of(now) == ids_of(type_)
    assert [each.version for each in versions_of(owner, type_)] == [1, 2]


def test_no_starter_is_unsaved_because_it_was_opened(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    with owner.transaction() as session:
        add_starters(session, admin.group_id)
    for type_ in types_of(owner, admin.group_id):
        page = browser.page(path_of(type_))
        assert "Not saved yet" not in page.text, type_.slug
        if type_.is_submittable:
            page = press(browser, page, type_, f"open:{type_.fields[-1]['name']}")
            assert "Saved." in press(browser, page, type_, "save").text, type_.slug
            assert stored(owner, type_).version == 1


def test_every_type_of_field_opens_and_is_saved_as_it_was(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    choosing = {"select": {"options": OPTIONS}, "radio": {"options": OPTIONS}}
    fields = [
        field(each, each, step="where", **choosing.get(each, {})) for each in REQUEST_FIELD_TYPES
    ]
    type_ = put_type(owner, admin.group_id, *fields)
    page = browser.page(path_of(type_))
    for each in REQUEST_FIELD_TYPES:
        page = press(browser, page, type_, f"open:{each}")
        assert work_on(page)["x-step"] == "where"
    page = press(browser, page, type_, "save", name_en="Another")
    assert "Saved as version 2." in page.text
    now = stored(owner, type_)
    assert read_request_fields(now.fields) == read_request_fields(type_.fields)
    # Only what a request can ask for is offered.
    offered = [each.attributes["value"] for each in page.find_all("button", name="do")]
    adding = {each.removeprefix("add:") for each in offered if each.startswith("add:")}
    assert adding == set(REQUEST_FIELD_TYPES)


def test_a_field_is_added_with_its_step_and_keeps_its_id_from_then_on(
    owner: Database, database: Database, admin: Member, browser: CheckedClient, type_: RequestType
) -> None:
    page = press(browser, browser.page(path_of(type_)), type_, "add:phone")
    page = press(browser, page, type_, "save", x__label_en="Call back", x__step="contact")
    assert "Saved as version 2." in page.text
    added = stored(owner, type_)
    assert ids_of(added).keys() == {"title", "priority", "where", "what", "call_back"}
    page = press(browser, page, type_, "open:call_back")
    press(browser, page, type_, "save", x__label_en="Your number", x__required="on")
    again = stored(owner, type_)
    assert ids_of(again) == ids_of(added) and again.version == 3
    with database.session(admin.scope) as session:
        form = load_form(session, type_.id)
        found = form.by_id(ids_of(again)["call_back"])
        assert found and found.step == "contact" and found.field.required
        # What was begun before goes on with what it was begun with.
        assert load_form(session, type_.id, 1).by_name("call_back") is None
        old = load_form(session, type_.id, 2).by_name("call_back")
        assert old and old.field.label.en == "Call back" and not old.field.required


def test_title_and_priority_stay_what_and_where_they_are(
    owner: Database, browser: CheckedClient, type_: RequestType
) -> None:
    page = browser.page(path_of(type_))
    for verb in ("up", "down", "remove", "copy"):
        assert not page.find_all("button", id=f"{verb}-title")
    for do in ("remove:title", "down:title", "copy:priority", "up:where"):
        page = press(browser, page, type_, do)
    page = press(browser, page, type_, "open:title")
    assert not page.find_all("input", id="x-max_length")
    forged = '{"key":"priority","type":"number","typed":{"label_en":"Hurry"},"removed":true}'
    rows = [each for each in work_on(page)["row"] if '"key":"priority"' not in each]
    page = press(
        browser, page, type_, "save", row=[*rows, forged], x__label_en="In short", x__max_length="5"
    )
    assert "Saved as version 2." in page.text
    title, priority = read_request_fields(stored(owner, type_).fields)[:2]
    before = read_request_fields(type_.fields)
    assert (title.field_id, priority.field_id) == (before[0].field_id, before[1].field_id)
    assert title.field.label.en == "In short" and title.field.type == "text"
    assert priority.field.label.en == "Hurry" and priority.field.type == "radio"
    names = [each["name"] for each in stored(owner, type_).fields]
    assert names == ["title", "priority", "where", "what"]
    assert title.field == before[0].field.model_copy(update={"label": title.field.label})


def test_what_is_wrong_is_told_at_its_place_and_all_that_was_typed_is_kept(
    owner: Database, browser: CheckedClient, type_: RequestType
) -> None:
    page = press(browser, browser.page(path_of(type_)), type_, "open:where")
    wrong = press(
        browser, page, type_, "save", 422, name_en="", name_es=" ", sla_hours="0",
        priority="soon", icon="nothing", team_id="nobody", words_en="x" * 61,
        o__en=["", "", "", ""], o__es=["", "", "", ""],
    )  # fmt: skip
    for told in (
        "Give it a name in at least one language.",
        "Enter a whole number from 1 to 8760.",
        "Choose from the list.",
        "Use at most 100 lines of at most 60 characters each.",
        "Add at least one choice.",
    ):
        assert told in wrong.text
    assert work_on(wrong)["sla_hours"] == "0"
    assert stored(owner, type_).version == 1
    for hours in ("8761", "-1", "2.5", "٤", "9" * 5_000):
        press(browser, page, type_, "save", 422, sla_hours=hours)
    refused = press(browser, page, type_, "save", 422, name_en="n" * 81, description_es="d" * 301)
    assert "at most 80 fit here" in refused.text and "at most 300 fit here" in refused.text


def test_a_team_of_another_house_and_a_neighbours_name_are_refused(
    owner: Database, admin: Member, browser: CheckedClient, type_: RequestType
) -> None:
    theirs = put_team(owner, make_user(owner).group_id, "Theirs")
    put_type(owner, admin.group_id, name_en="Oven", name_es="Horno")
    page = browser.page(path_of(type_))
    assert "Theirs" not in page.text
    refused = press(browser, page, type_, "save", 422, team_id=str(theirs.id))
    assert "This team is no longer there." in refused.text
    refused = press(browser, page, type_, "save", 422, name_es="HORNO")
    assert "Another one in the same place already has this name." in refused.text
    assert stored(owner, type_).version == 1


def asking(*questions: tuple[str, str, str]) -> dict[str, Any]:
    """What the page sends of these questions."""
    columns = [list(each) for each in zip(*questions, strict=True)] or [[], [], []]
    return dict(zip(("q-en", "q-es", "q-unless"), columns, strict=True))


def test_questions_are_written_moved_taken_away_and_know_what_makes_them_needless(
    owner: Database, browser: CheckedClient, type_: RequestType
) -> None:
    page = browser.page(path_of(type_))
    assert "There are fewer than 3 questions." not in page.text
    page = press(browser, page, type_, "ask-down:0")
    assert work_on(page)["q-en"][:3] == ["Question 2?", "Question 1?", "Question 3?"]
    page = press(browser, page, type_, "ask-up:0")
    for do in ("ask-up:x", "ask-down:99", "ask-up:-1", "ask-more"):
        page = press(browser, page, type_, do)
    two = asking(("", "", "where"), ("Since when?", "¿Desde cuándo?", "what"), ("  ", "", ""),
                 ("Tried  it?", "", ""))  # fmt: skip
    page = press(browser, page, type_, "save", is_guided="True", **two)
    assert "There are fewer than 3 questions." in page.text
    assert stored(owner, type_).is_guided
    # Nobody is asked them where it is not asked for step by step.
    page = press(browser, page, type_, "save", **{**two, "is_guided": ""})
    assert "There are fewer than 3 questions." not in page.text
    assert not stored(owner, type_).is_guided
    first, second = read_questions(stored(owner, type_).questions)
    assert (first.ask.es, first.unless) == ("¿Desde cuándo?", "what")
    assert (second.ask.en, second.unless) == ("Tried it?", "")
    refused = press(browser, press(browser, page, type_, "remove:what"), type_, "save", 422)
    assert "The field that made this question unnecessary is no longer there." in refused.text
    page = press(browser, refused, type_, "add:text")
    page = press(
        browser,
        page,
        type_,
        "save",
        x__label_en="Serial number",
        **asking(("Number?", "", "new-1")),
    )
    assert stored(owner, type_).questions == [{"ask": {"en": "Number?"}, "unless": "serial_number"}]
    press(browser, page, type_, "save", 422, **asking(("q" * 301, "", "")))


def test_two_who_save_lose_nothing(
    owner: Database, browser: CheckedClient, other: CheckedClient, type_: RequestType
) -> None:
    mine = browser.page(path_of(type_))
    theirs = press(other, other.page(path_of(type_)), type_, "save", name_en="Theirs")
    assert "Saved as version 2." in theirs.text
    clash = press(browser, mine, type_, "save", 409, name_en="Mine", words_en="cubes")
    assert "Bea changed this while you were writing" in clash.text
    assert "Theirs" in clash.text and work_on(clash)["name_en"] == "Mine"
    assert stored(owner, type_).name_en == "Theirs"
    assert "Saved as version 3." in press(browser, clash, type_, "save").text
    history = browser.page(f"{path_of(type_)}/history")
    assert all(words in history.text for words in ("Version 3 · now", "Bea", "Ada Boss"))
    assert "cubes" in browser.page(f"{path_of(type_)}/history/3").text
    assert browser.fragment(f"{path_of(type_)}/history/2").text.count("Theirs") == 1


@pytest.mark.fault(49)
def test_the_history_of_a_type_has_twenty_versions_a_page(
    owner: Database, browser: CheckedClient, type_: RequestType
) -> None:
    with owner.transaction() as session:
        found = session.get(RequestType, type_.id)
        assert found
        for number in range(1, 46):
            content = {**kept_content(found), "description_en": f"Description {number}"}
            session.add(RequestTypeVersion(group_id=found.group_id, type_id=found.id,
                                           version=number, content=content))  # fmt: skip
        found.version = 45
    path = f"{path_of(type_)}/history"
    with noted_statements() as noted:
        pages = [browser.page(f"{path}?page={number}") for number in (1, 2, 3)]
    assert not [each for each in noted if "service_request_type_versions.content" in each]
    assert [len(page.find_all("h2", class_="prompt-small")) for page in pages] == [20, 20, 5]
    assert "The first version." in pages[2].text and "Older versions" not in pages[2].text
    changes = browser.fragment(f"{path}/30").text
    assert "[removed: 29]" in changes and "[added: 30]" in changes
    assert [browser.get(f"{path}/{n}").status_code for n in (1, 46, 0, 10**30)] == [404] * 4


def test_a_type_is_again_what_it_was_in_a_version(
    owner: Database, database: Database, admin: Member, browser: CheckedClient, type_: RequestType
) -> None:
    team = put_team(owner, admin.group_id, "Fixers")
    page = press(browser, browser.page(path_of(type_)), type_, "remove:what")
    page = press(browser, page, type_, "save", name_en="Other", sla_hours="2", team_id=str(team.id))
    assert stored(owner, type_).version == 2
    restore = f"{path_of(type_)}/restore"
    assert browser.post(restore, number="1", version="2").status_code == 303
    now = stored(owner, type_)
    assert (now.name_en, now.version, now.sla_hours) == ("Ice machine", 3, 24)
    assert now.questions == QUESTIONS and ids_of(now) == ids_of(type_)
    # Who handles it is not what it was, but what it is.
    assert now.team_id == team.id
    with database.session(admin.scope) as session:
        assert [load_form(session, type_.id, n).name.en for n in (1, 2, 3)] == [
            "Ice machine", "Other", "Ice machine",
        ]  # fmt: skip
    # Seen too early, or never there.
    browser.post(restore, number="2", version="2")
    history = f"{path_of(type_)}/history"
    assert "Somebody changed this in the meantime." in browser.page(history).text
    assert browser.post(restore, number="9", version="3").status_code == 404
    assert browser.post(restore, number="x", version="y").status_code == 404
    put_type(owner, admin.group_id, name_en="Other", name_es="")
    browser.post(restore, number="2", version="3")
    assert "Another one in the same place already has this name." in browser.page(history).text
    assert stored(owner, type_).version == 3


@pytest.mark.parametrize(
    "row", ["", "[]", '{"key":"x","type":"signature","typed":{}}', '{"key":"../x","type":"text",'
            '"typed":{}}', '{"key":"x","type":"text","typed":{"label_en":5}}'],
)  # fmt: skip
def test_rows_that_no_page_sends_are_refused(
    owner: Database, browser: CheckedClient, type_: RequestType, row: str
) -> None:
    assert browser.post(path_of(type_), do="save", version="1", row=row).status_code == 422
    assert stored(owner, type_).version == 1


@pytest.mark.fault(67)
def test_the_words_of_all_types_have_a_limit_together(
    owner: Database, admin: Member, browser: CheckedClient, type_: RequestType
) -> None:
    many = {"en": [f"word {number}" for number in range(MOST_WORDS_IN_ALL - 1)], "es": []}
    put_type(owner, admin.group_id, name_en="Oven", name_es="Horno", words=many)
    page = browser.page(path_of(type_))
    refused = press(browser, page, type_, "save", 422, words_es="hielo\nsin hielo\nno enfría")
    assert f"All types together can have at most {MOST_WORDS_IN_ALL} words." in refused.text
    assert "no enfría" in refused.text
    assert stored(owner, type_).version == 1
    assert "Saved as version 2." in press(browser, page, type_, "save", words_es="frío").text


def test_a_post_that_is_too_large_is_refused_and_a_long_one_is_told(
    owner: Database, browser: CheckedClient, type_: RequestType
) -> None:
    page = browser.page(path_of(type_))
    long = press(browser, page, type_, "save", 422, words_en="word" * 900_000)
    assert "Use at most 100 lines of at most 60 characters each." in long.text
    answer = browser.post(path_of(type_), do="save", words_en="x" * (4 * 1024 * 1024))
    assert answer.status_code == 413
    assert stored(owner, type_).version == 1


def test_without_scripts_the_same_buttons_bring_whole_pages(
    owner: Database, browser: CheckedClient, type_: RequestType
) -> None:
    work = work_on(browser.page(path_of(type_)))
    page = browser._page(browser.post(path_of(type_), do="open:what", **work), 200)
    saved = browser.post(path_of(type_), do="save", **{**work_on(page), "x-label_en": "Tell"})
    assert "Saved as version 2." in browser._page(saved, 200).text
