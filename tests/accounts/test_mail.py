"""The outbox: what is queued goes out once it may, and never twice."""

from __future__ import annotations

import secrets
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import timedelta
from itertools import repeat
from pathlib import Path

import pytest
import structlog
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from sqlalchemy import select, text, update

from app.accounts.names_and_emails import clean_email
from app.config import Settings
from app.db import Database, utc_now
from app.errors import InvalidInput
from app.notifications import mail_connection, mail_delivery
from app.notifications.mail import OutgoingMail, queue_mail
from app.notifications.mail_delivery import (
    MOST_ATTEMPTS,
    NotDelivered,
    deliver,
    send_waiting_mail,
)
from tests.accounts.smtp_server import SmtpServer
from tests.factories import make_user


@pytest.fixture
def smtp() -> Iterator[SmtpServer]:
    with SmtpServer() as server:
        yield server
        server.shutdown()


@pytest.fixture
def by_smtp(settings: Settings, smtp: SmtpServer) -> Settings:
    """Settings that send mail to the test's own server."""
    server = {"smtp_host": "127.0.0.1", "smtp_port": smtp.port, "smtp_tls": False}
    return settings.model_copy(update=server)


@pytest.fixture(autouse=True)
def empty_outbox(owner: Database) -> None:
    """Nothing that other tests queued is due any more."""
    with owner.transaction() as session:
        session.execute(update(OutgoingMail).values(next_try_at=None))


@pytest.fixture
def address(database: Database) -> str:
    """An address for which one message waits."""
    to = f"{secrets.token_hex(6)}@example.com"
    put_in_outbox(database, to)
    return to


def put_in_outbox(
    database: Database, to: str, body: str = "Abre este enlace:\n\nhttp://x/y?ñ=1\n"
) -> None:
    with database.transaction() as session:
        queue_mail(session, to, "¿Qué tal?", body)


def outbox(owner: Database, to: str) -> OutgoingMail:
    with owner.transaction() as session:
        return session.scalars(select(OutgoingMail).where(OutgoingMail.to_address == to)).one()


def make_due(owner: Database, to: str) -> None:
    with owner.transaction() as session:
        session.execute(
            update(OutgoingMail)
            .where(OutgoingMail.to_address == to, OutgoingMail.next_try_at.is_not(None))
            .values(next_try_at=utc_now() - timedelta(seconds=1))
        )


def test_without_a_server_the_address_and_the_link_are_in_the_log_and_no_words(
    database: Database, settings: Settings
) -> None:
    to, link = f"{secrets.token_hex(6)}@example.com", f"{settings.base_url}/invitations/abc"
    body = (
        f"REQ-7 es tuya: la freidora {settings.base_url}/secreta huele\n\n"
        f"Ábrela:\n\n{link}\n\nGracias, Eva"
    )
    put_in_outbox(database, to, body)
    with structlog.testing.capture_logs() as lines:
        assert send_waiting_mail(database, settings) == 1
    (line,) = [line for line in lines if line.get("to") == to]
    assert line["link"] == link
    words = ("Qué", "freidora", "secreta", "Gracias", "REQ-7")
    assert [word for word in words if word in str(line)] == []


def test_a_letter_without_a_link_of_ours_has_none_in_the_log(
    database: Database, settings: Settings, address: str
) -> None:
    with structlog.testing.capture_logs() as lines:
        assert send_waiting_mail(database, settings) == 1
    (line,) = [line for line in lines if line.get("to") == address]
    assert line["link"] == ""
    assert "http://x" not in str(line)


def test_a_message_is_sent_once_and_its_text_forgotten(
    database: Database, owner: Database, by_smtp: Settings, smtp: SmtpServer, address: str
) -> None:
    assert send_waiting_mail(database, by_smtp) == 1
    assert send_waiting_mail(database, by_smtp) == 0
    (message,) = smtp.received
    assert message["To"] == address
    assert message["From"] == by_smtp.mail_from
    assert message["Subject"] == "¿Qué tal?"
    assert "http://x/y?ñ=1" in message.get_content()
    kept = outbox(owner, address)
    assert kept.sent_at is not None
    assert kept.body == ""
    assert str(kept.id) in message["Message-ID"]


def test_many_senders_send_each_message_once(
    database: Database, by_smtp: Settings, smtp: SmtpServer
) -> None:
    addresses = [f"{secrets.token_hex(6)}@example.com" for _ in range(12)]
    for to in addresses:
        put_in_outbox(database, to)
    with ThreadPoolExecutor(4) as pool:
        counts = list(pool.map(lambda _: send_waiting_mail(database, by_smtp, 5), range(8)))
    assert sum(counts) == 12
    assert sorted(message["To"] for message in smtp.received) == sorted(addresses)


def test_what_is_rolled_back_is_not_sent(
    database: Database, by_smtp: Settings, smtp: SmtpServer
) -> None:
    with database.session() as session:
        queue_mail(session, "never@example.com", "Subject", "Body")
        session.rollback()
    assert send_waiting_mail(database, by_smtp) == 0
    assert smtp.received == []


def test_a_message_to_nobody_is_thrown_away(
    database: Database, owner: Database, by_smtp: Settings, smtp: SmtpServer
) -> None:
    put_in_outbox(database, "")
    assert send_waiting_mail(database, by_smtp) == 0
    assert smtp.received == []
    with owner.transaction() as session:
        query = select(OutgoingMail).where(OutgoingMail.to_address == "")
        assert session.scalars(query).all() == []


def test_a_busy_server_is_asked_again_later(
    database: Database, owner: Database, by_smtp: Settings, smtp: SmtpServer, address: str
) -> None:
    smtp.manners = "busy"
    assert send_waiting_mail(database, by_smtp) == 0
    kept = outbox(owner, address)
    assert kept.next_try_at is not None
    assert timedelta(seconds=20) < kept.next_try_at - utc_now() <= timedelta(seconds=30)
    assert "451" in kept.last_error
    assert send_waiting_mail(database, by_smtp) == 0  # not before it is due
    smtp.manners = "polite"
    make_due(owner, address)
    assert send_waiting_mail(database, by_smtp) == 1
    assert outbox(owner, address).last_error == ""


def test_the_waits_grow_and_end(
    database: Database, owner: Database, settings: Settings, address: str
) -> None:
    away = settings.model_copy(update={"smtp_host": "127.0.0.1", "smtp_port": 1, "smtp_tls": False})
    waits = []
    for _attempt in range(MOST_ATTEMPTS):
        make_due(owner, address)
        assert send_waiting_mail(database, away) == 0
        next_try = outbox(owner, address).next_try_at
        waits.append((next_try - utc_now()).total_seconds() if next_try else None)
    assert [wait and round(wait / 30) for wait in waits] == [1, 4, 16, 64, 256, 1024, None]
    make_due(owner, address)
    assert send_waiting_mail(database, away) == 0
    assert outbox(owner, address).attempts == MOST_ATTEMPTS
    assert outbox(owner, address).body == ""


def test_a_refused_address_is_not_asked_again(
    database: Database, owner: Database, by_smtp: Settings, smtp: SmtpServer, address: str
) -> None:
    smtp.manners = "refuses"
    assert send_waiting_mail(database, by_smtp) == 0
    kept = outbox(owner, address)
    assert kept.next_try_at is None
    assert "550" in kept.last_error


def test_a_server_that_leaves_before_the_text_is_asked_again(
    database: Database, owner: Database, by_smtp: Settings, smtp: SmtpServer, address: str
) -> None:
    smtp.manners = "leaves early"
    assert send_waiting_mail(database, by_smtp) == 0
    assert outbox(owner, address).next_try_at is not None
    smtp.manners = "polite"
    make_due(owner, address)
    assert send_waiting_mail(database, by_smtp) == 1
    assert len(smtp.received) == 1


def test_a_message_that_may_have_arrived_is_never_sent_again(
    database: Database, owner: Database, by_smtp: Settings, smtp: SmtpServer, address: str
) -> None:
    smtp.manners = "hangs up"
    assert send_waiting_mail(database, by_smtp) == 0
    assert outbox(owner, address).next_try_at is None
    smtp.manners = "polite"
    make_due(owner, address)
    assert send_waiting_mail(database, by_smtp) == 0
    assert len(smtp.received) == 1


def test_a_sender_that_dies_before_sending_is_replaced(
    database: Database, owner: Database, by_smtp: Settings, smtp: SmtpServer, address: str
) -> None:
    with database.transaction() as session:
        session.execute(text("SELECT * FROM claim_mail(10)"))
    assert send_waiting_mail(database, by_smtp) == 0  # it may still be at work
    make_due(owner, address)
    assert send_waiting_mail(database, by_smtp) == 1
    assert [message["To"] for message in smtp.received] == [address]


def test_a_sender_that_dies_while_sending_is_not(
    database: Database, owner: Database, by_smtp: Settings, smtp: SmtpServer, address: str
) -> None:
    with database.transaction() as session:
        (claimed,) = session.execute(text("SELECT * FROM claim_mail(10)")).all()
        assert session.scalar(text("SELECT hand_over_mail(:id)"), {"id": claimed.id})
    make_due(owner, address)
    assert send_waiting_mail(database, by_smtp) == 0
    assert smtp.received == []


def test_a_sender_whose_claim_ran_out_leaves_the_message_alone(
    database: Database, owner: Database, address: str
) -> None:
    with database.transaction() as session:
        (claimed,) = session.execute(text("SELECT * FROM claim_mail(10)")).all()
    make_due(owner, address)
    with database.transaction() as session:
        assert not session.scalar(text("SELECT hand_over_mail(:id)"), {"id": claimed.id})


def test_a_password_is_never_sent_to_a_server_without_encryption(
    database: Database, owner: Database, by_smtp: Settings, smtp: SmtpServer, address: str
) -> None:
    secure = by_smtp.model_copy(
        update={"smtp_tls": True, "smtp_user": "house", "smtp_password": "secret"}
    )
    assert send_waiting_mail(database, secure) == 0
    assert smtp.received == []
    assert "STARTTLS" in outbox(owner, address).last_error


@pytest.mark.fault(57)
@pytest.mark.parametrize(
    "subject",
    [
        "Hi\nBcc: b@example.com",
        "=?utf-8?q?=0d=0aBcc:_x=40y.example=0d=0a=0d=0aPay_here?= invites you",
        "=?utf-8?b?DQpCY2M6IHhAeS5leGFtcGxlDQoNClBheSBoZXJl?= invites you",
        "é =?iso-8859-1?q?=0aBcc:_x=40y.example?= =?utf-8?q?=0a?=",
        "=?unicode_escape?q?=5cud800?=",
        "é=?x?q?=ff?=",
        "=?utf-8?q?=ff=fe?=é",
    ],
)
def test_a_subject_arrives_as_it_was_typed_and_begins_no_header(
    by_smtp: Settings, smtp: SmtpServer, subject: str
) -> None:
    deliver(by_smtp, "a@example.com", subject, "Body")
    (message,) = smtp.received
    assert message["Subject"].replace("\u2060", "") == " ".join(subject.split())
    assert message["Bcc"] is None
    assert message.get_content().strip() == "Body"


@pytest.mark.parametrize(
    ("to", "sent_to"),
    [
        ("josé@x.example", "josé@x.example"),
        # Many servers take no other letters, and need not for a domain.
        ("ana@müller.example", "ana@xn--mller-kva.example"),
        ("ñ@ñandú.example", "ñ@ñandú.example"),
    ],
)
def test_an_address_may_have_letters_of_any_alphabet(
    by_smtp: Settings, smtp: SmtpServer, to: str, sent_to: str
) -> None:
    deliver(by_smtp, to, "¿Qué tal?", "Añejo")
    assert smtp.recipients == [sent_to]
    (message,) = smtp.received
    assert message["Subject"] == "¿Qué tal?"
    assert message.get_content().strip() == "Añejo"


@pytest.mark.fault(57)
@pytest.mark.parametrize(
    "to",
    ["=?utf-8?q?other=2ebox?=@v.example", "=?utf-8?q?a=40evil.example=2c?=@v.example"],
)
def test_an_address_that_mail_would_read_otherwise_is_none(
    by_smtp: Settings, smtp: SmtpServer, to: str
) -> None:
    with pytest.raises(InvalidInput):
        clean_email(to)
    with pytest.raises(NotDelivered):
        deliver(by_smtp, to, "Hello", "Body")
    assert (smtp.recipients, smtp.received) == ([], [])


@pytest.mark.fault(57)
def test_a_letter_that_cannot_be_written_keeps_no_other_waiting(
    database: Database, owner: Database, by_smtp: Settings, smtp: SmtpServer, address: str
) -> None:
    broken = f"{secrets.token_hex(6)}@example.com\nBcc: b@example.com"
    put_in_outbox(database, broken)
    put_in_outbox(database, f"{secrets.token_hex(6)}@example.com")
    assert send_waiting_mail(database, by_smtp) == 2
    assert len(smtp.received) == 2
    left = outbox(owner, broken)
    assert left.next_try_at is None
    assert "cannot be written" in left.last_error


def test_what_somebody_waits_for_to_get_in_goes_before_all_that_only_tells(
    database: Database, by_smtp: Settings, smtp: SmtpServer
) -> None:
    told = [f"{secrets.token_hex(6)}@example.com" for _ in range(7)]
    awaited = f"{secrets.token_hex(6)}@example.com"
    for to in told:
        put_in_outbox(database, to)
    with database.transaction() as session:
        queue_mail(session, awaited, "A new password", "http://x/y", is_awaited=True)
    assert send_waiting_mail(database, by_smtp) == 8
    sent = [message["To"] for message in smtp.received]
    assert sent[0] == awaited and sorted(sent) == sorted([awaited, *told])


def test_letters_of_ones_doing_keep_nobody_elses_waiting(
    owner: Database, database: Database, by_smtp: Settings, smtp: SmtpServer
) -> None:
    eager, other = make_user(owner), make_user(owner)
    many = [f"{secrets.token_hex(6)}@example.com" for _ in range(6)]
    one = f"{secrets.token_hex(6)}@example.com"
    for to in many:
        with database.transaction(eager.scope) as session:
            queue_mail(session, to, "Sent a form", "http://x/y")
    assert send_waiting_mail(database, by_smtp, most=2) == 2
    with database.transaction(other.scope) as session:
        queue_mail(session, one, "Sent a form", "http://x/y")
    assert send_waiting_mail(database, by_smtp, most=1) == 1
    assert [message["To"] for message in smtp.received][2:] == [one]
    assert send_waiting_mail(database, by_smtp) == 4


@contextmanager
def answering(pieces: Iterator[bytes], pause: float = 0.0) -> Iterator[int]:
    """The port of a mail server that greets with these pieces, whatever it is told."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def talk() -> None:
            connection, _address = listening.accept()
            with connection, suppress(OSError):
                for piece in pieces:
                    connection.sendall(piece)
                    time.sleep(pause)

        talking = threading.Thread(target=talk, daemon=True)
        talking.start()
        yield listening.getsockname()[1]
        talking.join(10)
        assert not talking.is_alive(), "the server is left alone"


@pytest.mark.parametrize(
    ("piece", "pause"),
    [(b"220-wait\r\n", 0.1), (b"2", 0.1), (b"220-" + b"x" * 500 + b"\r\n", 0.0)],
    ids=["lines that drip", "bytes that drip", "lines without end"],
)
def test_a_server_that_never_ends_its_answer_is_left_and_asked_again_later(
    database: Database, owner: Database, settings: Settings, address: str,
    monkeypatch: pytest.MonkeyPatch, piece: bytes, pause: float,
) -> None:  # fmt: skip
    monkeypatch.setattr(mail_connection, "LETTER_SECONDS", 0.5)
    with answering(repeat(piece), pause) as port:
        server = {"smtp_host": "127.0.0.1", "smtp_port": port, "smtp_tls": False}
        assert send_waiting_mail(database, settings.model_copy(update=server)) == 0
    kept = outbox(owner, address)
    assert (kept.sent_at, kept.handed_over_at) == (None, None)
    assert kept.next_try_at and kept.attempts == 1


def test_a_long_greeting_that_ends_is_heard_out(
    database: Database, owner: Database, by_smtp: Settings, smtp: SmtpServer, address: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The bounds are those of one letter: the next one has its own."""
    monkeypatch.setattr(mail_connection, "MOST_BYTES", 2_000)
    for _letter in range(3):
        put_in_outbox(database, f"{secrets.token_hex(6)}@example.com")
    assert send_waiting_mail(database, by_smtp) == 4
    assert outbox(owner, address).sent_at


def test_a_letter_that_somebody_else_sends_by_now_is_left_to_them(
    database: Database, owner: Database, by_smtp: Settings, address: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Its claim has run out while the server kept one waiting, and another is sending it."""
    monkeypatch.setattr(mail_delivery, "OWN_SECONDS", 0.0)

    @contextmanager
    def keep_waiting(*_settings: object) -> Iterator[None]:
        with owner.transaction() as session:
            session.execute(
                update(OutgoingMail)
                .where(OutgoingMail.to_address == address)
                .values(handed_over_at=utc_now())
            )
        raise ConnectionRefusedError
        yield

    monkeypatch.setattr(mail_delivery, "connect", keep_waiting)
    assert send_waiting_mail(database, by_smtp) == 0
    assert outbox(owner, address).handed_over_at is not None


@pytest.fixture
def certified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """A server's side of TLS, whose certificate every client here trusts."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    day = timedelta(days=1)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, utc_now() - day, utc_now() + day)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    own, both = tmp_path / "certificate.pem", tmp_path / "both.pem"
    own.write_bytes(certificate.public_bytes(Encoding.PEM))
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    both.write_bytes(own.read_bytes() + private)
    monkeypatch.setenv("SSL_CERT_FILE", str(own))
    secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secure.load_cert_chain(both)
    return secure


@pytest.mark.parametrize("is_implicit", [False, True], ids=["STARTTLS", "from the beginning"])
def test_letters_go_over_an_encrypted_connection(
    database: Database, owner: Database, settings: Settings, address: str,
    certified: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch, is_implicit: bool,
) -> None:  # fmt: skip
    with SmtpServer(certified, is_implicit=is_implicit) as server:
        if is_implicit:
            monkeypatch.setattr(mail_connection, "IMPLICIT_TLS_PORT", server.port)
        to_it = {"smtp_host": "localhost", "smtp_port": server.port, "smtp_tls": True}
        assert send_waiting_mail(database, settings.model_copy(update=to_it)) == 1
        server.shutdown()
    [message] = server.received
    assert message["To"] == address
    assert outbox(owner, address).sent_at
