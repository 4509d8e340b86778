"""The people of a group, their roles, and the invitations that bring new ones in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, delete, func, or_, select, text
from sqlalchemy.dialects.postgresql import insert

from app.accounts import emails
from app.accounts.audit import record
from app.accounts.choices import ROLES
from app.accounts.models import Group, Invitation, Membership, User
from app.accounts.names_and_emails import clean_email, clean_name
from app.accounts.passwords import check_password, hash_password
from app.accounts.profile import update_profile
from app.accounts.sign_in import Device, enter_group, in_no_group, start_sign_in, switch_group
from app.accounts.tokens import INVITATION_DAYS, hash_token, new_token
from app.db import ScopedSession, new_id, utc_now
from app.errors import Conflict, Forbidden, InvalidInput, NotFound
from app.notifications.mail import queue_mail

# So many are out at once; one that expired is shown for so many days more.
MOST_INVITATIONS, EXPIRED_DAYS = 200, 30


@dataclass(frozen=True)
class Colleague:
    user_id: UUID
    name: str
    email: str
    role: str
    since: datetime


@dataclass(frozen=True)
class OpenInvitation:
    """What the holder of an invitation's link may know of it."""

    id: UUID
    group_id: UUID
    group_name: str
    language: str
    email: str
    role: str
    has_account: bool


def list_people(session: ScopedSession) -> list[Colleague]:
    """Everybody in the group, by name."""
    rows = session.execute(
        select(User.id, User.name, User.email, Membership.role, Membership.created_at)
        .join(Membership, Membership.user_id == User.id)
        .where(Membership.group_id == session.scope.group_id)
        .order_by(User.name, User.id)
    )
    return [Colleague(*row) for row in rows]


def list_invitations(session: ScopedSession) -> list[Invitation]:
    """The group's invitations that nobody has accepted yet, expired ones too."""
    return list(
        session.scalars(
            select(Invitation)
            .where(Invitation.group_id == session.scope.group_id, Invitation.accepted_at.is_(None))
            .order_by(Invitation.created_at.desc())
        )
    )


def invite(
    session: ScopedSession, email: str, role: str, link: Callable[[str], str], *, inviter: str
) -> str:
    """Invite an address to the session's group; return the link, which works once.

    Inviting the same address again makes a new link and ends the old one.

    Raises:
        InvalidInput: the address or the role will not do, they are in the group already, or too
            many invitations are out.
        Forbidden: whoever invites is no admin any more.
    """
    address = clean_email(email)
    _check_role(role)
    _stay_admin(session)
    if any(colleague.email == address for colleague in list_people(session)):
        raise InvalidInput("%(email)s is already in this group.", field="email", email=address)
    _make_room(session, address)
    token = new_token()
    facts = {
        "role": role,
        "token_hash": hash_token(token),
        "invited_by": session.scope.user_id,
        "created_at": utc_now(),
        "expires_at": utc_now() + timedelta(days=INVITATION_DAYS),
        "accepted_at": None,
    }
    session.execute(
        insert(Invitation)
        .values(id=new_id(), group_id=session.scope.group_id, email=address, **facts)
        .on_conflict_do_update(index_elements=["group_id", "email"], set_=facts)
    )
    group = session.get_one(Group, session.scope.group_id)
    letter = emails.invitation(group.language, group.name, inviter, link(token), INVITATION_DAYS)
    queue_mail(session, address, letter.subject, letter.body, is_awaited=True)
    record(session, "invited", f"{address} as {role}")
    session.commit()
    return link(token)


def _stay_admin(session: ScopedSession) -> None:
    """See to it that the session's person is an admin until it commits.

    Whoever takes that away waits, and takes back their invitations, this one too.
    """
    session.hold_sign_in()
    own = select(Membership.role).where(
        Membership.group_id == session.scope.group_id, Membership.user_id == session.scope.user_id
    )
    if session.scalar(own.with_for_update(read=True)) != "admin":
        raise Forbidden("Only admins can invite people.")


def _make_room(session: ScopedSession, address: str) -> None:
    """Forget what expired long ago, and refuse one invitation too many.

    Two admins at the same moment may each make the last one, which hurts nobody.
    """
    of_group = (Invitation.group_id == session.scope.group_id, Invitation.accepted_at.is_(None))
    long_ago = utc_now() - timedelta(days=EXPIRED_DAYS)
    session.execute(delete(Invitation).where(*of_group, Invitation.expires_at < long_ago))
    others = select(func.count(Invitation.id)).where(*of_group, Invitation.email != address)
    if session.scalars(others).one() >= MOST_INVITATIONS:
        raise InvalidInput(
            "%(limit)s invitations are open. Take back those that are not needed any more, then"
            " invite again.",
            field="email",
            limit=MOST_INVITATIONS,
        )


def revoke_invitation(session: ScopedSession, invitation_id: UUID, sent: str) -> None:
    """Take an invitation back; its link is worth nothing from this moment.

    `sent` is when it was made, as `Invitation.sent` says it: its address may have been invited
    once more since.

    Raises:
        NotFound: it is not this group's, or was accepted already.
        Conflict: it is another one by now.
    """
    invitation = session.scalar(
        select(Invitation)
        .where(
            Invitation.id == invitation_id,
            Invitation.group_id == session.scope.group_id,
            Invitation.accepted_at.is_(None),
        )
        .with_for_update()
    )
    if invitation is None:
        raise NotFound("This invitation no longer exists.")
    if invitation.sent != sent:
        raise Conflict(
            "This address has been invited again in the meantime. The new invitation "
            "was not taken back."
        )
    record(session, "invitation_revoked", invitation.email)
    session.delete(invitation)
    session.commit()


def find_invitation(session: ScopedSession, token: str) -> OpenInvitation:
    """The invitation of a link, or NotFound when it works no more."""
    row = session.execute(
        text("SELECT * FROM find_invitation(:token_hash)"), {"token_hash": hash_token(token)}
    ).one_or_none()
    if row is None:
        raise _gone()
    return OpenInvitation(**row._mapping)


def _gone() -> NotFound:
    return NotFound(
        "This invitation has expired, was used already or was taken back. Ask for a new one."
    )


def join_as_new_person(
    session: ScopedSession, token: str, name: str, password: str, device: Device, language: str
) -> str:
    """Make an account for the invited address and sign it in; return the sign-in's token.

    Raises:
        NotFound: the invitation works no more.
        Conflict: the address has an account, whose owner must sign in to accept.
        InvalidInput: the name or the password will not do; the link can be used again.
    """
    invitation = find_invitation(session, token)
    if invitation.has_account:
        raise Conflict("Sign in as %(email)s to accept.", email=invitation.email)
    name = clean_name(name)
    check_password(password, invitation.email, name)
    # Hashing waits its turn; it must not keep a connection waiting with it.
    session.commit()
    user_id = _accept(session, token, name, hash_password(password))
    enter_group(session, user_id, invitation.group_id)
    sign_in_token = start_sign_in(session, device)
    record(session, "invitation_accepted", f"{invitation.email} as {invitation.role}")
    update_profile(session, language=language)
    return sign_in_token


def join_as_known_person(session: ScopedSession, token: str, email: str, sign_in_id: UUID) -> None:
    """Let the signed-in person of this address join, and look at the new group from here on.

    Raises:
        NotFound: the invitation works no more, or is for another address.
    """
    switch_group(session, sign_in_id, _join(session, token, email))


def join_while_signing_in(session: ScopedSession, token: str, email: str) -> None:
    """Let the session's person join, who is in no group and so cannot be signed in before.

    `email` is the address whose password was right.

    Raises:
        InvalidInput: the invitation works no more, or is for another address.
    """
    try:
        _join(session, token, email)
    except NotFound:
        raise in_no_group() from None


def _join(session: ScopedSession, token: str, email: str) -> UUID:
    """Let the session's person in, and return which group it is that they look at now."""
    invitation = find_invitation(session, token)
    if invitation.email != email:
        # For an address without an account the database would make one.
        raise _gone()
    user_id = _accept(session, token, "", "")
    enter_group(session, user_id, invitation.group_id)
    record(session, "invitation_accepted", f"{invitation.email} as {invitation.role}")
    return invitation.group_id


def _accept(session: ScopedSession, token: str, name: str, password_hash: str) -> UUID:
    user_id: UUID | None = session.scalar(
        text("SELECT accept_invitation(:token_hash, :user_id, :name, :hash)"),
        {
            "token_hash": hash_token(token),
            "user_id": new_id(),
            "name": name,
            "hash": password_hash,
        },
    )
    if user_id is None:
        raise _gone()
    return user_id


def change_role(session: ScopedSession, user_id: UUID, role: str, *, was: str) -> None:
    """Give a colleague another role than it `was`; it counts from their next request.

    Who may invite nobody any more has no open invitations either.

    Raises:
        NotFound: nobody in this group.
        Conflict: the group would be left without an admin, or somebody else has changed the role.
    """
    _check_role(role)
    membership = _lock_membership(session, user_id, keeps_admin=role == "admin")
    if membership.role != role:
        _check_shown(membership, was)
        record(session, "role_changed", f"{user_id}: {membership.role} to {role}")
        membership.role = role
    if role != "admin":
        _end_invitations(session, Invitation.invited_by == user_id)
    session.commit()


def remove_from_group(session: ScopedSession, user_id: UUID, *, was: str) -> None:
    """Take somebody whose role `was` this out of the group; signed in there, they are signed out.

    What made them part of it ends with the membership, by the database's foreign keys: their
    sign-ins there, and their teams. An invitation that they have not used brings them back no more,
    nor does one that they made for somebody else.

    Raises:
        NotFound: nobody in this group.
        Conflict: the group would be left without an admin, or somebody else has changed their role.
    """
    membership = _lock_membership(session, user_id, keeps_admin=False)
    _check_shown(membership, was)
    record(session, "removed_from_group", f"{user_id}: {membership.role}")
    address = select(User.email).where(User.id == user_id).scalar_subquery()
    _end_invitations(session, or_(Invitation.email == address, Invitation.invited_by == user_id))
    session.delete(membership)
    session.commit()


def _check_shown(membership: Membership, role: str) -> None:
    if membership.role != role:
        raise Conflict("Somebody gave them another role in the meantime. Nothing was changed.")


def _end_invitations(session: ScopedSession, which: ColumnElement[bool]) -> None:
    """Take back those of the group's open invitations: their links are worth nothing any more."""
    session.execute(
        delete(Invitation).where(
            Invitation.group_id == session.scope.group_id, Invitation.accepted_at.is_(None), which
        )
    )


def _check_role(role: str) -> None:
    if role not in ROLES:
        raise InvalidInput("Choose from the list.", field="role")


def _lock_membership(session: ScopedSession, user_id: UUID, *, keeps_admin: bool) -> Membership:
    """The colleague's membership, unless changing it would leave nobody in charge."""
    # All the group's admins are locked, so that two of them cannot demote each other.
    admins = session.scalars(
        select(Membership)
        .where(Membership.group_id == session.scope.group_id, Membership.role == "admin")
        .order_by(Membership.user_id)
        .with_for_update()
    ).all()
    # The operator's commands are nobody's.
    if session.scope.user_id not in (None, *(admin.user_id for admin in admins)):
        raise Forbidden("Your role in this group does not allow that. Ask a manager.")
    membership = session.scalar(
        select(Membership)
        .where(Membership.group_id == session.scope.group_id, Membership.user_id == user_id)
        .with_for_update()
    )
    if membership is None:
        raise NotFound("This person is no longer in the group.")
    if not keeps_admin and [admin.user_id for admin in admins] == [user_id]:
        raise Conflict("A group needs an admin: make somebody else an admin first.")
    return membership
