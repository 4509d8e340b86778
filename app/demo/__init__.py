"""The demo restaurant: Alamo Prime, and a second house that must never be seen from it.

Its content is the data files in this folder, loaded once and idempotently.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from sqlalchemy import delete, exists, select

from app.accounts.models import Credential, Group, Membership, User
from app.accounts.new_people import create_group, create_user
from app.accounts.passwords import verify_password
from app.assistant.prompts.system_prompt import seed_prompts
from app.assistant.tools.registry import Registry
from app.config import Settings
from app.db import ScopedSession, owner_database
from app.extensions import Services
from app.retrieval.embedder import make_embedder
from app.retrieval.vectors import embed_missing
from app.skills.forms.services.contact_names import add_contacts
from app.skills.forms.services.starters import add_starters
from app.skills.knowledge.models import PRODUCT_KINDS
from app.skills.knowledge.services.importer import import_documents, import_products
from app.skills.knowledge.services.markdown_import import read_markdown
from app.skills.service_requests.services.starters import add_starters as add_request_types
from app.text.yaml_file import read_yaml

HERE = Path(__file__).parent
PASSWORD = "the soup of the day"  # noqa: S105 - printed at every start


@dataclass(frozen=True)
class DemoUser:
    email: str
    name: str
    role: str
    language: str


@dataclass(frozen=True)
class DemoHouse:
    """One demo group: where its files are and who works there."""

    slug: str
    name: str
    folder: str
    users: tuple[DemoUser, ...]


HOUSES = (
    DemoHouse(
        "alamo-prime",
        "Alamo Prime",
        "alamo_prime",
        (
            DemoUser("sam@alamoprime.example", "Sam Ortega", "staff", "en"),
            DemoUser("lucia@alamoprime.example", "Lucía Hernández", "staff", "es"),
            DemoUser("marcus@alamoprime.example", "Marcus Bell", "manager", "en"),
            DemoUser("elena@alamoprime.example", "Elena Ruiz", "admin", "en"),
        ),
    ),
    DemoHouse(
        "casa-lucero",
        "Casa Lucero",
        "casa_lucero",
        (DemoUser("rosa@casalucero.example", "Rosa Lucero", "admin", "es"),),
    ),
)


SLUGS = tuple(house.slug for house in HOUSES)
EMAILS = tuple(user.email for house in HOUSES for user in house.users)


@dataclass(frozen=True)
class DemoFound:
    """What of the demo is in the database: names of houses, and e-mails of people.

    `kept` are demo people who belong to another group too, and so stay when it goes.
    """

    houses: tuple[str, ...]
    people: tuple[str, ...]
    kept: tuple[str, ...]

    def __bool__(self) -> bool:
        """Whether there is anything to remove."""
        return bool(self.houses or self.people)


def seed(settings: Settings) -> str:
    """Load the demo where it is missing; returns the sign-ins to print, if there are any."""
    from app.skills import SKILLS

    registry = Registry(SKILLS)
    with owner_database(settings).session() as session:
        known = set(session.scalars(select(Group.slug)))
        if not all(house.slug in known for house in HOUSES):
            load(session, settings, registry)
        return sign_ins(session)


def load_demo(on: Services) -> str:
    """Load every file again; what is the same stays untouched."""
    with owner_database(on.settings).session() as session:
        load(session, on.settings, on.registry)
        return sign_ins(session)


def find_demo(session: ScopedSession) -> DemoFound:
    """What of the demo there is, with the owner's session."""
    houses = session.scalars(select(Group.name).where(Group.slug.in_(SLUGS)).order_by(Group.slug))
    elsewhere = exists().where(
        Membership.user_id == User.id,
        Membership.group_id == Group.id,
        Group.slug.not_in(SLUGS),
    )
    people = select(User.email).where(User.email.in_(EMAILS)).order_by(User.email)
    return DemoFound(
        tuple(houses),
        tuple(session.scalars(people.where(~elsewhere))),
        tuple(session.scalars(people.where(elsewhere))),
    )


def remove_demo(session: ScopedSession) -> DemoFound:
    """Delete the demo, with the owner's session; the caller commits. Returns what there was.

    The database deletes with a house all that is in it, and with a person what is theirs;
    its triggers take the words of the documents back out of the search.
    """
    found = find_demo(session)
    session.execute(delete(Group).where(Group.slug.in_(SLUGS)))
    session.execute(delete(User).where(User.email.in_(found.people)))
    return found


def open_accounts(session: ScopedSession) -> set[str]:
    """The e-mails of demo people who can sign in with the published password."""
    query = (
        select(User.email, Credential.password_hash)
        .join(Credential, Credential.user_id == User.id)
        .where(User.email.in_(EMAILS), User.is_active)
    )
    rows = session.execute(query).all()
    return {email for email, stored in rows if verify_password(stored, PASSWORD)}


def load(session: ScopedSession, settings: Settings, registry: Registry) -> None:
    """Bring both houses in step with their files, and give every document its vector."""
    embedder = make_embedder(settings)
    for house in HOUSES:
        group_id = _load_people(session, house)
        seed_prompts(session, group_id, registry)
        load_library(session, group_id, HERE / house.folder)
        load_forms(session, group_id, HERE / house.folder)
        load_requests(session, group_id, HERE / house.folder)
        session.commit()
        embed_missing(session, embedder, group_id=group_id, batch_size=256)
        session.commit()


def _load_people(session: ScopedSession, house: DemoHouse) -> UUID:
    group = session.scalar(select(Group).where(Group.slug == house.slug))
    group = group or create_group(session, house.slug, house.name)
    known = set(session.scalars(select(User.email)))
    for user in house.users:
        if user.email not in known:
            memberships = {group.id: user.role}
            create_user(
                session, user.email, user.name, PASSWORD, memberships, language=user.language
            )
    return group.id


def load_library(session: ScopedSession, group_id: UUID, folder: Path) -> None:
    """The manual in both languages, the four menus and the house recipes."""
    for language in ("en", "es"):
        files = sorted((folder / "manual" / language).glob("*.md"))
        documents = [read_markdown(file) for file in files]
        import_documents(session, documents, group_id=group_id, language=language)
    for kind in PRODUCT_KINDS:
        pattern = "recipes/*.yaml" if kind == "recipes" else f"products/{kind}.yaml"
        items = [item for file in sorted(folder.glob(pattern)) for item in read_yaml(file)]
        import_products(session, items, group_id=group_id, kind=kind)


def load_forms(session: ScopedSession, group_id: UUID, folder: Path) -> None:
    """The house's forms, and the people whom they may name."""
    add_starters(session, group_id, read_yaml(folder / "forms.yaml"))
    add_contacts(session, group_id, read_yaml(folder / "contacts.yaml"))


def load_requests(session: ScopedSession, group_id: UUID, folder: Path) -> None:
    """The types of requests that the house takes, and who works on them."""
    file = folder / "service_requests.yaml"
    if file.exists():
        held = read_yaml(file)
        add_request_types(session, group_id, held["types"], held["teams"])


def sign_ins(session: ScopedSession) -> str:
    """The lines that tell a new visitor how to get in; empty when no password is the demo's.

    Trying the five passwords takes a tenth of a second, and is never wrong.
    """
    known = open_accounts(session)
    lines = [
        f"  {user.email:<28} {user.role:<8} {house.name}"
        for house in HOUSES
        for user in house.users
        if user.email in known
    ]
    return "\n".join([f"Demo sign-ins (password: {PASSWORD})", *lines] if lines else [])
