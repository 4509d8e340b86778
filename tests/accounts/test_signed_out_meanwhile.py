"""What was begun before somebody was signed out, or given another role, is not done after it.

The end of a request may come minutes after its beginning, and a download lasts as long as its
reader likes: each transaction asks whether its sign-in still holds.
"""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import delete, func, select, text, update
from werkzeug.test import TestResponse

from app.accounts.models import Invitation, Membership
from app.accounts.people import change_role, invite
from app.accounts.sign_in import Device, start_sign_in
from app.assistant.models import Message
from app.db import Database, Scope
from app.errors import Forbidden, SignInChanged
from app.skills.forms.models import Contact
from tests.factories import (
    CheckedClient,
    Member,
    api_token,
    make_group,
    make_thread,
    make_user,
    sign_in,
)
from tests.skills.forms.filling import address_on, autosave, drafts_of, form_on, make_template

Change = Callable[[], None]


class HeldBody(io.RawIOBase):
    """A body whose last byte comes after `then` was called."""

    def __init__(self, body: bytes, then: Change) -> None:
        self._rest, self._then = body, then

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if len(self._rest) == 1:
            self._then()
        size = min(max(1, len(self._rest) - 1), len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


@pytest.fixture
def admin(owner: Database) -> Member:
    return make_user(owner, make_group(owner), "admin", name="Ada Boss")


@pytest.fixture
def staff(owner: Database, admin: Member) -> Member:
    return make_user(owner, admin.group_id, "staff")


def set_password(owner: Database, who: Member) -> None:
    """Set it as every way does; see `write_password`."""
    with owner.transaction() as session:
        session.execute(text("SELECT write_password(:id, 'x')"), {"id": who.user_id})


def set_role(owner: Database, who: Member, role: str) -> None:
    with owner.transaction() as session:
        mine = update(Membership).where(Membership.user_id == who.user_id)
        session.execute(mine.values(role=role))


def remove(owner: Database, who: Member) -> None:
    with owner.transaction() as session:
        session.execute(delete(Membership).where(Membership.user_id == who.user_id))


def role_of(owner: Database, who: Member) -> str | None:
    with owner.session() as session:
        mine = select(Membership.role).where(Membership.user_id == who.user_id)
        return session.scalar(mine)


def invitations(owner: Database, group_id: UUID) -> int:
    with owner.session() as session:
        of_group = select(func.count(Invitation.id)).where(Invitation.group_id == group_id)
        return session.scalars(of_group).one()


def send_late(browser: CheckedClient, path: str, then: Change, **form: str) -> TestResponse:
    """Post a form whose last byte comes after `then`."""
    fields = {"csrf_token": browser.csrf_token, **form, "end": "x"}
    body = "&".join(f"{name}={value}" for name, value in fields.items()).encode()
    return browser.client.post(
        path,
        content_type="application/x-www-form-urlencoded",
        environ_overrides=held(body, then),
    )


def held(body: bytes, then: Change) -> dict[str, object]:
    """What a server says of a body that is on its way."""
    return {"wsgi.input": HeldBody(body, then), "CONTENT_LENGTH": str(len(body))}


ENDS = pytest.mark.parametrize("ends", [set_password, remove], ids=["new password", "removed"])


@ENDS
def test_nobody_is_invited_by_a_sign_in_that_ended_before_the_form_was_whole(
    app: Flask, owner: Database, admin: Member, ends: Callable[[Database, Member], None]
) -> None:
    make_user(owner, admin.group_id, "admin")
    browser = sign_in(app, owner, admin)
    form = {"action": "invite", "email": "evil@evil.example", "role": "admin"}
    answer = send_late(browser, "/people", lambda: ends(owner, admin), **form)
    assert (answer.status_code, "/sign-in" in answer.location) == (303, True)
    assert invitations(owner, admin.group_id) == 0


def test_a_role_that_was_taken_away_gives_nobody_another(
    app: Flask, owner: Database, admin: Member, staff: Member
) -> None:
    second = make_user(owner, admin.group_id, "admin")
    browser = sign_in(app, owner, second)
    form = {"action": "role", "user_id": str(second.user_id), "role": "admin", "was": "staff"}
    late = send_late(browser, "/people", lambda: set_role(owner, second, "staff"), **form)
    assert late.status_code == 403
    assert "Your role was changed in the meantime, so nothing was done." in late.text
    assert role_of(owner, second) == "staff"
    # Nor somebody who is out by now.
    browser = sign_in(app, owner, admin)
    form |= {"user_id": str(staff.user_id), "role": "manager"}
    late = send_late(browser, "/people", lambda: remove(owner, admin), **form)
    assert late.status_code == 303 and "/sign-in" in late.location
    assert role_of(owner, staff) == "staff"


def test_a_manager_who_is_one_no_more_adds_nothing(
    app: Flask, owner: Database, admin: Member
) -> None:
    manager = make_user(owner, admin.group_id, "manager")
    browser = sign_in(app, owner, manager)
    then = lambda: set_role(owner, manager, "staff")  # noqa: E731
    late = send_late(browser, "/admin/contacts/new", then, name="Ghost")
    assert late.status_code == 403
    with owner.session() as session:
        assert session.query(Contact).filter_by(group_id=admin.group_id).count() == 0


def test_a_body_of_json_is_read_before_anything_is_asked(
    app: Flask, owner: Database, database: Database, staff: Member
) -> None:
    browser, thread_id = sign_in(app, owner, staff), make_thread(database, staff)
    step = {"internal_content": {"type": "request_cancelled"}, "content": ""}
    body = json.dumps(step).encode()
    late = browser.client.post(
        f"/chat/{thread_id}/messages",
        content_type="application/json",
        environ_overrides=held(body, lambda: set_password(owner, staff)),
        headers={"X-CSRFToken": browser.csrf_token},
    )
    assert late.status_code == 401
    assert late.get_json()["code"] == "not_signed_in"


@ENDS
def test_a_programs_form_is_read_before_anything_is_asked(
    app: Flask, owner: Database, staff: Member, ends: Callable[[Database, Member], None]
) -> None:
    """Nothing looks for a token in it, and the route looks for the draft first."""
    template = make_template(owner, staff.group_id)
    browser = sign_in(app, owner, staff)
    page = browser.page(f"/forms/{template.slug}")
    autosave(browser, page, what="mine")
    path = f"{address_on(page)}/undo/who"
    fields = {**form_on(browser.page(address_on(page))), "v-what": "hacked", "end": "x"}
    body = "&".join(f"{name}={value}" for name, value in fields.items()).encode()
    late = app.test_client().post(
        path,
        content_type="application/x-www-form-urlencoded",
        headers={"Authorization": f"Bearer {api_token(owner, staff)}"},
        environ_overrides=held(body, lambda: ends(owner, staff)),
    )
    assert late.status_code in (303, 401)
    [draft] = drafts_of(owner, staff)
    assert draft.typed["what"] == "mine"


@pytest.mark.parametrize("extension", ["json", "md"])
def test_a_download_ends_with_the_sign_in_that_asked_for_it(
    app: Flask, owner: Database, database: Database, staff: Member, extension: str
) -> None:
    thread_id = make_thread(database, staff, *(f"Question {n}" for n in range(120)))
    browser = sign_in(app, owner, staff)
    answer = browser.get(f"/chats/{thread_id}/export.{extension}", buffered=False)
    pieces = iter(answer.response)
    begun = b"".join(_as_bytes(next(pieces)) for _ in range(5))
    assert b"Question 0" in begun or extension == "json"
    set_password(owner, staff)
    with owner.transaction() as session:
        session.execute(
            update(Message)
            .where(Message.thread_id == thread_id, Message.content == "Question 119")
            .values(content="zorglub")
        )
    rest: list[bytes] = []
    with pytest.raises(SignInChanged):
        rest.extend(map(_as_bytes, pieces))
    assert b"zorglub" not in begun + b"".join(rest)
    answer.close()


def _as_bytes(piece: str | bytes) -> bytes:
    return piece.encode() if isinstance(piece, str) else piece


def test_an_invitation_and_a_new_password_at_the_same_moment_leave_no_way_in(
    owner: Database, database: Database, admin: Member
) -> None:
    """Whoever sets the password waits for the invitation, and ends it with the others."""
    make_user(owner, admin.group_id, "admin")
    held = threading.Event()
    sign_in_id = _sign_in_of(owner, database, admin)
    scope = Scope(admin.group_id, admin.user_id, "admin")
    with database.session(scope, sign_in_id) as session, ThreadPoolExecutor(1) as pool:
        session.hold_sign_in()
        setting = pool.submit(lambda: (held.set(), set_own_password(database, scope)))
        assert held.wait(10)
        invite(session, "evil@evil.example", "admin", lambda token: token, inviter="Ada")
        setting.result(timeout=30)
    assert invitations(owner, admin.group_id) == 0


def set_own_password(database: Database, scope: Scope) -> None:
    with database.transaction(scope) as session:
        session.execute(text("SELECT set_password('y')"))


def _sign_in_of(owner: Database, database: Database, who: Member) -> UUID:
    with database.transaction(who.scope) as session:
        start_sign_in(session, Device("Tests", 7))
    with owner.session() as session:
        found: UUID = session.scalars(
            text("SELECT id FROM sign_ins WHERE user_id = :id").bindparams(id=who.user_id)
        ).one()
    return found


def test_only_an_admin_of_this_moment_changes_a_role(
    owner: Database, database: Database, admin: Member, staff: Member
) -> None:
    pretended = Scope(admin.group_id, staff.user_id, "admin")
    with database.session(pretended) as session, pytest.raises(Forbidden):
        change_role(session, staff.user_id, "admin", was="staff")
    assert role_of(owner, staff) == "staff"
