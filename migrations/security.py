"""Row-level security as the migrations write it.

The app's role sees a row only when its group (and, for personal rows, its user) is the
one announced for the transaction (app.db). `nullif` because pooled connections keep an
empty string; the sub-select so that the setting is read once a statement, not once a row.
"""

from __future__ import annotations

from alembic import context, op

GROUP = "(SELECT nullif(current_setting('comanda.group_id', true), '')::uuid)"
USER = "(SELECT nullif(current_setting('comanda.user_id', true), '')::uuid)"
ROLE = "(SELECT current_setting('comanda.role', true))"

GROUP_OWNED = f"group_id = {GROUP}"
USER_OWNED = f"user_id = {USER}"
PERSONAL = f"group_id = {GROUP} AND user_id = {USER}"


def app_role() -> str:
    """The quoted name of the role the app connects as."""
    name = context.config.attributes["app_role"]
    return '"' + name.replace('"', '""') + '"'


def protect(
    table: str,
    read: str,
    *,
    write: str | None = None,
    grant: str | None = "SELECT, INSERT, UPDATE, DELETE",
) -> None:
    """Let the app's role at the rows of `table` that satisfy `read`, and no others.

    `write` is the rule for adding, changing and removing rows (`read` when not given);
    `grant` the rights given at all (none: the table is reached through doors only).
    """
    rule = write or read
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY reading ON {table} FOR SELECT USING ({read})")
    op.execute(f"CREATE POLICY adding ON {table} FOR INSERT WITH CHECK ({rule})")
    op.execute(f"CREATE POLICY changing ON {table} FOR UPDATE USING ({rule}) WITH CHECK ({rule})")
    op.execute(f"CREATE POLICY removing ON {table} FOR DELETE USING ({rule})")
    if grant:
        op.execute(f"GRANT {grant} ON {table} TO {app_role()}")


def definer(signature: str, returns: str, body: str, *, language: str = "sql") -> None:
    """Make a function that runs with the owner's rights, for the app's role only.

    These are the few doors through row-level security; docs/security.md lists them. The
    schema of temporary tables comes last: unnamed it would come first, and whoever can make
    one called `invitations` would choose what a door reads.
    """
    op.execute(
        f"CREATE FUNCTION {signature} RETURNS {returns} LANGUAGE {language}"
        " SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp"
        f" AS $body${body}$body$"
    )
    name = signature.split("(", maxsplit=1)[0]
    op.execute(f"REVOKE ALL ON FUNCTION {name} FROM PUBLIC")
    op.execute(f"GRANT EXECUTE ON FUNCTION {name} TO {app_role()}")


def redefine(signature: str, returns: str, language: str, body: str) -> None:
    """Another body for a door that is there; who may call it stays as it is."""
    op.execute(
        f"CREATE OR REPLACE FUNCTION {signature} RETURNS {returns} LANGUAGE {language}"
        " SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp"
        f" AS $body${body}$body$"
    )
