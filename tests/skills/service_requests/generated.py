"""Forms and steps that nobody would write: every type of field, every step, right and wrong."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from app.fields.values import Attachment, FieldContext
from app.skills.service_requests.services.definitions import REQUEST_FIELD_TYPES, main_fields
from tests.skills.service_requests.building import field, options

NOW = datetime(2026, 11, 22, 15, tzinfo=UTC)
PHOTO, PAPER, GONE = (str(UUID(int=number)) for number in (1001, 1002, 1003))
FILES = {
    PHOTO: Attachment(PHOTO, "leak.jpg", 10, "image/jpeg", "image"),
    PAPER: Attachment(PAPER, "bill.pdf", 90 * 1024 * 1024, "application/pdf", "pdf"),
}
AROUND = FieldContext(NOW, ZoneInfo("America/Chicago"), find_file=FILES.get)
# What some field takes and another does not; what none does.
TELLING: tuple[Any, ...] = (
    "a", "b", "low", "urgent", "true", "no", True, False, 1, 0, 7, "7", "38.5", "1e400", -3, 2.5,
    float("nan"), float("inf"), "ana@example.com", "ana@", "2105550123", "+52 55 1234 5678", "12",
    "2026-11-22", "2026-11-23", "1999-01-01", "9999-12-31", "2026-W48-1", "not a day",
    {"line1": "1 Main St", "city": "Austin"}, {"city": "Austin"}, {"line1": 5}, {"street": "x"},
    [PHOTO], [{"id": PHOTO}], [{"id": GONE}], [PAPER, PHOTO, GONE], PHOTO, [{"id": None}],
    {"name": "x"}, [[]], [""], {}, [], None, "", "   ", "\0", "\ud800", "x" * 6_000, "a\nb",
    "fits", "does not fit",
)  # fmt: skip
# What each type takes, if its own rules let it.
FITTING: dict[str, tuple[Any, ...]] = {
    "text": ("fits", "a"),
    "textarea": ("a", "b"),
    "number": (7, "7", "38.5"),
    "email": ("ana@example.com",),
    "checkbox": (True, "true", False, "no"),
    "select": ("a", "b", "true"),
    "radio": ("a", "b", "low", "urgent"),
    "address": ({"line1": "1 Main St", "city": "Austin"},),
    "phone": ("2105550123", "+52 55 1234 5678"),
    "date": ("2026-11-22", "2026-11-23", "1999-01-01"),
    "file": ([PHOTO], [{"id": PHOTO}]),
}
GARBAGE: SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inside: (
        st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=6), inside, max_size=3)
    ),
    max_leaves=5,
)
VALUES = st.sampled_from(TELLING) | GARBAGE
TEXTS = st.sampled_from(["", "What?", "How?", "Since when?", "y" * 3_000]) | st.text(max_size=5)


def _details(draw: DrawFn, kind: str) -> dict[str, Any]:
    """What a field of that type may have besides a name."""
    if kind in ("select", "radio"):
        return {"options": options("a", "b", "true")}
    if kind == "text":
        return {"pattern": draw(st.sampled_from(["", "[a-z ]+"])), "min_length": 1}
    if kind == "number":
        return {"min": "0", "max": "40", "decimals": draw(st.integers(0, 1))}
    if kind == "date":
        return {"when": draw(st.sampled_from(["any", "past", "future"]))}
    if kind == "file":
        return {"kinds": ["image", "pdf"], "most": 2, "largest_mib": 1}
    return {}


@st.composite
def forms(draw: DrawFn, most: int = 4) -> list[dict[str, Any]]:
    """The fields of a type, as they are stored; some are shown only where another has a value."""
    fields = main_fields(UUID(int=1), UUID(int=2))
    for number in range(draw(st.integers(1, most))):
        kind = draw(st.sampled_from(REQUEST_FIELD_TYPES))
        more = _details(draw, kind)
        if draw(st.sampled_from([True, True, False])):
            above = draw(st.sampled_from(fields))
            test = draw(st.sampled_from(["is_filled", "is", "is_not"]))
            fitting = [each for each in FITTING[above["type"]] if isinstance(each, str)]
            values = draw(st.lists(st.sampled_from([*fitting, "false"]), max_size=2))
            more["show_if"] = {"field": above["name"], "test": test, "values": values}
        more["field_id"] = str(UUID(int=number + 3))
        fields.append(field(f"f{number}", kind, required=draw(st.booleans()), **more))
    return fields


def steps(fields: list[dict[str, Any]], type_id: str) -> SearchStrategy[list[dict[str, Any]]]:
    """Any steps in any order; more of those that fit than chance would give."""
    ids = st.sampled_from(
        [*(each["field_id"] for each in fields), "x", "", str(UUID(int=99)), None]
    )
    told = st.one_of(_response(each["field_id"], each["type"]) for each in fields)
    score = st.integers(-5, 105) | GARBAGE
    others = [
        _response("x", "text"),
        _step("type_offered", query=TEXTS),
        _step("type_selection", type_id=ids | st.just(type_id), version=GARBAGE),
        _step("type_reopened"),
        _step("fields_response", values=st.dictionaries(ids.map(str), VALUES, max_size=4)),
        _step("fields_response", values=GARBAGE),
        _step("field_asked", field_id=ids),
        _step("field_skipped", field_id=ids),
        _step("widget_cancelled", field_id=ids),
        _step("widget_cancelled"),
        _step("widget_error", field_id=ids, error=TEXTS),
        _step("question_asked", question=TEXTS | GARBAGE),
        _step("question_answer", question=TEXTS, answer=TEXTS | GARBAGE),
        _step("questions_ended"),
        _step("resolution_shown", confidence_score=score, proposed_answer=TEXTS),
        _step("resolution_skipped", confidence_score=score),
        _step("resolution", user_accepted=st.booleans() | GARBAGE),
        _step("optional_offered"),
        _step("another_asked", query=TEXTS),
        _step("another_declined"),
        _step("request_cancelled"),
        _step("request_submitted", number=TEXTS, begun_at=st.sampled_from(["0", "1", "2", None])),
        st.dictionaries(st.sampled_from(["type", "field_id", "value"]), GARBAGE, max_size=3),
        st.fixed_dictionaries({"type": GARBAGE}),
    ]
    begun = st.sampled_from(
        [
            {"type": "type_selection", "type_id": type_id, "version": 1, "is_guided": is_guided}
            for is_guided in (True, False)
        ]
    )
    # Weighed by hand: what is one of many would else be drawn as often as each of the others.
    one = st.integers(0, 9).flatmap(
        lambda dice: told if dice < 7 else st.one_of(others) if dice < 9 else begun
    )
    many = st.lists(one, min_size=5, max_size=20)
    return st.tuples(begun, many).map(lambda both: _numbered([both[0], *both[1]]))


def _response(field_id: str, kind: str) -> SearchStrategy[dict[str, Any]]:
    """A value for a field, more often one that it takes than not."""
    fitting = st.integers(0, 9).flatmap(
        lambda dice: st.sampled_from(FITTING[kind]) if dice < 7 else VALUES
    )
    return _step(
        "field_response",
        field_id=st.just(field_id),
        value=fitting,
        by=st.sampled_from(["said", "widget", 3]),
        words=TEXTS,
        is_inferred=st.booleans(),
    )


def _step(kind: str, **facts: SearchStrategy[Any]) -> SearchStrategy[dict[str, Any]]:
    """A step of that type with these facts; at times some are missing."""
    named = {"type": st.just(kind)}
    some = st.fixed_dictionaries(named, optional=facts)
    whole = st.fixed_dictionaries({**named, **facts})
    return st.integers(0, 9).flatmap(lambda dice: whole if dice < 8 else some)


def _numbered(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As they are loaded: each with its message."""
    return [{**step, "message_id": str(number)} for number, step in enumerate(found)]
