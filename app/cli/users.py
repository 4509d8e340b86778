"""`flask users …`: people and groups for whoever runs the server.

These commands work with the owner's database, so they see and change every group; they
are for the operator's terminal and have no page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID
from zoneinfo import available_timezones

import click
from flask.cli import AppGroup
from sqlalchemy import func, select

from app.accounts.audit import record
from app.accounts.choices import ROLES
from app.accounts.models import Group, Membership, User
from app.accounts.names_and_emails import fold_email
from app.accounts.new_people import create_group, create_user, set_membership
from app.accounts.password_change import set_password
from app.accounts.passwords import check_password
from app.accounts.sign_in import issue_api_token
from app.accounts.tokens import API_DAYS
from app.assistant.prompts.system_prompt import seed_prompts
from app.config import LANGUAGES
from app.db import Scope, ScopedSession, owner_database
from app.errors import ComandaError
from app.extensions import services
from app.text.currencies import CODES

# What commands, files and addresses can carry without quotes.
SLUG = re.compile(r"[a-z0-9][a-z0-9-]{1,39}")

users = AppGroup("users", help="People, their groups and their tokens.")


@contextmanager
def _as_owner() -> Iterator[ScopedSession]:
    """A transaction on the owner's database; what is wrong is told in a line."""
    database = owner_database(services().settings)
    try:
        with database.transaction() as session:
            yield session
    except ComandaError as error:
        raise click.ClickException(error.message % error.params) from None
    finally:
        database.engine.dispose()


def _find_user(session: ScopedSession, email: str) -> User:
    user = session.scalar(select(User).where(User.email == fold_email(email)))
    if user is None:
        raise click.ClickException(f"Nobody has the e-mail {email}.")
    return user


def _find_group(session: ScopedSession, slug: str) -> Group:
    group = session.scalar(select(Group).where(Group.slug == slug))
    if group is None:
        known = ", ".join(session.scalars(select(Group.slug).order_by(Group.slug))) or "none yet"
        raise click.ClickException(f"There is no group {slug}; there are: {known}.")
    return group


def _ask_password() -> str:
    answer: str = click.prompt("Password", hide_input=True, confirmation_prompt=True)
    return answer


@users.command("list")
@click.option("--group", help="Only the people of this group (its slug).")
def list_users(group: str | None) -> None:
    """List everybody: e-mail, name, role and group."""
    with _as_owner() as session:
        query = (
            select(User.email, User.name, Membership.role, Group.slug)
            .outerjoin(Membership, Membership.user_id == User.id)
            .outerjoin(Group, Group.id == Membership.group_id)
            .order_by(Group.slug, User.email)
        )
        if group:
            query = query.where(Group.id == _find_group(session, group).id)
        for email, name, role, slug in session.execute(query):
            click.echo(f"{email}\t{name}\t{role or '-'}\t{slug or '-'}")


@users.command("add")
@click.argument("email")
@click.option("--group", required=True, help="The group's slug.")
@click.option("--role", type=click.Choice(list(ROLES)), default="staff", show_default=True)
@click.option("--name", help="What they are called; asked for a new person.")
def add_user(email: str, group: str, role: str, name: str | None) -> None:
    """Add EMAIL to a group; asks for a password when the person is new."""
    with _as_owner() as session:
        group_id = _find_group(session, group).id
        user = session.scalar(select(User).where(User.email == fold_email(email)))
        if user is None:
            name = name or click.prompt("Name", type=str)
            user = create_user(session, email, name or "", _ask_password(), {group_id: role})
        else:
            set_membership(session, user.id, group_id, role)
        _record_as_operator(session, group_id, "added_by_operator", f"{user.id} as {role}")
    click.echo(f"{email} is {role} in {group}.")


@users.command("password")
@click.argument("email")
def change_password(email: str) -> None:
    """Set the password of EMAIL; their sign-ins, API tokens and reset links end."""
    with _as_owner() as session:
        user = _find_user(session, email)
        password = _ask_password()
        check_password(password, user.email, user.name)
        set_password(session, user.id, password)
        _record_as_operator(session, None, "password_set_by_operator", str(user.id))
    click.echo(f"The password of {email} is set.")


@users.command("token")
@click.argument("email")
@click.option("--group", help="The group's slug, for people in more than one.")
@click.option("--days", type=click.IntRange(1, 3650), default=API_DAYS, show_default=True)
def make_token(email: str, group: str | None, days: int) -> None:
    """Make a token with which API clients act as EMAIL; it is shown this once."""
    with _as_owner() as session:
        user = _find_user(session, email)
        group_id = _group_for_token(session, user, group)
        token = issue_api_token(session, user.id, group_id, days=days)
        _record_as_operator(session, group_id, "token_made_by_operator", str(user.id))
    click.echo(token)


def _group_for_token(session: ScopedSession, user: User, slug: str | None) -> UUID:
    mine = select(Group).join(Membership).where(Membership.user_id == user.id)
    groups = {group.slug: group.id for group in session.scalars(mine)}
    if slug is None and len(groups) == 1:
        return next(iter(groups.values()))
    if slug not in groups:
        known = ", ".join(sorted(groups)) or "none"
        raise click.ClickException(f"Name one of their groups with --group: {known}.")
    return groups[slug]


@users.command("groups")
def list_groups() -> None:
    """List the groups: slug, name, zone, language and how many people."""
    with _as_owner() as session:
        people = func.count(Membership.user_id)
        query = select(Group, people).outerjoin(Membership).group_by(Group.id).order_by(Group.slug)
        for group, count in session.execute(query):
            click.echo(f"{group.slug}\t{group.name}\t{group.timezone}\t{group.language}\t{count}")


@users.command("add-group")
@click.argument("slug")
@click.option("--name", required=True, help="What the restaurant is called.")
@click.option("--timezone", default="America/Chicago", show_default=True)
@click.option("--currency", default="USD", show_default=True)
@click.option("--language", type=click.Choice(list(LANGUAGES)), default="en", show_default=True)
def add_group(slug: str, name: str, timezone: str, currency: str, language: str) -> None:
    """Found the group SLUG; then add its first admin with `flask users add`.

    Its country and its emergency number an admin sets on the page "Restaurant".
    """
    if not SLUG.fullmatch(slug):
        raise click.BadParameter(
            "use 2 to 40 lowercase letters, digits and hyphens, starting with a letter or digit,"
            " such as my-place",
            param_hint="slug",
        )
    if timezone not in available_timezones():
        raise click.BadParameter("is not a time zone like America/Chicago", param_hint="timezone")
    if currency not in CODES:
        raise click.BadParameter("is not a currency like USD", param_hint="currency")
    with _as_owner() as session:
        group = create_group(
            session, slug, name, timezone=timezone, currency=currency, language=language
        )
        seed_prompts(session, group.id, services().registry)
    click.echo(f"The group {slug} is founded.")


def _record_as_operator(
    session: ScopedSession, group_id: UUID | None, action: str, subject: str
) -> None:
    """An audit row of the group that names no person: the operator has no account."""
    session.rescope(Scope(group_id=group_id))
    record(session, action, subject)
