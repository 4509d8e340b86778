"""Ids that a page is given before anything has them, so that what it begins is begun once.

Such an id can only be made here and only for its person: its last bytes are a keyed hash of the
others and of whom it was made for. What begins something under an id of the browser's checks
that first. So an id that is somebody else's and one that is nobody's get the same answer, and
neither is looked up outside of the person's own: nobody learns which ids there are.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from uuid import UUID, uuid5

from flask import current_app, request
from flask_login import current_user

from app.db import new_id

# Of the 16 bytes: the time and 26 random bits come first, the hash after them.
_HASH_BYTES = 6
_PURPOSE = b"comanda issued id"
_NAMED = b"comanda id of a key"


def issue_id() -> UUID:
    """A new id that the signed-in person may begin something under."""
    return make_issued_id(current_user.user_id, _secret())


def is_issued(id_: UUID) -> bool:
    """Whether it was issued to the signed-in person."""
    return hmac.compare_digest(sign_id(id_, current_user.user_id, _secret()).bytes, id_.bytes)


def id_of_key(key: str) -> UUID:
    """The id of what the signed-in person begins with a key of their own: always the same."""
    said = _NAMED + current_user.user_id.bytes + key.encode("utf-8", "surrogatepass")
    digest = hmac.digest(_secret(), said, hashlib.sha256)
    return sign_id(UUID(bytes=digest[:16], version=4), current_user.user_id, _secret())


def own_id(id_: UUID) -> UUID:
    """What the signed-in person's new row is called where a form names it `id_`.

    Each person has names of their own in each of their groups: one that has been used elsewhere is
    as free as any.
    """
    return uuid5(current_user.user_id, current_user.group_id.bytes.hex() + id_.bytes.hex())


def id_of_posted() -> UUID:
    """What the form of this request begins is called: the same where it is sent twice.

    Forms name a `begun_id`; one that is filled in otherwise begins something else.
    """
    typed = {name: values for name, values in request.form.lists() if name != "csrf_token"}
    try:
        begun = UUID(request.form.get("begun_id", ""))
    except ValueError:
        return new_id()
    return own_id(uuid5(begun, repr(sorted(typed.items()))))


def make_issued_id(owner_id: UUID, secret: bytes) -> UUID:
    """A new id that its owner may begin something under.

    Of two UUIDv7 of one millisecond only the last bytes differ, where the hash stands: the bits
    before it are random here.
    """
    id_ = new_id().bytes
    randomness = bytearray(secrets.token_bytes(4))
    # The version and the variant keep their places.
    randomness[0] = 0x70 | randomness[0] & 0x0F
    randomness[2] = 0x80 | randomness[2] & 0x3F
    return sign_id(UUID(bytes=id_[:6] + bytes(randomness) + id_[10:]), owner_id, secret)


def sign_id(id_: UUID, owner_id: UUID, secret: bytes) -> UUID:
    """The id with its last bytes in place of which its owner's hash stands."""
    start = id_.bytes[:-_HASH_BYTES]
    digest = hmac.digest(secret, _PURPOSE + owner_id.bytes + start, hashlib.sha256)
    return UUID(bytes=start + digest[:_HASH_BYTES])


def _secret() -> bytes:
    secret = current_app.secret_key
    assert secret, "the settings have a key"
    return secret if isinstance(secret, bytes) else secret.encode()
