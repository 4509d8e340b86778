"""`python -m app.jobs`: the process that does what nobody waits for."""

from __future__ import annotations

from app.jobs.tasks import main

main()
