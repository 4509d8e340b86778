"""The system prompt: which rows count, in which language and order, and what they switch off."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from flask import Flask
from sqlalchemy import select, update

from app.assistant.models import Prompt
from app.assistant.prompts.system_prompt import (
    CORE_PROMPTS,
    assemble,
    check_action,
    inactive_slugs,
    load_prompts,
    seed_prompts,
    seeds_of,
)
from app.assistant.tools.registry import Registry
from app.db import Database
from app.errors import InvalidInput
from app.skills import SKILLS
from app.skills.knowledge.services.display import ACTIONS
from tests.assistant.scripted import ScriptedProvider, say
from tests.factories import Member, answer, ask, make_user


def row(slug: str, category: str = "system", order: int = 0, **more: Any) -> Prompt:
    values = {"domain": None, "is_active": True, **more}
    return Prompt(
        slug=slug,
        category=category,
        sort_order=order,
        prompt_en=f"{slug} in English",
        prompt_es=f"{slug} en español",
        **values,
    )


ROWS = (
    row("base", order=0),
    row("off", order=1, is_active=False),
    row("domain-wines", "domain", 10, domain="wines"),
    row("domain-manual", "domain", 10, domain="manual"),
    row("skill-x", "skill", 20, domain="manual"),
    row("action-wines-pairing", "action", 30, domain="wines"),
    row("action-dishes-pairing", "action", 30, domain="dishes"),
)


def test_system_domain_and_skill_rows_come_in_order_and_the_generated_block_last() -> None:
    text = assemble(ROWS, language="en", domain="wines", generated=("Today.", "Answer."))
    assert text.split("\n\n") == [
        "base in English",
        "domain-wines in English",
        "skill-x in English",
        "Today.\nAnswer.",
    ]


def test_an_action_brings_its_own_row_only_in_its_domain() -> None:
    assert "action-wines-pairing en español" in assemble(
        ROWS, language="es", domain="wines", action="pairing"
    )
    for action in ("", "other"):
        assert "action-" not in assemble(ROWS, language="es", domain="wines", action=action)


def test_an_inactive_row_does_not_count() -> None:
    assert "off" not in assemble(ROWS, language="en", domain="manual")
    assert inactive_slugs(ROWS) == {"off"}


@pytest.fixture
def member(owner: Database) -> Member:
    return make_user(owner, allergens=["milk", "peanut"])


def change(owner: Database, member: Member, slug: str, **values: Any) -> None:
    with owner.transaction() as session:
        found = session.execute(
            update(Prompt)
            .where(Prompt.group_id == member.group_id, Prompt.slug == slug)
            .values(**values)
        )
        assert found.rowcount == 1  # type: ignore[attr-defined]


def asked(app: Flask, member: Member, text: str = "Hello", **more: Any) -> ScriptedProvider:
    """What a model is given for a message."""
    provider = ScriptedProvider(say("Fine."))
    answer(app, member, ask(app.extensions["comanda"].database, member, text, **more), provider)
    return provider


def test_a_saved_row_counts_from_the_next_turn_on(
    app: Flask, owner: Database, member: Member
) -> None:
    change(owner, member, "base-persona", prompt_en="You are the parrot of the house.")
    [request] = asked(app, member).requests
    assert request.messages[0].role == "system"
    assert request.messages[0].text.startswith("You are the parrot of the house.")


def test_the_generated_block_tells_the_day_the_house_the_language_and_allergies(
    app: Flask, member: Member
) -> None:
    english = asked(app, member).requests[0].messages[0].text
    spanish = asked(app, member, language="es").requests[0].messages[0].text
    assert "Restaurant: Test House." in english
    assert "Answer in English." in english
    assert "Allergies: milk, peanut." in english
    assert "Contesta en español." in spanish
    assert "Eres Comanda" in spanish


def test_a_tool_whose_row_is_inactive_is_not_offered(
    app: Flask, owner: Database, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = app.extensions["comanda"].registry.tools["search_wines"]
    monkeypatch.setattr(tool, "prompt_slug", "domain-wines")
    [request] = asked(app, member).requests
    assert "search_wines" in [spec.name for spec in request.tools]
    change(owner, member, "domain-wines", is_active=False)
    [request] = asked(app, member).requests
    assert "search_wines" not in [spec.name for spec in request.tools]
    assert "search_dishes" in [spec.name for spec in request.tools]


def test_an_action_that_is_switched_off_is_unknown(
    database: Database, owner: Database, member: Member
) -> None:
    with database.transaction(member.scope) as session:
        check_action(session, "dishes", "pairing")
        for domain, action in (("dishes", "explode"), ("manual", "pairing"), ("dishes", "")):
            with pytest.raises(InvalidInput):
                check_action(session, domain, action)


def test_another_groups_rows_do_not_count(
    app: Flask, owner: Database, database: Database, member: Member
) -> None:
    other = make_user(owner)
    change(owner, other, "base-persona", prompt_en="You belong to the others.")
    assert "others" not in asked(app, member).requests[0].messages[0].text
    with database.transaction(member.scope) as session:
        assert {each.group_id for each in load_prompts(session)} == {member.group_id}


# Seeds


@pytest.fixture(scope="module")
def registry() -> Registry:
    return Registry(SKILLS)


def test_seeding_again_changes_nothing(owner: Database, member: Member, registry: Registry) -> None:
    with owner.transaction() as session:
        assert seed_prompts(session, member.group_id, registry) == 0


def test_seeding_refreshes_what_nobody_edited_and_leaves_what_somebody_did(
    owner: Database, member: Member, registry: Registry
) -> None:
    change(owner, member, "base-persona", prompt_en="An older seed.")
    change(owner, member, "tool-map", prompt_en="Mine.", edited_by=member.user_id, version=2)
    change(owner, member, "behavior-rules", prompt_en="Restored.", version=3)
    with owner.transaction() as session:
        assert seed_prompts(session, member.group_id, registry) == 1
        rows = {
            each.slug: each
            for each in session.scalars(select(Prompt).where(Prompt.group_id == member.group_id))
        }
    assert rows["base-persona"].prompt_en.startswith("You are Comanda")
    assert rows["tool-map"].prompt_en == "Mine."
    assert rows["behavior-rules"].prompt_en == "Restored."


def test_a_row_somebody_switched_off_stays_off(
    owner: Database, member: Member, registry: Registry
) -> None:
    change(owner, member, "tool-map", is_active=False, edited_by=member.user_id)
    with owner.transaction() as session:
        seed_prompts(session, member.group_id, registry)
        row = session.scalars(
            select(Prompt).where(Prompt.group_id == member.group_id, Prompt.slug == "tool-map")
        ).one()
    assert not row.is_active


def test_every_chip_of_a_card_has_its_row_and_every_domain_too(registry: Registry) -> None:
    slugs = {each.slug for each in seeds_of(registry).values()}
    wanted = {f"action-{kind}-{action}" for kind, actions in ACTIONS.items() for action in actions}
    wanted |= {f"domain-{domain}" for domain in registry.domains}
    assert wanted <= slugs
    assert {"base-persona", "tool-map", "behavior-rules"} <= slugs


def test_seeded_rows_are_whole_and_near_their_budget(registry: Registry) -> None:
    rows = list(seeds_of(registry).values())
    for each in rows:
        assert each.prompt_en
        assert each.prompt_es
        assert each.category in ("system", "domain", "action", "skill")
        assert (each.domain is None) == (each.category == "system")
        # Four letters a token, roughly; the largest row may have 280.
        assert len(each.prompt_en) < 280 * 4.5, each.slug


def test_the_tool_map_names_exactly_the_six_search_tools(registry: Registry) -> None:
    [tool_map] = [each for each in seeds_of(registry).values() if each.slug == "tool-map"]
    # The search for forms has a row of its own.
    searches = {name for name, tool in registry.tools.items() if tool.is_search} - {"search_forms"}
    for text in (tool_map.prompt_en, tool_map.prompt_es):
        named = {word.rstrip(":").removeprefix("- ") for word in text.split() if "search_" in word}
        assert named == searches


def test_prompt_files_are_plain_data_and_name_each_row_once(registry: Registry) -> None:
    files = [CORE_PROMPTS, *(skill.prompts for skill in SKILLS if skill.prompts)]
    entries = [yaml.safe_load(file.read_text("utf-8")) for file in files]
    assert all(isinstance(each, list) for each in entries)
    assert sum(map(len, entries)) == len(seeds_of(registry))
