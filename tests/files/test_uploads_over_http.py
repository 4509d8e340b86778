"""Uploads to real web processes: who waits for whom, what they cost, and that refusals arrive."""

from __future__ import annotations

import http.client
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest
from flask import Flask

from app.db import Database
from app.files.field_rules import upload_rules
from tests.assistant.processes import Processes, Program, wait_until
from tests.assistant.web_client import Response, WebClient
from tests.factories import Member, make_user
from tests.files import samples

MEGABYTE = 1024 * 1024


def body_of(csrf_token: str, rules: str, content: bytes) -> tuple[bytes, str]:
    """A form with a file, and what kind of form it is."""
    mark = uuid4().hex
    fields = {"csrf_token": csrf_token, "rules": rules}
    parts = [
        f'--{mark}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    named = 'form-data; name="file"; filename="a.png"'
    parts.append(f"--{mark}\r\nContent-Disposition: {named}\r\n\r\n".encode())
    return b"".join([*parts, content, f"\r\n--{mark}--\r\n".encode()]), mark


def upload(app: Flask, browser: WebClient, content: bytes) -> Response:
    with app.test_request_context():
        rules = upload_rules("proof", ("image", "text")).signed()
    body, mark = body_of(browser.csrf_token, rules, content)
    headers = {"Content-Type": f"multipart/form-data; boundary={mark}"}
    return post(browser, "/files", body, headers)


def post(browser: WebClient, path: str, body: bytes, headers: dict[str, str]) -> Response:
    connection = http.client.HTTPConnection("127.0.0.1", browser.port, timeout=100)
    # As proxies ask: with nothing to follow, what was not read would cut the answer off.
    sent = {**browser.cookie_header(), "HX-Request": "true", "Connection": "close", **headers}
    connection.request("POST", path, body, sent)
    answer = connection.getresponse()
    found = Response(answer.status, dict(answer.getheaders()), answer.read().decode())
    connection.close()
    return found


@pytest.fixture
def person(app: Flask, owner: Database, member: Member, web: tuple[Program, int]) -> WebClient:
    return WebClient(app, owner, member, web[1])


@pytest.mark.fault(35)
@pytest.mark.soak
def test_whoever_sends_one_picture_does_not_wait_for_the_twelve_of_another(
    app: Flask, owner: Database, person: WebClient
) -> None:
    """Two processes with two places each would be full of them otherwise."""
    slow, other = samples.slow_png(), WebClient(app, owner, make_user(owner), person.port)
    assert person.csrf_token and other.csrf_token
    taken, begun = list[int](), threading.Semaphore(0)

    def flood() -> int:
        begun.release()
        status = upload(app, person, slow).status
        if status == 200:
            taken.append(status)
        return status

    with ThreadPoolExecutor(12) as pool:
        flooding = [pool.submit(flood) for _ in range(12)]
        for _ in range(12):
            begun.acquire()
        wait_until(lambda: taken, 60)
        before = len(taken)
        assert upload(app, other, samples.picture()).status == 200
        meanwhile = len(taken) - before
        statuses = [each.result(100) for each in flooding]
    assert meanwhile <= 2
    assert set(statuses) <= {200, 429}
    assert 429 in statuses


@pytest.mark.soak
def test_the_answer_to_too_many_at_once_says_to_wait_in_ones_language(
    app: Flask, owner: Database, person: WebClient
) -> None:
    ana = WebClient(app, owner, make_user(owner, language="es"), person.port)
    assert ana.csrf_token
    slow = samples.slow_png()
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: upload(app, ana, slow), range(12)))
    refused = next(each for each in answers if each.status == 429)
    assert "Espera a que se revisen tus otros archivos" in refused.text
    assert int(refused.headers["Retry-After"]) > 0


def memory_of(pid: int, name: str) -> int:
    """Bytes of a process's memory, as its VmRSS or its VmHWM says."""
    status = Path(f"/proc/{pid}/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith(name)]
    return int(line.split()[1]) * 1024


def test_eight_large_files_at_once_are_never_in_the_memory_of_a_process(
    app: Flask, owner: Database, processes: Processes
) -> None:
    server, port = processes.start_web(1)
    [worker] = server.children()
    people = [WebClient(app, owner, make_user(owner), port) for _ in range(8)]
    assert all(each.csrf_token for each in people)
    # What the first upload loads is no part of what another costs.
    assert upload(app, people[0], samples.TEXT).status == 200
    large = samples.csv_of(15 * MEGABYTE)
    Path(f"/proc/{worker}/clear_refs").write_text("5")
    before = memory_of(worker, "VmRSS")
    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda each: upload(app, each, large).status, people))
    assert statuses == [200] * 8
    assert memory_of(worker, "VmHWM") - before < 60 * MEGABYTE


@pytest.mark.parametrize("megabytes", [3, pytest.param(30, marks=pytest.mark.soak)])
def test_a_body_that_is_too_large_is_answered_in_words_and_not_cut_off(
    app: Flask, owner: Database, person: WebClient, megabytes: int
) -> None:
    ana = WebClient(app, owner, make_user(owner, role="admin", language="es"), person.port)
    text = f"csrf_token={ana.csrf_token}&body=".encode() + b"x" * (megabytes * MEGABYTE)
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    for path in ("/admin/prompts/new", "/files", f"/chat/{uuid4()}/messages"):
        answer = post(ana, path, text, headers)
        assert answer.status == 413, path
    assert "demasiado" in answer.text


def test_a_file_that_is_too_large_is_answered_in_words_and_not_cut_off(
    app: Flask, person: WebClient
) -> None:
    answer = upload(app, person, b"x" * (40 * MEGABYTE))
    assert answer.status == 413
    assert "larger than 20 MB" in answer.text


def test_who_is_not_signed_in_is_told_so_though_a_large_file_came(
    app: Flask, person: WebClient
) -> None:
    person.csrf_token  # noqa: B018 - read while one is signed in
    person.cookies.clear()
    answer = upload(app, person, samples.csv_of(MEGABYTE))
    assert answer.status == 401
    assert "/sign-in" in answer.headers["HX-Redirect"]


def half_an_upload(browser: WebClient) -> socket.socket:
    """A connection over which a form with a file has begun to come in."""
    connection = socket.create_connection(("127.0.0.1", browser.port), timeout=60)
    lines = {
        "Host": f"127.0.0.1:{browser.port}",
        **browser.cookie_header(),
        "Content-Type": "multipart/form-data; boundary=mark",
        "Content-Length": "100000",
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    part = '--mark\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n' + "x" * 999
    connection.sendall(f"POST /files HTTP/1.1\r\n{head}\r\n{part}".encode())
    return connection


@pytest.mark.fault(35)
def test_one_person_sends_few_forms_with_files_at_once(
    app: Flask, owner: Database, processes: Processes
) -> None:
    _, port = processes.start_web(1)
    ana, ben = (WebClient(app, owner, make_user(owner), port) for _ in range(2))
    assert ana.csrf_token and ben.csrf_token
    halves: list[socket.socket] = []

    def is_refused() -> bool:
        halves.append(half_an_upload(ana))
        return upload(app, ana, samples.TEXT).status == 429

    try:
        wait_until(is_refused)
        assert len(halves) > 2, "one or two at once are nothing unusual"
        assert upload(app, ben, samples.TEXT).status == 200
    finally:
        for each in halves:
            each.close()
    wait_until(lambda: upload(app, ana, samples.TEXT).status == 200)
