"""Secrets that are handed out once and kept only as their hash, and how long each is good."""

from __future__ import annotations

import hashlib
import secrets

# What a scanner for leaked secrets can recognise in somebody's repository.
API_PREFIX = "comanda_"
# A program's token, unless it is told otherwise; an invitation; a link to set a password.
API_DAYS = 365
INVITATION_DAYS = 7
RESET_MINUTES = 60


def new_token(prefix: str = "") -> str:
    """A secret of 256 random bits, safe in a cookie, a header and an address."""
    return prefix + secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """The SHA-256 of a token in hex: enough, since nobody can try 256 random bits."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
