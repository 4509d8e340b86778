"""What a file is called once it is here."""

from __future__ import annotations

import pytest

from app.files.uploads import tidy_name


@pytest.mark.fault(29)
@pytest.mark.parametrize(
    ("sent", "media_type", "kept"),
    [
        ("Menú de hoy.pdf", "application/pdf", "Menú de hoy.pdf"),
        ("IMG_1.JPEG", "image/jpeg", "IMG_1.jpeg"),
        ("photo.png", "image/jpeg", "photo.jpg"),
        ("page.html", "image/png", "page.png"),
        ("../../etc/passwd", "text/plain", "passwd.txt"),
        ("C:\\temp\\log.csv", "text/plain", "log.csv"),
        ("a\u202egnp.exe", "image/png", "agnp.png"),
        ("line\r\nSet-Cookie: x.txt", "text/plain", "lineSet-Cookie_ x.txt"),
        ("", "image/png", "file.png"),
        (".htaccess", "text/plain", "htaccess.txt"),
        ("x" * 300 + ".pdf", "application/pdf", "x" * 80 + ".pdf"),
    ],
)
def test_names_are_safe_and_say_what_it_is(sent: str, media_type: str, kept: str) -> None:
    assert tidy_name(sent, media_type) == kept
