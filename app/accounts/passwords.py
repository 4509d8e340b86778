"""Passwords: argon2id, away from the event loop, with the same work for nobody as for somebody."""

from __future__ import annotations

import re
import unicodedata

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from app.errors import InvalidInput
from app.jobs.system_threads import RealThreads
from app.text.plain_text import shorten_marks

SHORTEST = 12
# Long enough for any sentence, short enough that nobody can keep a core busy with one.
LONGEST = 256
# Two threads of 19 MiB a process: sign-ins queue here instead of slowing everybody's stream.
_HASHING = RealThreads(2)

# The first choice of the OWASP password storage cheat sheet for argon2id.
_hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)

# What people type when they are told "twelve characters"; compared without case and signs.
_COMMON_TEXT = """
password1234 password12345 password123456 passwordpassword passw0rd1234 mypassword123
changeme1234 changemeplease letmein12345 letmeinletmein welcome12345 welcome123456
welcomewelcome qwertyuiop12 qwertyuiop123 qwertyuiopasdf qwerty123456 qwerty12345678
qwertyqwerty asdfghjkl123 asdfasdfasdf zxcvbnm12345 1q2w3e4r5t6y qazwsxedcrfv 1qaz2wsx3edc
123456789012 1234567890123 12345678901234 123456789123 123123123123 123412341234 121212121212
012345678901 098765432109 112233445566 111222333444 987654321000 147258369147 159753159753
abcdefghijkl abcdefghijklm abcd12345678 abcdef123456 abc123abc123 a1b2c3d4e5f6 aabbccddeeff
administrator administrator1 admin1234567 adminadminadmin superadmin123 rootrootroot
iloveyou1234 iloveyouiloveyou sunshine1234 princess1234 football1234 baseball1234
superman1234 dragon123456 monkey123456 michael12345 trustno1trustno1 starwars1234
contraseña123 contraseña1234 contrasena123 contrasena1234 contraseñacontraseña
micontraseña clave1234567 claveclaveclave hola12345678 holaholahola teamomucho123 tequiero1234
bienvenido123 bienvenidos1 administrador restaurante1 restaurante123 restaurant123
restaurant1234 comanda12345 comanda123456 comandacomanda cocina123456 kitchen12345 estrellita12
"""
COMMON = frozenset(_COMMON_TEXT.split())


def hash_password(password: str) -> str:
    """The argon2id hash of a password, in its usual `$argon2id$…` form."""
    return _HASHING.run(lambda: _hasher.hash(_bytes(password)))


def verify_password(stored: str | None, password: str) -> bool:
    """Is this the password? `stored` is None for an unknown person, which takes as long.

    So does what is longer than a password can be.
    """
    if stored is None or len(password) > LONGEST:
        hash_password(password[:LONGEST])
        return False
    return _HASHING.run(lambda: _matches(stored, password))


def needs_rehash(stored: str) -> bool:
    """True when the hash was made with other parameters than today's."""
    return _hasher.check_needs_rehash(stored)


def check_password(password: str, *own_words: str, field: str = "password") -> None:
    """Refuse a password that is too short, very common, or one of the person's own words.

    No rule asks for digits or signs: length is what helps. `own_words` are the person's
    e-mail and name.

    Raises:
        InvalidInput: with `field` as the culprit.
    """
    if len(password) < SHORTEST:
        raise InvalidInput(
            "Use at least %(shortest)s characters. A few words in a row are easy to remember.",
            field=field,
            shortest=SHORTEST,
        )
    if len(password) > LONGEST:
        raise InvalidInput("Use at most %(longest)s characters.", field=field, longest=LONGEST)
    folded = _fold(password)
    if folded in COMMON or len(set(password.casefold())) < 3:
        raise InvalidInput(
            "That password is one of the first that people would try. Choose another.",
            field=field,
        )
    if folded and folded in _own(own_words):
        raise InvalidInput("Your name or email cannot be your password.", field=field)


def _fold(words: str) -> str:
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", shorten_marks(words)).casefold())


def _own(words: tuple[str, ...]) -> set[str]:
    return {_fold(part) for word in words for part in (word, word.partition("@")[0])}


def _bytes(password: str) -> bytes:
    """The same bytes for the same password, whichever way a keyboard composes its accents."""
    return unicodedata.normalize("NFKC", shorten_marks(password)).encode("utf-8", "surrogatepass")


def _matches(stored: str, password: str) -> bool:
    try:
        return _hasher.verify(stored, _bytes(password))
    except (VerificationError, InvalidHashError):
        return False
