"""Changing the system prompt's rows: their texts, their order, which are on, which there are.

Every change keeps what the row was before as a revision and is written into the audit log.
Forms carry the version that they were opened with, so that nobody overwrites what they
have not seen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError

from app.accounts.audit import record
from app.assistant.models import Prompt, PromptRevision
from app.assistant.prompts.system_prompt import LONGEST_BUTTON, seeds_of
from app.assistant.tools.registry import Registry
from app.db import ScopedSession, utc_now
from app.errors import Conflict, InvalidInput, NotFound
from app.text.plain_text import clean_lines, compose

CATEGORIES = ("system", "domain", "skill", "action")
TEXT_LIMIT = 20_000
# Of a group, the product's own among them.
MOST_ROWS = 100
# Counting as a model does would need its own tables; four letters a token is near enough.
LETTERS_A_TOKEN = 4
# Between one row and the next that is added after it.
STEP = 1
_SLUG = re.compile(r"[a-z][a-z0-9_-]{2,63}")


class Texts(NamedTuple):
    """A row's text in both languages."""

    en: str
    es: str


@dataclass(frozen=True)
class Clash:
    """Somebody saved while somebody else was writing; nothing of either is lost.

    `prompt` is the row as it stands now, `mine` what was not saved, `before` what both
    started from, `merged` mine where only I changed a language, theirs where only they did.
    """

    prompt: Prompt
    mine: Texts
    before: Texts

    @property
    def theirs(self) -> Texts:
        return texts_of(self.prompt)

    @property
    def merged(self) -> Texts:
        return Texts(
            *(
                theirs if mine == before else mine
                for mine, theirs, before in zip(self.mine, self.theirs, self.before, strict=True)
            )
        )

    @property
    def is_about(self) -> list[str]:
        """The languages that both have changed, each in another way."""
        four = zip(Texts._fields, self.mine, self.theirs, self.before, strict=True)
        return [name for name, mine, theirs, before in four if before not in (mine, theirs)]


def estimate_tokens(text: str) -> int:
    """About how many tokens a model reads in `text`; an estimate, and called one."""
    return -(-len(text) // LETTERS_A_TOKEN)


def texts_of(row: Prompt | PromptRevision) -> Texts:
    return Texts(row.prompt_en, row.prompt_es)


def _clean(raw: str) -> str:
    """A text as it is stored: NFC, plain line ends, nothing that cannot be seen."""
    return clean_lines(compose(raw)).replace("\t", "    ").strip()


def clean_texts(texts: Texts) -> Texts:
    """Both texts as they are stored; one of them may be empty, the other one serves for it.

    Raises:
        InvalidInput: both are empty, or one is too long; names the field.
    """
    _check_lengths(texts)
    cleaned = Texts(*map(_clean, texts))
    # Some letters are two when they are composed.
    _check_lengths(cleaned)
    if not any(cleaned):
        raise InvalidInput(
            "Write the text in at least one language. If you don't want this row, switch it off.",
            field="prompt_en",
        )
    return cleaned


def _check_lengths(texts: Texts) -> None:
    for name, text in texts._asdict().items():
        if len(text) > TEXT_LIMIT:
            raise InvalidInput(
                "That is %(length)s characters; a text can have %(limit)s. Shorten it.",
                field=f"prompt_{name}",
                length=f"{len(text):,}",
                limit=f"{TEXT_LIMIT:,}",
            )


def load_prompt(session: ScopedSession, prompt_id: UUID, *, lock: bool = False) -> Prompt:
    """A row of the group's.

    Raises:
        NotFound: there is none, or it is another group's.
    """
    query = select(Prompt).where(Prompt.id == prompt_id, Prompt.group_id == session.scope.group_id)
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    row = session.scalar(query)
    if row is None:
        raise NotFound("This prompt does not exist, or you don't have access to it.")
    return row


def save_texts(
    session: ScopedSession, prompt_id: UUID, version: int, typed: Texts
) -> Prompt | Clash:
    """Give a row new texts; a Clash when somebody else gave it others meanwhile.

    What was only moved or switched since `version` keeps nobody from saving a text.

    Raises:
        NotFound, InvalidInput
    """
    texts = clean_texts(typed)
    row = load_prompt(session, prompt_id, lock=True)
    if row.category == "action" and row.seed_digest is None:
        _check_button(texts)
    before = _texts_at(session, row, version)
    if texts_of(row) not in (before, texts):
        return Clash(row, texts, before)
    if texts_of(row) != texts:
        keep(session, row)
        row.prompt_en, row.prompt_es = texts
        record(session, "prompt_edited", row.slug)
    session.commit()
    return row


def _texts_at(session: ScopedSession, row: Prompt, version: int) -> Texts:
    """What the row said in an earlier version; what it says now where that is not known."""
    if version == row.version:
        return texts_of(row)
    found = session.scalar(
        select(PromptRevision).where(
            PromptRevision.prompt_id == row.id,
            PromptRevision.group_id == session.scope.group_id,
            PromptRevision.version == version,
        )
    )
    # A form without a version that ever was has seen nothing: whatever stands there is news.
    return texts_of(found) if found else Texts("", "")


def keep(session: ScopedSession, row: Prompt) -> None:
    """Keep a row as it is for the history, before it is changed in the same transaction."""
    session.add(
        PromptRevision(
            group_id=row.group_id,
            prompt_id=row.id,
            version=row.version,
            prompt_en=row.prompt_en,
            prompt_es=row.prompt_es,
            sort_order=row.sort_order,
            is_active=row.is_active,
            author_id=row.edited_by,
            created_at=row.updated_at,
        )
    )
    row.version += 1
    row.edited_by = session.scope.user_id
    row.updated_at = utc_now()


def switch(session: ScopedSession, prompt_id: UUID, version: int, *, on: bool) -> Prompt:
    """Switch a row on or off; it counts from the next message on.

    Raises:
        NotFound
        Conflict: it is required, or somebody changed it since `version`.
    """
    row = load_prompt(session, prompt_id, lock=True)
    if row.is_active != on:
        _require_version(row, version)
        if row.is_required and not on:
            raise Conflict(
                "This row keeps answers grounded, cited and safe, so it cannot be switched off."
                " You can edit its text."
            )
        keep(session, row)
        row.is_active = on
        record(session, "prompt_switched_on" if on else "prompt_switched_off", row.slug)
    session.commit()
    return row


def _require_version(row: Prompt, version: int) -> None:
    if row.version != version:
        raise Conflict(
            "Somebody changed this row in the meantime. This is how it is now; try again."
        )


def move(session: ScopedSession, prompt_id: UUID, version: int, *, up: bool) -> Prompt:
    """Let a row and its neighbour in its category change places; at the end nothing happens.

    Raises:
        NotFound
        Conflict: somebody changed it since `version`.
    """
    row = load_prompt(session, prompt_id)
    rows = _category(session, row.category)
    if row not in rows:
        raise NotFound("This prompt does not exist, or you don't have access to it.")
    _require_version(row, version)
    place = rows.index(row)
    other = place - 1 if up else place + 1
    if 0 <= other < len(rows):
        orders = [each.sort_order for each in rows]
        rows[place], rows[other] = rows[other], rows[place]
        _number(session, rows, orders)
        record(session, "prompt_moved", row.slug)
    session.commit()
    return row


def _category(session: ScopedSession, category: str) -> list[Prompt]:
    """A category's rows in their order, locked so that two who move them wait for each other."""
    # In the order of their ids, as everybody takes them: else each could wait for the other.
    rows = session.scalars(
        select(Prompt)
        .where(Prompt.group_id == session.scope.group_id, Prompt.category == category)
        .order_by(Prompt.id)
        .with_for_update()
        .execution_options(populate_existing=True)
    ).all()
    return sorted(rows, key=_place)


def _place(row: Prompt) -> tuple[int, str]:
    return row.sort_order, row.slug


def _number(session: ScopedSession, rows: list[Prompt], orders: list[int]) -> None:
    """Give `rows` the numbers in `orders`, raised where a tie would undo their order."""
    last: tuple[int, str] | None = None
    for row, given in zip(rows, orders, strict=True):
        number = given
        if last is not None and (number, row.slug) <= last:
            number = last[0] + (row.slug <= last[1])
        if row.sort_order != number:
            keep(session, row)
            row.sort_order = number
        last = (number, row.slug)


def _check_room(session: ScopedSession) -> None:
    """Refuse a row too many: each message of everybody in the group reads all of them."""
    count = select(func.count()).select_from(Prompt)
    here = session.scalar(count.where(Prompt.group_id == session.scope.group_id)) or 0
    if here >= MOST_ROWS:
        raise InvalidInput(
            "There are already %(most)s rows, and there is no room for more. Delete "
            "one that nobody needs.",
            field="slug",
            most=MOST_ROWS,
        )


def add_prompt(
    session: ScopedSession,
    registry: Registry,
    *,
    slug: str,
    category: str,
    domain: str,
    typed: Texts,
) -> Prompt:
    """Add a row of the group's own, at the end of its category.

    Raises:
        InvalidInput: names the field.
    """
    name = slug.strip().lower()
    _check_place(registry, name, category, domain)
    texts = clean_texts(typed)
    if category == "action":
        _check_button(texts)
    _check_room(session)
    known = _category(session, category)
    row = Prompt(
        group_id=session.scope.group_id,
        slug=name,
        category=category,
        domain=domain or None,
        prompt_en=texts.en,
        prompt_es=texts.es,
        sort_order=max((each.sort_order for each in known), default=_first(category)) + STEP,
        edited_by=session.scope.user_id,
    )
    session.add(row)
    record(session, "prompt_added", name)
    try:
        session.commit()
    except IntegrityError:
        session.rollback()
        raise InvalidInput("Another row already has this name.", field="slug") from None
    return row


def _check_button(texts: Texts) -> None:
    """See that each text of an action of the group's own says what its button says, and more."""
    for name, text in texts._asdict().items():
        button, _end, rest = text.strip().partition("\n")
        if text and not (rest.strip() and len(button.strip()) <= LONGEST_BUTTON):
            raise InvalidInput(
                "The first line is what the button says, up to %(limit)s characters. Write below it"
                " what the assistant is to do.",
                field=f"prompt_{name}",
                limit=LONGEST_BUTTON,
            )


def _first(category: str) -> int:
    """Where a category begins that has no row yet."""
    return CATEGORIES.index(category) * 10


def _check_place(registry: Registry, slug: str, category: str, domain: str) -> None:
    if not _SLUG.fullmatch(slug):
        raise InvalidInput(
            "Use 3 to 64 lowercase letters, digits, - and _, starting with a letter.", field="slug"
        )
    if category not in CATEGORIES:
        raise InvalidInput("Choose from the list.", field="category")
    if category == "system":
        if domain:
            raise InvalidInput(
                "A row that always counts has no place of its own: choose “Everywhere”.",
                field="domain",
            )
    elif domain not in registry.domains:
        raise InvalidInput("Choose where this row counts.", field="domain")
    if category == "action" and not slug.removeprefix(f"action-{domain}-") != slug:
        raise InvalidInput(
            "The name of an action in this place begins with %(start)s.",
            field="slug",
            start=f"action-{domain}-",
        )


def delete_prompt(session: ScopedSession, registry: Registry, prompt_id: UUID, version: int) -> str:
    """Remove a row that the group added itself, and its history; returns its slug.

    Raises:
        NotFound
        Conflict: it came with the assistant, and would come back, or somebody changed it since
            `version`.
    """
    row = load_prompt(session, prompt_id, lock=True)
    if is_seeded(registry, row):
        raise Conflict("This row came with the assistant. Switch it off instead of deleting it.")
    _require_version(row, version)
    record(session, "prompt_deleted", row.slug)
    session.delete(row)
    session.commit()
    return row.slug


def is_seeded(registry: Registry, row: Prompt) -> bool:
    """Whether a row came with the assistant; the others are the group's own."""
    return row.slug in seeds_of(registry)
