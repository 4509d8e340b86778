"""Service requests: what is broken or needed, told in the chat, filed, and looked after."""

from __future__ import annotations

from app.assistant.registry import Skill
from app.skills.service_requests import queue_views, views

# Importing them hangs their pages on the blueprint.
__all__ = ["SKILL", "queue_views", "views"]

SKILL = Skill(name="service_requests", blueprints=(views.blueprint,))
