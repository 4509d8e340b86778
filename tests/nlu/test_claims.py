"""What a language model says that it has done."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from flask import Flask

from app import demo
from app.assistant.tools.tool import WriteTool
from app.nlu import claims
from app.nlu.claims import claimed_kinds, says_done, says_sent
from app.text.yaml_file import read_yaml

UNSEEN = Path(__file__).parent / "unseen" / "claims"
MANUALS = Path(demo.__file__).parent
CLAIMS = {
    "en": [
        "I've added your taxi $14 for today.",
        "I have added the expense.",
        "Done! Your expense has been recorded.",
        "I undid that.",
        "I've deleted taxi $14 of 28 Nov 2026. It can be brought back for 30 days.",
        "I\u2019ve logged it.",
        "I just filed a request for the fryer",
        "I've told the manager about the leak.",
        "Your taxi of $14.50 has been added to your ledger.",
        "I've added your taxi for $14, is there anything else?",
        "I can confirm I've added your taxi $14.",
        "Deleted taxi $14.",
        "Taxi $14 logged.",
        "Expense added!",
        "Once again, I've notified the manager.",
        "I've\n_added_ your expense.",
    ],
    "es": [
        "Agregué taxi $14 de hoy.",
        "Listo, ya registré tu gasto.",
        "Tu gasto quedó registrado.",
        "Ya le avisé al gerente.",
        "Tu solicitud ha sido enviada.",
        "Deshice eso.",
        "El gasto de $12.50 ha sido agregado.",
        "No te preocupes, ya avisé al gerente.",
        "Agregué tu taxi de $14, ¿algo más?",
    ],
}
NO_CLAIMS = {
    "en": [
        "I've added more salt to the sauce.",
        "Have I added the expense?",
        "Once I've added your expense, you can see it.",
        "I can add that expense: how much was it?",
        "The manager must be told.",
        "You have added $5 today.",
        "I have not added any expense.",
        "The fryer is cleaned and the oil changed.",
        "Have I added your taxi for $14, or not?",
        "When it has been filed, you get a number.",
        "It has not been filed.",
        "It must be logged.",
        "I've put the steps in order.",
        "I've added the link to the form below.",
    ],
    "es": [
        "¿Quieres que registre el gasto?",
        "Agregué más sal.",
        "Registra la temperatura.",
        "Una vez que he agregado el gasto, lo ves.",
        "El gasto no se ha agregado.",
        "Avisa al gerente.",
        "Debe ser registrado.",
    ],
}


@pytest.mark.parametrize("language", CLAIMS)
def test_what_a_writer_says_to_have_done_is_a_claim(language: str) -> None:
    assert [said for said in CLAIMS[language] if not claimed_kinds(said, language)] == []


@pytest.mark.parametrize("language", NO_CLAIMS)
def test_what_is_asked_wished_or_cooked_is_none(language: str) -> None:
    assert [said for said in NO_CLAIMS[language] if claimed_kinds(said, language)] == []


def test_a_claim_is_found_wherever_it_stands() -> None:
    said = "Taxis are paid back.\n\nI've logged yours. Anything else?"
    assert claimed_kinds(said, "en") == {"noted"}


@pytest.mark.parametrize(
    ("language", "said", "kinds"),
    [
        ("en", "I've recorded that it is by the bar.", {"noted"}),
        ("en", "I've added the code to your request.", {"noted"}),
        ("en", "I've filed your request and told the manager.", {"filed", "told"}),
        ("en", "Your expense has been deleted.", {"deleted", "expense"}),
        ("en", "I've logged your taxi $12.", {"noted", "expense"}),
        ("en", "I've recorded $12 for the cab.", {"noted", "expense"}),
        ("es", "Anoté el taxi de $12 en los gastos.", {"noted", "expense"}),
        ("en", "I've cancelled the request.", {"cancelled"}),
        ("es", "Anoté que está junto a la barra.", {"noted"}),
        ("es", "Envié tu solicitud y le avisé al gerente.", {"filed", "told"}),
        ("es", "Deshice eso.", {"taken_back"}),
        ("en", "I've filed your request and called the repair company.", {"filed", "arranged"}),
        ("en", "I've cancelled your reservation.", {"arranged"}),
        ("en", "I've created a reminder for 6 pm.", {"arranged"}),
        ("es", "Ya cancelé tu reservación.", {"arranged"}),
    ],
)
def test_what_is_claimed_is_told_by_kind(language: str, said: str, kinds: set[str]) -> None:
    assert claimed_kinds(said, language) == kinds


def test_tools_make_true_what_is_listed_in_each_language_and_each_that_writes_something(
    app: Flask,
) -> None:
    listed = read_yaml(Path(claims.__file__).with_suffix(".yaml"))
    kinds = set(listed["en"]["kinds"])
    subjects = set(listed["en"]["subjects"])
    assert (set(listed["es"]["kinds"]), set(listed["es"]["subjects"])) == (kinds, subjects)
    tools = app.extensions["comanda"].registry.tools.values()
    assert [tool.name for tool in tools if not set(tool.makes_true) <= kinds | subjects] == []
    writing = [tool for tool in tools if isinstance(tool, WriteTool)]
    assert [tool.name for tool in writing if not tool.makes_true] == []


def flagged(text: str, *, has_looked_up: bool = False) -> bool:
    """Whether a reply in which nothing was done is denied."""
    return bool(
        says_done(text, has_looked_up=has_looked_up)
        or any(claimed_kinds(text, language) for language in CLAIMS)
    )


@pytest.mark.parametrize("path", sorted(UNSEEN.glob("*.jsonl")), ids=lambda path: path.stem)
def test_what_writers_claim_of_whom_nothing_was_learned(path: Path) -> None:
    """Of all six together 92 % of what is claimed was found when it was made, and 3 % of the rest.

    Two of them write of approvals, payments, photos and papers handed in: 86 % and 2 %.
    """
    told = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    claims = [each["text"] for each in told if each["is_claim"]]
    others = [each["text"] for each in told if not each["is_claim"]]
    assert len(claims) >= 60 and len(others) >= 60
    assert sum(map(flagged, claims)) >= 0.75 * len(claims)
    assert sum(map(flagged, others)) <= 0.1 * len(others)


def test_what_is_told_of_a_manual_is_hardly_ever_taken_for_a_claim() -> None:
    sections = [
        section
        for path in sorted(MANUALS.glob("*/manual/**/*.md"))
        for section in re.split(r"\n(?=#)", path.read_text("utf-8"))
        if len(section) > 80
    ]
    assert len(sections) > 200
    taken = [each for each in sections if says_done(each, has_looked_up=True)]
    assert len(taken) <= 0.02 * len(sections)


@pytest.mark.parametrize(
    "said",
    [
        "I changed the priority to urgent.",
        "It's done: your request is in the queue.",
        "Marcus knows about it now.",
        "I've deleted your taxi.",
        "Deleted.",
        "Cambié la prioridad a urgente.",
        "Ya lo borré.",
        "He borrado el taxi.",
        "Sure.\n\n**Your taxi of $12 is in the books now.**",
        "Sure.\n\n**Done.** I took the lunch off the list.",
        "Sure.\n\n*Corregí el monto a $15.*",
        "Sure.\n\n- I've put the taxi in for you.",
        "Sure.\n\n1. The taxi has been added to your expenses.",
        "I've added your taxi $14 for today ✅ Anything else?",
        "I've filed your request and told the manager\nAnything else?",
        "Ya le avisé al gerente - Algo más?",
        "I logged the taxi (is there anything else?",
    ],
)
def test_a_claim_is_one_whatever_it_is_about(said: str) -> None:
    assert says_done(said, has_looked_up=False)


@pytest.mark.parametrize(
    "said",
    ["", "?", "- \n- \n", "Anything else?", "¿Lo agrego?", "Shall I file it, or not?"],
)
def test_what_says_nothing_claims_nothing(said: str) -> None:
    assert not says_done(said, has_looked_up=False)


@pytest.mark.parametrize(
    ("said", "is_sent"),
    [
        ("Your request is in the queue now.", True),
        ("I put your request through to maintenance.", True),
        ("I filled in the form and handed it in for you.", True),
        ("All filled in and sent off.", True),
        ("Lo llené y lo entregué por ti.", True),
        ("Your time off is approved.", True),
        ("I've noted that it is fryer 2.", False),
        ("I filled in the supplier and the date.", False),
        ("Anoté que es la freidora 2.", False),
        ("When did it start?", False),
    ],
)
def test_what_has_gone_out_is_told_from_what_was_only_kept(said: str, is_sent: bool) -> None:
    assert says_sent(said) is is_sent
