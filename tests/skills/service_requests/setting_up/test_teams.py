"""Teams: added, renamed, given people, removed; who may, and other houses."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.accounts.models import Membership
from app.db import Database, new_id
from app.errors import InvalidInput
from app.fields.definitions import Words
from app.skills.service_requests.models import RequestTeam, RequestType, TeamMember
from app.skills.service_requests.services.teams import save_team
from tests.factories import CheckedClient, Member, Page, make_user, sign_in
from tests.factories.service_requests import make_request
from tests.skills.forms.filling import sent_by
from tests.skills.service_requests.setting_up.making import put_team, put_type

TEAMS = "/admin/requests/teams/"


@pytest.fixture
def team(owner: Database, admin: Member) -> RequestTeam:
    return put_team(owner, admin.group_id, "Fixers")


def put_on_team(owner: Database, team: RequestTeam, person: Member) -> None:
    with owner.transaction() as session:
        session.add(TeamMember(team_id=team.id, user_id=person.user_id, group_id=team.group_id))


def join_group(owner: Database, person: Member, group_id: UUID) -> None:
    with owner.transaction() as session:
        session.add(Membership(user_id=person.user_id, group_id=group_id, role="staff"))


def path_of(team: RequestTeam) -> str:
    return f"{TEAMS}{team.id}"


def members_of(owner: Database, team: RequestTeam) -> set[UUID]:
    with owner.session() as session:
        query = select(TeamMember.user_id).where(TeamMember.team_id == team.id)
        return set(session.scalars(query))


def teams_of(owner: Database, group_id: UUID) -> list[RequestTeam]:
    with owner.session() as session:
        query = select(RequestTeam).where(RequestTeam.group_id == group_id)
        return list(session.scalars(query.order_by(RequestTeam.id)))


def test_a_team_is_added_named_and_given_people(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    assert "There are no teams yet." in browser.page(TEAMS).text
    cook = make_user(owner, group_id=admin.group_id, name="Carl Cook")
    made = browser.post(TEAMS, name_en="Fixers", name_es="Arreglos")
    page = browser.page(made.location)
    assert "Carl Cook" in page.text
    form = sent_by(page.find("form", **{"class": "form"}))
    sent = {**form, "name_en": "The fixers", "members": [str(cook.user_id), str(admin.user_id)]}
    assert browser.post(made.location, **sent).status_code == 303
    listed = browser.page(TEAMS)
    assert "The fixers" in listed.text and "Ada Boss, Carl Cook" in listed.text
    [team] = teams_of(owner, admin.group_id)
    assert (team.slug, team.name_en, team.name_es) == ("fixers", "The fixers", "Arreglos")
    assert members_of(owner, team) == {cook.user_id, admin.user_id}


def test_two_who_choose_people_at_once_lose_nobody(
    owner: Database, admin: Member, browser: CheckedClient, team: RequestTeam
) -> None:
    cook, host = (make_user(owner, group_id=admin.group_id) for _ in range(2))
    was = {"was_name_en": "Fixers", "name_en": "Fixers"}
    browser.post(path_of(team), members=[str(cook.user_id)], **was)
    # This page was opened before the cook was there.
    browser.post(path_of(team), members=[str(host.user_id)], **was)
    browser.post(path_of(team), members=[str(host.user_id)], **was)
    assert members_of(owner, team) == {cook.user_id, host.user_id}
    browser.post(path_of(team), was=[str(cook.user_id)], members=[], **was)
    assert members_of(owner, team) == {host.user_id}


def test_two_who_rename_are_told(
    owner: Database, admin: Member, browser: CheckedClient, other: CheckedClient, team: RequestTeam
) -> None:
    other.post(path_of(team), was_name_en="Fixers", name_en="Theirs")
    answer = browser.post(path_of(team), was_name_en="Fixers", name_en="Mine")
    page = browser._page(answer, 409)
    assert (
        "Somebody renamed this team in the meantime. It is called “Theirs” in English" in page.text
    )
    assert page.find("input", id="f-name_en").attributes["value"] == "Mine"
    form = page.find("form", **{"class": "form"})
    assert form.find("input", name="was_name_en").attributes["value"] == "Theirs"
    assert teams_of(owner, admin.group_id)[0].name_en == "Theirs"


def test_a_name_that_was_not_touched_is_not_taken_back(
    owner: Database, admin: Member, browser: CheckedClient, other: CheckedClient, team: RequestTeam
) -> None:
    form = sent_by(browser.page(path_of(team)).find("form", **{"class": "form"}))
    theirs = {**form, "name_es": "Equipo renombrado"}
    assert other.post(path_of(team), **theirs).status_code == 303
    mine = {**form, "members": [str(admin.user_id)]}
    assert browser.post(path_of(team), **mine).status_code == 303
    assert browser.post(path_of(team), **{**form, "name_en": "Night crew"}).status_code == 303
    [now] = teams_of(owner, admin.group_id)
    assert (now.name_en, now.name_es) == ("Night crew", "Equipo renombrado")
    assert members_of(owner, team) == {admin.user_id}


def test_whoever_has_come_meanwhile_stays_when_a_refused_form_is_sent_once_more(
    owner: Database, admin: Member, browser: CheckedClient, team: RequestTeam
) -> None:
    cook = make_user(owner, group_id=admin.group_id)
    form = sent_by(browser.page(path_of(team)).find("form", **{"class": "form"}))
    put_on_team(owner, team, cook)
    sent = {**form, "name_en": "", "members": [str(admin.user_id)]}
    page = browser._page(browser.post(path_of(team), **sent), 422)
    # Nor is a team removed by a page that does not show them.
    assert remove(browser, team, page).status_code == 409
    again = sent_by(page.find("form", **{"class": "form"})) | {"name_en": "Night crew"}
    again["members"] = [str(admin.user_id)]
    assert browser.post(path_of(team), **again).status_code == 303
    assert members_of(owner, team) == {admin.user_id, cook.user_id}


def test_names_that_are_none_or_taken_and_people_of_elsewhere_are_refused(
    owner: Database, admin: Member, browser: CheckedClient, team: RequestTeam
) -> None:
    put_team(owner, admin.group_id, "Otros")
    for name, told in (
        (" ", "Give the team a name"),
        ("ótros", "Another team has this name."),
        ("x" * 81, "A name can have up to 80 characters."),
    ):
        for path in (TEAMS, path_of(team)):
            refused = browser.post(path, was_name_en="Fixers", name_es=name)
            assert told in browser._page(refused, 422).text
    stranger = make_user(owner)
    same = {"was_name_en": "Fixers", "name_en": "Fixers"}
    for who in (stranger.user_id, new_id()):
        refused = browser.post(path_of(team), members=[str(who)], **same)
        assert "no longer works here" in browser._page(refused, 422).text
    browser.post(path_of(team), members=["nonsense", "\x00"], **same)
    assert members_of(owner, team) == set() and len(teams_of(owner, admin.group_id)) == 2


def test_a_team_goes_once_it_looks_after_nothing(
    owner: Database, admin: Member, browser: CheckedClient, team: RequestTeam, type_: RequestType
) -> None:
    put_type(owner, admin.group_id, team_id=team.id, name_en="Oven", name_es="", is_active=False)
    kept = remove(browser, team)
    assert "Give this team&#39;s types to another team first." in kept.get_data(as_text=True)
    assert kept.status_code == 409
    with owner.transaction() as session:
        for each in session.scalars(select(RequestType).where(RequestType.team_id == team.id)):
            each.team_id = None
    assert remove(browser, team).status_code == 303
    assert "The team Fixers is removed." in browser.page(TEAMS).text
    assert teams_of(owner, admin.group_id) == []
    assert browser.post(f"{path_of(team)}/remove").status_code == 404


def remove(browser: CheckedClient, team: RequestTeam, page: Page | None = None) -> TestResponse:
    """Send the form that removes a team, as a page has it: as the one of now, without another."""
    path = f"{path_of(team)}/remove"
    form = (page or browser.page(path_of(team))).find("form", action=path)
    return browser.post(path, **sent_by(form))


@pytest.mark.parametrize("changes", ["its name", "its people"])
def test_a_team_that_somebody_has_changed_meanwhile_is_not_removed_unseen(
    owner: Database, admin: Member, browser: CheckedClient, other: CheckedClient,
    team: RequestTeam, changes: str,
) -> None:  # fmt: skip
    cook = make_user(owner, group_id=admin.group_id, name="Carl Cook")
    put_on_team(owner, team, admin)
    shown = browser.page(path_of(team))
    form = sent_by(shown.find("form", **{"class": "form"}))
    form["members"] = [str(admin.user_id)]
    change = {"name_en": "Night crew"}
    if changes == "its people":
        change = {"members": [str(admin.user_id), str(cook.user_id)]}
    assert other.post(path_of(team), **{**form, **change}).status_code == 303
    page = browser._page(remove(browser, team, shown), 409)
    assert "Somebody changed this team in the meantime." in page.text
    # The page is as the team is now: to save it changes nothing.
    ticked = [
        each for each in page.find_all("input", name="members") if "checked" in each.attributes
    ]
    assert {each.attributes["value"] for each in ticked} == {
        str(each) for each in members_of(owner, team)
    }
    assert len(teams_of(owner, admin.group_id)) == 1
    assert browser.post(f"{path_of(team)}/remove").status_code == 409
    assert remove(browser, team, page).status_code == 303
    assert teams_of(owner, admin.group_id) == []


def test_whoever_has_left_the_house_is_not_shown(
    owner: Database, admin: Member, browser: CheckedClient, team: RequestTeam
) -> None:
    gone = make_user(owner, group_id=admin.group_id, name="Gone Girl")
    put_on_team(owner, team, gone)
    assert "Gone Girl" in browser.page(TEAMS).text
    browser.post("/people", action="remove", user_id=str(gone.user_id), was=gone.role)
    assert "Gone Girl" not in browser.page(TEAMS).text
    assert "Nobody yet" in browser.page(TEAMS).text
    assert "Gone Girl" not in browser.page(path_of(team)).text


def test_whoever_is_removed_and_invited_again_is_on_no_team(
    app: Flask, owner: Database, admin: Member, browser: CheckedClient, team: RequestTeam
) -> None:
    cook = make_user(owner, group_id=admin.group_id)
    elsewhere = make_user(owner, role="admin")
    theirs = put_team(owner, elsewhere.group_id, "Theirs")
    join_group(owner, cook, elsewhere.group_id)
    for each in (team, theirs):
        put_on_team(owner, each, cook)
    hidden = make_request(owner, admin, team_id=team.id)
    assert sign_in(app, owner, cook).get(f"/requests/{hidden.id}").status_code == 200
    browser.post("/people", action="remove", user_id=str(cook.user_id), was=cook.role)
    assert members_of(owner, team) == set()
    # What they are in another restaurant is no business of this one.
    assert members_of(owner, theirs) == {cook.user_id}
    invited = browser.post("/people", action="invite", email=cook.email, role="staff")
    link = re.search(r"/invitations/[\w.-]+", browser.page(invited.location).response.text)
    assert link
    join_by(app, owner, cook, elsewhere.group_id, link[0])
    again = sign_in(app, owner, cook)
    assert again.get("/requests").status_code == 200
    assert again.get("/requests/queue").status_code == 404
    assert again.get(f"/requests/{hidden.id}").status_code == 404


def join_by(app: Flask, owner: Database, person: Member, signed_in_at: UUID, link: str) -> None:
    """Accept an invitation, signed in at another restaurant."""
    there = sign_in(app, owner, replace(person, group_id=signed_in_at))
    assert there.post(link).status_code == 303


def test_whoever_is_removed_while_they_are_put_on_a_team_is_not_on_it(
    owner: Database, database: Database, admin: Member, team: RequestTeam
) -> None:
    cook = make_user(owner, group_id=admin.group_id)
    name = Words(en="Fixers")

    def put_there() -> None:
        with database.session(admin.scope) as session:
            save_team(session, team.id, was=name, name=name, come=[cook.user_id], gone=[])

    with ThreadPoolExecutor(1) as pool:
        with owner.transaction() as session:
            session.delete(session.get_one(Membership, (cook.user_id, cook.group_id)))
            session.flush()
            putting = pool.submit(put_there)
            # Until it waits for the removal, or is through without looking.
            wait([putting], timeout=1)
        with pytest.raises(InvalidInput, match="no longer works here"):
            putting.result(60)
    assert members_of(owner, team) == set()


def test_managers_look_staff_does_not_and_other_houses_find_nothing(
    app: Flask, owner: Database, admin: Member, browser: CheckedClient, team: RequestTeam
) -> None:
    manager = sign_in(app, owner, make_user(owner, group_id=admin.group_id, role="manager"))
    staff = sign_in(app, owner, make_user(owner, group_id=admin.group_id))
    stranger = sign_in(app, owner, make_user(owner, role="admin"))
    assert "Fixers" in manager.page(TEAMS).text
    assert not manager.page(path_of(team)).find_all("input", name="members")
    assert "Fixers" not in stranger.page(TEAMS).text
    assert staff.get(TEAMS).status_code == staff.get(path_of(team)).status_code == 403
    assert stranger.get(path_of(team)).status_code == 404
    assert app.test_client().get(TEAMS).status_code == 303
    form = {"name_en": "Mine", "was_name_en": "Fixers"}
    for path, status in ((TEAMS, 303), (path_of(team), 404), (f"{path_of(team)}/remove", 404)):
        assert manager.post(path, **form).status_code == 403
        assert staff.post(path, **form).status_code == 403
        assert stranger.post(path, **form).status_code == status
    assert browser.get(f"{path_of(team)}/remove").status_code == 405
    assert browser.post(path_of(team), token=False, **form).status_code == 400
    assert [each.name_en for each in teams_of(owner, admin.group_id)] == ["Fixers"]
