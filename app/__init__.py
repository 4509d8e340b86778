"""Comanda: the assistant of a restaurant team."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask

    from app.config import Settings


def create_app(settings: Settings | None = None) -> Flask:
    """Make the app; see app.factory.

    Imported only when called: a server may read `app.config` first, and patch the
    standard library before the database driver is imported.
    """
    # All that is loaded here stays. Looking for garbage in it is a tenth of what a start costs.
    gc.disable()
    try:
        from app.factory import build_app

        return build_app(settings)
    finally:
        gc.enable()
