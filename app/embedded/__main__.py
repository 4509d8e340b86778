"""`python -m app.embedded`: what `make run` runs. `--services-only` leaves the web out."""

from __future__ import annotations

import argparse
import sys

from app.config import load_settings
from app.embedded.child import PROGRAMS
from app.embedded.supervisor import Supervisor
from app.errors import ConfigurationError


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m app.embedded", description=__doc__)
    parser.add_argument(
        "--services-only",
        action="store_true",
        help="run Postgres and Redis, migrated, without web, runner and jobs",
    )
    arguments = parser.parse_args()
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a letter is no reason to lose the line.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        settings = load_settings()
        return Supervisor(settings, () if arguments.services_only else PROGRAMS).run()
    except ConfigurationError as error:
        print(error, file=sys.stderr)
    except OSError as error:
        print(f"Comanda cannot start: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        return 130
    return 1


if __name__ == "__main__":
    sys.exit(main())
