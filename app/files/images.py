"""Pictures, drawn anew: upright, not too large, and without what cameras write into them.

Of what was sent nothing is left but what is seen: no place, no device, no second file behind
the end. How large a picture is, is known before it is unpacked.
"""

from __future__ import annotations

import re
import struct
import zlib
from io import BytesIO

from PIL import Image, ImageOps, UnidentifiedImageError

from app.files.kinds import Unfit
from app.files.result import Examined

MOST_PIXELS = 50_000_000
# What is unpacked as a whole; a plain JPEG can be unpacked smaller than it is.
MOST_PIXELS_AT_ONCE = 25_000_000
LONGEST_SIDE = 2560
EXACT_PIXELS = 2_000_000
PREVIEW_SIDE = 320
# Packing a large PNG as small as it gets takes ten times as long, for a tenth of its size.
QUICK_PACKING = 2
FORMATS = ("JPEG", "PNG", "WEBP", "GIF")
# A GIF may be a script as well, when its width is the letters of one; so wide is none.
WIDEST_GIF = 8191

_JPEG = b"\xff\xd8\xff"
_PNG = b"\x89PNG\r\n\x1a\n"
_BEGINNINGS = (_JPEG, _PNG, b"GIF87a", b"GIF89a")
_BROKEN = (
    UnidentifiedImageError,
    OSError,
    EOFError,
    SyntaxError,
    ValueError,
    struct.error,
    zlib.error,
)
# A progressive photo has about ten; a careful encoder makes some twenty of one in four colours.
MOST_SCANS = 100
# Colour profiles and notes of large pictures come in some hundred pieces.
MOST_SEGMENTS = 3_000
# The picture itself is cut into chunks of some kilobytes.
MOST_CHUNKS = 30_000
# Scans times pixels: twenty scans of the largest picture that is unpacked as a whole.
MOST_SCANNED_PIXELS = 500_000_000

_START = 2
_SCAN, _END = 0xDA, 0xD9
# A byte 0 behind 0xFF is data; 01 and D0 to D7 have no content and end nothing.
_MARKER = re.compile(rb"\xff+([^\x00\x01\xd0-\xd7\xff])")

# Pillow's own guard against bombs warns first; ours refuses.
Image.MAX_IMAGE_PIXELS = None


def is_image(content: bytes) -> bool:
    """Whether it begins like a picture of a kind that is taken."""
    is_webp = content.startswith(b"RIFF") and content[8:12] == b"WEBP"
    return is_webp or content.startswith(_BEGINNINGS)


def redraw(content: bytes) -> Examined:
    """The picture as it is kept, and a small one of it.

    Raises:
        Unfit: it is broken, or has more pixels than are taken, or more scans.
    """
    scans = count_scans(content) if content.startswith(_JPEG) else 0
    if content.startswith(_PNG):
        check_chunks(content)
    if content.startswith(b"RIFF"):
        # Its reader makes room for the whole picture before it says how large it is.
        _check_size(*_webp_size(content), MOST_PIXELS_AT_ONCE)
    try:
        with Image.open(BytesIO(content), formats=FORMATS) as image:
            picture = _unpack(image, scans)
            is_drawn = image.format in ("PNG", "GIF")
    except _BROKEN:
        raise Unfit("broken_image") from None
    # Lines and letters keep their edges, where that does not cost much; photos have none.
    is_exact = picture.mode == "RGBA" or (
        is_drawn and picture.width * picture.height < EXACT_PIXELS
    )
    media_type = "image/png" if is_exact else "image/jpeg"
    kept = _pack(picture, media_type)
    picture.thumbnail((PREVIEW_SIDE, PREVIEW_SIDE))
    return Examined("image", media_type, kept, _pack(picture, media_type))


def _unpack(image: Image.Image, scans: int) -> Image.Image:
    """The first picture of the file, upright, at most as large as is kept."""
    width, height = image.size
    # Where more than one scan follows, all of the picture is kept until the last.
    is_plain = scans == 1 and not image.info.get("progressive")
    _check_size(width, height, MOST_PIXELS if is_plain else MOST_PIXELS_AT_ONCE)
    if scans * width * height > MOST_SCANNED_PIXELS:
        raise Unfit("too_much")
    if image.format == "GIF" and width > WIDEST_GIF:
        raise Unfit("two_kinds")
    # A JPEG is unpacked to an eighth, a quarter or a half of its size where that is enough.
    share = min(1.0, LONGEST_SIDE / max(width, height))
    image.draft(None, (max(1, int(width * share)), max(1, int(height * share))))
    upright = ImageOps.exif_transpose(image)
    has_gaps = "A" in upright.getbands() or "transparency" in upright.info
    picture = upright.convert("RGBA" if has_gaps else "RGB")
    picture.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    if has_gaps and picture.getchannel("A").getextrema() == (255, 255):
        return picture.convert("RGB")
    return picture


def _pack(picture: Image.Image, media_type: str) -> bytes:
    """Only the pixels; nothing of what came with them."""
    bare = Image.new(picture.mode, picture.size)
    bare.paste(picture)
    file = BytesIO()
    if media_type == "image/png":
        is_large = picture.width * picture.height > EXACT_PIXELS
        bare.save(file, "PNG", **({"compress_level": QUICK_PACKING} if is_large else {}))
    else:
        bare.save(file, "JPEG", quality=85)
    return file.getvalue()


def _check_size(width: int, height: int, most: int) -> None:
    if width < 1 or height < 1:
        raise Unfit("broken_image")
    if width * height > most:
        raise Unfit("too_many_pixels")


def _webp_size(content: bytes) -> tuple[int, int]:
    """What the header says, in each of the three ways that it may say it."""
    head = content[:30].ljust(30, b"\0")
    match head[12:16]:
        case b"VP8X":
            width, height = head[24:27] + b"\0", head[27:30] + b"\0"
            return struct.unpack("<I", width)[0] + 1, struct.unpack("<I", height)[0] + 1
        case b"VP8L":
            bits = struct.unpack("<I", head[21:25])[0]
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            width, height = struct.unpack("<HH", head[26:30])
            return width & 0x3FFF, height & 0x3FFF
    raise Unfit("broken_image")


def count_scans(content: bytes) -> int:
    """The scans of a JPEG up to its end, however it goes on behind that; nothing is decoded.

    Each scan goes over the whole picture again, and says in a few bytes that nothing changes: a
    small file may cost minutes. Markers are followed as libjpeg does (ITU-T T.81, annex B).

    Raises:
        Unfit: it has more scans or segments than any picture needs.
    """
    scans, place = 0, _START
    for _segment in range(MOST_SEGMENTS):
        found = _MARKER.search(content, place)
        if found is None or found[1][0] == _END:
            return scans
        scans += found[1][0] == _SCAN
        if scans > MOST_SCANS:
            break
        # The length counts its own two bytes.
        length = int.from_bytes(content[found.end() : found.end() + 2], "big")
        place = found.end() + max(length, 2)
    raise Unfit("too_much")


def check_chunks(content: bytes) -> None:
    """Whether a PNG has no more chunks than a picture needs (W3C, Portable Network Graphics, 5.3).

    Each is read by itself: half a million notes of a few letters took twenty seconds.

    Raises:
        Unfit: it has more.
    """
    place, beside = len(_PNG), 0
    for _chunk in range(MOST_CHUNKS):
        head = content[place : place + 8]
        if len(head) < 8 or head[4:] == b"IEND":
            return
        beside += head[4:] != b"IDAT"
        if beside > MOST_SEGMENTS:
            break
        place += 12 + int.from_bytes(head[:4], "big")
    raise Unfit("too_much")
