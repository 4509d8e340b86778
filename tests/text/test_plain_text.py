"""Text without what hides in it or breaks it, and every place where names and titles are kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select
from werkzeug.datastructures import MultiDict

from app.accounts.models import Group, User
from app.accounts.names_and_emails import clean_name
from app.accounts.new_people import create_group
from app.assistant.feedback.feedback import rate_reply
from app.assistant.models import MessageFeedback, Thread
from app.assistant.prompts.editor import Texts, clean_texts
from app.assistant.threads.threads import clean_message, latest_messages
from app.db import Database, new_id
from app.errors import InvalidInput
from app.fields.editor.rows import new_row, read_open_row
from app.fields.values import clean
from app.files.uploads import tidy_name
from app.skills.expenses.models import Expense
from app.skills.expenses.services.settings import save_settings, split_words
from app.skills.forms.builder.model_drafts import _read as read_drafted
from app.skills.forms.models import FormTemplate
from app.skills.forms.services.contacts import ContactTexts, read_contact
from app.skills.knowledge.readers import read_file
from app.skills.knowledge.services.imports import receive_file
from app.skills.knowledge.web.forms import read_product, read_section
from app.text.plain_text import clean_line, clean_lines, clean_text, clean_value
from tests.factories import CheckedClient, Member, make_thread, make_user, sign_in
from tests.factories.expenses import ledger_of
from tests.factories.service_requests import make_request, make_team, read_updates

UNSEEN = (
    "\u00ad", "\u034f", "\u061c", "\u115f", "\u1160", "\u17b4", "\u17b5", "\u180e", "\u200b",
    "\u200e", "\u200f", "\u202a", "\u202e", "\u2060", "\u2063", "\u2066", "\u2069", "\u206a",
    "\u3164", "\ufe00", "\ufeff", "\uffa0", "\ufff9", "\ufffa", "\ufffb", "\ufffc", "\uffff",
    "\x00", "\x1b", "\x9b", "\U0001d173", "\U000e0001", "\U000e0041", "\U000e007f", "\U000e0100",
    "\u2d7f", "\U0001107f", "\U00013430", "\U00016fe4", "\U0001d159",
)  # fmt: skip
WRITTEN = (
    "Jalapeño", "cafe\u0301", "👩\u200d🍳", "👨🏽\u200d👩🏽\u200d👧🏽", "❤\ufe0f\u200d🔥",
    "🏳\ufe0f\u200d🌈", "1\ufe0f\u20e3", "☎\ufe0e", "می\u200cخواهم", "क\u094d\u200dष",
    "ශ\u0dca\u200dරී", "שלום", "日本", "🇲🇽",
)  # fmt: skip
HIDDEN = "T\u200bac\u00ado\u2060 \ufffc\U000e0041al\u180e\u202e \u3164pastor\ufeff\u17b4"
SEEN = "Taco al pastor"


@pytest.mark.parametrize("cleaned", [clean_text, clean_lines, clean_line, clean_value])
def test_what_only_hides_or_breaks_text_is_dropped(cleaned: Callable[[str], str]) -> None:
    made = {sign: cleaned(f"{sign}pass{sign * 3}word{sign}") for sign in UNSEEN}
    assert {sign: text for sign, text in made.items() if text != "password"} == {}


@pytest.mark.parametrize("word", WRITTEN)
def test_what_people_write_stays(word: str) -> None:
    for cleaned in (clean_text, clean_lines, clean_line):
        assert cleaned(f"a {word} b, {word}") == f"a {word} b, {word}"


def test_lines_stay_in_a_text_and_become_blanks_in_a_name() -> None:
    typed = " a\tb\r\nc\rd\u2028e\u2800\u00a0f \ud800"
    assert clean_lines(typed) == " a\tb\nc\nd\ne\u2800\u00a0f "
    assert clean_line(typed) == "a b c d e f"
    assert clean_text("a\u2028b\u2029c\r\n") == "a\nb\nc\n"


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("A\u200dna", "Ana"),
        ("A\u200c\u200d\ufe0fna\ufe0f", "Ana"),
        ("\u200dAna \u200c\ufe0f Ruiz", "Ana Ruiz"),
        ("e\u0301\ufe0f 7\u200d", "e\u0301 7"),
        ("👩\u200d\u200d\u200c🍳", "👩\u200d🍳"),
        ("☎\ufe0f\ufe0e\ufe0f", "☎\ufe0f"),
        ("\u200b\u200d\ufe0f\u3164", ""),
        ("Table 7\ufe0e", "Table 7"),
        ("7\ufe0fa #\ufe0e *\ufe0f", "7a # *"),
        ("1\ufe0f\ufe0e\u20e3", "1\ufe0f\u20e3"),
        ("ạ\ufe0e a\u0323\ufe0f", "ạ a\u0323"),
        ("日\ufe0e本\ufe0f ש\ufe0e क\ufe0f ①\ufe0e -\ufe0f", "日本 ש क ① -"),
        ("👩\u200d ☎\u200c\u200d x\ufe0f\u200d", "👩 ☎ x"),
    ],
)
def test_a_joiner_or_a_selector_that_has_nothing_to_do_is_no_part_of_a_name(
    typed: str, kept: str
) -> None:
    assert clean_line(typed) == kept


ODD = st.text(st.sampled_from([*UNSEEN, *"\u200c\u200d\ufe0e\ufe0f ae1é👩☎क\u094dم\r\n\t\ud800"]))


@given(ODD, ODD)
def test_text_may_be_cleaned_as_it_comes(first: str, second: str) -> None:
    assert clean_text(first) + clean_text(second) == clean_text(first + second)


@given(ODD)
def test_what_is_clean_stays_as_it_is(text: str) -> None:
    for cleaned in (clean_text, clean_lines, clean_line):
        assert cleaned(cleaned(text)) == cleaned(text)


# Where names and titles are read.


def named_section(text: str) -> str:
    body = f"One.\r\n\r\n{text}"
    draft = read_section(MultiDict({"title_en": text, "title_es": text, "body_en": body}))
    assert draft.body_en == f"One.\n\n{SEEN}"
    assert draft.title_es == SEEN
    return draft.title_en


def named_product(text: str) -> str:
    columns = {"tag": text, "ingredient_en": text, "name_es": text, "description_en": text}
    form = read_product(MultiDict({"name_en": text, "category": text, **columns}), "dishes")
    others = [form.tags[0], form.ingredients[0].en]
    others += [form.texts[name] for name in ("name_es", "category", "description_en")]
    assert set(others) == {SEEN}
    return form.texts["name_en"]


def named_option(text: str) -> str:
    form = MultiDict({"o-value": "", "o-en": text, "o-es": text})
    [(_value, english, spanish)] = read_open_row(new_row("radio", 1), form).options
    assert spanish == SEEN
    return english


def named_form_of_a_model(text: str) -> str:
    words = {"en": text, "es": text}
    field = {"type": "text", "name": "a", "label": words}
    drafted = read_drafted(json.dumps({"title": words, "fields": [field]}))
    assert drafted.content["fields"][0]["label"]["es"] == SEEN
    return str(drafted.content["title_en"])


def imported_section(text: str) -> str:
    reading = read_file(f"# {text}\n\n{text}\n".encode(), "a.md", "sop", "en")
    [section] = reading.documents[0].sections
    assert section.body == SEEN
    return section.title


READERS: dict[str, Callable[[str], str]] = {
    "person": clean_name,
    "message": clean_message,
    "prompt": lambda text: clean_texts(Texts(text, "")).en,
    "field": clean,
    "long field": lambda text: clean(text, lines=True),
    "choice": named_option,
    "form of a model": named_form_of_a_model,
    "contact": lambda text: read_contact(ContactTexts(text), "US").name,
    "words of a category": lambda text: split_words(text)[0],
    "section": named_section,
    "product": named_product,
    "imported section": imported_section,
    "file": lambda text: tidy_name(f"{text}.pdf", "application/pdf").removesuffix(".pdf"),
}


@pytest.mark.parametrize("what", READERS)
def test_every_reader_of_names_drops_it(what: str) -> None:
    assert READERS[what](HIDDEN) == SEEN


@pytest.mark.parametrize("what", ["person", "message", "contact"])
def test_what_is_nothing_on_the_screen_is_no_name(what: str) -> None:
    with pytest.raises(InvalidInput):
        READERS[what]("\u200b\u3164 \u2800\u200d\ufe0f")


# Where they are kept.


@pytest.fixture
def boss(owner: Database, member: Member) -> Member:
    return make_user(owner, member.group_id, "admin")


@pytest.fixture
def admin(app: Flask, owner: Database, boss: Member) -> CheckedClient:
    return sign_in(app, owner, boss)


def kept(owner: Database, column: Any, **facts: Any) -> list[Any]:
    with owner.transaction() as session:
        return list(session.scalars(select(column).filter_by(**facts)))


def test_names_of_people_and_groups_are_kept_without_it(
    owner: Database, member: Member, browser: CheckedClient
) -> None:
    form = {"language": "en", "theme": "dark", "units": "us"}
    assert browser.post("/profile", name=HIDDEN, **form).status_code == 303
    assert kept(owner, User.name, id=member.user_id) == [SEEN]
    with owner.transaction() as session:
        group_id = create_group(session, f"house-{new_id()}", HIDDEN).id
    assert kept(owner, Group.name, id=group_id) == [SEEN]


def test_titles_of_chats_and_remarks_are_kept_without_it(
    database: Database, owner: Database, member: Member, browser: CheckedClient
) -> None:
    thread_id = make_thread(database, member, HIDDEN)
    assert kept(owner, Thread.title, id=thread_id) == [SEEN]
    assert browser.post(f"/chats/{thread_id}/rename", title=f"My {HIDDEN}").status_code == 303
    assert kept(owner, Thread.title, id=thread_id) == [f"My {SEEN}"]
    browser.post(f"/chats/{thread_id}/rename", title="\u200b\ufeff")
    assert kept(owner, Thread.title, id=thread_id) == [f"My {SEEN}"]
    with database.transaction(member.scope) as session:
        reply = latest_messages(session, thread_id)[-1]
        rate_reply(session, reply, "down", comment=HIDDEN)
    assert kept(owner, MessageFeedback.comment, message_id=reply.id) == [SEEN]


def test_forms_expenses_and_categories_are_kept_without_it(
    database: Database, owner: Database, boss: Member, admin: CheckedClient
) -> None:
    made = {"from": "nothing", "title": HIDDEN}
    assert admin.post("/admin/forms/new", **made).status_code == 303
    assert kept(owner, FormTemplate.title_en, group_id=boss.group_id) == [SEEN]
    written = {"item": HIDDEN, "note": f"{HIDDEN}\r\n{HIDDEN}", "amount": "80"}
    assert admin.post("/expenses/new", key=str(new_id()), **written).status_code == 303
    assert kept(owner, Expense.item, group_id=boss.group_id) == [SEEN]
    assert kept(owner, Expense.note, group_id=boss.group_id) == [f"{SEEN}\n{SEEN}"]
    ledger = ledger_of(database, boss)
    renamed = [{**each, "name_en": f"{HIDDEN} {n}"} for n, each in enumerate(ledger.offered)]
    with database.transaction(boss.scope) as session:
        saved = save_settings(session, ledger.currencies, renamed, 0).categories
    assert [each["name_en"] for each in saved][:2] == [f"{SEEN} 0", f"{SEEN} 1"]


def test_notes_and_replies_of_requests_are_kept_without_it(
    owner: Database, member: Member, boss: Member, admin: CheckedClient
) -> None:
    request = make_request(owner, member, team_id=make_team(owner, boss.group_id, [boss]))
    for what in ("notes", "replies"):
        form = {"words": HIDDEN, "message_key": str(new_id())}
        assert admin.post(f"/requests/{request.id}/{what}", **form).status_code == 303
        nothing = {"words": "\u200b\u200d", "message_key": str(new_id())}
        admin.post(f"/requests/{request.id}/{what}", **nothing)
    assert [update.body for update in read_updates(owner, request)] == [SEEN, SEEN]


def test_the_name_of_an_imported_file_is_kept_without_it(database: Database, boss: Member) -> None:
    with database.session(boss.scope) as session:
        item, _is_new = receive_file(session, b"# A\n\nB\n", f"{HIDDEN}.md", "sop", "en")
        assert item.filename == f"{SEEN}.md"
