"""One function sets a password, and with it ends every sign-in and every open reset link.

Until now each door wrote the hash by itself, and those that ended the sign-ins left the reset
links of the same person open.

Revision: 20261123_0900
Follows: 20261122_1600
"""

from __future__ import annotations

from alembic import op

from migrations.security import USER, definer, redefine

revision = "20261123_0900"
down_revision = "20261122_1600"
branch_labels = None
depends_on = None


def upgrade() -> None:
    add_write_password()
    add_confirm_credentials()
    replace_doors(
        set_own=f"SELECT write_password({USER}, p_password_hash)",
        first="PERFORM write_password(p_user_id, p_password_hash);",
        reset="""
          DELETE FROM password_resets
           WHERE token_hash = p_token_hash AND used_at IS NULL
             AND expires_at > clock_timestamp() RETURNING user_id INTO person;
          IF person IS NULL THEN RETURN NULL; END IF;
          PERFORM write_password(person, p_password_hash);
          RETURN person;
        """,
    )


def add_write_password() -> None:
    # No door: it is called by doors, and by the operator's commands, with the owner's rights.
    # Each statement sees what was committed while the first one waited for the person's row.
    op.execute(
        """
        CREATE FUNCTION write_password(p_user_id uuid, p_password_hash text) RETURNS void
        LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $body$
        BEGIN
          INSERT INTO credentials AS c (user_id, password_hash, changed_at)
          VALUES (p_user_id, p_password_hash, clock_timestamp())
          ON CONFLICT (user_id) DO UPDATE
             SET password_hash = excluded.password_hash, changed_at = excluded.changed_at;
          DELETE FROM password_resets WHERE user_id = p_user_id;
          DELETE FROM sign_ins WHERE user_id = p_user_id;
        END
        $body$
        """
    )
    op.execute("REVOKE ALL ON FUNCTION write_password(uuid, text) FROM PUBLIC")


def add_confirm_credentials() -> None:
    # The row stays locked until the transaction ends: a password that is set meanwhile waits,
    # and then ends the sign-in that this one begins.
    definer(
        "confirm_credentials(p_password_hash text, p_fresh_hash text)",
        "boolean",
        f"""
        WITH confirmed AS (
          UPDATE credentials SET password_hash = coalesce(p_fresh_hash, p_password_hash)
           WHERE user_id = {USER} AND password_hash = p_password_hash
          RETURNING user_id
        )
        SELECT EXISTS (SELECT 1 FROM confirmed)
        """,
    )


def replace_doors(*, set_own: str, first: str, reset: str) -> None:
    """Give the three doors that set a password these ways of doing it."""
    redefine("set_password(p_password_hash text)", "void", "sql", set_own)
    redefine(
        "accept_invitation(p_token_hash text, p_user_id uuid, p_name text, p_password_hash text)",
        "uuid",
        "plpgsql",
        f"""
        DECLARE
          invited invitations;
          person uuid;
        BEGIN
          SELECT * INTO invited FROM invitations i
           WHERE i.token_hash = p_token_hash AND i.accepted_at IS NULL
             AND i.expires_at > clock_timestamp() FOR UPDATE;
          IF NOT FOUND THEN RETURN NULL; END IF;
          SELECT u.id INTO person FROM users u WHERE u.email = invited.email;
          IF person IS NULL THEN
            INSERT INTO users (id, email, name, is_active, created_at)
            VALUES (p_user_id, invited.email, p_name, true, clock_timestamp());
            {first}
            person := p_user_id;
          ELSIF person IS DISTINCT FROM {USER} THEN
            RETURN NULL;
          END IF;
          INSERT INTO memberships (user_id, group_id, role, created_at)
          VALUES (person, invited.group_id, invited.role, clock_timestamp())
          -- An old link takes from nobody what they were given since.
          ON CONFLICT (user_id, group_id) DO NOTHING;
          UPDATE invitations SET accepted_at = clock_timestamp() WHERE id = invited.id;
          RETURN person;
        END
        """,
    )
    redefine(
        "finish_password_reset(p_token_hash text, p_password_hash text)",
        "uuid",
        "plpgsql",
        f"DECLARE person uuid; BEGIN {reset} END",
    )


def downgrade() -> None:
    replace_doors(
        set_own=f"""
        UPDATE credentials SET password_hash = p_password_hash, changed_at = clock_timestamp()
         WHERE user_id = {USER}
        """,
        first="""
            INSERT INTO credentials (user_id, password_hash, changed_at)
            VALUES (p_user_id, p_password_hash, clock_timestamp());
        """,
        reset="""
          UPDATE password_resets SET used_at = clock_timestamp()
           WHERE token_hash = p_token_hash AND used_at IS NULL
             AND expires_at > clock_timestamp() RETURNING user_id INTO person;
          IF person IS NULL THEN RETURN NULL; END IF;
          UPDATE credentials SET password_hash = p_password_hash, changed_at = clock_timestamp()
           WHERE user_id = person;
          -- Whoever had the old password is signed out everywhere.
          DELETE FROM sign_ins WHERE user_id = person;
          RETURN person;
        """,
    )
    op.execute("DROP FUNCTION confirm_credentials(text, text)")
    op.execute("DROP FUNCTION write_password(uuid, text)")
