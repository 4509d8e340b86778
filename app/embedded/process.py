"""Starting programs that end when we do, as whichever user they have to run as."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Account:
    """Another user of the operating system, for root to run the services as."""

    name: str
    uid: int
    gid: int


def spawn(
    command: Sequence[str],
    *,
    account: Account | None = None,
    death_signal: signal.Signals,
    output: int | IO[bytes],
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    keep_open: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a program in a process group of its own, out of reach of the terminal's Ctrl-C.

    It is sent `death_signal` when this process dies, even by kill -9 (on Linux; elsewhere
    the next start ends what was left over). Call it from the main thread: the kernel
    counts the end of the calling thread as the parent's.
    """
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        cwd=folder or "/",
        env=environment,
        pass_fds=keep_open,
        start_new_session=True,
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
        preexec_fn=_die_with_parent(death_signal),
    )


def _die_with_parent(death_signal: signal.Signals) -> Callable[[], None] | None:
    """What a child does between fork and exec; after the change of user, which resets it."""
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def ask_the_kernel() -> None:
        prctl(PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return ask_the_kernel


def run_as(
    account: Account | None,
    command: Sequence[str],
    *,
    feed: str = "",
    environment: Mapping[str, str] | None = None,
    timeout: float = 120,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end as `account`, with its output collected.

    Raises:
        OSError: it cannot be started.
        subprocess.TimeoutExpired: it took longer than `timeout` seconds.
    """
    return subprocess.run(
        command,
        input=feed,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        cwd="/",
        env=environment,
        timeout=timeout,
        check=False,
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
    )


def succeeds(command: Sequence[str], account: Account | None) -> bool:
    """Whether `command` ends well when `account` runs it."""
    try:
        return run_as(account, command, timeout=20).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
