"""Making forms: the list, the builder's page with its buttons, versions, roles, other houses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select
from werkzeug.datastructures import MultiDict

from app.db import Database
from app.errors import InvalidInput
from app.fields.definitions import FIELD_TYPES, read_fields
from app.fields.editor.rows import load_row
from app.skills.forms.builder.page_state import read_work
from app.skills.forms.builder.parser import build
from app.skills.forms.builder.presenters import previews_of
from app.skills.forms.builder.templates import content_of
from app.skills.forms.models import FormDraft, FormTemplate, FormTemplateVersion
from tests.factories import CheckedClient, Member, Page, make_user, sign_in
from tests.growth import counted
from tests.skills.forms.filling import (
    EVERY_TYPE,
    SHORT,
    autosave,
    make_template,
    sent_by,
    submit,
)
from tests.statements import noted_statements


@pytest.fixture
def admin(owner: Database) -> Member:
    return make_user(owner, role="admin", name="Ada Boss")


@pytest.fixture
def browser(app: Flask, owner: Database, admin: Member) -> CheckedClient:
    return sign_in(app, owner, admin)


@pytest.fixture
def template(owner: Database, admin: Member) -> FormTemplate:
    return make_template(owner, admin.group_id)


def path_of(template: FormTemplate) -> str:
    return f"/admin/forms/{template.id}"


def work_on(page: Page) -> dict[str, Any]:
    """What the builder's form would send as it stands, without its buttons and its token."""
    return sent_by(page.find("div", id="work"))


def press(
    browser: CheckedClient, page: Page, template: FormTemplate, do: str, status: int = 200,
    **typed: Any,
) -> Page:  # fmt: skip
    """Type into the builder's page and press a button, as htmx does."""
    form = {**work_on(page), **{name.replace("__", "-"): text for name, text in typed.items()}}
    form = {name: value for name, value in form.items() if value is not None}
    return browser.post_fragment(path_of(template), status, do=do, **form)


def stored(owner: Database, template: FormTemplate) -> FormTemplate:
    with owner.session() as session:
        found = session.get(FormTemplate, template.id)
        assert found
        return found


def versions_of(owner: Database, template: FormTemplate) -> list[FormTemplateVersion]:
    with owner.session() as session:
        query = select(FormTemplateVersion).where(FormTemplateVersion.template_id == template.id)
        return list(session.scalars(query.order_by(FormTemplateVersion.version)))


def test_the_list_shows_every_state_with_version_and_what_was_sent(
    app: Flask, owner: Database, admin: Member, browser: CheckedClient
) -> None:
    sent = make_template(owner, admin.group_id, title_en="Waste log", title_es="Mermas")
    make_template(owner, admin.group_id, title_en="Half made", status="draft")
    make_template(owner, admin.group_id, title_en="Old one", status="archived")
    make_template(owner, None, title_en="Everybody's")
    make_template(owner, make_user(owner).group_id, title_en="Somebody else's")
    submit(browser, sent, who="Ann", what="Spilled")
    page = browser.page("/admin/forms/")
    [row] = [row for row in page.find_all("tr") if "Waste log" in row.text]
    assert "Published" in row.text and row.find("a", href=f"/forms/submissions/?form={sent.slug}")
    assert all(title in page.text for title in ("Half made", "Old one", "Everybody's"))
    assert "Shared by all restaurants" in page.text and "Somebody else's" not in page.text
    assert "Half made" not in browser.page("/admin/forms/?state=archived").text
    found = browser.fragment("/admin/forms/?q=merma")
    assert "Waste log" in found.text and "Old one" not in found.text
    assert "No forms match these filters." in browser.page("/admin/forms/?q=pizza").text


def test_every_type_of_field_opens_with_its_settings_and_is_saved_as_it_was(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    template = make_template(owner, admin.group_id, EVERY_TYPE)
    page = browser.page(path_of(template))
    assert len(page.find_all("input", name="row")) == len(FIELD_TYPES)
    for each in EVERY_TYPE:
        page = press(browser, page, template, f"open:{each['name']}")
        assert page.find("input", id="x-label_en").attributes["value"] == each["label"]["en"]
    page = press(browser, page, template, "save", title_en="Another title")
    assert "Saved as version 2." in page.text
    now = stored(owner, template)
    assert read_fields(now.fields) == read_fields(EVERY_TYPE)
    assert (now.title_en, now.version, now.edited_by) == ("Another title", 2, admin.user_id)
    # Nothing was changed: nothing is saved.
    assert "Saved." in press(browser, page, template, "save").text
    assert [each.version for each in versions_of(owner, template)] == [1, 2]


def test_a_field_of_each_type_can_be_added_and_is_drawn_in_both_languages(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    template = make_template(owner, admin.group_id, [], status="draft")
    page = browser.page(path_of(template))
    for type_ in FIELD_TYPES:
        page = press(browser, page, template, f"add:{type_}")
        typed: dict[str, Any] = {"x__label_en": f"A {type_}", "x__label_es": f"Un {type_}"}
        if page.find_all("input", name="o-en"):
            typed |= {"o__en": ["Yes, please", "No", ""], "o__es": ["Sí", "", "Quizás"],
                      "o__value": ["", "", ""]}  # fmt: skip
        page = press(browser, page, template, "close:", **typed)
        assert page.text.count(f"A {type_}") >= 2, type_
        assert f"Un {type_}" in page.text
    page = press(browser, page, template, "save")
    assert "Saved as version 2." in page.text
    fields = read_fields(stored(owner, template).fields)
    assert [field.type for field in fields] == list(FIELD_TYPES)
    assert [field.name for field in fields] == [f"a_{type_}" for type_ in FIELD_TYPES]
    select_field = next(field for field in fields if field.type == "select")
    assert [option.value for option in select_field.options] == ["yes_please", "no", "quizas"]


def test_fields_move_are_copied_removed_and_come_back(
    owner: Database, browser: CheckedClient, template: FormTemplate
) -> None:
    page = browser.page(path_of(template))
    page = press(browser, page, template, "down:who")
    page = press(browser, page, template, "copy:what")
    page = press(browser, page, template, "close:")
    page = press(browser, page, template, "remove:hurt")
    assert "Removed: Somebody is hurt" in page.text
    # What depended on it says so, at the field, and nothing is saved.
    refused = press(browser, page, template, "save", 422)
    assert "The field that decides whether this one is shown is no longer above it." in refused.text
    assert stored(owner, template).version == 1
    page = press(browser, refused, template, "undo:hurt")
    page = press(browser, page, template, "save")
    assert "Saved as version 2." in page.text
    names = [field["name"] for field in stored(owner, template).fields]
    assert names == ["what", "what_happened", "who", "hurt", "body_part"]


def test_a_name_stays_when_the_label_changes_and_drafts_keep_their_version(
    app: Flask, owner: Database, browser: CheckedClient, template: FormTemplate
) -> None:
    filling = browser.page(f"/forms/{template.slug}")
    autosave(browser, filling, what="A fall")
    page = press(browser, browser.page(path_of(template)), template, "open:what")
    page = press(browser, page, template, "save", x__label_en="Tell us", x__label_es="Cuéntanos")
    assert "Saved as version 2." in page.text
    [field] = [each for each in stored(owner, template).fields if each["name"] == "what"]
    assert field["label"] == {"en": "Tell us", "es": "Cuéntanos"}
    with owner.session() as session:
        [draft] = session.scalars(
            select(FormDraft).where(FormDraft.template_id == template.id)
        ).all()
    begun = browser.page(f"/forms/drafts/{draft.id}")
    assert "What happened" in begun.text and "Tell us" not in begun.text
    assert "This form has changed since you began." in begun.text
    assert "Tell us" in browser.page(f"/forms/{template.slug}?new=1").text


def test_what_is_wrong_is_told_at_its_field_and_all_that_was_typed_is_kept(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    template = make_template(owner, admin.group_id, EVERY_TYPE)
    page = press(browser, browser.page(path_of(template)), template, "open:number")
    wrong = press(
        browser, page, template, "save", 422,
        x__min="50", x__max="10", x__decimals="9", title_en="", title_es="", slug="No good!",
    )  # fmt: skip
    told = wrong.text
    assert "Give the form a title in at least one language." in told
    assert "Use lowercase letters, digits, and hyphens, 60 at most." in told
    assert "The minimum is greater than the maximum." in told
    assert "Enter a whole number from 0 to 4." in told
    assert work_on(wrong)["x-decimals"] == "9" and work_on(wrong)["slug"] == "No good!"
    assert stored(owner, template).version == 1
    # Whoever goes on to another field finds it marked, and what was typed still there.
    page = press(browser, wrong, template, "open:text", title_en="Report", slug="fine")
    assert "The minimum is greater than the maximum." in page.text
    page = press(browser, page, template, "save", 422, x__pattern="[a-")
    assert "This pattern can't be used." in page.text
    page = press(browser, page, template, "open:number", x__pattern="")
    assert work_on(page)["x-min"] == "50"


def test_a_condition_names_a_field_above_and_its_values(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    template = make_template(owner, admin.group_id, EVERY_TYPE)
    page = press(browser, browser.page(path_of(template)), template, "open:email")
    offered = page.find("select", id="x-if_field").find_all("option")
    assert [each.attributes["value"] for each in offered] == ["", "text", "textarea", "number"]
    page = press(browser, page, template, "open:multi_select")
    page = press(browser, page, template, "look", x__if_field="select")
    refused = press(browser, page, template, "save", 422)
    assert "Say which answers it is shown for." in refused.text
    page = press(browser, refused, template, "save", x__if_values=["high", "nonsense"])
    assert "Only if “Select” is: High" in page.text
    [field] = [each for each in stored(owner, template).fields if each["name"] == "multi_select"]
    assert field["show_if"] == {"field": "select", "values": ["high"]}


def test_two_who_save_lose_nothing(
    app: Flask, owner: Database, admin: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    other = sign_in(app, owner, make_user(owner, group_id=admin.group_id, role="admin", name="Bea"))
    mine = browser.page(path_of(template))
    theirs = press(other, other.page(path_of(template)), template, "save", title_en="Theirs")
    assert "Saved as version 2." in theirs.text
    clash = press(browser, mine, template, "save", 409, title_en="Mine")
    assert "Bea changed this while you were writing" in clash.text
    assert work_on(clash)["title_en"] == "Mine"
    assert stored(owner, template).title_en == "Theirs"
    assert "Saved as version 3." in press(browser, clash, template, "save").text
    history = browser.page(f"{path_of(template)}/history")
    assert all(words in history.text for words in ("Version 3 · now", "Bea", "Ada Boss"))
    changes = browser.page(f"{path_of(template)}/history/3")
    assert "Theirs" in changes.text and "Mine" in changes.text
    assert "Ada Boss" in changes.text and "Version 2" not in changes.text
    back = browser.post(f"{path_of(template)}/restore", number="2", version="3")
    assert back.status_code == 303
    assert (stored(owner, template).title_en, stored(owner, template).version) == ("Theirs", 4)
    # Seen too early, or never there.
    browser.post(f"{path_of(template)}/restore", number="1", version="3")
    assert stored(owner, template).version == 4
    assert browser.post(f"{path_of(template)}/restore", number="9", version="4").status_code == 404


def test_a_form_is_published_archived_and_brought_back(
    owner: Database, admin: Member, browser: CheckedClient
) -> None:
    empty = make_template(owner, admin.group_id, [], status="draft")
    publish = f"{path_of(empty)}/status"
    browser.post(publish, status="published", version="1")
    assert stored(owner, empty).status == "draft"
    assert "there is nothing to fill in yet" in browser.page(path_of(empty)).text
    nameless = make_template(owner, admin.group_id, title_en="", title_es="", status="draft")
    browser.post(f"{path_of(nameless)}/status", status="published", version="1")
    page = browser.page(path_of(nameless))
    assert "Give the form a title and save it first." in page.text
    # What was only opened is not unsaved, right or wrong.
    assert "Not saved yet" not in page.text
    form = make_template(owner, admin.group_id, SHORT, status="draft")
    for status, is_found in (("published", True), ("archived", False), ("published", True)):
        assert (
            browser.post(f"{path_of(form)}/status", status=status, version="1").status_code == 303
        )
        assert (browser.get(f"/forms/{form.slug}").status_code == 200) == is_found
    assert stored(owner, form).version == 1
    assert browser.post(f"{path_of(form)}/status", status="lost", version="1").status_code == 422
    browser.post(f"{path_of(form)}/status", status="archived", version="7")
    assert stored(owner, form).status == "published"
    assert "Somebody has changed this form since" in browser.page(path_of(form)).text


def test_a_copy_is_a_draft_and_a_shared_form_becomes_the_houses_own(
    owner: Database, admin: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    made = browser.post(f"{path_of(template)}/copy")
    page = browser.page(made.location)
    assert "Incident report (copy)" in page.text and "Draft" in page.text
    shared = make_template(owner, None, title_en="Common")
    page = browser.page(path_of(shared))
    assert "All restaurants share this form." in page.text and not page.find_all(
        "form", id="builder"
    )
    made = browser.post(f"{path_of(shared)}/copy")
    work = work_on(browser.page(made.location))
    assert (work["title_en"], work["slug"]) == ("Common", shared.slug)
    assert browser.post(path_of(shared), do="save", version="1").status_code in (404, 422)
    assert (
        browser.post(f"{path_of(shared)}/status", status="archived", version="1").status_code == 404
    )


@pytest.mark.fault(56)
def test_a_copy_that_is_asked_for_twice_is_made_once(
    owner: Database, admin: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    page = browser.page(path_of(template))
    begun = page.find("input", name="begun_id").attributes["value"]
    made = {browser.post(f"{path_of(template)}/copy", begun_id=begun).location for _ in range(3)}
    assert len(made) == 1
    begun = (
        browser.page("/admin/forms/new").find_all("input", name="begun_id")[0].attributes["value"]
    )
    form = {"from": "nothing", "title": "One more", "begun_id": begun}
    assert len({browser.post("/admin/forms/new", **form).location for _ in range(3)}) == 1
    with owner.session() as session:
        ours = select(func.count()).where(FormTemplate.group_id == admin.group_id)
        assert session.scalar(ours) == 3


@pytest.mark.fault(47)
def test_a_house_has_so_many_forms(
    owner: Database, admin: Member, browser: CheckedClient, template: FormTemplate,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    make_template(owner, None)
    make_template(owner, admin.group_id, status="archived")
    monkeypatch.setattr("app.skills.forms.builder.templates.MOST_FORMS", 3)
    assert browser.post(f"{path_of(template)}/copy").location != path_of(template)
    refused = browser.post(f"{path_of(template)}/copy")
    assert refused.location == path_of(template)
    assert "There can be at most 3 forms." in browser.page(refused.location).text
    form = {"from": "nothing", "title": "One more"}
    page = browser._page(browser.post("/admin/forms/new", **form), 422)
    assert "There can be at most 3 forms." in page.text
    with owner.session() as session:
        ours = select(func.count()).where(FormTemplate.group_id == admin.group_id)
        assert session.scalar(ours) == 3


@pytest.mark.fault(47)
def test_copies_of_forms_are_limited(browser: CheckedClient, template: FormTemplate) -> None:
    for _ in range(10):
        assert browser.post(f"{path_of(template)}/copy").status_code == 303
    assert browser.post(f"{path_of(template)}/copy").status_code == 429


@pytest.mark.fault(47)
def test_lists_of_forms_read_no_fields(
    browser: CheckedClient, template: FormTemplate, owner: Database, admin: Member
) -> None:
    filling = make_template(owner, admin.group_id, SHORT)
    autosave(browser, browser.page(f"/forms/{filling.slug}"), what="Something")
    with noted_statements() as statements:
        assert "Half-filled" in browser.page("/forms/").text
        for path in ("/forms/?q=incident", "/admin/forms/", "/admin/forms/?state=published"):
            assert "Incident report" in browser.page(path).text
    asked = [each for each in statements if "FROM form_templates" in each or "JOIN form_t" in each]
    assert len(asked) >= 4
    assert not [each for each in asked if "form_templates.fields" in each]
    assert not [each for each in statements if "form_drafts.typed" in each]


def test_an_address_that_is_taken_is_told_at_its_field(
    owner: Database, admin: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    other = make_template(owner, admin.group_id, slug="taken")
    page = browser.page(path_of(template))
    refused = press(browser, page, template, "save", 422, slug=other.slug)
    assert "Another form already has this address." in refused.text
    refused = press(browser, page, template, "save", 422, slug="people")
    assert "This address is used for something else." in refused.text


def test_without_scripts_the_same_buttons_bring_whole_pages(
    owner: Database, browser: CheckedClient, template: FormTemplate
) -> None:
    work = work_on(browser.page(path_of(template)))
    page = browser._page(browser.post(path_of(template), do="open:what", **work), 200)
    assert page.find("input", id="x-label_en")
    saved = browser.post(path_of(template), do="save", **{**work_on(page), "x-label_en": "Tell"})
    assert "Saved as version 2." in browser._page(saved, 200).text


def test_whoever_looks_after_a_form_says_whether_managers_are_told_of_each_one(
    owner: Database, browser: CheckedClient, template: FormTemplate
) -> None:
    page = browser.page(path_of(template))
    assert "tells_managers" not in work_on(page)
    page = press(browser, page, template, "save", tells_managers="on")
    assert stored(owner, template).tells_managers
    assert work_on(page)["tells_managers"] == "on"
    newest = max(versions_of(owner, template), key=lambda each: each.version)
    assert newest.content["tells_managers"] is True
    press(browser, page, template, "save", tells_managers=None)
    assert not stored(owner, template).tells_managers


def test_a_form_without_its_assistant_has_none_beside_it(
    owner: Database, browser: CheckedClient, template: FormTemplate
) -> None:
    assert stored(owner, template).has_assistant
    page = browser.page(path_of(template))
    press(browser, page, template, "save", assistant=None)
    assert not stored(owner, template).has_assistant


def test_the_preview_follows_what_is_typed_and_writes_nothing(
    owner: Database, browser: CheckedClient, template: FormTemplate
) -> None:
    work = {**work_on(browser.page(path_of(template))), "title_es": "Otro título"}
    drawn = browser.post_fragment(f"{path_of(template)}/preview", **work)
    assert "Otro título" in drawn.text and "opcional" in drawn.text and "optional" in drawn.text
    assert stored(owner, template).version == 1


@pytest.mark.parametrize(
    "row", ["", "[]", "{", '{"key":"x","type":"nothing","typed":{}}', '{"key":"../x","type":"text",'
            '"typed":{}}', '{"key":"x","type":"text","typed":{"label_en":5}}'],
)  # fmt: skip
def test_rows_that_no_page_sends_are_refused(
    browser: CheckedClient, template: FormTemplate, row: str
) -> None:
    assert browser.post(path_of(template), do="save", version="1", row=row).status_code == 422


def choices(key: str, count: int, length: int = 1) -> str:
    options = [[f"v{n}", f"{n}".zfill(length), ""] for n in range(count)]
    row = {"key": key, "type": "select", "typed": {"label_en": key}, "options": options}
    return json.dumps(row)


@pytest.mark.fault(45)
@pytest.mark.parametrize("address", ["", "/preview"])
@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([choices(f"new{n}", 100) for n in range(1, 12)], "at most 1,000 choices in total"),
        ([choices(f"new{n}", 100, 500) for n in range(1, 11)], "at most 500,000 characters"),
    ],
)
def test_a_form_of_thousands_of_choices_is_neither_drawn_nor_saved(
    owner: Database, browser: CheckedClient, template: FormTemplate, address: str,
    rows: list[str], said: str,
) -> None:  # fmt: skip
    work = {"version": "1", "title_en": "Large", "slug": "large", "row": rows}
    page = browser.post_fragment(path_of(template) + address, 422, do="save", **work)
    assert said in page.text
    assert stored(owner, template).version == 1
    fits = browser.post_fragment(f"{path_of(template)}/preview", **{**work, "row": rows[:8]})
    assert said not in fits.text


def carried(key: str, type_: str = "text", *options: tuple[str, str, str], **typed: Any) -> str:
    """A row as the page carries it."""
    row = {"key": key, "type": type_, "typed": {"label_en": key, **typed}, "options": options}
    return json.dumps(row)


LABELLED = [(f"v{n}", "L" * 450, "M" * 450) for n in range(100)]
ALL_VALUES = [f"v{n}" for n in range(100)]


@pytest.mark.fault(49)
@pytest.mark.parametrize("address", ["", "/preview"])
@pytest.mark.parametrize(
    "work",
    [
        {"row": [carried("a")], "open": "a", "x-if_typed": "a," * 1_900_000},
        {"row": [carried("a")], "open": "a", "x-if_values": ["a" * 9_000] * 400},
        {"row": [carried("a", "select", *LABELLED[:9]), carried("b", if_field="a",
                                                                if_values=[""] * 100_000)]},
        {"row": [carried("a", "select", *LABELLED),
                 *(carried(f"b{n}", if_field="a", if_values=ALL_VALUES) for n in range(99))]},
        {"row": [carried("a", **{f"k{n}": "" for n in range(20_000)})]},
        {"row": [carried(f"new-{n}", label_en="\u0915\u094d" * 300) for n in range(99)]},
        {"row": [carried("a", "select")], "open": "a",
         **{f"o-{name}": ["\U0001f468\u200d" * 200] * 100 for name in ("value", "en", "es")}},
    ],
    ids=["typed", "ticked", "empty", "all", "settings", "labels", "options"],
)  # fmt: skip
def test_whatever_a_builder_is_sent_is_read_in_little_time(
    browser: CheckedClient, template: FormTemplate, address: str, work: dict[str, Any]
) -> None:
    path = path_of(template) + address
    work = {"version": "1", "title_en": "Large", "slug": "large", "do": "save", **work}
    page = browser.post(path, htmx=True, **work)
    context = browser.client.application.test_request_context()
    with counted() as cost, context, suppress(InvalidInput):
        read = read_work(MultiDict(_pairs(work)))
        previews_of(read, build(read))
    assert cost.seconds < 1
    assert page.status_code in (200, 422) and len(page.text) < 3_000_000


def _pairs(work: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in work.items():
        yield from ((name, each) for each in (value if isinstance(value, list) else [value]))


@pytest.mark.fault(49)
@pytest.mark.parametrize(
    "typed", [{"if_values": [""] * 101}, {f"k{n}": "" for n in range(50)}], ids=["list", "settings"]
)
def test_a_row_carries_no_more_than_its_page_puts_into_it(typed: dict[str, Any]) -> None:
    load_row(carried("a", **{name: value[:100] for name, value in list(typed.items())[:30]}))
    with pytest.raises(InvalidInput):
        load_row(carried("a", **typed))


@pytest.mark.fault(49)
def test_what_is_typed_into_the_open_row_counts_too(
    browser: CheckedClient, template: FormTemplate
) -> None:
    rows = [carried(f"new{n}", help_en="x" * 5_000) for n in range(90)]
    work = {"version": "1", "title_en": "Large", "slug": "large", "do": "more", "open": "open"}
    options = {"o-value": [""] * 100, "o-en": ["e" * 500] * 100, "o-es": ["s" * 500] * 100}
    row = carried("open", "select")
    page = browser.post_fragment(path_of(template), 422, **work, row=[*rows, row], **options)
    assert "at most 500,000 characters" in page.text
    browser.post_fragment(path_of(template), **work, row=[*rows[:50], row], **options)


@pytest.mark.fault(49)
def test_all_that_is_posted_to_the_builders_counts_together(
    app: Flask, owner: Database, admin: Member, browser: CheckedClient, template: FormTemplate
) -> None:
    posts = [
        rule.rule.replace("<uuid:template_id>", str(template.id)).replace(
            "<uuid:type_id>", str(template.id)
        )
        for rule in app.url_map.iter_rules()
        if rule.endpoint.startswith(("form_builder.", "request_types."))
        and "POST" in (rule.methods or ())
        # What only draws something counts by itself.
        and not rule.rule.endswith("/preview")
    ]
    assert len(posts) == 10
    # New forms and copies have a limit of their own, which is reached first.
    often = [path for path in posts[2:] if not path.endswith("/copy")]
    for number in range(120):
        path = often[number % len(often)]
        assert browser.post(path, do="nothing").status_code not in (429, 500), path
    assert {path: browser.post(path).status_code for path in posts} == dict.fromkeys(posts, 429)


@pytest.fixture
def often_saved(owner: Database, template: FormTemplate) -> FormTemplate:
    """A form that was saved 45 times, with much in it each time."""
    with owner.transaction() as session:
        found = session.get(FormTemplate, template.id)
        assert found
        for number in range(1, 46):
            label = {"en": f"{number} " + "x" * 400, "es": ""}
            fields = [{"type": "text", "name": f"f{n}", "label": label} for n in range(90)]
            content = {**content_of(found), "fields": fields, "title_en": f"Title {number}"}
            session.add(FormTemplateVersion(group_id=found.group_id, template_id=found.id,
                                            version=number, content=content))  # fmt: skip
        found.version = 45
    return template


@pytest.mark.fault(49)
def test_a_history_has_twenty_versions_a_page_and_reads_what_one_of_them_changed(
    browser: CheckedClient, often_saved: FormTemplate
) -> None:
    path = f"{path_of(often_saved)}/history"
    with noted_statements() as noted:
        pages = [browser.page(f"{path}?page={number}") for number in (1, 2, 3)]
    assert not [each for each in noted if "form_template_versions.content" in each]
    numbers = [[each.text.split()[1] for each in page.find_all("h2", class_="prompt-small")]
               for page in pages]  # fmt: skip
    assert [len(each) for each in numbers] == [20, 20, 5]
    assert list(chain(*numbers)) == [str(number) for number in range(45, 0, -1)]
    assert "Older versions" in pages[0].text and "Older versions" not in pages[2].text
    assert ["The first version." in page.text for page in pages] == [False, False, True]
    assert max(len(page.response.text) for page in pages) < 100_000
    changes = browser.fragment(f"{path}/30")
    assert "[removed: 29]" in changes.text and "[added: 30]" in changes.text
    assert len(changes.response.text) < 100_000
    assert [browser.get(f"{path}/{n}").status_code for n in (1, 46, 0, 10**30)] == [404] * 4


def test_managers_look_staff_does_not_and_other_houses_find_nothing(
    app: Flask, owner: Database, admin: Member, template: FormTemplate
) -> None:
    manager = sign_in(app, owner, make_user(owner, group_id=admin.group_id, role="manager"))
    assert "Incident report" in manager.page("/admin/forms/").text
    page = manager.page(path_of(template))
    assert not page.find_all("form", id="builder") and "What happened" in page.text
    manager.page(f"{path_of(template)}/history")
    assert manager.get("/admin/forms/new").status_code == 403
    staff = sign_in(app, owner, make_user(owner, group_id=admin.group_id))
    stranger = sign_in(app, owner, make_user(owner, role="admin"))
    for path in ("", "/history", "/history/2"):
        assert staff.get(path_of(template) + path).status_code == 403
        assert stranger.get(path_of(template) + path).status_code == 404
    assert app.test_client().get(path_of(template)).status_code == 303
    for path in ("", "/preview", "/status", "/copy", "/restore"):
        form = {"version": "1", "number": "1", "status": "archived", "do": "look"}
        assert manager.post(path_of(template) + path, **form).status_code == 403, path
        assert stranger.post(path_of(template) + path, **form).status_code == 404, path
        if path:
            assert staff.get(path_of(template) + path).status_code in (403, 405)
    assert stored(owner, template).version == 1
