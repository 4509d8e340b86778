"""A skill that is taken away costs the others nothing: no skill's data leans on another's."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

import pytest
from flask import Flask

from app.assistant.tools.registry import Skill
from app.assistant.turns.message_evaluation import evaluate
from app.config import Settings
from app.factory import build_app
from app.nlu.evaluation import NO_TOOL, QUESTION, Case, read_cases
from app.skills import SKILLS
from tests.acceptance.asking import SAM

UNSEEN = Path(__file__).parent.parent / "nlu" / "unseen"
# Of the messages of the skills that are left, as many are right as before, but for so much.
MOST_LOST = 0.01


def own_cases(skills: tuple[Skill, ...]) -> list[Case]:
    """The messages of people whom nothing was learned from, that these skills are for or none.

    What another skill may answer just as well, as an emergency, is not theirs alone.
    """
    tools = [tool.name for skill in skills for tool in skill.tools] + [NO_TOOL, QUESTION]
    return [
        case
        for file in sorted(UNSEEN.glob("*.jsonl"))
        for case in read_cases(file)
        if not case.asked
        and all(any(fnmatch(tool, wanted) for tool in tools) for wanted in case.tools)
    ]


def right_ones(app: Flask, cases: list[Case]) -> set[str]:
    with app.app_context():
        return {judged.case.text for judged in evaluate(cases, SAM) if judged.is_right}


@pytest.mark.soak
@pytest.mark.parametrize("removed", SKILLS, ids=lambda skill: skill.name)
def test_without_a_skill_the_others_are_understood_as_before(
    demo: Flask, settings: Settings, removed: Skill
) -> None:
    left = tuple(skill for skill in SKILLS if skill is not removed)
    cases = own_cases(left)
    assert len(cases) > 100
    before = right_ones(demo, cases)
    after = right_ones(build_app(settings, left), cases)
    lost = sorted(before - after)
    assert len(before) - len(after) <= MOST_LOST * len(cases), lost
