"""The fields that a sentence names: "name, date, temperature and a photo". Pure."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from app.fields.definitions import MOST_OPTIONS, FormField, read_fields
from app.fields.editor.rows import make_name
from app.skills.forms.services.lexicon import compiled, either
from app.text.normalize import fold, words
from app.text.yaml_file import read_yaml

_FILE = Path(__file__).with_name("field_words.yaml")
_BEFORE = compiled("before_fields")
# What stands in brackets belongs to the field before them: "size (small, large)".
_APART = re.compile(
    rf"(?:\s*[,;\n]\s*(?:{either('joins')}\s+)?|\s+{either('joins')}\s+|\s*&\s*)(?![^()]*\))",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(r"^(?P<label>[^()]+?)\s*\((?P<choices>[^()]+)\)$")
_OR = re.compile(
    rf"\s*[,;/]\s*(?:{either('choice_joins')}\s+)?|\s+{either('choice_joins')}\s+", re.IGNORECASE
)
_ARTICLES = re.compile(rf"^(?:{either('articles')}\s+)+", re.IGNORECASE)
_ASKING = re.compile(
    rf"^(?:{either('polite')}\b,?\s+)*(?:{either('needs')}\b\s*(?:to\s+)?)?"
    rf"(?:{either('makes')}\b\s*(?:me\b|us\b)?\s*)?",
    re.IGNORECASE,
)
_A_FORM = compiled("a_form")
LONGEST_LABEL, MOST_WORDS, MOST_NAMED = 60, 5, 30
# More choices than these are a list to open.
MOST_SHOWN = 5


def take_apart(sentence: str) -> tuple[str, str]:
    """What a form is for, and the list of its fields, as far as the sentence says either."""
    text = " ".join(sentence.split()).strip(" .!?¡¿")
    before = _BEFORE.search(text)
    if before:
        return text[: before.start()], text[before.end() :]
    if len(_APART.split(text)) > 2:
        # Nothing but a list.
        return "", _A_FORM.sub("", _ASKING.sub("", text))
    return text, ""


def fields_named_in(sentence: str, language: str) -> tuple[str, tuple[FormField, ...]]:
    """What the form may be called, and the fields that the sentence names.

    A label is in the language of the sentence; in the other one, too, where it is known.
    """
    title, listed = take_apart(sentence)
    named = [_ARTICLES.sub("", each).strip(" .:") for each in _APART.split(listed)]
    fitting = [each for each in named if each and len(words(_bare(each))) <= MOST_WORDS]
    return _title(title), _fields(fitting[:MOST_NAMED], language)


def _title(text: str) -> str:
    bare = _A_FORM.sub("", _ASKING.sub("", text)).strip(" ,.:")
    return _capital(_ARTICLES.sub("", bare))[:LONGEST_LABEL]


def _fields(labels: list[str], language: str) -> tuple[FormField, ...]:
    stored: list[dict[str, Any]] = []
    taken: set[str] = set()
    for written in labels:
        label = _bare(written)
        known = _known(label)
        name = make_name(known.get("en", label), taken)
        taken.add(name)
        called = [fold(known.get(each, "")) for each in ("en", "es")]
        texts = {each: known[each] if fold(label) in called else "" for each in ("en", "es")}
        texts[language] = _capital(label)[:LONGEST_LABEL]
        field = known.get("field") or {"type": "text"}
        if field["type"] == "text":
            field = _choice(written, language) or field
        stored.append({"name": name, "label": texts, **field})
    return read_fields(stored)


def _bare(written: str) -> str:
    """A field as it is called, without the choices in brackets behind it."""
    return written[: len(written) - len(_choices(written)[1])].strip()


def _choices(written: str) -> tuple[list[str], str]:
    """The choices in brackets behind a field, and the brackets; one alone is no choice."""
    match = _IN_BRACKETS.match(written)
    choices = [each for each in _OR.split(match["choices"].strip()) if each] if match else []
    return (choices, written[match.end("label") :]) if match and len(choices) > 1 else ([], "")


def _choice(written: str, language: str) -> dict[str, Any]:
    """What a field of these choices is; nothing where there are none."""
    taken: set[str] = set()
    options = []
    for each in _choices(written)[0][:MOST_OPTIONS]:
        value = make_name(each, taken)
        taken.add(value)
        options.append({"value": value, "label": {language: _capital(each)[:LONGEST_LABEL]}})
    kind = "radio" if len(options) <= MOST_SHOWN else "select"
    return {"type": kind, "options": options} if options else {}


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _known(label: str) -> dict[str, Any]:
    """What the file says of the last of its words that the label has, else nothing."""
    said = words(label)
    for entry in _entries():
        for phrase in entry["said"]:
            if _has(said, words(phrase)):
                return entry
    return {}


def _has(said: list[str], phrase: list[str]) -> bool:
    plain = [word.removesuffix("s") for word in said]
    wanted = [word.removesuffix("s") for word in phrase]
    return any(plain[n : n + len(wanted)] == wanted for n in range(len(plain)))


@cache
def _entries() -> list[dict[str, Any]]:
    """Words that tell the type of a field, the more particular ones first."""
    entries: list[dict[str, Any]] = read_yaml(_FILE)
    return entries
