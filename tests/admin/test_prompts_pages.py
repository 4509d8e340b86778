"""The prompt pages: who may, what a save does, what is refused, and that nothing is lost."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import func, select
from werkzeug.test import TestResponse

from app.accounts.models import AuditEntry
from app.assistant.models import Prompt, PromptRevision
from app.assistant.prompts import editor as prompt_editing
from app.assistant.prompts import history as prompt_history
from app.assistant.prompts.editor import Clash, Texts
from app.assistant.prompts.system_prompt import assemble, load_prompts, seed_prompts, seeds_of
from app.assistant.tools.registry import Registry, Skill
from app.db import Database, new_id
from tests.assistant.scripted import ScriptedProvider, say
from tests.factories import CheckedClient, Member, Page, answer, ask, make_user, sign_in
from tests.growth import counted

HOME = "/admin/prompts/"
NASTY = "{{ 7 * 7 }} {% raw %} <script>alert(1)</script> %(name)s </textarea>"


@pytest.fixture
def admin(owner: Database) -> Member:
    return make_user(owner, role="admin", name="Ada")


@pytest.fixture
def browser(app: Flask, owner: Database, admin: Member) -> CheckedClient:
    return sign_in(app, owner, admin)


def row_of(owner: Database, member: Member, slug: str = "base-persona") -> Prompt:
    with owner.session() as session:
        return session.scalars(
            select(Prompt).where(Prompt.group_id == member.group_id, Prompt.slug == slug)
        ).one()


def order_of(owner: Database, member: Member, category: str = "system") -> list[str]:
    with owner.session() as session:
        rows = session.scalars(
            select(Prompt)
            .where(Prompt.group_id == member.group_id, Prompt.category == category)
            .order_by(Prompt.sort_order, Prompt.slug)
        )
        return [row.slug for row in rows]


def revisions(owner: Database, row: Prompt) -> list[PromptRevision]:
    with owner.session() as session:
        query = select(PromptRevision).where(PromptRevision.prompt_id == row.id)
        return list(session.scalars(query.order_by(PromptRevision.version)))


def save(browser: CheckedClient, row: Prompt, en: str, es: str, version: int = 0) -> Any:
    form = {"prompt_en": en, "prompt_es": es, "version": version or row.version}
    return browser.post(f"{HOME}{row.id}", **form)


def system_prompt(app: Flask, member: Member, language: str = "en") -> str:
    """What the next turn tells a model."""
    provider = ScriptedProvider(say("Fine."))
    database = app.extensions["comanda"].database
    answer(app, member, ask(database, member, "Hello", language=language), provider)
    return provider.requests[0].messages[0].text


# The list


def test_the_list_shows_each_row_with_its_sizes(browser: CheckedClient) -> None:
    page = browser.page(HOME)
    assert "base-persona" in page.text
    assert "Whole prompt in English" in page.text
    assert "estimated" in page.text
    assert "search_wines" in page.text
    browser.fragment(HOME)


def test_each_place_of_a_row_is_called_as_people_call_it(app: Flask, owner: Database) -> None:
    """A skill says its name itself, what the library holds is in its vocabulary."""
    registry = app.extensions["comanda"].registry
    places = {row.domain for row in seeds_of(registry).values() if row.domain}
    assert places - set(registry.titles) - set(registry.domains) == set()
    browser = sign_in(app, owner, make_user(owner, role="admin", language="es"))
    shown = set(re.findall(r'<li class="badge">([^<]+)</li>', browser.get(HOME).text))
    assert {"Gastos", "Solicitudes", "Formularios", "Manual", "Vinos"} <= shown


def test_a_row_is_switched_off_and_on_and_counts_at_once(
    app: Flask, owner: Database, admin: Member, browser: CheckedClient
) -> None:
    row = row_of(owner, admin)
    assert "You are Comanda" in system_prompt(app, admin)
    form = {"to": "off", "version": 1}
    assert browser.post(f"{HOME}{row.id}/switch", **form).status_code == 303
    assert "You are Comanda" not in system_prompt(app, admin)
    # Twice the same is no error, and no second revision.
    assert browser.post(f"{HOME}{row.id}/switch", **form).status_code == 303
    assert row_of(owner, admin).version == 2
    browser.post(f"{HOME}{row.id}/switch", to="on", version=2)
    assert "You are Comanda" in system_prompt(app, admin)
    assert [each.is_active for each in revisions(owner, row)] == [True, False]


def test_a_row_that_is_off_takes_its_tool_with_it(
    app: Flask, owner: Database, admin: Member, browser: CheckedClient
) -> None:
    def offered() -> list[str]:
        provider = ScriptedProvider(say("Fine."))
        answer(app, admin, ask(app.extensions["comanda"].database, admin), provider)
        return [spec.name for spec in provider.requests[0].tools]

    assert "search_wines" in offered()
    row = row_of(owner, admin, "domain-wines")
    browser.post(f"{HOME}{row.id}/switch", to="off", version=1)
    assert "search_wines" not in offered()
    assert "search_dishes" in offered()


def test_a_required_row_cannot_be_switched_off_and_says_why(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    row = row_of(owner, admin, "behavior-rules")
    assert row.is_required
    form = {"to": "off", "version": 1}
    for part in (True, False):
        answered = browser.post(f"{HOME}{row.id}/switch", htmx=part, **form)
        assert answered.status_code == 409
        assert "grounded, cited and safe" in answered.text
    assert row_of(owner, admin, "behavior-rules").is_active


def test_rows_move_up_and_down_within_their_category(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    def move(slug: str, to: str) -> int:
        row = row_of(owner, admin, slug)
        answered = browser.post(f"{HOME}{row.id}/move", to=to, version=row.version)
        return answered.status_code

    persona, tools, forms, rules = "base-persona", "tool-map", "form-intent-map", "behavior-rules"
    assert order_of(owner, admin) == [persona, tools, forms, rules]
    assert move(rules, "up") == 303
    assert order_of(owner, admin) == [persona, tools, rules, forms]
    assert move(persona, "up") == 303
    assert move(persona, "down") == 303
    assert order_of(owner, admin) == [tools, persona, rules, forms]
    # Rows that share a number move one place, too.
    before = order_of(owner, admin, "domain")
    assert move(before[3], "up") == 303
    assert order_of(owner, admin, "domain") == [*before[:2], before[3], before[2], *before[4:]]
    assert order_of(owner, admin) == [tools, persona, rules, forms]


def test_a_stale_list_changes_nothing(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    row = row_of(owner, admin, "tool-map")
    save(browser, row, "Other.", row.prompt_es)
    for path, to in (("switch", "off"), ("move", "up")):
        answered = browser.post(f"{HOME}{row.id}/{path}", to=to, version=1)
        assert answered.status_code == 409
        assert "Somebody changed this row in the meantime." in answered.text
    assert row_of(owner, admin, "tool-map").version == 2


# Editing


def test_a_saved_text_counts_from_the_next_turn_on_and_the_old_one_is_kept(
    app: Flask, owner: Database, admin: Member, browser: CheckedClient
) -> None:
    row = row_of(owner, admin)
    assert save(browser, row, "You are the parrot.", "Eres el loro.").status_code == 303
    assert "You are the parrot." in system_prompt(app, admin)
    assert "Eres el loro." in system_prompt(app, admin, "es")
    [kept] = revisions(owner, row)
    assert (kept.version, kept.prompt_en) == (1, row.prompt_en)
    now = row_of(owner, admin)
    assert (now.version, now.edited_by) == (2, admin.user_id)
    assert "Ada" in browser.page(HOME).text
    with owner.session() as session:
        done = select(AuditEntry.action).where(AuditEntry.group_id == admin.group_id)
        assert "prompt_edited" in session.scalars(done).all()


def test_saving_what_is_there_already_keeps_no_revision(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    row = row_of(owner, admin)
    typed = row.prompt_en.replace("\n", "\r\n") + "  \r\n"
    assert save(browser, row, typed, row.prompt_es).status_code == 303
    assert revisions(owner, row) == []


def test_braces_and_html_are_just_text(
    app: Flask, owner: Database, admin: Member, browser: CheckedClient
) -> None:
    row = row_of(owner, admin)
    save(browser, row, NASTY, NASTY)
    assert NASTY in system_prompt(app, admin)
    for path in ("", f"{row.id}", f"{row.id}/history"):
        page = browser.page(HOME + path)
        assert not [s for s in page.find_all("script") if "alert" in s.text]
    field = browser.page(f"{HOME}{row.id}").find("textarea", id="f-prompt_en")
    assert "{{ 7 * 7 }}" in field.text


def test_with_one_language_empty_the_other_serves_and_the_page_warns(
    app: Flask, owner: Database, admin: Member, browser: CheckedClient
) -> None:
    row = row_of(owner, admin)
    assert save(browser, row, "Only English.", "  ").status_code == 303
    assert "Only English." in system_prompt(app, admin, "es")
    assert "the other one is used for both" in browser.page(f"{HOME}{row.id}").text


@pytest.mark.parametrize(
    ("en", "es", "said"),
    [
        ("", " ", "Write the text in at least one language."),
        ("x" * 200_000, "Bien.", "200,000 characters"),
    ],
    ids=["both empty", "200 KB"],
)
def test_a_text_that_cannot_be_kept_is_refused_and_stays_in_the_form(
    owner: Database, admin: Member, browser: CheckedClient, en: str, es: str, said: str
) -> None:
    row = row_of(owner, admin)
    answered = save(browser, row, en, es)
    assert answered.status_code == 422
    assert said in answered.text
    assert en in answered.text
    assert row_of(owner, admin).version == 1


def test_a_stale_save_loses_nothing_and_is_not_written(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    row = row_of(owner, admin)
    save(browser, row, "Theirs in English.", row.prompt_es)
    answered = save(browser, row, "Mine in English.", "Mío en español.", version=1)
    assert answered.status_code == 409
    for text in ("Mine in English.", "Theirs in English.", "Mío en español.", row.prompt_en):
        assert text in answered.text.replace("&#39;", "'"), text
    assert row_of(owner, admin).prompt_en == "Theirs in English."
    # Once more, knowing of both.
    assert save(browser, row, "Both.", "Ambos.", version=2).status_code == 303
    assert [each.prompt_en for each in revisions(owner, row)][1] == "Theirs in English."


def test_a_clash_takes_over_what_only_one_has_changed(
    owner: Database, database: Database, admin: Member
) -> None:
    row = row_of(owner, admin)
    with database.session(admin.scope) as session:
        prompt_editing.save_texts(session, row.id, 1, Texts("Theirs.", row.prompt_es))
        clash = prompt_editing.save_texts(session, row.id, 1, Texts(row.prompt_en, "Mío."))
        assert isinstance(clash, Clash)
        assert clash.merged == Texts("Theirs.", "Mío.")
        assert clash.is_about == []


def test_a_text_is_saved_although_the_row_was_moved_meanwhile(
    owner: Database, database: Database, admin: Member
) -> None:
    row = row_of(owner, admin, "tool-map")
    with database.session(admin.scope) as session:
        prompt_editing.move(session, row.id, 1, up=True)
        saved = prompt_editing.save_texts(session, row.id, 1, Texts("Mine.", "Mío."))
        assert isinstance(saved, Prompt)
        assert saved.version == 3


def test_of_two_admins_who_save_at_once_one_is_told(
    owner: Database, database: Database, admin: Member
) -> None:
    row, colleague = row_of(owner, admin), make_user(owner, admin.group_id, "admin")

    def save_as(member: Member) -> object:
        with database.session(member.scope) as session:
            return prompt_editing.save_texts(session, row.id, 1, Texts(member.name, "x"))

    with ThreadPoolExecutor() as pool:
        outcomes = list(pool.map(save_as, [admin, colleague]))
    assert sorted(isinstance(each, Clash) for each in outcomes) == [False, True]
    assert len(revisions(owner, row)) == 1


# The history


def test_the_history_shows_what_changed_and_goes_back(
    app: Flask, owner: Database, admin: Member, browser: CheckedClient
) -> None:
    row = row_of(owner, admin)
    save(browser, row, row.prompt_en.replace("calm", "noisy"), row.prompt_es)
    page = browser.page(f"{HOME}{row.id}/history")
    assert page.find_all("del")[0].text == "[removed: calm]"
    assert page.find_all("ins")[0].text == "[added: noisy]"
    assert browser.post(f"{HOME}{row.id}/restore", number=1, version=2).status_code == 303
    assert "calm" in system_prompt(app, admin)
    assert [each.version for each in revisions(owner, row)] == [1, 2]
    stale = browser.post(f"{HOME}{row.id}/restore", number=2, version=2)
    assert stale.status_code == 409
    for number in ("99", "x", "9" * 30):
        assert browser.post(f"{HOME}{row.id}/restore", number=number, version=3).status_code == 404


def test_a_long_history_is_turned_a_page_at_a_time(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    row = row_of(owner, admin)
    for number in range(1, 23):
        save(browser, row_of(owner, admin), f"Text {number}.", row.prompt_es)
    first = browser.page(f"{HOME}{row.id}/history")
    second = browser.page(f"{HOME}{row.id}/history?page=2")
    shown = [[each.text for each in page.find_all("h2")] for page in (first, second)]
    numbers = [[text for text in texts if text.startswith("Version")] for texts in shown]
    assert [len(each) for each in numbers] == [20, 3]
    assert numbers[0][0] == "Version 23 · now"
    assert [*numbers[0][-1:], *numbers[1]] == ["Version 4", "Version 3", "Version 2", "Version 1"]
    assert "The first version." in second.text and "The first version." not in first.text
    assert "Newer versions" in second.text and "Older versions" in first.text
    beyond = browser.page(f"{HOME}{row.id}/history?page=9")
    assert "Newer versions" in beyond.text and "Version 1" not in beyond.text


@pytest.mark.fault(59)
def test_a_history_of_long_texts_takes_no_longer_than_one_comparison(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    row = row_of(owner, admin)
    lines = [f"{number % 97}\n" for number in range(3900)]
    for number in range(6):
        lines[number], lines[-1 - number] = lines[-1 - number], lines[number]
        save(browser, row_of(owner, admin), "".join(lines), row.prompt_es)
    with counted() as cost:
        assert browser.get(f"{HOME}{row.id}/history").status_code == 200
    # Each took as long as this by itself.
    assert cost.seconds < 2


def test_the_row_as_seeded_is_always_there(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    row = row_of(owner, admin)
    save(browser, row, "Other.", "Otro.")
    assert "As it comes with Comanda" in browser.page(f"{HOME}{row.id}/history").text
    browser.post(f"{HOME}{row.id}/restore", number="seed", version=2)
    assert row_of(owner, admin).prompt_en == row.prompt_en


def test_a_new_seed_is_offered_to_who_has_edited_and_never_forced(
    owner: Database, database: Database, admin: Member, tmp_path: Path
) -> None:
    def release(text: str) -> Registry:
        file = tmp_path / f"{new_id()}.yaml"
        entry = f"- {{slug: house-x, category: system, sort_order: 9, en: {text}, es: {text}}}\n"
        file.write_text(entry, "utf-8")
        registry = Registry([Skill("x", prompts=file)])
        with owner.transaction() as session:
            seed_prompts(session, admin.group_id, registry)
        return registry

    first = release("First")
    row = row_of(owner, admin, "house-x")
    with database.session(admin.scope) as session:
        prompt_editing.save_texts(session, row.id, 1, Texts("Ours", "Nuestro"))
        assert (
            prompt_history.offered_seed(first, prompt_editing.load_prompt(session, row.id)) is None
        )
    second = release("Second")
    assert row_of(owner, admin, "house-x").prompt_en == "Ours"
    with database.session(admin.scope) as session:
        offered = prompt_history.offered_seed(second, prompt_editing.load_prompt(session, row.id))
        assert offered
        assert offered.prompt_en == "Second"
        kept = prompt_history.decline_seed(session, second, row.id, offered.seed_digest)
        assert kept.prompt_en == "Ours"
        assert prompt_history.offered_seed(second, kept) is None
    third = release("Third")
    with database.session(admin.scope) as session:
        taken = prompt_history.take_seed(session, third, row.id, 2)
        assert taken.prompt_en == "Third"
        assert prompt_history.offered_seed(third, taken) is None


def test_the_page_of_an_edited_row_offers_the_new_text_until_one_decides(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    row = row_of(owner, admin)
    offer = "Comanda comes with a new text for this row"

    def meet_another_release() -> None:
        with owner.transaction() as session:
            session.get_one(Prompt, row.id).seed_digest = "of an older release"

    meet_another_release()
    save(browser, row, "Ours.", "Nuestro.")
    page = browser.page(f"{HOME}{row.id}")
    assert offer in page.text
    assert "new text available" in browser.page(HOME).text
    keep = f"{HOME}{row.id}/keep-ours"
    assert browser.post(keep, seed_digest="of a release in between").status_code == 409
    assert browser.press(page, keep).status_code == 303
    assert offer not in browser.page(f"{HOME}{row.id}").text
    assert row_of(owner, admin).prompt_en == "Ours."
    meet_another_release()
    browser.post(f"{HOME}{row.id}/restore", number="seed", version=2)
    assert offer not in browser.page(f"{HOME}{row.id}").text
    assert row_of(owner, admin).prompt_en == row.prompt_en


# New rows


def test_a_row_of_the_house_is_added_at_the_end_and_can_be_deleted(
    app: Flask, owner: Database, admin: Member, browser: CheckedClient
) -> None:
    form = {"category": "system", "domain": "", "prompt_en": "Say chef.", "prompt_es": "Di chef."}
    added = browser.post(f"{HOME}new", slug="house-style", **form)
    assert added.status_code == 303
    assert order_of(owner, admin)[-1] == "house-style"
    assert "Say chef." in system_prompt(app, admin)
    again = browser.post(f"{HOME}new", slug="House-Style", **form)
    assert again.status_code == 422
    assert "Another row already has this name." in again.text
    assert "Say chef." in again.text
    row = row_of(owner, admin, "house-style")
    assert "Delete this row" in browser.page(f"{HOME}{row.id}").text
    assert delete(browser, browser.page(f"{HOME}{row.id}"), row).status_code == 303
    assert "Say chef." not in system_prompt(app, admin)


def test_an_action_of_the_restaurants_own_keeps_a_line_for_its_button(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    form = {"category": "action", "domain": "dishes", "slug": "action-dishes-plating"}
    texts = {
        "prompt_en": "Plating\nSay how it is plated.",
        "prompt_es": "Montaje\nDi cómo se monta.",
    }
    assert browser.post(f"{HOME}new", **form, **texts).status_code == 303
    row = row_of(owner, admin, "action-dishes-plating")
    refused = browser.post(f"{HOME}{row.id}", version="1", **{**texts, "prompt_en": "Say how."})
    assert "The first line is what the button says" in browser._page(refused, 422).text
    # A row that came with the assistant has its button already.
    seeded = row_of(owner, admin, "action-dishes-pairing")
    saved = browser.post(f"{HOME}{seeded.id}", version="1", prompt_en="Say it.", prompt_es="Dilo.")
    assert saved.status_code == 303


@pytest.mark.fault(66)
def test_there_are_only_so_many_rows(
    owner: Database, admin: Member, browser: CheckedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = order_of(owner, admin)
    with owner.session() as session:
        here = select(func.count()).select_from(Prompt).where(Prompt.group_id == admin.group_id)
        count = session.scalar(here) or 0
    monkeypatch.setattr("app.assistant.prompts.editor.MOST_ROWS", count + 1)
    form = {"category": "system", "domain": "", "prompt_en": "Say chef.", "prompt_es": "Di chef."}
    assert browser.post(f"{HOME}new", slug="one-more", **form).status_code == 303
    refused = browser.post(f"{HOME}new", slug="too-many", **form)
    assert refused.status_code == 422 and "no room for more" in refused.text
    assert "Say chef." in refused.text
    assert order_of(owner, admin) == [*before, "one-more"]


def delete(browser: CheckedClient, page: Page, row: Prompt) -> TestResponse:
    """Send the form that deletes a row, as a page of it has it."""
    path = f"{HOME}{row.id}/delete"
    fields = [each.attributes for each in page.find("form", action=path).find_all("input")]
    return browser.post(path, **{each["name"]: each["value"] for each in fields})


@pytest.mark.parametrize("more", ["", "/switch"])
def test_a_row_that_somebody_has_changed_meanwhile_is_not_deleted_unseen(
    owner: Database, admin: Member, browser: CheckedClient, more: str
) -> None:
    form = {"category": "system", "domain": "", "prompt_en": "Say chef.", "prompt_es": "Di chef."}
    browser.post(f"{HOME}new", slug="our-tone", **form)
    row = row_of(owner, admin, "our-tone")
    path = f"{HOME}{row.id}"
    shown = browser.page(path)
    changed = {"prompt_en": "Say cook.", "prompt_es": "Di chef.", "to": "off"}
    assert browser.post(f"{path}{more}", version=row.version, **changed).status_code == 303
    page = browser._page(delete(browser, shown, row), 409)
    assert "Somebody changed this row in the meantime." in page.text
    assert row_of(owner, admin, "our-tone").version == row.version + 1
    # Nor by a page that does not say what it showed, as one from before an upgrade.
    assert browser.post(f"{path}/delete").status_code == 409
    assert delete(browser, page, row).status_code == 303
    assert "our-tone" not in order_of(owner, admin)


def test_a_row_whose_typed_text_was_refused_is_deleted_by_the_version_that_was_opened(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    form = {"category": "system", "domain": "", "prompt_en": "Say chef.", "prompt_es": "Di chef."}
    browser.post(f"{HOME}new", slug="our-tone", **form)
    row = row_of(owner, admin, "our-tone")
    path, opened = f"{HOME}{row.id}", {"version": row.version}
    texts = {"prompt_en": "Say cook.", "prompt_es": "Di chef."}
    assert browser.post(path, **texts, **opened).status_code == 303
    refused = browser._page(browser.post(path, prompt_en="", prompt_es="", **opened), 422)
    # That page shows nothing of what somebody else has written.
    assert delete(browser, refused, row).status_code == 409


def test_what_came_with_the_assistant_is_not_deleted(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    row = row_of(owner, admin)
    assert "Delete this row" not in browser.page(f"{HOME}{row.id}").text
    answered = browser.post(f"{HOME}{row.id}/delete")
    assert answered.status_code == 409
    assert "Switch it off instead" in answered.text


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            {"slug": "A b"},
            "Use 3 to 64 lowercase letters, digits, - and _, starting with a letter.",
        ),
        (
            {"slug": "x" * 65},
            "Use 3 to 64 lowercase letters, digits, - and _, starting with a letter.",
        ),
        ({"category": "magic"}, "Choose from the list."),
        ({"category": "domain"}, "Choose where this row counts."),
        ({"category": "domain", "domain": "moon"}, "Choose where this row counts."),
        (
            {"domain": "wines"},
            "A row that always counts has no place of its own: choose “Everywhere”.",
        ),
        ({"category": "action", "domain": "wines"}, "action-wines-"),
        ({"prompt_en": "", "prompt_es": ""}, "Write the text in at least one language."),
        (
            {
                "category": "action",
                "domain": "wines",
                "slug": "action-wines-glass",
                "prompt_en": "Say which glass it is poured in.",
            },
            "The first line is what the button says, up to 40 characters.",
        ),
        (
            {
                "category": "action",
                "domain": "wines",
                "slug": "action-wines-glass",
                "prompt_en": "Glass\nSay which.",
                "prompt_es": "x" * 41 + "\nDi cuál.",
            },
            "The first line is what the button says, up to 40 characters.",
        ),
    ],
)
def test_a_new_row_that_cannot_be_is_refused_in_words(
    browser: CheckedClient, wrong: dict[str, Any], said: str
) -> None:
    form = {"slug": "fine", "category": "system", "domain": "", "prompt_en": "x", "prompt_es": "x"}
    answered = browser.post(f"{HOME}new", **{**form, **wrong})
    assert answered.status_code == 422
    assert said in answered.text


# Who may


def every_route(row_id: UUID) -> list[tuple[str, str]]:
    one = f"{HOME}{row_id}"
    posts = ("switch", "move", "delete", "restore", "keep-ours", "bench", "bench/cancel")
    return [
        ("GET", HOME),
        ("GET", f"{HOME}new"),
        ("POST", f"{HOME}new"),
        ("GET", one),
        ("POST", one),
        ("GET", f"{one}/history"),
        ("GET", f"{one}/bench"),
        *(("POST", f"{one}/{name}") for name in posts),
        ("GET", f"{HOME}sentences/"),
        ("POST", f"{HOME}sentences/"),
    ]


@pytest.mark.parametrize("role", ["staff", "manager", ""])
def test_only_admins_get_in(app: Flask, owner: Database, admin: Member, role: str) -> None:
    row = row_of(owner, admin)
    if role:
        browser = sign_in(app, owner, make_user(owner, admin.group_id, role))
    else:
        browser = CheckedClient(app.test_client())
    for method, path in every_route(row.id):
        answered = browser.get(path) if method == "GET" else browser.post(path)
        assert answered.status_code == (403 if role else 303), path
        assert role or "/sign-in" in answered.headers["Location"]
    assert row_of(owner, admin).version == 1


def test_another_groups_rows_are_not_there(
    app: Flask, owner: Database, admin: Member, browser: CheckedClient
) -> None:
    theirs = row_of(owner, make_user(owner, role="admin"))
    for missing in (theirs.id, new_id()):
        for method, path in every_route(missing):
            if str(missing) not in path:
                continue
            form = {"to": "up" if path.endswith("move") else "off", "version": 1, "number": 1}
            form |= {"prompt_en": "x", "prompt_es": "x"}
            answered = browser.get(path) if method == "GET" else browser.post(path, **form)
            assert answered.status_code == 404, path


def test_what_changes_something_takes_posts_with_a_token_only(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    row = row_of(owner, admin)
    for name in ("switch", "move", "delete", "restore", "keep-ours", "bench/cancel"):
        assert browser.get(f"{HOME}{row.id}/{name}").status_code == 405
    for method, path in every_route(row.id):
        if method == "POST":
            assert browser.post(path, token=False).status_code == 400, path


@pytest.mark.parametrize("path", ["switch", "move"])
def test_a_form_without_a_choice_is_refused(
    owner: Database, admin: Member, browser: CheckedClient, path: str
) -> None:
    row = row_of(owner, admin)
    for form in ({}, {"to": "sideways", "version": "x"}):
        assert browser.post(f"{HOME}{row.id}/{path}", **form).status_code == 422


# Pieces


def test_an_empty_language_takes_the_other_in_the_whole_prompt(
    owner: Database, database: Database, admin: Member
) -> None:
    with database.session(admin.scope) as session:
        rows = load_prompts(session)
        rows[0].prompt_es = ""
        assert rows[0].prompt_en.strip() in assemble(rows, language="es", domain="manual")


@pytest.mark.parametrize("has_model", [True, False])
def test_where_nothing_reads_the_rows_their_pages_say_so(
    app: Flask, owner: Database, admin: Member, browser: CheckedClient, has_model: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    on = app.extensions["comanda"]
    provider = {"ai_provider": "openai" if has_model else "builtin"}
    monkeypatch.setitem(
        app.extensions, "comanda", replace(on, settings=on.settings.model_copy(update=provider))
    )
    for address in (HOME, f"{HOME}{row_of(owner, admin).id}"):
        said = "nothing reads these texts" in browser.page(address).text
        assert said is not has_model, address
