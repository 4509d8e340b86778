"""What several of the tests of forms begin with."""

from __future__ import annotations

import pytest

from app.db import Database
from app.skills.forms.models import FormTemplate
from tests.factories import Member
from tests.skills.forms.filling import make_template


@pytest.fixture
def template(owner: Database, member: Member) -> FormTemplate:
    """A short form of the person's house."""
    return make_template(owner, member.group_id)
