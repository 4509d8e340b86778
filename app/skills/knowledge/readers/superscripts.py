"""Raised and lowered text, and fractions, as plain text that joins no letter or digit beside it.

A note's number behind a temperature would make another temperature of it. Readers mark such
text where they find it, and `settle` writes it once all that stands beside it is known.
"""

from __future__ import annotations

import re

# They are no characters, and stand in no text.
RAISED, LOWERED, END = "\ufdd1", "\ufdd2", "\ufdd3"
MARKS = f"{RAISED}{LOWERED}{END}"
_MARKED = re.compile(f"([{RAISED}{LOWERED}])([^{MARKS}]*){END}")
_ALIKE = re.compile(f"(?:{RAISED}[^{MARKS}]*{END}){{2,}}|(?:{LOWERED}[^{MARKS}]*{END}){{2,}}")
_FRACTION = re.compile(
    rf"(?P<above>{RAISED}\s*(?P<upper>\d+)\s*{END})"
    rf"\s?[/⁄∕]\s?(?:{LOWERED}\s*(?P<lower>\d+)\s*{END}|(?<=[⁄∕])(?P<plain>\d+)(?!\w))"
    rf"|{RAISED}\s*(?P<whole>\d+)\s*[/⁄∕]\s*(?P<part>\d+)\s*{END}"
)
_SUPERSCRIPTS = str.maketrans("0123456789+-−=()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾")
_SUBSCRIPTS = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_ORDINAL = re.compile(r"(?:st|nd|rd|th)", re.IGNORECASE)
# Behind these a text stands beside nothing.
_OPENS = "([{¿¡\"'“‘«/|"
_EMPHASIS = "*~`"


def raised(text: str) -> str:
    return f"{RAISED}{text}{END}"


def lowered(text: str) -> str:
    return f"{LOWERED}{text}{END}"


def fraction(above: str, below: str) -> str:
    """The marked text of one number, or expression, over another."""
    above, below = above.strip(), below.strip()
    if above.isdecimal() and below.isdecimal():
        return f"{raised(above)}/{lowered(below)}"
    return f" ({_grouped(above)}/{_grouped(below)}) "


def _grouped(text: str) -> str:
    return text if re.fullmatch(rf"[\w.,{MARKS}]*", text) else f"({text})"


def settle(text: str) -> str:
    """The text without marks: digits become superscripts or subscripts, fractions "1/2".

    What else was raised or lowered stands in brackets where a letter or digit is beside it.
    """
    if not any(mark in text for mark in MARKS):
        return text
    text = _ALIKE.sub(_join, text)
    text = _FRACTION.sub(_write_fraction, text)
    text = _MARKED.sub(_write, text)
    # What is raised within what is raised has the outer marks left.
    return re.sub(f"[{MARKS}]", " ", text)


def _join(found: re.Match[str]) -> str:
    """Neighbours that are raised alike as one: programs write "th" in two pieces."""
    return f"{found[0][0]}{re.sub(f'[{MARKS}]', '', found[0])}{END}"


def _write_fraction(found: re.Match[str]) -> str:
    above = found["upper"] or found["whole"]
    written = f"{above}/{found['lower'] or found['plain'] or found['part']}"
    before, after = _beside(found)
    if before in _EMPHASIS and before:
        # Whether the emphasis ends or begins here, a blank might undo it.
        return f"({written})"
    is_apart = not before or before.isspace() or before in _OPENS
    return f"{'' if is_apart else ' '}{written}{' ' if _joins(after) else ''}"


def _write(found: re.Match[str]) -> str:
    if "\n\n" in found[2]:
        return found[2]  # whole paragraphs, set smaller
    text = found[2].strip()
    before, after = _beside(found)
    if not any(map(str.isalpha, text)) and not re.search(r"\d\.\d|\.\d|/", text):
        signs = _SUPERSCRIPTS if found[1] == RAISED else _SUBSCRIPTS
        return text.translate(signs)
    if before.isdecimal() and _ORDINAL.fullmatch(text):
        return f"{text} " if _joins(after) else text
    is_first = not before or before.isspace() or before in _OPENS
    if is_first and not _joins(after):
        return text
    return f"{'' if is_first else ' '}({text}){' ' if _joins(after) else ''}"


def _beside(found: re.Match[str]) -> tuple[str, str]:
    """The signs right before and behind; "" where there is none."""
    start, end = found.span()
    return found.string[max(0, start - 1) : start], found.string[end : end + 1]


def _joins(sign: str) -> bool:
    """Whether a text that ends right before this sign would run into it."""
    return sign.isalnum() or (sign in MARKS and bool(sign))
