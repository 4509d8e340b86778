"""A runner whose house keeps a fridge log; started as app.assistant.turns.runner is."""

from __future__ import annotations

from app.assistant.turns import runner
from app.factory import build_app
from tests.fridge_log import SKILLS_WITH_LOG

if __name__ == "__main__":
    runner.main(lambda: build_app(skills=SKILLS_WITH_LOG))
