"""What single steps do to a request: what they take, what they clear, what they leave."""

from __future__ import annotations

from typing import Any

import pytest

from app.skills.service_requests.texts import USUAL_QUESTIONS
from app.skills.service_requests.workflow.next_step import next_question, next_step
from app.skills.service_requests.workflow.reducer import read_state
from app.skills.service_requests.workflow.state import NoRequest, OpenRequest, RequestState
from tests.skills.service_requests.building import field, form_of, options
from tests.skills.service_requests.generated import AROUND, GONE, PHOTO

FIELDS = [
    field("place", "select", options=options("kitchen", "bar"), required=True),
    field("burner", "text", required=True, show_if={"field": "place", "values": ["kitchen"]}),
    field("serial", "text", show_if={"field": "burner", "test": "is_filled"}),
    field("is_safety", "checkbox"),
    field("note", "textarea"),
    field("photos", "file"),
    field("seen", "text", show_if={"field": "photos", "test": "is_filled"}),
]
FORM = form_of(FIELDS)
IDS = {each["name"]: each["field_id"] for each in FIELDS}
BEGUN = {"type": "type_selection", "type_id": str(FORM.type_id), "version": 1}


def tell(name: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"type": "field_response", "field_id": IDS[name], "value": value, **more}


def about(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "field_id": IDS[name], **more}


def read(*steps: dict[str, Any]) -> RequestState:
    """The request that has begun and taken these steps, each with the number of its message."""
    taken = [{**each, "message_id": str(n)} for n, each in enumerate([BEGUN, *steps])]
    return read_state(taken, lambda _type, version: FORM if version == 1 else None, AROUND)


KITCHEN = (tell("place", "kitchen"), tell("burner", "left"), tell("serial", "B 7"))


def test_another_branch_clears_all_that_hung_on_the_one_that_was_left() -> None:
    assert set(read(*KITCHEN).told) == {"place", "burner", "serial"}
    assert set(read(*KITCHEN, tell("place", "bar")).told) == {"place"}
    assert set(read(*KITCHEN, tell("place", "bar"), tell("place", "kitchen")).told) == {"place"}


@pytest.mark.parametrize("gone", ["cellar", None, {"no": "option"}])
def test_a_value_that_is_lost_clears_what_hung_on_it(gone: Any) -> None:
    state = read(*KITCHEN, tell("place", gone))
    assert state.told == {}
    assert [each.field.name for each in state.missing] == ["place"]


def test_a_file_that_is_gone_clears_what_hung_on_it_and_is_asked_for_again() -> None:
    state = read(tell("photos", [PHOTO]), tell("seen", "a leak"), tell("photos", [GONE]))
    assert "seen" not in state.told and set(state.problems) == {"photos"}


def test_a_problem_of_a_field_that_is_not_shown_any_more_is_nobodys() -> None:
    state = read(*KITCHEN[:1], tell("burner", 7), tell("place", "bar"))
    assert state.problems == {}
    assert next_step(state).kind == "question"


def test_an_asked_field_that_is_hidden_meanwhile_is_not_awaited() -> None:
    state = read(KITCHEN[0], about("field_asked", "burner"), tell("place", "bar"))
    assert (state.awaited, state.asked_by) == ("", "")


def test_a_box_that_somebody_said_no_to_is_answered_and_has_no_value() -> None:
    state = read(tell("is_safety", False))
    assert state.told["is_safety"].value is False and "is_safety" not in state.values
    assert "is_safety" not in [each.field.name for each in state.optional]


def test_a_correction_keeps_what_it_was_before_and_where_it_came_from() -> None:
    said = {"by": "said", "words": "make it the bar", "is_inferred": True}
    told = read(tell("place", "kitchen"), tell("place", "bar", **said)).told["place"]
    assert (told.value, told.before, told.by, told.words) == (
        "bar", "kitchen", "said", "make it the bar",
    )  # fmt: skip
    assert told.is_inferred


def test_only_the_newest_message_that_asked_is_the_one_that_is_open() -> None:
    state = read(about("field_asked", "place"), about("field_asked", "place"))
    assert (state.awaited, state.asked_by) == ("place", "2")


def test_a_required_field_that_was_declined_is_still_missing_and_an_optional_one_is_skipped() -> (
    None
):
    state = read(
        about("field_asked", "place"),
        about("widget_cancelled", "place"),
        about("widget_cancelled", "note"),
    )
    assert (state.declined, state.awaited) == ("place", "")
    assert state.skipped == {"note"}
    assert next_step(state).field == FORM.by_name("place")


def test_a_widget_that_failed_is_asked_in_words_unless_it_takes_files() -> None:
    state = read(
        about("field_asked", "place"), about("widget_error", "place", error="x"),
        about("field_asked", "photos"), about("widget_error", "photos", error="x"),
    )  # fmt: skip
    assert state.in_words == {"place"}
    assert (state.awaited, state.asked_by) == ("photos", "")


def test_there_are_three_answers_at_most_and_none_after_the_end_of_questions() -> None:
    four = [{"type": "question_answer", "question": f"{n}?", "answer": "a"} for n in range(4)]
    assert len(read(*four).answers) == 3
    ended = read(four[0], {"type": "questions_ended"}, four[1])
    assert ended.answers == (("0?", "a"),)


def test_each_question_is_asked_once_and_three_can_always_be_asked() -> None:
    taken: list[dict[str, Any]] = [tell("place", "bar")]
    asked = []
    while next_step(state := read(*taken)).kind == "question":
        question = next_question(state, USUAL_QUESTIONS)
        assert question is not None
        asked.append(question.ask.en)
        taken.append({"type": "question_asked", "question": question.ask.en})
        taken.append({"type": "question_answer", "question": question.ask.en, "answer": "a"})
    assert len(asked) == len(set(asked)) == 3
    assert next_step(state).kind == "evaluate"


def test_a_solution_is_accepted_by_a_plain_yes_or_no_alone() -> None:
    shown = {"type": "resolution_shown", "confidence_score": 88, "proposed_answer": "Reset it."}
    maybe = {"type": "resolution", "user_accepted": "yes"}
    state = read(tell("place", "bar"), {"type": "questions_ended"}, shown, maybe)
    assert next_step(state).kind == "resolution"
    forged = {"type": "resolution", "user_accepted": True, "confidence_score": 100}
    solved = read(tell("place", "bar"), {"type": "questions_ended"}, shown, forged)
    assert next_step(solved).kind == "submit_solved"
    assert solved.resolution is not None and solved.resolution.confidence == 88


def test_what_was_filed_or_cancelled_is_over_and_another_request_begins_empty() -> None:
    over = read(
        *KITCHEN, {"type": "request_submitted", "number": "SR-2026-000001", "begun_at": "0"}
    )
    assert over == NoRequest(submitted="SR-2026-000001")
    late = read(*KITCHEN, {"type": "request_submitted", "number": "SR-1", "begun_at": "another"})
    assert late.is_open and late.submitted == ""
    again = read(*KITCHEN, {"type": "request_cancelled"}, BEGUN)
    assert again.told == {} and again.begun_at == "5"


def test_a_request_goes_on_as_it_was_begun_whatever_its_type_says_since() -> None:
    """What was begun before types could say it was asked for step by step."""
    for is_guided, expected in ((None, True), (True, True), (False, False)):
        begun = BEGUN if is_guided is None else {**BEGUN, "is_guided": is_guided}
        state = read_state([{**begun, "message_id": "1"}], lambda _id, _version: FORM, AROUND)
        assert isinstance(state, OpenRequest)
        assert state.form.is_guided is expected
