"""Checks the catalogs: every text of the code and the templates stands in every language.

Prints what is missing, untranslated, doubtful or has other placeholders than its source,
and ends with 1 when there is any. With `--write` (`make texts`) it first brings the catalogs in
step with the sources: new texts are added without a translation, what nobody says any more goes,
and all stand in one order, so that writing twice changes nothing. What it prints then is left to
be translated, and it ends with 0.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parent.parent
TRANSLATIONS = ROOT / "app" / "translations"
METHODS = [("app/**.py", "python"), ("templates/**.html", "jinja2"), ("templates/**.txt", "jinja2")]
MARKERS: dict[str, tuple[int | tuple[int, str], ...] | None] = {
    "_": None,
    "_l": None,
    "gettext": None,
    "lazy_gettext": None,
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
    "N_": None,
    "Problem": None,
}
# What all errors of the application are made from, and where the kinds that others share stand.
BASE, SHARED = "ComandaError", ROOT / "app" / "errors.py"
# Of a line in a catalog.
WIDTH = 100
PLACEHOLDER = re.compile(r"%\((\w+)\)[sd]")

MessageId = str | tuple[str, ...]
# A message and the context that it has a meaning of its own in, if there is one.
Source = tuple[MessageId, str | None]


def error_kinds() -> set[str]:
    """The errors that are given their message where they are raised.

    It is a message id, which is translated where the error is shown. Those that put a message
    together themselves are left out, and what is made from them.
    """
    bases: dict[str, set[str]] = {}
    for file in sorted((ROOT / "app").rglob("*.py")):
        for kind in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(kind, ast.ClassDef) and (file == SHARED or not makes_its_message(kind)):
                bases.setdefault(kind.name, set()).update(map(name_of, kind.bases))
    found, before = {BASE}, set[str]()
    while found != before:
        before = set(found)
        found |= {kind for kind, those in bases.items() if those & found}
    return found


def makes_its_message(kind: ast.ClassDef) -> bool:
    return any(isinstance(each, ast.FunctionDef) and each.name == "__init__" for each in kind.body)


def name_of(base: ast.expr) -> str:
    return base.attr if isinstance(base, ast.Attribute) else ast.unparse(base)


def source_messages() -> dict[Source, str]:
    """Every message in the sources, with the place where it stands first."""
    found: dict[Source, str] = {}
    keywords = MARKERS | dict.fromkeys(error_kinds())
    messages = extract_from_dir(str(ROOT), METHODS, keywords=keywords)
    for file, line, message, _, context in messages:
        found.setdefault((message, context), f"{file}:{line}")
    return found


def problems_of(catalog: Catalog, sources: dict[Source, str]) -> list[str]:
    problems = []
    for (message_id, context), place in sources.items():
        first = message_id if isinstance(message_id, str) else message_id[0]
        message = catalog.get(first, context)
        if problem := problem_of(message):
            problems.append(f"{place}: {problem}: {message_id!r}")
    return problems


def problem_of(message: Message | None) -> str | None:
    if message is None:
        return "is missing"
    # One that was added a moment ago has no translation at all.
    string = message.string or ""
    texts = [string] if isinstance(string, str) else list(string)
    if not all(texts):
        return "is not translated"
    if message.fuzzy:
        return "is marked as doubtful"
    ids = [message.id] if isinstance(message.id, str) else list(message.id)
    wanted = set(PLACEHOLDER.findall(ids[-1]))
    if any(set(PLACEHOLDER.findall(text)) - wanted for text in texts):
        return "has placeholders that its source does not have"
    if wanted - set(PLACEHOLDER.findall(texts[-1])):
        return "lacks placeholders of its source"
    return None


def bring_in_step(catalog: Catalog, sources: dict[Source, str]) -> None:
    """Add what is new, and take out what is said nowhere any more."""
    for message in list(catalog):
        first = message.id if isinstance(message.id, str) else tuple(message.id)
        if first and (first, message.context) not in sources:
            catalog.delete(message.id, message.context)
    for message_id, context in sources:
        first = message_id if isinstance(message_id, str) else message_id[0]
        if first and catalog.get(first, context) is None:
            catalog.add(message_id, context=context)


def write(file: Path, catalog: Catalog) -> None:
    with file.open("wb") as stream:
        write_po(
            stream, catalog, width=WIDTH, sort_output=True, no_location=True, ignore_obsolete=True
        )


def main(options: list[str]) -> int:
    sources = source_messages()
    is_written, folders = "--write" in options, [each for each in options if each != "--write"]
    translations = Path(folders[0]) if folders else TRANSLATIONS
    files = sorted(translations.glob("*/LC_MESSAGES/*.po"))
    problems = [] if files else [f"{translations}: there is no catalog"]
    for file in files:
        language = file.parent.parent.name
        with file.open("rb") as stream:
            catalog = read_po(stream, locale=language)
        if is_written:
            bring_in_step(catalog, sources)
            write(file, catalog)
        problems += [f"{language}: {problem}" for problem in problems_of(catalog, sources)]
    print("\n".join(problems) or f"{len(sources)} texts, all translated")
    return int(bool(problems) and not (is_written and files))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
