"""Flask's JSON, read within bounds."""

from __future__ import annotations

from typing import Any

from flask.json.provider import DefaultJSONProvider

from app.text.json_text import parse_json

# A history of 200 messages, or a form, has a few hundred.
MOST_VALUES_OF_A_BODY = 10_000


class BoundedJSONProvider(DefaultJSONProvider):
    """Flask's JSON, whose bodies of requests are read within bounds: what is not is 400."""

    sort_keys = False

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        """The value of a request's body.

        Raises:
            ValueError: it is no JSON, nested too deeply, or of more values than anybody sends.
        """
        text = s if isinstance(s, str) else s.decode("utf-8-sig")
        return parse_json(text, most_values=MOST_VALUES_OF_A_BODY)
