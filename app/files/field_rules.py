"""What a field takes, signed, so that a page can say it and nobody else can."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flask import current_app
from itsdangerous import BadSignature, URLSafeSerializer

from app.errors import InvalidInput
from app.files.kinds import CHOOSABLE, LARGEST_BYTES, MIB


@dataclass(frozen=True)
class UploadRules:
    """A field called `name` takes files of these kinds, up to that size."""

    name: str
    kinds: tuple[str, ...]
    largest_mib: int = LARGEST_BYTES // MIB

    @property
    def largest_bytes(self) -> int:
        return min(self.largest_mib * MIB, LARGEST_BYTES)

    @property
    def accept(self) -> str:
        """What a file chooser is asked to show."""
        return ",".join(CHOOSABLE[kind] for kind in self.kinds)

    def signed(self) -> str:
        """These, as a page carries them."""
        return str(_serializer().dumps([self.name, list(self.kinds), self.largest_mib]))


def upload_rules(name: str, kinds: Sequence[str], largest_mib: int = 20) -> UploadRules:
    """The rules of a field, for its template."""
    return UploadRules(name, tuple(kinds), largest_mib)


def read_rules(signed: str) -> UploadRules:
    """The rules that a page carries.

    Raises:
        InvalidInput: they are not ours, or of before the key was changed.
    """
    try:
        name, kinds, largest_mib = _serializer().loads(signed)
    except (BadSignature, ValueError, TypeError):
        raise InvalidInput(
            "This page has been open for too long. Reload it and try again."
        ) from None
    return UploadRules(name, tuple(kinds), largest_mib)


def _serializer() -> URLSafeSerializer:
    return URLSafeSerializer(str(current_app.secret_key), salt="upload")
