"""What a message asks of the ledger where no language model reads it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

from flask_babel import force_locale
from flask_babel import gettext as _

from app.assistant.tools.registry import TurnInput
from app.db import ScopedSession
from app.nlu.control import read_answer
from app.nlu.model import read_intents
from app.skills.expenses.nlu import Category, read_conversation
from app.skills.expenses.nlu.additions import is_ordered, is_told_to_add, rows_told
from app.skills.expenses.nlu.amendments import amended, begins_as_correction
from app.skills.expenses.nlu.command import (
    ADD,
    BALANCE,
    CHANGES,
    DELETE,
    EITHER,
    LIST,
    UPDATE,
    Command,
    addition,
    change,
    rows_of,
    unsure_row,
)
from app.skills.expenses.nlu.edits import intended_change, intended_correction, intended_deletion
from app.skills.expenses.nlu.lexicon import SUM, compiled, either, one_of
from app.skills.expenses.nlu.questions import answer_limits
from app.skills.expenses.nlu.reader import (
    asks_only,
    core_of,
    read_sentence,
    without_what_is_no_thing,
)
from app.skills.expenses.nlu.references import NONE, VAGUE, kind_of
from app.skills.expenses.nlu.rows import Row, read_rows
from app.skills.expenses.nlu.sentence import ReadingContext, Sentence
from app.skills.expenses.services.meant_expenses import find_meant
from app.skills.expenses.services.settings import EDITORS, Ledger, load_ledger
from app.skills.expenses.texts import ask_which_expense, asks_to_differ, asks_which
from app.text.bilingual import in_both, reader_language
from app.text.money import amount_words
from app.text.normalize import fold, words

WRITING = (ADD, UPDATE, DELETE)
# A message that the skill's own sentences do not tell must be so likely for one of its tools.
LIKELY = 0.4
# Where that one may do nothing with the likeliest, another is worth a look from here on.
WORTH_READING = 0.05
# Of these the words of the last question lead to one.
CHOOSING = (UPDATE, DELETE)
# What its sentences were read as speaks for a tool by so much, in log odds.
READ_ODDS = 2.5
LONGEST_WHICH = 300
# In characters; reading one of these keeps others waiting for some 30 ms.
LONGEST_INTENDED = 1_500
# What leads up to the things that were bought, once it is clear that they were.
_CUES = "|".join(either(name) for name in ("spent", "record", "add", "got"))
_DENIED = compiled("not")
# "Add the flowers that I bought for the entrance".
_BOUGHT = re.compile(rf"\s(?:{one_of('before_clauses')}\s)?{either('spent')}")
_LEAD = re.compile(rf"(?:[^,;{SUM}]*?\W)?(?:{_CUES})\s?[:,-]?\s*")


def find_hints(session: ScopedSession, turn: TurnInput) -> Mapping[str, Any]:
    """The hint `wanted` or `reply` for a message that is about the ledger."""
    ledger = load_ledger(session)
    categories = ledger.for_reading()
    changed = _changed(turn, categories, ledger.currency) or _put_right(
        turn, categories, ledger.currency
    )
    if (known := _about_what_was_shown(session, ledger, turn, changed)) is not None:
        return known
    told = _told(turn, categories, ledger.currency)
    chosen = _chosen(turn, categories, ledger.currency, told)
    if chosen is not None and not _names_one(session, ledger, turn, categories):
        chosen = None
    told = chosen or told
    # "I found none" asks no question, and is answered all the same.
    is_answer = bool(chosen or (told and turn.is_going_on))
    command = told or _intended(turn, categories, ledger.currency)
    if told is not None and told.tool == ADD and not turn.is_going_on:
        # Known to add something, a message has sums where it may else have counts.
        command = _intended(turn, categories, ledger.currency, ADD) or told
    if told is None and session.scope.role not in EDITORS:
        told = _instead_of_a_change(turn, categories, ledger.currency)
        command = told or command
    if command is None:
        return {}
    command = without_what_is_no_thing(command)
    if told is None and _is_about_what_was_declined(session, ledger, turn, command):
        with force_locale(turn.language):
            return {"reply": _how_to_tell_it_anew(turn)}
    odds = {"odds": {command.tool: READ_ODDS}} if told else {}
    if command.missing and set(command.missing) != {"change"}:
        with force_locale(turn.language):
            reply = ask_for(command, ledger.currency)
        # What goes on with something open is for this skill; else it must be likely.
        return {"reply": reply, **({} if is_answer else {"reply_for": command.tool}), **odds}
    known = {"goes_on": {command.tool: True}} if is_answer else {}
    if is_answer and _is_order(turn, command, categories, ledger.currency):
        known["ordered"] = {command.tool: True}
    return {"wanted": {command.tool: _arguments_of(command)}, **known, **odds}


def _is_order(turn: TurnInput, command: Command, categories: Sequence[Category], home: str) -> bool:
    """Whether the message tells by itself to do this to the ledger: it answers no question."""
    around = _around(turn, categories, home)
    own = read_sentence(turn.message, around)
    if own is None or own.tool != command.tool or own.tool not in WRITING:
        return False
    sentence = Sentence.of(turn.message, around)
    return own.tool != ADD or is_ordered(sentence, *core_of(sentence))


def _arguments_of(command: Command) -> Mapping[str, Any]:
    """A command as its tool takes it: whose expenses is a yes or no there."""
    arguments = dict(command.arguments)
    if arguments.pop("who", "") == "mine":
        arguments["mine"] = True
    return arguments


def read_command_of(turn: TurnInput, categories: Sequence[Category], home: str) -> Command | None:
    """What the message asks for, after what was said before it."""
    told = _told(turn, categories, home)
    return _chosen(turn, categories, home, told) or told


def _told(turn: TurnInput, categories: Sequence[Category], home: str) -> Command | None:
    """The command that the message is, or goes on with."""
    turns = [(said.role, said.text) for said in turn.history if said.role != "tool"]
    asked_about = partial(_intended_of, _around(turn, categories, home))
    return read_conversation(
        turns,
        turn.message,
        turn.language,
        turn.today,
        categories,
        home,
        asked_about,
        asks_to_differ,
    )


def _intended_of(around: ReadingContext, said: str, reply: str) -> Command | None:
    """What a message was read as by what it is for, where the reply asked for what it lacks."""
    intents = read_intents(said)
    likely = max(intents, key=lambda each: intents[each], default="")
    command = read_intended(likely, said, around) if intents.get(likely, 0) >= LIKELY else None
    command = without_what_is_no_thing(command) if command else None
    if command is None or not command.missing:
        return None
    last = words(reply)
    asked = [
        words(each)
        for each in in_both(lambda _language: ask_for(command, around.currency)).values()
    ]
    return command if any(last[-len(each) :] == each for each in asked) else None


def _around(turn: TurnInput, categories: Sequence[Category], home: str) -> ReadingContext:
    return ReadingContext(turn.language, turn.today, tuple(categories), home)


def _names_one(
    session: ScopedSession, ledger: Ledger, turn: TurnInput, categories: Sequence[Category]
) -> bool:
    """Whether the message says which expense is meant, of those that are there.

    "The taxi one" does where there is none either: it is told so, and asked once more.
    """
    which, home = turn.message[:LONGEST_WHICH], ledger.currency
    if find_meant(session, which, turn.language, ledger.today, home):
        return True
    sentence = Sentence.of(which, _around(turn, categories, home))
    likely = max(turn.intents, key=lambda each: turn.intents[each], default="")
    is_elsewhere = likely not in WRITING and turn.intents.get(likely, 0) >= LIKELY
    is_row = kind_of(sentence, *core_of(sentence)) not in (NONE, VAGUE)
    return turn.is_going_on and is_row and not is_elsewhere


def _intended(
    turn: TurnInput, categories: Sequence[Category], home: str, tool: str = ""
) -> Command | None:
    """What a message says for the tool that it is most likely for, where it is one of these.

    For no other than `tool`, where that is given.
    """
    likely = max(turn.intents, key=lambda each: turn.intents[each], default="")
    is_elsewhere = turn.is_going_on and not _is_about_rows(turn)
    if is_elsewhere or turn.intents.get(likely, 0) < LIKELY or tool not in ("", likely):
        return None
    return read_intended(likely, turn.message, _around(turn, categories, home))


def _is_about_rows(turn: TurnInput) -> bool:
    """Whether nothing waits but a card about a row that is there, or one was declined just now."""
    if turn.proposal is None or turn.steps:
        return False
    tool, is_open = turn.proposal.get("tool"), turn.proposal.get("is_open")
    return tool in CHOOSING or (tool == ADD and not is_open)


def _is_about_what_was_declined(
    session: ScopedSession, ledger: Ledger, turn: TurnInput, command: Command
) -> bool:
    """Whether a change is meant for the addition that was declined, and not for a row there is."""
    if turn.proposal is None or turn.proposal.get("tool") != ADD or command.tool != UPDATE:
        return False
    which = str(command.arguments.get("which", ""))[:LONGEST_WHICH]
    found = find_meant(session, which, turn.language, ledger.today, ledger.currency)
    return session.scope.role not in EDITORS or not found


def _how_to_tell_it_anew(turn: TurnInput) -> str:
    proposed: Mapping[str, Any] = (turn.proposal or {}).get("arguments") or {}
    item = str(proposed.get("item") or _("taxi"))
    return _("Say it the way it should be, for example “%(item)s $15 yesterday”.", item=item)


def _about_what_was_shown(
    session: ScopedSession, ledger: Ledger, turn: TurnInput, changed: Command | None
) -> Mapping[str, Any] | None:
    """What a message wants that changes what is proposed or has just been done; else None."""
    if session.scope.role not in EDITORS and _puts_right_what_is_done(turn, changed):
        with force_locale(turn.language):
            return {"reply": _undo_first()}
    if changed is None:
        return None
    if changed.missing:
        with force_locale(turn.language):
            return {"reply": ask_for(changed, ledger.currency)}
    return {"wanted": {changed.tool: changed.arguments}, "goes_on": {changed.tool: True}}


def _puts_right_what_is_done(turn: TurnInput, changed: Command | None) -> bool:
    """Whether a message says otherwise what has just been added: "no wait, the taxi was 14"."""
    if turn.done is None or turn.done["tool"] != ADD:
        return False
    likely = max(turn.intents, key=lambda each: turn.intents[each], default="")
    is_meant = likely == UPDATE and turn.intents[likely] >= LIKELY
    return is_meant or (changed is not None and changed.tool == UPDATE)


def _undo_first() -> str:
    """What somebody is told who may not change an expense that they have just added."""
    return _(
        "Only a manager can change an expense that is saved. Press “Undo” on it above, then add it"
        " again."
    )


def _instead_of_a_change(
    turn: TurnInput, categories: Sequence[Category], home: str
) -> Command | None:
    """What is added by whoever may change nothing: "fish 420 yesterday" says so, whatever else."""
    likely = max(turn.intents, key=lambda each: turn.intents[each], default="")
    if turn.is_going_on or likely != UPDATE or turn.intents.get(ADD, 0) < WORTH_READING:
        return None
    around = _around(turn, categories, home)
    if _commanded(Sentence.of(turn.message, around)) is not None:
        # "Change the limes to 15" names no row of its own.
        return None
    command = read_intended(ADD, turn.message, around)
    return command if command and not command.missing else None


def _changed(turn: TurnInput, categories: Sequence[Category], home: str) -> Command | None:
    """The open proposal with what the message changes of it; None where it changes nothing."""
    proposal = turn.proposal
    if proposal is None or proposal.get("tool") not in WRITING:
        return None
    tool, before = str(proposal["tool"]), dict(proposal.get("arguments") or {})
    around = _around(turn, categories, home)
    is_open = bool(proposal.get("is_open"))
    return amended(Command(tool, before), turn.message, around, is_open=is_open)


def _put_right(turn: TurnInput, categories: Sequence[Category], home: str) -> Command | None:
    """ "Que sean 15", right after one expense was added: that one is changed."""
    if turn.done is None or turn.done["tool"] != ADD:
        return None
    before = dict(turn.done["arguments"])
    item = str(before.get("item", ""))
    around = _around(turn, categories, home)
    # "Taxi $20" behind a taxi of $14 is another one, and "no wait, the taxi was 20" is the same.
    is_another = bool(set(words(item)) & set(words(turn.message)))
    if len(rows_of(before)) != 1 or (is_another and not begins_as_correction(turn.message, around)):
        return None
    changed = amended(Command(ADD, before), turn.message, around, is_open=False)
    after = {} if changed is None or changed.missing else dict(changed.arguments)
    differs = {
        name: after[name] for name in CHANGES if name in after and after[name] != before.get(name)
    }
    return change(f"{item} {before.get('amount', '')}", differs) if differs else None


def _chosen(
    turn: TurnInput, categories: Sequence[Category], home: str, told: Command | None
) -> Command | None:
    """The command that was answered with "which one?", with the words that say which.

    None where the message is a command of its own, as `told`, asks something else, or refuses.
    """
    # What follows a proposal answers that, and no "which one?".
    if turn.proposal is not None or not _was_asked_which(turn):
        return None
    around = _around(turn, categories, home)
    is_other = "?" in turn.message or "¿" in turn.message or read_answer(turn.message) == "no"
    if is_other or _is_own_command(told, Sentence.of(turn.message, around)):
        return None
    command = _asked_about(turn, around)
    if command is None or "which" not in (*command.arguments, *command.missing[:1]):
        return None
    missing = tuple(name for name in command.missing if name != "which")
    which = {"which": turn.message[:LONGEST_WHICH]}
    return replace(command, arguments={**command.arguments, **which}, missing=missing)


def _is_own_command(told: Command | None, sentence: Sentence) -> bool:
    """Whether a sentence is no answer to "which one?", where it was read as a command."""
    # "Taxi $14 of Friday" is a row that is there then: "add taxi $14" is a new one.
    return told is not None and (told.tool != ADD or is_told_to_add(sentence, *core_of(sentence)))


def _was_asked_which(turn: TurnInput) -> bool:
    """Whether the last reply asked to name an expense."""
    last = next((said for said in reversed(turn.history) if said.role != "tool"), None)
    return last is not None and last.role == "assistant" and asks_which(last.text)


def _asked_about(turn: TurnInput, around: ReadingContext) -> Command | None:
    """The change or deletion that "which one?" was asked about, perhaps more than once."""
    said = [each for each in turn.history if each.role in ("user", "assistant")]
    for message, question in zip(said[-2::-1], said[::-1], strict=False):
        if (message.role, question.role) != ("user", "assistant"):
            continue
        if not asks_which(question.text):
            return None
        sentence = Sentence.of(message.text, around)
        command = read_sentence(message.text, around) or _commanded(sentence)
        if command is not None and command.tool in CHOOSING:
            return command
    return None


def ask_for(command: Command, currency: str) -> str:
    """The one question for what is missing first; `currency` is the group's own."""
    missing, item = command.missing[0], command.arguments.get("item", "")
    if missing == "amount" and (row := unsure_row(command.arguments)):
        return _ask_which_sum(row, currency)
    if missing == "date" and item:
        return _("Which day was “%(item)s”?", item=item)
    if missing == "date":
        return _("Which day was it?")
    if missing == "item":
        return _("What expense do you want to add?")
    if missing == "amount" and item:
        return _("How much was “%(item)s”?", item=item)
    if missing == "amount":
        return _("How much was it?")
    if missing == "category":
        return _("Which category should it go in?")
    if missing == "which":
        return ask_which_expense()[reader_language()]
    return _("What do you want to change about it?")


def _ask_which_sum(row: Mapping[str, Any], currency: str) -> str:
    """Of "two fifty": $2.50 or $250."""
    said = [Decimal(each) for each in row[EITHER]]
    one, other = (
        amount_words(each, row.get("currency") or currency, reader_language()) for each in said
    )
    if item := row.get("item"):
        return _("Was “%(item)s” %(one)s or %(other)s?", item=item, one=one, other=other)
    return _("Is that %(one)s or %(other)s?", one=one, other=other)


def read_intended(tool: str, message: str, around: ReadingContext) -> Command | None:
    """What a message that is for `tool` says for it; None for a tool of another skill.

    It is known what it wants of the ledger, in whatever words it says so. Only values that stand
    in it are taken; what is missing is asked for. Of a longer list than `LONGEST_INTENDED` no row
    is taken, so that none is left out unseen.
    """
    read = _READERS.get(tool)
    if len(message) > LONGEST_INTENDED:
        message = "" if tool == ADD else message[:LONGEST_INTENDED]
    # "Do we toss those?" asks, and deletes nothing.
    if tool in WRITING and asks_only(message):
        return None
    return read(Sentence.of(message, around, tells_prices=tool == ADD)) if read else None


def _what_was_bought(sentence: Sentence, start: int, end: int) -> list[Row]:
    """The flowers of "add the flowers that I bought for the entrance"; none where a sum is said."""
    bought = _BOUGHT.search(sentence.masked, start, end)
    if bought is None or sentence.sums or not is_ordered(sentence, start, end):
        return []
    return [row for row in rows_told(sentence, start, bought.start()) if row.item][:1]


def _addition(sentence: Sentence) -> Command:
    start, end = core_of(sentence)
    if what := _what_was_bought(sentence, start, end):
        return addition(what)
    rows = rows_told(sentence, start, end)
    if not all(row.item and row.amount for row in rows):
        # A story may come before it.
        lead = _LEAD.match(sentence.masked, start, end)
        rows = read_rows(sentence, lead.end(), end) if lead else rows
    priced = [row for row in rows if row.amount]
    if any(_DENIED.fullmatch(fold(row.item)) for row in rows):
        # "Sorry, the limes were 15, not 12" puts a row right.
        return _change(sentence)
    # Beside sums, words without one tell the story and name nothing.
    command = addition(priced or rows[:1])
    if not priced or all(row.item for row in priced):
        return command
    return replace(command, missing=tuple(dict.fromkeys(("item", *command.missing))))


def _question(tool: str) -> Callable[[Sentence], Command]:
    return lambda sentence: Command(tool, answer_limits(sentence))


def _change(sentence: Sentence) -> Command:
    """Which one is meant, in the person's words; what it becomes may have to be asked for."""
    core = core_of(sentence)
    said = intended_change(sentence, *core) or intended_correction(sentence, *core)
    return _named(said or change(sentence.text, {}))


def _deletion(sentence: Sentence) -> Command:
    said = intended_deletion(sentence, *core_of(sentence))
    return _named(said or Command(DELETE, {"which": sentence.text}))


def _commanded(sentence: Sentence) -> Command | None:
    """What was told to be done to a row, of a sentence that the ledger asked about."""
    core = core_of(sentence)
    said = intended_deletion(sentence, *core) or intended_change(sentence, *core)
    return _named(said) if said else None


def _named(command: Command) -> Command:
    """With as much of the words for a row as a tool takes."""
    which = command.arguments.get("which", "")[:LONGEST_WHICH]
    if not which:
        return command
    return replace(command, arguments={**command.arguments, "which": which})


_READERS: Mapping[str, Callable[[Sentence], Command]] = {
    ADD: _addition,
    BALANCE: _question(BALANCE),
    LIST: _question(LIST),
    UPDATE: _change,
    DELETE: _deletion,
}
