"""What the values of a form are read in: the group's clock, its contacts, one's own files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any
from uuid import UUID

from app.accounts.group_settings import load_zone_and_region
from app.db import ScopedSession, utc_now
from app.fields.values import FieldContext
from app.files.access import find_attachment
from app.skills.forms.services.contact_names import find_people


def field_context(
    session: ScopedSession,
    language: str,
    draft_id: UUID,
    origins: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> FieldContext:
    """What the values of a draft are read in; by its `origins`, phones as when they were typed."""
    zone, region = load_zone_and_region(session)
    return FieldContext(
        utc_now(),
        zone,
        region,
        language,
        regions={name: each["region"] for name, each in origins.items() if "region" in each},
        find_people=partial(find_people, session),
        find_file=partial(find_attachment, session, holder_id=draft_id),
    )
