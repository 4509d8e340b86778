"""The replies of a model that was asked for JSON, read as strictly as they come.

Two readers: `WordsReader` gives out the words of an answer while they are still arriving,
and `read_reply` reads a reply that is whole, with a fence or with talk around it.
"""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    field_validator,
)

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore")


class Clarify(_Reply):
    """The model has a question before it can go on."""

    type: Literal["clarify"]
    question: Words


class Call(_Reply):
    """The model wants a tool run.

    Whether somebody must confirm that is the tool's own nature: the model can ask for it where
    the house would let a change go straight through, and can never do without it.
    """

    type: Literal["tool_call"]
    tool: Words
    args: dict[str, Any] = {}
    confirmationSuggested: bool = False  # noqa: N815 - the contract spells it so
    confirmationMessage: str = ""  # noqa: N815

    @field_validator("args", mode="before")
    @classmethod
    def _parsed(cls, value: Any) -> Any:
        """Models that were taught function calling write the object as a text of JSON."""
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except RecursionError:
            raise ValueError("not a JSON object") from None


class Answer(_Reply):
    """The reply to the person, in Markdown."""

    type: Literal["answer"]
    content: Words


Reply = Clarify | Call | Answer
_REPLY: TypeAdapter[Reply] = TypeAdapter(Annotated[Reply, Field(discriminator="type")])


class Unreadable(ValueError):
    """A reply that is none of the three objects; its message tells the model why."""


# Weak models put line breaks into strings as they are; what they mean is plain.
_DECODER = json.JSONDecoder(strict=False)
# Local models think aloud before they speak; what they think is no reply.
_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)


# Braces in the talk around a reply are followed by other things.
_OBJECT = re.compile(r'\{(?=\s*")')


def read_reply(text: str) -> Reply:
    """The first of the three objects in `text`, whatever talk stands around it.

    Raises:
        Unreadable: there is none; says what is wrong with what came first.
    """
    text = _THOUGHTS.sub("", text)
    problem, at = "there is no JSON object in it", 0
    while opening := _OBJECT.search(text, at):
        try:
            found, at = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError) as error:
            # What is inside of a broken object is not what the model meant to say.
            raise Unreadable(f"not valid JSON: {str(error)[:200]}") from None
        try:
            return _REPLY.validate_python(found)
        except ValidationError as error:
            problem = _explain(error)
    raise Unreadable(problem)


def _explain(error: ValidationError) -> str:
    problems = (
        f"{'.'.join(map(str, problem['loc'])) or 'reply'}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_input=False)
    )
    return "; ".join(problems)[:400]


# Only the outermost object is a reply: nothing before it may have a brace.
_OPENING = re.compile(
    r"""\A(?:\s*<think>.*?</think>|(?!\s*<think>))(?:[^{]|\{(?!\s*"))*
    \{\s*"type"\s*:\s*"(?:answer"\s*,\s*"content|clarify"\s*,\s*"question)"\s*:\s*"\s*""",
    re.VERBOSE | re.DOTALL,
)
# What does not begin with its words after this many characters is read when it is whole.
LONGEST_OPENING = 8_000
# Unescaped quotes are the commonest fault of all: the string ends where the object can go on.
_END = re.compile(r'"\s*(?:\}|,\s*")')
_PERHAPS_THE_END = re.compile(r'"\s*(?:,\s*)?\Z')
_PLAIN = re.compile(r'[^"\\]+')
_CODE = re.compile(r"\\u([0-9a-fA-F]{4})")
_SHORT = re.compile(r'\\(["\\/bfnrt])')
_UNFINISHED_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_SHORT_FOR = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
LOST = "\ufffd"


class WordsReader:
    """Gives out the words of an answer or a question as their JSON comes in.

    `text` is all that came in. `has_begun` tells that words were given out, after which there
    is no second try; `is_over`, that they are known to be all. An object that does not begin
    with its type and its words gives out nothing here: it is read when it is whole.
    """

    def __init__(self) -> None:
        self.text = ""
        self.has_begun = self.is_over = False
        self._is_inside = False
        self._unread = ""
        self._high = ""

    def feed(self, more: str) -> str:
        """Take in some more of the reply; the words that are certain now."""
        self.text += more
        if self.is_over:
            return ""
        if self._is_inside:
            self._unread += more
        elif len(self.text) - len(more) <= LONGEST_OPENING and (at := _OPENING.match(self.text)):
            self._is_inside, self._unread = True, self.text[at.end() :]
        words = self._read() if self._is_inside else ""
        if not self.has_begun:
            words = words.lstrip()
        self.has_begun = self.has_begun or bool(words)
        return words

    def close(self) -> str:
        """No more is coming: a quote that could be the last one was the last one."""
        if self._is_inside and not self.is_over and _PERHAPS_THE_END.match(self._unread):
            self.is_over = True
            return self._lone()
        return ""

    def _read(self) -> str:
        words: list[str] = []
        while self._unread and (piece := self._piece()) is not None:
            words.append(piece)
        return "".join(words)

    def _piece(self) -> str | None:
        """The next few characters; None where more must come in first, or all are read."""
        if plain := _PLAIN.match(self._unread):
            return self._lone() + self._take(plain)
        if self._unread[0] == '"':
            return self._quote()
        if code := _CODE.match(self._unread):
            self._take(code)
            return self._character(chr(int(code[1], 16)))
        if short := _SHORT.match(self._unread):
            self._take(short)
            return self._lone() + _SHORT_FOR.get(short[1], short[1])
        if _UNFINISHED_ESCAPE.match(self._unread):
            return None
        # Not an escape of JSON; in Markdown, which this is, the backslash has its meaning.
        self._unread = self._unread[1:]
        return self._lone() + "\\"

    def _quote(self) -> str | None:
        if _END.match(self._unread):
            self.is_over, self._unread = True, ""
            return self._lone()
        if _PERHAPS_THE_END.match(self._unread):
            return None
        self._unread = self._unread[1:]
        return self._lone() + '"'

    def _take(self, match: re.Match[str]) -> str:
        self._unread = self._unread[match.end() :]
        return match[0]

    def _character(self, character: str) -> str:
        """An escaped character; many are escaped in two halves, of which each may be missing."""
        if "\ud800" <= character <= "\udbff":
            before, self._high = self._lone(), character
            return before
        if not "\udc00" <= character <= "\udfff":
            return self._lone() + character
        if not self._high:
            return LOST
        whole = (self._high + character).encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        self._high = ""
        return whole

    def _lone(self) -> str:
        """What to show for a first half that no second one followed."""
        lone, self._high = (LOST if self._high else ""), ""
        return lone
