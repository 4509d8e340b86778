"""Two hundred requests at once, over real HTTP, each confirmed twice, some of them broken off.

Whatever the order: every number once and none left out, one request for each, spread over the
team, with its story, its entry in the audit, and a line for whoever it was given to.
"""

from __future__ import annotations

import http.client
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.accounts.models import AuditEntry
from app.assistant.models import Proposal
from app.config import Settings
from app.db import Database
from app.notifications.services import Notification
from app.skills.service_requests.models import RequestCounter, RequestUpdate, ServiceRequest
from tests.assistant.processes import running
from tests.factories import Member, api_token, make_user
from tests.skills.service_requests.building import make_type, ready_talk, short_fields
from tests.skills.service_requests.failing import BREAK_OFF, FAIL, failing

REQUESTS, PEOPLE, TEAM, CLIENTS = 200, 20, 7, 12
SEED = 20261122
# Every so many is broken off when its second answer is written, by an error or by its end.
BROKEN = 8
ENDS = f"IF NEW.body = 'breaks' THEN {BREAK_OFF}; ELSE {FAIL}; END IF"


@pytest.fixture(scope="module")
def model_url() -> str:
    """Nobody is asked here: what would be proposed is proposed by the test."""
    return "http://127.0.0.1:9/v1"


@pytest.fixture(scope="module")
def port(
    settings: Settings, tmp_path_factory: pytest.TempPathFactory, model_url: str
) -> Iterator[int]:
    """A web server with two workers."""
    with running(settings, tmp_path_factory.mktemp("processes"), model_url) as processes:
        program, port = processes.start_web()
        yield port
        program.kill()


@dataclass(frozen=True)
class Waiting:
    """A proposal that waits for a yes, whose token says it, and what comes of it at first."""

    proposal_id: UUID
    token: str
    fails: bool


@dataclass(frozen=True)
class House:
    group_id: UUID
    team: Sequence[Member]
    waiting: Sequence[Waiting]


@pytest.fixture
def house(app: Flask, owner: Database, database: Database) -> House:
    """People who have a request ready each in several conversations, and a team for all."""
    first = make_user(owner)
    people = [first, *(make_user(owner, first.group_id) for _ in range(PEOPLE - 1))]
    team = [make_user(owner, first.group_id) for _ in range(TEAM)]
    kind = make_type(owner, first.group_id, short_fields(), team=team)
    tokens = {each.user_id: api_token(owner, each) for each in people}
    waiting = []
    for number in range(REQUESTS):
        who, fails = people[number % PEOPLE], number % BROKEN == 0
        ends = ("fails" if number % (2 * BROKEN) else "breaks") if fails else "Since noon"
        talk = ready_talk(database, who, kind, f"Oven {number}", ("It is cold", ends))
        waiting.append(Waiting(talk.propose(app), tokens[who.user_id], fails))
    return House(first.group_id, team, waiting)


def say_yes(port: int, each: Waiting) -> tuple[int, str]:
    """Confirm it; what the server answers, and the request that it tells of."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Authorization": f"Bearer {each.token}"}
    connection.request("POST", f"/api/proposals/{each.proposal_id}/confirm", headers=headers)
    answer = connection.getresponse()
    body = json.loads(answer.read())
    connection.close()
    return answer.status, body.get("part", {}).get("result_id", "")


def say_all(port: int, waiting: Sequence[Waiting]) -> list[tuple[Waiting, int, str]]:
    """Everybody says yes to everything twice, at once and in any order."""
    posts = [*waiting, *waiting]
    random.Random(SEED).shuffle(posts)
    with ThreadPoolExecutor(CLIENTS) as pool:
        told = pool.map(lambda each: say_yes(port, each), posts)
        return [(each, *answer) for each, answer in zip(posts, told, strict=True)]


def test_two_hundred_at_once_are_numbered_without_a_gap_whatever_fails(
    owner: Database, house: House, port: int
) -> None:
    broken = "NEW.body IN ('fails', 'breaks')"
    with failing(owner, "service_request_updates", "INSERT", house.group_id, when=broken, by=ENDS):
        first = say_all(port, house.waiting)
    filed = [each for each in house.waiting if not each.fails]
    assert {(each.fails, status == 200) for each, status, _ in first} == {
        (False, True), (True, False),
    }  # fmt: skip
    check(owner, house, len(filed))
    failed = [each for each in house.waiting if each.fails]
    second = say_all(port, [*failed, *filed[:20]])
    assert {status for _, status, _ in second} == {200}
    check(owner, house, REQUESTS)
    results: dict[UUID, set[str]] = {}
    for each, status, result in (*first, *second):
        if status == 200:
            results.setdefault(each.proposal_id, set()).add(result)
    # Whoever says yes again is told of the same request.
    assert [len(found) for found in results.values()] == [1] * REQUESTS
    assert len(set().union(*results.values())) == REQUESTS


def check(owner: Database, house: House, count: int) -> None:
    """What is stored after so many requests were filed, and no other."""
    with owner.session() as session:
        group = ServiceRequest.group_id == house.group_id
        requests = session.scalars(select(ServiceRequest).where(group)).all()
        last = session.get(RequestCounter, (house.group_id, requests[0].year))
        updates = Counter(
            session.scalars(
                select(RequestUpdate.request_id).where(RequestUpdate.group_id == house.group_id)
            )
        )
        told = Counter(
            session.scalars(
                select(Notification.user_id).where(Notification.group_id == house.group_id)
            )
        )
        audit = Counter(
            session.scalars(
                select(AuditEntry.subject).where(
                    AuditEntry.group_id == house.group_id,
                    AuditEntry.action == "service_request_submitted",
                )
            )
        )
        done = session.scalar(
            select(func.count())
            .select_from(Proposal)
            .where(Proposal.group_id == house.group_id, Proposal.state == "confirmed")
        )
    assert sorted(each.number for each in requests) == list(range(1, count + 1))
    assert (last.last if last else 0, done) == (count, count)
    assert len({each.begun_at for each in requests}) == count
    assert audit == Counter(each.reference for each in requests)
    assert updates == dict.fromkeys([each.id for each in requests], 2)
    given = Counter(each.assignee_id for each in requests)
    assert set(given) == {each.user_id for each in house.team}
    assert max(given.values()) - min(given.values()) <= 1
    assert told == given
