"""Words without a break and long addresses, in every text that people write: no page gets wider."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select, update

from app.accounts.models import Invitation
from app.assistant.feedback.feedback import load_reply, rate_reply
from app.assistant.models import Message, MessageFeedback, Prompt, SavedSentence, Thread
from app.assistant.threads.threads import latest_messages
from app.db import utc_now
from app.notifications.services import Notification
from app.skills.forms.models import FormSubmission
from app.skills.knowledge.models import LibraryImport
from tests.browser.chat_page import Visitor
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.looks import BOTH_SIZES, STILL, TOO_WIDE
from tests.factories import Member, make_group, make_thread, make_user
from tests.factories.chat import make_turn_facts
from tests.factories.expenses import make_expense
from tests.factories.forms import make_contact, make_form
from tests.factories.library import make_product, make_section
from tests.factories.service_requests import make_request, make_team, make_type, make_update

WORD = "Donaudampfschifffahrtsgesellschaft" * 9
ADDRESS = "https://example.com/" + "a-long-path-" * 22
NAME = WORD[:80]
TEXT = f"{WORD} {ADDRESS}"
BODY = f"""{TEXT}

## {WORD[:110]}

- {WORD}
- **{WORD}** and `{WORD}`

> {WORD}

| {WORD} | {WORD[:60]} | b |
|---|---|---|
| {WORD} | {ADDRESS} | b |

[{WORD}](https://example.com/x)

{WORD}
"""
BOTH: dict[str, str] = {"en": WORD[:120], "es": WORD[:120]}
FIELDS: list[dict[str, Any]] = [
    {"type": "text", "name": "what", "label": BOTH, "help": BOTH},
    {"type": "textarea", "name": "more", "label": BOTH},
    {
        "type": "select",
        "name": "kind",
        "label": BOTH,
        "options": [{"value": "a", "label": BOTH}, {"value": "b", "label": BOTH}],
    },
    {"type": "checkbox", "name": "sure", "label": BOTH},
]
# Text that is cut at the edge of its element, where no dots say that there is more.
CUT_OFF = """() => {
  const dotted = (element) => getComputedStyle(element).textOverflow === "ellipsis";
  return [...document.querySelectorAll("body *")].filter((element) => {
    const { overflowX } = getComputedStyle(element);
    return /hidden|clip/.test(overflowX) && element.scrollWidth > element.clientWidth + 1
      && element.textContent.trim() && !dotted(element)
      && ![...element.querySelectorAll("*")].some(dotted)
      && element.checkVisibility({ visibilityProperty: true })
      && !element.closest(".visually-hidden, svg");
  }).map(({ localName, className }) => `cut: ${localName}.${className}`);
}"""


@pytest.fixture(scope="module")
def words(house: House) -> tuple[Member, list[str]]:
    """An admin of a restaurant in which people write without a break, and its pages."""
    owner, database = house.owner, house.app.extensions["comanda"].database
    group = make_group(owner, NAME)
    boss = make_user(owner, group, "admin", name=NAME)
    make_user(owner, group, "staff", name=NAME[::-1])
    thread = make_thread(database, boss, TEXT, reply=BODY)
    with owner.transaction() as session:
        session.execute(update(Thread).where(Thread.id == thread).values(title=NAME))
    reply = _judge(house, boss, thread)
    paths = _library(house, boss) + _forms(house, boss) + _requests(house, boss)
    expense = make_expense(database, boss, WORD[:120], note=WORD)
    prompt = _rows(house, boss)
    return boss, [
        "/chat",
        f"/chat/{thread}",
        f"/chat/{thread}/messages/{reply.id}/feedback",
        "/chats",
        f"/chats?q={WORD}",
        f"/admin/turns/{reply.turn_id}",
        "/admin/turns",
        "/admin/usage?table=1",
        "/admin/feedback?state=all",
        "/admin/feedback/unanswered?state=all",
        f"/admin/search?q={WORD[:190]}&why={WORD[:60]}",
        "/admin/prompts/",
        f"/admin/prompts/{prompt}",
        f"/admin/prompts/{prompt}/history",
        "/admin/prompts/sentences/",
        "/expenses",
        f"/expenses?q={WORD}",
        f"/expenses/{expense.id}/edit",
        "/expenses/new",
        "/expenses/settings",
        "/notifications",
        "/people",
        "/profile",
        *paths,
    ]


def _judge(house: House, boss: Member, thread: UUID) -> Message:
    """A thumb down with words, and what is shared with it."""
    database = house.app.extensions["comanda"].database
    with database.session(boss.scope) as session:
        reply = latest_messages(session, thread)[-1]
        found = load_reply(session, thread, reply.id)
        rate_reply(session, found, "down", "wrong", WORD, share=True)
        assert session.scalar(select(MessageFeedback.id))
    make_turn_facts(database, boss, turn_id=reply.turn_id, thread_id=thread, model=WORD)
    with database.transaction(boss.scope) as session:
        message: Message = session.scalars(select(Message).where(Message.id == reply.id)).one()
        session.expunge(message)
    return message


def _library(house: House, boss: Member) -> list[str]:
    owner = house.owner
    section = make_section(owner, boss.group_id, "long", WORD[:120], BODY)
    named = {"name_en": WORD[:120], "name_es": WORD[:120], "description_en": TEXT}
    more = {"category": WORD[:60], "tags": [WORD[:60]], "facts": {"weight": WORD}}
    items = {"ingredients": [BOTH], "steps": [BOTH], "pairing_notes_en": WORD}
    dish = make_product(owner, boss.group_id, slug="long", **named, **more, **items)
    recipe = make_product(owner, boss.group_id, "recipes", "long", **named, **items)
    with owner.transaction() as session:
        item = LibraryImport(
            group_id=boss.group_id, user_id=boss.user_id, role="admin", target="sop",
            language="en", filename=f"{WORD[:120]}.md", digest="x", status="failed",
            problems=[["", "duplicate_slug", WORD, True]],
        )  # fmt: skip
        session.add(item)
        session.flush()
        import_id = item.id
    return [
        "/library/",
        f"/library/search?q={WORD[:40]}",
        "/library/manual/long",
        "/library/manual/long/versions",
        "/library/dishes",
        "/library/dishes/long",
        "/library/recipes/long",
        f"/library/edit/sections/{section.id}",
        f"/library/edit/sections/{section.id}/withdraw",
        f"/library/edit/products/{dish.id}",
        f"/library/edit/products/{recipe.id}",
        "/library/edit/translations",
        "/library/edit/tags",
        "/library/edit/allergens",
        "/library/imports/",
        f"/library/imports/{import_id}",
    ]


def _forms(house: House, boss: Member) -> list[str]:
    owner = house.owner
    titles = {f"{name}_{each}": WORD[:110] for name in ("title", "description")
              for each in ("en", "es")}  # fmt: skip
    form = make_form(owner, boss.group_id, "long", fields=FIELDS, **titles)
    contact = make_contact(owner, boss.group_id, NAME)
    facts = {"group_id": boss.group_id, "user_id": boss.user_id, "submitter": NAME}
    with owner.transaction() as session:
        sent = FormSubmission(
            template_id=form.id, template_version=1, year=2026, number=1, language="en",
            form={"slug": "long", "icon": "form", "fields": FIELDS, **titles},
            values={"what": WORD, "more": TEXT, "kind": "a", "sure": True}, **facts,
        )  # fmt: skip
        session.add(sent)
        session.flush()
        sent_id = sent.id
    return [
        "/forms/",
        "/forms/long",
        "/forms/submissions/",
        f"/forms/submissions/{sent_id}",
        "/admin/forms/",
        f"/admin/forms/{form.id}",
        f"/admin/forms/{form.id}/history",
        "/admin/contacts/",
        f"/admin/contacts/{contact.id}",
    ]


def _requests(house: House, boss: Member) -> list[str]:
    owner = house.owner
    team = make_team(owner, boss.group_id, [boss], NAME)
    type_ = make_type(owner, boss.group_id, name_en=NAME, name_es=NAME, team_id=team)
    request = make_request(owner, boss, WORD, type_id=type_.id, team_id=team)
    make_update(owner, request, boss, "reply", body=TEXT)
    return [
        "/requests",
        f"/requests/{request.id}",
        "/requests/queue?status=all",
        "/requests/queue/analytics",
        "/admin/requests/",
        f"/admin/requests/{type_.id}",
        f"/admin/requests/{type_.id}/history",
        "/admin/requests/teams/",
        f"/admin/requests/teams/{team}",
        "/admin/requests/settings/",
    ]


def _rows(house: House, boss: Member) -> UUID:
    """What has no factory; returns the id of a prompt."""
    of = {"group_id": boss.group_id}
    with house.owner.transaction() as session:
        session.add(SavedSentence(text=TEXT, language="en", **of))
        session.add(
            Notification(user_id=boss.user_id, text_en=TEXT, text_es=TEXT, url="/chat", **of)
        )
        session.add(
            Invitation(
                email=f"{WORD[:60]}@{WORD[:60]}.example", role="staff", token_hash=WORD,
                expires_at=utc_now() + timedelta(days=1), **of,
            )
        )  # fmt: skip
        query = select(Prompt).where(Prompt.group_id == boss.group_id).order_by(Prompt.slug)
        prompt = session.scalars(query).first()
        assert prompt is not None
        prompt.prompt_en = prompt.prompt_es = TEXT
        return prompt.id


# There are many pages, and a busy machine looks at each for seconds.
@pytest.mark.timeout(400)
@BOTH_SIZES
def test_a_word_without_a_break_widens_no_page_and_is_not_cut_off(
    visit: Visit, words: tuple[Member, list[str]], phone: bool
) -> None:
    boss, paths = words
    visitor = visit(boss, phone=phone, media=STILL, fresh=True)
    # A builder that brings such words into order asks before it is left.
    visitor.page.add_init_script(
        "addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), true)"
    )
    found = {path[:60]: _look_at(visitor, path) for path in paths}
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


def _look_at(visitor: Visitor, path: str) -> list[str]:
    answer = visitor.page.goto(visitor.url + path)
    status = [] if answer and answer.ok else [f"status {answer.status if answer else 0}"]
    wide = "document.scrollingElement.scrollWidth > innerWidth ? ['scrolls sideways'] : []"
    found = [*visitor.evaluate(wide), *visitor.evaluate(TOO_WIDE), *visitor.evaluate(CUT_OFF)]
    return [*status, *found]
