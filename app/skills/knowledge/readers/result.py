"""What reading a file gives, in plain values that travel between processes as JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

# What is being done, as `on_progress` says it: `done` of `total` pages, files or rows.
STEPS = ("opening", "reading", "sorting")
OnProgress = Callable[[str, int, int], None]

MEGABYTE = 1024 * 1024
# Counted up whenever a file would be read otherwise than before: what an earlier reader made
# of it is then not used again.
READER = 5


@dataclass(frozen=True)
class Limits:
    """How much of everything one file may have or cost."""

    file_bytes: int = 50 * MEGABYTE
    unpacked_bytes: int = 300 * MEGABYTE
    files: int = 5_000
    sections: int = 20_000
    words: int = 2_000_000
    rows: int = 20_000
    # Ingredients and steps of all rows: whoever plans the import holds all of them.
    items: int = 200_000
    memory_bytes: int = 1536 * MEGABYTE
    cpu_seconds: int = 180
    wall_seconds: float = 300.0


LIMITS = Limits()


@dataclass(frozen=True)
class FileProblem:
    """What is wrong, and where: "page 3", "row 12", a file's name, or "" for the whole file.

    `problem_text` puts it into words; after a fatal one nothing of the file is used.
    """

    place: str
    code: str
    detail: str = ""
    is_fatal: bool = False


@dataclass
class ReadSection:
    """A heading and the Markdown under it; `parent` is its parent's place in the document.

    A named section's slug stands in the file itself, so that it outlives a changed title.
    """

    slug: str
    title: str
    level: int
    parent: int | None = None
    body: str = ""
    is_named: bool = False


@dataclass
class ReadDocument:
    """A chapter: its first section is the root of all others.

    `source` is the file's name without its ending and its language, equal in both; `kind` is
    what the file says that it is, if it does. Where it `keeps_names`, sections are called
    what the file calls them, whoever else has one of that name.
    """

    source: str
    sections: list[ReadSection] = field(default_factory=list)
    kind: str = ""
    keeps_names: bool = False


@dataclass
class ReadRow:
    """One line of a menu as a product's values; it is usable when it has no problems.

    What the file does not say is absent from `values`; `price` is a decimal as text.
    `borrowed` are the values that the file has in its own language only, put in the other
    one's place: they are for what is new, and must not overwrite a translation. A row that
    `is_coded` says by a code which product it is, any other by its name.
    """

    line: int
    values: dict[str, Any] = field(default_factory=dict)
    borrowed: list[str] = field(default_factory=list)
    problems: list[FileProblem] = field(default_factory=list)
    is_coded: bool = False


@dataclass
class Reading:
    """Documents or rows, what is wrong with them, how much was read, and by which reader."""

    documents: list[ReadDocument] = field(default_factory=list)
    rows: list[ReadRow] = field(default_factory=list)
    problems: list[FileProblem] = field(default_factory=list)
    facts: dict[str, int] = field(default_factory=dict)
    reader: int = READER

    @property
    def is_usable(self) -> bool:
        return not any(problem.is_fatal for problem in self.problems)

    @classmethod
    def failed(cls, code: str, detail: str = "", place: str = "") -> Reading:
        """The reading of a file that cannot be used, for one reason."""
        return cls(problems=[FileProblem(place, code, detail, is_fatal=True)])

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Reading:
        """The reading that `to_json` was made from."""
        documents = [
            ReadDocument(
                each["source"],
                [ReadSection(**section) for section in each["sections"]],
                each.get("kind", ""),
                each.get("keeps_names", False),
            )
            for each in values["documents"]
        ]
        rows = [
            ReadRow(**{**each, "problems": _problems(each["problems"])}) for each in values["rows"]
        ]
        problems = _problems(values["problems"])
        return cls(documents, rows, problems, values["facts"], values.get("reader", 0))


def _problems(values: list[dict[str, Any]]) -> list[FileProblem]:
    return [FileProblem(**each) for each in values]


class Unreadable(Exception):
    """The file cannot be used at all; carries the problem that says why."""

    def __init__(self, code: str, detail: str = "", place: str = "") -> None:
        super().__init__(code)
        self.problem = FileProblem(place, code, detail, is_fatal=True)
