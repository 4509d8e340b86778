"""What a request says of its host and of the path before it reaches nobody but itself."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable

import pytest
from flask import Flask
from sqlalchemy import update

from app import create_app
from app.assistant.models import Message
from app.config import Settings, load_settings
from app.db import Database
from app.errors import ConfigurationError
from tests.factories import Member, api_token, make_thread, make_user

EVIL = "http://evil.example"
PUBLIC = "https://ask.example.com"


@pytest.fixture(scope="module")
def member(owner: Database) -> Member:
    return make_user(owner, role="admin")


@pytest.fixture(scope="module")
def make_public(settings: Settings) -> Callable[..., Flask]:
    """Makes the app of a restaurant that says by which address it is reached."""

    def make(**more: object) -> Flask:
        return create_app(settings.model_copy(update={"public_url": PUBLIC, **more}))

    return make


@pytest.fixture(scope="module")
def public(make_public: Callable[..., Flask]) -> Flask:
    return make_public()


# Links


def cited_thread(owner: Database, database: Database, member: Member) -> str:
    thread_id = make_thread(database, member, "How long?")
    citation = {
        "number": 1, "title": "Ribeye", "kind": "section", "url": "/library/manual/ribeye",
        "quote": "Four minutes", "source_id": str(thread_id), "document_id": str(thread_id),
    }  # fmt: skip
    with owner.transaction() as session:
        session.execute(
            update(Message)
            .where(Message.thread_id == thread_id, Message.role == "assistant")
            .values(citations=[citation], content="Four minutes. [1]")
        )
    return str(thread_id)


def test_an_exported_conversation_links_to_this_server_whatever_the_request_claims(
    app: Flask, owner: Database, database: Database, member: Member, settings: Settings
) -> None:
    thread_id, client = cited_thread(owner, database, member), app.test_client()
    claim = {"Host": "evil.example", "Authorization": f"Bearer {api_token(owner, member)}"}
    for extension in ("md", "json"):
        answer = client.get(f"/chats/{thread_id}/export.{extension}", headers=claim)
        assert answer.status_code == 200
        assert f"{settings.base_url}/library/manual/ribeye" in answer.text
        assert "evil.example" not in answer.text
    answer = client.get("/chats/export.zip", headers=claim)
    with zipfile.ZipFile(io.BytesIO(answer.data)) as archive:
        texts = [archive.read(name).decode() for name in archive.namelist()]
    assert any(f"{settings.base_url}/library/manual/ribeye" in text for text in texts)
    assert not any("evil.example" in text for text in texts)


@pytest.mark.parametrize("path", ["/library", "/forms", "/admin/requests/teams", "/profile"])
def test_no_redirect_names_the_host_of_the_request(app: Flask, path: str) -> None:
    answer = app.test_client().get(f"{path}?q=1", base_url=EVIL)
    assert answer.status_code in (303, 308)
    assert re.match(r"/\w", answer.location)
    assert "q=1" in answer.location or "q%3D1" in answer.location


def test_a_doubled_slash_leads_to_no_other_site(app: Flask) -> None:
    answer = app.test_client().get("//evil.example/..%2f..", base_url=EVIL)
    assert not (answer.location or "").startswith(("//", "http"))


# Names that are answered


@pytest.mark.parametrize(
    "host",
    ["ask.example.com", "ASK.example.com", "ask.example.com:8443", "127.0.0.1:8000", "[::1]:8000"],
)
def test_the_public_name_and_those_of_the_machine_are_answered(public: Flask, host: str) -> None:
    assert public.test_client().get("/sign-in", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "ask.example.com.evil.example", "10.0.0.5", "ask.example.com@evil.example",
     "", "a b"],
)  # fmt: skip
def test_another_name_is_refused_with_the_address_to_use(public: Flask, host: str) -> None:
    client = public.test_client()
    page = client.get("/sign-in", headers={"Host": host, "Accept-Language": "es"})
    assert page.status_code == 400
    assert f"Ábrela en {PUBLIC}." in page.text
    assert client.post("/api/ask", json={}, headers={"Host": host}).status_code == 400
    assert client.get("/library", headers={"Host": host}).status_code == 400
    assert client.get("/no-such-page", headers={"Host": host}).status_code == 400


def test_probes_are_answered_at_any_address(public: Flask) -> None:
    client = public.test_client()
    assert client.get("/healthz", headers={"Host": "10.1.2.3:8000"}).status_code == 200
    assert client.get("/readyz", headers={"Host": "web-1:8000"}).status_code in (200, 503)
    assert client.get("/metrics", headers={"Host": "web-1:8000"}).status_code == 404


def test_more_names_may_be_allowed(make_public: Callable[..., Flask]) -> None:
    client = make_public(allowed_hosts=("comanda.lan", "192.168.1.5")).test_client()
    for host, status in {"comanda.lan": 200, "192.168.1.5:8000": 200, "other.lan": 400}.items():
        assert client.get("/sign-in", headers={"Host": host}).status_code == status


def test_a_proxys_name_for_the_host_is_checked_too(make_public: Callable[..., Flask]) -> None:
    client = make_public(trusted_proxies=1).test_client()
    for forwarded, status in {"ask.example.com": 200, "evil.example": 400}.items():
        headers = {"Host": "web:8000", "X-Forwarded-Host": forwarded}
        assert client.get("/sign-in", headers=headers).status_code == status


def test_without_a_public_address_any_name_is_answered(app: Flask) -> None:
    assert app.test_client().get("/sign-in", base_url="http://tablet.lan").status_code == 200


def test_allowed_hosts_are_names_with_commas_between_them() -> None:
    settings = load_settings({"ALLOWED_HOSTS": "comanda.lan, 192.168.1.5"})
    assert settings.allowed_hosts == ("comanda.lan", "192.168.1.5")
    with pytest.raises(ConfigurationError, match="ALLOWED_HOSTS"):
        load_settings({"ALLOWED_HOSTS": "https://comanda.lan"})


# The path before ours


def test_a_prefix_that_a_request_claims_is_not_believed(make_public: Callable[..., Flask]) -> None:
    client = make_public(trusted_proxies=1).test_client()
    claim = {"X-Forwarded-Prefix": "/evil", "X-Script-Name": "/evil", "Script-Name": "/evil"}
    answer = client.get("/profile", headers={"Host": "ask.example.com", **claim})
    assert answer.location.startswith("/sign-in")


@pytest.mark.parametrize("host", ["a..b", ".a", "x" * 64])
@pytest.mark.parametrize("path", ["/sign-in", "/", "/healthz", "/no-such-page", "/api/chat"])
def test_a_host_that_cannot_be_one_is_refused_and_breaks_nothing(
    app: Flask, host: str, path: str
) -> None:
    answer = app.test_client().get(path, headers={"Host": host})
    assert answer.status_code == 400
    assert "could not be read" in answer.text
