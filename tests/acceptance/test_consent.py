"""What is written was shown before it was agreed to, whatever a model calls in whatever order."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from flask import Flask, render_template
from sqlalchemy import select, update

from app.accounts.models import AuditEntry
from app.assistant.models import AGENT, Message, Proposal, Thread, Turn
from app.assistant.proposals.proposals import confirm
from app.assistant.threads.threads import ask_again
from app.assistant.turns.executor import ClaimedTurn, execute_turn
from app.assistant.turns.final_state import NEAR_MESSAGES
from app.config import Settings
from app.db import Database, utc_now
from app.extensions import services
from app.factory import build_app
from app.skills.expenses.models import Expense
from app.skills.service_requests.models import RequestType, ServiceRequest
from app.skills.service_requests.parts import RequestSummaryPart
from app.skills.service_requests.services.starters import add_starters
from app.skills.service_requests.texts import details_of
from app.skills.service_requests.workflow.next_step import next_step
from app.skills.service_requests.workflow.state import OpenRequest, RequestState
from app.skills.service_requests.workflow.tool_results import begun_at
from app.text.markdown import render_model_text
from tests.acceptance.conftest import Solving
from tests.acceptance.service_requests.conversation import Conversation
from tests.acceptance.service_requests.following import FollowingModel
from tests.acceptance.service_requests.talking import Talk, providers_of
from tests.acceptance.test_careless_models import SURE, begin, do
from tests.acceptance.wild_model import WildModel
from tests.factories import Member, make_user
from tests.factories.expenses import ledger_of
from tests.fridge_log import SKILLS_WITH_LOG, logged, make_table
from tests.html_checks import parse_html
from tests.model_server import Call, CutAfter, ModelServer, Say, scenario

TURNS = 6
SOLVED = ("Did this resolve your issue?", "¿Esto resolvió tu problema?")
CANCELS = ("Should I cancel the request?", "¿Cancelo la solicitud?", "Should I cancel it and start",
           "¿La cancelo y empezamos")  # fmt: skip
SAID: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "en": {
        "yes": ("yes", "yep", "ok", "sure", "go ahead", "yes please"),
        "no": ("no", "nope"),
        "cancel": ("cancel", "never mind"),
        "other": ("the ice machine is leaking", "it is by the bar, since noon",
                  "no more questions", "how long can chicken stay out?", "taxi 12 today",
                  "log 4 degrees for the bar"),
    },
    "es": {
        "yes": ("sí", "dale", "claro", "ok", "sí, por favor", "adelante"),
        "no": ("no", "mejor no"),
        "cancel": ("cancela", "olvídalo"),
        "other": ("la máquina de hielo gotea", "está junto a la barra, desde el mediodía",
                  "no más preguntas", "¿cuánto dura el pollo afuera?", "taxi 12 hoy",
                  "anota 4 grados en bar"),
    },
}  # fmt: skip


@dataclass(frozen=True)
class Seen:
    """What had been shown and collected when somebody wrote a message."""

    text: str
    parts: tuple[Mapping[str, Any], ...]
    state: RequestState

    @property
    def proposals(self) -> dict[str, Mapping[str, Any]]:
        """The cards of this reply that waited for a word, by id."""
        waiting = (p for p in self.parts if p["type"] == "proposal" and p["state"] == "pending")
        return {str(part["proposal_id"]): part for part in waiting}


@dataclass
class Ledger:
    """All that has been written for a person so far, by kind: id and what it says."""

    owner: Database
    person: Member
    known: dict[tuple[str, str], Any] = field(default_factory=dict)

    def news(self) -> dict[tuple[str, str], Any]:
        """What has been written since this was asked last."""
        with self.owner.transaction() as session:
            mine = self.person.user_id
            audited = select(AuditEntry).where(
                AuditEntry.user_id == mine, AuditEntry.action.like("tool.%")
            )
            found: dict[tuple[str, str], Any] = {
                ("request", str(row.id)): row.values
                for row in session.scalars(
                    select(ServiceRequest).where(ServiceRequest.user_id == mine)
                )
            }
            for row in session.scalars(select(Expense).where(Expense.user_id == mine)):
                found["expense", f"{row.id} {row.version} {row.deleted_at}"] = row.item
            found |= {("audit", str(row.id)): row.action for row in session.scalars(audited)}
            confirmed = select(Proposal).where(
                Proposal.user_id == mine, Proposal.state == "confirmed"
            )
            found |= {("confirmed", str(row.id)): row.tool for row in session.scalars(confirmed)}
        log = logged(self.owner, mine)
        found |= {("fridge", str(at)): row for at, row in enumerate(log)}
        new = {key: value for key, value in found.items() if key not in self.known}
        self.known = found
        return new


@pytest.fixture(scope="module", autouse=True)
def fridge_log(demo: Flask, settings: Settings, owner: Database) -> None:
    make_table(owner, settings.database_url or "")


@pytest.fixture(scope="module")
def wild(settings: Settings) -> Iterator[tuple[Flask, ModelServer]]:
    """An app with all skills and one more, and the server of the model that it asks."""
    with ModelServer() as server:
        asking = {"openai_base_url": server.base_url, "openai_api_key": "none"}
        yield build_app(settings.model_copy(update=asking), SKILLS_WITH_LOG), server


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model that does as each test says."""
    with ModelServer() as running:
        yield running


@pytest.fixture
def talk(server: ModelServer, settings: Settings, person: Callable[[str], Member]) -> Talk:
    """Somebody whom that model answers; it follows what it is told where no test says more."""
    return _talk(server, settings, person("en"))


@pytest.fixture
def trusting(server: ModelServer, settings: Settings, person: Callable[[str], Member]) -> Talk:
    """The same in a restaurant that wants no card for an expense that was said in full."""
    return _talk(server, settings, person("en"), expenses_confirm="vague")


def _talk(server: ModelServer, settings: Settings, who: Member, **more: Any) -> Talk:
    model = FollowingModel()
    server.script(model)
    asking = {"openai_base_url": server.base_url, "openai_api_key": "none", **more}
    return Talk(build_app(settings.model_copy(update=asking)), who, "en", model)


@pytest.fixture(scope="module")
def types(owner: Database, houses: dict[str, UUID]) -> list[UUID]:
    """The types of request that can be submitted, those with the fewest fields first."""
    with owner.transaction() as session:
        query = select(RequestType).where(
            RequestType.group_id == houses["alamo-prime"], RequestType.is_submittable
        )
        return [row.id for row in session.scalars(query.order_by(RequestType.slug))]


@pytest.fixture
def brief(owner: Database) -> tuple[UUID, list[UUID]]:
    """A restaurant whose requests begin at once, and their types."""
    group_id = make_user(owner).group_id
    assert group_id is not None
    with owner.transaction() as session:
        add_starters(session, group_id)
        mine = RequestType.group_id == group_id
        session.execute(update(RequestType).where(mine).values(is_guided=False))
        query = select(RequestType.id).where(
            RequestType.group_id == group_id, RequestType.is_submittable
        )
        return group_id, list(session.scalars(query.order_by(RequestType.slug)))


def converse(
    wild: tuple[Flask, ModelServer], owner: Database, who: Member, types: list[UUID], seed: int
) -> int:
    """One conversation with a model that does anything; returns how much was written.

    Raises:
        AssertionError: something was written that no earlier reply had shown.
    """
    app, server = wild
    dice = random.Random(seed)
    language = dice.choice(("en", "es"))
    server.script(WildModel(dice, dice.sample(types, len(types))))
    talk = Talk(app, who, language)
    ledger = Ledger(owner, who)
    seen, written = Seen("", (), talk.state), 0
    for _ in range(TURNS):
        kind = dice.choices(("yes", "no", "cancel", "other"), (6, 1, 0.5, 4))[0]
        said = dice.choice(SAID[language][kind])
        reply = talk.send(said)
        assert reply.status == "complete"
        new, state = ledger.news(), talk.state
        story = f"seed {seed}: {seen.text[-200:]!r} … {said!r} … {reply.body['tool_trace']}"
        check_writes(owner, new, seen, kind, story)
        check_steps(seen, state, kind, story)
        seen = Seen(reply.text, tuple(reply.body["parts"]), state)
        written += sum(1 for what, _id in new if what == "confirmed")
    return written


def check_writes(
    owner: Database, new: Mapping[tuple[str, str], Any], seen: Seen, kind: str, story: str
) -> None:
    """Each new row has a confirmed proposal of its own, and each of those was shown before."""
    rows = [key for key in new if key[0] in ("request", "expense", "fridge")]
    confirmed = [id_ for what, id_ in new if what == "confirmed"]
    # One card may be for several expenses.
    assert bool(rows) <= len(confirmed) <= 1, story
    assert sum(1 for what, _ in new if what == "audit") == len(confirmed), story
    for id_ in confirmed:
        assert kind == "yes", story
        with owner.transaction() as session:
            proposal = session.get_one(Proposal, UUID(id_))
            session.expunge(proposal)
        if id_ in seen.proposals:
            shown = seen.proposals[id_]["details"]
            assert json.loads(json.dumps(proposal.details)) == json.loads(json.dumps(shown)), story
            continue
        # The one thing that is done without a card: a request is solved, and was whole before.
        assert proposal.tool == "submit_service_request", story
        assert isinstance(seen.state, OpenRequest) and seen.state.resolution, story
        assert proposal.arguments["form_data"] == seen.state.stored, story
        assert next_step(seen.state).kind == "resolution", story


def check_steps(seen: Seen, state: RequestState, kind: str, story: str) -> None:
    """What was settled in the conversation answers what the reply before had asked."""
    is_same = begun_at(state) == begun_at(seen.state)
    if isinstance(state, OpenRequest) and isinstance(seen.state, OpenRequest) and is_same:
        assert len(state.answers) <= len(seen.state.answers) + 1, story
    before = seen.state.resolution if isinstance(seen.state, OpenRequest) else None
    now = state.resolution if isinstance(state, OpenRequest) else None
    if now is not None and now.is_accepted is not None and (before is None or before != now):
        assert before is not None and seen.text.endswith(SOLVED), story
    is_gone = seen.state.is_open and begun_at(state) != begun_at(seen.state)
    if is_gone and not state.submitted:
        assert kind == "cancel" or any(each in seen.text for each in CANCELS), story


def run(
    wild: tuple[Flask, ModelServer],
    owner: Database,
    person: Callable[[str], Member],
    types: list[UUID],
    brief: tuple[UUID, list[UUID]],
    seeds: range,
) -> None:
    """Each seed where types are asked for step by step, and where a request begins at once."""
    written = 0
    group_id, brief_types = brief
    for seed in seeds:
        written += converse(wild, owner, person("en"), types, seed)
    for seed in seeds:
        written += converse(wild, owner, make_user(owner, group_id), brief_types, seed)
    print(
        f"{2 * len(seeds) * TURNS} random behaviours, {written} writes, each of them shown before"
    )
    assert written, "nothing was ever written, so nothing was tried"


EVERYTHING = Conversation("wild", "en", (), threshold=1)


def at_once(*calls: tuple[str, Mapping[str, Any]]) -> list[Call]:
    """All these calls in one reply of a model."""
    return [Call(name, arguments) for name, arguments in calls]


def answer(question: str) -> tuple[str, Mapping[str, Any]]:
    pair = {"question": question, "answer": "yes please"}
    return "record_answers", {"questions_answers": [pair]}


def test_one_yes_cannot_answer_everything_settle_the_request_and_file_it(
    talk: Talk, server: ModelServer, solving: Solving, owner: Database
) -> None:
    everything = at_once(
        answer("When did this first occur?"),
        answer("What have you tried so far?"),
        answer("Who cannot go on working?"),
        ("evaluate_ai_resolution", {}),
        ("record_answers", {"resolved": True}),
        ("submit_service_request", {}),
    )
    server.script(scenario(everything, Say("All done."), when="yes please"))
    ledger = Ledger(owner, talk.person)
    with solving(SURE):
        begin(talk, "the walk-in is not cooling")
        reply = talk.send("yes please")
    assert ledger.news() == {}
    assert "receipt" not in [part["type"] for part in reply.body["parts"]]
    assert talk.state.resolution is None
    assert len(talk.state.answers) <= 1


def test_a_yes_to_a_question_of_the_models_own_accepts_no_solution(
    talk: Talk, server: ModelServer, solving: Solving, owner: Database
) -> None:
    file = at_once(("record_answers", {"resolved": True}), ("submit_service_request", {}))
    server.script(scenario(file, Say("All done."), when="yes please"))
    broken = [CutAfter(5), Say("Is it by the bar? Or is it elsewhere?", sizes=4)]
    server.script(scenario(broken, when="hm, let me look"))
    ledger = Ledger(owner, talk.person)
    with solving(SURE):
        begin(talk, "the walk-in is not cooling")
        do(talk, "no more questions", "record_answers", no_more_questions=True)
        assert talk.send("hm, let me look").status == "interrupted"
        asked_again = talk.send("yes please")
    assert ledger.news() == {}
    assert asked_again.text.endswith("Did this resolve your issue?")
    assert talk.state.resolution is not None
    assert talk.state.resolution.is_accepted is None


def test_a_yes_to_the_solution_files_nothing_that_came_with_it(
    talk: Talk, server: ModelServer, solving: Solving, owner: Database
) -> None:
    with solving(SURE):
        begin(talk, "the walk-in is not cooling")
        do(talk, "no more questions", "record_answers", no_more_questions=True)
        form = talk.state.form
        assert form is not None
        code = form.by_name("display_code")
        assert code is not None
        slipped_in = at_once(
            ("record_answers", {"values": {str(code.field_id): "E99"}}),
            ("record_answers", {"resolved": True}),
            ("submit_service_request", {}),
        )
        server.script(scenario(slipped_in, Say("All done."), when="yes please"))
        ledger = Ledger(owner, talk.person)
        reply = talk.send("yes please")
        assert ledger.news() == {}
        [card] = (part for part in reply.body["parts"] if part["type"] == "proposal")
        assert card["summary"]["en"] == "File this request as solved: Refrigeration and ice"
        assert ["Code on the display", "E99 (check this)"] in card["details"]["en"]
        talk.send("yes")
    assert {what for what, _id in ledger.news()} == {"request", "audit", "confirmed"}


FILE = at_once(("record_answers", {"resolved": True}), ("submit_service_request", {}))
EVALUATE = (("record_answers", {"no_more_questions": True}), ("evaluate_ai_resolution", {}))


def all_of(reply: Any) -> str:
    """Everything that a reply shows."""
    return str(reply.text) + json.dumps(reply.body["parts"])


@pytest.mark.parametrize("word", ["go ahead", "ok", "dale"])
@pytest.mark.parametrize("claim", ["Have a look.", "Done, maintenance has been notified."])
def test_a_denied_claim_leaves_the_question_the_last_word(
    talk: Talk, server: ModelServer, solving: Solving, owner: Database, word: str, claim: str,
) -> None:  # fmt: skip
    """What follows is read as the answer to the last line: behind a denial "ok" was a yes to it."""
    with solving(SURE):
        begin(talk, "the walk-in is not cooling")
        server.script(scenario(at_once(*EVALUATE), Say(claim), when="no more questions"))
        asked = talk.send("no more questions")
        assert asked.text.endswith("Did this resolve your issue?")
        server.script(scenario(FILE, Say("All right."), when=f"^{word}$"))
        talk.send(word)
    assert Ledger(owner, talk.person).news() == {}


def test_what_a_yes_would_file_is_shown_whatever_was_drawn_before_it(
    talk: Talk, server: ModelServer, solving: Solving
) -> None:
    with solving(SURE):
        begin(talk, "the walk-in is not cooling")
        form = talk.state.form
        assert form is not None
        code = form.by_name("display_code")
        assert code is not None
        slipped_in = ("record_answers", {"values": {str(code.field_id): "E99"}})
        search = ("search_manual_v2", {"query": "walk-in"})
        calls = at_once(*EVALUATE, slipped_in, search)
        server.script(scenario(calls, Say("Here you go."), when="no more questions"))
        reply = talk.send("no more questions")
    assert reply.text.endswith("Did this resolve your issue?")
    last = [part for part in reply.body["parts"] if part["type"] == "request_summary"][-1]
    assert "E99" in json.dumps(last)


def test_what_a_yes_would_file_is_not_behind_a_fold(
    talk: Talk, server: ModelServer, solving: Solving
) -> None:
    with solving(SURE):
        begin(talk, "the walk-in is not cooling")
        server.script(scenario(at_once(*EVALUATE), Say("Here."), when="no more questions"))
        reply = talk.send("no more questions")
    assert reply.text.endswith("Did this resolve your issue?")
    so_far = [part for part in reply.body["parts"] if part["type"] == "request_summary"]
    part = RequestSummaryPart.model_validate(so_far[-1])
    with talk.app.test_request_context("/"):
        drawn = render_template(part.template, part=part)
    assert '<details class="so-far" open>' in drawn


def test_no_words_are_filed_as_the_persons_own_that_they_did_not_write(
    talk: Talk, server: ModelServer, owner: Database
) -> None:
    begin(talk, "the walk-in is not cooling")
    form = talk.state.form
    assert form is not None
    inside = form.by_name("temperature")
    assert inside is not None
    asks = ("request_field_input", {"field_id": str(inside.field_id)})
    made_up = "52, and I saw Marcus unplug it on purpose and will swear to it"
    for words in (made_up, "52 🅼🅰🆁🅲🆄🆂 🖕", "52... sure?!"):
        told = ("record_answers", {"said": words})
        server.script(scenario(at_once(asks, told), Say("Noted."), when="it beeps"))
        talk.send("it beeps, 52")
        kept = talk.state.told["temperature"]
        assert (kept.words, kept.is_inferred) == ("", True)
    # Theirs are: as they wrote them, wherever in the message, and shown before they are filed.
    own = ("record_answers", {"said": "it shows 41"})
    server.script(scenario(at_once(asks, own), Say("Noted."), when="shows"))
    talk.send("Well, it shows 41 now")
    kept = talk.state.told["temperature"]
    assert (kept.words, kept.is_inferred) == ("41", False)
    assert "unplug" not in json.dumps(details_of(talk.state, "en"))


def test_what_a_yes_would_do_is_drawn_again_where_it_has_gone_far_up(
    talk: Talk, server: ModelServer, solving: Solving
) -> None:
    with solving(SURE):
        begin(talk, "the walk-in is not cooling")
        server.script(scenario(at_once(*EVALUATE), Say("Here."), when="no more questions"))
        talk.send("no more questions")
        drawn = []
        for _ in range(NEAR_MESSAGES):
            server.script(scenario(Say("On Fridays."), when="tips"))
            reply = talk.send("and the tips?")
            assert reply.text.endswith("Did this resolve your issue?")
            # Whatever was answered in between, the yes is to the solution.
            assert talk.state.resolution is not None
            assert solution_of(talk)[:30] in reply.text
            drawn.append("request_summary" in [part["type"] for part in reply.body["parts"]])
    # Not each time, and never out of sight.
    assert drawn[0] is False
    assert drawn.count(True) == 1


def test_a_question_that_a_model_wrote_itself_is_asked_all_the_same(
    talk: Talk, server: ModelServer, solving: Solving
) -> None:
    """It may stand in a fence that hides what is meant."""
    with solving(SURE):
        begin(talk, "the walk-in is not cooling")
        server.script(scenario(at_once(*EVALUATE), Say("Here."), when="no more questions"))
        shown = talk.send("no more questions").text
        again = shown[shown.index("This may solve it") :]
        server.script(scenario(Say(f"```\n{again}"), when="tips"))
        reply = talk.send("and the tips?")
    assert reply.text.count("Did this resolve your issue?") == 2
    drawn = parse_html(str(render_model_text(reply.text))).children[-1]
    assert (drawn.tag, drawn.text.strip()) == ("p", "Did this resolve your issue?")


def test_the_built_in_assistant_says_a_solution_once_a_reply(
    demo: Flask, person: Callable[[str], Member], solving: Solving
) -> None:
    talk = Talk(demo, person("en"), "en")
    with solving(SURE):
        for said in ("the ice machine makes no ice", "Refrigeration and ice", "normal"):
            talk.send(said)
        talk.send("no more questions")
        drawn = []
        for _ in range(NEAR_MESSAGES):
            reply = talk.send("how long can raw chicken stay out?")
            assert "2 hours" in reply.text
            assert reply.text.count(solution_of(talk)[:30]) == 1
            assert reply.text.count("Did this resolve your issue?") == 1
            drawn.append("request_summary" in [part["type"] for part in reply.body["parts"]])
    assert drawn.count(True) == 1


def solution_of(talk: Talk) -> str:
    """What was proposed, without the numbers of its sources."""
    assert isinstance(talk.state, OpenRequest) and talk.state.resolution is not None
    return re.sub(r"\[\d+\]", "", talk.state.resolution.answer).strip()


@pytest.mark.parametrize("is_cut_off", [False, True])
def test_a_solution_is_shown_before_anybody_is_asked_whether_it_helped(
    talk: Talk, server: ModelServer, solving: Solving, is_cut_off: bool
) -> None:
    with solving(SURE):
        begin(talk, "the walk-in is not cooling")
        calls = at_once(*EVALUATE, ("search_manual_v2", {"query": "tips"}))
        said = [CutAfter(5), Say("Let me look into it.", sizes=4)] if is_cut_off else Say("Look.")
        steps = said if isinstance(said, list) else [said]
        server.script(scenario(calls, steps, when="no more questions"))
        reply = talk.send("no more questions")
        if is_cut_off:
            assert reply.status == "interrupted"
            server.script(scenario(Say("Tips are shared on Fridays."), when="tips"))
            reply = talk.send("and the tips?")
    assert solution_of(talk)[:30] in all_of(reply)
    assert reply.text.endswith("Did this resolve your issue?")
    assert "request_summary" in [part["type"] for part in reply.body["parts"]]


def test_a_yes_answers_the_question_that_stands_last_and_chips_are_its_own(
    talk: Talk, server: ModelServer, solving: Solving, owner: Database
) -> None:
    with solving(SURE):
        begin(talk, "the walk-in is not cooling")
        expense = ("add_expense", {"item": "taxi", "amount": 12})
        show = ("record_answers", {"show": True})
        server.script(
            scenario(at_once(*EVALUATE, expense, show), Say("Look."), when="no more questions")
        )
        asked = talk.send("no more questions")
        server.script(scenario(FILE, Say("All done."), when="^yes$"))
        ledger = Ledger(owner, talk.person)
        talk.send("yes")
    assert asked.text.endswith("Did this resolve your issue?")
    assert asked.text.count("?") == 1
    assert [each["label"] for each in asked.body["suggestions"]] == ["Yes, it did", "No, go on"]
    assert {what for what, _id in ledger.news()} == {"request", "audit", "confirmed"}


def test_a_question_asked_again_after_another_is_the_only_one(
    talk: Talk, server: ModelServer
) -> None:
    begin(talk, "the walk-in is not cooling")
    cancel, expense = (
        ("cancel_service_request", {}),
        ("add_expense", {"item": "taxi", "amount": 12}),
    )
    calls = at_once(cancel, expense, cancel)
    server.script(scenario(calls, Say("Look."), when="taxi twelve"))
    reply = talk.send("taxi twelve")
    assert reply.text.count("?") == 1
    assert reply.text.endswith("Should I cancel the request? None of it will be kept.")


def test_nothing_is_cancelled_that_nobody_asked_to_cancel(talk: Talk) -> None:
    begin(talk)
    reply = do(talk, "it is by the bar", "cancel_service_request")
    assert talk.state.is_open
    assert reply.text.endswith("Should I cancel the request? None of it will be kept.")
    do(talk, "yes", "cancel_service_request")
    assert not talk.state.is_open


@pytest.mark.parametrize("word", ["yes", "sure"])
def test_what_is_posted_to_one_question_is_no_yes_to_another(
    talk: Talk, server: ModelServer, word: str
) -> None:
    begin(talk)
    asked = do(talk, "hello you", "cancel_service_request")
    assert asked.text.endswith("Should I cancel the request? None of it will be kept.")
    state = talk.state
    assert isinstance(state, OpenRequest) and state.asked
    cancel = at_once(("cancel_service_request", {}))
    server.script(scenario(cancel, Say("Thanks, I wrote that down."), when=word))
    talk.send("", {"type": "question_answer", "question": state.asked, "answer": word})
    after = talk.state
    assert isinstance(after, OpenRequest) and after.answers == ((state.asked, word),)


def test_what_the_request_does_not_show_is_not_told_as_noted(
    talk: Talk, server: ModelServer
) -> None:
    """One answer hides the field of another, and a model may name one that is not shown."""
    form = talk.form("uniform")
    ids = {each.field.name: str(each.field_id) for each in form.fields}

    def note(said: str, **values: Any) -> str:
        named = {ids[name]: value for name, value in values.items()}
        calls = at_once(("record_answers", {"values": named}))
        server.script(scenario(calls, Say("Fine."), when=said))
        return talk.send(said).text

    begun = at_once(("get_service_request_form", {"type_id": str(form.type_id)}))
    server.script(scenario(begun, Say("All right.")))
    talk.send("I need a shirt")
    note("a shirt in m", title="A shirt", priority="normal", piece="shirt", size="m")
    both = note("rather a name tag, size xl", piece="name_tag", size="xl")
    alone = note("shoe size 9", shoe_size=9)
    state = talk.state
    assert isinstance(state, OpenRequest)
    assert state.values["piece"] == "name_tag" and "size" not in state.values
    assert "XL" not in both and "Shoe size" not in alone


def make_again(talk: Talk, owner: Database) -> str:
    """Have the last reply made again, by the model that the talk has; returns what it says."""
    with owner.transaction() as session:
        mine = select(Message.id).where(Message.thread_id == talk.thread_id)
        last = session.scalars(
            mine.where(Message.role == "assistant").order_by(Message.id.desc())
        ).first()
    assert last is not None
    with talk.app.app_context():
        provider, standby = providers_of(talk.app)
        with services().database.session(talk.person.scope) as session:
            accepted = ask_again(session, talk.thread_id, last)
            turn = update(Turn).where(Turn.id == accepted.turn.id)
            session.execute(
                turn.values(
                    status="running", fence=1, attempts=1, runner_id="tests",
                    lease_until=utc_now() + timedelta(seconds=120),
                )
            )  # fmt: skip
            session.commit()
        claimed = ClaimedTurn(accepted.turn.id, 1, 1, talk.person.scope)
        with talk.app.test_request_context("/"):
            execute_turn(services(), provider, claimed, standby=standby)
    with owner.transaction() as session:
        return session.get_one(Message, accepted.reply.id).content


def test_what_another_version_of_a_reply_has_done_is_not_denied_as_undone(
    talk: Talk, server: ModelServer, owner: Database
) -> None:
    """Who were told to ask for it again would have it twice."""
    propose_a_taxi(talk, server, owner)
    with owner.transaction() as session:
        mine = Proposal.user_id == talk.person.user_id
        card = session.scalars(select(Proposal.id).where(mine)).one()
    with (
        talk.app.app_context(),
        talk.app.test_request_context("/"),
        services().database.session(talk.person.scope) as session,
    ):
        confirm(session, services().registry, card)
        session.commit()
    server.script(scenario(Say("I added the taxi for $12."), when="the taxi was twelve"))
    said = make_again(talk, owner)
    assert "look at its receipt there before you ask again" in said
    assert "tell me again" not in said


def propose_a_taxi(talk: Talk, server: ModelServer, owner: Database) -> Ledger:
    """A proposal on its card, and what was written before it."""
    propose = at_once(("add_expense", {"item": "taxi", "amount": 12}))
    server.script(scenario(propose, Say("Look."), when="the taxi was twelve"))
    ledger = Ledger(owner, talk.person)
    talk.send("the taxi was twelve")
    return ledger


def test_words_written_before_the_reply_had_ended_confirm_nothing(
    talk: Talk, server: ModelServer, owner: Database
) -> None:
    ledger = propose_a_taxi(talk, server, owner)
    with owner.transaction() as session:
        later = utc_now() + timedelta(seconds=60)
        mine = Turn.thread_id == talk.thread_id
        session.execute(update(Turn).where(mine).values(finished_at=later))
    reply = talk.send("yes")
    assert ledger.news() == {}
    assert (
        reply.text == "You wrote this before my answer was complete. Look at it and answer again."
    )


def test_a_yes_to_a_colleague_who_wrote_in_between_confirms_nothing(
    talk: Talk, server: ModelServer, owner: Database
) -> None:
    ledger = propose_a_taxi(talk, server, owner)
    with owner.transaction() as session:
        thread = session.get_one(Thread, talk.thread_id)
        written = Message(
            group_id=thread.group_id,
            user_id=thread.user_id,
            thread_id=thread.id,
            parent_id=thread.head_id,
            role=AGENT,
            content="Can we come at five?",
        )
        session.add(written)
        session.flush()
        thread.head_id = written.id
    told = talk.send("yes").text
    assert ledger.news() == {}
    assert told == "Use the buttons on the card, so I know what you mean."


@pytest.mark.parametrize(
    ("said", "written"),
    [("Add taxi $5 today", 5), ("Add taxi $5 today, please", 5), ("Add taxi today", 0), ("yes", 0)],
)
def test_where_a_clear_expense_needs_no_card_only_what_was_said_is_written(
    trusting: Talk,
    server: ModelServer,
    owner: Database,
    database: Database,
    said: str,
    written: int,
) -> None:
    today = str(ledger_of(database, trusting.person).today)
    twice = at_once(
        ("add_expense", {"item": "taxi", "amount": 5, "date": today}),
        ("add_expense", {"item": "taxi", "amount": 500, "date": today}),
    )
    server.script(scenario(twice, Say("Done."), when=re.escape(said)))
    trusting.send(said)
    with owner.transaction() as session:
        mine = select(Expense.amount).where(Expense.user_id == trusting.person.user_id)
        assert list(session.scalars(mine)) == ([Decimal(written)] if written else [])


@pytest.mark.parametrize(
    "said",
    [
        "I spent $5 on taxi today, but do not add it",
        "add taxi $5 today (not yet)",
        "agrega taxi $5 hoy, pero no lo anotes",
    ],
)
def test_what_is_taken_back_in_one_breath_is_not_written(
    trusting: Talk, server: ModelServer, owner: Database, database: Database, said: str
) -> None:
    today = str(ledger_of(database, trusting.person).today)
    call = at_once(("add_expense", {"item": "taxi", "amount": 5, "date": today}))
    server.script(scenario(call, Say("Done."), when=re.escape(said)))
    trusting.send(said)
    with owner.transaction() as session:
        mine = select(Expense.id).where(Expense.user_id == trusting.person.user_id)
        assert list(session.scalars(mine)) == []


def test_nothing_is_written_that_was_not_shown_before(
    wild: tuple[Flask, ModelServer],
    owner: Database,
    person: Callable[[str], Member],
    types: list[UUID],
    brief: tuple[UUID, list[UUID]],
    solving: Solving,
) -> None:
    with solving(EVERYTHING):
        run(wild, owner, person, types, brief, range(8))


@pytest.mark.soak
def test_nothing_is_written_that_was_not_shown_before_by_a_thousand_behaviours(
    wild: tuple[Flask, ModelServer],
    owner: Database,
    person: Callable[[str], Member],
    types: list[UUID],
    brief: tuple[UUID, list[UUID]],
    solving: Solving,
) -> None:
    with solving(EVERYTHING):
        run(wild, owner, person, types, brief, range(1000, 1000 + 1000 // TURNS + 1))
