"""Packed files, opened only when what they say of themselves, and what they are, can be borne."""

from __future__ import annotations

import zlib
from io import BytesIO
from zipfile import BadZipFile, ZipFile, ZipInfo

from app.skills.knowledge.readers.result import MEGABYTE, Limits, Unreadable

# Text shrinks to a tenth, the most repetitive tables to a hundredth.
RATIO, SMALL = 200, 10 * MEGABYTE
_ENCRYPTED = 0x1
_DECLARATIONS = tuple(
    mark.encode(encoding)
    for mark in ("<!DOCTYPE", "<!ENTITY")
    for encoding in ("ascii", "utf-16-le", "utf-16-be")
)


class Archive:
    """A zip file whose members can be read without fear of their size."""

    def __init__(self, content: bytes, limits: Limits) -> None:
        """Look at the list of what is packed, and unpack nothing.

        Raises:
            Unreadable: it is damaged, encrypted, or would unpack to too much.
        """
        try:
            self._zip = ZipFile(BytesIO(content))
        except (BadZipFile, ValueError, NotImplementedError, OSError):
            raise Unreadable("damaged") from None
        self.members = {each.filename: each for each in self._zip.infolist() if not each.is_dir()}
        unpacked = sum(each.file_size for each in self._zip.infolist())
        too_much = unpacked > limits.unpacked_bytes or len(self._zip.infolist()) > limits.files
        if too_much or (unpacked > SMALL and unpacked > RATIO * len(content)):
            raise Unreadable("zip_bomb")
        if any(_is_bomb(each) for each in self.members.values()):
            raise Unreadable("zip_bomb")
        if any(each.flag_bits & _ENCRYPTED for each in self.members.values()):
            raise Unreadable("encrypted")

    def read(self, name: str) -> bytes:
        """One member; never more of it than the list said.

        Raises:
            Unreadable: it is damaged, or is not what the list said.
        """
        try:
            with self._zip.open(self.members[name]) as member:
                # The library stops at the size in the list and then finds the sum wrong.
                return member.read()
        except (BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, KeyError):
            raise Unreadable("damaged", place=name) from None


def _is_bomb(member: ZipInfo) -> bool:
    return member.file_size > SMALL and member.file_size > RATIO * max(1, member.compress_size)


def open_office(content: bytes, limits: Limits) -> Archive:
    """The parts of a .docx or .xlsx, found to have no programs and no declarations in them.

    Raises:
        Unreadable: it is damaged, protected, too big, or has what no document needs.
    """
    archive = Archive(content, limits)
    if any(name.lower().endswith(("vbaproject.bin", "vbadata.xml")) for name in archive.members):
        raise Unreadable("has_macros")
    if b"macroenabled" in archive.read("[Content_Types].xml").lower():
        raise Unreadable("has_macros")
    for name in archive.members:
        # Their libraries expand no entities; a file that declares any was not made by Office.
        if name.lower().endswith((".xml", ".rels")):
            part = archive.read(name)
            if any(mark in part for mark in _DECLARATIONS):
                raise Unreadable("unsafe_xml", place=name)
    return archive
