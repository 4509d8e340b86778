"""How often something may be tried, counted in Redis for all web processes together.

Tries are counted before any work is done, so that many at once cannot slip through, and
a success takes its own count back. Nobody is locked out for longer than a rule's window,
and a device that the account was used on before has a count of its own: somebody who
guesses at a colleague's password elsewhere cannot keep the colleague out.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

import structlog
from flask import current_app
from itsdangerous import BadSignature, URLSafeSerializer
from limits import RateLimitItem, parse_many
from werkzeug.wrappers import Response

from app.errors import TooMany
from app.extensions import client_address, keep_cookie, kept_cookie, limiter
from app.web.shared_counters import ask_counters, seconds_until_anew, wait_in_words

# Failures only, for all the phones behind one restaurant's address.
SIGN_IN_ADDRESS = "30 per minute; 300 per hour"
# At most 96 guesses an hour at one account, and nobody waits longer than five minutes.
SIGN_IN_ACCOUNT = "8 per 5 minutes"
# With the right password: each leaves a row behind, and costs as much as a wrong one.
SIGN_INS = "60 per minute"
REAUTHENTICATION = "8 per 5 minutes"
RESET_ADDRESS = "20 per hour"
RESET_ACCOUNT = "4 per hour"
INVITATIONS = "60 per hour"
LINK_ADDRESS = "30 per minute"

DEVICE_COOKIE = "device"
DEVICE_YEARS = 1
DEVICE_ACCOUNTS = 8

log = structlog.get_logger()


def count_try(rule: str, *who: str, amount: int = 1) -> None:
    """Count one try under `rule`, written like "8 per 5 minutes; 60 per hour"; or look, with 0.

    Raises:
        TooMany: with the seconds until the next try, and the same in words.
    """
    if not limiter.enabled:
        return
    for limit in parse_many(rule):
        if not _hit(limit, who, amount):
            _refuse(limit, who)


def _hit(limit: RateLimitItem, who: tuple[str, ...], amount: int = 1) -> bool:
    """Count, and say whether that was still within the limit."""
    key, seconds = limit.key_for(*who), limit.get_expiry()
    return ask_counters(lambda counters: counters.incr(key, seconds, amount=amount)) <= limit.amount


def _refuse(limit: RateLimitItem, who: tuple[str, ...]) -> None:
    seconds = seconds_until_anew(limit.key_for(*who))
    log.warning("throttled", rule=who[0], seconds=seconds)
    raise TooMany(
        "Too many tries. Try again in %(wait)s.",
        retry_after=seconds,
        wait=wait_in_words(seconds),
    )


def take_back(rule: str, *who: str) -> None:
    """Uncount one try that turned out well."""
    if not limiter.enabled:
        return
    for limit in parse_many(rule):
        _hit(limit, who, amount=-1)


def forget_tries(rule: str, *who: str) -> None:
    """Start counting anew."""
    if not limiter.enabled:
        return
    for limit in parse_many(rule):
        _forget(limit.key_for(*who))


def _forget(key: str) -> None:
    ask_counters(lambda counters: counters.clear(key))


def count_sign_in(email: str) -> None:
    """Count a try to sign in, by address and by account, or raise TooMany.

    Who knows the password is counted by their account alone, whatever the device: nobody else can
    use that up. Nor can a guest behind the restaurant's address use up what its people have there,
    who sign in on devices that they have used before.
    """
    count_try(SIGN_INS, *_signed_in(email), amount=0)
    if not _is_known(email):
        count_try(SIGN_IN_ADDRESS, "sign-in-address", client_address())
    count_try(SIGN_IN_ACCOUNT, "sign-in-account", *_bucket(email))


def sign_in_succeeded(email: str) -> None:
    """It was them: the tries so far count no more, but that they signed in does."""
    if not _is_known(email):
        take_back(SIGN_IN_ADDRESS, "sign-in-address", client_address())
    forget_tries(SIGN_IN_ACCOUNT, "sign-in-account", *_bucket(email))
    for limit in parse_many(SIGN_INS) if limiter.enabled else ():
        _hit(limit, _signed_in(email))


def _signed_in(email: str) -> tuple[str, ...]:
    return "sign-ins", account_key(email)


def remember_device(response: Response, email: str) -> None:
    """Let this browser prove later that the account was used on it before."""
    name, accounts = _device()
    account = account_key(email)
    accounts = [account, *(known for known in accounts if known != account)]
    proof = str(_serializer().dumps([name, accounts[:DEVICE_ACCOUNTS]]))
    keep_cookie(response, DEVICE_COOKIE, proof, timedelta(days=365 * DEVICE_YEARS))


def account_of_device() -> str:
    """What stands for the account that was used on this browser last; empty where none was."""
    _, accounts = _device()
    return accounts[0] if accounts else ""


def account_key(email: str) -> str:
    """What stands for an address in counters and cookies, where it need not be readable."""
    return hashlib.sha256(email.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _bucket(email: str) -> tuple[str, ...]:
    """Whose tries these are: the account's, or those of a device known to the account."""
    account = account_key(email)
    return (account, _device()[0]) if _is_known(email) else (account,)


def _is_known(email: str) -> bool:
    """Whether the account was used on this device before."""
    return account_key(email) in _device()[1]


def _device() -> tuple[str, list[str]]:
    """The name of this browser and the accounts used on it; a new name when it has none."""
    try:
        name, accounts = _serializer().loads(kept_cookie(DEVICE_COOKIE))
    except (BadSignature, ValueError, TypeError):
        return secrets.token_urlsafe(12), []
    return name, accounts


def _serializer() -> URLSafeSerializer:
    return URLSafeSerializer(str(current_app.secret_key), salt="device")
