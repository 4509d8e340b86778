"""What holds of a request whatever its conversation says, in whatever order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject
from sqlalchemy import func, select

from app.db import Database, new_id
from app.errors import ComandaError
from app.fields.validation import check_form, shown_fields
from app.fields.values import read_value
from app.skills.service_requests.models import RequestCounter, ServiceRequest
from app.skills.service_requests.services.definitions import (
    QUESTIONS_ASKED,
    RequestForm,
    read_request_fields,
)
from app.skills.service_requests.services.field_context import field_context
from app.skills.service_requests.services.submit import file_request
from app.skills.service_requests.workflow.next_step import next_step
from app.skills.service_requests.workflow.reducer import BEGINS_OR_ENDS, read_state
from app.skills.service_requests.workflow.state import NoRequest, RequestState
from tests.factories import Member
from tests.skills.service_requests.building import form_of, make_type, start_talk
from tests.skills.service_requests.generated import AROUND, forms, steps


def find(form: RequestForm, type_id: UUID, version: int) -> RequestForm | None:
    return form if (type_id, version) == (form.type_id, 1) else None


def read(form: RequestForm, taken: Sequence[dict[str, Any]]) -> RequestState:
    return read_state(taken, partial(find, form), AROUND)


def plain(state: RequestState) -> RequestState:
    """A state that equals another one which holds the same problems."""
    if isinstance(state, NoRequest):
        return state
    return replace(state, problems={name: str(why) for name, why in state.problems.items()})


def check(state: RequestState) -> None:
    """What holds of every state."""
    following = next_step(state)
    if isinstance(state, NoRequest):
        return
    assert len(state.answers) <= QUESTIONS_ASKED
    shown = {each.name for each in shown_fields(state.form.form_fields, state.values)}
    assert set(state.told) <= shown and set(state.problems) <= shown
    assert {state.awaited} - {""} <= shown
    for name, told in state.told.items():
        found = state.form.by_name(name)
        assert found is not None
        again = read_value(found.field, told.value, AROUND)
        assert again == told.value or (again is None and told.value is False)
        assert not found.field.required or told.value is not False
    if following.field is not None:
        assert following.field in state.fields, "what is asked for is not shown"
    if following.kind in ("submit", "submit_solved"):
        assert check_form(state.form.form_fields, state.values, AROUND).problems == {}
        assert not state.missing and not state.problems


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_no_sequence_of_steps_comes_to_what_could_not_be_filed(data: DataObject) -> None:
    fields = data.draw(forms())
    form = form_of(fields)
    taken = data.draw(steps(fields, str(form.type_id)))
    ends = range(len(taken) + 1)
    states = [read(form, taken[:end]) for end in ends]
    for state in states:
        check(state)
    # Reading changes nothing that is read, and a beginning is what it is, whatever follows.
    assert list(map(plain, states)) == [plain(read(form, taken[:end])) for end in ends]
    assert plain(read(form, iter(taken))) == plain(states[-1])


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_which_request_is_open_is_known_without_its_answers(data: DataObject) -> None:
    fields = data.draw(forms())
    form = form_of(fields)
    taken = data.draw(steps(fields, str(form.type_id)))
    marks = [step for step in taken if str(step.get("type")) in BEGINS_OR_ENDS]
    whole, short = read(form, taken), read(form, marks)
    assert type(whole) is type(short)
    assert getattr(whole, "begun_at", "") == getattr(short, "begun_at", "")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_steps_that_are_none_change_nothing(data: DataObject) -> None:
    fields = data.draw(forms())
    form = form_of(fields)
    taken = data.draw(steps(fields, str(form.type_id)))
    at = data.draw(st.integers(0, len(taken)))
    foreign = {"type": "field_response", "field_id": str(new_id()), "value": "x"}
    strange = [{"type": "field_reponse"}, {}, {"steps": []}, {**foreign, "message_id": "9"}]
    both = [*taken[:at], *strange, *taken[at:]]
    assert plain(read(form, both)) == plain(read(form, taken))


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(st.data())
def test_nothing_is_filed_that_lacks_a_field_or_holds_what_it_refuses(
    owner: Database, database: Database, member: Member, data: DataObject
) -> None:
    fields = data.draw(forms(most=4))
    kind = make_type(owner, member.group_id, fields)
    talk = start_talk(database, member, kind)
    # What a database takes: a step that holds anything else never came into a conversation.
    stored = [each for each in data.draw(steps(fields, str(kind.id))) if is_storable(each)]
    talk.add({"type": "request_cancelled"})
    begun_at = talk.add(*({**step, "message_id": ""} for step in stored))
    if data.draw(st.booleans()):
        talk.tell(title="Oven", priority="low")
    shown = data.draw(st.sampled_from([getattr(talk.state(), "by_id", {}), {}]))
    before = counts(owner, member)
    try:
        with database.transaction(member.scope) as session:
            request = file_request(session, talk.thread_id, begun_at, shown, "en").request
            form = read_request_fields(request.form["fields"])
            values = {
                each.field.name: request.values[str(each.field_id)]
                for each in form
                if str(each.field_id) in request.values
            }
            around = field_context(session, "en")
            checked = check_form([each.field for each in form], values, around)
            assert checked.problems == {}
            assert {**values, **checked.values} == values, "a hidden value was filed"
            assert set(request.values) <= {str(each.field_id) for each in form}
    except ComandaError:
        assert counts(owner, member) == before
    else:
        assert counts(owner, member) == (before[0] + 1, before[1] + 1)


def counts(owner: Database, member: Member) -> tuple[int, int]:
    """How many requests the group has, and its last number."""
    with owner.transaction() as session:
        mine = ServiceRequest.group_id == member.group_id
        requests = session.scalar(select(func.count()).select_from(ServiceRequest).where(mine))
        last = select(RequestCounter.last).where(RequestCounter.group_id == member.group_id)
        return requests or 0, session.scalar(last) or 0


def is_storable(value: Any) -> bool:
    """Whether JSON can say it in a database: no NaN, no zero byte, no half of a character."""
    if isinstance(value, dict):
        return all(is_storable(key) and is_storable(each) for key, each in value.items())
    if isinstance(value, list):
        return all(map(is_storable, value))
    if isinstance(value, float):
        return value == value and abs(value) != float("inf")
    if isinstance(value, str):
        return not {"\0", *map(chr, range(0xD800, 0xE000))} & set(value)
    return True


@pytest.mark.parametrize("value", ["\0", "\ud800", float("nan")])
def test_what_no_database_takes_is_known_to_the_test(value: Any) -> None:
    assert not is_storable({"a": [value]})
