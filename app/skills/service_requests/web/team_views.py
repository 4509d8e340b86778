"""The pages of teams: all of them, and one with its people. Managers may look."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from flask import flash, redirect, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import gettext as _

from app.accounts.form_pages import page
from app.accounts.people import list_people
from app.db import read_id
from app.errors import ComandaError, Conflict, InvalidInput
from app.fields.definitions import Words
from app.fields.values import clean
from app.skills.service_requests.services.teams import (
    add_team,
    load_team,
    members_of,
    remove_team,
    save_team,
    view_teams,
)
from app.skills.service_requests.web.admin_blueprints import make_blueprint, may_edit
from app.text.bilingual import reader_language
from app.web.pages import db_session

blueprint = make_blueprint("request_teams", "/teams")


@blueprint.get("/")
def index() -> ResponseReturnValue:
    """All teams, with their people."""
    return _list_page()


def _list_page(error: ComandaError | None = None) -> ResponseReturnValue:
    return page(
        "requests/admin/teams.html",
        error,
        teams=view_teams(db_session()),
        language=reader_language(),
        may_edit=may_edit(),
    )


@blueprint.post("/")
def add() -> ResponseReturnValue:
    """Add a team, to which people are put next."""
    try:
        team = add_team(db_session(), _typed_name())
    except InvalidInput as error:
        db_session().rollback()
        return _list_page(error)
    flash(_("The team is added. Choose who is on it."))
    return redirect(url_for(".edit", team_id=team.id), HTTPStatus.SEE_OTHER)


def _typed_name(prefix: str = "name") -> Words:
    english, spanish = (clean(request.form.get(f"{prefix}_{code}", "")) for code in ("en", "es"))
    return Words(en=english[:500], es=spanish[:500])


@blueprint.get("/<uuid:team_id>")
def edit(team_id: UUID) -> ResponseReturnValue:
    """One team: what it is called and who is on it."""
    return _team_page(team_id)


def _team_page(
    team_id: UUID, error: ComandaError | None = None, *, is_typed: bool = False
) -> ResponseReturnValue:
    """With `is_typed`, what was sent stands in the form, and nothing of it is saved yet.

    Then the form still carries who was on the team when it was opened: whoever has come since is
    not shown in it, and must not be taken off by saving it once more.
    """
    session = db_session()
    team = load_team(session, team_id)
    members = members_of(session, team)
    chosen = _ids("members") if is_typed else members
    return page(
        "requests/admin/team.html",
        error,
        team=team,
        people=list_people(session),
        members=members,
        were=_ids("was") if is_typed else members,
        chosen=chosen,
        is_unsaved=is_typed,
        language=reader_language(),
        may_edit=may_edit(),
    )


@blueprint.post("/<uuid:team_id>")
def save(team_id: UUID) -> ResponseReturnValue:
    """Rename it, and let those come and go whose boxes were changed."""
    was, now = _ids("was"), _ids("members")
    try:
        team = save_team(
            db_session(),
            team_id,
            was=_typed_name("was_name"),
            name=_typed_name(),
            come=now - was,
            gone=was - now,
        )
    except (InvalidInput, Conflict) as error:
        db_session().rollback()
        return _team_page(team_id, error, is_typed=True)
    flash(_("%(name)s was saved.", name=team.name(reader_language())))
    return redirect(url_for(".index"), HTTPStatus.SEE_OTHER)


def _ids(name: str) -> set[UUID]:
    """The ids that a form carries under a name; what is none is left out."""
    return {found for text in request.form.getlist(name) if (found := read_id(text))}


@blueprint.post("/<uuid:team_id>/remove")
def remove(team_id: UUID) -> ResponseReturnValue:
    """Remove a team that looks after no type, unless it is not any more what was shown."""
    was, members = _typed_name("was_name"), _ids("was")
    try:
        team = remove_team(db_session(), team_id, was=was, members=members)
    except Conflict as error:
        db_session().rollback()
        return _team_page(team_id, error)
    flash(_("The team %(name)s is removed.", name=team.name(reader_language())))
    return redirect(url_for(".index"), HTTPStatus.SEE_OTHER)
