"""What is done with a request before anything else looks at it."""

from __future__ import annotations

from collections.abc import Callable

from flask import Flask


def add_first_step(app: Flask, step: Callable[[], None]) -> None:
    """Have `step` done with each request, behind those that were added before.

    `before_request` would be too late: blueprints that let files in ask whose request it is when
    they are told its address, which is before that.
    """
    app.url_value_preprocessor(lambda _endpoint, _values: step())
