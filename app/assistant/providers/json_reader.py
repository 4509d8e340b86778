"""The replies of a model that was asked for JSON, read as strictly as they come.

Two readers: `WordsReader` gives out the words of an answer while they are still arriving,
and `read_reply` reads a reply that is whole, with a fence or with talk around it.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from app.assistant.providers.base import MOST_VALUES
from app.text.json_text import parse_json, parse_json_at

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
    Comanda would let a change go straight through, and can never do without it.
    """

    type: Literal["tool_call"]
    tool: Words
    args: dict[str, Any] = {}
    confirmationSuggested: bool = False  # noqa: N815 - the contract spells it so
    confirmationMessage: str = ""  # noqa: N815

    @field_validator("args", "confirmationSuggested", "confirmationMessage", mode="before")
    @classmethod
    def _or_left_out(cls, value: Any, info: ValidationInfo) -> Any:
        """A null is as good as nothing: all three may be left out."""
        return cls.model_fields[str(info.field_name)].default if value is None else value

    @field_validator("args", mode="before")
    @classmethod
    def _parsed(cls, value: Any) -> Any:
        """Models that were taught function calling write the object as a text of JSON."""
        if not isinstance(value, str):
            return value
        return parse_json(value, most_values=MOST_VALUES)


class Answer(_Reply):
    """The reply to the person, in Markdown."""

    type: Literal["answer"]
    content: Words


Reply = Clarify | Call | Answer
_REPLY: TypeAdapter[Reply] = TypeAdapter(Annotated[Reply, Field(discriminator="type")])


class Unreadable(ValueError):
    """A reply that is none of the three objects; its message tells the model why."""


# Local models think aloud before they speak; what they think is no reply.
_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)


# Of a reply so many objects are tried; who shows examples shows fewer before the one that counts.
MOST_OBJECTS = 8
# Braces in the talk around a reply are followed by other things.
_OBJECT = re.compile(r'\{(?=\s*")')


def read_reply(text: str) -> Reply:
    """The first of the three objects in `text`, whatever talk stands around it.

    Only the first `MOST_OBJECTS` objects are looked at.

    Raises:
        Unreadable: there is none; says what is wrong with what came first.
    """
    text = _THOUGHTS.sub("", text)
    problem, at = "there is no JSON object in it", 0
    for _ in range(MOST_OBJECTS):
        opening = _OBJECT.search(text, at)
        if opening is None:
            break
        try:
            found, at = parse_json_at(text, opening.start(), most_values=MOST_VALUES)
        except ValueError as error:
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
_FIRST_OBJECT = re.compile(r'\{\s*(?:(")|\Z)')
# Without the blanks that may stand between its signs.
_HEADS = ('{"type":"answer","content":"', '{"type":"clarify","question":"')
_THINKS, _HAS_THOUGHT = "<think>", "</think>"


class _Opening:
    """Looks for where the words of an answer or a question begin, reading each piece once.

    Its stages: `start` (may think first), `thoughts`, `talk` (before the object), `head` (in
    the object), `none` (the reply does not begin with its words).
    """

    def __init__(self) -> None:
        self._stage = "start"
        # What was read and means nothing without what follows it.
        self._unread = ""
        self._heads: tuple[str, ...] = _HEADS
        self._at = 0

    def feed(self, more: str) -> str | None:
        """What of the text stands behind the opening; None where it is not there yet."""
        text, self._unread = self._unread + more, ""
        if self._stage == "start":
            text = self._read_start(text)
        if self._stage == "thoughts":
            text = self._read_thoughts(text)
        if self._stage == "talk":
            text = self._read_talk(text)
        return self._read_head(text) if self._stage == "head" else None

    def _read_start(self, text: str) -> str:
        text = text.lstrip()
        if text.startswith(_THINKS):
            self._stage, text = "thoughts", text[len(_THINKS) :]
        elif _THINKS.startswith(text):
            self._unread = text
        else:
            self._stage = "talk"
        return text

    def _read_thoughts(self, text: str) -> str:
        end = text.find(_HAS_THOUGHT)
        if end < 0:
            self._unread = text[1 - len(_HAS_THOUGHT) :]
            return ""
        self._stage = "talk"
        return text[end + len(_HAS_THOUGHT) :]

    def _read_talk(self, text: str) -> str:
        found = _FIRST_OBJECT.search(text)
        if found is None:
            return ""
        if not found[1]:
            # Blanks may go on for long, and mean nothing here.
            self._unread = "{"
            return ""
        self._stage = "head"
        return text[found.start() :]

    def _read_head(self, text: str) -> str | None:
        for place, sign in enumerate(text):
            is_between = self._heads[0].count('"', 0, self._at) % 2 == 0
            if is_between and sign.isspace():
                continue
            self._heads = tuple(h for h in self._heads if h.startswith(sign, self._at))
            if not self._heads:
                self._stage = "none"
                return None
            self._at += 1
            if self._at == len(self._heads[0]):
                return text[place + 1 :]
        return None


_PLAIN = re.compile(r'[^"\\]+')
_BLANKS, _NAME = re.compile(r"\s+"), re.compile(r"\w+")
_CODE = re.compile(r"\\u([0-9a-fA-F]{4})")
_SHORT = re.compile(r'\\(["\\/bfnrt])')
_UNFINISHED_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_SHORT_FOR = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
LOST = "\ufffd"


# What follows a quote, by what has come behind it, if it is the string's last one; "" is the end.
_GOES_ON = {
    ("quote", "}"): "", ("quote", ","): "comma", ("comma", '"'): "name", ("name", '"'): "colon",
    ("colon", ":"): "",
}  # fmt: skip


class _StringReader:
    """Reads a string of JSON whose text comes in pieces, up to the quote that ends it.

    Unescaped quotes are the commonest fault of all: the string ends where the object can go
    on, with a brace, or with a comma and the name of another member.
    """

    def __init__(self) -> None:
        self.is_over = False
        self._half_escape = ""
        # A quote, and what has come behind it, that is the end or else more of the string.
        self._perhaps_end: list[str] = []
        self._behind = "quote"
        self._high = ""

    def close(self) -> str:
        """No more is coming: a quote that could be the last one was the last one."""
        if self.is_over or not self._perhaps_end:
            return ""
        if self._behind in ("quote", "comma"):
            self.is_over = True
            return self._lone()
        signs, self._perhaps_end = "".join(self._perhaps_end), []
        return self._lone() + signs

    def feed(self, more: str) -> str:
        """Read on; the characters that are certain now."""
        text, self._half_escape = self._half_escape + more, ""
        return self._read(text)

    def _read(self, text: str) -> str:
        found: list[str] = []
        at = 0
        while at < len(text) and not self.is_over:
            read = self._read_behind_quote if self._perhaps_end else self._read_piece
            piece, at = read(text, at)
            found.append(piece)
        return "".join(found)

    def _read_piece(self, text: str, at: int) -> tuple[str, int]:
        """The next characters, and the place behind them."""
        if plain := _PLAIN.match(text, at):
            return self._lone() + plain[0], plain.end()
        if text[at] == '"':
            self._perhaps_end, self._behind = ['"'], "quote"
            return "", at + 1
        if code := _CODE.match(text, at):
            return self._character(chr(int(code[1], 16))), code.end()
        if short := _SHORT.match(text, at):
            return self._lone() + _SHORT_FOR.get(short[1], short[1]), short.end()
        if _UNFINISHED_ESCAPE.match(text, at):
            self._half_escape = text[at:]
            return "", len(text)
        # Not an escape of JSON; in Markdown, which this is, the backslash has its meaning.
        return self._lone() + "\\", at + 1

    def _read_behind_quote(self, text: str, at: int) -> tuple[str, int]:
        """What a quote comes to: nothing yet, the end, or signs of the string like others."""
        between = (_NAME if self._behind == "name" else _BLANKS).match(text, at)
        if between and between[0]:
            self._perhaps_end.append(between[0])
            return "", between.end()
        behind = _GOES_ON.get((self._behind, text[at]))
        if behind is None:
            # Of what was held back each later quote may be the last one; there are two at most.
            signs, self._perhaps_end = "".join(self._perhaps_end), []
            return self._lone() + signs[0] + self._read(signs[1:]), at
        self._perhaps_end.append(text[at])
        self._behind = behind
        self.is_over = not behind
        return (self._lone() if self.is_over else ""), at + 1

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


class WordsReader:
    """Gives out the words of an answer or a question as their JSON comes in.

    `text` is all that came in, `length` how long it is. `has_begun` tells that words were given
    out, after which there is no second try; `is_over`, that they are known to be all. An object
    that does not begin with its type and its words gives out nothing here: it is read when it
    is whole. Each character is read once, however the text is cut.
    """

    def __init__(self) -> None:
        self.length = 0
        self.has_begun = self.is_over = False
        self._pieces: list[str] = []
        self._opening = _Opening()
        self._words: _StringReader | None = None

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def feed(self, more: str) -> str:
        """Take in some more of the reply; the words that are certain now."""
        self._pieces.append(more)
        self.length += len(more)
        if self.is_over:
            return ""
        if self._words is None:
            rest = self._opening.feed(more)
            if rest is None:
                return ""
            self._words, more = _StringReader(), rest
        words = self._words.feed(more)
        self.is_over = self._words.is_over
        if not self.has_begun:
            words = words.lstrip()
        self.has_begun = self.has_begun or bool(words)
        return words

    def close(self) -> str:
        """No more is coming; what is certain now that it was not before."""
        if self._words is None:
            return ""
        words = self._words.close()
        self.is_over = self._words.is_over
        return words
