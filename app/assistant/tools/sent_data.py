"""What leaves the restaurant, and when: the list that people read on the help page.

tests/acceptance/test_sent_data.py holds each entry against what requests carry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from flask_babel import LazyString
from flask_babel import lazy_gettext as _

from app.config import Settings

Receiver = Literal["model", "vision", "embeddings"]


@dataclass(frozen=True)
class SentData:
    """Something that is sent, in words, and to whom.

    That is the language model that chats, the one that sees pictures, or the server that makes
    vectors of texts. `tools` are those of which the model is given the results.
    """

    name: str
    text: LazyString | str
    receiver: Receiver = "model"
    tools: tuple[str, ...] = ()


CORE = (
    SentData("messages", _("Your message and the last messages of the chat")),
    SentData(
        "restaurant",
        _("The name of the restaurant, today's date, the emergency number and the prompts"),
    ),
    SentData("allergies", _("The allergies in your profile")),
    SentData("proposal", _("What a card shows that waits for your answer")),
    SentData(
        "texts",
        _(
            "What people search for, and the texts of the manual, the menu, the forms and the "
            "types of requests"
        ),
        "embeddings",
    ),
)


def is_sent_to(receiver: Receiver, settings: Settings) -> bool:
    """Whether anything is sent there, as the server is set up now."""
    if receiver == "embeddings":
        return not settings.embedding_model.startswith("wordllama")
    if receiver == "vision":
        return bool(settings.ai_vision_model) and has_address(settings)
    return settings.provider != "builtin"


def has_address(settings: Settings) -> bool:
    return bool(settings.openai_api_key or settings.openai_base_url)


def now_sent(every: Sequence[SentData], settings: Settings) -> list[SentData]:
    """What of it is sent as the server is set up now."""
    return [each for each in every if is_sent_to(each.receiver, settings)]
