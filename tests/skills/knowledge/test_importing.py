"""Bringing documents and products in: idempotent, bilingual, searchable at once."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import yaml
from flask.testing import FlaskCliRunner
from sqlalchemy import select, update

from app.accounts.models import Group
from app.db import Database
from app.retrieval.models import SearchDocument
from app.skills.knowledge.models import PRODUCT_KINDS, ManualSection, Product
from app.skills.knowledge.services.importer import import_documents, import_products
from app.skills.knowledge.services.markdown_import import ImportReport, parse_markdown
from app.text.allergens import ALLERGENS
from tests.factories import make_group, make_product, make_section

ENGLISH = """---
kind: policy
---
# Pay {#pay}
How we pay.

## Tips {#tips}
Tips are pooled every Friday.

## Overtime {#overtime}
Above forty hours.
"""
SPANISH = """---
kind: policy
---
# Pago {#pay}
Cómo pagamos.

## Propinas {#tips}
Las propinas se juntan cada viernes.
"""
WITHOUT_OVERTIME = ENGLISH.split("## Overtime", maxsplit=1)[0]
DEMO = Path(__file__).parents[3] / "app" / "demo"


@pytest.fixture
def group_id(owner: Database) -> UUID:
    return make_group(owner)


def bring(
    owner: Database, group_id: UUID, text: str, language: str = "en", source: str = "pay"
) -> ImportReport:
    return bring_all(owner, group_id, {source: text}, language)


def bring_all(
    owner: Database, group_id: UUID, texts: dict[str, str], language: str = "en"
) -> ImportReport:
    parsed = [parse_markdown(text, source) for source, text in texts.items()]
    with owner.session() as session:
        report = import_documents(session, parsed, group_id=group_id, language=language)
        session.commit()
        return report


def sections(owner: Database, group_id: UUID) -> dict[str, ManualSection]:
    with owner.session() as session:
        query = select(ManualSection).where(ManualSection.group_id == group_id)
        return {section.slug: section for section in session.scalars(query)}


def documents(owner: Database, group_id: UUID) -> Sequence[SearchDocument]:
    with owner.session() as session:
        query = select(SearchDocument).where(SearchDocument.group_id == group_id)
        return session.scalars(query.order_by(SearchDocument.title)).all()


def test_a_document_becomes_sections_under_their_chapter(owner: Database, group_id: UUID) -> None:
    report = bring(owner, group_id, ENGLISH)
    assert (report.added, report.changed, report.unchanged) == (3, 0, 0)
    found = sections(owner, group_id)
    assert found["tips"].parent_id == found["pay"].id
    assert found["tips"].title_en == "Tips"
    assert found["tips"].kind == "policy"
    assert found["pay"].source == "pay"


def test_the_same_document_again_changes_nothing(owner: Database, group_id: UUID) -> None:
    bring(owner, group_id, ENGLISH)
    before = {document.id: document.updated_at for document in documents(owner, group_id)}
    report = bring(owner, group_id, ENGLISH)
    assert (report.added, report.changed, report.unchanged) == (0, 0, 3)
    assert {d.id: d.updated_at for d in documents(owner, group_id)} == before


def test_the_other_language_joins_the_same_sections(owner: Database, group_id: UUID) -> None:
    bring(owner, group_id, ENGLISH)
    bring(owner, group_id, SPANISH, "es")
    found = sections(owner, group_id)
    assert set(found) == {"pay", "tips", "overtime"}
    assert found["tips"].body("en").startswith("Tips are pooled")
    assert found["tips"].body("es").startswith("Las propinas")
    assert found["overtime"].body("es") == "Above forty hours."


def test_passages_serve_the_readers_of_their_language_or_of_both(
    owner: Database, group_id: UUID
) -> None:
    bring(owner, group_id, ENGLISH)
    bring(owner, group_id, SPANISH, "es")
    served = {(d.title, d.language): sorted(d.serves) for d in documents(owner, group_id)}
    assert served[("Tips", "en")] == ["en"]
    assert served[("Propinas", "es")] == ["es"]
    assert served[("Overtime", "en")] == ["en", "es"]


def test_a_passage_knows_where_it_stands(owner: Database, group_id: UUID) -> None:
    bring(owner, group_id, ENGLISH)
    tips = next(d for d in documents(owner, group_id) if d.title == "Tips")
    assert tips.details["path"] == ["Pay", "Tips"]
    body = sections(owner, group_id)["tips"].body_en
    assert body[tips.details["start"] : tips.details["end"]].strip() == tips.text.strip()


def test_a_changed_text_replaces_its_passages(owner: Database, group_id: UUID) -> None:
    bring(owner, group_id, ENGLISH)
    report = bring(owner, group_id, ENGLISH.replace("every Friday", "every Monday"))
    assert (report.added, report.changed, report.unchanged) == (0, 1, 2)
    texts = [d.text for d in documents(owner, group_id) if d.title == "Tips"]
    assert texts == ["Tips are pooled every Monday."]


# What a document does not have any more


def published(owner: Database, group_id: UUID) -> set[str]:
    return {slug for slug, each in sections(owner, group_id).items() if each.is_published}


def test_what_vanished_from_a_document_is_neither_shown_nor_found(
    owner: Database, group_id: UUID
) -> None:
    bring(owner, group_id, ENGLISH)
    report = bring(owner, group_id, WITHOUT_OVERTIME)
    assert (report.changed, report.unchanged, report.removed) == (0, 2, 1)
    assert published(owner, group_id) == {"pay", "tips"}
    assert {d.title for d in documents(owner, group_id)} == {"Pay", "Tips"}


def test_what_vanished_is_told_once_and_comes_back_with_its_text(
    owner: Database, group_id: UUID
) -> None:
    bring(owner, group_id, ENGLISH)
    overtime = sections(owner, group_id)["overtime"].id
    bring(owner, group_id, WITHOUT_OVERTIME)
    again = bring(owner, group_id, WITHOUT_OVERTIME)
    assert (again.changed, again.unchanged, again.removed) == (0, 2, 0)
    back = bring(owner, group_id, ENGLISH)
    assert (back.added, back.changed, back.unchanged, back.removed) == (0, 1, 2, 0)
    assert sections(owner, group_id)["overtime"].id == overtime
    assert published(owner, group_id) == {"pay", "tips", "overtime"}
    assert "Overtime" in {d.title for d in documents(owner, group_id)}


def test_what_vanished_in_one_language_stays_in_the_other(owner: Database, group_id: UUID) -> None:
    bring(owner, group_id, ENGLISH)
    bring(owner, group_id, SPANISH, "es")
    report = bring(owner, group_id, "# Pay {#pay}\nHow we pay.\n\n## Overtime {#overtime}\nYes.")
    assert report.removed == 1
    tips = sections(owner, group_id)["tips"]
    assert (tips.is_published, tips.title("en"), tips.body_en) == (True, "Propinas", "")
    served = {(d.title, d.language): sorted(d.serves) for d in documents(owner, group_id)}
    assert ("Tips", "en") not in served
    assert served[("Propinas", "es")] == ["en", "es"]
    gone = bring(owner, group_id, "# Pago {#pay}\nCómo pagamos.", "es")
    assert gone.removed == 1
    assert published(owner, group_id) == {"pay", "overtime"}


def test_a_document_in_one_language_takes_nothing_from_the_other(
    owner: Database, group_id: UUID
) -> None:
    bring(owner, group_id, ENGLISH)
    assert bring(owner, group_id, SPANISH, "es").removed == 0
    assert bring(owner, group_id, ENGLISH).removed == 0
    assert published(owner, group_id) == {"pay", "tips", "overtime"}


@pytest.mark.parametrize("order", [("bonus", "pay"), ("pay", "bonus")])
def test_a_section_that_moved_to_another_document_stays(
    owner: Database, group_id: UUID, order: tuple[str, str]
) -> None:
    bring(owner, group_id, ENGLISH)
    bring(owner, group_id, SPANISH, "es")
    bonus = "# Bonus {#bonus}\nNow and then.\n\n## Overtime {#overtime}\nAbove forty hours."
    texts = {"pay": WITHOUT_OVERTIME, "bonus": bonus}
    assert bring_all(owner, group_id, {each: texts[each] for each in order}).removed == 0
    found = sections(owner, group_id)
    assert found["overtime"].parent_id == found["bonus"].id
    # Later, without the document that it moved to.
    assert bring(owner, group_id, WITHOUT_OVERTIME).removed == 0
    assert published(owner, group_id) == {"pay", "tips", "overtime", "bonus"}


def test_a_chapter_under_a_new_name_replaces_the_old_one(owner: Database, group_id: UUID) -> None:
    bring(owner, group_id, ENGLISH)
    report = bring(owner, group_id, ENGLISH.replace("{#pay}", "{#wages}"))
    assert (report.added, report.removed) == (1, 1)
    assert published(owner, group_id) == {"wages", "tips", "overtime"}


def test_a_translation_does_not_hang_below_what_vanished(owner: Database, group_id: UUID) -> None:
    english = "# Pay {#pay}\nAll.\n\n## Extra {#extra}\nMore.\n\n### Tips {#tips}\nPooled."
    bring(owner, group_id, SPANISH, "es")
    bring(owner, group_id, english)
    assert bring(owner, group_id, "# Pay {#pay}\nAll.").removed == 2
    found = sections(owner, group_id)
    assert published(owner, group_id) == {"pay", "tips"}
    assert found["tips"].parent_id == found["pay"].id


def test_a_section_that_was_taken_out_by_hand_stays_out(owner: Database, group_id: UUID) -> None:
    bring(owner, group_id, ENGLISH)
    with owner.transaction() as session:
        session.execute(
            update(ManualSection)
            .where(ManualSection.group_id == group_id, ManualSection.slug == "tips")
            .values(is_published=False)
        )
    bring(owner, group_id, ENGLISH)
    assert published(owner, group_id) == {"pay", "overtime"}


def test_documents_of_one_name_in_one_import_take_nothing_from_each_other(
    owner: Database, group_id: UUID
) -> None:
    parsed = [
        parse_markdown(f"# Opening {{#{place}-opening}}\nDoors.", "opening")
        for place in ("bar", "kitchen")
    ]
    with owner.session() as session:
        for _ in range(2):
            report = import_documents(session, parsed, group_id=group_id, language="en")
        session.commit()
    assert report.removed == 0
    assert published(owner, group_id) == {"bar-opening", "kitchen-opening"}


def test_a_section_of_another_kind_leaves_nothing_behind_under_the_old_one(
    owner: Database, group_id: UUID
) -> None:
    bring(owner, group_id, ENGLISH)
    bring(owner, group_id, ENGLISH.replace("kind: policy", "kind: training"))
    assert {d.source_type for d in documents(owner, group_id)} == {"training"}


def test_chapters_keep_their_order(owner: Database, group_id: UUID) -> None:
    for slug in ("one", "two", "three"):
        make_section(owner, group_id, slug, slug.title())
    make_section(owner, group_id, "one", "One", body="Other words now.")
    found = sections(owner, group_id)
    assert [found[slug].position for slug in ("one", "two", "three")] == [0, 1, 2]


def test_groups_do_not_touch(owner: Database, group_id: UUID) -> None:
    other = make_group(owner)
    bring(owner, group_id, ENGLISH)
    bring(owner, other, ENGLISH.replace("every Friday", "never"))
    assert sections(owner, group_id)["tips"].body_en == "Tips are pooled every Friday."
    assert {d.group_id for d in documents(owner, other)} == {other}


# Products


def products(owner: Database, group_id: UUID) -> dict[str, Product]:
    with owner.session() as session:
        query = select(Product).where(Product.group_id == group_id)
        return {product.slug: product for product in session.scalars(query)}


def test_a_product_is_stored_and_found_in_both_languages(owner: Database, group_id: UUID) -> None:
    product = make_product(owner, group_id)
    assert product.price == Decimal("48.00")
    [document] = documents(owner, group_id)
    assert (document.language, sorted(document.serves)) == ("mul", ["en", "es"])
    for words in ("butter / mantequilla", "milk / leche", "a bold red. / un tinto"):
        assert words in document.text.lower()


def test_a_product_again_changes_nothing_and_a_new_price_only_that(
    owner: Database, group_id: UUID
) -> None:
    first = make_product(owner, group_id)
    assert make_product(owner, group_id).updated_at == first.updated_at
    dearer = make_product(owner, group_id, price="52.50")
    assert (dearer.id, dearer.price) == (first.id, Decimal("52.50"))


def test_an_inactive_product_is_not_searched(owner: Database, group_id: UUID) -> None:
    make_product(owner, group_id, is_active=False)
    assert [d.is_published for d in documents(owner, group_id)] in ([], [False])


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"abv": 5.5},
        {"style": {"en": "Lager", "es": ""}},
        {"style": {"en": "", "es": "Rubia"}},
        {"weight": "", "origin": None},
        {"glass": {"en": "Coupe"}},
    ],
)
def test_facts_may_be_missing_in_one_language(
    owner: Database, group_id: UUID, facts: dict[str, Any]
) -> None:
    make_product(owner, group_id, facts=facts)
    assert len(documents(owner, group_id)) == 1


def test_undeclared_allergens_are_not_the_same_as_none(owner: Database, group_id: UUID) -> None:
    assert make_product(owner, group_id, allergens=None).allergens is None
    assert make_product(owner, group_id, allergens=[]).allergens == []


def test_the_same_slug_in_two_kinds_is_two_products(owner: Database, group_id: UUID) -> None:
    dish = make_product(owner, group_id, "dishes", "paloma")
    drink = make_product(owner, group_id, "cocktails", "paloma")
    assert dish.id != drink.id


@pytest.mark.parametrize("house", ["alamo_prime", "casa_lucero"])
def test_the_demo_files_are_whole(house: str) -> None:
    for kind in PRODUCT_KINDS:
        pattern = "recipes/*.yaml" if kind == "recipes" else f"products/{kind}.yaml"
        items = [
            item
            for file in (DEMO / house).glob(pattern)
            for item in yaml.safe_load(file.read_text("utf-8"))
        ]
        assert items
        slugs = [item["slug"] for item in items]
        assert len(slugs) == len(set(slugs))
        for item in items:
            assert set(item.get("allergens") or []) <= set(ALLERGENS), item["slug"]
            for name in ("name", "description"):
                assert item[f"{name}_en"].strip(), item["slug"]
                assert item[f"{name}_es"].strip(), item["slug"]


# From the command line


@pytest.fixture
def slug(owner: Database, group_id: UUID) -> str:
    with owner.session() as session:
        return session.get_one(Group, group_id).slug


def test_the_command_imports_a_folder_and_reports(
    cli: FlaskCliRunner, owner: Database, group_id: UUID, slug: str, tmp_path: Path
) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "01-pay.md").write_text(ENGLISH, "utf-8")
    (tmp_path / "deep" / "soup.md").write_text("# Soup\nBoil it.", "utf-8")
    (tmp_path / "notes.txt").write_text("not this", "utf-8")
    result = cli.invoke(args=["import", "manual", str(tmp_path), "--group", slug])
    assert result.exit_code == 0, result.output
    assert "2 documents: 4 sections added, 0 changed, 0 unchanged, 0 removed" in result.stdout
    assert set(sections(owner, group_id)) == {"pay", "tips", "overtime", "soup"}


def test_the_command_reports_what_it_took_out(
    cli: FlaskCliRunner, owner: Database, group_id: UUID, slug: str, tmp_path: Path
) -> None:
    file = tmp_path / "pay.md"
    file.write_text(ENGLISH, "utf-8")
    asked = ["import", "manual", str(file), "--group", slug]
    cli.invoke(args=asked)
    file.write_text(WITHOUT_OVERTIME, "utf-8")
    tried = cli.invoke(args=[*asked, "--dry-run"])
    assert "2 unchanged, 1 removed (dry run: nothing was stored)" in tried.stdout
    assert sections(owner, group_id)["overtime"].is_published
    assert "2 unchanged, 1 removed" in cli.invoke(args=asked).stdout
    assert not sections(owner, group_id)["overtime"].is_published
    assert "2 unchanged, 0 removed" in cli.invoke(args=asked).stdout


def test_a_dry_run_stores_nothing(
    cli: FlaskCliRunner, owner: Database, group_id: UUID, slug: str, tmp_path: Path
) -> None:
    (tmp_path / "pay.md").write_text(ENGLISH, "utf-8")
    result = cli.invoke(args=["import", "manual", str(tmp_path), "--group", slug, "--dry-run"])
    assert "nothing was stored" in result.stdout
    assert sections(owner, group_id) == {}


def test_a_file_that_cannot_be_read_does_not_keep_the_others_out(
    cli: FlaskCliRunner, owner: Database, group_id: UUID, slug: str, tmp_path: Path
) -> None:
    (tmp_path / "bad.md").write_bytes(b"\xff\xfe")
    (tmp_path / "empty.md").write_text("", "utf-8")
    (tmp_path / "pay.md").write_text(ENGLISH, "utf-8")
    result = cli.invoke(args=["import", "manual", str(tmp_path), "--group", slug])
    assert result.exit_code == 1
    assert "Not imported: bad" in result.stderr
    assert "Not imported: empty" in result.stderr
    assert "tips" in sections(owner, group_id)


def test_two_files_of_one_name_are_not_merged_in_silence(
    cli: FlaskCliRunner, owner: Database, group_id: UUID, slug: str, tmp_path: Path
) -> None:
    for folder, words in (("a", "First."), ("b", "Second.")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "tacos.md").write_text(f"# Tacos\n{words}", "utf-8")
    result = cli.invoke(args=["import", "manual", str(tmp_path), "--group", slug])
    assert result.exit_code == 1
    assert "tacos has a {#tacos} already" in result.stderr
    assert sections(owner, group_id)["tacos"].body_en == "First."


def test_without_a_group_the_command_asks_for_one(
    cli: FlaskCliRunner, group_id: UUID, owner: Database, tmp_path: Path
) -> None:
    make_group(owner)
    (tmp_path / "pay.md").write_text(ENGLISH, "utf-8")
    several = cli.invoke(args=["import", "manual", str(tmp_path)])
    assert several.exit_code == 2
    assert "--group" in several.stderr
    unknown = cli.invoke(args=["import", "manual", str(tmp_path), "--group", "no-such-house"])
    assert unknown.exit_code == 1
    assert "no such group" in unknown.stderr


def test_products_of_another_kind_stay_as_they_are(owner: Database, group_id: UUID) -> None:
    make_product(owner, group_id, "wines", "malbec")
    with owner.session() as session:
        import_products(session, [], group_id=group_id, kind="dishes")
        session.commit()
    assert set(products(owner, group_id)) == {"malbec"}
