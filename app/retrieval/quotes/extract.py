"""An answer quoted from passages: the sentences, rows or steps that answer the question."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from app.nlu.questions import (
    asks_what_to_do,
    expected_amount,
    tells_of_trouble,
    wants_list,
    wants_steps,
)
from app.retrieval.embedder import Embedder
from app.retrieval.quotes.lexicon import WORDS
from app.retrieval.quotes.lines import Form, Line
from app.retrieval.quotes.passages import Piece, condition_of, says_little_alone, take_apart
from app.retrieval.quotes.scores import (
    Passage,
    Scored,
    score_pieces,
    unknown_share,
)
from app.text.normalize import fold
from app.text.stems import stems

MOST_SENTENCES = 4
MOST_ITEMS = 8
MOST_STEPS = 12
# Beside the best piece another must be worth this much of it to be said as well: more
# where it stands in another passage.
WORTH_SAYING, WORTH_ADDING = 0.65, 0.92
WORTH_LISTING, WORTH_OPENING = 0.86, 0.7
# The time or sum that was asked for comes first where it is worth so much of the best piece.
WORTH_ITS_AMOUNT = 0.6
# A list answers as a whole when what introduces it has this share of the question's words;
# less is enough where several things are asked for.
LIST_IS_MEANT, LIST_IS_WANTED = 0.6, 0.3
TITLE_IS_MEANT = 0.6
# A sentence is about just this case when its condition has this share of the question's words.
CONDITION_IS_MEANT = 0.4
# A section is named when its title has this share of the question's words.
TITLE_NAMED = 0.5
# Numbered steps answer a how-to even if they are a little less like it than a sentence is.
STEPS_BONUS = 0.3
# In an emergency: what the part that says to call for help is worth beside words in common.
CALLS_FOR_HELP = 1.25
_EMERGENCY_NUMBER = re.compile(r"(?<![\d.,$])(?:911|112|999|000)(?![.,]?\d)")
# With less than this nothing in the passages speaks of what was asked.
LEAST_WORTH = 0.55
# The odds that a piece answers, as logarithms: what each of these says for it. Fitted to 180
# questions that strangers asked of the demo's manual, and 140 that it does not answer, both
# weighed alike: at even odds two of three right quotations are sure, and one of five others.
BIAS, OF_MATCHED, OF_MEANING, OF_AMOUNT, OF_TITLE = -4.0, 1.25, 3.1, 1.5, 0.7
# Where it asks what is so for guests, say, and the section speaks of none.
OF_OTHERS = -3.0
# Where the question says what the section is called, and nothing else.
NAMED, WHOLE = 1.4, 0.99
# What else comes near where the answer is in doubt.
MOST_NEAR = 3


# How a sentence begins that goes on from the one before, and one that makes no sense without it.
_CONTINUES = re.compile(rf"(?:{WORDS['goes_on']})\b")
_FOR_WHOM = re.compile(rf"\b{WORDS['for_whom']}(?P<whom>{WORDS['people']})\b")
_LEANS_BACK = re.compile(rf"(?:{WORDS['goes_on']}|{WORDS['leans_back']})\b")


@dataclass(frozen=True)
class Extract:
    """Quoted lines, and how far they speak of what was asked.

    `shared` and `unknown` are shares of the question's words, 0..1: those that the best
    quotation has, and those that no passage has. `title` is the best one's section;
    `by_title` says whether that is what the question names. `odds` is the logarithm of the odds
    that the lines answer, and `near` what comes near besides those of the first line's passage.
    """

    lines: tuple[Line, ...] = ()
    shared: float = 0.0
    unknown: float = 0.0
    title: str = ""
    by_title: bool = False
    odds: float = 0.0
    near: tuple[Line, ...] = ()


def extract_answer(
    question: str,
    passages: Sequence[Passage],
    embedder: Embedder,
    *,
    said: str = "",
    least: float = LEAST_WORTH,
) -> Extract:
    """The lines that answer `question`, every one a quotation with its number.

    What stands in `said` is left out. Nothing is returned where no piece is worth `least`.
    """
    scored = [
        entry
        for entry in score_pieces(question, passages, embedder)
        if entry.piece.text not in said and not _only_leads(entry)
    ]
    best = max(scored, key=lambda entry: entry.score, default=None)
    if best is None or best.score < least:
        return Extract()
    best = _with_amount(best, scored)
    lines = (
        _answer_in_steps(question, best, scored)
        or _answer_with_list(question, best, scored)
        or _answer_with_overview(question, best, scored)
        or _answer_in_sentences(best, scored)
    )
    title = next(passage.title for passage in passages if passage.cite == lines[0].cite)
    return Extract(
        tuple(lines),
        best.shared,
        unknown_share(question, passages),
        title,
        best.by_title > 0,
        _odds(question, best) + OF_OTHERS * _is_for_others(question, title, lines, passages),
        tuple(_near(passages, lines, scored)),
    )


def _odds(question: str, best: Scored) -> float:
    """The logarithm of the odds that this piece answers; see `BIAS`."""
    if best.by_title > WHOLE and best.of_title >= TITLE_IS_MEANT:
        return NAMED
    return (
        BIAS
        + OF_MATCHED * best.shared * len(set(stems(question)))
        + OF_MEANING * best.near
        + OF_AMOUNT * best.has_amount
        + OF_TITLE * best.by_title
    )


def _is_for_others(
    question: str, title: str, lines: Sequence[Line], passages: Sequence[Passage]
) -> bool:
    """Whether it asks what is so for people of whom the quoted section says nothing."""
    asked = _FOR_WHOM.search(fold(question))
    if asked is None:
        return False
    cited = {line.cite for line in lines}
    said = " ".join(passage.text for passage in passages if passage.cite in cited)
    return not set(stems(asked["whom"])) & set(stems(f"{title} {said}"))


def _near(
    passages: Sequence[Passage], lines: Sequence[Line], scored: Sequence[Scored]
) -> Iterator[Line]:
    """The best pieces beside those of the first passage: one a passage, under its title."""
    said = " ".join(line.text for line in lines if line.cite == lines[0].cite)
    titles = {passage.cite: passage.title for passage in passages}
    others: dict[int, Scored] = {}
    for entry in sorted(scored, key=lambda entry: -entry.score):
        if entry.shared and not _only_leads(entry) and not _repeats(entry.piece.text, said):
            others.setdefault(entry.cite, entry)
    for entry in islice(others.values(), MOST_NEAR):
        yield Line(entry.piece.text, entry.cite, "item", titles[entry.cite])


def tell_whole(looked_up: str, reported: str, passages: Sequence[Passage]) -> tuple[Line, ...]:
    """All of the section that is about what was looked up, the part that fits first.

    In an emergency nothing may be left out for being less like the question: "call 911"
    has no word in common with "the fryer is on fire".
    """
    wanted = set(stems(looked_up))
    about = [len(wanted & set(stems(passage.title))) for passage in passages]
    if not any(about):
        return ()
    passage = passages[about.index(max(about))]
    parts = _parts(take_apart(passage.text))
    said = set(stems(reported))
    first = max(range(len(parts)), key=lambda number: _fit(parts[number], said))
    ordered = [parts[first], *parts[:first], *parts[first + 1 :]]
    return tuple(line for part in ordered for line in _part(part, passage.cite))


def _parts(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """The pieces under each title; a title that runs into its first sentence has that too."""
    parts: list[list[Piece]] = []
    for piece in pieces:
        if not parts or piece.lead != parts[-1][0].lead:
            begins = bool(parts and piece.lead and parts[-1][-1].text.startswith(piece.lead))
            parts.append([replace(parts[-1].pop(), lead=piece.lead)] if begins else [])
        parts[-1].append(piece)
    return [part for part in parts if part]


def _fit(part: Sequence[Piece], said: set[str]) -> float:
    """How much of what was reported a part speaks of, and whether it says to call for help."""
    by_lead = len(said & set(stems(part[0].lead)))
    by_piece = max(len(said & set(stems(piece.text))) for piece in part)
    calls = any(_EMERGENCY_NUMBER.search(piece.text) for piece in part)
    return 2 * by_lead + by_piece + CALLS_FOR_HELP * calls


def _part(pieces: Sequence[Piece], cite: int) -> list[Line]:
    """A title with all that stands under it."""
    lead = pieces[0].lead
    lines = [Line(lead, cite, "lead")] if lead and _is_list(pieces) else []
    for piece in pieces:
        if piece.kind != "sentence":
            form: Form = "step" if piece.kind == "step" else "item"
            lines.append(Line(piece.text, cite, form, number=piece.number))
        elif piece.text.rstrip(":") != lead.rstrip(":"):
            text = piece.text.removeprefix(lead).lstrip(" .:")
            lines.append(Line(text, cite, title="" if lines[:1] and _is_list(pieces) else lead))
    return lines


def _is_list(pieces: Sequence[Piece]) -> bool:
    return pieces[0].kind != "sentence" or (
        len(pieces) > 1 and pieces[0].text.endswith(":") and pieces[1].kind != "sentence"
    )


def _with_amount(best: Scored, scored: Sequence[Scored]) -> Scored:
    """The best piece that says a time or sum, where one was asked for and the best does not."""
    having = [entry for entry in scored if entry.has_amount]
    if best.has_amount or not having:
        return best
    said = max(having, key=lambda entry: entry.score)
    return said if said.score >= WORTH_ITS_AMOUNT * best.score else best


def _only_leads(entry: Scored) -> bool:
    """True for "Cool food in two steps:", which says nothing without what it leads to."""
    return entry.piece.kind == "sentence" and entry.piece.text.endswith(":")


def _answer_in_steps(question: str, best: Scored, scored: Sequence[Scored]) -> list[Line]:
    """For a how-to: the sentence that answers in a word, then the numbered steps."""
    if not (wants_steps(question) or tells_of_trouble(question)):
        return []
    # What is to be done in just this case stands in one sentence.
    if best.by_condition >= CONDITION_IS_MEANT:
        return []
    lists = [steps for steps in _blocks(scored, "step") if len(steps) > 1]
    # Those of the section that the question names, else of the best sentence's own.
    meant = [steps for steps in lists if steps[0].by_title >= max(best.by_title, TITLE_NAMED)]
    meant = meant or [steps for steps in lists if steps[0].passage == best.passage]
    steps = max(meant or lists, key=_worth, default=[])
    in_any_case = asks_what_to_do(question) and _is_for_any_case(steps, best, lists)
    if not steps or (_about_else(steps, best) and not in_any_case):
        return []
    if not meant and _worth(steps) + STEPS_BONUS < best.score:
        return []
    opening = max(
        (entry for entry in scored if _opens(entry, steps[0], best)),
        key=lambda entry: entry.score,
        default=best if in_any_case else None,
    )
    lines = [_line(opening)] if opening else []
    if steps[0].piece.lead and (not opening or opening.piece.lead != steps[0].piece.lead):
        lines.append(Line(steps[0].piece.lead, steps[0].cite, "lead"))
    return lines + [
        Line(entry.piece.text, entry.cite, "step", number=entry.piece.number)
        for entry in steps[:MOST_STEPS]
    ]


def _opens(entry: Scored, step: Scored, best: Scored) -> bool:
    """True for a sentence that stands before the steps and is nearly as good an answer."""
    return (
        entry.piece.kind == "sentence"
        and entry.passage == step.passage
        and entry.piece.block < step.piece.block
        and entry.piece.text != step.piece.lead
        and entry.score >= WORTH_OPENING * best.score
    )


def _about_else(steps: Sequence[Scored], best: Scored) -> bool:
    """True for the steps of "Firing." when what was asked stands under "Resting."."""
    if steps[0].piece.lead and steps[0].by_lead == 0 and best.by_lead > 0:
        return True
    fits = steps[0].by_title > 0 or steps[0].by_lead > 0
    return not fits and max(step.shared for step in steps) < 0.5 * best.shared


def _is_for_any_case(
    steps: Sequence[Scored], best: Scored, lists: Sequence[Sequence[Scored]]
) -> bool:
    """True for the steps under "If you see something": they need not name what was seen.

    They are the only ones of the section whose sentence speaks of the case.
    """
    own = [each for each in lists if each[0].passage == best.passage]
    alone = own == [steps] and best.piece.kind == "sentence"
    return alone and bool(condition_of(f"{steps[0].piece.lead.rstrip(':')}:"))


def _answer_with_list(question: str, best: Scored, scored: Sequence[Scored]) -> list[Line]:
    """A list or table, where the line that introduces it is what was asked."""
    lists = [*_blocks(scored, "item"), *_blocks(scored, "row")]
    least = LIST_IS_WANTED if wants_list(question) else LIST_IS_MEANT
    meant = [block for block in lists if block[0].by_lead >= least and len(block) > 1]
    block = max(meant, key=_worth, default=[])
    if not block or block[0].passage != best.passage or block[0].by_lead <= best.shared - 0.3:
        return []
    if best.has_amount and best.block != block[0].block:
        return []
    return _list_lines(block[:MOST_ITEMS])


def _answer_with_overview(question: str, best: Scored, scored: Sequence[Scored]) -> list[Line]:
    """The beginning of a section, where its title is all that was asked."""
    asks_for_it = best.by_title > WHOLE and best.of_title >= TITLE_IS_MEANT
    if not asks_for_it or best.passage != 0 or expected_amount(question):
        return []
    opening = [entry for entry in scored if entry.passage == 0 and entry.piece.kind == "sentence"]
    return [_line(entry) for entry in opening[:MOST_SENTENCES]]


def _answer_in_sentences(best: Scored, scored: Sequence[Scored]) -> list[Line]:
    if best.piece.kind in ("item", "row"):
        siblings = [
            entry
            for entry in scored
            if entry.block == best.block
            and entry.score >= WORTH_LISTING * best.score
            and entry.has_amount == best.has_amount
            and (entry.own > 0 or best.own == 0)
        ]
        if len(siblings) > 1:
            return _list_lines(siblings[:MOST_ITEMS])
    others = [entry for entry in scored if _worth_saying(entry, best)]
    others.sort(key=lambda entry: -entry.score)
    lines: list[Line] = []
    for entry in (best, *others):
        if len(lines) < MOST_SENTENCES:
            lines += [
                _line(one)
                for one in _whole_thought(entry, scored)
                if not any(_repeats(one.piece.text, line.text) for line in lines)
            ]
    return lines


def _repeats(text: str, other: str) -> bool:
    """Passages overlap, so that the same sentence may have been found twice."""
    return text in other or other in text


def _whole_thought(entry: Scored, scored: Sequence[Scored]) -> Sequence[Scored]:
    """A sentence with those before and after it without which it would mislead.

    "Then use the extinguisher" must not stand without what comes first.
    """
    if entry.piece.kind != "sentence":
        return [entry]
    first = last = next(i for i, one in enumerate(scored) if one is entry)
    while first and _LEANS_BACK.match(fold(scored[first].piece.text)):
        if scored[first - 1].block != entry.block:
            break
        first -= 1
    for one in scored[last + 1 :]:
        if one.block != entry.block or not _CONTINUES.match(fold(one.piece.text)):
            break
        last += 1
    return scored[first : last + 1]


def _worth_saying(entry: Scored, best: Scored) -> bool:
    if entry is best:
        return False
    if entry.piece.kind in ("step", "row") and not (best.has_amount and entry.has_amount):
        return False
    close = entry.passage == best.passage and entry.has_amount == best.has_amount
    share = WORTH_SAYING if close else WORTH_ADDING
    return entry.score >= share * best.score


def _blocks(scored: Sequence[Scored], kind: str) -> list[list[Scored]]:
    blocks: dict[tuple[int, int], list[Scored]] = defaultdict(list)
    for entry in scored:
        if entry.piece.kind == kind:
            blocks[entry.block].append(entry)
    return list(blocks.values())


def _worth(block: Sequence[Scored]) -> float:
    """What a whole list is worth: its best piece counts, and all of it together a little."""
    best = max(entry.score for entry in block)
    return 0.7 * best + 0.3 * sum(entry.score for entry in block) / len(block)


def _list_lines(block: Sequence[Scored]) -> list[Line]:
    lead = block[0].piece.lead
    lines = [Line(lead, block[0].cite, "lead")] if lead else []
    return lines + [Line(entry.piece.text, entry.cite, "item") for entry in block]


def _line(entry: Scored) -> Line:
    """One piece by itself, with the line that introduces it where it needs one."""
    lead = entry.piece.lead
    asks = "?" in lead and not says_little_alone(entry.piece.text)
    if not lead or asks or entry.piece.kind == "row":
        return Line(entry.piece.text, entry.cite)
    return Line(entry.piece.text, entry.cite, title=lead)
