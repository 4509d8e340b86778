"""The embedded services: Postgres with pgvector and Redis, for an installation without any.

`resolve` is the one door for everybody who needs a database: it leaves external
services alone and finds or starts the embedded ones of the data folder.
"""

from __future__ import annotations

import atexit
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from app.embedded.folder import DataFolder, open_folder
from app.embedded.home import Home, find_home
from app.embedded.lease import Lease
from app.embedded.postgres import APP, DATABASE, OWNER, PORT
from app.errors import ConfigurationError

if TYPE_CHECKING:
    from app.config import Settings

_leases: dict[tuple[Path, str], Lease] = {}
_leases_lock = threading.Lock()


def resolve(settings: Settings, *, start: bool = True) -> Settings:
    """Fill in the addresses and the key that the settings leave to the embedded services.

    Services that already run in this data folder are joined, others are started; they stop
    after the last process that uses them. With `start=False` nothing is started, and what
    does not run stays None. External services, named by a setting, are never touched.

    Raises:
        ConfigurationError: the data folder or a service cannot be used; the text says why.
    """
    wanted = embedded_services(settings)
    if not wanted and settings.secret_key:
        return settings
    if not start and not settings.comanda_data.expanduser().exists():
        return settings
    folder = open_folder(settings.comanda_data)
    with ThreadPoolExecutor(len(wanted) or 1) as pool:
        joined = list(pool.map(lambda lease: lease.join(start=start), leases(settings, folder)))
    running = {name for name, is_running in zip(wanted, joined, strict=True) if is_running}
    return settings.model_copy(update=_found(settings, folder, running))


def embedded_services(settings: Settings) -> list[str]:
    """The names of the services that no setting replaces."""
    addresses = {"postgres": settings.database_url, "redis": settings.redis_url}
    return [name for name, address in addresses.items() if address is None]


def leases(settings: Settings, folder: DataFolder) -> list[Lease]:
    """This process's holds on the embedded services, one each, given back when it ends."""
    with _leases_lock:
        if not _leases:
            atexit.register(release)
        return [
            _leases.setdefault((folder.path, name), Lease(folder, name))
            for name in embedded_services(settings)
        ]


def release() -> None:
    """Give back every service this process uses; those nobody else uses have then stopped."""
    with _leases_lock:
        held = list(_leases.values())
        _leases.clear()
    for lease in held:
        lease.release()
    for lease in held:
        lease.wait_for_the_end()


def _found(settings: Settings, folder: DataFolder, running: set[str]) -> dict[str, str]:
    """The settings that the embedded services fill in."""
    try:
        secrets = folder.secrets()
    except OSError as error:
        raise ConfigurationError(
            f"COMANDA_DATA: cannot write to {folder.path}: {error.strerror}"
        ) from None
    found = {} if settings.secret_key else {"secret_key": secrets.flask}
    if not running:
        return found
    home = find_home(folder)
    if "postgres" in running:
        found["database_url"] = postgres_url(home, APP, secrets.app)
        found["migration_database_url"] = postgres_url(home, OWNER, secrets.owner)
    if "redis" in running:
        found["redis_url"] = redis_url(home)
    return found


def postgres_url(home: Home, role: str, password: str, database: str = DATABASE) -> str:
    """The address of a database in the form that SQLAlchemy takes for a socket."""
    folder = quote(str(home.sockets), safe="/")
    return f"postgresql+psycopg://{role}:{password}@/{database}?host={folder}&port={PORT}"


def redis_url(home: Home, database: int = 0) -> str:
    return f"unix://{quote(str(home.sockets), safe='/')}/redis.sock?db={database}"


__all__ = ["postgres_url", "redis_url", "release", "resolve"]
