"""What a model says it has done, held against what was done; see docs/decisions/0028.

A language model may say that it added an expense and have called no tool, or that nothing was
added where the receipt is above. Its person believes the words. What is not so gets a sentence of
the product's own below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from flask_babel import gettext as _

from app.assistant.models import Message
from app.assistant.proposals.proposals import find_done, tools_done_by
from app.assistant.threads.steps import load_taken
from app.assistant.tools.registry import Registry
from app.assistant.tools.tool import ReadTool, ThreadTool, Tool, WriteTool
from app.assistant.turns.writer import ReplyWriter
from app.config import LANGUAGES
from app.jobs.system_threads import RealThreads
from app.nlu.claims import claimed_kinds, says_done, says_sent, says_undone
from app.nlu.model import read_intents
from app.text.markdown import paragraph_after

# A reply of thousands of short sentences takes the fifth of a second, which no turn waits for.
_READING = RealThreads(1)
# Kinds of claims about what others have of it; beside them it may be told in whatever words.
_FOR_OTHERS = frozenset({"filed", "told", "taken_back"})
# Of what was begun and is dropped, nobody else has anything: what else was sent is still a claim.
_DROPPED = frozenset({"cancelled", "deleted"})
# What a tap on a widget has settled, unless its skill says otherwise.
_BY_TAP = ("noted", "added")
# So likely a message is to ask for something to be written; where it is a question, too, so likely.
_LIKELY, _SURE = 0.7, 0.9


@dataclass(frozen=True)
class _Done:
    """What was done in a reply: the tools that `ran`, and the kinds of claims that are so.

    `before` says where something else has been done that was proposed in its conversation.
    """

    ran: Sequence[Tool]
    so: frozenset[str]
    before: Literal["", "above", "beside"]


def deny_claims(
    registry: Registry, writer: ReplyWriter, message: Message, question: str = ""
) -> None:
    """Where a model says what was not done, or denies what was, say how it is.

    Its person would believe it, and has only the receipt that is missing to go by. What they
    have settled with a widget needs no tool: it is kept, or cancelled, and gone out to nobody. The
    reply ends in its `question` all the same: what they say next is read as the answer to its last
    line.
    """
    if not writer.is_a_models:
        return
    ran = [(registry.tools[each["tool"]], each) for each in writer.trace if each["ok"]]
    tools, text = [tool for tool, _ in ran], writer.text
    claimed, is_claim, denies = _READING.run(lambda: _read_reply(registry, text, message, tools))
    if not is_claim and not denies:
        return
    done = _read_done(registry, writer, message, ran)
    # Only the receipt says better than a model that nothing was done.
    if not is_claim and not _is_above(done):
        return
    if is_claim and _READING.run(lambda: _is_so(text, claimed, done)):
        return
    writer.add_text(paragraph_after(writer.text, _denial(done)))
    if question:
        writer.add_text(paragraph_after(writer.text, question))


def _read_reply(
    registry: Registry, text: str, message: Message, ran: Sequence[Tool]
) -> tuple[frozenset[str], bool, bool]:
    """The kinds of claims that a reply makes in listed words, whether it makes any, or denies."""
    claimed = frozenset().union(*(claimed_kinds(text, each) for each in LANGUAGES))
    is_claim = _is_claim(registry, text, message, claimed, ran)
    return claimed, is_claim, any(says_undone(text, each) for each in LANGUAGES)


def _is_claim(
    registry: Registry, text: str, message: Message, claimed: frozenset[str], ran: Sequence[Tool]
) -> bool:
    """Whether a reply says that something was done, or leaves it to be thought.

    A card that waits says itself that nothing is done before it is confirmed.
    """
    if claimed:
        return True
    if any(isinstance(tool, WriteTool) for tool in ran):
        return False
    if says_done(text, has_looked_up=_has_looked_up(ran)):
        return True
    return not ran and not text.rstrip().endswith("?") and _asks_to_write(registry, message)


def _has_looked_up(ran: Sequence[Tool]) -> bool:
    """Whether the reply may tell of what it found; a form's tool fills in fields."""
    return any(isinstance(tool, ReadTool) and not tool.conversation for tool in ran)


def _asks_to_write(registry: Registry, message: Message) -> bool:
    """Whether somebody asked for something to be written: no words beside it make that done."""
    if message.internal_content is not None:
        return False
    intents = read_intents(message.content)
    likely = max(intents, key=lambda name: intents[name], default="")
    tool = registry.tools.get(likely)
    least = _SURE if message.content.rstrip().endswith("?") else _LIKELY
    return isinstance(tool, WriteTool | ThreadTool) and intents[likely] >= least


def _read_done(
    registry: Registry,
    writer: ReplyWriter,
    message: Message,
    ran: Sequence[tuple[Tool, dict[str, object]]],
) -> _Done:
    with writer.transaction() as session:
        has_taken = bool(load_taken(session, writer.claim.reply_id))
        before = find_done(session, writer.claim.thread_id, writer.claim.reply_id)
        done = tools_done_by(session, writer.claim.reply_id)
    true_of = [
        tool
        for tool, entry in ran
        # What only proposes has done nothing yet: its card waits.
        if not isinstance(tool, WriteTool)
        and entry.get("took", True)
        and (has_taken or tool.conversation)
    ]
    # A card that was confirmed by its button while the reply was written is a receipt, too.
    done += [each["tool"] for each in writer.parts if each["type"] == "receipt"]
    true_of += [registry.tools[name] for name in done if name in registry.tools]
    so = {kind for tool in true_of for kind in tool.makes_true}
    if message.internal_content is not None:
        tap = str(message.internal_content.get("type", ""))
        so |= {*registry.taps_make_true.get(tap, _BY_TAP)}
    return _Done([tool for tool, _entry in ran], frozenset(so), before)


def _is_so(text: str, claimed: frozenset[str], done: _Done) -> bool:
    """Whether all of it was done: of the rest the listed words tell, and what was sent is learned.

    What was only kept, or dropped, has been sent to nobody.
    """
    if not done.so or not claimed <= done.so:
        return False
    return bool(done.so & _FOR_OTHERS) or not says_sent(text, besides=done.so & _DROPPED)


def _is_above(done: _Done) -> bool:
    """Whether what a reply denies has its receipt above, and it has looked nowhere."""
    return done.before == "above" and not done.ran


def _denial(done: _Done) -> str:
    if done.so or any(isinstance(tool, WriteTool | ThreadTool) for tool in done.ran):
        return _(
            "Not all of this has been done. What is filed, sent or added always has a card of its"
            " own."
        )
    if done.before == "beside":
        return _(
            "Nothing new was saved or sent with this answer. Something was, with another version"
            " of it: look at its receipt there before you ask again."
        )
    if done.before:
        # Who did it again would do it twice.
        return _(
            "Nothing new was saved or sent with this answer. The receipt for what "
            "was done before is above."
        )
    if _has_looked_up(done.ran):
        # It may be true of what was done elsewhere: who did it again would do it twice.
        return _("Nothing new was saved or sent with this answer: I only looked it up.")
    return _(
        "Nothing was saved or sent with this answer. If you still need it done, tell me again."
    )
