"""Names and addresses as they are kept."""

from __future__ import annotations

import unicodedata

from email_validator import EmailNotValidError, validate_email

from app.errors import InvalidInput

LONGEST_NAME = 80


def fold_email(raw: str) -> str:
    """The form in which addresses are kept and looked up; of anything, valid or not."""
    return "".join(unicodedata.normalize("NFC", _printable(raw)).split()).lower()


def clean_email(raw: str, *, field: str = "email") -> str:
    """A new address, checked for its form (nothing is asked of the network).

    Raises:
        InvalidInput: it is not an address; `field` is the culprit.
    """
    try:
        checked = validate_email(fold_email(raw), check_deliverability=False)
    except EmailNotValidError:
        raise InvalidInput("Write an e-mail like name@example.com.", field=field) from None
    return checked.normalized.lower()


def clean_name(raw: str, *, field: str = "name") -> str:
    """Somebody's name on one line, without control characters.

    Raises:
        InvalidInput: nothing is left of it, or it is longer than 80 characters.
    """
    name = " ".join(_printable(unicodedata.normalize("NFC", raw)).split())
    if not name:
        raise InvalidInput("Write a name.", field=field)
    if len(name) > LONGEST_NAME:
        raise InvalidInput("Use at most %(longest)s characters.", field=field, longest=LONGEST_NAME)
    return name


def _printable(raw: str) -> str:
    """Without control, format and private characters; spaces of any kind stay."""
    return "".join(
        character
        for character in raw
        if character.isspace() or unicodedata.category(character)[0] != "C"
    )
