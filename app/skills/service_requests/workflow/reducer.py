"""From the steps of a conversation to the state of its request, one step after the other.

The steps, by their `type` (all else in them is ignored, and so are steps that fit nowhere):
    type_offered {query}              type_selection {type_id, version, is_guided?}
    field_asked {field_id}            field_response {field_id, value, by?, words?, is_inferred?}
    fields_response {values}
    field_skipped {field_id}          widget_cancelled {field_id?}    widget_error {field_id, error}
    question_asked {question}         question_answer {question, answer}    questions_ended {}
    resolution_shown {confidence_score, proposed_answer}
    resolution_skipped {confidence_score?}    resolution {user_accepted}
    optional_offered {}               another_asked {query}           another_declined {}
    request_cancelled {}              request_submitted {number, begun_at}
    type_reopened {}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from app.db import read_id
from app.fields.validation import shown_fields
from app.fields.values import FieldContext, Problem, read_value
from app.skills.service_requests.services.definitions import (
    PRIORITY,
    QUESTIONS_ASKED,
    RequestField,
    RequestForm,
)
from app.skills.service_requests.workflow.state import (
    NoRequest,
    OpenRequest,
    RequestState,
    Resolution,
    Told,
    values_of,
)

# Finds a type as it was in a version; None where there is no such one.
FindForm = Callable[[UUID, int], RequestForm | None]
Step = Mapping[str, Any]
# The steps that alone decide which request is open.
BEGINS_OR_ENDS = frozenset(
    ("type_offered", "type_selection", "type_reopened", "request_cancelled", "request_submitted")
)
# Who asks for more than this has not read the answers.
LONGEST_ANSWER = 2_000


def read_state(steps: Iterable[Step], find_form: FindForm, around: FieldContext) -> RequestState:
    """What the steps of a conversation come to, oldest first; each names its `message_id`."""
    reader = _Reader(find_form, around)
    for step in steps:
        read = _STEPS.get(str(step.get("type", "")))
        if read is not None:
            read(reader, step)
    return reader.state()


class _Reader:
    """The state while it is being read."""

    def __init__(self, find_form: FindForm, around: FieldContext) -> None:
        self.find_form, self.around = find_form, around
        self.submitted = ""
        self.clear()

    def clear(self) -> None:
        self.is_choosing, self.query, self.selector = False, "", ""
        self.form: RequestForm | None = None
        self.begun_at = self.awaited = self.asked_by = self.declined = self.asked = ""
        self.told: dict[str, Told] = {}
        self.problems: dict[str, Problem] = {}
        self.skipped: set[str] = set()
        self.in_words: set[str] = set()
        self.answers: list[tuple[str, str]] = []
        self.has_ended_questions = self.is_evaluated = self.has_offered_optional = False
        self.resolution: Resolution | None = None
        self.confidence: int | None = None
        self.another = ""

    def state(self) -> RequestState:
        if self.form is None:
            return NoRequest(self.is_choosing, self.query, self.selector, self.submitted)
        return OpenRequest(
            form=self.form,
            query=self.query,
            selector=self.selector,
            begun_at=self.begun_at,
            told=dict(self.told),
            problems={name: why for name, why in self.problems.items() if name not in self.told},
            skipped=frozenset(self.skipped),
            in_words=frozenset(self.in_words),
            awaited=self.awaited,
            asked_by=self.asked_by,
            declined=self.declined,
            asked=self.asked,
            answers=tuple(self.answers),
            has_ended_questions=self.has_ended_questions,
            is_evaluated=self.is_evaluated,
            resolution=self.resolution,
            confidence=self.confidence,
            has_offered_optional=self.has_offered_optional,
            another=self.another,
            submitted=self.submitted,
        )

    def field_of(self, step: Step) -> RequestField | None:
        """The field that a step is about, if the request has such a one and shows it."""
        field_id = read_id(str(step.get("field_id", "")))
        found = self.form.by_id(field_id) if self.form and field_id else None
        return found if found and found.field.name in self.shown() else None

    def shown(self) -> frozenset[str]:
        if self.form is None:
            return frozenset()
        shown = shown_fields(self.form.form_fields, values_of(self.told))
        return frozenset(each.name for each in shown)

    # Each step in turn.

    def offer_type(self, step: Step) -> None:
        if self.form is None:
            self.is_choosing, self.query = True, str(step.get("query", ""))
            self.selector = str(step.get("message_id", ""))

    def select_type(self, step: Step) -> None:
        type_id, version = read_id(str(step.get("type_id", ""))), step.get("version")
        if self.form is not None or type_id is None or not isinstance(version, int):
            return
        form = self.find_form(type_id, version)
        if form is None:
            return
        query = self.query
        self.clear()
        # It goes on as it was begun, whatever its type says since. What was begun before that was
        # a choice was asked for step by step.
        self.form = form = replace(form, is_guided=bool(step.get("is_guided", True)))
        self.query, self.begun_at = query, str(step.get("message_id", ""))
        if not form.is_guided and form.by_name(PRIORITY) is not None:
            # Nobody is asked for what the type says itself; whoever says otherwise changes it.
            self.told = {PRIORITY: Told(form.priority, "usual")}

    def reopen_type(self, step: Step) -> None:
        """Its type is chosen anew, for what it was begun with."""
        if self.form is not None:
            query = self.query
            self.clear()
            self.is_choosing, self.query = True, query
            self.selector = str(step.get("message_id", ""))

    def ask_field(self, step: Step) -> None:
        found = self.field_of(step)
        if found is not None:
            self.awaited, self.asked_by = found.field.name, str(step.get("message_id", ""))
            self.declined = ""

    def respond(self, step: Step) -> None:
        found = self.field_of(step)
        if found is not None:
            self._take(found, step)
            self._forget_hidden()

    def respond_to_all(self, step: Step) -> None:
        """What a card of several fields brings, by field_id, each like one that came alone."""
        values = step.get("values")
        given = values if isinstance(values, Mapping) else {}
        for field in self.form.fields if self.form else ():
            field_id = str(field.field_id)
            if field_id in given:
                self.respond({"field_id": field_id, "value": given[field_id]})

    def _take(self, found: RequestField, step: Step) -> None:
        name = found.field.name
        try:
            value = read_value(found.field, step.get("value"), self.around)
        except Problem as problem:
            # What was taken then and cannot be now (a file that is gone) is asked for again.
            self.told.pop(name, None)
            self.problems[name] = problem
            return
        self.problems.pop(name, None)
        before = self.told.pop(name, None)
        self._settle(name)
        if found.is_unanswered(value):
            return
        self.told[name] = Told(
            # A box that somebody said no to has an answer, though it has no value.
            False if value is None else value,
            "said" if step.get("by") == "said" else "widget",
            str(step.get("words", "")),
            bool(step.get("is_inferred")),
            _changed(before, value),
        )

    def _settle(self, name: str) -> None:
        self.skipped.discard(name)
        if self.declined == name:
            self.declined = ""
        if self.awaited == name:
            self.awaited = self.asked_by = ""

    def _forget_hidden(self) -> None:
        """Another branch clears what only belonged to the one that was left."""
        shown = self.shown()
        self.told = {name: told for name, told in self.told.items() if name in shown}
        self.problems = {name: why for name, why in self.problems.items() if name in shown}
        if self.awaited and self.awaited not in shown:
            self.awaited = self.asked_by = ""

    def skip(self, step: Step) -> None:
        found = self.field_of(step)
        if found is not None and not found.field.required:
            self._settle(found.field.name)
            self.skipped.add(found.field.name)
            self.problems.pop(found.field.name, None)

    def cancel_widget(self, step: Step) -> None:
        if step.get("field_id") is None:
            self.is_choosing = False
            return
        found = self.field_of(step)
        if found is None:
            return
        if found.field.required:
            self.declined, self.awaited, self.asked_by = found.field.name, "", ""
        else:
            self.skip(step)

    def break_widget(self, step: Step) -> None:
        found = self.field_of(step)
        if found is not None and self.awaited == found.field.name:
            self.asked_by = ""
            if found.field.type != "file":
                self.in_words.add(found.field.name)

    def ask_question(self, step: Step) -> None:
        if self.form is not None and len(self.answers) < QUESTIONS_ASKED:
            self.asked = str(step.get("question", ""))
            self.awaited = self.asked_by = ""

    def answer_question(self, step: Step) -> None:
        question, answer = str(step.get("question", "")), str(step.get("answer", ""))
        is_room = len(self.answers) < QUESTIONS_ASKED and not self.has_ended_questions
        if self.form is not None and question and answer and is_room:
            self.answers.append((question[:500], answer[:LONGEST_ANSWER]))
            self.asked = ""

    def end_questions(self, _step: Step) -> None:
        if self.form is not None:
            self.has_ended_questions, self.asked = True, ""

    def show_resolution(self, step: Step) -> None:
        confidence = _confidence(step)
        answer = str(step.get("proposed_answer", ""))
        if self.form is not None and confidence is not None and answer:
            self.is_evaluated, self.confidence = True, confidence
            self.resolution = Resolution(confidence, answer)

    def skip_resolution(self, step: Step) -> None:
        if self.form is not None:
            self.is_evaluated, self.resolution = True, None
            self.confidence = _confidence(step)

    def accept_resolution(self, step: Step) -> None:
        said = step.get("user_accepted")
        if self.resolution is not None and isinstance(said, bool):
            known = self.resolution
            self.resolution = Resolution(known.confidence, known.answer, said)

    def offer_optional(self, _step: Step) -> None:
        if self.form is not None:
            self.has_offered_optional = True

    def ask_about_another(self, step: Step) -> None:
        if self.form is not None:
            self.another = str(step.get("query", ""))

    def go_on(self, _step: Step) -> None:
        self.another = ""

    def cancel(self, _step: Step) -> None:
        self.clear()

    def submit(self, step: Step) -> None:
        # One that was confirmed late is not the one that was begun since.
        if self.form is not None and step.get("begun_at") == self.begun_at:
            self.clear()
            self.submitted = str(step.get("number", ""))


def _changed(before: Told | None, value: Any) -> Any:
    """What a value was corrected from; what nobody had said was corrected from nothing."""
    if before is None or before.by == "usual" or before.value == value:
        return None
    return before.value


def _confidence(step: Step) -> int | None:
    score = step.get("confidence_score")
    return score if isinstance(score, int) and 0 <= score <= 100 else None


_STEPS: Mapping[str, Callable[[_Reader, Step], None]] = {
    "type_offered": _Reader.offer_type,
    "type_selection": _Reader.select_type,
    "type_reopened": _Reader.reopen_type,
    "field_asked": _Reader.ask_field,
    "field_response": _Reader.respond,
    "fields_response": _Reader.respond_to_all,
    "field_skipped": _Reader.skip,
    "widget_cancelled": _Reader.cancel_widget,
    "widget_error": _Reader.break_widget,
    "question_asked": _Reader.ask_question,
    "question_answer": _Reader.answer_question,
    "questions_ended": _Reader.end_questions,
    "resolution_shown": _Reader.show_resolution,
    "resolution_skipped": _Reader.skip_resolution,
    "resolution": _Reader.accept_resolution,
    "optional_offered": _Reader.offer_optional,
    "another_asked": _Reader.ask_about_another,
    "another_declined": _Reader.go_on,
    "request_cancelled": _Reader.cancel,
    "request_submitted": _Reader.submit,
}
