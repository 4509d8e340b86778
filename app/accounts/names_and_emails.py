"""Names and addresses as they are kept."""

from __future__ import annotations

from email_validator import EmailNotValidError, validate_email

from app.errors import InvalidInput
from app.text.plain_text import clean_line, compose, printable

LONGEST_NAME = 80
# More than an address or a name has, whatever is in it that is not kept.
LONGEST_READ = 2_000


def fold_email(raw: str) -> str:
    """The form in which addresses are kept and looked up; of anything, valid or not.

    Of what is far too long for an address nothing is left, and nobody waits for it to be read.
    """
    if len(raw) > LONGEST_READ:
        return ""
    return "".join(compose(printable(raw)).split()).lower()


def clean_email(raw: str, *, field: str = "email") -> str:
    """A new address, checked for its form (nothing is asked of the network).

    Raises:
        InvalidInput: it is not an address; `field` is the culprit.
    """
    try:
        checked = validate_email(fold_email(raw), check_deliverability=False)
    except EmailNotValidError:
        raise InvalidInput("Enter an email address like name@example.com.", field=field) from None
    if "=?" in checked.normalized:
        # Mail programs would read another address into it.
        raise InvalidInput("Enter an email address like name@example.com.", field=field)
    return checked.normalized.lower()


def clean_name(raw: str, *, field: str = "name") -> str:
    """Somebody's name on one line, without what cannot be seen.

    Raises:
        InvalidInput: nothing is left of it, or it is longer than 80 characters.
    """
    name = clean_line(compose(raw[:LONGEST_READ]))
    if not name:
        raise InvalidInput("Enter a name.", field=field)
    if len(name) > LONGEST_NAME:
        raise InvalidInput("Use at most %(longest)s characters.", field=field, longest=LONGEST_NAME)
    return name
