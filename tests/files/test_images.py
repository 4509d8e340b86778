"""Scans are counted as a decoder would meet them, and by nothing else that looks like one."""

from __future__ import annotations

import struct
import zlib

import pytest

from app.files.images import MOST_SCANS, count_scans, redraw
from app.files.kinds import Unfit
from tests.files import samples

PLAIN, PROGRESSIVE = samples.picture(), samples.picture(progressive=True)


def segment(marker: int, content: bytes) -> bytes:
    return bytes((0xFF, marker)) + (len(content) + 2).to_bytes(2, "big") + content


def test_pictures_as_cameras_and_editors_make_them_have_few() -> None:
    assert count_scans(PLAIN) == 1
    assert count_scans(samples.photo_with_place()) == 1
    assert 5 < count_scans(PROGRESSIVE) < 15
    for content in (PLAIN, PROGRESSIVE, samples.picture("JPEG", (64, 64), "CMYK")):
        assert redraw(content).kind == "image"


@pytest.mark.parametrize(
    "unlike",
    [
        PLAIN[:2] + segment(0xE1, b"\xff\xda\x00\x02" * 500) + PLAIN[2:],
        PLAIN + b"\xff\xda\x00\x02" * 500,
        PLAIN + samples.jpeg_of_scans(400),
    ],
    ids=["a preview in its notes", "a film behind its end", "another picture behind its end"],
)
def test_what_is_not_decoded_does_not_count(unlike: bytes) -> None:
    assert count_scans(unlike) == 1


def test_as_many_as_are_taken_and_one_more() -> None:
    assert count_scans(samples.jpeg_of_scans(MOST_SCANS)) == MOST_SCANS
    with pytest.raises(Unfit) as refused:
        count_scans(samples.jpeg_of_scans(MOST_SCANS + 1))
    assert refused.value.code == "too_much"


@pytest.mark.parametrize(
    "between",
    [b"garbage \x00\xff\x00", b"\xff\xd0", b"\xff" * 9, b"\xff\x01"],
    ids=["garbage", "a restart", "fill bytes", "a marker of nothing"],
)
def test_scans_are_found_behind_what_a_decoder_skips(between: bytes) -> None:
    content = samples.jpeg_of_scans(400)
    head, *scans = content.split(b"\xff\xda")
    with pytest.raises(Unfit) as refused:
        count_scans(head + b"".join(between + b"\xff\xda" + each for each in scans))
    assert refused.value.code == "too_much"


def test_more_scans_are_taken_of_a_small_picture_than_of_a_large_one() -> None:
    assert redraw(samples.jpeg_of_scans(60, (640, 480))).kind == "image"
    with pytest.raises(Unfit) as refused:
        redraw(samples.jpeg_of_scans(60, (4_000, 4_000)))
    assert refused.value.code == "too_much"


def test_millions_of_segments_are_not_followed() -> None:
    with pytest.raises(Unfit) as refused:
        count_scans(PLAIN[:2] + segment(0xE5, b"") * 100_000 + PLAIN[2:])
    assert refused.value.code == "too_much"


def test_a_png_of_thousands_of_notes_is_not_read_one_by_one() -> None:
    """Half a million of them took the child's whole twenty seconds."""
    drawn = samples.picture("PNG", (8, 8))
    note = struct.pack(">I4s", 3, b"tEXt") + b"a\0b"
    note += struct.pack(">I", zlib.crc32(note[4:]))
    head = 8 + 12 + 13
    assert redraw(drawn[:head] + note * 50 + drawn[head:]).kind == "image"
    with pytest.raises(Unfit) as refused:
        redraw(drawn[:head] + note * 5_000 + drawn[head:])
    assert refused.value.code == "too_much"
    with pytest.raises(Unfit):
        redraw(drawn[: head + 3])
