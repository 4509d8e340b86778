"""The body of POST /api/chat."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator

from app.text.plain_text import clean_text

MOST_TURNS = 200
LONGEST_TURN = 20_000
# What of the history is shown to a model, as in a conversation that is kept here.
SHOWN_TURNS, SHOWN_CHARACTERS = 20, 2_000


class Turn(BaseModel):
    """One turn of a conversation that the client keeps."""

    model_config = ConfigDict(extra="forbid")
    role: Literal["user", "assistant"]
    content: Annotated[str, Field(max_length=LONGEST_TURN)]


class Confirmation(BaseModel):
    """Which proposal is confirmed: by its id, or by its tool and exact arguments."""

    model_config = ConfigDict(extra="forbid")
    proposal_id: UUID | None = None
    tool: str | None = None
    args: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _is_one_of_both(self) -> Confirmation:
        named = self.tool is not None and self.args is not None
        if named == (self.proposal_id is not None) or (self.tool is None) != (self.args is None):
            raise ValueError("either proposal_id, or tool and args")
        return self


class ChatBody(BaseModel):
    """A message, a history that ends in one, or a confirmation.

    `userContext` is taken and never used: whom it is for stands in the session.
    """

    model_config = ConfigDict(extra="forbid")
    history: Annotated[list[Turn] | None, Field(max_length=MOST_TURNS)] = None
    message: str | None = None
    question: str | None = None
    userContext: Any = None  # noqa: N815 - the contract spells it so
    confirm: Confirmation | None = None
    sessionId: UUID | None = None  # noqa: N815

    @property
    def words(self) -> str:
        """The message: the history's last turn of the user's, else what is given beside it."""
        last = self._last
        if last is not None and self.history is not None:
            return self.history[last].content
        return self.message if self.message is not None else self.question or ""

    @property
    def before(self) -> list[dict[str, str]]:
        """The turns before the message, as a model is shown them."""
        turns = self.history or []
        if self._last is not None:
            turns = turns[: self._last]
        shown = [turn for turn in turns if turn.content.strip()][-SHOWN_TURNS:]
        return [
            {"role": turn.role, "content": clean_text(turn.content[:SHOWN_CHARACTERS])}
            for turn in shown
        ]

    @property
    def _last(self) -> int | None:
        places = [n for n, turn in enumerate(self.history or []) if turn.role == "user"]
        return places[-1] if places else None
