"""`flask doctor` on addresses and mail: it says what will not work, and why."""

from __future__ import annotations

import base64
import socket
import socketserver
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import redis

from app import create_app
from app.cli import doctor
from app.config import Settings
from app.observability.health import Finding
from tests.accounts.smtp_server import SmtpServer

SECRET = "the mail server's own password"


def find(settings: Settings, name: str, **more: Any) -> Finding:
    """What the doctor says of one thing with these settings."""
    app = create_app(settings.model_copy(update=more))
    [found] = [each for each in doctor.examine(app.extensions["comanda"]) if each.name == name]
    return found


# Addresses


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_a_house_open_to_all_needs_the_address_that_people_use(
    settings: Settings, host: str
) -> None:
    found = find(settings, "address", host=host)
    assert not found.ok
    assert "Links in invitations lead to this machine only; set PUBLIC_URL" in found.fix
    assert find(settings, "address", host=host, public_url="https://ask.example.com").ok


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "192.168.1.5", "localhost"])
def test_an_address_that_can_be_typed_is_fine(settings: Settings, host: str) -> None:
    assert find(settings, "address", host=host).ok


def test_the_address_is_that_of_this_shells_settings(settings: Settings) -> None:
    detail = find(settings, "address", port=8123).detail
    assert detail.startswith("http://127.0.0.1:8123, as the settings of this shell say")


# Redis


def test_a_redis_that_keeps_everything_for_who_does_not_read_is_found(
    settings: Settings, redis_client: redis.Redis
) -> None:
    name = "client-output-buffer-limit"
    as_shipped = redis_client.config_get(name)[name]
    assert find(settings, "listeners").ok
    try:
        redis_client.config_set(name, "pubsub 33554432 8388608 60")
        found = find(settings, "listeners")
    finally:
        redis_client.config_set(name, as_shipped)
    assert not found.ok
    assert "pubsub 1mb 128kb 5" in found.fix


# Mail


@pytest.fixture
def smtp() -> Iterator[SmtpServer]:
    with SmtpServer() as server:
        yield server
        server.shutdown()


class LoginServer(socketserver.ThreadingTCPServer):
    """A mail server that lets in whoever knows the password, and nobody else."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Login)
        self.seen: list[bytes] = []
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()


class _Login(socketserver.StreamRequestHandler):
    server: LoginServer

    def handle(self) -> None:
        self.wfile.write(b"220 ready\r\n")
        good = b"AUTH PLAIN " + base64.b64encode(f"\0house\0{SECRET}".encode())
        for line in iter(self.rfile.readline, b""):
            verb = line.split()[0].upper()
            self.server.seen.append(verb)
            if verb == b"EHLO":
                self.wfile.write(b"250-mail.example.com\r\n250 AUTH PLAIN\r\n")
            elif verb == b"AUTH":
                known = line.strip() == good
                self.wfile.write(b"235 in\r\n" if known else b"535 who are you\r\n")
            else:
                self.wfile.write(b"221 bye\r\n" if verb == b"QUIT" else b"250 ok\r\n")


@pytest.fixture
def login() -> Iterator[LoginServer]:
    with LoginServer() as server:
        yield server
        server.shutdown()


def mail(settings: Settings, port: int, **more: Any) -> Finding:
    given = {"smtp_host": "127.0.0.1", "smtp_port": port, "smtp_tls": False, **more}
    return find(settings, "mail", **given)


def test_without_a_mail_server_letters_are_in_the_log(settings: Settings) -> None:
    found = find(settings, "mail")
    assert found.ok
    assert "log" in found.detail


def test_a_mail_server_that_answers_is_fine_and_gets_no_letter(
    settings: Settings, smtp: SmtpServer
) -> None:
    found = mail(settings, smtp.port)
    assert (found.ok, found.detail) == (True, f"127.0.0.1:{smtp.port} answers")
    assert smtp.received == []


def test_nobody_signs_in_unless_a_user_is_set(settings: Settings, login: LoginServer) -> None:
    port = int(login.server_address[1])
    assert mail(settings, port).ok
    assert b"AUTH" not in login.seen
    assert mail(settings, port, smtp_user="house", smtp_password=SECRET).ok
    assert b"AUTH" in login.seen


def test_a_password_that_is_refused_is_told_and_not_shown(
    settings: Settings, login: LoginServer
) -> None:
    port = int(login.server_address[1])
    found = mail(settings, port, smtp_user="house", smtp_password="wrong and secret")
    assert not found.ok
    assert "535 who are you" in found.detail
    assert "SMTP_PASSWORD" in found.fix
    assert "wrong and secret" not in str(found)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"smtp_tls": True}, "STARTTLS extension not supported"),
        ({"smtp_user": "house", "smtp_password": "x"}, "AUTH extension not supported"),
        ({"smtp_host": "x" * 70 + ".example"}, "letters that mail cannot carry"),
        ({"smtp_host": "no-such-host.invalid"}, "no-such-host.invalid"),
    ],
)
def test_what_the_server_cannot_do_is_told(
    settings: Settings, smtp: SmtpServer, more: dict[str, Any], reason: str
) -> None:
    found = mail(settings, smtp.port, **more)
    assert not found.ok
    assert reason in found.detail


def test_a_port_where_nobody_listens_is_told(settings: Settings) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        found = mail(settings, probe.getsockname()[1])
    assert not found.ok
    assert "Connection refused" in found.detail


def test_a_server_that_says_nothing_is_given_up(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "SMTP_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        found = mail(settings, silent.getsockname()[1])
    assert not found.ok
    assert "no answer within" in found.detail


# What it does not say


def test_the_doctor_writes_no_log_of_the_migrations_it_looks_at(settings: Settings) -> None:
    app = create_app(settings.model_copy(update={"log_level": "info"}))
    result = app.test_cli_runner().invoke(args=["doctor"])
    assert "migrations" in result.stdout
    assert "Context impl" not in result.output
