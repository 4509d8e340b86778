"""One file of a person at a time, whichever process it came to; nobody waits for others' files."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from app.db import new_id
from app.errors import TooMany
from app.files import examination_queue
from app.files.examination_queue import MOST_AT_ONCE, ExaminationQueue, Places
from tests.assistant.processes import wait_until


@pytest.fixture
def person() -> str:
    return str(new_id())


@pytest.fixture
def two(redis_client: redis.Redis) -> tuple[ExaminationQueue, ExaminationQueue]:
    """The lines as two web processes have them."""
    return ExaminationQueue(redis_client), ExaminationQueue(redis_client)


@pytest.fixture
def away() -> ExaminationQueue:
    """The lines of a process whose Redis is away."""
    nowhere = redis.Redis(port=1, retry=Retry(NoBackoff(), 0))
    return ExaminationQueue(nowhere)


class Posts:
    """Posts of people, each of which has its turn until it is told to end."""

    def __init__(self) -> None:
        self.at_work: list[str] = []
        self.refused: list[TooMany] = []
        self._ends: dict[str, threading.Event] = {}
        self._threads: list[threading.Thread] = []

    def begin(self, queue: ExaminationQueue, person: str, name: str) -> None:
        self._ends[name] = threading.Event()
        thread = threading.Thread(target=self._run, args=(queue, person, name), daemon=True)
        self._threads.append(thread)
        thread.start()

    def _run(self, queue: ExaminationQueue, person: str, name: str) -> None:
        try:
            with queue.turn_of(person):
                self.at_work.append(name)
                self._ends[name].wait(60)
                self.at_work.remove(name)
        except TooMany as error:
            self.refused.append(error)

    def end(self, name: str) -> None:
        self._ends[name].set()

    def end_all(self) -> None:
        for end in self._ends.values():
            end.set()
        for thread in self._threads:
            thread.join(30)


@pytest.fixture
def posts() -> Iterator[Posts]:
    posts = Posts()
    yield posts
    posts.end_all()


def waiting(queue: ExaminationQueue, person: str) -> int:
    return int(queue._redis.llen(f"uploads:{{{person}}}:line"))


def test_a_person_has_one_turn_at_a_time_in_all_processes_and_in_order(
    two: tuple[ExaminationQueue, ExaminationQueue], person: str, posts: Posts
) -> None:
    for number in range(4):
        posts.begin(two[number % 2], person, f"file {number}")
        wait_until(lambda number=number: waiting(two[0], person) == number + 1, 10)
    for number in range(4):
        wait_until(lambda number=number: posts.at_work == [f"file {number}"], 10)
        posts.end(f"file {number}")
    wait_until(lambda: waiting(two[0], person) == 0, 10)


def test_others_do_not_wait_for_it(
    two: tuple[ExaminationQueue, ExaminationQueue], person: str, posts: Posts
) -> None:
    for number in range(MOST_AT_ONCE):
        posts.begin(two[0], person, f"file {number}")
    wait_until(lambda: waiting(two[0], person) == MOST_AT_ONCE, 10)
    for queue in two:
        with queue.turn_of(str(new_id())):
            assert len(posts.at_work) == 1


def test_who_has_too_many_waiting_is_told_to_wait_and_keeps_their_place(
    two: tuple[ExaminationQueue, ExaminationQueue], person: str, posts: Posts
) -> None:
    for number in range(MOST_AT_ONCE + 3):
        posts.begin(two[number % 2], person, f"file {number}")
    wait_until(lambda: len(posts.refused) == 3, 10)
    assert posts.refused[0].status == 429
    assert posts.refused[0].retry_after
    assert waiting(two[0], person) == MOST_AT_ONCE


def test_what_a_dead_process_held_is_passed_over(
    two: tuple[ExaminationQueue, ExaminationQueue], person: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examination_queue, "LEASE_SECONDS", 0.3)
    # Tickets that nobody renews or gives back.
    for number in range(MOST_AT_ONCE):
        two[0]._place(person, f"dead {number}")
    time.sleep(0.4)
    with two[1].turn_of(person):
        assert waiting(two[1], person) == 1


def test_a_lease_is_renewed_while_its_post_is_at_work(
    two: tuple[ExaminationQueue, ExaminationQueue],
    person: str,
    posts: Posts,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(examination_queue, "LEASE_SECONDS", 1.0)
    monkeypatch.setattr(examination_queue, "RENEW_SECONDS", 0.1)
    posts.begin(two[0], person, "long")
    wait_until(lambda: posts.at_work == ["long"], 10)
    posts.begin(two[1], person, "next")
    time.sleep(2)
    assert posts.at_work == ["long"]
    posts.end("long")
    wait_until(lambda: posts.at_work == ["next"], 10)


def test_without_redis_each_process_has_lines_of_its_own(
    away: ExaminationQueue, person: str, posts: Posts
) -> None:
    for number in range(MOST_AT_ONCE + 1):
        posts.begin(away, person, f"file {number}")
    wait_until(lambda: len(posts.refused) == 1 and len(posts.at_work) == 1, 10)
    with away.turn_of(str(new_id())):
        assert len(posts.at_work) == 1
    posts.end_all()
    assert away._own == {}


def test_places_are_given_in_the_order_in_which_they_were_asked_for() -> None:
    places, seen, ends = Places(2), list[int](), [threading.Event() for _ in range(5)]

    def work(number: int) -> None:
        with places.hold():
            seen.append(number)
            ends[number].wait(30)

    threads: list[threading.Thread] = []
    with ExitStack() as at_end:
        at_end.callback(lambda: [end.set() for end in ends])
        for number in range(5):
            threads.append(threading.Thread(target=work, args=(number,), daemon=True))
            threads[-1].start()
            wait_until(lambda number=number: len(places._line) == number + 1, 10)
        assert sorted(seen) == [0, 1]
        for number, expected in ((1, [2]), (0, [2, 3]), (2, [2, 3, 4])):
            ends[number].set()
            wait_until(lambda expected=expected: seen[2:] == expected, 10)
    for thread in threads:
        thread.join(10)


def test_an_error_gives_the_turn_back(
    two: tuple[ExaminationQueue, ExaminationQueue], person: str
) -> None:
    def fail() -> Any:
        with two[0].turn_of(person):
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        fail()
    assert waiting(two[0], person) == 0
