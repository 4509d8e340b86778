"""What a team says for things that its documents call otherwise: "the spark" for the igniter.

Admins write them down, mostly where somebody asked in such words and nothing was found. Each
search of the group then looks for what is meant in place of what was said.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import delete, func, select

from app.accounts.audit import record
from app.db import ScopedSession
from app.errors import Conflict, Forbidden, InvalidInput, NotFound
from app.nlu.lexicon import ALLERGENS
from app.nlu.named_allergens import named_allergens
from app.retrieval.models import SearchDocument, TeamWord
from app.retrieval.search import unknown_words
from app.text.normalize import plain_words, words
from app.text.plain_text import clean_line
from app.text.stems import stem
from app.text.stop_words import STOP_WORDS

MOST_TEAM_WORDS = 200
LONGEST_SAID, LONGEST_MEANT = 60, 80


def load_meanings(session: ScopedSession) -> dict[str, str]:
    """What the group's own words mean, by the folded words that are said."""
    rows = session.execute(
        select(TeamWord.said, TeamWord.means).where(TeamWord.group_id == session.scope.group_id)
    )
    return {row.said: row.means for row in rows}


def list_team_words(session: ScopedSession) -> Sequence[TeamWord]:
    """All of the group's, in the order of the alphabet."""
    return session.scalars(
        select(TeamWord)
        .where(TeamWord.group_id == session.scope.group_id)
        .order_by(TeamWord.said, TeamWord.id)
    ).all()


def add_team_word(session: ScopedSession, said: str, means: str) -> TeamWord:
    """Search for `means` whenever somebody of the group says `said`.

    Raises:
        Forbidden: whoever asks is no admin. Conflict: it is known already, or there are too many.
        InvalidInput: one of the two says nothing or is too long, the documents use what is
            said themselves, or have no word of what is meant.
    """
    _check_admin(session)
    said, means = _said(session, said), _meant(session, means)
    group_id = session.scope.group_id
    # Two admins at once do not go beyond the limit together, nor write the same words twice.
    session.execute(
        select(func.pg_advisory_xact_lock(func.hashtextextended(f"team words {group_id}", 0)))
    )
    known = load_meanings(session)
    if said in known:
        raise Conflict(
            "“%(said)s” is in the list already: it means “%(means)s”. Remove that one first.",
            said=said,
            means=known[said],
        )
    if len(known) >= MOST_TEAM_WORDS:
        raise Conflict(
            "There can be %(limit)s of these. Remove one you no longer need.",
            limit=str(MOST_TEAM_WORDS),
        )
    word = TeamWord(group_id=group_id, said=said, means=means)
    session.add(word)
    record(session, "team_word.add", said)
    session.commit()
    return word


def remove_team_word(session: ScopedSession, word_id: UUID) -> str:
    """Search for it as it is said again; returns what was said.

    Raises:
        Forbidden: whoever asks is no admin. NotFound: the group has none of this id.
    """
    _check_admin(session)
    said = session.scalar(
        delete(TeamWord)
        .where(TeamWord.id == word_id, TeamWord.group_id == session.scope.group_id)
        .returning(TeamWord.said)
    )
    if said is None:
        raise NotFound("This was removed in the meantime.")
    record(session, "team_word.remove", said)
    session.commit()
    return str(said)


def _said(session: ScopedSession, typed: str) -> str:
    said = plain_words(_line(typed, "said", LONGEST_SAID))
    asked = [word for word in words(said) if word not in STOP_WORDS]
    if not asked:
        raise InvalidInput("Write at least one word that names something.", field="said")
    # Whoever must not eat it is answered by its own name and by no other.
    if _has_an_allergen(said):
        raise InvalidInput("An allergen keeps its own name. Leave it out.", field="said")
    # One word of the documents means there what it says; several together may mean another thing.
    if len(words(said)) == 1 and not unknown_words(session, said, "mul"):
        raise InvalidInput(
            "Your documents use “%(said)s” themselves. Write the whole phrase that people say.",
            field="said",
            said=said,
        )
    if (title := _title_with(session, said)) is not None:
        raise InvalidInput(
            "That is part of a name in your documents: “%(title)s”. Write what only people say.",
            field="said",
            title=title,
        )
    return said


def _title_with(session: ScopedSession, said: str) -> str | None:
    """A title of the documents that has these words one behind the other; None without one."""
    wanted = _spoken(said)
    titles = session.scalars(
        select(SearchDocument.title)
        .where(SearchDocument.group_id == session.scope.group_id)
        .distinct()
    )
    return next((title for title in titles if wanted in _spoken(title)), None)


def _spoken(text: str) -> str:
    """The words of a text that tell something, as stems between blanks."""
    return f" {' '.join(stem(word) for word in words(text) if word not in STOP_WORDS)} "


def _has_an_allergen(said: str) -> bool:
    """Whether a word of it is one that an allergen is called by, in any form."""
    known = {stem(word) for phrase in ALLERGENS for word in phrase if word not in STOP_WORDS}
    return bool(named_allergens(said)) or any(stem(word) in known for word in words(said))


def _meant(session: ScopedSession, typed: str) -> str:
    means = _line(typed, "means", LONGEST_MEANT)
    # What a guest must not eat is filtered by the words that were said, and only then looked for.
    if _has_an_allergen(means):
        raise InvalidInput("An allergen keeps its own name. Leave it out.", field="means")
    telling = [word for word in words(means) if word not in STOP_WORDS]
    if not telling or set(telling) <= set(unknown_words(session, means, "mul")):
        raise InvalidInput(
            "None of your documents has these words. Copy them from the document that answers it.",
            field="means",
        )
    return means


def _line(typed: str, field: str, limit: int) -> str:
    line = clean_line(typed)
    if not line:
        raise InvalidInput("Write something here.", field=field)
    if len(line) > limit:
        raise InvalidInput("Write at most %(limit)s characters.", field=field, limit=str(limit))
    return line


def _check_admin(session: ScopedSession) -> None:
    if session.scope.role != "admin":
        raise Forbidden("Your role in this group does not allow that. Ask a manager.")
