"""Saved sentences: what admins ask again whenever a prompt has changed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError

from app.accounts.audit import record
from app.assistant.models import SavedSentence
from app.assistant.prompts.expectations import Expectation
from app.assistant.threads.threads import clean_message
from app.assistant.tools.registry import Registry
from app.config import LANGUAGES
from app.db import JsonObject, ScopedSession
from app.errors import Conflict, InvalidInput, NotFound

# Each is asked twice in a test; more would take longer than anybody waits.
MOST_SENTENCES = 50
LONGEST_LIST = 20
LONGEST_WORDS = 200
FIELDS = ("tools", "not_tools", "parts", "contains")


def list_sentences(session: ScopedSession) -> list[SavedSentence]:
    """The group's sentences, in the order in which they were saved."""
    return list(
        session.scalars(
            select(SavedSentence)
            .where(SavedSentence.group_id == session.scope.group_id)
            .order_by(SavedSentence.created_at, SavedSentence.id)
        )
    )


def load_sentence(session: ScopedSession, sentence_id: UUID) -> SavedSentence:
    """One of the group's sentences.

    Raises:
        NotFound
    """
    found = session.scalar(
        select(SavedSentence).where(
            SavedSentence.id == sentence_id, SavedSentence.group_id == session.scope.group_id
        )
    )
    if found is None:
        raise NotFound("This sentence does not exist, or it is not yours to see.")
    return found


def expectation_of(sentence: SavedSentence) -> Expectation | None:
    """What is expected of its answer; None where a person looks."""
    return Expectation.model_validate(sentence.expect) if sentence.expect else None


def read_expectation(registry: Registry, typed: Mapping[str, str]) -> JsonObject:
    """What was typed into a form: names and words, one a line or between commas.

    The word "none" among the tools says that none may run.

    Raises:
        InvalidInput: an unknown tool or part; names the field.
    """
    lists = {name: _listed(name, typed.get(name, "")) for name in FIELDS}
    expect: JsonObject = {name: values for name, values in lists.items() if values}
    if [each.casefold() for each in lists["tools"]] in (["none"], ["ninguna"]):
        expect["tools"] = []
    for name, known in (
        ("tools", registry.tools),
        ("not_tools", registry.tools),
        ("parts", registry.parts),
    ):
        for value in expect.get(name, ()):
            if value not in known:
                raise InvalidInput("There is no %(name)s here.", field=name, name=value)
    return expect


def _listed(name: str, typed: str) -> list[str]:
    # Words to look for may have commas in them.
    between = r"\n" if name == "contains" else r"[\n,]"
    values = [" ".join(each.split()) for each in re.split(between, typed)]
    found = [each for each in values if each]
    if len(found) > LONGEST_LIST or any(len(each) > LONGEST_WORDS for each in found):
        raise InvalidInput("That is too long. Shorten it.", field=name)
    if not all(each.isprintable() for each in found):
        raise InvalidInput("Use letters and signs that can be seen.", field=name)
    return found


def is_saved(session: ScopedSession, text: str, language: str) -> bool:
    """True when the group has the same sentence.

    Raises:
        InvalidInput: it cannot be one.
    """
    found = select(SavedSentence.id).where(
        SavedSentence.group_id == session.scope.group_id,
        SavedSentence.text == clean_message(text),
        SavedSentence.language == language,
    )
    return session.scalar(found) is not None


def save_sentence(
    session: ScopedSession,
    text: str,
    language: str,
    expect: JsonObject,
    *,
    sentence_id: UUID | None = None,
    feedback_id: UUID | None = None,
) -> SavedSentence:
    """Add a sentence, or change the one with `sentence_id`.

    Raises:
        NotFound
        InvalidInput: names the field.
        Conflict: there are as many as there may be.
    """
    words = clean_message(text)
    if language not in LANGUAGES:
        raise InvalidInput("Choose from the list.", field="language")
    if sentence_id is None:
        require_room(session)
        sentence = SavedSentence(
            group_id=session.scope.group_id,
            author_id=session.scope.user_id,
            feedback_id=feedback_id,
        )
        session.add(sentence)
    else:
        sentence = load_sentence(session, sentence_id)
    sentence.text, sentence.language, sentence.expect = words, language, expect
    record(session, "sentence_saved", language)
    try:
        session.commit()
    except IntegrityError:
        session.rollback()
        raise InvalidInput("This sentence is saved already.", field="message") from None
    return sentence


def require_room(session: ScopedSession) -> None:
    """Refuse one more sentence where there are as many as there may be (Conflict)."""
    count = session.scalar(
        select(func.count())
        .select_from(SavedSentence)
        .where(SavedSentence.group_id == session.scope.group_id)
    )
    if (count or 0) >= MOST_SENTENCES:
        raise Conflict(
            "There are %(number)s sentences, which is as many as can be. Delete one first.",
            number=MOST_SENTENCES,
        )


def delete_sentence(session: ScopedSession, sentence_id: UUID) -> None:
    """Remove a sentence.

    Raises:
        NotFound
    """
    session.delete(load_sentence(session, sentence_id))
    record(session, "sentence_deleted")
    session.commit()
