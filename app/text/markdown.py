"""Markdown to safe HTML: parsed by markdown-it, then reduced to an allow-list by nh3.

Model text and manual text both come through here. Images never survive; links to
other sites only where an editor of the group wrote them, never from a model.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b
from threading import Lock

import nh3
from markupsafe import Markup

from app.jobs.system_threads import RealThreads, give_back
from app.text.markdown_parser import markdown_parser, parse_blocks
from app.text.plain_text import shorten_marks

PARAGRAPH = "\n\n"
# In characters: some hundreds of long replies.
LONGEST_RENDERED = 8_000_000
TAGS = {
    "p", "br", "strong", "em", "s", "code", "pre", "blockquote", "hr", "ul", "ol", "li",
    "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "a",
}  # fmt: skip
_MODEL_ATTRIBUTES = {"ol": {"start"}, "th": {"align"}, "td": {"align"}}
_LIBRARY_ATTRIBUTES = {**_MODEL_ATTRIBUTES, "a": {"href", "title"}, "mark": {"id"}}
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_GOES_ON = re.compile(r"\s|[-*+|]|\d{1,9}(?:[.)]|\Z)")
# So many characters of a line tell whether it goes on with what is above it.
LONGEST_START = 11
_LEADING_HASHES = re.compile(r"^(#{1,6})(?=\s)", re.MULTILINE)
_BLANKS = re.compile(r"[ \t]+")
_ANCHOR = re.compile(r" ?\{#[\w-]+\} ?$", re.MULTILINE)
# Fences, rules, the lines under headings and those between a table's head and its rows.
_DRAWN_LINE = re.compile(r"^ ?(?:(?:`{3,}|~{3,}).*|=+|[|:]* ?(?:[-*_][ |:]*){3,})$", re.MULTILINE)
_LINE_MARK = re.compile(r"^ ?(?:(?:[-*+]|>|#{1,6})(?: |$))+", re.MULTILINE)
_TABLE_EDGE = re.compile(r"^ ?\| ?| ?(?<!\\)\| ?$", re.MULTILINE)
_TABLE_CELL = re.compile(r" ?(?<!\\)\| ?")
# The end of a link, or its beginning, may be missing where a passage was cut. What begins
# anew is no part of it: a text of nothing but brackets would be looked through 400 times.
_LINK = re.compile(
    r"!?\[([^\[\]\n]{0,400})\](?:\([^)\n]{0,400}\)?|\[[^\[\]\n]{0,400}\])"
    r"|\]\([^()\n]{0,400}\)"
)
_BARE_LINK = re.compile(r"<((?:https?|mailto|tel):[^>\s]{1,400})>")
_STRESS = re.compile(r"(?<!\\)(?:`+|~~|(?<=\S)\*+|\*+(?=\S)|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w))")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
# What means something within a line; an underscore between letters does not.
_SIGN = re.compile(r"[\\`*~\[<&]|(?<![^\W_])_|_(?![^\W_])")
# The beginning of a picture or of HTML, for which a program that draws Markdown may ask another
# server. Behind an odd number of backslashes it is escaped already; one more would undo that.
_LOADS = re.compile(r"(?<!\\)((?:\\\\)*)(!(?=\[)|<(?=[A-Za-z/!?]))")
# What means something where a line begins with it: "# ", "1. ".
_BEGINNING = re.compile(r"^(\s*(?:\d{1,9}(?=[.)]))?)([#>+=.)-])")
_LIST_NUMBER = re.compile(r"^(?:[^\S\n]|>)*\d{1,9}[.)](?=\s)", re.MULTILINE)
_FENCES = ("```", "~~~")
_DRAWING = RealThreads(2, holds_nothing=True)
# What an editor draws again at each change never stands before what readers wait for.
_PREVIEWING = RealThreads(1, holds_nothing=True)
# Nor does what a model was made to say.
_ANSWERING = RealThreads(1, holds_nothing=True)
# With more signs than these that mean something in Markdown a text takes long to be drawn; a page
# has many texts, and those that are longer than this may, whatever stands in them.
MOST_SIGNS, SHORT_TEXT = 1_500, 1_000
_SIGNS = "\n[]!*_`~<>&\\|=+-#0123456789"
# Of a passage in which something was found so much before and after it is read.
NEARBY = 1_000
# No more of what somebody is still writing is drawn: what may be stored takes ten seconds.
LONGEST_PREVIEW = 60_000


class _RenderedTexts:
    """The HTML of the texts that were asked for last, by their digest, within a total length.

    Safe to use from several threads.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._length = 0
        self._known: OrderedDict[bytes, Markup] = OrderedDict()
        self._lock = Lock()
        self._drawn_now: dict[bytes, tuple[Lock, int]] = {}

    def render(self, kind: str, text: str, draw: Callable[[], Markup]) -> Markup:
        """The HTML of a long text: what is known of it, else drawn once for all who want it."""
        digest = _digest(kind, text)
        known = self.find(digest)
        if known is not None:
            return known
        give_back()
        with self._one_at_a_time(digest):
            known = self.find(digest)
            if known is None:
                known = draw()
                self.add(digest, known)
        return known

    @contextmanager
    def _one_at_a_time(self, digest: bytes) -> Iterator[None]:
        with self._lock:
            lock, waiting = self._drawn_now.get(digest, (Lock(), 0))
            self._drawn_now[digest] = lock, waiting + 1
        try:
            with lock:
                yield
        finally:
            with self._lock:
                waiting = self._drawn_now[digest][1] - 1
                if waiting:
                    self._drawn_now[digest] = lock, waiting
                else:
                    del self._drawn_now[digest]

    def find(self, digest: bytes) -> Markup | None:
        with self._lock:
            if digest in self._known:
                self._known.move_to_end(digest)
            return self._known.get(digest)

    def add(self, digest: bytes, html: Markup) -> None:
        with self._lock:
            self._length += len(html) - len(self._known.pop(digest, ""))
            self._known[digest] = html
            while self._length > self._longest:
                self._length -= len(self._known.popitem(last=False)[1])


# A page shows thirty messages, and people come back to it.
_rendered = _RenderedTexts(LONGEST_RENDERED)


def is_slow_to_draw(text: str) -> bool:
    """Whether others would notice that this text is drawn."""
    return sum(map(text.count, _SIGNS)) > MOST_SIGNS


def render_model_text(text: str) -> Markup:
    """HTML for what a model said: no links, no images, no headings above level 3.

    What may be slow to draw is drawn in a thread, since others would wait for it.
    """
    draw = partial(_draw_model_text, text)
    if len(text) > SHORT_TEXT:
        return _rendered.render("model", text, lambda: _ANSWERING.run(draw))
    digest = _digest("model", text)
    known = _rendered.find(digest)
    if known is None:
        known = draw()
        _rendered.add(digest, known)
    return known


def hides_words(markdown: str) -> bool:
    """Whether a reader would not see all letters of a text, but for the numbers of its lists.

    Addresses, definitions of links, descriptions of pictures and surplus cells are not drawn.
    Letters are counted and not words: emphasis may stand within a word.
    """
    written = Counter(filter(str.isalnum, _LIST_NUMBER.sub("", markdown)))
    drawn = Counter(filter(str.isalnum, render_model_text(markdown).striptags()))
    return bool(written - drawn)


def escape_markdown(text: str) -> str:
    """Plain text of one line as Markdown that shows it as it is, whatever it is made of.

    Else "[coffee](<" and ">)", with a laptop for $900 between them, would be a link of which
    nothing is shown but the coffee.
    """
    return _BEGINNING.sub(r"\1\\\2", _SIGN.sub(r"\\\g<0>", text))


def escape_loading(markdown: str) -> str:
    """Markdown in which pictures and HTML are escaped; all else of it stays as it is.

    For files that are opened in other programs: drawing the text asks no server for anything.
    """
    return _LOADS.sub(r"\1\\\2", markdown)


def _digest(kind: str, text: str) -> bytes:
    return blake2b(f"{kind} {text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _draw_model_text(text: str) -> Markup:
    # A letter with thousands of marks costs whoever draws it, down to the reader's phone.
    text = shorten_marks(text)
    lowered = _LEADING_HASHES.sub(lambda m: "#" * min(6, max(3, len(m[1]) + 1)), text)
    html = markdown_parser().render(lowered)
    clean = nh3.clean(html, tags=TAGS - {"a"}, attributes=_MODEL_ATTRIBUTES, link_rel=None)
    return Markup(clean)  # noqa: S704 - just cleaned


def render_library_text(text: str, marks: tuple[str, str] | None = None) -> Markup:
    """HTML for a manual section: like a model's, with links that people may follow.

    What stands between the two signs of `marks` is marked; the first mark has the id
    `passage`. It is drawn before the sanitiser, which mends marks across other elements.
    What is no short text is drawn in a thread, since others may have to wait for it.
    """
    if len(text) <= SHORT_TEXT:
        return _draw_library_text(text, marks)
    draw = partial(_draw_library_text, text, marks)
    return _rendered.render(f"library {marks}", text, lambda: _DRAWING.run(draw))


def preview_library_text(text: str) -> Markup:
    """The same for who is still writing it, as far as its first `LONGEST_PREVIEW` characters."""
    text = text[:LONGEST_PREVIEW]
    if len(text) <= SHORT_TEXT:
        return _draw_library_text(text, None)
    return _PREVIEWING.run(lambda: _draw_library_text(text, None))


def _draw_library_text(text: str, marks: tuple[str, str] | None) -> Markup:
    html = markdown_parser().render(text)
    if marks:
        opening, closing = marks
        html = html.replace(opening, '<mark id="passage">', 1)
        html = html.replace(opening, "<mark>").replace(closing, "</mark>")
    clean = nh3.clean(
        html,
        tags=TAGS | {"mark"},
        attributes=_LIBRARY_ATTRIBUTES,
        url_schemes={"http", "https", "mailto", "tel"},
        link_rel="noopener noreferrer",
    )
    return Markup(clean)  # noqa: S704 - just cleaned


def paragraph_after(text: str, words: str) -> str:
    """What to append to a text, so that `words` are a paragraph of their own below it.

    A code fence that the text leaves open is closed first: it would take them for code. Whatever
    else may be open, such as a list, a quote or a table, ends where they begin at the margin.
    """
    if not text:
        return words
    fence = open_fence(text)
    return (f"\n{fence}" if fence else "") + PARAGRAPH + words


def join_paragraphs(*texts: str) -> str:
    """Texts of different origin, each below the one before it; empty ones are left out."""
    joined = ""
    for text in filter(None, texts):
        joined += paragraph_after(joined, text)
    return joined


def open_fence(text: str) -> str:
    """The code fence that takes in what is appended at the margin, such as "```"; or ""."""
    if not any(sign in text for sign in _FENCES):
        return ""
    if len(text) <= SHORT_TEXT:
        return _find_open_fence(text)
    return _DRAWING.run(partial(_find_open_fence, text))


def _find_open_fence(text: str) -> str:
    # A word behind a blank line belongs to the last block only if that is not over.
    blocks = parse_blocks(text + PARAGRAPH + "x")
    return blocks[-1].markup if blocks[-1].type == "fence" else ""


def plain_line(markdown: str) -> str:
    """What a reader sees of a piece of Markdown, in one line, wherever it was cut out.

    A passage may begin and end within a table or a link, where a parser would take their
    signs for words.
    """
    text = _ANCHOR.sub("", _BLANKS.sub(" ", markdown))
    text = _LINE_MARK.sub("", _DRAWN_LINE.sub("", text))
    text = _TABLE_CELL.sub(" · ", _TABLE_EDGE.sub("", text))
    text = _BARE_LINK.sub(r"\1", _LINK.sub(lambda link: link[1] or "", text))
    return " ".join(_ESCAPED.sub(r"\1", _STRESS.sub("", text)).split())


def plain_line_around(markdown: str, place: int) -> tuple[str, bool, bool]:
    """What a reader sees of a long piece of Markdown near a place, in one line.

    With whether something of it stands before that, and behind it.
    """
    begin, end = max(place - NEARBY, 0), place + NEARBY
    return plain_line(markdown[begin:end]), begin > 0, end < len(markdown)


class BlockSplitter:
    """Splits a Markdown text that comes in pieces into its blocks, reading each piece once.

    A block is finished when a blank line follows it outside a code fence and what follows
    has begun at the margin (a list or a table may go on after a blank line). A block that
    was finished once stays so, whatever is added to the text.
    """

    def __init__(self) -> None:
        self._fence = ""
        # The whole lines of the block that is not finished, and the pieces of its last line.
        self._lines: list[str] = []
        self._last: list[str] = []
        self._has_words = self._may_end = False

    @property
    def tail(self) -> str:
        """What follows the last finished block."""
        return "\n".join([*self._lines, "".join(self._last)])

    def feed(self, text: str) -> list[str]:
        """Take in some more of the text; the blocks that are finished by it."""
        first, *others = text.split("\n")
        self._last.append(first)
        found: list[str] = []
        for line in others:
            self._end_line(found)
            self._last = [line]
        self._end_block(found)
        return found

    def _end_line(self, found: list[str]) -> None:
        self._end_block(found)
        line = "".join(self._last)
        self._fence = _fence_after(line, self._fence)
        self._lines.append(line)
        is_blank = not line.strip()
        self._has_words = self._has_words or not is_blank
        self._may_end = is_blank and self._has_words and not self._fence

    def _end_block(self, found: list[str]) -> None:
        """Finish the block before the last line, where that has begun another one."""
        if not self._may_end:
            return
        if len(self._last) > 1 and len(self._last[0]) < LONGEST_START:
            self._last = [self._last[0] + self._last[1], *self._last[2:]]
        if _starts_block(self._last[0][:LONGEST_START]):
            found.append("\n".join(self._lines))
            self._lines = []
            self._has_words = self._may_end = False


def split_blocks(text: str) -> tuple[list[str], str]:
    """The finished Markdown blocks of a text that is still growing, and its unfinished end."""
    splitter = BlockSplitter()
    return splitter.feed(text), splitter.tail


def _fence_after(line: str, fence: str) -> str:
    """The code fence that is open after this line, when `fence` was open before it."""
    match = _FENCE.match(line)
    if not match:
        return fence
    if not fence:
        return match[1]
    closes = match[1].startswith(fence) and not line[match.end() :].strip()
    return "" if closes else fence


def _starts_block(line: str) -> bool:
    """True for a line that begins a block of its own rather than going on with a list.

    A number alone may become the number of a list's item, and decides nothing yet.
    """
    return bool(line.strip()) and not _GOES_ON.match(line)
