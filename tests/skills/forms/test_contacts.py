"""Contacts: the list, adding, changing, taking off, a table of many, roles, other houses."""

from __future__ import annotations

import io

import pytest
from flask import Flask, g
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.accounts.new_people import set_membership
from app.db import Database
from app.files import child_process
from app.files.table_cells import Cells
from app.skills.forms.models import Contact
from app.skills.forms.services.contact_import import ReadRow, read_contacts
from app.skills.forms.web import contact_views
from tests.factories import (
    CheckedClient,
    Member,
    Page,
    make_contact,
    make_group,
    make_user,
    sign_in,
)
from tests.skills.forms.filling import SHORT, make_template

HOME = "/admin/contacts/"


@pytest.fixture
def boss(owner: Database) -> Member:
    return make_user(owner, role="manager")


@pytest.fixture
def browser(app: Flask, owner: Database, boss: Member) -> CheckedClient:
    return sign_in(app, owner, boss)


def contacts_of(owner: Database, member: Member) -> dict[str, Contact]:
    with owner.session() as session:
        query = select(Contact).where(Contact.group_id == member.group_id)
        return {each.name: each for each in session.scalars(query)}


def bring(browser: CheckedClient, content: str | bytes, status: int = 200) -> str:
    """Import a table; returns what the page says."""
    data = content if isinstance(content, bytes) else content.encode()
    response = browser.client.post(
        f"{HOME}import",
        data={"csrf_token": browser.csrf_token, "file": (io.BytesIO(data), "team.csv")},
    )
    return browser._page(response, status).text


def test_somebody_is_added_found_changed_and_taken_off_the_list(
    owner: Database, boss: Member, browser: CheckedClient
) -> None:
    assert "There are no contacts yet." in browser.page(HOME).text
    added = browser.post(
        f"{HOME}new", name="  José   Núñez ", job="Grill", phone="210 555 0199", email="J@x.example"
    )
    assert added.status_code == 303
    jose = contacts_of(owner, boss)["José Núñez"]
    assert (jose.phone, jose.email) == ("+12105550199", "J@x.example")
    make_contact(owner, boss.group_id, "Ann Lee")
    for wanted in ("jose", "NUN", "grill", "5550199", "jose grill"):
        found = browser.fragment(f"{HOME}?q={wanted}").text
        assert "José Núñez" in found and "Ann Lee" not in found, wanted
    assert "Nobody here is called “zz”." in browser.page(f"{HOME}?q=zz").text
    path = f"{HOME}{jose.id}"
    page = browser.page(path)
    assert page.find("input", name="phone").attributes["value"] == "(210) 555-0199"
    assert save(browser, page, job="Chef").status_code == 303
    assert contacts_of(owner, boss)["José Núñez"].job == "Chef"
    assert contacts_of(owner, boss)["José Núñez"].phone == "+12105550199"
    form = make_template(owner, boss.group_id, SHORT)
    assert "José Núñez" in browser.fragment("/forms/people?field=who&v-who=jos").text
    browser.press(browser.page(path), f"{path}/switch", to="off")
    assert "José" not in browser.fragment("/forms/people?field=who&v-who=jos").text
    assert "José Núñez" in browser.page(f"{HOME}?off=1").text and form
    browser.press(browser.page(path), f"{path}/switch", to="on")
    assert "José Núñez" in browser.page(HOME).text


def test_an_extension_is_kept_shown_and_dialled(
    owner: Database, boss: Member, browser: CheckedClient
) -> None:
    browser.post(f"{HOME}new", name="Ann Lee", phone="210 555 0199 ext. 45")
    bring(browser, "Name,Phone\nEva Sol,+52 55 1234 5678 x9\n")
    ann, eva = (contacts_of(owner, boss)[name] for name in ("Ann Lee", "Eva Sol"))
    assert (ann.phone, eva.phone) == ("+12105550199;ext=45", "+525512345678;ext=9")
    links = {each.attributes["href"]: each.text for each in browser.page(HOME).find_all("a")}
    assert links["tel:+12105550199;ext=45"] == "(210) 555-0199 ext. 45"
    assert links["tel:+525512345678;ext=9"] == "+52 55 1234 5678 ext. 9"
    for each, shown in ((ann, "(210) 555-0199 ext. 45"), (eva, "+52 55 1234 5678 ext. 9")):
        page = browser.page(f"{HOME}{each.id}")
        assert page.find("input", name="phone").attributes["value"] == shown
        assert save(browser, page, job="Chef").status_code == 303
        now = contacts_of(owner, boss)[each.name]
        assert (now.job, now.phone) == ("Chef", each.phone)


@pytest.mark.parametrize("column", ["Ext", "Extension", "Anexo", "EXT."])
def test_the_extension_of_a_column_of_its_own_belongs_to_the_phone_beside_it(
    owner: Database, boss: Member, browser: CheckedClient, column: str
) -> None:
    rows = ["Ann,210-555-0123,45", "Ben,210-555-0124 x46,", "Cy,210-555-0125 x47,x47"]
    for _ in range(2):
        bring(browser, "\n".join([f"Name,Phone,{column}", *rows]))
        phones = {name: each.phone for name, each in contacts_of(owner, boss).items()}
        assert phones == {
            "Ann": "+12105550123;ext=45",
            "Ben": "+12105550124;ext=46",
            "Cy": "+12105550125;ext=47",
        }


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("Ann,210-555-0123,front desk", "An extension has only digits, like 45."),
        ("Ann,210-555-0123,1234567890", "An extension has at most 9 digits."),
        ("Ann,,45", "There is an extension without a phone number."),
        ("Ann,210-555-0123 x46,45", "The phone number has another extension."),
        ("Ann,call me,45", "Enter a phone number with its area code,"),
    ],
)
def test_an_extension_that_cannot_be_joined_is_told_with_its_row(
    owner: Database, boss: Member, browser: CheckedClient, row: str, told: str
) -> None:
    assert told in bring(browser, f"Name,Phone,Ext\n{row}\nEva,,\n")
    assert [*contacts_of(owner, boss)] == ["Eva"]


@pytest.mark.fault(56)
def test_a_contact_that_is_sent_twice_is_there_once(
    owner: Database, boss: Member, browser: CheckedClient
) -> None:
    begun = browser.page(f"{HOME}new").find("input", name="begun_id").attributes["value"]
    for _ in range(3):
        sent = browser.post(f"{HOME}new", begun_id=begun, name="Ana Ruiz", job="Bar")
        assert sent.status_code == 303
    browser.post(f"{HOME}new", begun_id=begun, name="Another Ana", job="Bar")
    browser.post(f"{HOME}new", begun_id="nonsense", name="Third Ana", job="Bar")
    with owner.session() as session:
        names = session.scalars(select(Contact.name).where(Contact.group_id == boss.group_id))
        assert sorted(names) == ["Ana Ruiz", "Another Ana", "Third Ana"]


def test_the_same_contact_may_be_sent_to_two_groups_of_ones_own(
    owner: Database, boss: Member, browser: CheckedClient
) -> None:
    other = make_group(owner)
    with owner.transaction() as session:
        set_membership(session, boss.user_id, other, "admin")
    begun = browser.page(f"{HOME}new").find("input", name="begun_id").attributes["value"]
    for group_id in (boss.group_id, other):
        assert browser.post("/switch-group", group_id=str(group_id)).status_code == 303
        # A page of that group carries a token of its own.
        page = browser.page(f"{HOME}new")
        token = page.find("meta", name="csrf-token").attributes["content"]
        form = {"begun_id": begun, "name": "Ana Ruiz", "job": "Bar", "csrf_token": token}
        assert browser.post(f"{HOME}new", **form).status_code == 303
    with owner.session() as session:
        found = session.scalars(select(Contact.group_id).where(Contact.name == "Ana Ruiz"))
        assert {boss.group_id, other} <= set(found)


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("name", " ", "Enter a name."),
        ("name", "x" * 121, "Use at most 120 characters."),
        ("job", "x" * 81, "Use at most 80 characters."),
        ("phone", "call me", "Enter a phone number with its area code,"),
        ("phone", "not 210 555 0123", "Enter a phone number with its area code,"),
        ("phone", "555 0123", "Enter a phone number with its area code,"),
        ("phone", "210 555 0123 ext. 1234567890", "An extension has at most 9 digits."),
        ("email", "nobody", "Enter an email address,"),
    ],
)
def test_what_is_wrong_is_told_at_its_field_and_kept(
    owner: Database, boss: Member, browser: CheckedClient, field: str, value: str, told: str
) -> None:
    form = {"name": "Ann Lee", "job": "Host", field: value}
    page = browser._page(browser.post(f"{HOME}new", **form), 422)
    assert told in page.text
    assert page.find("input", name=field).attributes["value"] == value
    assert page.find("input", name=field).attributes["aria-invalid"] == "true"
    assert contacts_of(owner, boss) == {}
    ann = make_contact(owner, boss.group_id, "Ann Lee")
    assert browser.post(f"{HOME}{ann.id}", **form).status_code == 422


SHOWN = ("name", "job", "phone", "email")


def save(browser: CheckedClient, page: Page, **typed: str) -> TestResponse:
    """Send the form of a contact's page as a browser does, with what was typed into it."""
    form = page.find("form", class_="form")
    fields = [each.attributes for each in form.find_all("input")]
    sent = {each["name"]: each["value"] for each in fields if each["name"] != "csrf_token"}
    return browser.post(form.attributes["action"], **{**sent, **typed})


@pytest.fixture
def ann(owner: Database, boss: Member) -> Contact:
    return make_contact(owner, boss.group_id, "Ann Lee", job="Cook")


def test_of_two_who_change_different_fields_both_changes_stay(
    owner: Database, boss: Member, browser: CheckedClient, ann: Contact
) -> None:
    mine, theirs = (browser.page(f"{HOME}{ann.id}") for _ in range(2))
    new = {"phone": "210 555 0199", "email": "ann@x.example"}
    assert save(browser, theirs, **new).status_code == 303
    assert save(browser, mine, job="Sous chef").status_code == 303
    now = contacts_of(owner, boss)["Ann Lee"]
    assert (now.job, now.phone, now.email) == ("Sous chef", "+12105550199", "ann@x.example")


def test_of_two_who_change_one_field_the_second_is_told_and_writes_nothing(
    owner: Database, boss: Member, browser: CheckedClient, ann: Contact
) -> None:
    mine, theirs = (browser.page(f"{HOME}{ann.id}") for _ in range(2))
    new = {"job": "Grill", "phone": "210 555 0199"}
    assert save(browser, theirs, **new).status_code == 303
    answer = save(browser, mine, job="Sous chef", email="ann@x.example")
    page = browser._page(answer, 409)
    assert "Somebody else changed this in the meantime." in page.text
    assert page.find("dl", class_="theirs").text == "JobGrill"
    now = contacts_of(owner, boss)["Ann Lee"]
    assert (now.job, now.phone, now.email) == ("Grill", "+12105550199", "")
    # What was typed is kept; what was not touched here is what stands there now.
    shown = {name: page.find("input", name=name).attributes["value"] for name in SHOWN}
    assert shown == {
        "name": "Ann Lee", "job": "Sous chef", "phone": "(210) 555-0199", "email": "ann@x.example"
    }  # fmt: skip
    assert save(browser, page).status_code == 303
    now = contacts_of(owner, boss)["Ann Lee"]
    assert (now.job, now.phone, now.email) == ("Sous chef", "+12105550199", "ann@x.example")


def test_what_both_have_changed_to_the_same_is_no_conflict(
    owner: Database, boss: Member, browser: CheckedClient, ann: Contact
) -> None:
    mine, theirs = (browser.page(f"{HOME}{ann.id}") for _ in range(2))
    for page, phone in ((theirs, "210 555 0199"), (mine, "(210) 555-0199")):
        assert save(browser, page, phone=phone).status_code == 303
    assert contacts_of(owner, boss)["Ann Lee"].phone == "+12105550199"


def test_a_mistake_in_between_wipes_nothing_of_anothers(
    owner: Database, boss: Member, browser: CheckedClient, ann: Contact
) -> None:
    mine, theirs = (browser.page(f"{HOME}{ann.id}") for _ in range(2))
    wrong = browser._page(save(browser, mine, job="Sous chef", email="nobody"), 422)
    assert save(browser, theirs, phone="210 555 0199").status_code == 303
    assert save(browser, wrong, email="ann@x.example").status_code == 303
    now = contacts_of(owner, boss)["Ann Lee"]
    assert (now.job, now.phone, now.email) == ("Sous chef", "+12105550199", "ann@x.example")


def test_a_page_that_does_not_say_what_it_showed_overwrites_nothing(
    owner: Database, boss: Member, browser: CheckedClient, ann: Contact
) -> None:
    """As of a page that stood open while Comanda was upgraded."""
    assert browser.post(f"{HOME}{ann.id}", name="Ann Lee", job="Chef").status_code == 409
    assert browser.post(f"{HOME}{ann.id}", name="Ann Lee", job="Cook").status_code == 303
    assert contacts_of(owner, boss)["Ann Lee"].job == "Cook"


def test_a_table_is_taken_in_row_by_row_and_twice_is_once(
    owner: Database, boss: Member, browser: CheckedClient
) -> None:
    make_contact(owner, boss.group_id, "Jose Nunez")
    table = (
        "Nombre;Puesto;Teléfono;Correo;Turno\n"
        "José Núñez;Parrilla;210 555 0142;;noche\n"
        '"Pérez, Ana";Cajera;;ana@x.example;\n'
        ";Cocina;;;\n"
        "Luis Gil;Barra;12;;\n"
        "josé nuñez;Otra;;;\n"
        "\n"
        "Eva Sol;Host;;not-a-mail;\n"
    )
    text = bring(browser, table)
    assert "1 contact is new. 1 was changed." in text
    assert "4 rows were left out." in text
    assert "Line 2 already has this name." in text
    for line, why in ((4, "Enter a name."), (5, "Enter a phone number"), (8, "Enter an email")):
        assert why in text and str(line) in text
    people = contacts_of(owner, boss)
    assert set(people) == {"José Núñez", "Pérez, Ana"}
    assert people["José Núñez"].phone == "+12105550142"
    again = bring(browser, table)
    assert "0 contacts are new. 0 were changed. 2 were unchanged." in again


@pytest.mark.parametrize(
    "content",
    [
        "\ufeffName,Job\r\nJosé,Chef\r\n".encode(),
        "Name\tJob\nJosé\tChef\n".encode("utf-16"),
        "Name,Job\nJosé,Chef\n".encode("cp1252"),
        "Name,Employee,Job,Role\nJosé,,Chef,\n".encode(),
        '\n\n"Full name","Position"\n"José","Chef"'.encode(),
    ],
)
def test_tables_come_as_programs_write_them(
    owner: Database, boss: Member, browser: CheckedClient, content: bytes
) -> None:
    assert "1 contact is new." in bring(browser, content)
    assert contacts_of(owner, boss)["José"].job == "Chef"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "The file is empty."),
        ("Job,Phone\nChef,1\n", "The first line must name the columns"),
        ("Name\n" + "Ann\n" * 2_001, "The table has 2,001 rows; only 2,000 fit at once."),
        (b"\x00\x01\x02", "This is not a text table."),
        ('Name\n"Ann\n', "cannot be read as a table"),
        ("Name\n" + "x" * 1_048_576, "The file is larger than 1 MB."),
        ("Name" + ",x" * 200 + "\nAnn\n", "Line 1 has more than 200 columns."),
        ("Name,Job\nAnn,Host\n\nEva" + ";,|" * 200, "Line 4 has more than 200 columns."),
        ("Name\nAnn\0\n".encode("utf-16"), "This is not a text table."),
    ],
)
def test_what_is_no_table_of_contacts_is_told(
    owner: Database, boss: Member, browser: CheckedClient, content: str | bytes, told: str
) -> None:
    assert told in bring(browser, content, 422)
    assert contacts_of(owner, boss) == {}


def test_why_a_table_is_not_taken_is_told_in_ones_language(app: Flask, owner: Database) -> None:
    spanish = sign_in(app, owner, make_user(owner, role="manager", language="es"))
    assert "La línea 1 tiene más de 200 columnas." in bring(spanish, "Nombre" + ";" * 200, 422)
    assert "La tabla tiene 2,001 filas" in bring(spanish, "Nombre\n" + "Ana\n" * 2_001, 422)


def test_the_largest_table_that_is_taken_is_taken(
    owner: Database, boss: Member, browser: CheckedClient
) -> None:
    rows = "".join(f"Person {n}{',x' * 199}\n" for n in range(2_000))
    assert "2000 contacts are new." in bring(browser, f"Name{',' * 199}\n{rows}")
    assert len(contacts_of(owner, boss)) == 2_000


def test_a_table_is_read_in_a_process_of_its_own(
    owner: Database, boss: Member, browser: CheckedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_process.sys, "executable", "/bin/false")
    assert "The file is damaged or incomplete." in bring(browser, "Name\nAnn\n", 422)
    assert contacts_of(owner, boss) == {}


@pytest.mark.fault(40)
def test_rows_are_read_without_a_connection_and_in_no_lane(
    boss: Member, browser: CheckedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six tables of one person, each waiting for the thread that reads, had all connections."""
    held: list[object] = []

    def read(table: Cells, region: str) -> list[ReadRow]:
        session = g.get("db")
        held.extend((bool(session and session.in_transaction()), "lanes" in g))
        return read_contacts(table, region)

    monkeypatch.setattr(contact_views, "read_contacts", read)
    assert "1 contact is new." in bring(browser, "Name\nAnn\n")
    assert held == [False, False]


@pytest.mark.fault(66)
def test_a_list_that_is_full_takes_nobody_more_and_says_so(
    owner: Database, boss: Member, browser: CheckedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.skills.forms.services.contacts.MOST_CONTACTS", 2)
    told = bring(browser, "Name,Job\nAda,Cook\nBen,Cook\nEva,Cook\nAda,Chef\n")
    assert "at most 2 people" in told
    assert set(contacts_of(owner, boss)) == {"Ada", "Ben"}
    # Who is on it already is changed as before.
    bring(browser, "Name,Job\nBen,Chef\n")
    assert contacts_of(owner, boss)["Ben"].job == "Chef"
    begun = browser.page(f"{HOME}new").find("input", name="begun_id").attributes["value"]
    refused = browser.post(f"{HOME}new", name="Fay", begun_id=begun)
    assert refused.status_code == 422 and "at most 2 people" in refused.text
    assert "Fay" not in contacts_of(owner, boss)


def test_no_file_is_told_too(browser: CheckedClient) -> None:
    response = browser.post(f"{HOME}import")
    assert "Choose a file first." in browser._page(response, 422).text


def test_staff_and_other_houses_see_nothing_of_them(
    app: Flask, owner: Database, boss: Member, browser: CheckedClient
) -> None:
    ann = make_contact(owner, boss.group_id, "Ann Lee")
    path = f"{HOME}{ann.id}"
    staff = sign_in(app, owner, make_user(owner, group_id=boss.group_id))
    stranger = sign_in(app, owner, make_user(owner, role="admin"))
    for address in (HOME, f"{HOME}new", f"{HOME}import", path):
        assert staff.get(address).status_code == 403
    for address in (f"{HOME}new", path, f"{path}/switch", f"{HOME}import"):
        assert staff.post(address, name="Eve").status_code == 403
    assert stranger.get(path).status_code == 404
    assert stranger.post(path, name="Eve").status_code == 404
    assert stranger.post(f"{path}/switch", to="off").status_code == 404
    assert "Ann Lee" not in stranger.page(HOME).text
    assert browser.get(f"{path}/switch").status_code == 405
    assert app.test_client().get(HOME).status_code == 303
    [found] = contacts_of(owner, boss).values()
    assert (found.name, found.is_active) == ("Ann Lee", True)
