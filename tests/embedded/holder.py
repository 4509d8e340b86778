"""A process that uses the embedded services, as `flask ask` does, until its input ends.

Prints the resolved settings as JSON, or the sentence why there are none.
"""

from __future__ import annotations

import json
import sys

from app.config import load_settings
from app.embedded import resolve
from app.errors import ConfigurationError


def main() -> int:
    try:
        settings = resolve(load_settings(), start="--find-only" not in sys.argv)
    except ConfigurationError as error:
        print(error, flush=True)
        return 1
    print(json.dumps(settings.model_dump(mode="json")), flush=True)
    sys.stdin.read()
    return 0


if __name__ == "__main__":
    sys.exit(main())
