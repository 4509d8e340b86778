"""The rights in a backup are written into the database, and nothing else of them is obeyed."""

from __future__ import annotations

import pytest

from app.backup.archive import BackupError
from app.backup.restore import _rename_roles

ROLES = {"old_app": "new-app"}


@pytest.mark.parametrize(
    ("line", "renamed"),
    [
        ("GRANT SELECT,INSERT ON TABLE public.users TO old_app;",
         'GRANT SELECT,INSERT ON TABLE public.users TO "new-app";'),
        ("REVOKE ALL ON FUNCTION public.f(a uuid, b text[]) FROM PUBLIC;", None),
        ('GRANT SELECT(id),UPDATE(name) ON TABLE public."Odd Name" TO old_app;',
         'GRANT SELECT(id),UPDATE(name) ON TABLE public."Odd Name" TO "new-app";'),
        ("SET statement_timeout = 0;", ""),
    ],
)  # fmt: skip
def test_rights_are_given_to_the_roles_of_this_house(line: str, renamed: str | None) -> None:
    assert _rename_roles(line, ROLES) == (line if renamed is None else renamed)


@pytest.mark.fault(41)
@pytest.mark.parametrize(
    "line",
    [
        "GRANT USAGE ON SCHEMA public TO public; \\! id",
        "GRANT USAGE ON SCHEMA public TO public \\! id;",
        "GRANT USAGE ON SCHEMA public TO public; DROP TABLE users;",
        "GRANT SELECT ON TABLE public.users TO old_app; --;",
        "GRANT SELECT ON TABLE public.users -- TO old_app;",
        "GRANT SELECT ON TABLE public.users TO old_app",
        "REVOKE ALL ON TABLE users FROM x'; SELECT 1;",
        "GRANT :`id` TO x;",
    ],
)
def test_what_is_more_than_a_grant_is_refused(line: str) -> None:
    with pytest.raises(BackupError, match="rights"):
        _rename_roles(line, ROLES)
