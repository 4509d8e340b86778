"""Cases of understanding: read from files, judged and counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.nlu.evaluation import Case, Understood, UnreadableCase, judge, read_cases, score_by

SENTENCES = Path(__file__).parents[2] / "app" / "nlu" / "sentences"


def case(text: str = "log 5 for limes", *tools: str, **more: Any) -> Case:
    return Case.model_validate(
        {"text": text, "lang": "en", "class": "expense", "tools": tools or ("log_*",), **more}
    )


def call(tool: str, **arguments: Any) -> Understood:
    return Understood([(tool, arguments)])


def test_lines_are_read_and_empty_ones_are_not(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    line = '{"text": "hola", "lang": "es", "class": "chat", "tools": ["none"], "author": "a"}'
    file.write_text(f"\n{line}\n\n", "utf-8")
    assert read_cases(file) == [
        Case.model_validate(
            {"text": "hola", "lang": "es", "class": "chat", "tools": ("none",), "author": "a"}
        )
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("nonsense", "line 2: "),
        ('{"text": "", "lang": "es", "class": "x", "tools": ["y"]}', "line 2: text: "),
        ('{"text": "x", "lang": "fr", "class": "x", "tools": ["y"]}', "line 2: lang: "),
        ('{"text": "x", "lang": "es", "class": "x", "tools": []}', "line 2: tools: "),
        ('{"text": "x", "lang": "es", "class": "x", "tools": ["y"], "z": 1}', "line 2: z: "),
    ],
)
def test_a_line_that_is_no_case_is_named(tmp_path: Path, line: str, told: str) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text(f"\n{line}\n", "utf-8")
    with pytest.raises(UnreadableCase, match=f"^{told}"):
        read_cases(file)


@pytest.mark.parametrize(
    ("tools", "understood", "outcome", "is_right"),
    [
        (("log_*",), call("log_expense"), "log_expense", True),
        (("log_*",), call("get_balance"), "get_balance", False),
        (("x", "get_balance"), call("get_balance"), "get_balance", True),
        # The first call is what the message was taken for.
        (("log_*",), Understood([("get_balance", {}), ("log_expense", {})]), "get_balance", False),
        (("ask",), Understood(answer="Which one? "), "ask", True),
        (("none",), Understood(answer="Hello."), "none", True),
        (("none",), Understood(answer="Which one?"), "ask", False),
    ],
)
def test_a_case_is_right_when_its_first_outcome_is_one_of_its_tools(
    tools: tuple[str, ...], understood: Understood, outcome: str, is_right: bool
) -> None:
    judged = judge(case("x", *tools), understood)
    assert (judged.outcome, judged.is_right) == (outcome, is_right)


def test_slots_are_right_missing_or_wrong() -> None:
    wanted = case(slots={"amount": 5, "item": "Limes", "date": "2026-11-23", "paid_by": "Ana"})
    judged = judge(wanted, call("log_expense", amount="5.00", item="limes", date="", paid_by="Leo"))
    assert judged.slots == {"right": 2, "missing": 1, "wrong": 1}


def test_the_slots_of_a_wrong_tool_are_missing() -> None:
    judged = judge(case(slots={"amount": 5}), call("get_balance", amount=5))
    assert judged.slots == {"missing": 1}


def test_what_a_question_back_names_was_read() -> None:
    wanted = case("x", "ask", slots={"rows": [{"item": "limes"}, {"item": "ice", "amount": 5}]})
    asked = Understood(answer="How much were “limes from the corner store”?")
    assert judge(wanted, asked).slots == {"right": 1, "missing": 2, "wrong": 0}
    which = Understood(answer="Was “a bag of ice” $5 or $500?")
    assert judge(wanted, which).slots == {"right": 2, "missing": 1, "wrong": 0}


def test_small_words_make_no_other_thing() -> None:
    wanted = case(slots={"item": "gas del horno"})
    for item, judged in (("gas al horno grande", "right"), ("el horno", "right"),
                         ("gas a la parrilla", "wrong"), ("de la", "wrong")):  # fmt: skip
        assert judge(wanted, call("log_expense", item=item)).slots == {judged: 1}, item


def test_scores_are_counted_by_class_language_and_author() -> None:
    cases = [case(author="ana"), case("¿y el vino?", "x", lang="es", author="leo")]
    judged = [judge(each, call("log_expense")) for each in cases]
    assert {name: score.share for name, score in score_by(judged, by="lang").items()} == {
        "all": 0.5, "en": 1.0, "es": 0.0,
    }  # fmt: skip
    assert score_by(judged, by="author")["leo"].confusions == {("expense", "log_expense"): 1}
    assert score_by(judged, by="class")["expense"].cases == 2
    assert score_by([], by="class")["all"].share == 0.0


def test_the_sentences_of_this_project_are_cases_with_their_authors() -> None:
    for file in sorted(SENTENCES.glob("*.jsonl")):
        cases = read_cases(file)
        # But for the few that the developers wrote, each is a person's whole way of speaking.
        assert len(cases) >= (10 if file.stem.endswith("-where") else 120)
        assert {each.author for each in cases} == {file.stem}
        assert all(each.asked for each in cases if each.kind.startswith("control_"))
