"""What somebody expects of a reply: which tools, which parts, which words.

A file of questions holds one a line; docs/asking.md describes it to its writers.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from app.assistant.models import Message


class UnreadableLine(ValueError):
    """A line of a file of questions is not one; the text says which and why."""


def _listed(value: Any) -> Any:
    """A single word stands for a list of one, and nothing for none."""
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list | tuple | None):
        raise ValueError("expected a list of words")
    return tuple(value or ())


def _typed(value: str) -> str:
    """Refuse what nobody types and no database keeps, such as a NUL or half a character."""
    if not value.isprintable():
        raise ValueError("has control characters")
    return value


Words = Annotated[tuple[str, ...], BeforeValidator(_listed)]
Name = Annotated[str, AfterValidator(_typed)]


@dataclass(frozen=True)
class Miss:
    """One thing that is not as expected: its kind, and the tool, part or words it is about."""

    kind: str
    what: str

    @property
    def in_words(self) -> str:
        """For the command line, which speaks English."""
        return {
            "tool_missing": f"tool {self.what} did not run",
            "no_tool_expected": f"no tool was expected, but {self.what} ran",
            "tool_ran": f"tool {self.what} ran",
            "part_missing": f"part {self.what} is missing",
            "words_missing": f"{self.what!r} is not in the reply",
        }[self.kind]


class Expectation(BaseModel):
    """The `expect` of a batch line: {tools?, parts?, not_tools?, contains?}.

    An empty list of `tools` means that no tool may run; words are looked for without
    regard to case.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    tools: Words | None = None
    not_tools: Words = ()
    parts: Words = ()
    contains: Words = ()

    def misses(self, reply: Message) -> list[Miss]:
        """What is not as expected; empty when all is well."""
        used = {entry["tool"] for entry in reply.tool_trace}
        shown = {part["type"] for part in reply.parts}
        words = reply.content.casefold()
        found = [Miss("tool_missing", name) for name in self.tools or () if name not in used]
        if self.tools == () and used:
            found.append(Miss("no_tool_expected", ", ".join(sorted(used))))
        found += [Miss("tool_ran", name) for name in self.not_tools if name in used]
        found += [Miss("part_missing", name) for name in self.parts if name not in shown]
        found += [
            Miss("words_missing", text) for text in self.contains if text.casefold() not in words
        ]
        return found

    def problems(self, reply: Message) -> list[str]:
        """What is not as expected, in English words; empty when all is well."""
        return [miss.in_words for miss in self.misses(reply)]


class BatchLine(BaseModel):
    """One line of a file of questions; `number` is its place in the file, from 1.

    `kind`, `note` and `tool` are remarks for whoever reads the file; nothing looks at them.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    text: str
    user: Name | None = None
    language: Literal["en", "es"] | None = None
    thread: str | int | None = None
    domain: Name | None = None
    action: Name | None = None
    expect: Expectation | None = None
    kind: Any = None
    note: Any = None
    tool: Any = None


def read_batch(content: bytes) -> list[tuple[int, BatchLine]]:
    """Every line that is not empty, with its number; all of them, or an error.

    Raises:
        UnreadableLine: names the first line that is no question, and what is wrong there.
    """
    return list(_read_lines(content.removeprefix(codecs.BOM_UTF8)))


def _read_lines(content: bytes) -> Iterator[tuple[int, BatchLine]]:
    # Not splitlines(), which also cuts at separators that a JSON string may contain.
    for number, raw in enumerate(content.split(b"\n"), start=1):
        if not raw.strip():
            continue
        try:
            yield number, BatchLine.model_validate(json.loads(raw.decode("utf-8")))
        except (ValueError, RecursionError) as error:
            raise UnreadableLine(f"line {number}: {_explain(error)}") from None


def _explain(error: ValueError | RecursionError) -> str:
    """What is wrong with a line, in words."""
    if isinstance(error, ValidationError):
        return _explain_key(error)
    if isinstance(error, UnicodeDecodeError):
        return "this is not UTF-8"
    if isinstance(error, json.JSONDecodeError):
        return f"this is not JSON: {error.msg} (column {error.colno})"
    return "this is not JSON that can be read: nested too deeply, or a number too long"


def _explain_key(error: ValidationError) -> str:
    """The first thing that is wrong with a line, with the keys that lead to it."""
    problems = error.errors(include_url=False)
    # A key that is spelled wrong says more than the one that is missing for it.
    problem = min(problems, key=lambda each: each["type"] != "extra_forbidden")
    place = [str(part) for part in problem["loc"]]
    if problem["type"] == "extra_forbidden":
        owner, keys = ("expect", Expectation) if place[0] == "expect" else ("a line", BatchLine)
        known = ", ".join(keys.model_fields)
        return f"unknown key {'.'.join(place)!r}; {owner} may have: {known}"
    if problem["type"] == "model_type":
        return f"{place[0]!r}: expected an object" if place else "expected a JSON object"
    if problem["type"] == "missing":
        return f"{'.'.join(place)!r} is missing"
    # The place of a choice between types ends with the name of one of them.
    key = ".".join(part for part in place if part not in ("str", "int"))
    reason = problem["msg"].removeprefix("Value error, ")
    return f"{key!r}: {reason[0].lower()}{reason[1:]}"
