"""What the logs say, and what they never do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from app.config import Settings
from app.db import Database

WORDS = "my secret words"
# Has the database refuse what somebody wrote, and logs it as the app would.
BREAK_IT = """
import logging, sys, structlog
from sqlalchemy import text
from app.config import load_settings
from app.db import Database
from app.observability.logs import init_logs

def break_it():
    with Database(sys.argv[1]).transaction() as session:
        session.execute(text("SELECT CAST(:words AS integer)"), {"words": sys.argv[2]})

init_logs(load_settings({}))
try:
    try:
        break_it()
    except Exception as error:
        raise RuntimeError(f"could not keep {sys.argv[2]}") from error
except RuntimeError:
    log = {"structlog": structlog.get_logger(), "logging": logging.getLogger("other")}[sys.argv[3]]
    log.exception("it broke")
"""


@pytest.mark.parametrize("through", ["structlog", "logging"])
def test_an_error_is_told_by_kind_and_place_and_never_with_what_was_written(
    settings: Settings, through: str
) -> None:
    command = [sys.executable, "-c", BREAK_IT, str(settings.database_url), WORDS, through]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    line = json.loads(said)
    assert (line["event"], line["level"]) == ("it broke", "error")
    assert "RuntimeError" in line["exception"]
    assert "DataError (SQLSTATE 22P02)" in line["exception"]
    assert "in break_it" in line["exception"]
    assert WORDS not in said


def test_the_database_names_no_parameters(database: Database) -> None:
    with database.transaction() as session, pytest.raises(DBAPIError) as raised:
        session.execute(text("SELECT :words, 1/0"), {"words": WORDS})
    assert WORDS not in str(raised.value)


def test_the_jobs_start_without_a_warning_about_where_they_are_made(
    settings: Settings, tmp_path: Path
) -> None:
    names = {name.upper() for name in Settings.model_fields}
    environment = {name: value for name, value in os.environ.items() if name not in names}
    given = {
        "COMANDA_DATA": str(settings.comanda_data),
        "DATABASE_URL": settings.database_url or "",
        "MIGRATION_DATABASE_URL": settings.migration_database_url or "",
        "REDIS_URL": settings.redis_url or "",
        "SECRET_KEY": settings.secret_key or "",
    }
    log = tmp_path / "jobs.log"
    with log.open("wb") as output:
        command = [sys.executable, "-m", "app.jobs"]
        jobs = subprocess.Popen(command, env={**environment, **given}, stderr=output)
    try:
        deadline = time.monotonic() + 60
        while "jobs ready" not in log.read_text("utf-8"):
            assert jobs.poll() is None, log.read_text("utf-8")
            assert time.monotonic() < deadline
            time.sleep(0.1)
    finally:
        jobs.terminate()
        jobs.wait(timeout=60)
    assert "main Python module" not in log.read_text("utf-8")
