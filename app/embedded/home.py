"""Where the embedded services live, and as which user of the operating system.

An ordinary user's services run as that user inside the data folder. Root's run as
another user, because Postgres refuses root; when that user cannot reach the data
folder or the binaries (a checkout under /root), both get a private folder elsewhere.
No folder that we did not make is ever opened up.
"""

from __future__ import annotations

import hashlib
import os
import pwd
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from app.embedded.folder import DataFolder
from app.embedded.process import Account, succeeds
from app.errors import ConfigurationError

ELSEWHERE = Path("/var/lib")
# The kernel's limit for a socket's path, and the longest name we put into the folder.
SOCKET_PATH_BYTES = 107
SOCKET_NAME_BYTES = len("/.s.PGSQL.5432")


@dataclass(frozen=True)
class Home:
    """The services' own folder, the folder of their sockets, and who runs them (None: we do)."""

    path: Path
    sockets: Path
    account: Account | None

    def make_folder(self, path: Path) -> Path:
        """Make a folder that only the services' user can enter."""
        path.mkdir(mode=0o700, exist_ok=True)
        self.give(path)
        return path

    def give(self, path: Path) -> None:
        if self.account:
            os.chown(path, self.account.uid, self.account.gid)

    def runnable(self, program: Path) -> bool:
        """True when the services' user can run `program`."""
        return succeeds([str(program), "--version"], self.account)


def find_home(folder: DataFolder) -> Home:
    """Find the services' home, or choose and make it on the first start.

    Raises:
        ConfigurationError: no place can be made, or it belongs to somebody else.
    """
    record = folder.path / "services-home"
    try:
        return _find(folder, record)
    except OSError as error:
        raise ConfigurationError(
            f"COMANDA_DATA: no place for the services: {error.filename}: {error.strerror}"
        ) from None


def _find(folder: DataFolder, record: Path) -> Home:
    with folder.lock("home") as lock:
        lock.take(within=30)
        path = Path(record.read_text()) if record.exists() else folder.path / "services"
        account = _account(path)
        if not path.exists():
            path = _make_home(folder, path, account, record)
        _check_owner(path)
        return Home(path, _socket_folder(path, folder, account), account)


def _account(home: Path) -> Account | None:
    """Whom root runs the services as: their present owner, else postgres, else nobody."""
    if os.geteuid() != 0:
        return None
    data = home / "postgres"
    if data.exists() and (owner := data.stat().st_uid):
        return _entry_to_account(pwd.getpwuid(owner))
    for name in ("postgres", "nobody"):
        try:
            return _entry_to_account(pwd.getpwnam(name))
        except KeyError:
            continue
    raise ConfigurationError(
        "Postgres cannot run as root, and this machine has no user postgres or nobody"
    )


def _entry_to_account(entry: pwd.struct_passwd) -> Account:
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)


def _make_home(folder: DataFolder, path: Path, account: Account | None, record: Path) -> Path:
    if not succeeds(["/bin/sh", "-c", 'cd -- "$1"', "sh", str(folder.path)], account):
        digest = hashlib.sha256(os.fsencode(folder.path)).hexdigest()[:12]
        path = ELSEWHERE / f"comanda-{digest}"
        print(
            f"The user {account.name if account else '?'} cannot reach {folder.path};"
            f" Postgres and Redis keep their data in {path}",
            file=sys.stderr,
        )
        record.write_text(str(path))
    path.mkdir(exist_ok=True)
    # Root's services only pass through here; each has a folder of its own inside.
    path.chmod(0o711 if account else 0o700)
    return path


def _check_owner(path: Path) -> None:
    if os.geteuid() != 0 and path.stat().st_uid != os.geteuid():
        raise ConfigurationError(f"COMANDA_DATA: {path} belongs to another user")


def _socket_folder(home: Path, folder: DataFolder, account: Account | None) -> Path:
    """A private folder whose path works for a socket, the same at every start."""
    inside = home / "run"
    short_enough = len(os.fsencode(inside)) + SOCKET_NAME_BYTES <= SOCKET_PATH_BYTES
    # Postgres and its clients read a path with a comma as a list of two.
    if short_enough and not set(str(inside)) & set(",\"'"):
        chosen = inside
        chosen.mkdir(mode=0o700, exist_ok=True)
    else:
        chosen = _short_folder(folder.path / "sockets-folder", account)
    if account:
        os.chown(chosen, account.uid, account.gid)
    return chosen


def _short_folder(record: Path, account: Account | None) -> Path:
    if record.exists() and _is_private(Path(record.read_text()), account):
        return Path(record.read_text())
    chosen = Path(tempfile.mkdtemp(prefix="comanda-", dir="/tmp"))
    record.write_text(str(chosen))
    return chosen


def _is_private(path: Path, account: Account | None) -> bool:
    """Whether nobody else could have put this folder (or a link) in a shared place."""
    try:
        found = path.lstat()
    except OSError:
        return False
    owner = account.uid if account else os.geteuid()
    return found.st_uid == owner and found.st_mode & 0o170777 == 0o040700


def reachable_binaries(home: Home, base: Path, program: str, parts: list[str]) -> Path:
    """The path of `program` for the services' user: where it is, or in a copy.

    `program` and the `parts` that it needs are paths below `base`. The copy is named after
    its source and its time, so that a new version is copied anew.
    """
    original = base / program
    if home.account is None or home.runnable(original):
        return original
    source = f"{original}-{original.stat().st_mtime_ns}"
    target = home.path / f"binaries-{hashlib.sha256(os.fsencode(source)).hexdigest()[:12]}"
    if not target.exists():
        _copy_parts(base, parts, target)
    copy = target / program
    if not home.runnable(copy):
        raise ConfigurationError(f"The user {home.account.name} cannot run {copy}")
    return copy


def _copy_parts(base: Path, parts: list[str], target: Path) -> None:
    """Copy under another name first, so that half a copy is never used."""
    draft = target.with_suffix(".new")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    for part in parts:
        source, copy = base / part, draft / part
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, symlinks=True)
        else:
            shutil.copy2(source, copy)
    _open_to_others(draft)
    draft.replace(target)


def _open_to_others(copy: Path) -> None:
    """Let everybody read what is in a public package anyway, whatever the umask of root is."""
    for path in [copy, *copy.rglob("*")]:
        if path.is_symlink():
            continue
        mode = path.stat().st_mode
        runnable = 0o111 if path.is_dir() or mode & 0o100 else 0
        path.chmod(mode | 0o444 | runnable)
