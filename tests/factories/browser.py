"""A signed-in client that looks at each page it is given, as a careful reviewer would."""

from __future__ import annotations

import fnmatch
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from flask import Flask
from flask.testing import FlaskClient
from itsdangerous import URLSafeTimedSerializer
from werkzeug.test import TestResponse

from app.accounts.form_tokens import PARTED, mark_of
from app.db import Database
from app.web.icons import icon_sprite
from app.web.issued_ids import make_issued_id
from tests.factories.form_fields import CARRIED
from tests.factories.people import Member, browser_token
from tests.html_checks import Element, parse_html

HTMX = {"HX-Request": "true", "HX-Request-Type": "partial"}
FIELDS = frozenset(("input", "select", "textarea"))
NEED_NO_LABEL = frozenset(("hidden", "submit", "button"))
ADDRESSES = ("href", "src", "action", "hx-get", "hx-post", "poster", "data", "formaction")


@dataclass(frozen=True)
class Page:
    """A response and what is in it."""

    response: TestResponse
    root: Element

    @property
    def status(self) -> int:
        return self.response.status_code

    @property
    def text(self) -> str:
        return self.root.text

    def find(self, tag: str, **attributes: str) -> Element:
        return self.root.find(tag, **attributes)

    def find_all(self, tag: str, **attributes: str) -> list[Element]:
        return self.root.find_all(tag, **attributes)


class CheckedClient:
    """A browser of one person; every page and fragment it fetches is checked."""

    def __init__(self, client: FlaskClient, member: Member | None = None) -> None:
        self.client = client
        self._member = member
        self._csrf_token: str | None = None

    def new_id(self) -> UUID:
        """An id as this person's pages are issued them, to begin something under."""
        assert self._member
        return issued_id(self.client.application, self._member)

    def get(self, path: str, **options: Any) -> TestResponse:
        """A response as it is."""
        return self.client.get(path, **options)

    def page(self, path: str, status: int = 200, **options: Any) -> Page:
        """A whole page, checked."""
        return self._page(self.client.get(path, **options), status)

    def fragment(self, path: str, status: int = 200) -> Page:
        """A part of a page as htmx asks for it, checked."""
        return self._fragment(self.client.get(path, headers=HTMX), status)

    def post(
        self, path: str, *, htmx: bool = False, token: bool = True, **form: Any
    ) -> TestResponse:
        """Send a form with the page's CSRF token."""
        if token:
            form = {"csrf_token": self.csrf_token, **form}
        return self.client.post(path, data=form, headers=HTMX if htmx else {})

    def post_fragment(self, path: str, status: int = 200, **form: Any) -> Page:
        """Send a form as htmx does and look at the answer."""
        return self._fragment(self.post(path, htmx=True, **form), status)

    def press(self, page: Page, path: str, *, htmx: bool = False, **form: Any) -> TestResponse:
        """Send the form of a page that goes to `path`, with what it carries and what is typed.

        Where several go there, it is the one that carries what is given here.
        """
        carried = [_hidden(each) for each in page.find_all("form", action=path)]
        [fields] = [each for each in carried if {**each, **form}.items() >= each.items()]
        return self.post(path, htmx=htmx, **{**fields, **form})

    @property
    def csrf_token(self) -> str:
        """The token that this browser's forms carry."""
        if self._csrf_token is None:
            group_id = self._member.group_id if self._member else None
            self._csrf_token = mint_csrf_token(self.client, group_id)
        return self._csrf_token

    def _page(self, response: TestResponse, status: int) -> Page:
        page = Page(response, _parsed(response, status))
        check_document(page)
        self._check_fields(page)
        return page

    def _fragment(self, response: TestResponse, status: int) -> Page:
        page = Page(response, _parsed(response, status))
        check_elements(page.root, _nonce(response))
        self._check_fields(page)
        return page

    def _check_fields(self, page: Page) -> None:
        """Each form carries what its page shows of what it changes (see form_fields)."""
        urls = self.client.application.url_map.bind("localhost")
        for form in page.find_all("form", method="post"):
            endpoint, _arguments = urls.match(urlsplit(form.attributes["action"]).path, "POST")
            names = [each.attributes.get("name", "") for each in form.find_all("input")]
            for wanted in CARRIED.get(endpoint, ()):
                assert fnmatch.filter(names, wanted), (endpoint, wanted, names)


def _hidden(form: Element) -> dict[str, str]:
    inputs = [each.attributes for each in form.find_all("input", type="hidden")]
    return {each["name"]: each["value"] for each in inputs if each["name"] != "csrf_token"}


def sign_in(app: Flask, owner: Database, member: Member) -> CheckedClient:
    """A browser where this person has signed in."""
    client = app.test_client()
    with client.session_transaction() as session:
        session["_user_id"] = browser_token(owner, member)
        session.permanent = True
    return CheckedClient(client, member)


def mint_csrf_token(client: FlaskClient, group_id: UUID | None = None) -> str:
    """What a page of this browser would carry, without drawing one."""
    own = f"{PARTED}{mark_of(group_id)}" if group_id else ""
    with client.session_transaction() as session:
        raw = session.get("csrf_token", "")
        if not raw.endswith(own) or not raw:
            raw = session["csrf_token"] = secrets.token_hex(20) + own
    app = client.application
    secret = app.config.get("WTF_CSRF_SECRET_KEY") or app.secret_key
    return str(URLSafeTimedSerializer(secret, salt="wtf-csrf-token").dumps(raw))


def issued_id(app: Flask, member: Member) -> UUID:
    """An id that this person may begin a conversation or a form under."""
    secret = app.secret_key
    assert isinstance(secret, str)
    return make_issued_id(member.user_id, secret.encode())


def _parsed(response: TestResponse, status: int) -> Element:
    assert response.status_code == status, f"{response.status_code}: {response.text[:500]}"
    assert response.mimetype == "text/html"
    # The same icons on each page, made of shapes alone, would be half of what is looked at.
    text = response.text.replace(icon_sprite(), "", 1)
    return parse_html(text.removeprefix("<!doctype html>"))


def _nonce(response: TestResponse) -> str:
    policy = response.headers["Content-Security-Policy"]
    return policy.split("'nonce-")[1].split("'")[0]


def check_document(page: Page) -> None:
    """What a whole page needs besides what each of its elements needs."""
    html = page.find("html")
    assert html.attributes.get("lang") in ("en", "es")
    titles = [each for each in page.find("head").children if each.tag == "title"]
    assert len(titles) == 1
    assert titles[0].text.removesuffix("· Comanda").strip()
    assert len(page.find_all("main")) == 1
    assert len(page.find_all("h1")) == 1, [heading.text for heading in page.find_all("h1")]
    assert page.response.headers["Cache-Control"] == "no-store"
    check_elements(page.root, _nonce(page.response))


def check_elements(root: Element, nonce: str) -> None:
    """Ids, labels, names, nonces, tokens and addresses of everything that is there."""
    ids = [element.attributes["id"] for element in root if "id" in element.attributes]
    assert len(ids) == len(set(ids)), sorted(id_ for id_ in ids if ids.count(id_) > 1)
    labelled = {label.attributes.get("for") for label in root.find_all("label")}
    for element in root:
        _check_scripting(element, nonce)
        _check_addresses(element)
        if element.tag in FIELDS:
            _check_label(element, labelled)
        elif element.tag in ("button", "a", "summary"):
            named = element.text or element.attributes.get("aria-label")
            assert named, f"nameless <{element.tag} {element.attributes}>"
        elif element.tag == "form":
            _check_form(element)


def _check_scripting(element: Element, nonce: str) -> None:
    names = set(element.attributes)
    assert not [name for name in names if name.startswith("on")], element.attributes
    assert "style" not in names, element.attributes
    if element.tag == "script":
        assert element.attributes.get("src"), "a script in the page"
        assert element.attributes.get("nonce") == nonce
    if element.tag == "style":
        raise AssertionError("a style in the page")
    if [name for name in names if name.startswith("hx-") and name != "hx-nonce"]:
        assert element.attributes.get("hx-nonce") == nonce, element.attributes


def _check_addresses(element: Element) -> None:
    for name in ADDRESSES:
        address = element.attributes.get(name)
        if address is None or (element.tag == "a" and address.startswith(("tel:", "mailto:"))):
            continue
        parts = urlsplit(address)
        assert not parts.scheme, f"{name}={address!r}"
        assert not parts.netloc, f"{name}={address!r}"


def _check_label(element: Element, labelled: set[str | None]) -> None:
    if element.attributes.get("type") in NEED_NO_LABEL or "hidden" in element.attributes:
        return
    has_label = (
        element.attributes.get("id") in labelled - {None}
        or element.attributes.get("aria-label")
        or element.attributes.get("aria-labelledby")
        or any(above.tag == "label" for above in _above(element))
    )
    assert has_label, f"no label for {element.attributes}"


def _above(element: Element) -> Iterator[Element]:
    while element.parent is not None:
        element = element.parent
        yield element


def _check_form(form: Element) -> None:
    if form.attributes.get("method", "get").lower() != "post":
        return
    assert form.attributes.get("action", "").startswith("/"), form.attributes
    assert form.find("input", name="csrf_token").attributes["value"]
