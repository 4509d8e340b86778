"""Phone numbers: read as people write them, and stored as links dial them.

What is stored is the number as RFC 3966 has it, "+12105550123" or "+12105550123;ext=45": it stands
behind "tel:" in a link, and `parse_phone` reads it again.
"""

from __future__ import annotations

import re
from pathlib import Path

import phonenumbers
from phonenumbers import PhoneNumber, PhoneNumberFormat

from app.text.yaml_file import read_yaml

LONGEST_EXTENSION = 9
_WORDS = read_yaml(Path(__file__).with_name("phones.yaml"))
EXTENSION_WORDS = f"(?:{'|'.join(_WORDS['extension'])})"
# Digits, and the signs that group them.
_NUMBER = re.compile(r"[\s(（\[]*[+＋]?[\s\d()（）\[\]./\-‐-―−－]*")
_EXTENSION = re.compile(
    rf"[\s,;(]*(?:{EXTENSION_WORDS}|[x#])[.:=#]*\s*(?P<digits>\d+)[\s.)]*", re.IGNORECASE
)


def read_region(text: str | None) -> str:
    """The country that a page says its numbers are of, by its code; empty for none there is."""
    return text if text in phonenumbers.SUPPORTED_REGIONS else ""


def parse_phone(text: str, region: str) -> PhoneNumber | None:
    """A phone number with its area code, of `region` where it names no country; else None.

    Beside digits and the signs that group them there may be an extension, of any length. Any
    other word makes it none: the library passes over words, and what is filed would lack them.
    """
    match = _NUMBER.match(text)
    end = match.end() if match else 0
    extension = _EXTENSION.fullmatch(text, end)
    if end < len(text) and extension is None:
        return None
    try:
        number = phonenumbers.parse(text[:end], region)
    except phonenumbers.NumberParseException:
        return None
    # What can be dialled only within its area would be filed as if from everywhere.
    possible = phonenumbers.is_possible_number_with_reason(number)
    if possible != phonenumbers.ValidationResult.IS_POSSIBLE:
        return None
    if extension:
        number.extension = phonenumbers.normalize_digits_only(extension["digits"])
    return number


def store_phone(number: PhoneNumber) -> str:
    """A phone number as it is stored, with its extension."""
    extension = f";ext={number.extension}" if number.extension else ""
    return str(phonenumbers.format_number(number, PhoneNumberFormat.E164)) + extension
