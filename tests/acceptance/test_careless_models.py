"""A model that does not do as it is told, and what else goes wrong around a request."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

import pytest
from flask import Flask
from sqlalchemy import func, select, text

from app.accounts.models import User
from app.db import Database
from app.skills.service_requests.models import RequestType, ServiceRequest
from app.skills.service_requests.workflow.next_step import next_step
from tests.acceptance.asking import Reply
from tests.acceptance.conftest import Followed, Solving
from tests.acceptance.service_requests.conversation import Conversation, Turn
from tests.acceptance.service_requests.talking import Talk
from tests.factories import Member, make_user, sign_in
from tests.model_server import Call, CutAfter, Say, scenario

PLAIN = Conversation("plain", "en", (), is_solving=False)
SURE = Conversation("sure", "en", (), threshold=1)
UNSURE = Conversation("unsure", "en", (), threshold=100, sureness=5)


@pytest.fixture
def talk(followed: Followed, person: Callable[[str], Member]) -> Talk:
    """Somebody whom a language model answers."""
    return Talk(followed.native, person("en"), "en", followed.model)


def told(followed: Followed) -> list[Any]:
    """The results that the model was given for the last message."""
    return followed.server.last_call.tool_results


def do(talk: Talk, said: str, tool: str, **arguments: Any) -> Reply:
    """A message that the model answers with this call."""
    return talk.take(Turn(say=said, calls=((tool, arguments),)))


def begin(talk: Talk, said: str = "the ice machine is leaking") -> None:
    """A request that has all it needs, and waits for the first question."""
    talk.take(Turn(say=said))
    talk.take(Turn(choose="refrigeration"))
    talk.take(Turn(tap={"type": "field_response", "field": "priority", "value": "high"}))
    assert next_step(talk.state).kind == "question"


def test_what_nobody_said_is_marked_and_shown_so(talk: Talk, solving: Solving) -> None:
    with solving(PLAIN):
        begin(talk)
        do(talk, "it is by the bar", "record_answers", values={"display_code": "E27-B"})
        assert talk.state.told["display_code"].is_inferred
        do(talk, "no more questions", "record_answers", no_more_questions=True)
        reply = talk.take(Turn(say="no"))
    [proposal] = (part for part in reply.body["parts"] if part["type"] == "proposal")
    assert ["Code on the display", "E27-B (check this)"] in proposal["details"]["en"]
    assert ["What is wrong", "Leaks · You said: “leaking”"] in proposal["details"]["en"]


def test_a_word_for_the_value_is_its_persons_own(talk: Talk) -> None:
    begin(talk)
    do(talk, "the code is E27 B", "record_answers", values={"display_code": "E27 B"})
    assert not talk.state.told["display_code"].is_inferred


def test_it_cannot_file_before_the_questions(talk: Talk, followed: Followed) -> None:
    begin(talk)
    reply = do(talk, "just send it", "submit_service_request")
    [refused] = told(followed)
    assert refused["error"] is True
    assert "clarifying questions first" in refused["suggestion"]
    assert not reply.body["parts"]


def test_it_cannot_file_what_the_request_does_not_hold(
    talk: Talk, followed: Followed, solving: Solving
) -> None:
    with solving(PLAIN):
        begin(talk)
        do(talk, "no more questions", "record_answers", no_more_questions=True)
        field_id = str(talk.form("refrigeration").by_name("priority").field_id)  # type: ignore[union-attr]
        reply = do(talk, "no", "submit_service_request", form_data={field_id: "low"})
    assert told(followed)[0]["error"] is True
    assert not reply.body["parts"]
    assert talk.state.values["priority"] == "high"


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ({"values": {"display_code": "E1", str(uuid4()): "x"}}, "get_service_request_form"),
        ({"skipped": ["priority"]}, "it is needed"),
        (
            {"questions_answers": [{"question": "Is there anything else?", "answer": "no"}]},
            "technician",
        ),
        ({"resolved": True}, ""),
        ({"values": {"equipment": "x"}, "by": "me"}, "Correct the arguments"),
    ],
    ids=["unknown field", "required", "empty question", "no solution", "unknown argument"],
)
def test_what_it_may_not_record_changes_nothing(
    talk: Talk, followed: Followed, arguments: Mapping[str, Any], hint: str
) -> None:
    begin(talk)
    before = talk.state
    do(talk, "hm, it is what it is", "record_answers", **arguments)
    assert told(followed)[0]["error"] is True
    assert hint in told(followed)[0].get("suggestion", "")
    after = talk.state
    assert (after.told, after.answers, after.skipped) == (
        before.told,
        before.answers,
        before.skipped,
    )


def test_a_value_that_its_field_refuses_is_asked_for_again(talk: Talk, followed: Followed) -> None:
    talk.take(Turn(say="the ice machine is leaking"))
    talk.take(Turn(choose="refrigeration"))
    do(talk, "quite high", "record_answers", values={"priority": "enormous"})
    result = told(followed)[0]
    assert result["refused"][0]["error"]
    assert result["next"]["tool"] == "request_field_input"
    assert "priority" not in talk.state.told


def test_a_type_of_another_house_is_not_there(
    talk: Talk, followed: Followed, owner: Database, houses: dict[str, UUID]
) -> None:
    with owner.transaction() as session:
        theirs = session.scalars(
            select(RequestType.id).where(
                RequestType.group_id == houses["casa-lucero"], RequestType.is_submittable
            )
        ).first()
    do(talk, "open that one", "get_service_request_form", type_id=str(theirs))
    assert told(followed)[0]["error"] is True
    assert not talk.state.is_open


@pytest.mark.parametrize(
    "tool",
    ["record_answers", "evaluate_ai_resolution", "submit_service_request"],
)
def test_without_a_request_there_is_nothing_to_do(
    talk: Talk, followed: Followed, tool: str
) -> None:
    do(talk, f"please {tool} now", tool)
    assert told(followed)[0]["error"] is True
    assert not talk.state.is_open


def test_a_maybe_is_no_yes_whatever_it_says(
    talk: Talk, followed: Followed, solving: Solving, owner: Database
) -> None:
    with solving(SURE):
        begin(talk, "the walk-in is not cooling")
        do(talk, "no more questions", "record_answers", no_more_questions=True)
        reply = do(talk, "maybe", "record_answers", resolved=True)
    resolution = talk.state.resolution
    assert resolution is not None
    assert resolution.is_accepted is None
    assert [entry["ok"] for entry in reply.body["tool_trace"]] == [False]
    assert reply.text.endswith("Did this resolve your issue?")
    assert filed(owner, talk) == 0


def filed(owner: Database, talk: Talk) -> int:
    with owner.transaction() as session:
        made = select(func.count()).where(ServiceRequest.thread_id == talk.thread_id)
        return session.scalar(made) or 0


def test_a_solution_that_is_not_sure_enough_is_told_to_nobody(
    talk: Talk, followed: Followed, solving: Solving
) -> None:
    followed.model.confidence = UNSURE.sureness
    with solving(UNSURE):
        begin(talk, "the walk-in is not cooling")
        reply = do(talk, "no more questions", "record_answers", no_more_questions=True)
    [solved] = (each for each in told(followed) if "resolvable" in each)
    assert (solved["resolvable"], solved["proposed_answer"]) == (False, "")
    assert "[1]" not in reply.everything
    assert talk.state.resolution is None
    assert talk.state.confidence is not None


def test_the_model_is_given_the_step_and_the_person_its_words(
    talk: Talk, followed: Followed
) -> None:
    begin(talk)
    step = json.loads(followed.model.given[-1])
    field = talk.form("refrigeration").by_name("priority")
    assert field is not None
    assert step["type"] == "field_response"
    assert (step["field_id"], step["value"]) == (str(field.field_id), "high")
    do(talk, "since noon", "record_answers", answer="since noon")
    said = [
        each["content"] for each in followed.server.last_call.messages if each["role"] == "user"
    ]
    assert any('"type_selection"' in each for each in said)
    assert not any("✓" in each for each in said)


def test_a_file_is_for_whoever_sent_it_and_who_looks_after_the_request(
    demo: Flask,
    person: Callable[[str], Member],
    owner: Database,
    houses: dict[str, UUID],
    solving: Solving,
) -> None:
    talk = Talk(demo, person("en"), "en")
    with solving(PLAIN):
        begin(talk)
        for said in ("no more questions", "photos"):
            talk.take(Turn(say=said))
        photos = {"type": "field_response", "field": "photos", "upload": ["leak.jpg"]}
        talk.take(Turn(tap=photos))
        talk.take(Turn(say="yes"))
    address = f"/files/{talk.uploads['leak.jpg']}"
    with owner.transaction() as session:
        request = session.scalars(
            select(ServiceRequest).where(ServiceRequest.thread_id == talk.thread_id)
        ).one()
        agent = session.get_one(User, request.assignee_id)
    back = sign_in(demo, owner, talk.person).get(address)
    assert (back.status_code, back.mimetype) == (200, "image/jpeg")
    assert back.headers["Content-Disposition"].startswith("attachment;")
    looking = Member(agent.id, request.group_id, agent.email, agent.name, "manager", "en")
    assert sign_in(demo, owner, looking).get(address).status_code == 200
    colleague = make_user(owner, houses["alamo-prime"], "staff")
    stranger = make_user(owner, houses["casa-lucero"], "admin")
    for other in (colleague, stranger):
        assert sign_in(demo, owner, other).get(address).status_code == 404


@contextmanager
def gone(owner: Database, table: str) -> Iterator[None]:
    """A table that cannot be read for a while."""
    with owner.transaction() as session:
        session.execute(text(f"ALTER TABLE {table} RENAME TO {table}_away"))
    try:
        yield
    finally:
        with owner.transaction() as session:
            session.execute(text(f"ALTER TABLE {table}_away RENAME TO {table}"))


@pytest.mark.parametrize("answering", ["builtin", "model"])
def test_after_a_tools_error_it_says_so_and_goes_on_when_told_to(
    demo: Flask,
    followed: Followed,
    person: Callable[[str], Member],
    owner: Database,
    answering: str,
    solving: Solving,
) -> None:
    is_model = answering == "model"
    app = followed.native if is_model else demo
    talk = Talk(app, person("en"), "en", followed.model if is_model else None)
    begin(talk)
    over = (("record_answers", {"no_more_questions": True}),)
    with gone(owner, "service_request_settings"):
        reply = talk.take(Turn(say="no more questions", calls=over))
    assert reply.status == "complete"
    assert [entry["ok"] for entry in reply.body["tool_trace"]] == [True, False]
    assert is_model or re.search("try again.*cancel", reply.text)
    assert next_step(talk.state).kind == "evaluate"
    assert len(talk.state.told) >= 4
    with solving(PLAIN):
        again = talk.take(Turn(say="try again", calls=(("evaluate_ai_resolution", {}),)))
    assert "You can still add" in again.text


@pytest.mark.parametrize(
    ("language", "said", "claim", "denied"),
    [
        (
            "en",
            "add taxi $14 today",
            "I've added your taxi $14 for today.",
            "Nothing was saved or sent",
        ),
        ("en", "the fryer is broken", "I've told the manager.", "Nothing was saved or sent"),
        ("es", "agrega taxi $14 hoy", "Listo, ya registré tu gasto.", "no se guardó"),
        ("en", "that taxi was wrong, delete it", "Deleted.", "Nothing was saved or sent"),
        ("en", "make it urgent", "I moved it up to urgent.", "Nothing was saved or sent"),
        ("es", "ponla urgente", "Le cambié la prioridad a urgente.", "no se guardó"),
    ],
)
def test_what_it_claims_and_has_not_done_is_denied(
    followed: Followed, person: Callable[[str], Member], language: str, said: str, claim: str,
    denied: str,
) -> None:  # fmt: skip
    talk = Talk(followed.native, person(language), language, followed.model)
    reply = talk.take(Turn(say=said, calls=(), words=claim))
    assert reply.text.startswith(claim)
    assert denied in reply.text


def test_what_a_card_or_an_answer_shows_is_not_denied(talk: Talk) -> None:
    begin(talk)
    reply = do(talk, "it is by the bar", "record_answers", values={"display_code": "E27-B"})
    assert "Nothing was saved or sent" not in reply.text and "Not all of this" not in reply.text


@pytest.mark.parametrize(
    "claim",
    ["Done! I've filed your request.", "I've told the manager.", "I've cancelled the request.",
     "I've deleted the taxi from the ledger.", "I've logged your taxi $12.",
     "I've recorded the answer and added $12 for the cab.", "Your request is in the queue now.",
     "I put your request through to maintenance."],
)  # fmt: skip
def test_what_only_a_conversation_keeps_has_reached_nobody(talk: Talk, claim: str) -> None:
    begin(talk)
    call = ("record_answers", {"values": {"display_code": "E27-B"}})
    reply = talk.take(Turn(say="it shows E27-B", calls=(call,), words=claim))
    assert "Not all of this has been done." in reply.text


def test_what_took_no_step_has_noted_nothing(talk: Talk) -> None:
    begin(talk)
    call = ("record_answers", {"values": {}})
    reply = talk.take(Turn(say="by the bar", calls=(call,), words="I've recorded that."))
    assert "Not all of this has been done." in reply.text


def test_what_it_has_cancelled_may_be_said(talk: Talk) -> None:
    begin(talk)
    call = ("cancel_service_request", {})
    words = "I've cancelled the request."
    reply = talk.take(Turn(say="cancel the request", calls=(call,), words=words))
    assert "Not all of this" not in reply.text and "Nothing was saved or sent" not in reply.text


def test_what_was_done_before_is_not_asked_for_again(talk: Talk) -> None:
    """Whoever did as they were told would do it twice."""
    do(talk, "add taxi $14 today", "add_expense", item="taxi", amount=14)
    talk.take(Turn(say="yes"))
    words = "You're welcome! I've added your taxi for $14."
    reply = talk.take(Turn(say="thanks a lot for that", calls=(), words=words))
    assert "The receipt for what was done before is above." in reply.text
    assert "tell me again" not in reply.text


@pytest.mark.parametrize(
    ("language", "asked", "said"),
    [
        ("en", "is it in?", "Nothing was added. Tell me again and I will add it."),
        ("en", "is it in?", "No, your taxi is not in the ledger yet."),
        ("en", "is it in?", "I haven't added it."),
        ("en", "is it in?", "It is waiting for your yes."),
        ("es", "¿ya está?", "No se agregó nada. Dímelo otra vez."),
        ("es", "¿ya está?", "Tu taxi todavía no está en la lista."),
    ],
)
def test_what_it_denies_and_was_done_is_told(
    followed: Followed, person: Callable[[str], Member], language: str, asked: str, said: str
) -> None:
    """Whoever believed it would do it twice."""
    talk = Talk(followed.native, person(language), language, followed.model)
    do(talk, "add taxi $14 today", "add_expense", item="taxi", amount=14)
    talk.take(Turn(say="yes" if language == "en" else "sí"))
    reply = talk.take(Turn(say=asked, calls=(), words=said))
    receipt = {"en": "The receipt for what was done before is above.", "es": "El comprobante de lo"}
    assert receipt[language] in reply.text
    assert talk.take(
        Turn(say="what is a Paloma", calls=(), words="A cocktail, not a wine.")
    ).text == ("A cocktail, not a wine.")


@pytest.mark.parametrize(
    ("language", "asked", "said"),
    [
        ("en", "taxi 14 today please", "The $14 taxi expense was approved."),
        ("en", "taxi 14 today please", "Your confirmation number is 4421."),
        ("en", "taxi 14 today please", "The operation was successful."),
        ("en", "taxi 14 today please", "You'll get reimbursed on Friday."),
        ("en", "taxi 14 today please", "J'ai ajouté votre taxi de 14 $ aux dépenses."),
        ("en", "the fryer is broken", "Great, Tony comes at nine."),
        ("es", "agrega taxi 14 hoy", "Perfecto, gracias por tu mensaje."),
    ],
)
def test_whoever_asks_for_something_to_be_written_is_told_when_it_is_not(
    followed: Followed, person: Callable[[str], Member], language: str, asked: str, said: str
) -> None:
    """In whatever words, and in whatever language, a model says that it is."""
    talk = Talk(followed.native, person(language), language, followed.model)
    denied = {"en": "Nothing was saved or sent", "es": "no se guardó"}[language]
    assert denied in talk.take(Turn(say=asked, calls=(), words=said)).text


def test_a_model_that_asks_back_or_was_asked_for_no_write_is_left_alone(talk: Talk) -> None:
    for asked, said in (
        ("add a taxi", "How much was it?"),
        ("taxi 14", "On which day was the taxi?"),
        ("what is in the Paloma?", "Tequila, grapefruit and lime."),
        ("thanks", "You're welcome!"),
    ):
        assert talk.take(Turn(say=asked, calls=(), words=said)).text == said


@pytest.mark.parametrize(
    "claim",
    ["I've cancelled that one and put your new request through to maintenance.",
     "I've cancelled the request. The new one is in the queue now.",
     "I've cancelled the request and handed your time-off form in to HR.",
     "Cancelled. HR has your report and Marcus is on his way.",
     "I've cancelled the request and deleted SR-2026-000003 as well."],
)  # fmt: skip
def test_who_cancels_what_was_begun_has_sent_nothing_else(talk: Talk, claim: str) -> None:
    begin(talk)
    call = ("cancel_service_request", {})
    reply = talk.take(Turn(say="cancel the request", calls=(call,), words=claim))
    assert "Not all of this has been done." in reply.text


def test_what_a_widget_has_settled_is_not_denied(talk: Talk) -> None:
    talk.take(Turn(say="the ice machine is leaking"))
    talk.take(Turn(choose="refrigeration"))
    reply = talk.take(
        Turn(
            tap={"type": "field_response", "field": "priority", "value": "high"},
            words="I've recorded the priority: high.",
        )
    )
    assert "Nothing was saved or sent" not in reply.text and "Not all of this" not in reply.text


@pytest.mark.parametrize(
    "words",
    ["I've filed your request and told the manager.", "Your taxi $14 is recorded.",
     "I put your request through to maintenance.", "I've deleted your request."],
)  # fmt: skip
def test_what_a_widget_cannot_settle_is_denied(talk: Talk, words: str) -> None:
    talk.take(Turn(say="the ice machine is leaking"))
    talk.take(Turn(choose="refrigeration"))
    tap = {"type": "field_response", "field": "priority", "value": "high"}
    assert "Not all of this has been done." in talk.take(Turn(tap=tap, words=words)).text


def test_a_true_word_about_a_priority_that_was_kept_is_not_denied(talk: Talk) -> None:
    begin(talk)
    form = talk.state.form
    assert form is not None
    priority = form.by_name("priority")
    assert priority is not None
    call = ("record_answers", {"values": {str(priority.field_id): "low"}})
    words = "I've changed the priority to low."
    reply = talk.take(Turn(say="make it low priority", calls=(call,), words=words))
    assert talk.state.told["priority"].value == "low"
    assert "Not all of this" not in reply.text


def test_what_is_told_of_a_list_is_not_to_be_asked_for_again(talk: Talk) -> None:
    """It may be true of what another chat did: who did it again would do it twice."""
    words = "Yes, your taxi $14 has been recorded."
    call = ("list_expenses", {})
    reply = talk.take(Turn(say="did my taxi get added?", calls=(call,), words=words))
    assert "I only looked it up" in reply.text and "tell me again" not in reply.text


LIE = "I've filed your request and told the manager. They will come today and you need do nothing."


@pytest.mark.parametrize("is_cut", [False, True])
@pytest.mark.parametrize(
    ("call", "claim"),
    [
        (("submit_service_request", {}), LIE),
        (("add_expense", {"item": "taxi", "amount": 14}), "I've added your taxi $14."),
        (("add_expense", {"item": "taxi", "amount": 14}), "Ya agregué tu gasto de taxi por $14."),
    ],
)
def test_a_card_that_waits_makes_no_claim_true_beside_an_answer_that_was_kept(
    talk: Talk, followed: Followed, solving: Solving, call: tuple[str, Mapping[str, Any]],
    claim: str, is_cut: bool,
) -> None:  # fmt: skip
    with solving(PLAIN):
        begin(talk)
        do(talk, "no more questions", "record_answers", no_more_questions=True)
        do(talk, "no", "submit_service_request")
        field = talk.form("refrigeration").by_name("display_code")
        assert field is not None
        kept = ("record_answers", {"values": {str(field.field_id): "E27"}})
        # Beside them it searches, so that it is asked for words.
        wishes = (kept, call, ("search_manual_v2", {"query": "tips"}))
        calls = [Call(*each, sizes=60) for each in wishes]
        words = Say(claim, sizes=40)
        steps = [CutAfter(-(-len(claim) // 40)), words] if is_cut else words
        followed.server.script(scenario(calls, steps, when="it shows E27"))
        reply = talk.send("it shows E27")
    assert reply.status == ("interrupted" if is_cut else "complete")
    assert "Not all of this has been done." in reply.text


def test_that_it_recorded_what_the_field_refused_is_denied(talk: Talk) -> None:
    begin(talk)
    call = ("record_answers", {"values": {"priority": "enormous"}})
    words = "I've recorded the priority as enormous and updated your request."
    reply = talk.take(Turn(say="make it enormous", calls=(call,), words=words))
    assert talk.state.told["priority"].value == "high"
    assert "Not all of this has been done." in reply.text
