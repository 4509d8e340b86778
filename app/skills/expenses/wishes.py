"""What a message asks of the ledger where no language model reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from flask_babel import force_locale, get_locale
from flask_babel import gettext as _

from app.amounts import amount_words
from app.assistant.providers.base import ChatMessage
from app.assistant.registry import Moment
from app.db import ScopedSession
from app.skills.expenses.reading import Category, Wish, amend_wish, read_conversation
from app.skills.expenses.reading.intended import read_intended
from app.skills.expenses.reading.sentence import Surroundings
from app.skills.expenses.reading.wish import EITHER, unsure_row
from app.skills.expenses.settings import load_ledger
from app.skills.expenses.wording import asks_which

OWN_TOOLS = ("add_expense", "update_expense", "delete_expense")
# A message that the skill's own sentences do not tell must be so likely for one of its tools.
LIKELY = 0.4
ADDING = "add_expense"
# Of these the words of the last question lead to one.
CHOOSING = ("update_expense", "delete_expense")


# What its sentences were read as speaks for a tool by so much, in log odds.
READ_ODDS = 2.5


def find_wish(session: ScopedSession, moment: Moment) -> Mapping[str, Any]:
    """The hint `wanted` or `reply` for a message that is about the ledger."""
    ledger = load_ledger(session)
    categories = ledger.for_reading()
    changed = _changed(moment, categories, ledger.currency)
    if changed is not None and changed.missing:
        with force_locale(moment.language):
            return {"reply": ask_for(changed, ledger.currency)}
    if changed is not None:
        return {"wanted": {changed.tool: changed.arguments}, "goes_on": {changed.tool: True}}
    told = read_wish_of(moment, categories, ledger.currency)
    wish = told or _intended(moment, categories, ledger.currency)
    if told is not None and told.tool == ADDING and not moment.is_going_on:
        # Known to add something, a message has sums where it may else have counts.
        wish = _intended(moment, categories, ledger.currency, ADDING) or told
    if wish is None:
        return {}
    goes_on = bool(told) and moment.is_going_on
    odds = {"odds": {wish.tool: READ_ODDS}} if told else {}
    if wish.missing and set(wish.missing) != {"change"}:
        with force_locale(moment.language):
            reply = ask_for(wish, ledger.currency)
        # What goes on with something open is for this skill; else it must be likely.
        return {"reply": reply, **({} if goes_on else {"reply_for": wish.tool}), **odds}
    known = {"goes_on": {wish.tool: True}} if goes_on else {}
    return {"wanted": {wish.tool: _arguments_of(wish)}, **known, **odds}


def _arguments_of(wish: Wish) -> Mapping[str, Any]:
    """A wish as its tool takes it: whose expenses is a yes or no there."""
    arguments = dict(wish.arguments)
    if arguments.pop("who", "") == "mine":
        arguments["mine"] = True
    return arguments


def read_wish_of(moment: Moment, categories: Sequence[Category], home: str) -> Wish | None:
    """What the message asks for, after what was said before it."""
    turns = [(said.role, said.text) for said in moment.history if said.role != "tool"]
    wish = read_conversation(turns, moment.message, moment.language, moment.today, categories, home)
    return wish or _chosen(moment, categories, home)


def _intended(
    moment: Moment, categories: Sequence[Category], home: str, tool: str = ""
) -> Wish | None:
    """What a message says for the tool that it is most likely for, where it is one of these.

    For no other than `tool`, where that is given.
    """
    likely = max(moment.intents, key=lambda each: moment.intents[each], default="")
    if moment.is_going_on or moment.intents.get(likely, 0) < LIKELY or tool not in ("", likely):
        return None
    around = Surroundings(moment.language, moment.today, tuple(categories), home)
    return read_intended(likely, moment.message, around)


def _changed(moment: Moment, categories: Sequence[Category], home: str) -> Wish | None:
    """The open proposal with what the message changes of it; None where it changes nothing."""
    proposal = moment.proposal
    if proposal is None or proposal.get("tool") not in OWN_TOOLS:
        return None
    tool, before = str(proposal["tool"]), dict(proposal.get("arguments") or {})
    return amend_wish(tool, before, moment.message, moment.language, moment.today, categories, home)


def _chosen(moment: Moment, categories: Sequence[Category], home: str) -> Wish | None:
    """The wish that was answered with "which one?", with the words that say which."""
    before = [said for said in moment.history if said.role in ("user", "assistant")]
    # What follows a proposal answers that, and no "which one?".
    if moment.proposal is not None or len(before) < 2 or not asks_which(before[-1].text):
        return None
    # Who asks something else instead has not chosen.
    if "?" in moment.message or "¿" in moment.message:
        return None
    earlier = replace(moment, message=_last_of(before[:-1]), history=())
    wish = read_conversation([], earlier.message, moment.language, moment.today, categories, home)
    if wish is None or wish.tool not in CHOOSING or "which" not in wish.arguments:
        return None
    return replace(wish, arguments={**wish.arguments, "which": moment.message})


def _last_of(said: Sequence[ChatMessage]) -> str:
    return next((each.text for each in reversed(said) if each.role == "user"), "")


def ask_for(wish: Wish, currency: str) -> str:
    """The one question for what is missing first; `currency` is the house's own."""
    missing, item = wish.missing[0], wish.arguments.get("item", "")
    if missing == "amount" and (row := unsure_row(wish.arguments)):
        return _ask_which_sum(row, currency)
    if missing == "date":
        return _("Which day was it?")
    if missing == "item":
        return _("What item do you want to add?")
    if missing == "amount" and item:
        return _("How much was “%(item)s”?", item=item)
    if missing == "amount":
        return _("How much was it?")
    if missing == "which":
        return _("Which expense do you mean? Say what it was for, or how much.")
    return _("What should be different about it?")


def _ask_which_sum(row: Mapping[str, Any], currency: str) -> str:
    """Of "two fifty": $2.50 or $250."""
    said = [Decimal(each) for each in row[EITHER]]
    one, other = (
        amount_words(each, row.get("currency") or currency, str(get_locale())) for each in said
    )
    if item := row.get("item"):
        return _("Was “%(item)s” %(one)s or %(other)s?", item=item, one=one, other=other)
    return _("Is that %(one)s or %(other)s?", one=one, other=other)
