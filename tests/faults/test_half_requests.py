"""Requests that never arrive whole, and headers of a neighbour that are not to be believed.

Asked of a real server, since the server itself reads them.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from threading import Thread

import pytest

from app.config import Settings
from tests.assistant.processes import Processes, Program, running, wait_until

Web = tuple[Program, int]

HALVES = 150
# Longer than the server waits (five seconds for headers, one for a body), with time to spare
# on a machine that is busy with other tests.
GIVEN_UP = 40.0
# Too long, no form's token, not signed in, and too many from one address.
REFUSALS = (b"408", b"400", b"401", b"429")
HEAD = "POST /sign-in HTTP/1.1\r\nHost: localhost\r\n"
KIND = "Content-Type: application/x-www-form-urlencoded\r\n"
HALF_HEADERS = f"{HEAD}X-Slow: "
HALF_BODY = f"{HEAD}{KIND}Content-Length: 1000\r\n\r\nemail=a"
HALF_CHUNK = f"{HEAD}{KIND}Transfer-Encoding: chunked\r\n\r\n3e8\r\nemail=a"
HALF_JSON = HEAD.replace("/sign-in", "/api/ask") + (
    "Authorization: Bearer x\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{"
)


@pytest.fixture(scope="module")
def impatient(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """A web server that waits for a body for a second."""
    folder = tmp_path_factory.mktemp("impatient")
    with running(settings, folder, "http://127.0.0.1:1") as processes:
        yield start(processes)


def start(processes: Processes) -> Web:
    return processes.start_web(1, REQUEST_TIMEOUT_SECONDS="1")


def send(port: int, text: str) -> socket.socket:
    """A connection on which this was sent, and nothing more."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=GIVEN_UP)
    connection.sendall(text.encode())
    return connection


def answer_on(connection: socket.socket) -> bytes:
    """All that comes until the server closes; it fails when the server does not.

    What is closed with something unread is reset, and the answer may be lost with it.
    """
    said = b""
    with suppress(ConnectionResetError):
        while piece := connection.recv(65536):
            said += piece
    return said


def status_of(port: int, path: str, *headers: str) -> tuple[int, str]:
    """The status and the Location of a page."""
    lines = "".join(f"{header}\r\n" for header in headers)
    with closing(send(port, f"GET {path} HTTP/1.0\r\nHost: localhost\r\n{lines}\r\n")) as asked:
        head = answer_on(asked).partition(b"\r\n\r\n")[0].decode()
    location = [line[10:] for line in head.splitlines() if line.startswith("Location: ")]
    return int(head.split()[1]), "".join(location)


@pytest.mark.fault(33)
def test_half_a_request_is_given_up_while_others_are_answered(impatient: Web) -> None:
    port = impatient[1]
    halves = [HALF_HEADERS, HALF_BODY, HALF_CHUNK, HALF_JSON] * HALVES
    with ExitStack() as open_ones:
        held = [open_ones.enter_context(closing(send(port, half))) for half in halves]
        assert status_of(port, "/sign-in")[0] == 200
        answers = [answer_on(connection) for connection in held]
    for answer in answers:
        assert answer == b"" or answer.split()[1] in REFUSALS, answer[:200]
    assert status_of(port, "/sign-in")[0] == 200
    assert "Traceback" not in impatient[0].output


@pytest.mark.parametrize("size", ["zz", "-1", "3e8"])
@pytest.mark.parametrize("path", ["/sign-in", "/api/ask", "/nowhere"])
@pytest.mark.fault(33)
def test_a_body_in_broken_pieces_is_refused_without_an_error_of_ours(
    impatient: Web, path: str, size: str
) -> None:
    head = HEAD.replace("/sign-in", path)
    broken = f"{head}{KIND}Transfer-Encoding: chunked\r\n\r\n{size}\r\nemail=a\r\nzz\r\n\r\n"
    with closing(send(impatient[1], broken)) as connection:
        connection.shutdown(socket.SHUT_WR)
        answer = answer_on(connection)
    assert answer == b"" or answer.split()[1][:1] == b"4", answer[:200]
    assert "Traceback" not in impatient[0].output


@pytest.mark.fault(33)
def test_a_head_without_an_end_is_refused(impatient: Web) -> None:
    """What was read of it was looked through after each read: 819 KB, for minutes."""
    with closing(send(impatient[1], HALF_HEADERS)) as connection:
        with suppress(OSError):
            connection.sendall(b"\r" * 40_000)
        answer = b""
        with suppress(OSError):
            answer = answer_on(connection)
    # Closed with something unread it is reset, and the answer may be lost with it.
    assert answer == b"" or answer.split()[1] == b"431", answer[:200]


@pytest.mark.parametrize(
    "body",
    ["1\r\na\r\n" * 2_000, "1\r\na\r\n0\r\nX-Trailer: " + "a" * 20_000],
    ids=["crumbs", "trailers"],
)
@pytest.mark.fault(33)
def test_a_body_in_chunks_without_an_end_is_refused(impatient: Web, body: str) -> None:
    head = f"{HEAD}{KIND}Transfer-Encoding: chunked\r\n\r\n"
    with closing(send(impatient[1], head + body)) as connection:
        assert connection.recv(65536).split()[1] == b"400"
    assert status_of(impatient[1], "/sign-in")[0] == 200
    assert "Traceback" not in impatient[0].output


@pytest.mark.fault(33)
def test_a_body_that_drips_is_given_up_too(impatient: Web) -> None:
    """A byte now and then must not keep a connection for as long as the body is long."""
    with closing(send(impatient[1], HALF_BODY)) as drip:
        drip.settimeout(0.3)
        for _ in range(int(GIVEN_UP / 0.3)):
            try:
                drip.sendall(b"a")
                if not drip.recv(4096):
                    return
            except TimeoutError:
                continue
            except OSError:
                return
    pytest.fail("it is still read")


def test_what_arrives_in_pieces_but_whole_is_taken(impatient: Web) -> None:
    body = b"email=a%40example.com&password=x" + b"&more=" + b"x" * 60_000
    with closing(send(impatient[1], f"{HEAD}{KIND}Content-Length: {len(body)}\r\n\r\n")) as slow:
        for start in range(0, len(body), 8_000):
            slow.sendall(body[start : start + 8_000])
        said = slow.recv(4096)
    # Without its form's token; it was read to its end before that could be known.
    assert said.split()[1] == b"400"


@pytest.mark.parametrize("name", ["SCRIPT_NAME", "Script-Name", "X-Forwarded-Prefix"])
def test_a_prefix_in_a_header_reaches_no_address(impatient: Web, name: str) -> None:
    assert status_of(impatient[1], "/evil/profile", f"{name}: /evil")[0] == 404
    status, location = status_of(impatient[1], "/profile", f"{name}: /evil")
    assert (status, location) == (303, "/sign-in?next=/profile")


def test_a_path_or_a_scheme_in_a_header_is_not_believed(impatient: Web) -> None:
    headers = ("PATH_INFO: /healthz", "X-Forwarded-Proto: https", "X-Forwarded-Host: evil.example")
    status, location = status_of(impatient[1], "/library", *headers)
    assert (status, location) == (308, "/library/")


def test_the_time_that_the_server_waits_is_in_its_configuration() -> None:
    conf = (Path(__file__).parents[2] / "gunicorn.conf.py").read_text("utf-8")
    assert "\nkeepalive = 5\n" in conf


@pytest.mark.fault(33)
@pytest.mark.soak
def test_requests_without_a_pause_on_one_connection_keep_nobody_waiting(impatient: Web) -> None:
    port, asked = impatient[1], 4_000
    many = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * asked
    with closing(socket.create_connection(("127.0.0.1", port), timeout=GIVEN_UP)) as greedy:
        answers = [0]

        def read() -> None:
            with suppress(OSError):
                while piece := greedy.recv(65536):
                    answers[0] += piece.count(b"HTTP/1.1 ")

        reading = Thread(target=read, daemon=True)
        reading.start()
        sending = Thread(target=lambda: greedy.sendall(many.encode()), daemon=True)
        sending.start()
        wait_until(lambda: answers[0])
        assert status_of(port, "/healthz")[0] == 200
        meanwhile = answers[0]
        wait_until(lambda: answers[0] == asked, GIVEN_UP)
        greedy.shutdown(socket.SHUT_RDWR)
    assert meanwhile < asked


@pytest.mark.fault(33)
def test_a_reader_who_does_not_read_is_given_up(impatient: Web) -> None:
    port, page = impatient[1], b"GET /sign-in HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with closing(socket.create_connection(("127.0.0.1", port), timeout=GIVEN_UP)) as deaf:
        # What nobody takes fills the ways in both directions; then the server is gone.
        with pytest.raises(ConnectionError):
            deaf.sendall(page * 500_000)
        assert status_of(port, "/sign-in")[0] == 200
    assert "Traceback" not in impatient[0].output
