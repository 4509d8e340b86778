"""Saved sentences: what admins ask again whenever a prompt has changed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
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
from app.text.edits import check_same, merge_edit

# Each is asked twice in a test; more would take longer than anybody waits.
MOST_SENTENCES = 50
LONGEST_LIST = 20
LONGEST_WORDS = 200
FIELDS = ("tools", "not_tools", "parts", "contains")

# A sentence field by field: its message, its language, and a list for each of FIELDS, which is None
# where nothing is expected.
Wording = dict[str, Any]


def list_sentences(session: ScopedSession) -> list[SavedSentence]:
    """The group's sentences, in the order in which they were saved."""
    return list(
        session.scalars(
            select(SavedSentence)
            .where(SavedSentence.group_id == session.scope.group_id)
            .order_by(SavedSentence.created_at, SavedSentence.id)
        )
    )


def load_sentence(
    session: ScopedSession, sentence_id: UUID, *, lock: bool = False
) -> SavedSentence:
    """One of the group's sentences.

    Raises:
        NotFound
    """
    query = select(SavedSentence).where(
        SavedSentence.id == sentence_id, SavedSentence.group_id == session.scope.group_id
    )
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    found = session.scalar(query)
    if found is None:
        raise NotFound("This sentence does not exist, or you don't have access to it.")
    return found


def expectation_of(sentence: SavedSentence) -> Expectation | None:
    """What is expected of its answer; None where a person looks."""
    return Expectation.model_validate(sentence.expect) if sentence.expect else None


def read_sentence(registry: Registry, typed: Mapping[str, str]) -> Wording:
    """A sentence as it was typed into a form.

    Raises:
        InvalidInput: it cannot be one; names the field.
    """
    lists = _lists(typed)
    for name, values in lists.items():
        _check_list(name, values)
    for name, known in (
        ("tools", registry.tools),
        ("not_tools", registry.tools),
        ("parts", registry.parts),
    ):
        for value in lists[name] or ():
            if value not in known:
                raise InvalidInput("There is no %(name)s here.", field=name, name=value)
    language = typed.get("language", "")
    if language not in LANGUAGES:
        raise InvalidInput("Choose from the list.", field="language")
    return {"message": clean_message(typed.get("message", "")), "language": language, **lists}


def read_shown(typed: Mapping[str, str]) -> Wording:
    """A sentence as a page that was sent back had shown it, whatever may be one now."""
    try:
        message = clean_message(typed.get("message", ""))
    except InvalidInput:
        message = ""
    return {"message": message, "language": typed.get("language", ""), **_lists(typed)}


def texts_of(sentence: SavedSentence, none: str = "none") -> dict[str, str]:
    """A sentence as a form writes it; `none` is written where no tool may run."""
    lists = {name: "\n".join(sentence.expect.get(name) or ()) for name in FIELDS}
    if sentence.expect.get("tools") == []:
        lists["tools"] = none
    return {"message": sentence.text, "language": sentence.language, **lists}


def wording_of(sentence: SavedSentence) -> Wording:
    """A sentence as it is stored."""
    return read_shown(texts_of(sentence))


def expect_of(wording: Wording) -> JsonObject:
    """What is expected of the answer, as it is stored."""
    return {name: wording[name] for name in FIELDS if wording[name] is not None}


def _lists(typed: Mapping[str, str]) -> dict[str, list[str] | None]:
    """Names and words, one a line or between commas; None where nothing is written.

    The word "none" among the tools says that none may run.
    """
    lists = {name: _listed(name, typed.get(name, "")) or None for name in FIELDS}
    if [each.casefold() for each in lists["tools"] or ()] in (["none"], ["ninguna"]):
        lists["tools"] = []
    return lists


def _listed(name: str, typed: str) -> list[str]:
    # Words to look for may have commas in them.
    between = r"\n" if name == "contains" else r"[\n,]"
    values = [" ".join(each.split()) for each in re.split(between, typed)]
    return [each for each in values if each]


def _check_list(name: str, values: Sequence[str] | None) -> None:
    found = values or ()
    if len(found) > LONGEST_LIST or any(len(each) > LONGEST_WORDS for each in found):
        raise InvalidInput("That is too long. Shorten it.", field=name)
    if not all(each.isprintable() for each in found):
        raise InvalidInput("Use only visible letters and symbols.", field=name)


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


def add_sentence(
    session: ScopedSession,
    text: str,
    language: str,
    expect: JsonObject,
    *,
    feedback_id: UUID | None = None,
) -> SavedSentence:
    """Save one more sentence. Commits.

    Raises:
        InvalidInput: names the field.
        Conflict: there are as many as there may be.
    """
    words = clean_message(text)
    if language not in LANGUAGES:
        raise InvalidInput("Choose from the list.", field="language")
    require_room(session)
    sentence = SavedSentence(
        group_id=session.scope.group_id,
        author_id=session.scope.user_id,
        feedback_id=feedback_id,
        text=words,
        language=language,
        expect=expect,
    )
    session.add(sentence)
    return _commit(session, sentence)


def save_sentence(
    session: ScopedSession, sentence_id: UUID, *, was: Wording, typed: Wording
) -> SavedSentence:
    """Change what differs from what the sentence `was`, as the page showed it. Commits.

    What somebody else has changed meanwhile stays.

    Raises:
        NotFound, InvalidInput. Overtaken: both have changed the same field; nothing is written.
    """
    sentence = load_sentence(session, sentence_id, lock=True)
    merged = merge_edit(was, typed, wording_of(sentence))
    sentence.text, sentence.language = merged["message"], merged["language"]
    sentence.expect = expect_of(merged)
    return _commit(session, sentence)


def _commit(session: ScopedSession, sentence: SavedSentence) -> SavedSentence:
    record(session, "sentence_saved", sentence.language)
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
            "There are already %(number)s sentences, the maximum. Delete one first.",
            number=MOST_SENTENCES,
        )


def delete_sentence(session: ScopedSession, sentence_id: UUID, *, was: Wording) -> None:
    """Remove a sentence that is still what it `was`, as the page showed it. Commits.

    Raises:
        NotFound. Conflict: somebody else has changed it meanwhile.
    """
    sentence = load_sentence(session, sentence_id, lock=True)
    check_same(was, wording_of(sentence))
    session.delete(sentence)
    record(session, "sentence_deleted")
    session.commit()
