"""Makes `before.backup.xz`: a restaurant as the version of 22 November 2026 left it.

It is run by that version, commit e6a9b6c (schema 20261122_1600), whose requirements are the same:

    git worktree add ../before e6a9b6c
    cd ../before
    pybabel compile -d app/translations
    PYTHONPATH=. python ../comanda/tests/backup/make_before.py before.backup
    xz -9e before.backup

The demo restaurant is loaded and people work in it, each through the chat or the pages; then
`flask backup` writes it all down. Vectors are left out: they are most of the bytes, and a house
makes them anew (`flask embeddings backfill`), as it does when its model is changed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from uuid import UUID

from flask import Flask
from sqlalchemy import select, text

from app import create_app
from app.accounts.models import Membership, User
from app.assistant.models import Prompt
from app.db import app_database, owner_database
from app.demo import load_demo
from tests.acceptance.service_requests.conversation import Turn
from tests.acceptance.service_requests.talking import Talk
from tests.factories import CheckedClient, Member, sign_in
from tests.factories.expenses import make_expense
from tests.services import make_database, make_run_folder, remove_run_folder, start_services
from tests.skills.forms.filling import address_on, autosave, form_on, sent_by

COMPLAINT = {
    "guest_name": "Mrs. Whitfield",
    "visit_date": "2026-11-20",
    "topics": ["cold_food", "slow"],
    "description": "The soup was cold and the steak took an hour.",
}


def main(file: Path) -> None:
    folder = make_run_folder()
    services = start_services(folder)
    try:
        make_database(services, folder, "before")
        settings = services.settings("before", 1, folder / "house")
        settings.comanda_data.mkdir(exist_ok=True)
        app = create_app(settings)
        with app.app_context():
            load_demo(app.extensions["comanda"])
        keep_a_part(settings)
        work(app)
        with owner_database(settings).transaction() as session:
            session.execute(text("DELETE FROM embeddings"))
            session.execute(text("DELETE FROM sign_ins"))
        result = app.test_cli_runner().invoke(args=["backup", str(file)])
        assert result.exit_code == 0, result.output
        print(result.output, file.stat().st_size)
    finally:
        for hold in services.holds:
            hold.release()
        remove_run_folder(folder)


def keep_a_part(settings: Any) -> None:
    """Leave two chapters of the manual and the dishes: the whole demo is four times as large."""
    with owner_database(settings).transaction() as session:
        session.execute(
            text(
                """
                WITH RECURSIVE kept AS (
                  SELECT id FROM manual_sections
                   WHERE slug IN ('food-safety', 'people') AND parent_id IS NULL
                  UNION SELECT s.id FROM manual_sections s JOIN kept k ON s.parent_id = k.id
                )
                DELETE FROM manual_sections WHERE id NOT IN (SELECT id FROM kept)
                """
            )
        )
        session.execute(text("DELETE FROM products WHERE kind <> 'dishes'"))
        known = "(SELECT id FROM manual_sections UNION SELECT id FROM products)"
        session.execute(text(f"DELETE FROM search_documents WHERE source_id NOT IN {known}"))
        session.execute(text(f"DELETE FROM library_revisions WHERE entity_id NOT IN {known}"))


def work(app: Flask) -> None:
    """What everybody of the house did before the upgrade."""
    settings = app.extensions["comanda"].settings
    owner = owner_database(settings)
    people = {name: member(owner, name) for name in ("sam", "lucia", "marcus", "elena")}
    browsers = {name: sign_in(app, owner, each) for name, each in people.items()}
    ask_questions(app, people["sam"], browsers["sam"])
    for name, language in (("sam", "en"), ("lucia", "es")):
        leave_requests(app, people[name], language)
        leave_proposals(app, people[name], language)
        leave_forms(app, people[name], browsers[name], language)
    make_expense(app_database(settings), people["marcus"], "Farm eggs", amount="42.50")
    edit_prompt(owner, browsers["elena"], people["elena"])


def member(owner: Any, name: str) -> Member:
    """Somebody of the demo restaurant."""
    with owner.session() as session:
        user, membership = session.execute(
            select(User, Membership)
            .join(Membership, Membership.user_id == User.id)
            .where(User.email == f"{name}@alamoprime.example")
        ).one()
        language = "es" if name == "lucia" else "en"
        whose = (user.id, membership.group_id, user.email, user.name, membership.role)
        return Member(*whose, language)


def ask_questions(app: Flask, sam: Member, browser: CheckedClient) -> None:
    """Answers with citations, and a thumb down."""
    talk = Talk(app, sam, "en")
    talk.send("How do I store raw chicken?")
    reply = talk.send("What temperature should steak be cooked to?")
    said = {"rating": "down", "reason": "unclear", "comment": "Which cut?"}
    message = f"/chat/{talk.thread_id}/messages/{reply.body['message_id']}/feedback"
    assert browser.post(message, **said).status_code in (200, 303), message


def leave_requests(app: Flask, person: Member, language: str) -> None:
    """One request that was filed, one that waits for words, and one that waits for a widget."""
    first = {
        "en": ("I need a password reset ASAP, high priority", "sam@example.com"),
        "es": ("necesito restablecer mi contraseña, urgente", "lucia@example.com"),
    }
    wanted, address = first[language]
    for is_filed, is_chosen in ((True, True), (False, True), (False, False)):
        talk = Talk(app, person, language)
        talk.send(wanted)
        talk.take(Turn(choose="password-reset"))
        if is_chosen:
            talk.take(Turn(tap={"type": "field_response", "field": "account", "value": "schedule"}))
        if not is_filed:
            continue
        talk.send(address)
        yes, no = {"en": ("yes", "no"), "es": ("sí", "no")}[language]
        done = {"en": "no more questions", "es": "ya no más preguntas"}[language]
        reply = talk.send(done)
        while not any(part["type"] == "proposal" for part in reply.body["parts"]):
            reply = talk.send(no)
        reply = talk.send(yes)
        assert "SR-2026" in reply.text, reply.text


def leave_proposals(app: Flask, person: Member, language: str) -> None:
    """One expense that was confirmed, and one that waits for a yes."""
    said = {
        "en": ("Add taxi $25 today", "Add parking $12 today"),
        "es": ("Agrega un taxi de $25 de hoy", "Agrega estacionamiento de $12 de hoy"),
    }
    talk = Talk(app, person, language)
    talk.send(said[language][0])
    reply = talk.send({"en": "yes", "es": "sí"}[language])
    assert [part["type"] for part in reply.body["parts"]] == ["receipt"], reply.text
    reply = Talk(app, person, language).send(said[language][1])
    assert [part["type"] for part in reply.body["parts"]] == ["proposal"], reply.text


def leave_forms(app: Flask, person: Member, browser: CheckedClient, language: str) -> None:
    """Forms: handed in, half filled in, opened from a chat, and offered in one."""
    page = browser.page("/forms/guest-complaint")
    autosave(browser, page, **COMPLAINT)
    page = browser.page(address_on(page))
    response = browser.post(address_on(page), **{**form_on(page), "action": "submit"})
    assert response.status_code == 303 and "/submissions/" in response.location, response.text
    half = browser.page("/forms/guest-complaint?new=1")
    autosave(browser, half, description={"en": "Hair in the salad", "es": "Un pelo"}[language])
    talk = Talk(app, person, language)
    said = {"en": "I need to fill out an injury report", "es": "Necesito un reporte de lesión"}
    reply = talk.send(said[language])
    assert reply.body["parts"][0]["slug"] == "employee-injury-report", reply.text
    said_in = reply.body["parts"][0]["message_id"]
    opened = browser.post("/forms/employee-injury-report/open", message_id=said_in)
    assert "/drafts/" in browser.get(opened.location).location
    offered = {
        "en": "where's the form for a guest complaint",
        "es": "Necesito documentar un incidente",
    }
    reply = Talk(app, person, language).send(offered[language])
    assert reply.body["parts"][0]["type"] == "form_card", reply.text


def edit_prompt(owner: Any, browser: CheckedClient, elena: Member) -> None:
    """Two changes of a prompt, so that there is something to go back to."""
    with owner.session() as session:
        of_house = Prompt.group_id == elena.group_id
        prompt_id: UUID = session.scalars(
            select(Prompt.id).where(of_house, Prompt.category == "system").limit(1)
        ).one()
    for number in (1, 2):
        page = browser.page(f"/admin/prompts/{prompt_id}")
        form = sent_by(page.find("form", id="prompt-form"))
        form["prompt_en"] = f"Say it kindly, {number}."
        form["prompt_es"] = f"Dilo con calma, {number}."
        assert browser.post(f"/admin/prompts/{prompt_id}", **form).status_code == 303


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
