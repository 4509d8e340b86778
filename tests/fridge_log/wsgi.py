"""A web server whose house keeps a fridge log: `gunicorn tests.fridge_log.wsgi:app`."""

from __future__ import annotations

from app.factory import build_app
from tests.fridge_log import SKILLS_WITH_LOG

app = build_app(skills=SKILLS_WITH_LOG)
