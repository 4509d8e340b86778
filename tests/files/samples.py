"""Files as people send them, and as nobody should."""

from __future__ import annotations

import struct
import zipfile
import zlib
from io import BytesIO

from PIL import Image

GPS_IFD, ORIENTATION, MAKE = 0x8825, 0x0112, 0x010F
TEXT = "Walk-in 38 °F\nFryer off at ten.\n".encode()


def picture(
    kind: str = "JPEG", size: tuple[int, int] = (640, 480), mode: str = "RGB", **options: object
) -> bytes:
    """A picture that is red on the left and blue on the right."""
    image = Image.new(mode, size, "red")
    image.paste("blue", (size[0] // 2, 0, size[0], size[1]))
    file = BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def photo_with_place(orientation: int = 6) -> bytes:
    """A photo as a phone takes it: lying on its side, with where it was taken."""
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    exif[MAKE] = "Secretphone"
    exif.get_ifd(GPS_IFD)[2] = (29.0, 25.0, 26.0)
    return picture(exif=exif)


def png_of_claimed_size(width: int, height: int) -> bytes:
    """A few bytes that say they are a very large picture."""

    def chunk(name: bytes, content: bytes) -> bytes:
        check = zlib.crc32(name + content)
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", check)

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\0" * 1000)
    begin = b"\x89PNG\r\n\x1a\n"
    return begin + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def webp_of_claimed_size(width: int, height: int) -> bytes:
    sizes = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    body = b"WEBPVP8X" + struct.pack("<I", 10) + b"\x02\0\0\0" + sizes
    return b"RIFF" + struct.pack("<I", len(body)) + body


def pdf(password: str = "", pages: int = 1) -> bytes:
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfgen.canvas import Canvas

    file = BytesIO()
    lock = StandardEncryption(password, strength=128) if password else None
    canvas = Canvas(file, encrypt=lock)
    for number in range(pages):
        canvas.drawString(72, 720, f"Page {number + 1}")
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def office(main: str = "word/document.xml", **more: bytes) -> bytes:
    """The parts that make a document one; `more` by names with __ for each slash."""
    parts = {
        "[Content_Types].xml": b"<Types/>",
        main: b"<document>Menu of the week</document>",
        **{name.replace("__", "/").replace("_xml", ".xml"): each for name, each in more.items()},
    }
    return archive(parts)


def archive(parts: dict[str, bytes]) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in parts.items():
            packed.writestr(name, content)
    return file.getvalue()


def encrypted_archive() -> bytes:
    """A document whose list says that its parts are encrypted."""
    content = bytearray(office())
    place = content.find(b"PK\x01\x02")
    while place >= 0:
        content[place + 8] |= 1
        place = content.find(b"PK\x01\x02", place + 4)
    return bytes(content)


def jpeg_of_scans(count: int, size: tuple[int, int] = (640, 480)) -> bytes:
    """A progressive picture whose last scan comes again until it has so many."""
    content = picture("JPEG", size, progressive=True)
    scans = content.count(b"\xff\xda")
    last = content[content.rfind(b"\xff\xda") : -2]
    return content[:-2] + last * (count - scans) + content[-2:]


def slow_png() -> bytes:
    """A picture in a small file, of so many pixels that looking at it takes a second."""
    return picture("PNG", (5000, 4900), "RGBA")


def csv_of(size: int) -> bytes:
    """A text of about so many bytes."""
    line = b"Walk-in;38;F;ok\n"
    return line * (size // len(line))
