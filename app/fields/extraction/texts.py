"""What a sentence names: a guest, a machine, a code, an address, a number, and the account."""

from __future__ import annotations

import re
from typing import Any

import phonenumbers

from app.fields.extraction.extract import Reading, label_words, squeeze
from app.fields.extraction.lexicon import WORDS, either, lexicon
from app.fields.extraction.sentence import Span
from app.fields.phones import EXTENSION_WORDS, store_phone
from app.text.normalize import words
from app.text.stop_words import STOP_WORDS

_NAME = (
    r"[A-ZÁÉÍÓÚÑ][\w'-]+"
    rf"(?:\s+(?:(?:{either('texts', 'within_names')})\s+)*[A-ZÁÉÍÓÚÑ][\w'-]+){{0,3}}"
)
_CALLED = re.compile(rf"\b(?i:{either('texts', 'called')})\s+(?P<name>{_NAME})")
_GUEST = re.compile(rf"\b(?i:{either('texts', 'guests')}),?\s+(?P<name>{_NAME})")
_CODE = re.compile(
    rf"\s*(?:{either('texts', 'before_codes')})*\s*(?P<code>[a-z0-9][\w./-]*\d[\w./-]*)"
)
# The words of labels, by what they ask for.
_LABELS = {name: frozenset(line.split()) for name, line in WORDS["texts"]["labels"].items()}
_WITHIN_LABELS = rf"[\s-]+(?:(?:{either('texts', 'within_labels')})\s+)?"
_USED = re.compile(rf"\b(?:{either('texts', 'used')})(?: (?:{either('texts', 'used_articles')}))?$")
_BESIDE = re.compile(
    rf"\b(?:{either('texts', 'beside')})(?: (?:{either('texts', 'beside_articles')}))?$"
)
_WISH = {name: either("texts", "wish", name) for name in WORDS["texts"]["wish"]}
_A_WISH = (
    rf"(?:{_WISH['wishes']})?\s*(?:{_WISH['fill']})\s+(?:{_WISH['articles']})?\s*"
    rf"(?:[\w-]+\s+){{0,3}}?(?:{_WISH['forms']})\b"
    rf"(?:\s+(?:{_WISH['of']})\s+(?:an?\s+|una?\s+)?(?:{_WISH['subjects']}))?"
)
_ASKED = re.compile(
    rf"^\W*(?:(?:{_WISH['greetings']})\W+)?{_A_WISH}(?:\s+“[^”]*”)?(?P<end>\W*)"
    # What a chip to a form says before the words that it repeats.
    r"|^fill out “[^”]*”(?P<colon>: )"
)
_ASKED_LAST = re.compile(rf"[.,;:]\s*(?:please |por favor )?{_A_WISH}(?: please| por favor)?\W*$")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
# An extension as people say it, where the library knows only how it is written.
_EXTENSION = re.compile(
    rf"[\s,(]+(?:(?:{either('texts', 'before_extensions')})\s+)*(?:{EXTENSION_WORDS}|x)\b[.:#]?"
    rf"(?:\s+(?:{either('texts', 'before_digits')}))*\s*(?P<digits>\d+)\b\)?"
)
# These say something else too: "anexo 2 fotos", "#4 table broke", "x2 today".
_UNSURE = re.compile(
    rf"[\s,;(]*\b(?:{either('texts', 'unsure_extensions')})[.:#]?\s*\d+\s*\)?$"
    r"|[\s,;(]*#\s*\d+\s*\)?$"
)
_NEXT_WORD = re.compile(r"\s+(?P<word>[^\W\d_]+)")
_STREET = re.compile(
    r"(?P<line1>\d{1,6}\s+(?:[NSEW]\.?\s+)?(?:[A-Z0-9][\w'.-]*\s+){1,4}"
    rf"(?:{either('texts', 'streets')})\b\.?"
    rf"|(?:{either('texts', 'streets_es')})\s+[A-Z0-9][\w .'-]*?\s+(?:#|No\. ?)?\d{{1,6}})"
    rf"(?:,?\s+(?P<line2>(?:{either('texts', 'units')})\.?\s*[\w-]+))?"
    r"(?:,\s*(?P<city>[A-Z][\w'.-]*(?:\s+[A-Z][\w'.-]*){0,3}))?"
    r"(?:,\s*(?P<state>[A-Z]{2})\b)?(?:,?\s+(?P<postal>\d{5}(?:-\d{4})?))?"
)


def _has_label(field: Any, wanted: frozenset[str]) -> bool:
    return bool(wanted & {*words(field.label.en), *words(field.label.es)})


def fill_names(reading: Reading) -> None:
    """The name of a guest, where the form asks for one in free text; others are people's."""
    said = reading.said
    for pattern in (_CALLED, _GUEST):
        for match in pattern.finditer(said.text):
            span = Span(*match.span("name"))
            if not said.is_free(span) or said.is_negated(span):
                continue
            for field in reading.open("text"):
                if _has_label(field, _LABELS["guest"]) and _has_label(field, _LABELS["name"]):
                    reading.add(field.name, squeeze(match["name"]), 0.85, span)
                    break


def fill_codes(reading: Reading) -> None:
    """Numbers of reports, machines and invoices: a code right after words of the label."""
    for field in reading.open("text"):
        if not _has_label(field, _LABELS["code"]):
            continue
        for start in _ends_of_label(reading, field):
            match = _CODE.match(reading.said.folded, start)
            if match and reading.said.is_free(Span(*match.span("code"))):
                span = Span(*match.span("code"))
                reading.add(field.name, squeeze(reading.said.words(span)), 0.9, span)
                break


def _ends_of_label(reading: Reading, field: Any) -> list[int]:
    """Where two words of a label, or its only one, have just been said."""
    found = []
    for text in (field.label.en, field.label.es):
        label = label_words(text)
        pairs = [label[i : i + 2] for i in range(max(len(label) - 1, 1))]
        for pair in [*pairs, *([word] for word in label if word not in _LABELS["number"])]:
            pattern = rf"\b{_WITHIN_LABELS.join(map(re.escape, pair))}\b"
            found += [
                (m.end() - m.start(), m.end()) for m in reading.said.find(re.compile(pattern))
            ]
    return [end for _, end in sorted(found, reverse=True)]


def fill_machines(reading: Reading) -> None:
    """A tool or machine by its name; of several the one that was used, else none of them."""
    said = reading.said
    for field in reading.open("text"):
        if not _has_label(field, _LABELS["machine"]) or _has_label(field, _LABELS["code"]):
            continue
        spans = [Span(*match.span()) for match in said.find(lexicon().equipment)]
        spans = [span for span in spans if not said.is_denied(span)]
        meant = [span for span in spans if not _BESIDE.search(said.before(span, 4))] or spans
        if len({said.folded[span.start : span.end] for span in meant}) > 1:
            meant = [span for span in meant if _USED.search(said.before(span, 2))]
        if len({said.folded[span.start : span.end] for span in meant}) == 1:
            reading.add(field.name, squeeze(said.words(meant[0])), 0.8, meant[0])


def account_of(folded: str) -> int:
    """Where a sentence goes on after it has asked for a form: "I need to fill out a report"."""
    asked = _ASKED.match(folded)
    return asked.end() if asked else 0


def fill_account(reading: Reading) -> None:
    """What happened, in the very words, where somebody tells it and nothing is written yet."""
    if reading.is_correction:
        return
    said = reading.said
    told = said.folded[account_of(said.folded) :]
    told_something = any(
        each.type in _TELLING for each in reading.fields if each.name in reading.found
    )
    if len(words(told)) < (5 if told_something else 9):
        return
    for field in reading.open("textarea"):
        if _has_label(field, _LABELS["account"]):
            whole = _told(said.folded)
            reading.add(field.name, said.words(whole).strip(), 0.7, whole)
            return


def _told(folded: str) -> Span:
    """All that was said but the wish for a form before or after it, where it stands apart."""
    asked, last = _ASKED.match(folded), _ASKED_LAST.search(folded)
    is_apart = asked and re.search(r"[.,;:\n]", asked["end"] or asked["colon"] or "")
    return Span(asked.end() if asked and is_apart else 0, last.start() if last else len(folded))


_TELLING = ("person", "select", "radio", "multi_select")


def fill_details(reading: Reading) -> None:
    """Each e-mail, postal address and phone number into the field of its kind that is named.

    Where none is named, it goes into the first.
    """
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
        span, number = Span(match.start, match.end), match.number
        extension = _EXTENSION.match(said.folded, span.end)
        if extension and not number.extension:
            span, number.extension = Span(span.start, extension.end()), extension["digits"]
        unsure = _UNSURE.search(said.folded, *span) if number.extension else None
        if unsure and _counts(said.folded, span.end):
            span, number.extension = Span(span.start, unsure.start()), None
        if said.is_free(span):
            _give(reading, "phone", store_phone(number), span)


def _counts(folded: str, end: int) -> bool:
    """Whether what ends there says how many of the next word there are: "2 fotos"."""
    following = _NEXT_WORD.match(folded, end)
    return following is not None and following["word"] not in STOP_WORDS


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
