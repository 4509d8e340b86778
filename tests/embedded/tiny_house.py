"""A supervisor like `python -m app.embedded`, with small programs instead of the app's."""

from __future__ import annotations

import sys
from dataclasses import replace

from app.config import load_settings
from app.embedded.child import PROGRAMS, SETUP, Program, python_module
from app.embedded.supervisor import Supervisor
from app.errors import ConfigurationError


def tiny(program: Program) -> Program:
    command = python_module("tests.embedded.tiny_program", program.name)
    return replace(program, command=command)


def main() -> int:
    try:
        programs = [tiny(program) for program in PROGRAMS]
        return Supervisor(load_settings(), programs, setup=tiny(SETUP)).run()
    except ConfigurationError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
