"""What makes a password, how it is kept, and how long it takes to be wrong."""

from __future__ import annotations

import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from app.accounts.passwords import (
    COMMON,
    SHORTEST,
    check_password,
    hash_password,
    needs_rehash,
    verify_password,
)
from app.errors import InvalidInput

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.usefixtures("real_passwords")
def test_a_password_is_kept_as_argon2id() -> None:
    kept = hash_password("seven green avocados")
    assert kept.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert verify_password(kept, "seven green avocados")
    assert not verify_password(kept, "seven green avocado")
    assert not needs_rehash(kept)


def test_the_same_password_never_has_the_same_hash() -> None:
    assert hash_password("seven green avocados") != hash_password("seven green avocados")


def test_nobody_has_no_password() -> None:
    assert not verify_password(None, "")
    assert not verify_password(None, "seven green avocados")


@pytest.mark.parametrize("kept", ["", "not a hash", "$argon2id$v=19$m=1$broken"])
def test_a_broken_hash_matches_nothing(kept: str) -> None:
    assert not verify_password(kept, "seven green avocados")


def test_keyboards_may_compose_their_accents_differently() -> None:
    kept = hash_password(unicodedata.normalize("NFC", "contraseña de la abuela"))
    assert verify_password(kept, unicodedata.normalize("NFD", "contraseña de la abuela"))


@pytest.mark.parametrize(
    "password",
    [
        "seven green avocados",
        "lluvia en los techos de lámina",
        "🌮🌮🌶️🥑🌽🍋🧀🧅🥩🍅🧄🌮",
        "!!??--++==//..",
        "x7 x7 x7 x7 x7!",
        " leading and trailing ",
    ],
)
def test_any_long_password_will_do(password: str) -> None:
    check_password(password, "ana@example.com", "Ana Ruiz")


@pytest.mark.parametrize(
    "password",
    [
        "",
        "elevenchars",
        "aaaaaaaaaaaaaaaa",
        "ababababababab",
        "Password-1234",
        "QWERTYUIOP 123",
        "Contraseña 123",
        "anaruizlopez@example.com",
        "Ana Ruiz Lopez",
        "ana.ruiz.lopez",
        "x" * 257,
    ],
)
def test_a_password_that_is_short_common_or_ones_own_name_is_refused(password: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_password(password, "anaruizlopez@example.com", "Ana Ruiz Lopez", field="new")
    assert refused.value.field == "new"


def test_every_listed_password_would_otherwise_pass_and_is_refused() -> None:
    for password in COMMON:
        assert len(password) >= SHORTEST, password
        with pytest.raises(InvalidInput):
            check_password(password)


def test_hashing_leaves_the_event_loop_free() -> None:
    """Under gevent a greenlet that counts must get its turns while passwords are hashed."""
    script = """
from gevent import monkey; monkey.patch_all()
import gevent
from app.accounts.passwords import hash_password, verify_password
kept = hash_password("seven green avocados")
ticks, done = 0, False
def tick():
    global ticks
    while not done:
        ticks += 1
        gevent.sleep(0.001)
gevent.spawn(tick)
jobs = [gevent.spawn(verify_password, kept, "wrong") for _ in range(10)]
gevent.joinall(jobs)
done = True
assert not any(job.value for job in jobs)
assert verify_password(kept, "seven green avocados")
print(ticks)
"""
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) >= 10
