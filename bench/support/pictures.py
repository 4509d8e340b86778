"""Pictures for benchmarks: one as people send them, and two that are made to cost a lot."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO

from PIL import Image

_START_OF_SCAN, _END = 0xDA, 0xD9
_LONGEST_SEGMENT = 65_533


def photo(size: tuple[int, int] = (640, 480)) -> bytes:
    """A small JPEG with something to see on it."""
    width, height = size
    across = Image.linear_gradient("L").resize(size)
    down = Image.linear_gradient("L").rotate(90).resize(size)
    around = Image.radial_gradient("L").resize((width, height))
    return _jpeg(Image.merge("RGB", (across, down, around)))


def photo_of_many_scans(scans: int, side: int = 3000) -> bytes:
    """A progressive JPEG of few bytes in which the same scan comes so many times more.

    A scan that refines nothing new is allowed, and each goes through all of the picture.
    """
    plain = _jpeg(Image.new("L", (side, side), 90), progressive=True)
    begin, end = next(
        (begin, end)
        for marker, begin, end in _segments(plain)
        if marker == _START_OF_SCAN and _is_first_of_many_coefficients(plain[begin:end])
    )
    return plain[:end] + plain[begin:end] * scans + plain[end:]


def photo_with_comments(size: int) -> bytes:
    """A small JPEG that comments make nearly `size` bytes long, and never longer."""
    plain = photo()
    comment = b"\xff\xfe" + (_LONGEST_SEGMENT + 2).to_bytes(2, "big") + bytes(_LONGEST_SEGMENT)
    return plain[:2] + comment * ((size - len(plain)) // len(comment)) + plain[2:]


def _jpeg(picture: Image.Image, **options: object) -> bytes:
    file = BytesIO()
    picture.save(file, "JPEG", quality=80, **options)
    return file.getvalue()


def _segments(jpeg: bytes) -> Iterator[tuple[int, int, int]]:
    """Each segment's marker, and where it begins and ends, a scan's data included."""
    at = 2
    while jpeg[at + 1] != _END:
        marker, begin = jpeg[at + 1], at
        at += 2 + int.from_bytes(jpeg[at + 2 : at + 4], "big")
        if marker == _START_OF_SCAN:
            # In the data a 255 is followed by 0.
            while jpeg[at] != 0xFF or jpeg[at + 1] == 0:
                at += 1
        yield marker, begin, at


def _is_first_of_many_coefficients(scan: bytes) -> bool:
    """Whether it is the first look at most of the frequencies: such a one may be repeated."""
    first, last, precision = scan[7:10]
    return first > 0 and last == 63 and precision >> 4 == 0
