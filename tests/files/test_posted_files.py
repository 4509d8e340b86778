"""How many files may be sent, how large, and how much looking at one may cost: on every route."""

from __future__ import annotations

import gc
import io
import os
import resource
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from operator import methodcaller
from threading import Event
from typing import Any

import pytest
from flask import Flask, request
from limits import parse_many
from PIL import Image
from sqlalchemy import func, select
from werkzeug.datastructures import MultiDict
from werkzeug.test import TestResponse

from app.db import Database
from app.errors import TooMany
from app.extensions import Services
from app.files import posted_files
from app.files.examination_queue import MOST_AT_ONCE
from app.files.field_rules import upload_rules
from app.files.kinds import LARGEST_BYTES, MIB
from app.files.models import StoredFile
from app.files.spool import Spool
from app.files.upload_limits import UPLOADS, VOLUME
from app.skills.expenses.models import Expense
from app.web.request_body import FEW_PARTS, MOST_FILES
from app.web.shared_counters import ask_counters
from tests.assistant.processes import wait_until
from tests.factories import CheckedClient, Member, make_user, sign_in
from tests.factories.browser import HTMX
from tests.factories.expenses import make_expense
from tests.files import samples
from tests.html_checks import parse_html
from tests.skills.forms.filling import address_on, field, form_on, make_template

# Seconds of a processor: far more than the largest picture that is taken costs.
GENEROUS = 4


def stored(owner: Database, member: Member) -> int:
    with owner.transaction() as session:
        mine = StoredFile.user_id == member.user_id
        return session.scalar(select(func.count()).where(mine)) or 0


def cpu_of_children(what: Callable[[], Any]) -> float:
    """Seconds of a processor that children took meanwhile."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    what()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def upload(browser: CheckedClient, app: Flask, *contents: bytes) -> TestResponse:
    with app.test_request_context():
        rules = upload_rules("proof", ("image", "pdf", "text", "office")).signed()
    form: MultiDict[str, Any] = MultiDict({"csrf_token": browser.csrf_token, "rules": rules})
    for content in contents:
        form.add("file", (io.BytesIO(content), "photo.jpg"))
    return browser.client.post("/files", data=form, headers=HTMX)


def count_before(app: Flask, member: Member, files: int) -> None:
    """So many files were added in this minute: each would be looked at for a third of a second."""
    with app.app_context():
        for limit in parse_many(UPLOADS):
            key, seconds = limit.key_for("uploads", str(member.user_id)), limit.get_expiry()
            ask_counters(methodcaller("incr", key, seconds, amount=files))


def fill(
    browser: CheckedClient, owner: Database, member: Member, fields: list[Any], **more: Any
) -> TestResponse:
    """Send a form with files as browsers without scripts do."""
    page = browser.page(f"/forms/{make_template(owner, member.group_id, fields).slug}")
    form: MultiDict[str, Any] = MultiDict({"csrf_token": browser.csrf_token, **form_on(page)})
    for name, values in more.items():
        files = [(io.BytesIO(each), "a.txt") for each in values if isinstance(each, bytes)]
        form.setlist(name.replace("_", "-", 1), files or values)
    return browser.client.post(address_on(page), data=form)


# What looking at one costs


@pytest.mark.fault(35)
def test_a_picture_of_thousands_of_scans_is_refused_before_it_is_unpacked(
    browser: CheckedClient, app: Flask, owner: Database, member: Member
) -> None:
    content = samples.jpeg_of_scans(3_000, (4_900, 4_900))
    answers: list[TestResponse] = []
    assert cpu_of_children(lambda: answers.append(upload(browser, app, content))) < GENEROUS
    assert answers[0].status_code == 422
    assert "too much time or memory" in answers[0].text
    assert stored(owner, member) == 0


def test_of_a_picture_that_moves_only_the_first_frame_is_looked_at(
    browser: CheckedClient, app: Flask
) -> None:
    def moving(frames: int) -> bytes:
        pictures = [Image.new("P", (600, 600), each % 250) for each in range(frames)]
        for picture in pictures:
            picture.putpalette(bytes(range(256)) * 3)
        file = io.BytesIO()
        pictures[0].save(file, "GIF", save_all=True, append_images=pictures[1:])
        return file.getvalue()

    answers: list[TestResponse] = []
    few = cpu_of_children(lambda: answers.append(upload(browser, app, moving(2))))
    many = cpu_of_children(lambda: answers.append(upload(browser, app, moving(400))))
    assert [each.status_code for each in answers] == [200, 200]
    assert many < 3 * few + 1


# How many


FILES = [field("file", most=3, kinds=["text"]), field("text")]


@pytest.mark.parametrize(("count", "status"), [(3, 303), (4, 422), (61, 413), (900, 413)])
def test_a_form_brings_as_many_files_as_its_field_takes_or_none(
    browser: CheckedClient, owner: Database, member: Member, count: int, status: int
) -> None:
    answer = fill(browser, owner, member, FILES, u_file=[samples.TEXT] * count)
    assert answer.status_code == status
    assert stored(owner, member) == (count if status == 303 else 0)


def test_what_was_typed_beside_too_many_files_is_kept_and_each_field_says_what_became_of_its_own(
    owner: Database, app: Flask
) -> None:
    ana = make_user(owner, language="es")
    browser = sign_in(app, owner, ana)
    fields = [*FILES, field("photo", most=1)]
    sent = {"u_file": [samples.TEXT] * 4, "u_photo": [samples.picture()], "v_text": ["fryer"]}
    answer = fill(browser, owner, ana, fields, **sent)
    page = parse_html(answer.text)
    assert answer.status_code == 422
    assert "Elegiste más archivos de los que caben aquí" in page.text
    assert "Estos archivos tampoco se agregaron" in page.text
    assert page.find("input", name="v-text").attributes["value"] == "fryer"
    assert stored(owner, ana) == 0


def test_files_that_a_field_keeps_already_count(
    browser: CheckedClient, app: Flask, owner: Database, member: Member
) -> None:
    box = parse_html(upload(browser, app, samples.TEXT).text).find("input", name="v-proof")
    kept = ["", box.attributes["value"]]
    answer = fill(browser, owner, member, FILES, v_file=kept, u_file=[samples.TEXT] * 3)
    assert answer.status_code == 422
    assert stored(owner, member) == 1


def test_the_other_routes_take_one_file(
    browser: CheckedClient, app: Flask, owner: Database, member: Member
) -> None:
    assert upload(browser, app, samples.TEXT, samples.TEXT).status_code == 413
    expense = make_expense(owner, member)
    boss = make_user(owner, member.group_id, "admin")
    theirs = sign_in(app, owner, boss)
    name = f"u-receipt-{expense.id.hex}"
    for address, field_name in (
        ("/expenses/new", "u-receipt"),
        (f"/expenses/{expense.id}/edit", name),
        ("/library/imports/", "file"),
        ("/admin/contacts/import", "file"),
    ):
        form: MultiDict[str, Any] = MultiDict({"csrf_token": theirs.csrf_token, "target": "sop"})
        for _ in range(2):
            form.add(field_name, (io.BytesIO(samples.picture()), "a.jpg"))
        assert theirs.client.post(address, data=form).status_code == 413, address
    assert stored(owner, member) == stored(owner, boss) == 0
    with owner.transaction() as session:
        mine = Expense.group_id == member.group_id
        assert session.scalar(select(func.count()).where(mine)) == 1


def test_files_of_all_routes_are_counted_together_before_any_is_looked_at(
    app: Flask, owner: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    boss = make_user(owner, role="admin")
    browser = sign_in(app, owner, boss)
    count_before(app, boss, MOST_FILES - 3)
    for _ in range(2):
        form = {"csrf_token": browser.csrf_token, "file": (io.BytesIO(b"no table"), "a.csv")}
        assert browser.client.post("/admin/contacts/import", data=form).status_code == 422
    # Two more would be one too many: neither is taken, and neither is counted.
    answer = fill(browser, owner, boss, FILES, u_file=[samples.TEXT] * 2, v_text=["fryer"])
    assert answer.status_code == 429
    assert "more files than can be added in so short a time" in answer.text
    assert stored(owner, boss) == 0
    assert upload(browser, app, samples.TEXT).status_code == 200
    refused = upload(browser, app, samples.TEXT)
    assert refused.status_code == 429
    assert 0 < int(refused.headers["Retry-After"]) <= 60


def test_what_is_over_the_limits_is_refused_before_it_is_read(
    browser: CheckedClient, app: Flask, member: Member
) -> None:
    count_before(app, member, MOST_FILES - 2)
    for _ in range(2):
        assert upload(browser, app, b"no file of any kind").status_code in (200, 422)
    body = io.BytesIO(b"x" * 2**20)
    answer = browser.client.post(
        "/files",
        input_stream=body,
        content_length=2**20,
        content_type="multipart/form-data; boundary=x",
        headers=HTMX,
    )
    assert answer.status_code == 429
    assert "more files than can be added in so short a time" in answer.text
    assert body.tell() == 0


def test_more_than_a_disk_writes_beside_others_is_refused_before_it_is_read(
    browser: CheckedClient, app: Flask
) -> None:
    def announce(size: int) -> tuple[int, int]:
        """Post a form that says it is so long; the status, and how much of it was read."""
        body = io.BytesIO(b"x" * 4096)
        answer = browser.client.post(
            "/files",
            input_stream=body,
            content_type="multipart/form-data; boundary=x",
            environ_overrides={"CONTENT_LENGTH": str(size)},
            headers=HTMX,
        )
        return answer.status_code, body.tell()

    largest = LARGEST_BYTES
    for _ in range(VOLUME.amount * MIB // largest):
        status, read = announce(largest)
        assert status != 429
        assert read
    assert announce(largest) == (429, 0)
    # What is refused does not count, and what is small goes on.
    assert announce(largest) == (429, 0)
    assert upload(browser, app, samples.TEXT).status_code == 200


def full_line(on: Services, member: Member) -> ExitStack:
    """As many posts of a person as may be in their line; they leave it when this is closed."""
    line, done = ExitStack(), Event()

    def wait_in_line() -> None:
        with suppress(TooMany), on.examinations.turn_of(str(member.user_id)):
            done.wait(60)

    pool = line.enter_context(ThreadPoolExecutor(MOST_AT_ONCE))
    line.callback(done.set)
    for _ in range(MOST_AT_ONCE):
        pool.submit(wait_in_line)
    order = f"uploads:{{{member.user_id}}}:line"
    wait_until(lambda: on.redis.llen(order) == MOST_AT_ONCE, 20)
    return line


def test_what_was_refused_because_others_wait_does_not_count(
    app: Flask, on: Services, owner: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More posts than may add files in a minute, on every route; each of them is refused."""
    boss = make_user(owner, role="admin")
    browser = sign_in(app, owner, boss)
    expense, page = make_expense(owner, boss), "/expenses/new"
    # Each of them would wait for a second.
    monkeypatch.setattr(posted_files, "REFUSED_SECONDS", 0.0)
    csv = {"target": "sop", "language": "en"}
    with full_line(on, boss):
        for number in range(11):
            assert upload(browser, app, samples.TEXT).status_code == 429, number
            for address, name, more in (
                (page, "u-receipt", {}),
                (f"/expenses/{expense.id}/edit", f"u-receipt-{expense.id.hex}", {}),
                ("/library/imports/", "file", csv),
                ("/admin/contacts/import", "file", {}),
            ):
                form = {"csrf_token": browser.csrf_token, **more}
                form[name] = (io.BytesIO(samples.picture(size=(9, 9))), "a.jpg")
                answer = browser.client.post(address, data=form)
                assert "Wait until your other files are checked" in answer.text, (address, number)
            answer = fill(browser, owner, boss, FILES, u_file=[samples.TEXT] * 2)
            assert "Wait until your other files are checked" in answer.text, number
    assert upload(browser, app, samples.TEXT).status_code == 200
    assert stored(owner, boss) == 1


# How much besides files


def test_what_is_typed_beside_files_is_as_long_as_on_any_page(
    browser: CheckedClient, owner: Database, member: Member
) -> None:
    """It is kept in memory, where files are not."""
    long = "x" * 400_000
    answer = fill(browser, owner, member, FILES, **{f"more_{n}": [long] for n in range(9)})
    assert answer.status_code == 413
    assert "too much to be sent at once" in answer.text
    answer = fill(
        browser, owner, member, FILES, v_text=["fryer"], u_file=[samples.csv_of(5_000_000)]
    )
    assert answer.status_code == 303


def test_a_form_of_the_most_choices_is_taken(
    browser: CheckedClient, owner: Database, member: Member
) -> None:
    options = [{"value": f"o{n}", "label": {"en": f"O {n}", "es": f"O {n}"}} for n in range(100)]
    one = field("multi_select", options=options)
    fields = [{**one, "name": f"choice_{n}"} for n in range(100)]
    every = [each["value"] for each in options]
    answer = fill(browser, owner, member, fields, **{f"v_choice_{n}": every for n in range(100)})
    assert answer.status_code == 303


def test_a_form_that_is_too_long_without_files_is_said_to_be(
    browser: CheckedClient, owner: Database, member: Member
) -> None:
    page = browser.page(f"/forms/{make_template(owner, member.group_id, FILES).slug}")
    form = {"csrf_token": browser.csrf_token, "v-text": "x" * 5_000_000}
    assert browser.client.post(address_on(page), data=form).status_code == 413


# What is no form of ours


def multipart(parts: list[tuple[str, bytes]]) -> dict[str, Any]:
    """A form of these parts, each with the end of its Content-Disposition and its content."""
    head = b"--mark\r\nContent-Disposition: form-data; "
    body = b"".join(head + how.encode() + b"\r\n\r\n" + content + b"\r\n" for how, content in parts)
    return {"data": body + b"--mark--\r\n", "content_type": "multipart/form-data; boundary=mark"}


@pytest.mark.fault(35)
def test_a_file_without_a_name_is_none_and_may_bring_no_bytes(
    browser: CheckedClient, owner: Database, member: Member
) -> None:
    page = browser.page(f"/forms/{make_template(owner, member.group_id, FILES).slug}")
    typed = {"csrf_token": browser.csrf_token, **form_on(page), "v-text": "fryer"}
    fields = [(f'name="{name}"', value.encode()) for name, value in typed.items()]
    nothing = ('name="u-file"; filename=""', b"")
    full = ('name="u-file"; filename=""', b"x" * 70_000)
    answer = browser.client.post(address_on(page), **multipart([*fields, *[full] * 200]))
    assert answer.status_code == 400
    answer = browser.client.post(address_on(page), **multipart([*fields, *[nothing] * 200]))
    assert answer.status_code == 303
    assert stored(owner, member) == 0


def test_pages_that_take_no_files_refuse_them(browser: CheckedClient) -> None:
    token = ('name="csrf_token"', browser.csrf_token.encode())
    file = ('name="file"; filename="a.txt"', b"x")
    answer = browser.client.post("/notifications/read", **multipart([token, file]))
    assert answer.status_code == 413


def spooled(app: Flask) -> list[str]:
    """The files of forms that this process has open."""
    opened = [os.path.realpath(each.path) for each in os.scandir("/proc/self/fd")]
    return [path for path in opened if path.startswith(str(app.config["SPOOL_FOLDER"]))]


@pytest.mark.fault(35)
def test_files_of_a_form_that_was_refused_half_read_are_closed(
    app: Flask, browser: CheckedClient, owner: Database, member: Member
) -> None:
    # Without waiting for the collector, which comes to a web process when it likes.
    gc.disable()
    try:
        large = [samples.csv_of(70_000)] * 61
        assert fill(browser, owner, member, FILES, u_file=large).status_code == 413
        assert spooled(app) == []
    finally:
        gc.enable()


def test_of_many_files_few_are_in_memory() -> None:
    with Spool() as spool:
        files = [spool.add(None) for _ in range(20)]
        for each in files:
            each.write(b"x")
        assert [each._rolled for each in files] == [False] * 4 + [True] * 16  # type: ignore[attr-defined]
        assert spool.size == 1, "one that was whole is not counted again"
    assert all(each.closed for each in files)


def test_a_form_without_files_has_a_limit_of_fields_too(browser: CheckedClient) -> None:
    body = f"csrf_token={browser.csrf_token}&display_name=Ana".encode()
    form = {"content_type": "application/x-www-form-urlencoded"}
    assert browser.client.post("/sign-out", data=body + b"&a" * 12_000, **form).status_code == 413


def test_a_form_with_one_file_has_few_fields(browser: CheckedClient) -> None:
    fields = {f"x{n}": "1" for n in range(FEW_PARTS)}
    assert (
        browser.post("/files", file=(io.BytesIO(b"%PDF-1.7"), "a.pdf"), **fields).status_code == 413
    )


def test_bytes_that_are_no_text_are_read_as_such(app: Flask) -> None:
    form = {"content_type": "application/x-www-form-urlencoded"}
    with app.test_request_context("/", method="POST", data=b"a=%ff%C3%A1&b=\xff&c", **form):
        assert dict(request.form) == {"a": "\N{REPLACEMENT CHARACTER}á", "b": "�", "c": ""}


def test_whoever_is_not_signed_in_may_send_little(app: Flask) -> None:
    client = app.test_client()
    large = [{"data": {"email": "x" * 70_000}}, multipart([('name="email"', b"x" * 70_000)])]
    assert [client.post("/sign-in", **each).status_code for each in large] == [413, 413]
    assert client.post("/sign-in", data={"email": "x" * 60_000}).status_code == 400
    assert [client.post("/files", **each).status_code for each in large] == [303, 303]
    answer = client.post("/api/chat", json={"message": "x" * 70_000})
    assert (answer.status_code, answer.json and answer.json["code"]) == (401, "not_signed_in")


@pytest.mark.fault(19)
def test_a_disk_that_takes_no_more_of_a_form_is_said_and_nothing_is_stored(
    browser: CheckedClient, app: Flask, owner: Database, member: Member
) -> None:
    most, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    assert browser.csrf_token
    # As full for this process as a disk is for all: no file of it may grow beyond this.
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        answer = upload(browser, app, bytes(200_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    assert answer.status_code == 503
    told = "Comanda can't reach its files right now. Try again in a moment."
    assert told in parse_html(answer.text).text
    assert stored(owner, member) == 0
