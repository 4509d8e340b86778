"""Real processes for the tests of the assistant, started once for those that can share them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask

from app.config import Settings
from app.db import Database
from tests.assistant.answering import Answering
from tests.assistant.predicates import queries_without_group
from tests.assistant.processes import Processes, Program, running
from tests.factories import CheckedClient, Member, sign_in
from tests.leftovers import end_waiting_turns
from tests.model_server import ModelServer


@pytest.fixture(autouse=True)
def every_query_names_its_group() -> Iterator[None]:
    """Row-level security is the second lock; the first is in each query."""
    with queries_without_group() as found:
        yield
    assert found == set()


@pytest.fixture(scope="module")
def shared_model() -> Iterator[ModelServer]:
    """A scripted model that the processes of a module talk to."""
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="module")
def processes(
    settings: Settings,
    owner: Database,
    tmp_path_factory: pytest.TempPathFactory,
    shared_model: ModelServer,
) -> Iterator[Processes]:
    """Starts what a test wants, and ends it with the module."""
    end_waiting_turns(owner)
    folder = tmp_path_factory.mktemp("processes")
    with running(settings, folder, shared_model.base_url, lease_seconds=1) as started:
        started.launch_runners(2)
        yield started


@pytest.fixture(scope="module")
def web(processes: Processes) -> tuple[Program, int]:
    """A web server with two workers, and its port."""
    return processes.start_web()


@pytest.fixture
def runners(processes: Processes) -> None:
    """Two runners that answer with the scripted model; those that died are replaced."""
    processes.ensure_runners(2)


@pytest.fixture
def answering(app: Flask, nobody_waits: None) -> Iterator[Answering]:
    """Answers queued turns in this process, as a runner does, with a scripted provider."""
    with Answering(app) as answers:
        yield answers


@pytest.fixture
def browser(app: Flask, owner: Database, member: Member) -> CheckedClient:
    """The browser of somebody who has signed in."""
    return sign_in(app, owner, member)
