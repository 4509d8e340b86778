"""Bodies of requests: what is typed is read as browsers mean it, and soon, whatever it is."""

from __future__ import annotations

import time
from io import BytesIO
from urllib.parse import parse_qsl

import gevent
import pytest
from flask import Flask
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge

from app.db import Database
from app.web.request_body import LARGEST_BODY, FormParser
from tests.factories import Member, api_token
from tests.growth import counted

# Seconds of CPU; one string for each escape took 0.9.
SOON = 0.2
FORM = "application/x-www-form-urlencoded"


def read(body: bytes, most: int | None = None) -> list[tuple[str, str]]:
    parser = FormParser(max_form_parts=most)
    _, form, _ = parser.parse(BytesIO(body), FORM, len(body))
    return list(form.items(multi=True))


@given(st.text("a%=&+;ñ2cC3 ", max_size=60))
def test_a_form_is_read_as_the_standard_library_reads_it(typed: str) -> None:
    expected = parse_qsl(typed, keep_blank_values=True, errors="replace")
    assert sorted(read(typed.encode())) == sorted(expected)


@pytest.mark.parametrize(
    ("escaped", "times"), [("%C3%B1", 50_000), ("%e2%82%ac", 50_000), ("%", 900), ("%zz", 900)]
)
def test_a_long_value_is_read_as_the_standard_library_reads_it(escaped: str, times: int) -> None:
    body = ("a=" + "x" * 70_000 + escaped * times).encode()
    assert read(body) == parse_qsl(body.decode(), errors="replace")


@pytest.mark.fault(53)
@pytest.mark.parametrize(
    "repeated", ["%", "%c3", "a%c3", "%41a", "%2", "+", "%&", "%c3=", "=", "%3D=", "é"]
)
def test_a_form_of_nothing_but_escapes_is_read_or_refused_soon(repeated: str) -> None:
    body = (repeated * LARGEST_BODY).encode()[:LARGEST_BODY]
    with counted() as cost:
        try:
            read(body, 11_000)
        except RequestEntityTooLarge:
            assert "&" in repeated
        except BadRequest:
            assert repeated in ("%", "%2")
    assert cost.seconds < SOON


@pytest.mark.fault(53)
def test_json_of_more_values_than_anybody_sends_is_refused_soon(
    app: Flask, owner: Database, member: Member
) -> None:
    headers = {"Authorization": f"Bearer {api_token(owner, member)}"}
    many = "{" + ",".join(f'"k{n}":0' for n in range(150_000)) + "}"
    with counted() as cost:
        answer = app.test_client(use_cookies=False).post(
            "/api/ask", data=many, content_type="application/json", headers=headers
        )
        assert answer.status_code == 422
    assert cost.seconds < SOON


def test_a_part_without_a_name_is_a_bad_request(app: Flask) -> None:
    part = "--x\r\nContent-Disposition: form-data{}\r\n\r\nhello\r\n--x--\r\n"
    for named in ("", '; filename="a.txt"'):
        answer = app.test_client().post(
            "/sign-in",
            data=part.format(named).encode(),
            content_type="multipart/form-data; boundary=x",
        )
        assert answer.status_code == 400


def read_parts(body: bytes) -> list[tuple[str, str]]:
    parser = FormParser(max_form_memory_size=LARGEST_BODY, max_form_parts=11_000)
    _, form, _ = parser.parse(BytesIO(body), "multipart/form-data", len(body), {"boundary": "B"})
    return list(form.items(multi=True))


PART = b'--B\r\nContent-Disposition: form-data; name="a"%s\r\n\r\n%s\r\n'


@pytest.mark.fault(53)
def test_others_go_on_while_a_form_of_thousands_of_parts_is_read() -> None:
    body = PART % (b"", b"1") * 10_000 + b"--B--\r\n"
    turns: list[float] = []

    def go_on() -> None:
        while True:
            turns.append(time.thread_time())
            gevent.sleep(0.001)

    others = gevent.spawn(go_on)
    assert len(read_parts(body)) == 10_000
    others.kill()
    # It is read in many stretches, not in one.
    assert len(turns) > 20


@pytest.mark.fault(53)
@pytest.mark.parametrize("length", [2_000, 3_900])
def test_what_stands_above_a_part_is_as_long_as_browsers_write_it(length: int) -> None:
    assert read_parts(PART % (b'; b="%s"' % (b"x" * length), b"1") + b"--B--\r\n") == [("a", "1")]


@pytest.mark.fault(53)
@pytest.mark.parametrize("length", [4_200, 20_000, 500_000])
def test_a_part_with_a_book_above_it_is_refused(length: int) -> None:
    with pytest.raises(RequestEntityTooLarge):
        read_parts(PART % (b'; b=""' * (length // 6), b"1") + b"--B--\r\n")


@given(st.lists(st.text("\r\n-B x", max_size=9000).map(str.encode), max_size=3))
def test_a_form_in_parts_is_read_as_it_was_written(texts: list[bytes]) -> None:
    body = b"".join(PART % (b"", text.replace(b"--B", b"")) for text in texts) + b"--B--\r\n"
    expected = [("a", text.replace(b"--B", b"").decode()) for text in texts]
    assert read_parts(body) == expected
