"""What widgets post over HTTP: taken and told by the server, or refused and nothing added."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import delete, select
from werkzeug.test import TestResponse

from app.assistant.models import Thread
from app.db import Database, new_id, utc_now
from app.files.models import StoredFile
from app.skills.service_requests.models import RequestType
from app.skills.service_requests.workflow.state import OpenRequest
from tests.factories import CheckedClient, Member, make_user, sign_in
from tests.skills.service_requests.building import (
    Talk,
    id_in,
    id_of,
    make_file,
    make_type,
    start_talk,
)

TOMORROW = f"{utc_now() + timedelta(days=2):%Y-%m-%d}"
HOME = {"line1": "123 Main St", "city": "LA", "state": "CA", "postal": "90001"}


@pytest.fixture
def browser(app: Flask, owner: Database, member: Member) -> CheckedClient:
    """The browser of whoever asks for something."""
    return sign_in(app, owner, member)


@pytest.fixture
def talk(database: Database, member: Member, wide: RequestType) -> Talk:
    """A conversation in which the type with all fields has been chosen."""
    return start_talk(database, member, wide)


def send(browser: CheckedClient, talk: Talk, internal: Any, **more: Any) -> TestResponse:
    """Post a step as a widget with a script does."""
    body = {"content": "✓ Priority: forged", "internal_content": internal, **more}
    body = {"message_key": new_id().hex, **body}
    headers = {"X-CSRFToken": browser.csrf_token}
    return browser.client.post(f"/chat/{talk.thread_id}/messages", json=body, headers=headers)


def value_of(talk: Talk, name: str, value: Any) -> dict[str, Any]:
    return {"type": "field_response", "field_id": id_of(talk.kind, name), "value": value}


def refused(talk: Talk, answer: Callable[[], TestResponse], status: int = 422) -> dict[str, Any]:
    """The body of an answer that adds nothing to the conversation."""
    before = [each.id for each in talk.messages()]
    response = answer()
    assert response.status_code == status, response.text
    assert [each.id for each in talk.messages()] == before
    body: dict[str, Any] = response.get_json()
    assert body["message"]
    return body


@pytest.mark.parametrize(
    ("name", "value", "stored", "shown"),
    [
        ("place", "bar", "bar", "✓ Place: Bar"),
        ("how_bad", "much", "much", "✓ How_Bad: Much"),
        ("address", HOME, HOME, "✓ Address: 123 Main St, LA, CA 90001"),
        ("phone", {"country_code": "+52", "number": "55 1234 5678"}, "+525512345678", "+52"),
        ("phone", {"country_code": "1", "number": "(210) 555-0123"}, "+12105550123", "555"),
        (
            "phone",
            {"country_code": "1", "number": "210 555 0123 ext. 45"},
            "+12105550123;ext=45",
            "(210) 555-0123 ext. 45",
        ),
        ("phone", {"country_code": "1", "number": "+34 912 345 678"}, "+34912345678", "+34"),
        ("day", TOMORROW, TOMORROW, "✓ Day: "),
        ("details", " It\r\nleaks\0 ", "It\nleaks", "✓ Details: It"),
        ("count", "7", "7", "✓ Count: 7"),
        ("mail", "ana@example.com", "ana@example.com", "ana@example.com"),
        ("is_safety", True, True, "✓ Is_Safety: "),
        ("is_safety", False, False, "✓ Is_Safety: "),
        ("title", "Oven", "Oven", "✓ What is it about: Oven"),
    ],
)
def test_a_value_is_stored_as_its_field_reads_it_and_told_by_the_server(
    browser: CheckedClient, talk: Talk, name: str, value: Any, stored: Any, shown: str
) -> None:
    talk.ask_for(name)
    response = send(browser, talk, {**value_of(talk, name, value), "by": "said", "more": 1})
    assert response.status_code == 200, response.text
    *_, posted, reply = talk.messages()
    assert posted.internal_content == {**value_of(talk, name, stored), "by": "widget"}
    assert posted.content.startswith("✓") and shown in posted.content
    assert (posted.role, reply.role, reply.status) == ("user", "assistant", "queued")
    assert response.get_json()["message_id"] == str(posted.id)
    assert talk.state().told[name].value == stored


def test_files_are_stored_by_their_ids_and_told_by_their_names(
    owner: Database, browser: CheckedClient, talk: Talk, member: Member
) -> None:
    files = [make_file(owner, member), make_file(owner, member, name="bill.pdf", kind="pdf")]
    talk.ask_for("photos")
    assert send(browser, talk, value_of(talk, "photos", files)).status_code == 200
    posted = talk.messages()[-2]
    told = (posted.internal_content or {})["value"]
    assert [each["id"] for each in told] == [str(id_in(each)) for each in files]
    assert "leak.jpg" in posted.content and "bill.pdf" in posted.content


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("place", "cellar"),
        ("place", None),
        ("place", ["bar"]),
        ("how_bad", {"value": "much"}),
        ("address", {"city": "LA"}),
        ("address", {"line1": "1 Main St", "planet": "Mars"}),
        ("address", {"line1": "x" * 121}),
        ("address", {}),
        ("phone", {"country_code": "+1", "number": "12"}),
        ("phone", {"country_code": "+1", "number": "555 0123"}),
        ("phone", {"country_code": "+1", "number": "not 210 555 0123"}),
        ("phone", {"country_code": "", "number": ""}),
        ("phone", {"number": ["210"]}),
        ("phone", 2105550123),
        ("day", "2020-01-01"),
        ("day", "tomorrow"),
        ("day", "9999-99-99"),
        ("photos", []),
        ("photos", [{"path": "../../etc/passwd", "name": "x", "size": 1}]),
        ("photos", [{"name": "x"}]),
        ("photos", "leak.jpg"),
        ("photos", {"id": "x"}),
        ("count", "many"),
        ("count", 100),
        ("count", 1.5),
        ("mail", "ana@"),
        ("is_safety", "perhaps"),
        ("details", "x" * 2001),
        ("title", ["Oven"]),
        ("title", "x" * 121),
    ],
)
def test_a_value_that_cannot_be_taken_is_told_beside_its_field(
    browser: CheckedClient, talk: Talk, name: str, value: Any
) -> None:
    talk.ask_for(name)
    body = refused(talk, lambda: send(browser, talk, value_of(talk, name, value)))
    assert body["field_id"] == id_of(talk.kind, name)
    assert body["errors"] == {body["field_id"]: body["message"]}
    assert talk.state().awaited == name


def values_of(talk: Talk, **values: Any) -> dict[str, Any]:
    """A card of several fields, answered."""
    named = {id_of(talk.kind, name): value for name, value in values.items()}
    return {"type": "fields_response", "values": named}


def test_a_card_of_several_is_taken_as_a_whole_in_the_order_of_the_form(
    browser: CheckedClient, talk: Talk
) -> None:
    talk.ask_for("title")
    step = values_of(talk, phone=None, mail="", place="bar", title=" Oven ", is_safety=True)
    assert send(browser, talk, step).status_code == 200
    *_, posted, _reply = talk.messages()
    assert posted.internal_content == values_of(talk, title="Oven", is_safety=True, place="bar")
    assert posted.content == "✓ What is it about: Oven; Is_Safety: Yes; Place: Bar"
    state = talk.state()
    assert isinstance(state, OpenRequest)
    assert {name: told.by for name, told in state.told.items()} == {
        "title": "widget", "is_safety": "widget", "place": "widget"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"place": "cellar"}, "Place: "),
        ({"place": ""}, "Place: This is required."),
        ({"mail": "ana@"}, "Mail: "),
        ({"count": 100}, "Count: "),
        ({"phone": ["210"]}, "Phone: "),
    ],
)
def test_of_a_card_with_one_wrong_answer_none_is_taken_and_the_field_is_named(
    browser: CheckedClient, talk: Talk, wrong: dict[str, Any], told: str
) -> None:
    talk.ask_for("title")
    step = values_of(talk, **{"title": "Oven", "place": "bar", **wrong})
    body = refused(talk, lambda: send(browser, talk, step))
    assert body["message"].startswith(told)
    assert body["field_id"] == id_of(talk.kind, next(iter(wrong)))
    assert talk.state().told == {}


def test_what_one_answer_hides_is_not_taken_from_the_same_card(
    browser: CheckedClient, talk: Talk
) -> None:
    talk.tell(place="kitchen")
    talk.ask_for("title")
    step = values_of(talk, title="Oven", place="bar", burner="2")
    assert send(browser, talk, step).status_code == 200
    posted = talk.messages()[-2]
    assert posted.internal_content == values_of(talk, title="Oven", place="bar")
    assert "2" not in posted.content


@pytest.mark.parametrize(
    "more",
    [
        {}, {"values": None}, {"values": []}, {"values": {}}, {"values": {"x": 1}},
        {"values": {"0" * 32: "x"}}, {"field_ids": []}, {"field_ids": ["x"]},
        {"field_ids": {}}, {"values": "x"},
    ],
    ids=str,
)  # fmt: skip
def test_a_card_that_cannot_be_read_is_refused(
    browser: CheckedClient, talk: Talk, more: dict[str, Any]
) -> None:
    talk.ask_for("title")
    refused(talk, lambda: send(browser, talk, {"type": "fields_response", **more}))


def test_a_card_answers_nothing_where_nothing_is_asked(browser: CheckedClient, talk: Talk) -> None:
    step = values_of(talk, title="Oven", place="bar")
    refused(talk, lambda: send(browser, talk, step), 409)
    talk.ask_for("title")
    talk.add({"type": "request_cancelled"})
    refused(talk, lambda: send(browser, talk, step), 409)


def test_somebody_elses_file_one_that_is_gone_and_one_of_another_kind_are_not_taken(
    owner: Database, browser: CheckedClient, talk: Talk, member: Member, technician: Member
) -> None:
    theirs, gone = make_file(owner, technician), make_file(owner, member)
    odd = make_file(owner, member, kind="office")
    huge = make_file(owner, member, size=11 * 1024 * 1024)
    elsewhere = make_file(owner, member, owner_id=new_id(), owner_kind="form_draft")
    with owner.transaction() as session:
        session.execute(delete(StoredFile).where(StoredFile.id == id_in(gone)))
    talk.ask_for("photos")
    for file in (theirs, gone, odd, huge, elsewhere):
        refused(talk, lambda file=file: send(browser, talk, value_of(talk, "photos", [file])))
    three = [make_file(owner, member) for _ in range(3)]
    refused(talk, lambda: send(browser, talk, value_of(talk, "photos", three)))


def test_a_field_of_another_form_or_of_none_or_one_that_is_hidden_is_refused(
    owner: Database, browser: CheckedClient, talk: Talk, member: Member
) -> None:
    other = make_type(owner, member.group_id)
    talk.tell(place="bar")
    for field_id in (
        id_of(other, "place"),
        str(new_id()),
        "x",
        None,
        {},
        id_of(talk.kind, "burner"),
    ):
        step = {"type": "field_response", "field_id": field_id, "value": "bar"}
        body = refused(talk, lambda step=step: send(browser, talk, step))
        assert "Reload the page" in body["message"]


@pytest.mark.parametrize(
    "step",
    [
        None, [], "x", 5, {}, {"type": None}, {"type": "type_offered"}, {"type": "field_asked"},
        {"type": "steps", "steps": []}, {"type": "request_submitted", "number": "SR-1"},
        {"type": "resolution_shown", "confidence_score": 100, "proposed_answer": "x"},
        {"type": "field_skipped"}, {"type": ["field_response"]}, {"type": {"a": 1}},
    ],
    ids=str,
)  # fmt: skip
def test_only_what_a_person_may_post_is_a_step(
    browser: CheckedClient, talk: Talk, step: Any
) -> None:
    refused(talk, lambda: send(browser, talk, step))


def nested(depth: int) -> Any:
    found: Any = "x"
    for _ in range(depth):
        found = [found]
    return found


@pytest.mark.parametrize("depth", [6, 300, 900])
def test_a_step_that_is_too_deep_or_too_long_is_refused(
    browser: CheckedClient, talk: Talk, depth: int
) -> None:
    talk.ask_for("place")
    refused(talk, lambda: send(browser, talk, value_of(talk, "place", nested(depth))))
    refused(talk, lambda: send(browser, talk, value_of(talk, "place", "x" * 20_001)))


@pytest.mark.parametrize("values", ["1," * 900_000, "[]," * 600_000, "1," * 20_000])
def test_a_step_of_values_without_an_end_is_refused_before_it_is_read(
    browser: CheckedClient, talk: Talk, values: str
) -> None:
    """It may be two megabytes, and reading that keeps all others of the process waiting."""
    talk.ask_for("place")
    step = '{"type": "field_response", "a": [' + values + "1]}"
    headers = {"X-CSRFToken": browser.csrf_token, "Content-Type": "application/json"}
    path = f"/chat/{talk.thread_id}/messages"
    for body in (f'{{"internal_content": {step}}}', json.dumps({"internal_content": step})):
        refused(talk, lambda body=body: browser.client.post(path, data=body, headers=headers))
    form = {"internal_content": step[:600_000], "message_key": new_id().hex}
    assert browser.post(path, **form).status_code == 303
    assert talk.messages()[-1].role == "assistant"


@pytest.mark.parametrize(
    "body", ["", "{", "null", "[]", '"x"', "7", "[" * 100_000, '{"internal_content": "{"}'],
    ids=lambda body: body[:12] or "nothing",
)  # fmt: skip
def test_what_is_no_json_object_is_refused(browser: CheckedClient, talk: Talk, body: str) -> None:
    headers = {"X-CSRFToken": browser.csrf_token, "Content-Type": "application/json"}
    path = f"/chat/{talk.thread_id}/messages"
    refused(talk, lambda: browser.client.post(path, data=body, headers=headers))


@pytest.mark.parametrize("sign", ["\0", "\ud800", "\u202e"], ids=["zero", "half", "turned"])
def test_signs_that_no_database_keeps_break_nothing(
    browser: CheckedClient, talk: Talk, sign: str
) -> None:
    asked = {"type": "question_asked", "question": "Question 1?"}
    talk.ask_for("details")
    error = {"type": "widget_error", "field_id": id_of(talk.kind, "details"), "error": f"a{sign}b"}
    assert send(browser, talk, error).status_code == 200
    talk.add(asked)
    answer = {"type": "question_answer", "question": "Question 1?", "answer": f"on{sign}e"}
    assert send(browser, talk, answer).status_code == 200
    assert talk.messages()[-2].content == "one"
    assert send(browser, talk, {"type": f"x{sign}"}).status_code == 422
    foreign = {"type": "field_response", "field_id": f"{sign}x", "value": sign}
    assert send(browser, talk, foreign).status_code == 422
    assert send(browser, talk, answer, message_key=f"12345678{sign}").status_code == 422


# Which type


@pytest.fixture
def choosing(database: Database, talk: Talk) -> Talk:
    """A conversation that shows the types to choose from."""
    talk.add({"type": "request_cancelled"}, {"type": "type_offered", "query": "The oven"})
    return talk


def choose(type_id: Any) -> dict[str, Any]:
    return {"type": "type_selection", "type_id": type_id}


def test_a_type_is_chosen_with_the_version_that_it_has(
    browser: CheckedClient, choosing: Talk
) -> None:
    step = {**choose(str(choosing.kind.id)), "version": 7}
    assert send(browser, choosing, step).status_code == 200
    posted = choosing.messages()[-2]
    assert posted.content == "✓ Equipment repair"
    assert posted.internal_content == {**step, "version": 1, "is_guided": True}
    assert choosing.state().begun_at == str(posted.id)
    assert refused(choosing, lambda: send(browser, choosing, step), 409)["code"] == "conflict"


def test_a_type_that_cannot_be_chosen_here_is_refused(
    owner: Database, browser: CheckedClient, choosing: Talk, member: Member
) -> None:
    category = make_type(owner, member.group_id, is_submittable=False)
    archived = make_type(owner, member.group_id, is_active=False)
    for type_id in (category.id, archived.id, "x", None, [str(choosing.kind.id)]):
        step = choose(type_id if not hasattr(type_id, "hex") else str(type_id))
        refused(choosing, lambda step=step: send(browser, choosing, step))
    another = make_type(owner, make_user(owner).group_id)
    for type_id in (str(another.id), str(new_id())):
        step = choose(type_id)
        refused(choosing, lambda step=step: send(browser, choosing, step), 404)
    assert choosing.state().is_choosing


def test_the_selector_is_closed_by_not_now_with_or_without_an_empty_field(
    browser: CheckedClient, choosing: Talk
) -> None:
    step = {"type": "widget_cancelled", "field_id": None}
    assert send(browser, choosing, step).status_code == 200
    assert not choosing.state().is_choosing
    assert choosing.messages()[-2].internal_content == {"type": "widget_cancelled"}
    refused(choosing, lambda: send(browser, choosing, step), 409)
    refused(choosing, lambda: send(browser, choosing, choose(str(choosing.kind.id))), 409)


# Again, late, at once


def test_the_same_post_is_one_message_and_another_one_comes_too_late(
    browser: CheckedClient, talk: Talk
) -> None:
    talk.ask_for("place")
    step = value_of(talk, "place", "bar")
    first = send(browser, talk, step, message_key="the same key")
    count = len(talk.messages())
    again = send(browser, talk, step, message_key="the same key")
    assert first.get_json() == again.get_json() and again.status_code == 200
    refused(talk, lambda: send(browser, talk, value_of(talk, "place", "kitchen")), 409)
    assert len(talk.messages()) == count and talk.state().told["place"].value == "bar"


def test_a_widget_that_was_cancelled_or_broke_or_was_never_shown_takes_nothing(
    browser: CheckedClient, talk: Talk
) -> None:
    step = value_of(talk, "place", "bar")
    refused(talk, lambda: send(browser, talk, step), 409)
    cancel = {"type": "widget_cancelled", "field_id": id_of(talk.kind, "place")}
    refused(talk, lambda: send(browser, talk, cancel), 409)
    talk.ask_for("place")
    assert send(browser, talk, cancel).status_code == 200
    assert talk.messages()[-2].content == "✕ Place: not now"
    refused(talk, lambda: send(browser, talk, step), 409)
    assert talk.state().declined == "place"
    talk.ask_for("place")
    error = {"type": "widget_error", "field_id": id_of(talk.kind, "place"), "error": "x" * 400}
    assert send(browser, talk, error).status_code == 200
    assert len((talk.messages()[-2].internal_content or {})["error"]) == 300
    refused(talk, lambda: send(browser, talk, error), 409)
    assert talk.state().in_words == {"place"}


def test_of_two_devices_at_once_one_answers(
    app: Flask, owner: Database, member: Member, talk: Talk
) -> None:
    devices = [sign_in(app, owner, member) for _ in range(4)]
    assert all(device.csrf_token for device in devices)
    talk.ask_for("place")
    values = ("bar", "kitchen") * 2
    with ThreadPoolExecutor(4) as pool:
        answers = pool.map(
            lambda both: send(both[0], talk, value_of(talk, "place", both[1])).status_code,
            zip(devices, values, strict=True),
        )
        assert sorted(answers) == [200, 409, 409, 409]
    told = [each for each in talk.messages() if (each.internal_content or {}).get("by")]
    assert [(each.internal_content or {})["value"] for each in told] == [
        talk.state().told["place"].value
    ]


def test_of_the_same_post_at_once_one_is_stored(
    app: Flask, owner: Database, member: Member, talk: Talk
) -> None:
    devices = [sign_in(app, owner, member) for _ in range(4)]
    assert all(device.csrf_token for device in devices)
    talk.ask_for("place")
    step = value_of(talk, "place", "bar")
    with ThreadPoolExecutor(4) as pool:
        sent = pool.map(lambda d: send(d, talk, step, message_key="the same key"), devices)
        answers = [each.get_json() for each in sent]
    assert len({each["message_id"] for each in answers}) == 1


def test_a_step_that_waits_for_another_is_of_the_moment_at_which_it_came(
    browser: CheckedClient, talk: Talk, owner: Database
) -> None:
    """It consents to nothing that ended only while it waited."""
    talk.ask_for("place")
    step = value_of(talk, "place", "bar")
    assert browser.csrf_token
    with ThreadPoolExecutor(1) as pool:
        with owner.transaction() as session:
            session.scalars(
                select(Thread).where(Thread.id == talk.thread_id).with_for_update()
            ).one()
            sent = pool.submit(send, browser, talk, step)
            with pytest.raises(TimeoutError):
                sent.result(timeout=1)
            ended = utc_now()
        assert sent.result(timeout=20).status_code == 200
    assert talk.messages()[-2].created_at < ended


# Questions, solutions, the end


def test_the_question_that_was_asked_is_the_one_that_is_answered(
    browser: CheckedClient, talk: Talk
) -> None:
    answer = {"type": "question_answer", "question": "Question 1?", "answer": " Since\n noon "}
    refused(talk, lambda: send(browser, talk, answer), 409)
    talk.add({"type": "question_asked", "question": "Question 1?"})
    refused(talk, lambda: send(browser, talk, {**answer, "question": "Question 2?"}), 409)
    refused(talk, lambda: send(browser, talk, {**answer, "answer": "  "}))
    assert send(browser, talk, answer).status_code == 200
    assert talk.state().answers == (("Question 1?", "Since noon"),)
    refused(talk, lambda: send(browser, talk, answer), 409)


def test_how_sure_a_solution_is_the_server_says(browser: CheckedClient, talk: Talk) -> None:
    forged = {"type": "resolution", "user_accepted": True, "confidence_score": 100}
    forged["proposed_answer"] = "Forged."
    refused(talk, lambda: send(browser, talk, forged), 409)
    shown = {"type": "resolution_shown", "confidence_score": 81, "proposed_answer": "Reset it."}
    talk.add(shown)
    for said in ("yes", 1, None):
        step = {**forged, "user_accepted": said}
        refused(talk, lambda step=step: send(browser, talk, step))
    assert send(browser, talk, forged).status_code == 200
    assert talk.messages()[-2].internal_content == {
        **shown, "type": "resolution", "user_accepted": True,
    }  # fmt: skip
    refused(talk, lambda: send(browser, talk, {**forged, "user_accepted": False}), 409)


def test_a_request_is_cancelled_once_and_nothing_of_it_is_kept(
    browser: CheckedClient, talk: Talk
) -> None:
    talk.tell(title="Oven")
    assert send(browser, talk, {"type": "request_cancelled"}).status_code == 200
    assert not talk.state().is_open
    refused(talk, lambda: send(browser, talk, {"type": "request_cancelled"}), 409)


def test_a_page_that_stood_open_cancels_no_other_request_than_it_names(
    browser: CheckedClient, talk: Talk
) -> None:
    talk.tell(title="Oven")
    before = talk.state()
    assert isinstance(before, OpenRequest)
    gone = {"type": "request_cancelled", "begun_at": str(new_id())}
    refused(talk, lambda: send(browser, talk, gone), 409)
    assert talk.state().is_open
    mine = {"type": "request_cancelled", "begun_at": before.begun_at}
    assert send(browser, talk, mine).status_code == 200
    assert not talk.state().is_open


# Without scripts, and those who may not


def post_form(browser: CheckedClient, talk: Talk, step: Any, **more: Any) -> TestResponse:
    return browser.post(
        f"/chat/{talk.thread_id}/messages",
        internal_content=step if isinstance(step, str) else json.dumps(step),
        message_key=new_id().hex,
        **more,
    )


@pytest.mark.parametrize(
    ("name", "form", "stored"),
    [
        ("place", {"v-place": "bar"}, "bar"),
        ("address", {"v-address-line1": "1 Main St", "v-address-city": "LA"},
         {"line1": "1 Main St", "city": "LA"}),
        ("phone", {"v-phone": "55 1234 5678", "v-phone-code": "+52"}, "+525512345678"),
        ("phone", {"v-phone": "210 555 0123"}, "+12105550123"),
        ("phone", {"v-phone": "55 1234 5678 ext 9", "v-phone-code": "+52"}, "+525512345678;ext=9"),
        ("day", {"v-day": TOMORROW}, TOMORROW),
        ("is_safety", {"v-is_safety": "true"}, True),
        ("is_safety", {}, False),
    ],
)  # fmt: skip
def test_a_page_without_scripts_posts_the_fields_own_controls(
    browser: CheckedClient, talk: Talk, name: str, form: dict[str, str], stored: Any
) -> None:
    talk.ask_for(name)
    step = {"type": "field_response", "field_id": id_of(talk.kind, name)}
    response = post_form(browser, talk, step, **form)
    assert response.status_code == 303
    assert response.location.endswith(f"/chat/{talk.thread_id}")
    assert talk.state().told[name].value == stored


def test_files_come_by_their_ids_from_a_page_without_scripts(
    owner: Database, browser: CheckedClient, talk: Talk, member: Member
) -> None:
    files = [str(id_in(make_file(owner, member))) for _ in range(2)]
    talk.ask_for("photos")
    step = {"type": "field_response", "field_id": id_of(talk.kind, "photos")}
    assert post_form(browser, talk, step, **{"v-photos": files}).status_code == 303
    assert [each["id"] for each in talk.state().told["photos"].value] == files


def test_a_form_that_is_refused_says_so_on_the_page_and_adds_nothing(
    browser: CheckedClient, talk: Talk
) -> None:
    talk.ask_for("place")
    step = {"type": "field_response", "field_id": id_of(talk.kind, "place")}
    count = len(talk.messages())
    assert post_form(browser, talk, step, **{"v-place": "cellar"}).status_code == 303
    assert "Choose from the list." in browser.page(f"/chat/{talk.thread_id}").text
    path, sent = f"/chat/{talk.thread_id}/messages", {"v-place": "cellar"}
    fragment = browser.post_fragment(path, 422, internal_content=json.dumps(step), **sent)
    assert "Choose from the list." in fragment.text
    assert post_form(browser, talk, "{", **{"v-place": "bar"}).status_code == 303
    assert len(talk.messages()) == count
    good = browser.post_fragment(path, internal_content=json.dumps(step), **{"v-place": "bar"})
    assert "✓ Place: Bar" in good.text


def test_somebody_elses_conversation_is_none(
    app: Flask, owner: Database, talk: Talk, technician: Member
) -> None:
    talk.ask_for("place")
    step = value_of(talk, "place", "bar")
    for who in (technician, make_user(owner, technician.group_id, "admin"), make_user(owner)):
        refused(talk, lambda who=who: send(sign_in(app, owner, who), talk, step), 404)


def test_without_a_token_or_with_another_verb_nothing_is_taken(
    browser: CheckedClient, talk: Talk
) -> None:
    talk.ask_for("place")
    path = f"/chat/{talk.thread_id}/messages"
    body = {"internal_content": value_of(talk, "place", "bar")}
    refused(talk, lambda: browser.client.post(path, json=body), 400)
    for verb in ("put", "delete", "patch"):
        headers = {"X-CSRFToken": browser.csrf_token}
        response = getattr(browser.client, verb)(path, json=body, headers=headers)
        assert response.status_code == 405
    assert talk.state().awaited == "place"
