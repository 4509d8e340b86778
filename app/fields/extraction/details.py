"""E-mail addresses, phone numbers and postal addresses."""

from __future__ import annotations

import re

import phonenumbers

from app.fields.extraction.extract import Reading
from app.fields.extraction.sentence import Span

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_STREET = re.compile(
    r"(?P<line1>\d{1,6}\s+(?:[NSEW]\.?\s+)?(?:[A-Z0-9][\w'.-]*\s+){1,4}"
    r"(?:St|Street|Ave|Avenue|Rd|Road|Blvd|Boulevard|Dr|Drive|Ln|Lane|Way|Ct|Court|Pl|Place|Hwy"
    r"|Highway|Pkwy|Parkway|Loop|Trail|Trl|Cir|Circle)\b\.?"
    r"|(?:Calle|Avenida|Av\.|Calzada|Bulevar)\s+[A-Z0-9][\w .'-]*?\s+(?:#|No\. ?)?\d{1,6})"
    r"(?:,?\s+(?P<line2>(?:Apt|Suite|Ste|Unit|Depto|#)\.?\s*[\w-]+))?"
    r"(?:,\s*(?P<city>[A-Z][\w'.-]*(?:\s+[A-Z][\w'.-]*){0,3}))?"
    r"(?:,\s*(?P<state>[A-Z]{2})\b)?(?:,?\s+(?P<postal>\d{5}(?:-\d{4})?))?"
)


def fill_details(reading: Reading) -> None:
    """Each address and number into the field of its kind that is named, else the first."""
    _fill_emails(reading)
    _fill_addresses(reading)
    _fill_phones(reading)


def _fill_emails(reading: Reading) -> None:
    for match in _EMAIL.finditer(reading.said.text):
        span = Span(*match.span())
        _give(reading, "email", match[0].rstrip("."), span)


def _fill_phones(reading: Reading) -> None:
    said = reading.said
    for match in phonenumbers.PhoneNumberMatcher(said.text, reading.around.region):
        span = Span(match.start, match.end)
        if said.is_free(span):
            number = phonenumbers.format_number(match.number, phonenumbers.PhoneNumberFormat.E164)
            _give(reading, "phone", number, span)


def _fill_addresses(reading: Reading) -> None:
    for match in _STREET.finditer(reading.said.text):
        parts = {name: part.strip() for name, part in match.groupdict().items() if part}
        _give(reading, "address", parts, Span(*match.span()))


def _give(reading: Reading, type_: str, raw: object, span: Span) -> None:
    """Understood in any case, so that a phone number is never taken for a count."""
    fields = list(reading.open(type_))
    named = [each for each in fields if reading.is_near(each, span)]
    if fields and not reading.said.is_negated(span):
        reading.add((named or fields)[0].name, raw, 0.95, span)
    reading.said.take(span)
