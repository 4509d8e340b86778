"""The assistant beside a form: it fills in what is said, asks when unsure, and never sends."""

from __future__ import annotations

import json
from collections.abc import Generator
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, update

from app.assistant.models import Prompt
from app.assistant.providers.base import ModelEvent, ModelRequest
from app.assistant.providers.builtin import BuiltinProvider
from app.assistant.providers.openai import OpenAIProvider
from app.db import Database
from app.skills.forms.models import FormDraft, FormTemplate
from tests.assistant.scripted import ScriptedProvider, call, say
from tests.factories import Member, answer, ask, make_contact, make_user
from tests.model_server import Call, ModelServer, Say, scenario
from tests.skills.forms.filling import submissions_of
from tests.skills.forms.talking import (
    INJURY,
    SAID,
    Talker,
    add_injury_report,
    begin,
    filled,
    updates,
)

THE_FIVE = {
    "body_part": "hand",
    "equipment": "slicer",
    "injury_time": "15:00",
    "location": "kitchen",
}


@pytest.fixture
def member(owner: Database) -> Member:
    """Somebody of a house with the injury report and one John."""
    member = make_user(owner)
    add_injury_report(owner, member.group_id)
    make_contact(owner, member.group_id, "John Miller")
    return member


@pytest.fixture
def builtin(app: Flask) -> BuiltinProvider:
    return BuiltinProvider(app.extensions["comanda"].embedder)


@pytest.fixture
def talker(app: Flask, member: Member) -> Talker:
    return begin(app, member)


def model_saying(**values: Any) -> ScriptedProvider:
    """A model that fills in these values and says so."""
    arguments = json.dumps({"fieldUpdates": values, "words": SAID})
    return ScriptedProvider([call("update_form", arguments)], say("Done."))


def test_what_was_said_in_the_chat_fills_the_right_fields(
    talker: Talker, builtin: BuiltinProvider, owner: Database, member: Member
) -> None:
    reply = talker.tell(builtin, SAID)
    typed = talker.typed
    assert typed["injured_person"]["name"] == "John Miller"
    assert {name: typed[name] for name in THE_FIVE} == THE_FIVE
    # Nothing that was not said: no witness, no phone, no first aid.
    assert not typed.keys() & {"witness", "phone", "first_aid", "medical_care", "side"}
    assert filled(reply) == typed.keys()
    assert talker.draft.origins["body_part"]["words"] == "hand"
    assert "Check it before you send the form." in reply.content
    assert talker.draft.status == "open"
    assert submissions_of(owner, member) == []


def test_in_spanish_it_fills_and_answers_in_spanish(
    talker: Talker, builtin: BuiltinProvider, owner: Database, member: Member
) -> None:
    make_contact(owner, member.group_id, "Juan Pérez")
    said = "Juan se cortó la mano con la rebanadora a las 3 de la tarde en la cocina"
    reply = talker.tell(builtin, said, "es")
    assert talker.typed["injured_person"]["name"] == "Juan Pérez"
    assert talker.typed["injury_time"] == "15:00"
    assert talker.typed["location"] == "kitchen"
    labels = {field["label"] for field in updates(reply)["filled"]}
    assert {"Persona lesionada", "Parte del cuerpo", "Hora de la lesión"} <= labels


def test_a_correction_changes_that_field_alone(talker: Talker, builtin: BuiltinProvider) -> None:
    talker.tell(builtin, SAID)
    before = talker.typed
    reply = talker.tell(builtin, "Actually it was his left hand")
    assert filled(reply) == {"side"}
    assert talker.typed == {**before, "side": "left"}


def test_of_several_people_of_that_name_it_asks_with_a_chip_for_each(
    talker: Talker, builtin: BuiltinProvider, owner: Database, member: Member
) -> None:
    make_contact(owner, member.group_id, "John Carter")
    reply = talker.tell(builtin, SAID)
    assert "injured_person" not in talker.typed
    chips = {chip["label"]: chip["message"] for chip in reply.suggestions}
    assert chips.keys() == {"John Carter", "John Miller"}
    talker.tell(builtin, chips["John Carter"])
    assert talker.typed["injured_person"]["name"] == "John Carter"


@pytest.mark.parametrize(
    ("language", "first", "said", "holds"),
    [
        ("en", "their phone is 210 555 0123", "their phone is 210 555 4444", "+12105554444"),
        ("es", "su teléfono es 210 555 0123", "su teléfono es 210 555 4444", "+12105554444"),
        ("en", "it happened at 8pm", "the time of the injury was 9pm", "21:00"),
        ("es", "pasó a las 8 de la noche", "la hora de la lesión fue las 21:00", "21:00"),
    ],
)
def test_a_plain_value_beside_its_label_takes_the_place_of_what_was_said_before(
    talker: Talker, builtin: BuiltinProvider, language: str, first: str, said: str, holds: str
) -> None:
    name = "phone" if "555" in said else "injury_time"
    talker.tell(builtin, first, language)
    before = talker.typed[name]
    reply = talker.tell(builtin, said, language)
    assert before != talker.typed[name] == holds
    assert name in filled(reply)


@pytest.mark.parametrize(
    ("language", "first", "said", "told"),
    [
        ("en", "their phone is 210 555 0123", "we called them at 210 555 4444", "Their phone"),
        ("es", "su teléfono es 210 555 0123", "le hablamos al 210 555 4444", "Su teléfono"),
        (
            "en", "their phone is 210 555 0123",
            "we called them at 210 555 4444 and it was in the kitchen", "Their phone",
        ),
    ],
)  # fmt: skip
def test_what_is_said_otherwise_and_left_as_it_was_is_told(
    talker: Talker, builtin: BuiltinProvider, language: str, first: str, said: str, told: str
) -> None:
    talker.tell(builtin, first, language)
    before = talker.typed["phone"]
    reply = talker.tell(builtin, said, language)
    assert talker.typed["phone"] == before
    left = {"en": "I left these as they were.", "es": "Esto lo dejé como estaba."}
    assert f"{left[language]} {told}: (210) 555-0123." in reply.content
    assert "I found nothing" not in reply.content and "No encontré nada" not in reply.content


def test_a_value_that_cannot_be_is_named_with_the_reason(talker: Talker) -> None:
    model = model_saying(body_part="tail", injury_date="2031-01-01", location="Kitchen")
    reply = talker.tell(model, SAID)
    reasons = {field["name"]: field["reason"] for field in updates(reply)["refused"]}
    assert reasons.keys() == {"body_part", "injury_date"}
    assert all(reasons.values())
    # The option was chosen by its label.
    assert talker.typed == {"location": "kitchen"}
    told = model.requests[1].messages[-1].text
    assert reasons["body_part"] in told


def test_only_what_the_person_wrote_stands_between_quotation_marks(
    owner: Database, talker: Talker
) -> None:
    invented = json.dumps({"fieldUpdates": {"location": "Kitchen"}, "words": "it was in the bar"})
    talker.tell(ScriptedProvider([call("update_form", invented)], say("Done.")), SAID)
    assert "words" not in origin_of(owner, talker, "location")
    talker.tell(model_saying(body_part="hand"), SAID)
    assert origin_of(owner, talker, "body_part")["words"] == SAID


def origin_of(owner: Database, talker: Talker, name: str) -> dict[str, Any]:
    with owner.session() as session:
        draft = session.get(FormDraft, talker.draft_id)
        assert draft is not None and draft.origins[name]["by"] == "said"
        return dict(draft.origins[name])


def test_a_field_that_the_form_has_not_is_told_to_the_model_alone(talker: Talker) -> None:
    model = model_saying(shoe_size="44", equipment="slicer")
    reply = talker.tell(model, SAID)
    assert talker.typed == {"equipment": "slicer"}
    assert "shoe_size" in model.requests[1].messages[-1].text
    assert updates(reply)["refused"] == []


@pytest.mark.parametrize(
    ("odd", "told"),
    [
        ("NaN", "not valid JSON"),
        ("-Infinity", "not valid JSON"),
        ("1e999", "not valid JSON"),
        ('"NaN"', "finite number"),
        ('"inf"', "finite number"),
    ],
)
def test_a_confidence_that_is_no_number_is_told_to_the_model_and_the_turn_ends_well(
    talker: Talker, odd: str, told: str
) -> None:
    values = '{"fieldUpdates": {"location": "kitchen"}, "confidence": {"location": %s}}'
    model = ScriptedProvider([call("update_form", values % odd)], say("Sorry."))
    reply = talker.tell(model, SAID)
    assert (reply.status, reply.content) == ("complete", "Sorry.")
    assert told in model.requests[1].messages[-1].text
    assert talker.typed == {}


def test_a_value_that_a_model_leaves_empty_takes_nothing_away(talker: Talker) -> None:
    talker.tell(model_saying(location="kitchen", body_part="hand"), SAID)
    reply = talker.tell(model_saying(location=None, body_part=" ", side="left"), "The left one")
    assert talker.typed == {"location": "kitchen", "body_part": "hand", "side": "left"}
    assert filled(reply) == {"side"}


def test_what_is_not_asked_as_the_form_stands_is_refused_and_not_told_as_filled(
    app: Flask, member: Member, template: FormTemplate
) -> None:
    talker = begin(app, member, template.slug)
    reply = talker.tell(model_saying(body_part="Left hand", what="A cut"), SAID)
    assert filled(reply) == {"what"}
    [refused] = updates(reply)["refused"]
    assert refused["name"] == "body_part"
    assert refused["reason"].startswith("The form does not ask for this as it is filled in now.")
    assert talker.typed == {"what": "A cut"}
    # With what it depends on, it is.
    reply = talker.tell(model_saying(body_part="Left hand", hurt=True), SAID)
    assert filled(reply) == {"body_part", "hurt"}


def test_a_form_that_was_thrown_away_says_so_and_how_it_comes_back(
    talker: Talker, builtin: BuiltinProvider, owner: Database
) -> None:
    with owner.transaction() as session:
        session.execute(
            update(FormDraft).where(FormDraft.id == talker.draft_id).values(status="discarded")
        )
    reply = talker.tell(builtin, SAID)
    assert reply.content == "This form was discarded. Bring it back to continue."


@pytest.mark.parametrize(
    "claim",
    ["Listo, ya entregué el reporte.", "Entregué el formulario.", "Ya presenté el reporte.",
     "Metí el reporte.", "Ya subí tu formulario.", "Adjunté la foto.", "La foto quedó adjunta.",
     "I attached your photo to the form.", "The photo is attached.", "I lodged the complaint.",
     "I put the report in for you.", "I transmitted your form.", "I handed the form in."],
)  # fmt: skip
def test_a_field_that_was_filled_makes_it_neither_sent_nor_attached(
    talker: Talker, claim: str
) -> None:
    arguments = json.dumps({"fieldUpdates": {"body_part": "hand"}, "words": SAID})
    reply = talker.tell(ScriptedProvider([call("update_form", arguments)], say(claim)), SAID)
    assert talker.typed["body_part"] == "hand"
    assert "Not all of this has been done." in reply.content


def test_only_the_person_adds_files_and_signs(talker: Talker) -> None:
    reply = talker.tell(model_saying(signature="John", photos=["x"]), SAID)
    assert talker.typed == {}
    refused = {field["name"] for field in updates(reply)["refused"]}
    assert refused == {"signature", "photos"}


def test_a_turn_that_is_run_again_doubles_nothing_and_tells_the_same(
    talker: Talker, builtin: BuiltinProvider
) -> None:
    first = talker.tell(builtin, SAID)
    draft = talker.draft
    second = talker.again(builtin, first)
    assert updates(second) == updates(first)
    assert second.content == first.content
    again = talker.draft
    assert (again.typed, again.version) == (draft.typed, draft.version)
    assert again.origins == draft.origins


def test_what_stands_there_already_is_told_so(talker: Talker) -> None:
    talker.tell(model_saying(location="kitchen"), SAID)
    model = model_saying(location="kitchen", equipment="slicer")
    reply = talker.tell(model, "It was the slicer in the kitchen")
    assert filled(reply) == {"equipment"}
    assert '"held_already": ["location"]' in model.requests[1].messages[-1].text


def test_thanks_are_taken_as_thanks(talker: Talker, builtin: BuiltinProvider) -> None:
    reply = talker.tell(builtin, "Thank you!")
    assert reply.parts == []
    assert reply.content.startswith("You are welcome.")


def test_a_form_that_was_sent_meanwhile_is_not_changed(
    talker: Talker, builtin: BuiltinProvider, owner: Database
) -> None:
    talker.tell(builtin, SAID)
    before = talker.typed
    with owner.transaction() as session:
        session.execute(
            update(FormDraft).where(FormDraft.id == talker.draft_id).values(status="submitted")
        )
    reply = talker.tell(builtin, "Actually it was his left hand")
    assert reply.content == "This form has already been sent. Open a new one."
    assert talker.typed == before
    # A model has no tool for it either, and is told what to say.
    model = ScriptedProvider(say("It was sent."))
    talker.tell(model, "Actually it was his left hand")
    assert model.offered == [[]]
    assert "This form has already been sent. Open a new one." in model.requests[0].messages[0].text


def test_a_form_that_is_sent_while_it_is_filled_in_says_so(talker: Talker, owner: Database) -> None:
    class Late(BuiltinProvider):
        """Looks at the form after somebody has sent it, having been told that it is open."""

        def stream(self, request: ModelRequest) -> Generator[ModelEvent, None, None]:
            with owner.transaction() as session:
                sent = update(FormDraft).where(FormDraft.id == talker.draft_id)
                session.execute(sent.values(status="submitted"))
            yield from super().stream(request)

    reply = talker.tell(Late(), "It was in the kitchen")
    assert reply.content == "This form has already been sent. Open a new one."
    assert talker.typed == {}


def test_neither_assistant_has_the_others_persona_prompts_and_tools(
    app: Flask, member: Member, talker: Talker
) -> None:
    model = ScriptedProvider(say("Hello."))
    talker.tell(model, SAID)
    [beside] = model.requests
    assert model.offered == [["update_form"]]
    in_chat = ScriptedProvider(say("Hello."))
    answer(app, member, ask(talker.on.database, member, SAID), in_chat)
    [chat] = in_chat.requests
    assert "update_form" not in in_chat.offered[0]
    with talker.on.database.transaction(member.scope) as session:
        rows = session.scalars(select(Prompt).where(Prompt.group_id == member.group_id)).all()
    texts = {row.slug: row.prompt_en.strip() for row in rows}
    own = texts.pop("domain-forms")
    assert own in beside.messages[0].text
    assert own not in chat.messages[0].text
    assert not [slug for slug, text in texts.items() if text in beside.messages[0].text]
    assert texts["base-persona"] in chat.messages[0].text
    # Nor what was said in the other conversation.
    assert [each.role for each in beside.messages] == ["system", "user"]
    assert '"name": "injured_person"' in beside.messages[0].text
    assert "injured_person" not in chat.messages[0].text


@pytest.mark.parametrize("switched_off", ["prompt", "template"])
def test_switched_off_the_tool_is_offered_to_nobody(
    talker: Talker, builtin: BuiltinProvider, owner: Database, member: Member, switched_off: str
) -> None:
    off: Any = update(Prompt).where(Prompt.slug == "domain-forms").values(is_active=False)
    if switched_off == "template":
        off = update(FormTemplate).where(FormTemplate.slug == INJURY).values(ai_tools=[])
    group = FormTemplate.group_id if switched_off == "template" else Prompt.group_id
    with owner.transaction() as session:
        session.execute(off.where(group == member.group_id))
    model = ScriptedProvider(say("Sorry."))
    talker.tell(model, SAID)
    assert model.offered == [[]]
    reply = talker.tell(builtin, SAID)
    assert "switched off for this form" in reply.content
    assert talker.typed == {}


def test_over_the_wire_a_model_fills_in_and_says_so(
    app: Flask, talker: Talker, model_server: ModelServer
) -> None:
    values = {**THE_FIVE, "injured_person": "John", "injury_date": "2026-11-01"}
    arguments = {"fieldUpdates": values, "confidence": {"equipment": 0.4}, "words": SAID}
    model_server.script(scenario(Call("update_form", arguments), Say("I filled it in.")))
    settings = talker.on.settings.model_copy(
        update={"openai_base_url": model_server.base_url, "openai_api_key": "none"}
    )
    reply = talker.tell(OpenAIProvider(settings), SAID)
    assert reply.content == "I filled it in."
    assert talker.typed["injured_person"]["name"] == "John Miller"
    assert talker.draft.origins["equipment"]["confidence"] == 0.4
    confidences = {field["name"]: field["confidence"] for field in updates(reply)["filled"]}
    assert confidences["equipment"] == 0.4
    assert confidences["location"] == 1.0
    assert reply.suggestions == []


def test_what_a_model_makes_up_is_not_read_as_its_persons_words(
    owner: Database, talker: Talker
) -> None:
    made_up = json.dumps({"words": "Actually it was his left foot, yesterday at 3pm"})
    talker.tell(ScriptedProvider([call("update_form", made_up)], say("Done.")), "what is this?")
    assert talker.typed == {}
    # What they said themselves is read, whatever a model makes of it.
    talker.tell(ScriptedProvider([call("update_form", made_up)], say("Done.")), SAID)
    assert talker.typed["body_part"] == "hand" and "side" not in talker.typed
    assert "yesterday" not in json.dumps(origin_of(owner, talker, "body_part"))


@pytest.mark.parametrize(
    ("values", "claim"),
    [
        ({"body_part": "tail"}, "I've recorded the injured body part as tail in the report."),
        ({}, "I've recorded that he hurt his hand at 3pm."),
        ({"body_part": "tail"}, "Listo, ya registré la parte del cuerpo."),
    ],
)
def test_that_it_recorded_what_the_form_refused_is_denied(
    talker: Talker, values: dict[str, str], claim: str
) -> None:
    arguments = json.dumps({"fieldUpdates": values, "words": SAID})
    model = ScriptedProvider([call("update_form", arguments)], say(claim))
    reply = talker.tell(model, SAID)
    assert talker.typed == {}
    assert "Nothing was saved or sent with this answer." in reply.content
    taken = json.dumps({"fieldUpdates": {"body_part": "hand"}, "words": SAID})
    model = ScriptedProvider([call("update_form", taken)], say("I've recorded the hand."))
    assert "Nothing was saved" not in talker.tell(model, SAID).content
