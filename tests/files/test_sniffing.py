"""What is taken and what is not, by content alone."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from io import BytesIO

import pytest
from PIL import Image

from app.files.examiner import examine_content
from app.files.images import LONGEST_SIDE, PREVIEW_SIDE
from app.files.kinds import Unfit
from tests.files import samples

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


def opened(content: bytes) -> Image.Image:
    return Image.open(BytesIO(content))


@pytest.mark.parametrize(
    ("content", "kind", "media_type"),
    [
        (samples.picture("JPEG"), "image", "image/jpeg"),
        (samples.picture("PNG"), "image", "image/png"),
        (samples.picture("WEBP"), "image", "image/jpeg"),
        (samples.picture("GIF"), "image", "image/png"),
        (samples.picture("PNG", (2000, 1500)), "image", "image/jpeg"),
        (samples.pdf(), "pdf", "application/pdf"),
        (samples.TEXT, "text", "text/plain"),
        ("Año\r\n".encode("utf-16"), "text", "text/plain"),
        ("Año\r\n".encode("cp1252"), "text", "text/plain"),
        (b"a < b and b > c", "text", "text/plain"),
        (samples.office(), "office", None),
    ],
)
def test_what_is_taken_is_told_by_its_content(
    content: bytes, kind: str, media_type: str | None
) -> None:
    found = examine_content(content)
    assert found.kind == kind
    if media_type:
        assert found.media_type == media_type
    if kind != "image":
        assert found.content == content
        assert not found.preview


@pytest.mark.parametrize(
    ("main", "word"),
    [
        ("word/document.xml", "wordprocessingml"),
        ("xl/workbook.xml", "spreadsheetml"),
        ("ppt/presentation.xml", "presentationml"),
    ],
)
def test_an_office_document_is_told_by_its_main_part(main: str, word: str) -> None:
    assert word in examine_content(samples.office(main)).media_type


@pytest.mark.fault(29)
@pytest.mark.parametrize(
    ("content", "code"),
    [
        pytest.param(b"", "empty", id="nothing"),
        pytest.param(b" \n\0", "empty", id="blanks"),
        pytest.param(SVG, "markup", id="svg"),
        pytest.param(b"\xef\xbb\xbf \n<?xml version='1.0'?><svg/>", "markup", id="svg as xml"),
        pytest.param(b"<!DOCTYPE html><p>hi", "markup", id="html"),
        pytest.param(b"Dear all\n<script>alert(1)</script>", "markup", id="html in a text"),
        pytest.param(samples.picture() + samples.archive({"a": b"x"}), "two_kinds", id="photo+zip"),
        pytest.param(samples.picture("GIF") + b"*/=1;<script >", "two_kinds", id="gif+page"),
        pytest.param(b"GIF89a/*" + samples.picture("GIF")[8:], "two_kinds", id="gif+script"),
        pytest.param(b"MZ\x90\n" + samples.pdf(), "two_kinds", id="bytes before the PDF"),
        pytest.param(samples.pdf() + samples.archive({"a": b"x"}), "two_kinds", id="pdf+zip"),
        pytest.param(b"%PDF-1.7\n<html><script>", "two_kinds", id="pdf+page"),
        pytest.param(samples.picture()[:3000], "broken_image", id="half a photo"),
        pytest.param(samples.picture("PNG")[:600], "broken_image", id="half a drawing"),
        pytest.param(b"\x89PNG\r\n\x1a\n" + b"x" * 100, "broken_image", id="no png"),
        pytest.param(samples.png_of_claimed_size(30_000, 30_000), "too_many_pixels", id="bomb"),
        pytest.param(samples.webp_of_claimed_size(16_000, 16_000), "too_many_pixels", id="webp"),
        pytest.param(b"\0\0\0\x18ftypheic" + b"\0" * 50, "heic", id="heic"),
        pytest.param(samples.pdf("secret"), "locked", id="locked pdf"),
        pytest.param(b"%PDF-1.7\n" + b"x" * 500, "broken", id="broken pdf"),
        pytest.param(samples.pdf(pages=501), "too_many_pages", id="long pdf"),
        pytest.param(OLE + "EncryptedPackage".encode("utf-16-le"), "locked", id="locked docx"),
        pytest.param(OLE + b"\0" * 100, "old_office", id="doc"),
        pytest.param(samples.encrypted_archive(), "locked", id="locked zip"),
        pytest.param(samples.office()[:-40], "broken", id="half a docx"),
        pytest.param(samples.archive({"a.txt": b"x"}), "archive", id="zip"),
        pytest.param(samples.office(word__media__image1=b"\0" * 60_000_000), "bomb", id="zip bomb"),
        pytest.param(
            samples.archive({"word/vbaProject.bin": b"x", "word/document.xml": b""}),
            "programs",
            id="macros",
        ),
        pytest.param(
            samples.office(word__styles_xml=b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///x">]>'),
            "unsafe",
            id="entities",
        ),
        pytest.param(b"\x7fELF\x02\x01\x01\0" + b"\0" * 50, "unknown", id="program"),
        pytest.param(b"MZ\x90\0\x03" + b"\xff" * 50, "unknown", id="windows program"),
    ],
)
def test_what_is_not_taken_and_why(content: bytes, code: str) -> None:
    with pytest.raises(Unfit) as refused:
        examine_content(content)
    assert refused.value.code == code


def test_a_photo_loses_where_and_with_what_it_was_taken_and_stands_upright() -> None:
    sent = samples.photo_with_place()
    assert b"Secretphone" in sent
    found = examine_content(sent)
    kept = opened(found.content)
    assert kept.size == (480, 640)
    # Orientation 6: what was on the left is now above.
    red, _green, blue = kept.convert("RGB").getpixel((240, 20))  # type: ignore[misc]
    assert red > 200 and blue < 60
    assert not kept.getexif()
    assert b"Secretphone" not in found.content + found.preview
    assert b"Exif" not in found.content + found.preview


@pytest.mark.fault(29)
def test_a_comment_a_profile_and_what_stands_behind_the_end_are_gone() -> None:
    sent = samples.picture(comment=b"Secret words", icc_profile=b"Secret words") + b"Secret words"
    found = examine_content(sent)
    assert b"Secret" not in found.content + found.preview


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_a_large_picture_is_made_smaller_and_has_a_small_one(kind: str) -> None:
    found = examine_content(samples.picture(kind, (5200, 3900)))
    assert opened(found.content).size == (LONGEST_SIDE, LONGEST_SIDE * 3 // 4)
    assert max(opened(found.preview).size) == PREVIEW_SIDE


def test_a_drawing_with_gaps_keeps_them() -> None:
    found = examine_content(samples.picture("PNG", mode="RGBA"))
    assert opened(found.content).mode == "RGB"
    image = Image.new("RGBA", (60, 20))
    file = BytesIO()
    image.save(file, "PNG")
    assert opened(examine_content(file.getvalue()).content).mode == "RGBA"


def test_of_an_animation_the_first_picture_is_kept() -> None:
    frames = [Image.new("RGB", (40, 40), color) for color in ("red", "blue", "green")]
    file = BytesIO()
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:])
    kept = opened(examine_content(file.getvalue()).content)
    assert kept.format == "PNG"
    assert kept.convert("RGB").getpixel((5, 5)) == (255, 0, 0)


@pytest.mark.parametrize("make", [samples.picture, samples.pdf, samples.office])
def test_whatever_is_cut_off_or_changed_is_taken_or_refused_and_nothing_else(
    make: Callable[[], bytes],
) -> None:
    whole = make()
    for place in range(9, len(whole), max(1, len(whole) // 60)):
        for content in (whole[:place], whole[:place] + b"\xff\0" + whole[place + 2 :]):
            with suppress(Unfit):
                assert examine_content(content).content
