"""What the built-in assistant says in its own words, in the reader's language.

Everything here goes through the catalog. Facts never do: those are quoted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from flask import has_app_context
from flask_babel import force_locale
from flask_babel import gettext as _

from app.assistant.providers.base import ToolSpec

_MOST_EXAMPLES = 4
# Of several courtesies in one message, the one that wants an answer most.
_URGENCY = (
    "identity",
    "abilities",
    "complaint",
    "wellbeing",
    "mood",
    "thanks",
    "goodbye",
    "praise",
    "greeting",
    "agreement",
)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Speak `language` inside; outside of an app there is no catalog, and it is English."""
    if not has_app_context():
        yield
        return
    with force_locale(language):
        yield


def did_not_work() -> str:
    """What is said of a tool that could not do what it was asked for."""
    return _("That did not work just now. Say “try again”, or “cancel” to leave it.")


def proposed() -> str:
    """What goes with a card that waits for its person's word."""
    return _("Is this right? Nothing is done until you confirm.")


def one_after_the_other(rest: str) -> str:
    """What follows the answer to the first of several things that a message wants."""
    return _("You also wrote “%(rest)s”. Tap it below and I will take it next.", rest=rest)


def nothing_to_undo() -> str:
    """The reply to "undo that" where the last answer shows nothing that was done."""
    return _(
        "I can only undo what my last answer did. What can be undone of earlier answers has an "
        "Undo button there."
    )


def use_what_is_shown() -> str:
    """The reply to a "yes" where something was offered to be pressed."""
    return _(
        "Press the button or the suggestion under my last answer, or tell me in a few words what"
        " you need."
    )


def small_talk(kinds: Sequence[str], tools: Sequence[ToolSpec], language: str) -> str:
    """The reply to a message that asks nothing of the group."""
    kind = next((kind for kind in _URGENCY if kind in kinds), "greeting")
    if kind in ("identity", "abilities"):
        return f"{_who()} {_what_it_can(tools, language)}"
    if kind == "greeting":
        return _("Hello.") + " " + _what_it_can(tools, language)
    return {
        "complaint": _(
            "I am sorry that did not help. Ask me again in other words, or name the dish, the"
            " machine or the rule you mean."
        ),
        "wellbeing": _("All good here, thank you. What can I look up for you?"),
        "mood": _("I hear you. Tell me if I can look something up to make it easier."),
        "thanks": _("You are welcome. I am here if something else comes up."),
        "goodbye": _("Goodbye, and have a good shift."),
        "praise": _("That is kind of you. What can I look up for you?"),
        "agreement": _("All right. Ask me whenever you need something."),
    }[kind]


def not_understood(tools: Sequence[ToolSpec], language: str) -> str:
    said = _("I did not understand that.")
    return f"{said} {_what_it_can(tools, language)}"


def not_of_this_group(tools: Sequence[ToolSpec], language: str) -> str:
    said = _("I only know what this restaurant's own documents say, and they have nothing on that.")
    return f"{said} {_what_it_can(tools, language)}"


def nothing_to_search() -> str:
    return _("I have nowhere to look that up right now. Ask the manager on duty.")


def ask_which(examples: Sequence[str]) -> str:
    """One short question between two readings, each shown by what one could ask."""
    return _(
        "What would you like to know about it? For example “%(first)s” or “%(second)s”",
        first=examples[0],
        second=examples[1],
    )


def ask_more() -> str:
    return _("Tell me a little more: what exactly would you like to know?")


def nothing_found(places: Sequence[str], query: str, near: Sequence[str]) -> str:
    """What is said of a search in `places`, as their tools call them; none is named by all."""
    if places:
        said = _(
            "I searched %(places)s for “%(query)s” and found nothing that answers it.",
            places=_listed(places),
            query=query,
        )
    else:
        said = _("I looked for “%(query)s” and found nothing that answers it.", query=query)
    if near:
        titles = _listed([f"“{title}”" for title in near])
        way_on = _("These are close: %(titles)s. Should I look there?", titles=titles)
    else:
        way_on = _("Try other words, or ask the manager on duty.")
    return f"{said} {way_on}"


def call_for_help(emergency_number: str) -> str:
    return _(
        "If anybody is in danger, call %(number)s now and get the manager on duty. I found nothing"
        " about this in the restaurant's documents.",
        number=emergency_number,
    )


def search_failed(*, recoverable: bool) -> str:
    if recoverable:
        return _("That search did not work. Ask again in other words.")
    return _("The library cannot be reached at the moment. Try again in a minute.")


def closest(title: str) -> str:
    return _(
        "I found nothing that answers this for certain. The closest is “%(title)s”:", title=title
    )


def also_near() -> str:
    return _("These are also close:")


def only_in_other_language(language: str) -> str:
    if language == "es":
        return _("The library has this in Spanish only:")
    return _("The library has this in English only:")


def nothing_more() -> str:
    return _("That is all it says about it.")


def _who() -> str:
    return _(
        "I am Comanda's built-in assistant. I look things up in this restaurant's own documents"
        " and quote what they say, with a link to the source."
    )


def _what_it_can(tools: Sequence[ToolSpec], language: str) -> str:
    examples = [example for tool in tools for example in examples_of(tool, language)[:1]]
    if not examples:
        return _("Ask me something about the work here.")
    lines = "\n".join(f"- {example}" for example in examples[:_MOST_EXAMPLES])
    return _("You can ask me, for example:") + f"\n\n{lines}"


def examples_of(tool: ToolSpec, language: str) -> tuple[str, ...]:
    return tuple(tool.examples.get(language, ()))


def _listed(parts: Sequence[str]) -> str:
    """ "a, b and c"."""
    unique = list(dict.fromkeys(parts))
    if len(unique) < 2:
        return "".join(unique)
    return _("%(first)s and %(last)s", first=", ".join(unique[:-1]), last=unique[-1])
