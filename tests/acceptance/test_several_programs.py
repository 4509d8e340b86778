"""Programs and pages of one person in one conversation: each answers what it has shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select

from app.assistant.models import Message, Thread
from app.db import Database, new_id
from app.skills.expenses.models import Expense
from app.skills.expenses.web.chat_api import ChatBody, HistoryMessage
from app.skills.service_requests.models import ServiceRequest
from app.skills.service_requests.workflow.state import OpenRequest
from tests.acceptance.service_requests.talking import Talk
from tests.factories import Member, make_user

AFTER_A_WHILE = "yes of course whatever you think"
COOLING = ["the walk-in is not cooling", "Refrigeration and ice", "normal", "no more questions"]
LEAKING = [
    "the ice machine leaks water by the bar since noon, it shows E5",
    "Refrigeration and ice",
]
SOLD = "Marcus unplugged it: the walk-in is not cooling"


@dataclass
class Program:
    """Tells its own turns with each message, all of them or the newest `told_turns`.

    One that `names_reply` says which one it answers, too.
    """

    talk: Talk
    told_turns: int = 200
    history: list[HistoryMessage] = field(default_factory=list)
    names_reply: bool = False
    last_reply: UUID | None = None

    def say(self, *messages: str) -> str:
        """The reply to the last of these."""
        for message in messages:
            told = [*self.history, _turn("user", message)][-self.told_turns :]
            answered = self.last_reply if self.names_reply else None
            self.talk.told = ChatBody(history=told, replyTo=answered).told
            reply = self.talk.send(message)
            self.last_reply = UUID(reply.body["message_id"])
            self.history += [_turn("user", message), _turn("assistant", reply.text)]
        return self.history[-1].content


def _turn(role: str, content: str) -> HistoryMessage:
    return HistoryMessage.model_validate({"role": role, "content": content})


@pytest.fixture
def person(owner: Database, houses: dict[str, UUID]) -> Member:
    return make_user(owner, houses["alamo-prime"])


Pair = tuple[Program, Program]


@pytest.fixture(params=[200, 2], ids=["all turns", "two turns"])
def programs(demo: Flask, person: Member, request: pytest.FixtureRequest) -> Pair:
    """Two that tell all of their turns, or little of them."""
    talk = Talk(demo, person, "en")
    return Program(talk, request.param), Program(talk, request.param)


@pytest.fixture
def written(owner: Database, person: Member) -> Callable[[], list[tuple[Decimal, str]]]:
    """The person's expenses, with their categories."""

    def rows() -> list[tuple[Decimal, str]]:
        query = select(Expense.amount, Expense.category).where(
            Expense.user_id == person.user_id, Expense.deleted_at.is_(None)
        )
        with owner.transaction() as session:
            return [(row.amount, row.category) for row in session.execute(query)]

    return rows


@pytest.fixture
def filed(owner: Database, person: Member) -> Callable[[], list[str]]:
    """The titles of the person's requests."""

    def titles() -> list[str]:
        query = select(ServiceRequest.title).where(ServiceRequest.user_id == person.user_id)
        with owner.transaction() as session:
            return list(session.scalars(query))

    return titles


def test_a_card_in_the_same_words_is_another_card(
    programs: Pair, written: Callable[[], list[tuple[Decimal, str]]]
) -> None:
    first, second = programs
    first.say("taxi $14 today")
    second.say("put it under supplies")
    assert second.history[-1].content == first.history[-1].content
    first.say("yes")
    assert written() == []


def test_a_yes_that_was_asked_for_once_more_is_to_the_card_that_was_shown(
    programs: Pair, written: Callable[[], list[tuple[Decimal, str]]]
) -> None:
    first, second = programs
    asked = first.say("taxi $14 today", AFTER_A_WHILE)
    assert asked.startswith("Just to be sure")
    # Two turns do not tell the two cards apart, and then their buttons are asked for.
    second.told_turns = 200
    assert second.say("put it under supplies", AFTER_A_WHILE) == asked
    first.say("yes")
    assert written() == []


def test_the_program_that_was_shown_the_newest_card_confirms_it(
    demo: Flask, person: Member, written: Callable[[], list[tuple[Decimal, str]]]
) -> None:
    talk = Talk(demo, person, "en")
    first, second = Program(talk), Program(talk)
    first.say("taxi $14 today", AFTER_A_WHILE)
    second.say("put it under supplies", AFTER_A_WHILE, "yes")
    assert written() == [(Decimal(14), "supplies")]


def test_turns_of_another_program_in_between_make_no_other_card_of_it(
    programs: Pair, written: Callable[[], list[tuple[Decimal, str]]]
) -> None:
    first, second = programs
    first.say("taxi $14 today")
    second.say("put it under supplies")
    asked = first.say("make it 15")
    second.say("hello there", "taxi $14 today")
    assert second.say("make it 15") == asked
    first.say("yes")
    assert written() == []


def test_a_program_that_tells_a_long_conversation_confirms_each_card_of_it(
    demo: Flask, person: Member, written: Callable[[], list[tuple[Decimal, str]]]
) -> None:
    program = Program(Talk(demo, person, "en"))
    for _ in range(4):
        program.say("taxi $14 today", "yes", "taxi $14 today", "put it under supplies", "yes")
    assert len(written()) == 8


def test_what_was_done_in_the_same_words_is_taken_back_by_whom_it_was_told(
    programs: Pair, written: Callable[[], list[tuple[Decimal, str]]]
) -> None:
    first, second = programs
    first.say("taxi $14 today", "yes")
    second.say("taxi $14 today", "put it under supplies")
    second.told_turns = 200
    done = second.say("yes")
    assert done == first.history[-1].content
    before = written()
    assert len(before) == 2
    first.say("undo that")
    assert written() == before


def test_the_program_that_was_told_of_the_newest_takes_that_back(
    demo: Flask, person: Member, written: Callable[[], list[tuple[Decimal, str]]]
) -> None:
    talk = Talk(demo, person, "en")
    Program(talk).say("taxi $14 today", "yes")
    Program(talk).say("taxi $14 today", "put it under supplies", "yes", "undo that")
    assert written() == [(Decimal(14), "transport")]


def test_a_solution_in_the_same_words_is_to_another_request(
    programs: Pair, filed: Callable[[], list[str]]
) -> None:
    first, second = programs
    asked = first.say(*COOLING)
    assert asked.endswith("Did this resolve your issue?")
    again = second.say("cancel the request", SOLD, COOLING[1], "urgent", COOLING[3])
    assert again == asked
    first.say("yes")
    assert filed() == []


def test_the_same_solution_a_second_time_is_accepted_by_whom_it_was_told(
    demo: Flask, person: Member, filed: Callable[[], list[str]]
) -> None:
    program = Program(Talk(demo, person, "en"))
    program.say(*COOLING, "cancel the request", SOLD, COOLING[1], "urgent", COOLING[3], "yes")
    assert len(filed()) == 1


def test_a_request_that_was_begun_as_another_one_was_is_not_cancelled(programs: Pair) -> None:
    """The last words about both are the same, and ask nothing that a yes would consent to."""
    first, second = programs
    asked = first.say(*COOLING[:3])
    assert second.say("cancel the request", SOLD, *COOLING[1:3]) == asked
    assert "Should I cancel the request?" in first.say("cancel the request")
    state = first.talk.state
    assert isinstance(state, OpenRequest) and state.query == SOLD


@pytest.mark.parametrize("told_turns", [2, 3, 200])
@pytest.mark.parametrize("names_reply", [False, True])
def test_an_honest_program_cancels_one_request_after_the_other(
    demo: Flask, person: Member, told_turns: int, names_reply: bool
) -> None:
    program = Program(Talk(demo, person, "en"), told_turns, names_reply=names_reply)
    for begun in (COOLING[0], SOLD, LEAKING[0]):
        program.say(begun, *COOLING[1:3])
        said = program.say("cancel the request")
        if "Should I cancel" in said:
            assert not names_reply and told_turns < 200
            program.say("yes")
        assert not isinstance(program.talk.state, OpenRequest)


def test_a_long_conversation_is_told_by_its_newest_turns(
    demo: Flask, person: Member, owner: Database, filed: Callable[[], list[str]]
) -> None:
    program = Program(Talk(demo, person, "en"), told_turns=190)
    program.say(*COOLING, "yes")
    program.history += [_turn("user", said) for said in _say_much(owner, program.talk, 600)]
    program.say(*COOLING, "yes", SOLD, *COOLING[1:], "yes")
    assert len(filed()) == 3


def _say_much(owner: Database, talk: Talk, count: int) -> list[str]:
    """Messages at the end of a conversation, put there at once."""
    said = [f"number {number}" for number in range(count)]
    with owner.transaction() as session:
        thread = session.get_one(Thread, talk.thread_id)
        for words in said:
            message = Message(
                id=new_id(),
                group_id=thread.group_id,
                user_id=thread.user_id,
                thread_id=thread.id,
                parent_id=thread.head_id,
                role="user",
                content=words,
            )
            session.add(message)
            session.flush()
            thread.head_id = message.id
    return said


def test_a_program_that_names_the_reply_answers_that_one(
    demo: Flask, person: Member, written: Callable[[], list[tuple[Decimal, str]]]
) -> None:
    talk = Talk(demo, person, "en")
    first, second = (Program(talk, 2, names_reply=True) for _ in range(2))
    first.say("taxi $14 today")
    second.last_reply = first.last_reply
    second.say("put it under supplies")
    first.say("yes")
    assert written() == []
    third = Program(talk, 2, names_reply=True)
    third.say("taxi $15 today", "put it under supplies", "yes")
    assert written() == [(Decimal(15), "supplies")]


@pytest.mark.parametrize("word", ["yes", "cancel the request"])
def test_another_request_of_the_same_kind_is_not_cancelled(programs: Pair, word: str) -> None:
    first, second = programs
    asked = first.say(*COOLING[:2], "the toilet is clogged")
    assert "”. Should I cancel it and start the new one, or do you want to go on with it?" in asked
    second.say("no, go on with it", "cancel the request", *LEAKING)
    assert second.say("the toilet is clogged") == asked
    first.say(word)
    state = first.talk.state
    assert isinstance(state, OpenRequest)
    assert "ice machine" in state.query
    # What is asked then names it, and a yes is to that.
    if word != "yes":
        first.told_turns = 200
        first.say("yes")
        assert not isinstance(first.talk.state, OpenRequest)


@pytest.mark.parametrize("words", ["cancel everything", "drop the whole request", "forget it all"])
def test_a_page_that_stood_open_cancels_no_request_that_it_never_showed(
    demo: Flask, person: Member, words: str
) -> None:
    talk = Talk(demo, person, "en")
    shown = talk.send("taxi $14 today").body["message_id"]
    for said in ("no", *LEAKING):
        talk.send(said)
    talk.seen = shown
    talk.send(words)
    assert isinstance(talk.state, OpenRequest)
    # The page shows it now, and what it asks.
    talk.seen = None
    talk.send("cancel the request")
    assert not isinstance(talk.state, OpenRequest)
