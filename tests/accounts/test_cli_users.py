"""`flask users …`: what an operator does at the terminal."""

from __future__ import annotations

import secrets

import pytest
from flask import Flask
from flask.testing import FlaskCliRunner
from sqlalchemy import select

from app.accounts.models import AuditEntry, Credential, User
from app.db import Database
from tests.accounts.conftest import Browser, House, Member

NEW_PASSWORD = "nine purple onions"
TYPED = f"{NEW_PASSWORD}\n{NEW_PASSWORD}\n"


@pytest.fixture
def address() -> str:
    return f"{secrets.token_hex(6)}@example.com"


def in_app(app: Flask, email: str, password: str) -> int:
    return Browser(app).post("/sign-in", {"email": email, "password": password}).status_code


def test_a_new_person_is_added_and_can_sign_in(
    app: Flask, cli: FlaskCliRunner, house: House, address: str
) -> None:
    arguments = ["users", "add", address, "--group", house.slug, "--role", "manager"]
    result = cli.invoke(args=[*arguments, "--name", "Luz Ortega"], input=TYPED)
    assert result.exit_code == 0, result.output
    assert NEW_PASSWORD not in result.output
    assert in_app(app, address, NEW_PASSWORD) == 303


def test_somebody_known_is_added_to_another_group_without_a_password(
    cli: FlaskCliRunner, house: House, other_house: House
) -> None:
    result = cli.invoke(args=["users", "add", house.staff.email, "--group", other_house.slug])
    assert result.exit_code == 0, result.output
    listed = cli.invoke(args=["users", "list", "--group", other_house.slug]).output
    assert f"{house.staff.email}\t{house.staff.name}\tstaff\t{other_house.slug}" in listed


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["add", "x@example.com", "--group", "nowhere"], "There is no group nowhere"),
        (["password", "nobody@example.com"], "Nobody has the e-mail"),
        (["token", "nobody@example.com"], "Nobody has the e-mail"),
        (["list", "--group", "nowhere"], "There is no group nowhere"),
    ],
)
def test_what_does_not_exist_is_said_so(
    cli: FlaskCliRunner, arguments: list[str], words: str
) -> None:
    result = cli.invoke(args=["users", *arguments], input=TYPED)
    assert result.exit_code != 0
    assert words in result.output


def test_a_bad_password_adds_nobody(
    cli: FlaskCliRunner, house: House, owner: Database, address: str
) -> None:
    arguments = ["users", "add", address, "--group", house.slug, "--name", "Luz"]
    result = cli.invoke(args=arguments, input="short\nshort\n")
    assert result.exit_code != 0
    assert "at least 12 characters" in result.output
    with owner.transaction() as session:
        assert session.scalar(select(User).where(User.email == address)) is None


def test_a_password_is_set_and_everybody_with_the_old_one_is_out(
    app: Flask, cli: FlaskCliRunner, house: House, owner: Database
) -> None:
    browser = Browser(app)
    browser.sign_in(house.staff)
    result = cli.invoke(args=["users", "password", house.staff.email], input=TYPED)
    assert result.exit_code == 0, result.output
    assert not browser.is_signed_in()
    assert in_app(app, house.staff.email, NEW_PASSWORD) == 303
    with owner.transaction() as session:
        kept = session.get_one(Credential, house.staff.user_id)
        assert NEW_PASSWORD not in kept.password_hash


def test_a_token_is_printed_once_and_works(
    app: Flask, cli: FlaskCliRunner, house: House, owner: Database
) -> None:
    result = cli.invoke(args=["users", "token", house.staff.email])
    assert result.exit_code == 0, result.output
    token = result.output.strip()
    headers = {"Authorization": f"Bearer {token}"}
    assert app.test_client().get("/chat", headers=headers).status_code == 200
    with owner.transaction() as session:
        query = select(AuditEntry.action).where(AuditEntry.group_id == house.group_id)
        assert "token_made_by_operator" in session.scalars(query).all()


def test_a_token_for_somebody_of_two_groups_needs_the_group(
    cli: FlaskCliRunner, house: House, other_house: House
) -> None:
    member: Member = house.staff
    cli.invoke(args=["users", "add", member.email, "--group", other_house.slug])
    vague = cli.invoke(args=["users", "token", member.email])
    assert vague.exit_code != 0
    assert other_house.slug in vague.output
    exact = cli.invoke(args=["users", "token", member.email, "--group", other_house.slug])
    assert exact.output.startswith("comanda_")
    foreign = cli.invoke(args=["users", "token", house.admin.email, "--group", other_house.slug])
    assert foreign.exit_code != 0


def test_a_group_is_founded_once(app: Flask, cli: FlaskCliRunner, address: str) -> None:
    slug = f"new-{secrets.token_hex(4)}"
    arguments = ["users", "add-group", slug, "--name", "La Nueva", "--language", "es"]
    assert cli.invoke(args=arguments).exit_code == 0
    again = cli.invoke(args=arguments)
    assert again.exit_code != 0
    assert f"There is a group {slug} already" in again.output
    cli.invoke(
        args=["users", "add", address, "--group", slug, "--role", "admin", "--name", "Luz"],
        input=TYPED,
    )
    assert (
        f"{slug}\tLa Nueva\tAmerica/Chicago\tes\t1" in cli.invoke(args=["users", "groups"]).output
    )
    assert in_app(app, address, NEW_PASSWORD) == 303


def test_a_zone_that_does_not_exist_founds_nothing(cli: FlaskCliRunner) -> None:
    result = cli.invoke(
        args=["users", "add-group", "mars", "--name", "X", "--timezone", "Mars/Olympus"]
    )
    assert result.exit_code != 0
    assert "time zone" in result.output


@pytest.mark.parametrize(
    "slug",
    ["My Place!!", "Place", "x", "a" * 41, "under_score", "niño", "-first", "a/b", "ok\n", ""],
)
def test_a_slug_that_needs_quotes_somewhere_founds_nothing(cli: FlaskCliRunner, slug: str) -> None:
    result = cli.invoke(args=["users", "add-group", "--name", "X", "--", slug])
    assert result.exit_code == 2
    assert "2 to 40 lowercase letters, digits and hyphens" in result.output
    assert "\tX\t" not in cli.invoke(args=["users", "groups"]).output


def test_the_shortest_and_the_longest_slug_are_taken(cli: FlaskCliRunner) -> None:
    for slug in (secrets.token_hex(1), secrets.token_hex(20)):
        result = cli.invoke(args=["users", "add-group", slug, "--name", "Long and Short"])
        assert result.exit_code == 0, result.output
