"""A restaurant of an older version is upgraded: all of it is shown, and what was open goes on.

`before.backup.xz` is a backup of the version of 22 November 2026, schema 20261122_1600, in which
people of the demo restaurant had been at work; `make_before.py` says how it was made.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select, text

from app import create_app
from app.accounts.models import Membership, User
from app.assistant.models import Message, Prompt, Proposal, Thread
from app.db import Database, owner_database
from app.schema import pending
from app.skills.forms.models import FormDraft, FormSubmission
from app.skills.service_requests.models import ServiceRequest
from tests.acceptance.asking import Visitor
from tests.acceptance.service_requests.conversation import Turn
from tests.acceptance.service_requests.talking import Talk
from tests.backup.conftest import House, founding
from tests.factories import CheckedClient, Member, Page, sign_in
from tests.services import RunningServices
from tests.skills.forms.filling import form_on

BEFORE = Path(__file__).with_name("before.backup.xz")
REVISION = "20261122_1600"
STAFF = ("sam", "lucia")
# Moves all that happened before the upgrade to just before it, whenever this test runs: a
# proposal lives for half an hour. Searched texts are left out, whose triggers would count them.
_AGE = """
DO $$ DECLARE moment record; BEGIN
  FOR moment IN
    SELECT c.table_name, c.column_name FROM information_schema.columns c
      JOIN information_schema.tables t USING (table_schema, table_name)
     WHERE c.table_schema = 'public' AND c.data_type = 'timestamp with time zone'
       AND t.table_type = 'BASE TABLE' AND c.table_name !~ '^(procrastinate|search)_'
  LOOP
    EXECUTE format('UPDATE %I SET %I = %I + (now() - CAST(%L AS timestamptz))',
                   moment.table_name, moment.column_name, moment.column_name, '{made_at}');
  END LOOP;
END $$
"""


@dataclass
class Upgraded:
    """The house after its upgrade, with the messages as they were stored before it."""

    house: House
    app: Flask
    owner: Database
    people: dict[str, Member]
    before: dict[UUID, tuple[str, str]]
    browsers: dict[str, CheckedClient] = field(default_factory=dict)

    def browser(self, name: str) -> CheckedClient:
        if name not in self.browsers:
            self.browsers[name] = sign_in(self.app, self.owner, self.people[name])
        return self.browsers[name]

    def rows(self, model: Any, name: str, *where: Any) -> list[Any]:
        """What belongs to this person, from the oldest on."""
        mine = model.user_id == self.people[name].user_id
        with self.owner.session() as session:
            return list(session.scalars(select(model).where(mine, *where).order_by(model.id)))

    def thread_that_ends_with(self, name: str, *words: str) -> UUID:
        """The chat of this person whose last reply has one of these words."""
        with self.owner.session() as session:
            for thread in self.rows(Thread, name):
                last = session.get(Message, thread.head_id)
                if last is not None and any(each in last.content for each in words):
                    return UUID(str(thread.id))
        raise AssertionError(f"{name} has no chat that ends with {words}")

    def talk(self, name: str, thread_id: UUID) -> Talk:
        person = self.people[name]
        return Talk(self.app, person, person.language, thread_id=thread_id)


@pytest.fixture(scope="module")
def upgraded(
    services: RunningServices, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Upgraded]:
    folder = tmp_path_factory.mktemp("upgrade")
    file = folder / "before.backup"
    file.write_bytes(lzma.decompress(BEFORE.read_bytes()))
    with founding(services, folder) as found:
        house = found()
        code, said = house.flask("restore", str(file))
        assert code == 0 and "Its schema is older" in said, said
        owner = owner_database(house.settings)
        with owner.transaction() as session:
            revision = session.scalar(text("SELECT version_num FROM alembic_version"))
            rows = session.execute(text("SELECT id, role, content FROM messages")).all()
            made_at = session.scalar(text("SELECT max(created_at) FROM messages"))
            session.execute(text(_AGE.format(made_at=made_at).replace(":", r"\:")))
        assert revision == REVISION
        code, said = house.flask("db", "upgrade")
        assert code == 0 and not pending(house.settings), said
        app = create_app(house.settings)
        before = {row.id: (row.role, row.content) for row in rows}
        yield Upgraded(house, app, owner, people_of(owner), before)
        owner.engine.dispose()
        app.extensions["comanda"].database.engine.dispose()


def people_of(owner: Database) -> dict[str, Member]:
    """Who works in the demo restaurant, by the first part of their address."""
    with owner.session() as session:
        rows = session.execute(
            select(User, Membership)
            .join(Membership, Membership.user_id == User.id)
            .where(User.email.endswith("@alamoprime.example"))
        ).all()
    people = {}
    for user, membership in rows:
        name = user.email.partition("@")[0]
        language = "es" if name == "lucia" else "en"
        whose = (user.id, membership.group_id, user.email, user.name, membership.role)
        people[name] = Member(*whose, language)
    return people


def main_text(page: Page) -> str:
    return page.find("main").text


def test_a_password_of_before_lets_in(upgraded: Upgraded) -> None:
    assert Visitor(upgraded.app, "sam@alamoprime.example").get("/chat").status_code == 200


@pytest.mark.parametrize("name", STAFF)
def test_every_chat_is_shown_as_it_was(upgraded: Upgraded, name: str) -> None:
    browser, shown = upgraded.browser(name), 0
    threads = upgraded.rows(Thread, name, Thread.context_type == "manual")
    assert len(threads) >= 6
    for thread in threads:
        page = browser.page(f"/chat/{thread.id}")
        for message in upgraded.rows(Message, name, Message.thread_id == thread.id):
            _role, words = upgraded.before[message.id]
            assert message.content == words
            bubble = page.find("article", id=f"m-{message.id}")
            # Formatted words stand there without their signs: the first line tells which it is.
            assert plain(words.splitlines()[0] if words else "") in plain(bubble.text)
            shown += 1
    assert shown > 25
    titles = browser.page("/chats").text
    assert all(thread.title in titles for thread in threads)


def plain(words: str) -> str:
    """Without what Markdown and citations are written with."""
    return "".join(letter for letter in words if letter.isalpha())


def test_an_answer_of_before_keeps_its_sources_and_what_was_thought_of_it(
    upgraded: Upgraded,
) -> None:
    thread_id = upgraded.thread_that_ends_with("sam", "Arrachera", "steak", "Steak")
    page = upgraded.browser("sam").page(f"/chat/{thread_id}")
    links = [each.attributes.get("href", "") for each in page.find_all("a")]
    passages = [each for each in links if each.startswith("/library/passages/")]
    assert "bottom shelf" in upgraded.browser("sam").fragment(passages[0]).text
    assert any(each.startswith("/library/dishes/") for each in links)
    assert "Which cut?" in upgraded.browser("elena").page("/admin/feedback").text


@pytest.mark.parametrize(
    ("name", "asked", "address", "next_question", "done"),
    [
        ("sam", "Email of the account?", "sam@example.com", "Question 1 of 3", "yes"),
        ("lucia", "¿Correo de la cuenta?", "lucia@example.com", "Pregunta 1 de 3", "sí"),
    ],
)
def test_an_open_question_is_answered_and_the_request_filed(
    upgraded: Upgraded, name: str, asked: str, address: str, next_question: str, done: str
) -> None:
    thread_id = upgraded.thread_that_ends_with(name, asked)
    page = upgraded.browser(name).page(f"/chat/{thread_id}")
    assert asked in page.text and next_question not in page.text
    talk = upgraded.talk(name, thread_id)
    assert next_question in talk.send(address).text
    reply = talk.send({"yes": "no more questions", "sí": "ya no más preguntas"}[done])
    for _ in range(4):
        if any(part["type"] == "proposal" for part in reply.body["parts"]):
            break
        reply = talk.send("no")
    assert "SR-" in talk.send(done).text
    filed = upgraded.rows(ServiceRequest, name)
    assert len(filed) == 2
    assert address in filed[-1].values.values()
    assert talk.thread_id == filed[-1].thread_id


@pytest.mark.parametrize(
    ("name", "asked", "next_question"),
    [("sam", "Which account: answer below", "Email of the account?"),
     ("lucia", "Qué cuenta: contesta aquí abajo", "¿Correo de la cuenta?")],
)  # fmt: skip
def test_a_widget_that_was_open_takes_its_answer(
    upgraded: Upgraded, name: str, asked: str, next_question: str
) -> None:
    thread_id = upgraded.thread_that_ends_with(name, asked)
    browser = upgraded.browser(name)
    assert browser.page(f"/chat/{thread_id}").find_all("option", value="schedule")
    talk = upgraded.talk(name, thread_id)
    tap = {"type": "field_response", "field": "account", "value": "schedule"}
    assert talk.take(Turn(tap=tap)).text.endswith(next_question)
    assert not browser.page(f"/chat/{thread_id}").find_all("option", value="schedule")


@pytest.mark.parametrize(
    ("name", "asked", "slug"),
    [
        ("sam", "Guest complaint", "guest-complaint"),
        ("lucia", "Reporte de incidente", "incident-report"),
    ],
)
def test_a_form_that_was_offered_is_opened(
    upgraded: Upgraded, name: str, asked: str, slug: str
) -> None:
    thread_id, browser = upgraded.thread_that_ends_with(name, asked), upgraded.browser(name)
    address = f"/forms/{slug}/open"
    [card] = browser.page(f"/chat/{thread_id}").find_all("form", action=address)
    said_in = card.find("input", name="message_id").attributes["value"]
    opened = browser.get(browser.post(address, message_id=said_in).location)
    assert browser.page(opened.location).find("form", id="fill")


@pytest.mark.parametrize("name", STAFF)
def test_a_request_of_before_is_read_and_worked_on(upgraded: Upgraded, name: str) -> None:
    request = upgraded.rows(ServiceRequest, name)[0]
    page = upgraded.browser(name).page(f"/requests/{request.id}")
    assert request.title in page.text and f"{name}@example.com" in page.text
    manager = upgraded.browser("marcus")
    assert request.title in manager.page("/requests/queue").text
    form = {"status": "in_progress", "version": str(request.version)}
    answered = manager.post(f"/requests/{request.id}/status", **form)
    assert answered.status_code in (200, 303), answered.text
    assert upgraded.rows(ServiceRequest, name)[0].status == "in_progress"


def test_an_open_proposal_is_confirmed_by_its_button(upgraded: Upgraded) -> None:
    [proposal] = upgraded.rows(Proposal, "sam", Proposal.state == "pending")
    browser = upgraded.browser("sam")
    page = browser.page(f"/chat/{proposal.thread_id}")
    assert f"/proposals/{proposal.id}/confirm" in page.response.text
    card = browser.post_fragment(f"/proposals/{proposal.id}/confirm")
    assert "parking $12" in card.text
    assert "parking" in main_text(browser.page("/expenses"))
    assert upgraded.rows(Proposal, "sam")[-1].state == "confirmed"


def test_an_open_proposal_is_confirmed_by_a_yes(upgraded: Upgraded) -> None:
    [proposal] = upgraded.rows(Proposal, "lucia", Proposal.state == "pending")
    reply = upgraded.talk("lucia", proposal.thread_id).send("sí")
    assert [part["type"] for part in reply.body["parts"]] == ["receipt"], reply.text
    assert "stacionamiento" in main_text(upgraded.browser("lucia").page("/expenses"))


def test_what_was_confirmed_before_is_in_the_ledger_and_goes_away_again(
    upgraded: Upgraded,
) -> None:
    ledger = main_text(upgraded.browser("marcus").page("/expenses"))
    assert "Farm eggs" in ledger and "42.50" in ledger
    taxi = upgraded.rows(Proposal, "sam", Proposal.tool == "add_expense")[0]
    assert taxi.state == "confirmed"
    undone = upgraded.browser("sam").post_fragment(f"/proposals/{taxi.id}/undo")
    assert "taxi" in undone.text.lower()
    assert "axi" not in main_text(upgraded.browser("sam").page("/expenses"))


@pytest.mark.parametrize(("name", "words"), [("sam", "Hair in the salad"), ("lucia", "Un pelo")])
def test_a_draft_is_filled_in_further_and_handed_in(
    upgraded: Upgraded, name: str, words: str
) -> None:
    browser = upgraded.browser(name)
    half = next(
        draft
        for draft in upgraded.rows(FormDraft, name, FormDraft.status == "open")
        if words in str(draft.typed)
    )
    address = f"/forms/drafts/{half.id}"
    page = browser.page(address)
    form = form_on(page)
    assert form["v-description"] == words
    more = {"v-visit_date": "2026-11-21", "v-topics": ["wrong_order"], "action": "submit"}
    sent = browser.post(address, **{**form, **more})
    assert sent.status_code == 303 and "/submissions/" in sent.location, sent.text
    assert words in browser.page(sent.location).text


@pytest.mark.parametrize("name", STAFF)
def test_a_form_that_was_opened_from_the_chat_is_still_open(upgraded: Upgraded, name: str) -> None:
    drafts = upgraded.rows(FormDraft, name, FormDraft.status == "open")
    spoken_of = [draft for draft in drafts if not draft.typed]
    page = upgraded.browser(name).page(f"/forms/drafts/{spoken_of[0].id}")
    assert page.find("form", id="fill")


@pytest.mark.parametrize("name", STAFF)
def test_what_was_handed_in_is_read_and_printed(upgraded: Upgraded, name: str) -> None:
    submission, browser = upgraded.rows(FormSubmission, name)[0], upgraded.browser(name)
    page = browser.page(f"/forms/submissions/{submission.id}")
    assert "Mrs. Whitfield" in page.text and "the steak took an hour" in page.text
    assert browser.get(f"/forms/submissions/{submission.id}.pdf").data.startswith(b"%PDF")
    assert "Mrs. Whitfield" in upgraded.browser("elena").get("/forms/submissions.csv").text


def test_a_prompts_history_is_shown_and_gone_back_in(upgraded: Upgraded) -> None:
    with upgraded.owner.session() as session:
        of_house = Prompt.group_id == upgraded.people["elena"].group_id
        changed = Prompt.prompt_en == "Say it kindly, 2."
        prompt_id = session.scalars(select(Prompt.id).where(of_house, changed)).one()
    browser, address = upgraded.browser("elena"), f"/admin/prompts/{prompt_id}"
    page = browser.page(f"{address}/history")
    versions = [each.text for each in page.find_all("h2") if each.text.startswith("Version")]
    assert versions == ["Version 3 · now", "Version 2", "Version 1"]
    assert "Elena Ruiz" in page.text
    form = {"version": page.find_all("input", name="version")[0].attributes["value"]}
    assert browser.post(f"{address}/restore", number="2", **form).status_code == 303
    assert "Say it kindly, 1." in browser.page(address).text
    assert "Dilo con calma, 1." in browser.page(address).text


def test_how_turns_of_before_went_is_shown(upgraded: Upgraded) -> None:
    browser = upgraded.browser("elena")
    turns = [
        each.attributes["href"]
        for each in browser.page("/admin/turns").find_all("a")
        if each.attributes.get("href", "").startswith("/admin/turns/")
    ]
    assert len(turns) > 10
    assert browser.page(turns[0]).status == 200
    assert browser.page("/admin/usage").status == 200


def test_the_library_of_before_is_found_and_answered_from(upgraded: Upgraded) -> None:
    browser = upgraded.browser("lucia")
    assert "pollo" in browser.page("/library/search?q=pollo+crudo").text
    talk = Talk(upgraded.app, upgraded.people["lucia"], "es")
    reply = talk.send("¿Cómo guardo el pollo crudo?")
    assert "pollo crudo" in reply.text and reply.citations, reply.text
