"""Service requests: what is broken or needed, told in the chat, filed, and looked after."""

from __future__ import annotations

from app.assistant.registry import Skill
from app.skills.service_requests.settings_views import blueprint as settings
from app.skills.service_requests.team_views import blueprint as teams
from app.skills.service_requests.type_views import blueprint as types

SKILL = Skill(name="service_requests", blueprints=(types, teams, settings))
