"""The five tools of the ledger: two look, three propose."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from flask_babel import gettext as _
from pydantic import ValidationError

from app.accounts.clock import load_zone
from app.assistant.proposals.consent import Heard
from app.assistant.tools.examples import load_examples
from app.assistant.tools.parts import Suggestion
from app.assistant.tools.tool import (
    Details,
    Draft,
    ReadTool,
    Receipt,
    ToolContext,
    ToolFailure,
    ToolResult,
    WriteTool,
)
from app.db import ScopedSession
from app.errors import InvalidInput
from app.extensions import services
from app.skills.expenses import texts
from app.skills.expenses.models import Expense
from app.skills.expenses.nlu import guess_category
from app.skills.expenses.nlu.reader import is_another, is_bare_addition, read_sentence
from app.skills.expenses.nlu.sentence import ReadingContext
from app.skills.expenses.services.expenses import (
    CHANGEABLE,
    Row,
    add_expenses,
    category_for,
    change_expense,
    check_row,
    delete_expense,
    load_expense,
    put_back,
    require_editor,
    restore_expense,
    take_back_added,
    values_of,
)
from app.skills.expenses.services.meant_expenses import find_meant
from app.skills.expenses.services.people import name_of
from app.skills.expenses.services.settings import EDITORS, Ledger, load_ledger
from app.skills.expenses.tools.answers import answer_balance, answer_list
from app.skills.expenses.tools.arguments import (
    MOST_ROWS,
    AddArguments,
    BalanceArguments,
    DeleteArguments,
    ExpenseArguments,
    ListArguments,
    UpdateArguments,
)
from app.text.normalize import fold
from app.web.links import Link

EXAMPLES = Path(__file__).with_name("examples.yaml")
PROMPT = "expense-rules"
A_DAY = 24 * 60


def find_category(ledger: Ledger, said: str) -> str:
    """The slug of the category that is called so, in either language, or that has it.

    What is to be written is looked up once, as it is said: the slug of one may be what another
    one is called by now.

    Raises:
        InvalidInput: the group has none of that name.
    """
    wanted = fold(said).strip()
    named = (each for each in ledger.offered if wanted in _names_of(each))
    slugs = (each for each in ledger.offered if wanted == each["slug"])
    for each in (*named, *slugs):
        return str(each["slug"])
    raise InvalidInput(
        "There is no category “%(name)s”. Choose one of: %(known)s.",
        field="category",
        name=said,
        known=", ".join(each["slug"] for each in ledger.offered),
    )


def _names_of(category: Mapping[str, Any]) -> tuple[str, str]:
    return fold(category["name_en"]), fold(category["name_es"])


class AddExpense(WriteTool):
    """Writes one expense, or several that were said in one breath."""

    name = "add_expense"
    description = (
        "Add an expense to the restaurant's ledger: what was paid for and how much. Nothing is"
        " written before the person confirms."
    )
    arguments = AddArguments
    activity: Mapping[str, str] = {"en": "Opening the ledger…", "es": "Abriendo los gastos…"}
    examples = load_examples(EXAMPLES)["add_expense"]
    prompt_slug = PROMPT
    makes_true = ("noted", "added", "expense")
    is_wished = True
    undo_minutes = A_DAY

    def propose(self, arguments: Any, context: ToolContext) -> Draft:
        with context.transaction() as session:
            ledger = load_ledger(session)
        rows = [_row(ledger, each, context.language) for each in arguments.rows]
        is_whole = all(each.date is not None for each in arguments.rows)
        return _draft_of(rows, ledger, at_once=is_whole and not _always_asks())

    def is_consented(self, session: ScopedSession, arguments: Any, heard: Heard) -> bool:
        """Where a message says itself what is added, all of it and nothing else.

        Of what may be an answer nobody knows that it adds something: "taxi $14 of Friday" chooses
        one, after whatever words asked for it. Such a message gets a card.
        """
        if heard.step is not None or heard.before or not heard.answers_nothing:
            return False
        ledger = load_ledger(session)
        # What is said of "today" and answered days later was said of another day.
        if heard.said_at and heard.said_at.astimezone(load_zone(session)).date() != ledger.today:
            return False
        around = ReadingContext(heard.language, ledger.today, ledger.for_reading(), ledger.currency)
        command = read_sentence(heard.words, around)
        if command is None or command.tool != self.name or command.missing:
            return False
        try:
            read = AddArguments.model_validate(command.arguments).rows
        except ValidationError:
            # A row without an item, of "taxi $14 50": what was meant is to be shown.
            return False
        items = [each.item for each in read]
        if not is_bare_addition(heard.words, around, items):
            return False
        if heard.shown and not is_another(heard.words, around, items, heard.shown):
            return False
        rows = [_row(ledger, each, heard.language) for each in read]
        return _facts(rows) == _facts([_proposed(ledger, each) for each in arguments.rows])

    def join(self, session: ScopedSession, before: Any, draft: Draft) -> Draft | None:
        """Two calls of one reply are one proposal with the rows of both."""
        ledger = load_ledger(session)
        assert isinstance(draft.arguments, AddArguments)
        rows = [_proposed(ledger, each) for each in (*before.rows, *draft.arguments.rows)]
        if len(rows) > MOST_ROWS:
            message = f"At most {MOST_ROWS} expenses can be proposed at once."
            raise ToolFailure(message, suggestion="Ask about those first, then add the others.")
        return _draft_of(rows, ledger)

    def details_now(self, session: ScopedSession, arguments: Any) -> Details:
        ledger = load_ledger(session)
        return texts.details_of([_proposed(ledger, each) for each in arguments.rows], ledger)

    def execute(self, session: ScopedSession, arguments: Any) -> Receipt:
        ledger = load_ledger(session)
        rows = [_proposed(ledger, each) for each in arguments.rows]
        added = add_expenses(session, rows)
        ids = [str(expense.id) for expense in added]
        return Receipt(
            ids[0],
            texts.added(rows, ledger.today),
            texts.details_of(rows, ledger),
            Link.to("expenses.index"),
            {"ids": ids},
        )

    def undo(self, session: ScopedSession, receipt: Receipt) -> None:
        take_back_added(session, [UUID(each) for each in receipt.kept["ids"]])


class UpdateExpense(WriteTool):
    """Changes what an expense says."""

    name = "update_expense"
    description = "Change the item, amount, date or category of an expense that is in the ledger."
    arguments = UpdateArguments
    activity: Mapping[str, str] = {"en": "Looking it up…", "es": "Buscando el gasto…"}
    examples = load_examples(EXAMPLES)["update_expense"]
    prompt_slug = PROMPT
    makes_true = ("noted", "expense")
    is_wished = True
    roles = EDITORS
    undo_minutes = A_DAY

    def propose(self, arguments: Any, context: ToolContext) -> Draft:
        with context.transaction() as session:
            require_editor(session)
            ledger = load_ledger(session)
            expense = _meant(session, arguments, context, ledger)
            changes = _changes(arguments)
            if arguments.category is not None:
                changes["category"] = find_category(ledger, arguments.category)
            kept = {
                name: value for name, value in changes.items() if value != getattr(expense, name)
            }
            if not kept:
                raise ToolFailure(
                    "That is what it says already; ask what should be different.",
                    say=_(
                        "It already says %(what)s. What should be different?",
                        what=texts.called(expense, context.language),
                    ),
                    code="clarify",
                )
            return _draft_of_change(session, expense, kept, ledger)

    def join(self, session: ScopedSession, before: Any, draft: Draft) -> Draft | None:
        """A sum and a day that one reply changes in two calls are one change."""
        now = draft.arguments
        assert isinstance(now, UpdateArguments)
        expense = load_expense(session, before.id)
        if before.version != expense.version:
            return None
        both = {**_changes(before), **_changes(now)}
        return _draft_of_change(session, expense, both, load_ledger(session))

    def subject(self, arguments: Any) -> str:
        return f"expense {arguments.id}"

    def details_now(self, session: ScopedSession, arguments: Any) -> Details | None:
        expense = load_expense(session, arguments.id)
        if expense.version != arguments.version:
            return None
        row = Row(**{**values_of(expense), **_changes(arguments)})
        return texts.details_of([row], load_ledger(session), name_of(session, expense))

    def execute(self, session: ScopedSession, arguments: Any) -> Receipt:
        ledger = load_ledger(session)
        changes = _changes(arguments)
        expense, before = change_expense(session, ledger, arguments.id, changes, arguments.version)
        kept = {name: _storable(value) for name, value in before.items()}
        return Receipt(
            str(expense.id),
            texts.changed(expense, changes, ledger),
            texts.details_of([Row(**values_of(expense))], ledger, name_of(session, expense)),
            Link.to("expenses.index"),
            {"before": kept, "version": expense.version},
        )

    def undo(self, session: ScopedSession, receipt: Receipt) -> None:
        before = dict(receipt.kept["before"])
        values = UpdateArguments.model_validate(
            {"id": receipt.result_id, **{n: v for n, v in before.items() if n != "file_id"}}
        )
        known = {name: getattr(values, name) for name in before if name != "file_id"}
        put_back(session, UUID(receipt.result_id), known, receipt.kept["version"])


class DeleteExpense(WriteTool):
    """Takes an expense out of the ledger; it can be brought back for 30 days."""

    name = "delete_expense"
    description = "Delete an expense from the ledger. It can be brought back for 30 days."
    arguments = DeleteArguments
    activity: Mapping[str, str] = {"en": "Looking it up…", "es": "Buscando el gasto…"}
    examples = load_examples(EXAMPLES)["delete_expense"]
    prompt_slug = PROMPT
    makes_true = ("noted", "deleted", "expense")
    is_wished = True
    roles = EDITORS
    undo_minutes = 30 * A_DAY

    def propose(self, arguments: Any, context: ToolContext) -> Draft:
        with context.transaction() as session:
            require_editor(session)
            ledger = load_ledger(session)
            expense = _meant(session, arguments, context, ledger)
            return Draft(
                DeleteArguments(id=expense.id, version=expense.version),
                texts.to_delete(expense),
                texts.details_of([Row(**values_of(expense))], ledger, name_of(session, expense)),
                texts.ask_to_delete(expense),
            )

    def subject(self, arguments: Any) -> str:
        return f"expense {arguments.id}"

    def details_now(self, session: ScopedSession, arguments: Any) -> Details | None:
        expense = load_expense(session, arguments.id)
        if expense.version != arguments.version:
            return None
        rows = [Row(**values_of(expense))]
        return texts.details_of(rows, load_ledger(session), name_of(session, expense))

    def execute(self, session: ScopedSession, arguments: Any) -> Receipt:
        expense = delete_expense(session, arguments.id, arguments.version)
        return Receipt(
            str(expense.id),
            texts.deleted(expense),
            {},
            Link.to("expenses.index"),
            {"version": expense.version},
        )

    def undo(self, session: ScopedSession, receipt: Receipt) -> None:
        # Receipts of before the version was kept have none.
        restore_expense(session, UUID(receipt.result_id), receipt.kept.get("version"))


class LedgerQuestion(ReadTool):
    """A question about the expenses of a time, in one category or all of them."""

    activity: Mapping[str, str] = {"en": "Opening the ledger…", "es": "Abriendo los gastos…"}
    prompt_slug = PROMPT
    is_wished = True
    answer: Callable[[ScopedSession, Ledger, Any, str, str], ToolResult]

    def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        with context.transaction() as session:
            ledger = load_ledger(session)
            category = find_category(ledger, arguments.category) if arguments.category else ""
            return self.answer(session, ledger, arguments, category, context.language)


class GetBalance(LedgerQuestion):
    """Says how much was spent, in all and by category."""

    name = "get_balance"
    description = "How much was spent in a time, in all and by category."
    arguments = BalanceArguments
    activity: Mapping[str, str] = {"en": "Adding it up…", "es": "Sumando…"}
    examples = load_examples(EXAMPLES)["get_balance"]
    answer = staticmethod(answer_balance)


class ListExpenses(LedgerQuestion):
    """Lists expenses, the latest first."""

    name = "list_expenses"
    description = "List the expenses of a time or a category, the latest first, with their ids."
    arguments = ListArguments
    examples = load_examples(EXAMPLES)["list_expenses"]
    answer = staticmethod(answer_list)


TOOLS = (AddExpense(), GetBalance(), ListExpenses(), UpdateExpense(), DeleteExpense())


def _facts(rows: Sequence[Row]) -> list[tuple[Any, ...]]:
    """What of rows must be as the product reads it in the person's words: all of it."""
    return [
        (fold(row.item), row.amount, row.currency, row.date, row.category, row.note) for row in rows
    ]


def _always_asks() -> bool:
    return services().settings.expenses_confirm == "always"


def _row(ledger: Ledger, said: ExpenseArguments, language: str) -> Row:
    """What was said as the row that would be written.

    Raises:
        ToolFailure: the currency has to be asked for. InvalidInput: with the field.
    """
    category = find_category(ledger, said.category) if said.category else ""
    category = category or guess_category(said.item, ledger.for_reading(), language)
    return _proposed(ledger, said.model_copy(update={"category": category_for(ledger, category)}))


def _proposed(ledger: Ledger, said: ExpenseArguments) -> Row:
    """What was proposed as the row that is written: its category is the slug that was shown.

    Raises:
        ToolFailure: the currency has to be asked for. InvalidInput: with the field.
    """
    currency = said.currency or ledger.currency
    if currency not in ledger.currencies:
        raise ToolFailure(
            f"The ledger has no {currency}; ask which currency of"
            f" {', '.join(ledger.currencies)} it was.",
            say=_(
                "%(code)s is not used here. How much was it in %(known)s?",
                code=currency,
                known=texts.listed(ledger.currencies[:3]),
            ),
            code="clarify",
            field="currency",
        )
    row = Row(
        said.item,
        said.amount,
        currency,
        said.date or ledger.today,
        said.category or "",
        said.note or "",
    )
    return check_row(ledger, row)


def _draft_of(rows: Sequence[Row], ledger: Ledger, *, at_once: bool = False) -> Draft:
    first, *more = [
        {name: getattr(row, name) for name in CHANGEABLE if name != "file_id"} for row in rows
    ]
    return Draft(
        AddArguments.model_validate({**first, "more": more}),
        texts.to_add(rows),
        texts.details_of(rows, ledger),
        texts.ask_to_add(rows),
        at_once,
    )


def _draft_of_change(
    session: ScopedSession, expense: Expense, changes: Mapping[str, Any], ledger: Ledger
) -> Draft:
    """The card of a change; raises InvalidInput where the row that it makes cannot be."""
    row = Row(**{**values_of(expense), **changes})
    check_row(ledger.keeping(expense.currency, expense.category), row)
    return Draft(
        UpdateArguments(id=expense.id, version=expense.version, **changes),
        texts.to_change(expense, changes, ledger),
        texts.details_of([row], ledger, name_of(session, expense)),
        texts.ask_to_change(expense, changes, ledger),
    )


def _changes(said: UpdateArguments) -> dict[str, Any]:
    """What is to be different, by the names of `Row`; its category as it was said or proposed."""
    names = ("item", "amount", "currency", "date", "note", "category")
    return {name: value for name in names if (value := getattr(said, name)) is not None}


def _meant(
    session: ScopedSession,
    said: UpdateArguments | DeleteArguments,
    context: ToolContext,
    ledger: Ledger,
) -> Expense:
    """The expense that is meant.

    Raises:
        NotFound: there is none of that id.
        ToolFailure: the words fit none, or several to choose from.
    """
    if said.id is not None:
        return load_expense(session, said.id)
    which = said.which or ""
    found = find_meant(session, which, context.language, ledger.today, ledger.currency)
    if len(found) == 1:
        return found[0]
    if not found:
        raise ToolFailure(
            "No expense fits these words.",
            suggestion="Say so, or look with list_expenses.",
            say=texts.fits_none(which)[context.language],
            code="not_found",
            field="which",
        )
    names = [texts.called(each, context.language) for each in found]
    raise ToolFailure(
        f"Several fit; ask which one: {'; '.join(names)}",
        say=texts.ask_which()[context.language],
        code="clarify",
        field="which",
        chips=[Suggestion(label=name, message=name) for name in dict.fromkeys(names)],
    )


def _storable(value: Any) -> Any:
    return None if value is None else str(value)
