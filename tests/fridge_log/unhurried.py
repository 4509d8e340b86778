"""The same without limits of how often, for tests in which a person is as fast as a machine."""

from __future__ import annotations

from app.extensions import limiter
from tests.fridge_log.wsgi import app

limiter.enabled = False

__all__ = ["app"]
