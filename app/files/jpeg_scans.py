"""How often a decoder goes through a JPEG, told by its markers, before anything is decoded.

Each scan goes over the whole picture again, and says in a few bytes that nothing changes: a small
file may cost minutes. The markers are followed as libjpeg follows them (ITU-T T.81, annex B).
"""

from __future__ import annotations

import re

from app.files.kinds import Unfit

# A progressive photo has about ten; a careful encoder makes some twenty of one in four colours.
MOST_SCANS = 100
# Colour profiles and notes of large pictures come in some hundred pieces.
MOST_SEGMENTS = 3_000
# Scans times pixels: twenty scans of the largest picture that is unpacked as a whole.
MOST_SCANNED_PIXELS = 500_000_000

_START = 2
_SCAN, _END = 0xDA, 0xD9
# A byte 0 behind 0xFF is data; 01 and D0 to D7 have no content and end nothing.
_MARKER = re.compile(rb"\xff+([^\x00\x01\xd0-\xd7\xff])")


def count_scans(content: bytes) -> int:
    """The scans of a JPEG up to its end, however it goes on behind that.

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
