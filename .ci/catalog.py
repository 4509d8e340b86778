"""Checks the catalogs: every text of the code and the templates stands in every language.

Prints what is missing, untranslated, doubtful or has other placeholders than its source,
and ends with 1 when there is any.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

ROOT = Path(__file__).resolve().parent.parent
TRANSLATIONS = ROOT / "app" / "translations"
METHODS = [("app/**.py", "python"), ("templates/**.html", "jinja2"), ("templates/**.txt", "jinja2")]
KEYWORDS: dict[str, tuple[int | tuple[int, str], ...] | None] = {
    "_": None,
    "_l": None,
    "gettext": None,
    "lazy_gettext": None,
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
    "N_": None,
    # Errors carry a message id, which is translated where they are shown.
    **dict.fromkeys(
        (
            "ComandaError",
            "InvalidInput",
            "Problem",
            "NotSignedIn",
            "Forbidden",
            "Gone",
            "NotFound",
            "Conflict",
            "TooMany",
            "LimitReached",
            "Unavailable",
        )
    ),
}
PLACEHOLDER = re.compile(r"%\((\w+)\)[sd]")

MessageId = str | tuple[str, ...]
# A message and the context that it has a meaning of its own in, if there is one.
Source = tuple[MessageId, str | None]


def source_messages() -> dict[Source, str]:
    """Every message in the sources, with the place where it stands first."""
    found: dict[Source, str] = {}
    messages = extract_from_dir(str(ROOT), METHODS, keywords=KEYWORDS)
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
    texts = [message.string] if isinstance(message.string, str) else list(message.string)
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


def main() -> int:
    sources = source_messages()
    files = sorted(TRANSLATIONS.glob("*/LC_MESSAGES/*.po"))
    problems = [] if files else [f"{TRANSLATIONS}: there is no catalog"]
    for file in files:
        language = file.parent.parent.name
        with file.open("rb") as stream:
            catalog = read_po(stream, locale=language)
        problems += [f"{language}: {problem}" for problem in problems_of(catalog, sources)]
    print("\n".join(problems) or f"{len(sources)} texts, all translated")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
