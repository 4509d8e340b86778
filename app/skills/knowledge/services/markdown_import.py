"""Markdown files to manual sections, purely; what becomes of them stands in staging.

Each file becomes a section with its headings below it. `{#slug}` after a heading names
the section; the same slug in the other language is the same section. Without one, the
slug is made from the file's name and the heading.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from app.skills.knowledge.models import SECTION_KINDS
from app.text.plain_text import shorten_marks
from app.text.slugs import UsedSlugs

_FRONT_MATTER = re.compile(r"\A---\r?\n(.*?)\r?\n---[ \t]*\r?\n", re.DOTALL)
_SLUG = re.compile(r"\{#([a-z0-9][a-z0-9-]{0,118})\}$")
_FENCE = re.compile(r"^\s*(```|~~~)")
_NAMED_HEADING = re.compile(r"^#{1,6}[ \t].*\{#[a-z0-9-]+\}[ \t]*$", re.MULTILINE)
BLANKS = " \t"
SLUG_LENGTH = 100
# Front matter is a few lines; the parser of it is too slow for more.
LONGEST_MATTER = 20_000
SHORT_WORDS = 700


class ImportProblem(Exception):
    """A file that cannot be imported, and why, in words for the person who chose it.

    `code` and `detail` say the same to a program that has words of its own.
    """

    def __init__(
        self, source: str, reason: str, code: str = "could_not_be_read", detail: str = ""
    ) -> None:
        super().__init__(f"{source}: {reason}")
        self.code = code
        self.detail = detail


@dataclass
class ParsedSection:
    """A heading and the text under it, up to the next heading."""

    slug: str
    title: str
    level: int
    lines: list[str] = field(default_factory=list)
    parent: ParsedSection | None = None

    @property
    def body(self) -> str:
        return "\n".join(self.lines).strip()


@dataclass(frozen=True)
class ParsedDocument:
    source: str
    kind: str
    sections: tuple[ParsedSection, ...]


@dataclass
class ImportReport:
    """What an import did: sections added, changed, left as they were, and taken out.

    `removed` are sections that their document does not have any more in this language.
    """

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0


def read_markdown(path: Path, kind: str = "sop") -> ParsedDocument:
    """Read a file and parse it.

    Raises:
        ImportProblem: it is not UTF-8 text, its front matter is broken, or it is empty.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ImportProblem(path.name, f"cannot be read as UTF-8 text ({error})") from None
    return parse_markdown(text, path.stem, kind)


def parse_markdown(text: str, source: str, kind: str = "sop") -> ParsedDocument:
    """Parse one document; `source` is the file's name without its ending.

    `kind` is what it is where its front matter does not say.
    """
    matter, body = _split_front_matter(text.replace("\r\n", "\n"), source)
    # Pictures do not come along, and their captions alone would answer nothing.
    body = "\n".join(map(_without_images, body.split("\n")))
    chosen = _words(matter.get("kind", kind))
    if "kind" in matter and chosen not in SECTION_KINDS:
        known = ", ".join(SECTION_KINDS)
        reason = f"kind is {chosen!r}; it must be one of {known}"
        raise ImportProblem(source, reason, "bad_front_matter")
    title = _words(matter.get("title") or "").strip()
    sections = list(_sections(body, source, title))
    if _is_short(body):
        sections = [_whole(body, sections[0], title)]
    if len(sections) == 1 and not sections[0].body:
        raise ImportProblem(source, "has no text", "no_sections")
    return ParsedDocument(source, chosen, tuple(sections))


def _is_short(body: str) -> bool:
    """A page of text without named sections is read, cited and shown as one."""
    return not _NAMED_HEADING.search(body) and len(body.split()) <= SHORT_WORDS


def _whole(body: str, root: ParsedSection, title: str) -> ParsedSection:
    lines = body.strip().split("\n")
    starts_with_title = not title and _heading(lines[0])
    return ParsedSection(root.slug, root.title, 0, lines[1:] if starts_with_title else lines)


def _split_front_matter(text: str, source: str) -> tuple[dict[str, Any], str]:
    match = _FRONT_MATTER.match(text)
    if not match:
        return {}, text
    if len(match.group(1)) > LONGEST_MATTER:
        raise ImportProblem(source, "the front matter is too long", "bad_front_matter")
    try:
        matter = yaml.safe_load(match.group(1))
    except yaml.YAMLError as error:
        reason = f"the front matter is not valid YAML ({error})"
        raise ImportProblem(source, reason, "bad_front_matter") from None
    return (matter if isinstance(matter, dict) else {}), text[match.end() :]


def _words(value: Any) -> str:
    """A value of the front matter as text; one that holds others is none."""
    return "" if isinstance(value, dict | list | set | tuple) else str(value)


def _without_images(line: str) -> str:
    """The line without `![caption](address)`, looked through once whatever is left open in it."""
    kept, done, place = [], 0, 0
    while (start := line.find("![", place)) >= 0:
        middle = line.find("]", start + 2)
        end = line.find(")", middle + 2) if middle >= 0 else -1
        if end < 0:
            break
        place = middle + 1
        if line.startswith("(", middle + 1):
            kept.append(line[done:start])
            done = place = end + 1
    return "".join([*kept, line[done:]])


def _heading(line: str) -> tuple[int, str] | None:
    """The level and the words of a heading, without the signs that may close it."""
    marked = line.lstrip("#")
    level = len(line) - len(marked)
    words = marked.strip(BLANKS)
    if not 1 <= level <= 6 or not marked.startswith(tuple(BLANKS)) or not words:
        return None
    return level, words.rstrip("#").rstrip(BLANKS) or words


def _sections(body: str, source: str, title: str) -> Iterator[ParsedSection]:
    """The sections in order, each knowing its parent. A title comes from the front matter,
    from a single first heading of level 1, or from the file's name."""
    root = ParsedSection(slugify(source), title or _name_to_title(source), 0)
    if not title:
        root, body = _take_title(root, body)
    open_sections, fenced, used = [root], False, UsedSlugs([root.slug])
    yield_order = [root]
    for line in body.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        heading = None if fenced else _heading(line)
        if heading is None:
            open_sections[-1].lines.append(line)
            continue
        level, title = heading
        while len(open_sections) > 1 and open_sections[-1].level >= level:
            open_sections.pop()
        parent = open_sections[-1]
        words, slug = _split_slug(title)
        if slug in used:
            reason = f"two sections are called {{#{slug}}}"
            raise ImportProblem(source, reason, "duplicate_slug", slug)
        slug = slug or used.free(slugify(f"{root.slug}-{words}"))
        used.add(slug)
        section = ParsedSection(slug, words, level, parent=parent)
        open_sections.append(section)
        yield_order.append(section)
    yield from yield_order


def _take_title(root: ParsedSection, body: str) -> tuple[ParsedSection, str]:
    lines = body.lstrip("\n").split("\n")
    heading = _heading(lines[0])
    if heading is None or heading[0] != 1:
        return root, body
    words, slug = _split_slug(heading[1])
    return ParsedSection(slug or root.slug, words, 0), "\n".join(lines[1:])


def _split_slug(heading: str) -> tuple[str, str]:
    match = _SLUG.search(heading)
    return (heading[: match.start()].strip(), match.group(1)) if match else (heading.strip(), "")


def _name_to_title(source: str) -> str:
    return re.sub(r"^\d+[-_ ]", "", source).replace("-", " ").replace("_", " ").capitalize()


def slugify(text: str) -> str:
    """Lower-case ASCII words with hyphens between them; never empty."""
    plain = unicodedata.normalize("NFKD", shorten_marks(text)).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")
    return slug[:SLUG_LENGTH].rstrip("-") or "section"
