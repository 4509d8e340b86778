"""What is read out of sentences beside the table: what stays empty, corrections, own forms."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.fields.definitions import FormField, read_fields
from app.skills.forms.services.starters import read_starters
from tests.fields.extraction.reader import read, values
from tests.growth import check_growth

INJURY, WRITE_UP = "employee-injury-report", "employee-write-up"
FILLED = {
    "injured_person": {"name": "John Miller"},
    "body_part": "hand",
    "side": "right",
    "injury_date": "2026-11-20",
    "injury_time": "15:00",
    "location": "kitchen",
    "injury_type": "cut",
    "equipment": "slicer",
    "description": "John cut his hand",
}


def fields_of(form: str) -> tuple[FormField, ...]:
    return read_starters()[form].fields


@pytest.mark.parametrize(
    ("form", "text", "empty"),
    [
        (INJURY, "How do I store raw chicken?", {"description"}),
        (INJURY, "John left the kitchen and came back at 5", {"side", "body_part", "injury_time"}),
        (INJURY, "John and Ana burned their hands", {"injured_person"}),
        (INJURY, "I cut myself with a knife", {"injured_person", "witness"}),
        (INJURY, "It happened between 3 and 4 pm", {"injury_time"}),
        (INJURY, "tomorrow at 3pm John will work", {"injury_date", "injury_time"}),
        (INJURY, "Nobody got burned in the kitchen yesterday", {"injury_type"}),
        (INJURY, "he needs to go to the hospital tomorrow", {"medical_care"}),
        (INJURY, "He fell at 3 on Monday and hurt himself", {"injury_time"}),
        (WRITE_UP, "Cook was late twice this week", {"person", "event_date"}),
        (WRITE_UP, "Kevin was not late", {"reasons"}),
        (WRITE_UP, "I talked with Kevin's friend", {"person"}),
        ("incident-report", "Should we call the police?", {"police_called"}),
        ("incident-report", "No llamamos a la policía", {"police_called"}),
        ("incident-report", "A man fell at 8 pm tonight in the bar", {"happened_at"}),
        ("incident-report", "Hubo un robo el 3/4 a las 5 de la tarde", {"happened_at"}),
        ("temperature-log", "freezer -2 degrees Celsius", {"temperature"}),
        ("temperature-log", "Walk-in 1 38, walk-in 2 45", {"unit", "temperature"}),
        ("temperature-log", "line cooler 41F and salad bar 38F", {"unit", "temperature"}),
        ("temperature-log", "walk-in 2 is at 45F and the reach-in freezer at minus 4", {"unit"}),
        (WRITE_UP, "Kevin was late 3 times this week", {"minutes_late"}),
        (WRITE_UP, "Kevin llegó tarde 3 veces esta semana", {"minutes_late"}),
    ],
)
def test_what_was_not_said_or_may_be_meant_otherwise_stays_empty(
    form: str, text: str, empty: set[str]
) -> None:
    assert values(fields_of(form), text).keys() & empty == set()


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("Actually it was his left hand", {"side": "left"}),
        ("no fue John, fue Ana", {"injured_person": "Ana Gómez"}),
        ("no, it was Juan", {"injured_person": "Juan Pérez"}),
        ("change the person to Ana", {"injured_person": "Ana Gómez"}),
        ("change the location to the bar", {"location": "bar"}),
        ("no fue en la cocina sino en el patio", {"location": "patio"}),
        ("cambia la hora a las 4", {"injury_time": "16:00"}),
        ("it was at 2:30", {"injury_time": "14:30"}),
        ("change the date to yesterday", {"injury_date": "2026-11-19"}),
        ("sorry, Thursday at 2pm", {"injury_date": "2026-11-19", "injury_time": "14:00"}),
        ("cambia la parte del cuerpo a dedo", {"body_part": "finger"}),
        ("It was not a cut, it was a burn", {"injury_type": "burn"}),
        ("location: bar; body part: knee", {"location": "bar", "body_part": "knee"}),
        ("Kevin saw it", {"witness": "Kevin Brooks"}),
        ("he burned his arm too", {}),
        ("thanks", {}),
        ("no", {}),
    ],
)
def test_a_correction_changes_what_it_names_and_nothing_else(
    text: str, changed: dict[str, Any]
) -> None:
    assert values(fields_of(INJURY), text, FILLED) == changed


@pytest.mark.parametrize(
    ("text", "known", "changed"),
    [
        ("no, it was at 9:30 pm", {"happened_at": "2026-11-19T21:00"}, "2026-11-19T21:30"),
        ("change the date to Tuesday", {"happened_at": "2026-11-19T21:00"}, "2026-11-17T21:00"),
    ],
)
def test_a_correction_of_a_day_keeps_its_time_and_the_other_way_round(
    text: str, known: dict[str, Any], changed: str
) -> None:
    assert values(fields_of("incident-report"), text, known) == {"happened_at": changed}


LEAVE = {"first_day": "2026-12-10", "last_day": "2026-12-15", "kind": "vacation"}


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("change the last day off to December 18", {"last_day": "2026-12-18"}),
        ("change the first day off to December 11", {"first_day": "2026-12-11"}),
        ("actually the last day off is December 18", {"last_day": "2026-12-18"}),
        ("the last day off is December 18", {"last_day": "2026-12-18"}),
        ("cambia el último día libre al 18 de diciembre", {"last_day": "2026-12-18"}),
        ("cambia el primer día libre al 11 de diciembre", {"first_day": "2026-12-11"}),
        ("no, December 20 to 24", {"first_day": "2026-12-20", "last_day": "2026-12-24"}),
        (
            "change it to December 20 to December 24",
            {"first_day": "2026-12-20", "last_day": "2026-12-24"},
        ),
        ("no, del 20 al 24 de diciembre", {"first_day": "2026-12-20", "last_day": "2026-12-24"}),
        (
            "change the last day off to December 18 and the kind of leave to sick",
            {"last_day": "2026-12-18", "kind": "sick"},
        ),
    ],
)
def test_a_day_that_is_put_right_by_its_name_leaves_the_other_one(
    text: str, changed: dict[str, Any]
) -> None:
    assert values(fields_of("time-off-request"), text, LEAVE) == changed


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        (
            "change the location to bar and the time of the injury to 4pm",
            {"location": "bar", "injury_time": "16:00"},
        ),
        (
            "change the time to 4pm, and the location to bar",
            {"location": "bar", "injury_time": "16:00"},
        ),
        (
            "change the body part to foot and the equipment to knife",
            {"body_part": "foot", "equipment": "knife"},
        ),
        (
            "cambia la hora a las 4 de la tarde y la parte del cuerpo a pie",
            {"body_part": "foot", "injury_time": "16:00"},
        ),
    ],
)
def test_of_several_corrections_in_a_sentence_none_is_lost(
    text: str, changed: dict[str, Any]
) -> None:
    assert values(fields_of(INJURY), text, FILLED) == changed


@pytest.mark.parametrize("text", ["it was at 8", "no, around 8", "fue a las 8", "no, a las 8"])
def test_an_hour_that_is_put_right_is_no_number_of_a_table(text: str) -> None:
    assert values(fields_of("incident-report"), text, {"table": "14"}) == {}


@pytest.mark.parametrize(
    ("text", "known", "changed"),
    [
        ("no, the police were not called", True, {"police_called": None}),
        ("the police were not called", True, {"police_called": None}),
        ("no llamamos a la policía", True, {"police_called": None}),
        ("the police were not called", None, {}),
        ("was the police called?", True, {}),
    ],
)
def test_a_tick_that_is_denied_goes(text: str, known: Any, changed: dict[str, Any]) -> None:
    assert values(fields_of("incident-report"), text, {"police_called": known}) == changed


def test_further_reasons_are_added_to_a_list_and_a_correction_replaces_it() -> None:
    known = {"topics": ["slow"], "description": "x"}
    complaint = fields_of("guest-complaint")
    assert values(complaint, "the soup was cold too", known) == {"topics": ["cold_food", "slow"]}
    assert values(complaint, "No, it was too loud", known) == {"topics": ["noise"]}


@pytest.mark.parametrize(
    "said",
    [
        "{}, I need to fill out an injury report",
        "I need to fill out an injury report: {}",
        "Fill out “Employee injury report”: {}",
        "Llenar el formulario “Reporte de lesión de un empleado”: {}",
        "Llena un reporte de lesión: {}",
        "{}. Haz un reporte de lesión por favor",
    ],
)
def test_the_wish_for_a_form_is_no_part_of_what_happened(said: str) -> None:
    told = "John cut his hand on the slicer at 3pm today"
    assert values(fields_of(INJURY), said.format(told))["description"] == told


def test_a_wish_that_tells_what_happened_is_kept_whole() -> None:
    said = "I need to document an incident of theft at the bar last night around 10"
    assert values(fields_of("incident-report"), said)["description"] == said


def test_a_name_of_two_contacts_is_kept_as_it_was_said() -> None:
    found = read(fields_of(INJURY), "María cut her finger in the kitchen")
    assert found["injured_person"].raw == {"name": "María"}
    assert found["injured_person"].confidence < 0.6


@pytest.mark.parametrize("known", [{"description": "x"}, {"injured_person": {"name": "Ana Gómez"}}])
def test_a_surname_is_no_place(known: dict[str, Any]) -> None:
    assert "location" not in values(fields_of(INJURY), "María Salas", known)


@pytest.mark.parametrize(
    "text",
    [
        "Fill out a write up for Kevin, he was late",
        "I need a write-up for Kevin Brooks for being late today",
        "Warning for Kevin",
    ],
)
def test_a_paper_for_somebody_is_about_them(text: str) -> None:
    assert values(fields_of(WRITE_UP), text)["person"] == "Kevin Brooks"


def test_the_answer_to_which_one_is_read_by_the_label_before_it() -> None:
    found = values(fields_of(INJURY), "Witness: María Torres", {"description": "x"})
    assert found == {"witness": "María Torres"}


def test_a_contact_is_named_by_their_id_and_the_words_are_shown() -> None:
    found = read(fields_of(INJURY), "John cut his hand at 3pm today")
    assert found["injured_person"].raw == {"name": "John Miller", "contact_id": "id-0"}
    assert found["injured_person"].words == "John"
    assert "3pm" in found["injury_time"].words
    assert all(0 < each.confidence <= 1 for each in found.values())


OWN_FORM = read_fields(
    [
        {"type": "person", "name": "p1", "label": {"en": "Driver", "es": "Chofer"}},
        {"type": "text", "name": "t1", "label": {"en": "Machine", "es": "Máquina"}},
        {"type": "datetime", "name": "d1", "label": {"en": "When"}, "when": "past"},
        {"type": "number", "name": "n1", "label": {"en": "Weight"}, "unit": {"en": "lb"}},
        {
            "type": "radio",
            "name": "r1",
            "label": {"es": "Gravedad", "en": "Severity"},
            "options": [
                {"value": "1", "label": {"en": "Low", "es": "Baja"}},
                {"value": "2", "label": {"en": "High", "es": "Alta"}},
            ],
        },
        {"type": "checkbox", "name": "c1", "label": {"en": "The floor was wet"}},
    ]
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "Tom dropped the mixer yesterday at 2 pm, the floor was wet, it was about 40 pounds",
            {
                "p1": "Tom Okafor",
                "t1": "mixer",
                "d1": "2026-11-19T14:00",
                "n1": "40",
                "c1": True,
            },
        ),
        ("severity: high", {"r1": "2"}),
        ("the severity is low", {"r1": "1"}),
        ("gravedad alta", {"r1": "2"}),
        ("he was high up on a ladder", {"t1": "ladder"}),
        ("the floor was not wet", {}),
    ],
)
def test_a_houses_own_form_is_read_by_its_labels(text: str, found: dict[str, Any]) -> None:
    assert values(OWN_FORM, text) == found


@pytest.mark.parametrize("form", [INJURY, "guest-complaint", "shift-swap", "delivery-check"])
@settings(max_examples=40, deadline=None)
@given(text=st.text(max_size=300))
def test_any_text_at_all_is_read_without_an_error(form: str, text: str) -> None:
    fields = fields_of(form)
    assert read(fields, text).keys() <= {each.name for each in fields}


@pytest.mark.parametrize(
    "text", ["John at 3 ", "a " * 3, "9" * 7 + " ", "no ", "A1-", "señora Ana de ", "$1,2"]
)
def test_the_longest_message_takes_no_time(text: str) -> None:
    fields = fields_of("guest-complaint")
    read(fields, text)
    begun = time.perf_counter()
    read(fields, (text * 4000)[:4000])
    assert time.perf_counter() - begun < 2


@pytest.mark.parametrize(
    ("text", "phone"),
    [
        ("el teléfono del cliente es 210-555-0123, anexo 2 fotos del plato", "+12105550123"),
        ("guest phone 210-555-0123 #4 table broke", "+12105550123"),
        ("the guest's phone is 210-555-0123 x2 calls", "+12105550123"),
        ("the guest's phone is 210-555-0123 (x 3 tables)", "+12105550123"),
        ("el teléfono del cliente es 210-555-0123, anexo 45", "+12105550123;ext=45"),
        ("el teléfono del cliente es 210-555-0123 anexo 45 y quiere hablar", "+12105550123;ext=45"),
        ("guest phone 210-555-0123 #45, table 4", "+12105550123;ext=45"),
        ("guest phone 210-555-0123 x45 please", "+12105550123;ext=45"),
        ("guest phone 210-555-0123 ext 45 table broke", "+12105550123;ext=45"),
    ],
)
def test_how_many_there_are_of_something_is_no_extension(text: str, phone: str) -> None:
    assert values(fields_of("guest-complaint"), text)["guest_phone"] == phone


COMPLAINT = "guest-complaint"


@pytest.mark.parametrize(
    ("form", "text", "name"),
    [
        (COMPLAINT, "They wanted a discount, we refused", "resolution"),
        (COMPLAINT, "The guest asked for a refund", "resolution"),
        (COMPLAINT, "We thought about a gift card", "resolution"),
        (COMPLAINT, "We refused a discount", "resolution"),
        (COMPLAINT, "A refund was declined", "resolution"),
        (COMPLAINT, "We offered a discount, but they said no", "resolution"),
        (COMPLAINT, "Querían un descuento", "resolution"),
        (COMPLAINT, "El cliente pidió un reembolso", "resolution"),
        (COMPLAINT, "Le ofrecimos un descuento y no quiso", "resolution"),
        (INJURY, "He would have gone to the hospital but declined", "medical_care"),
        (INJURY, "He refused to go to the hospital", "medical_care"),
        (INJURY, "Hubiera ido al hospital", "medical_care"),
        (INJURY, "He almost cut his finger", "injury_type"),
        (INJURY, "Casi se quemó la mano", "injury_type"),
        ("incident-report", "I would have called an ambulance", "ambulance_called"),
        ("incident-report", "We wanted to call an ambulance", "ambulance_called"),
        ("incident-report", "The ambulance called was called off", "ambulance_called"),
        ("incident-report", "Hubiéramos llamado una ambulancia", "ambulance_called"),
    ],
)
def test_what_was_wished_for_declined_or_nearly_done_was_not_done(
    form: str, text: str, name: str
) -> None:
    assert name not in values(fields_of(form), text)


@pytest.mark.parametrize(
    ("form", "text", "found"),
    [
        (COMPLAINT, "We gave them a discount", {"resolution": "discount"}),
        (COMPLAINT, "We offered a discount", {"resolution": "discount"}),
        (COMPLAINT, "They asked for the manager, they had waited an hour", {"topics": ["slow"]}),
        (COMPLAINT, "They wanted a refund, we gave a discount", {"resolution": "discount"}),
        (INJURY, "He almost fell and burned his hand", {"injury_type": "burn"}),
        (WRITE_UP, "Kevin was almost 40 minutes late", {"reasons": ["late"]}),
        (WRITE_UP, "Kevin llegó casi una hora tarde", {"reasons": ["late"]}),
        ("incident-report", "We called an ambulance", {"ambulance_called": True}),
    ],
)
def test_what_was_done_beside_it_is_filled_in(form: str, text: str, found: dict[str, Any]) -> None:
    got = values(fields_of(form), text)
    assert {name: got.get(name) for name in found} == found


@pytest.mark.parametrize("gap", [" ", "\n", " \n", "\t"])
def test_a_run_of_blanks_is_gone_through_once(gap: str) -> None:
    fields = fields_of("delivery-check")

    def work(size: int) -> Callable[[], object]:
        return lambda: read(fields, f"by{gap * size}Kevin Lopez{gap * size}x")

    check_growth(work, 4_000)
