"""What was sent: who sees which, what narrows it down, its sheet, its PDF and the table."""

from __future__ import annotations

import csv
import io
import re
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pypdfium2
import pytest
from flask import Flask, g
from PIL import Image
from sqlalchemy import func, update

from app.accounts import concurrency_limit
from app.db import Database, new_id, utc_now
from app.skills.forms.models import FormSubmission, FormTemplate
from app.skills.forms.services import pdf
from app.skills.forms.services.export import LETTERS_AT_ONCE, split_into_lots
from app.skills.forms.services.submissions import PAGE
from app.skills.forms.web import submission_views
from tests.factories import CheckedClient, Member, Page, make_contact, make_user, sign_in
from tests.skills.forms.filling import (
    EVERY_TYPE,
    WHAT,
    WHO,
    address_on,
    field,
    form_on,
    make_template,
    submissions_of,
    submit,
)
from tests.statements import noted_statements


@pytest.fixture
def manager(app: Flask, owner: Database, member: Member) -> CheckedClient:
    return sign_in(app, owner, make_user(owner, member.group_id, role="manager", name="Max Boss"))


@pytest.fixture
def template(owner: Database, member: Member) -> FormTemplate:
    return make_template(owner, member.group_id, [WHAT], slug="report")


def references(page: Page) -> list[str]:
    return [each.text for each in page.find_all("a", class_="reference")]


def test_staff_see_their_own_and_managers_all_of_their_house(
    app: Flask, owner: Database, member: Member, browser: CheckedClient, manager: CheckedClient,
    template: FormTemplate,
) -> None:  # fmt: skip
    mine = submit(browser, template, what="Mine")
    theirs = submit(manager, template, what="Theirs")
    assert len(references(browser.page("/forms/submissions/"))) == 1
    assert len(references(manager.page("/forms/submissions/"))) == 2
    browser.page(theirs, 404)
    assert browser.get(f"{theirs}.pdf").status_code == 404
    assert "Mine" in manager.page(mine).text
    assert manager.get(f"{mine}.pdf").status_code == 200
    colleague = sign_in(app, owner, make_user(owner, member.group_id))
    outsider = sign_in(app, owner, make_user(owner, role="admin"))
    for stranger in (colleague, outsider):
        stranger.page(mine, 404)
        assert stranger.get(f"{mine}.pdf").status_code == 404
        assert references(stranger.page("/forms/submissions/")) == []
    assert browser.get("/forms/submissions.csv").status_code == 403
    assert "Mine" not in outsider.get("/forms/submissions.csv").text
    assert browser.post(mine).status_code == 405
    assert manager.post("/forms/submissions.csv").status_code == 405
    assert browser.post("/forms/submissions/").status_code == 405


def test_the_list_is_narrowed_by_form_person_days_and_words(
    owner: Database, member: Member, browser: CheckedClient, manager: CheckedClient,
    template: FormTemplate,
) -> None:  # fmt: skip
    other = make_template(owner, member.group_id, [WHAT], slug="log", title_en="Waste log")
    submit(browser, template, what="A Jalapeño fell")
    john = make_contact(owner, member.group_id, "John Carter")
    named = make_template(owner, member.group_id, [WHAT, WHO], slug="report-2", title_en="Report")
    submit(manager, named, what="Nothing", who="John Carter")
    submit(manager, other, what="Old bread")
    with owner.transaction() as session:
        old = update(FormSubmission).where(FormSubmission.group_id == member.group_id)
        week_ago = utc_now() - timedelta(days=7)
        session.execute(old.where(FormSubmission.number == 1).values(submitted_at=week_ago))
    today, boundary = utc_now().date(), utc_now().date() - timedelta(days=3)
    year = today.year
    for query, wanted in {
        "": [3, 2, 1],
        "form=log": [3],
        "form=report-2&q=nothing": [2],
        f"person={member.user_id}": [1],
        f"until={boundary}": [1],
        f"since={boundary}": [3, 2],
        "q=jalapeno": [1],
        "q=max bread": [3],
        "q=waste": [3],
        f"q=F-{year}-000002": [2],
        "q=zebra": [],
        # Neither what the fields are called inside nor an id is what somebody wrote.
        "q=contact_id": [],
        f"q={str(john.id)[:8]}": [],
        "q=carter": [2],
        "q=%": [],
        "person=x&since=x&page=x&form=": [3, 2, 1],
        "since=9999-12-31&until=0001-01-01": [3, 2, 1],
    }.items():
        numbers = [
            int(each[-6:]) for each in references(manager.page(f"/forms/submissions/?{query}"))
        ]
        assert numbers == wanted, query
    assert references(browser.page("/forms/submissions/?q=bread")) == []


def test_a_long_list_comes_in_pages(
    owner: Database, database: Database, member: Member, manager: CheckedClient
) -> None:
    add_submissions(database, member, PAGE + 1)
    first = manager.page("/forms/submissions/")
    assert len(references(first)) == PAGE
    [later] = first.find_all("a", rel="next")
    assert len(references(manager.page(later.attributes["href"]))) == 1
    assert references(manager.page("/forms/submissions/?page=999999999999999")) != []


def add_submissions(database: Database, member: Member, count: int, **values: Any) -> None:
    form = {"slug": "report", "title_en": "Report", "title_es": "", "icon": "form",
            "fields": [WHAT]}  # fmt: skip
    with database.transaction(member.scope) as session:
        session.add_all(
            FormSubmission(
                group_id=member.group_id, user_id=member.user_id, submitter=member.name,
                template_version=1, form=form, values={"what": f"Case {number}", **values},
                year=2026, number=number, language="en",
                submitted_at=utc_now() + timedelta(seconds=number),
            )
            for number in range(1, count + 1)
        )  # fmt: skip


def table(manager: CheckedClient, query: str = "") -> list[list[str]]:
    response = manager.get(f"/forms/submissions.csv{query}")
    assert response.status_code == 200
    assert response.mimetype == "text/csv"
    assert "attachment" in response.headers["Content-Disposition"]
    assert response.data.startswith(b"\xef\xbb\xbf")
    return list(csv.reader(io.StringIO(response.data.decode("utf-8-sig"), newline="")))


def test_the_table_has_a_column_a_field_and_no_formula(
    owner: Database, member: Member, browser: CheckedClient, manager: CheckedClient
) -> None:
    template = make_template(
        owner, member.group_id, [WHAT, field("number"), field("phone"), field("date")]
    )
    submit(browser, template, what='=HYPERLINK("x";"ñandú")', number="-3.5", date="2026-11-20",
           phone="+52 55 1234 5678 ext. 9")  # fmt: skip
    submit(browser, template, what="Two\nlines, and “quotes”")
    heads, first, second = table(manager)
    assert heads == ["Number", "Form", "Sent by", "Sent on", "Version of the form",
                     "What happened", "Number", "Phone", "Date"]  # fmt: skip
    assert first[5:] == [
        '\'=HYPERLINK("x";"ñandú")',
        "-3.5",
        "'+52 55 1234 5678 ext. 9",
        "2026-11-20",
    ]
    assert second[5:] == ["Two\nlines, and “quotes”", "", "", ""]
    assert first[2] == member.name
    other = make_template(owner, member.group_id, [WHAT], slug="log", title_en="Waste log")
    submit(manager, other, what="@bread")
    heads, *lines = table(manager)
    assert lines[-1][heads.index("Waste log: What happened")] == "'@bread"
    assert lines[-1][heads.index("Incident report: What happened")] == ""
    assert len(table(manager, "?form=log")) == 2


def test_a_value_stands_under_the_label_and_the_unit_that_it_was_filled_in_with(
    owner: Database, member: Member, browser: CheckedClient, manager: CheckedClient
) -> None:
    def weighing(unit: str, label: str = "Weight") -> list[dict[str, Any]]:
        labels = {"en": label, "es": "Peso"}
        return [field("number", label=labels, unit={"en": unit, "es": unit}), WHAT]

    template = make_template(owner, member.group_id, weighing("lb"))
    submit(browser, template, number="10", what="Beef")
    for version, fields in enumerate(
        (weighing("kg"), weighing("kg", "Net weight"), weighing("=1+1"), weighing("")), 2
    ):
        with owner.transaction() as session:
            changed = session.get_one(FormTemplate, template.id)
            changed.fields, changed.version = fields, version
        submit(browser, template, number="10", what="Beef")
    submit(browser, template, number="11", what="Pork")
    heads, *lines = table(manager)
    assert heads[5:] == ["Weight (lb)", "Weight (kg)", "Net weight (kg)", "Weight (=1+1)", "Weight",
                         "What happened"]  # fmt: skip
    assert [line[5:] for line in lines] == [
        ["10", "", "", "", "", "Beef"],
        ["", "10", "", "", "", "Beef"],
        ["", "", "10", "", "", "Beef"],
        ["", "", "", "10", "", "Beef"],
        ["", "", "", "", "10", "Beef"],
        ["", "", "", "", "11", "Pork"],
    ]


def test_a_version_that_comes_while_a_table_is_sent_is_left_to_the_next_table(
    owner: Database, database: Database, member: Member, manager: CheckedClient
) -> None:
    add_submissions(database, member, 2)
    of_group = update(FormSubmission).where(FormSubmission.group_id == member.group_id)
    second = of_group.where(FormSubmission.number == 2)
    later = {"slug": "report", "title_en": "Report", "title_es": "",
             "fields": [WHAT | {"label": {"en": "What fell", "es": ""}}]}  # fmt: skip
    response = manager.get("/forms/submissions.csv")
    parts = response.iter_encoded()
    assert b"What happened" in next(parts)
    with owner.transaction() as session:
        session.execute(second.values(form=later, template_version=2))
    assert [line.split(b",")[-1] for line in b"".join(parts).splitlines()] == [b"Case 1"]
    response.close()
    heads, *lines = table(manager)
    assert heads[5:] == ["What happened", "What fell"]
    assert [line[5:] for line in lines] == [["Case 1", ""], ["", "Case 2"]]


def test_a_table_of_no_form_that_could_be_is_empty(manager: CheckedClient) -> None:
    assert len(table(manager, "?form=%00")) == 1


def test_a_large_table_is_whole(database: Database, member: Member, manager: CheckedClient) -> None:
    add_submissions(database, member, 450)
    heads, *lines = table(manager)
    assert [line[5] for line in lines] == [f"Case {number}" for number in range(1, 451)]
    assert heads[5] == "What happened"


def test_in_a_table_each_form_is_read_once_though_they_alternate(
    owner: Database, database: Database, member: Member, manager: CheckedClient
) -> None:
    add_submissions(database, member, 60)
    with owner.transaction() as session:
        of_group = update(FormSubmission).where(FormSubmission.group_id == member.group_id)
        for remainder, slug in enumerate(("alpha", "beta")):
            heading = {"label": {"en": f"Of {slug}", "es": ""}}
            form = {"slug": slug, "title_en": slug, "title_es": "", "fields": [WHAT | heading]}
            some = of_group.where(FormSubmission.number % 2 == remainder)
            session.execute(some.values(form=form))
    with noted_statements() as statements:
        heads, *lines = table(manager)
    assert heads[5:] == ["alpha: Of alpha", "beta: Of beta"]
    assert [line[5:] for line in lines[:3]] == [["", "Case 1"], ["Case 2", ""], ["", "Case 3"]]
    assert len(lines) == 60
    assert len([each for each in statements if "SELECT form_submissions.form \n" in each]) == 2


def test_each_line_of_a_table_names_the_form_as_it_was_called_when_it_was_sent(
    owner: Database, database: Database, member: Member, manager: CheckedClient
) -> None:
    add_submissions(database, member, 2)
    with owner.transaction() as session:
        session.execute(
            update(FormSubmission)
            .where(FormSubmission.group_id == member.group_id, FormSubmission.number == 2)
            .values(form=FormSubmission.form.op("||")(func.jsonb_build_object("title_en", "Log")))
        )
    assert [line[1] for line in table(manager)[1:]] == ["Report", "Log"]


def test_a_list_reads_neither_the_fields_nor_the_answers(
    database: Database, member: Member, manager: CheckedClient
) -> None:
    add_submissions(database, member, 3)
    with noted_statements() as statements:
        assert len(references(manager.page("/forms/submissions/"))) == 3
    asked = [each for each in statements if "FROM form_submissions" in each]
    assert asked
    whole = re.compile(r"form_submissions\.(values|form\b(?! -| ->>))")
    assert not [each for each in asked if whole.search(each)]


@pytest.mark.fault(40)
def test_a_person_stands_in_their_lane_while_their_pdf_is_made(
    owner: Database, member: Member, browser: CheckedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The printer makes one at a time: dozens of one person's would keep all others waiting."""
    address = submit(browser, make_template(owner, member.group_id, [WHAT]), what="Cold.")
    held: list[object] = []

    def read(*_: object) -> AbstractContextManager[io.BytesIO]:
        held.extend((*concurrency_limit._lanes._entered, g.db.in_transaction()))
        return nullcontext(io.BytesIO(b"a picture"))

    monkeypatch.setattr(submission_views, "load_file", lambda *_: SimpleNamespace(key="a"))
    monkeypatch.setattr(submission_views, "open_bytes", read)
    monkeypatch.setattr(pdf, "make_pdf", lambda _, files: files(str(new_id())))
    assert browser.get(f"{address}.pdf").data == b"a picture"
    assert held == [("read", member.user_id), False]


def text_of(content: bytes) -> tuple[int, str]:
    document = pypdfium2.PdfDocument(content)
    pages = [page.get_textpage().get_text_range() for page in document]
    return len(pages), "\n".join(pages)


def test_the_pdf_says_all_with_accents_over_as_many_pages_as_it_takes(
    owner: Database, member: Member, browser: CheckedClient, app: Flask
) -> None:
    template = make_template(owner, member.group_id, EVERY_TYPE, title_en="Señales & <más>")
    long = "\n".join(f"Line {number}: the piñata fell — “ouch”." for number in range(120))
    address = submit(
        browser, template, text="x" * 190, textarea=long, number="38.5",
        datetime="2026-11-20T15:00", select="high", checkbox="true",
        person="José Ñandú 李", phone="210 555 0123 ext. 45", **{"address-line1": "1 Main St"},
    )  # fmt: skip
    response = browser.get(f"{address}.pdf")
    assert response.mimetype == "application/pdf"
    count, text = text_of(response.data)
    [found] = submissions_of(owner, member)
    assert found.reference in response.headers["Content-Disposition"]
    assert count == 4
    for said in ("Test House", "Señales & <más>", found.reference,
                 "Line 119: the piñata fell — “ouch”.",
                 "38.5 °F", "November 20, 2026, 3:00 PM", "High", "José Ñandú ?", "1 Main St",
                 "(210) 555-0123 ext. 45",
                 f"Page 1 of {count}", f"Page {count} of {count}", member.name):  # fmt: skip
        assert said in text, said
    spanish = sign_in(app, owner, make_user(owner, member.group_id, "manager", language="es"))
    _count, text = text_of(spanish.get(f"{address}.pdf").data)
    assert "20 de noviembre de 2026, 15:00" in text
    assert "Alta" in text


def picture(color: str, size: tuple[int, int], format_: str = "JPEG") -> io.BytesIO:
    output = io.BytesIO()
    Image.new("RGB", size, color).save(output, format_)
    output.seek(0)
    return output


def test_photos_and_a_signature_come_with_the_form_and_are_drawn(
    app: Flask, owner: Database, member: Member, browser: CheckedClient, manager: CheckedClient
) -> None:
    template = make_template(owner, member.group_id, [WHAT, field("photo"), field("signature")])
    page = browser.page(f"/forms/{template.slug}")
    fake = (io.BytesIO(b"<svg/>"), "drawing.png")
    values = {"u-photo": [(picture("red", (900, 600)), "hand.jpg")], "u-signature": [fake]}
    form = {**form_on(page), "v-what": "A cut", "action": "submit"}
    response = browser.post(address_on(page), **form, **values)
    again = browser._page(response, 422)
    assert again.find("div", id="notes-signature").attributes["data-wrong"] == "true"
    assert len(again.find_all("input", class_="upload-keep")) == 1
    signed = {"u-signature": [(picture("black", (300, 90), "PNG"), "me.png")]}
    form = {**form_on(again), "action": "submit"}
    response = browser.post(address_on(again), **form, **signed)
    assert response.status_code == 303, response.text[:3000]
    address = response.location.removesuffix("?sent=1")
    for reader in (browser, manager):
        seen = reader.page(address)
        [photo, _signature] = seen.find_all("img")
        assert reader.get(photo.attributes["src"]).mimetype == "image/jpeg"
        document = pypdfium2.PdfDocument(reader.get(f"{address}.pdf").data)
        drawn = list(document[0].get_objects(filter=[pypdfium2.raw.FPDF_PAGEOBJ_IMAGE]))
        assert len(drawn) == 2
    colleague = sign_in(app, owner, make_user(owner, member.group_id))
    assert colleague.get(photo.attributes["src"]).status_code == 404


def test_the_sheet_shows_the_form_as_it_was_whatever_becomes_of_it(
    owner: Database, member: Member, browser: CheckedClient, manager: CheckedClient,
    template: FormTemplate,
) -> None:  # fmt: skip
    address = submit(browser, template, what="Uno\ndos <b>")
    with owner.transaction() as session:
        session.delete(session.get_one(FormTemplate, template.id))
    for reader in (browser, manager):
        page = reader.page(address)
        assert "Incident report" in page.text
        assert "Uno dos <b>" in page.text
        assert reader.get(f"{address}.pdf").status_code == 200
    assert "Incident report" in manager.page("/forms/submissions/").text
    assert "Sent. Its number is" not in manager.page(f"{address}?sent=1").text


@pytest.mark.fault(44)
def test_what_is_long_is_put_into_words_a_few_at_a_time() -> None:
    """Fifty forms of 500,000 letters kept everybody's tables waiting for ten seconds."""
    sizes = [10, 20, LETTERS_AT_ONCE, 5, LETTERS_AT_ONCE // 2, LETTERS_AT_ONCE // 2, 7]
    sent = [FormSubmission(values={"a": "x" * size}) for size in sizes]
    lots = [[len(each.values["a"]) for each in lot] for lot in split_into_lots(sent)]
    assert lots == [sizes[:3], sizes[3:6], sizes[6:]]
