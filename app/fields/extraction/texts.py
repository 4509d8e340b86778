"""What a sentence names: a guest, a machine, a code, an address, a number, and the account."""

from __future__ import annotations

import re
from typing import Any

import phonenumbers

from app.fields.extraction.extract import Reading, label_words, squeeze
from app.fields.extraction.lexicon import lexicon
from app.fields.extraction.sentence import Span
from app.fields.phones import EXTENSION_WORDS, store_phone
from app.text.normalize import words
from app.text.stop_words import STOP_WORDS

_NAME = r"[A-ZÁÉÍÓÚÑ][\w'-]+(?:\s+(?:(?:de|del|la|las|los|van|von)\s+)*[A-ZÁÉÍÓÚÑ][\w'-]+){0,3}"
_CALLED = re.compile(
    r"\b(?i:named|name is|name was|name's|(?:se )?llamad[oa]|se llama(?:ba)?|nombre es|de nombre"
    rf"|mr\.?|mrs\.?|ms\.?|miss|sr\.|sra\.|srta\.|señora?|señorita)\s+(?P<name>{_NAME})"
)
_GUEST = re.compile(rf"\b(?i:guest|customer|client[ea]|comensal|huésped),?\s+(?P<name>{_NAME})")
_CODE = re.compile(
    r"\s*(?:is|was|es|era|:|=|#|no\.|number|numero)*\s*(?P<code>[a-z0-9][\w./-]*\d[\w./-]*)"
)
_CODE_WORDS = frozenset("number code serial numero codigo serie invoice factura".split())
_GUEST_WORDS = frozenset("guest customer cliente clienta huesped comensal".split())
_NAME_WORDS = frozenset("name nombre".split())
_MACHINE_WORDS = frozenset("equipment machine tool appliance equipo maquina herramienta".split())
_USED = re.compile(
    r"\b(?:on|with|using|by|from|in|against|con|en|contra|del|al|usando)"
    r"(?: (?:the|a|an|our|his|her|el|la|los|las|un|una|su))?$"
)
_BESIDE = re.compile(
    r"\b(?:near|behind|beside|next to|by|under|above|junto a|junto al|cerca de|cerca del"
    r"|detras de|detras del|al lado de|al lado del)(?: (?:the|el|la|los|las))?$"
)
_ACCOUNT_WORDS = frozenset(
    "happened describe description details account paso descripcion detalles relato".split()
)
_A_WISH = (
    r"(?:(?:i|we)(?:'d| would)? (?:need|want|like|have) to|can you|can i|help me|let me"
    r"|necesito|quiero|quisiera|tengo que|me ayudas a|ayudame a)?\s*"
    r"(?:fill(?: ?out| in)?|complete|file|document|submit|make|start|open|do|(?:re)?llen(?:ar?|ame)"
    r"|complet(?:ar?|ame)|hacer|haz(?:me)?|document(?:ar?|ame)|present(?:ar?|ame)|registr(?:ar?|ame)"
    r"|levant(?:ar?|ame)|abr(?:ir|e|eme))\s+(?:an?|the|un|una|el|la)?\s*"
    r"(?:[\w-]+\s+){0,3}?(?:report|form|incident|complaint|log|write-up|reporte|formulario"
    r"|incidente|queja|registro|reclamo|amonestacion)\b"
    r"(?:\s+(?:de|of|for|about|sobre|por)\s+(?:an?\s+|una?\s+)?(?:lesion|injury|incidente|queja))?"
)
_ASKED = re.compile(
    rf"^\W*(?:(?:hi|hello|hey|hola|please|por favor)\W+)?{_A_WISH}(?:\s+“[^”]*”)?(?P<end>\W*)"
    # What a chip to a form says before the words that it repeats.
    r"|^fill out “[^”]*”(?P<colon>: )"
)
_ASKED_LAST = re.compile(rf"[.,;:]\s*(?:please |por favor )?{_A_WISH}(?: please| por favor)?\W*$")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
# An extension as people say it, where the library knows only how it is written.
_EXTENSION = re.compile(
    rf"[\s,(]+(?:(?:and|with|y|con|the|la|su|its)\s+)*(?:{EXTENSION_WORDS}|x)\b[.:#]?"
    r"(?:\s+(?:number|numero|no\.|is|es|#))*\s*(?P<digits>\d+)\b\)?"
)
# These say something else too: "anexo 2 fotos", "#4 table broke", "x2 today".
_UNSURE = re.compile(r"[\s,;(]*\b(?:anexo|int|x)[.:#]?\s*\d+\s*\)?$|[\s,;(]*#\s*\d+\s*\)?$")
_NEXT_WORD = re.compile(r"\s+(?P<word>[^\W\d_]+)")
_STREET = re.compile(
    r"(?P<line1>\d{1,6}\s+(?:[NSEW]\.?\s+)?(?:[A-Z0-9][\w'.-]*\s+){1,4}"
    r"(?:St|Street|Ave|Avenue|Rd|Road|Blvd|Boulevard|Dr|Drive|Ln|Lane|Way|Ct|Court|Pl|Place|Hwy"
    r"|Highway|Pkwy|Parkway|Loop|Trail|Trl|Cir|Circle)\b\.?"
    r"|(?:Calle|Avenida|Av\.|Calzada|Bulevar)\s+[A-Z0-9][\w .'-]*?\s+(?:#|No\. ?)?\d{1,6})"
    r"(?:,?\s+(?P<line2>(?:Apt|Suite|Ste|Unit|Depto|#)\.?\s*[\w-]+))?"
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
                if _has_label(field, _GUEST_WORDS) and _has_label(field, _NAME_WORDS):
                    reading.add(field.name, squeeze(match["name"]), 0.85, span)
                    break


def fill_codes(reading: Reading) -> None:
    """Numbers of reports, machines and invoices: a code right after words of the label."""
    for field in reading.open("text"):
        if not _has_label(field, _CODE_WORDS):
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
        for pair in [*pairs, *([word] for word in label if word not in ("number", "numero"))]:
            between = r"[\s-]+(?:(?:de|of|the|la|del)\s+)?"
            pattern = rf"\b{between.join(map(re.escape, pair))}\b"
            found += [
                (m.end() - m.start(), m.end()) for m in reading.said.find(re.compile(pattern))
            ]
    return [end for _, end in sorted(found, reverse=True)]


def fill_machines(reading: Reading) -> None:
    """A tool or machine by its name; of several the one that was used, else none of them."""
    said = reading.said
    for field in reading.open("text"):
        if not _has_label(field, _MACHINE_WORDS) or _has_label(field, _CODE_WORDS):
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
        if _has_label(field, _ACCOUNT_WORDS):
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
