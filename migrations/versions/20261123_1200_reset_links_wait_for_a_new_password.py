"""A reset link is made, and used, with its person's credentials locked until the commit.

A link that was being made while a password was set was not seen by it, and outlived it. Two
links of one person that were used at once each held itself and waited for the other. Now all
take the same locks in the same order: the credentials, the links, the sign-ins.

Revision: 20261123_1200
Follows: 20261123_1100
"""

from __future__ import annotations

from migrations.security import redefine

revision = "20261123_1200"
down_revision = "20261123_1100"
branch_labels = None
depends_on = None

START = "start_password_reset(p_id uuid, p_email text, p_token_hash text, p_expires timestamptz)"
FINISH = "finish_password_reset(p_token_hash text, p_password_hash text)"
STARTED = "TABLE (name text, language text)"
LOCK = "PERFORM 1 FROM credentials c WHERE c.user_id = person FOR UPDATE;"


def upgrade() -> None:
    redefine(
        START,
        STARTED,
        "plpgsql",
        f"""
        DECLARE
          person uuid;
        BEGIN
          SELECT u.id INTO person FROM users u WHERE u.email = lower(p_email) AND u.is_active;
          IF person IS NULL THEN RETURN; END IF;
          -- A password that is set meanwhile waits until this link is there, and ends it.
          {LOCK}
          INSERT INTO password_resets (id, user_id, token_hash, created_at, expires_at)
          VALUES (p_id, person, p_token_hash, clock_timestamp(), p_expires);
          RETURN QUERY
            SELECT u.name, coalesce(p.language, 'en')
              FROM users u LEFT JOIN user_profiles p ON p.user_id = u.id WHERE u.id = person;
        END
        """,
    )
    redefine(
        FINISH,
        "uuid",
        "plpgsql",
        f"""
        DECLARE
          person uuid;
        BEGIN
          SELECT r.user_id INTO person FROM password_resets r WHERE r.token_hash = p_token_hash;
          {LOCK}
          -- Whoever set a password while this one waited has ended the link.
          DELETE FROM password_resets r
           WHERE r.token_hash = p_token_hash AND r.used_at IS NULL
             AND r.expires_at > clock_timestamp() RETURNING r.user_id INTO person;
          IF person IS NULL THEN RETURN NULL; END IF;
          PERFORM write_password(person, p_password_hash);
          RETURN person;
        END
        """,
    )


def downgrade() -> None:
    redefine(
        START,
        STARTED,
        "sql",
        """
        WITH person AS (
          SELECT u.id, u.name, coalesce(p.language, 'en') AS language
            FROM users u LEFT JOIN user_profiles p ON p.user_id = u.id
           WHERE u.email = lower(p_email) AND u.is_active
        ), reset AS (
          INSERT INTO password_resets (id, user_id, token_hash, created_at, expires_at)
          SELECT p_id, person.id, p_token_hash, clock_timestamp(), p_expires FROM person
        )
        SELECT person.name, person.language FROM person
        """,
    )
    redefine(
        FINISH,
        "uuid",
        "plpgsql",
        """
        DECLARE
          person uuid;
        BEGIN
          DELETE FROM password_resets
           WHERE token_hash = p_token_hash AND used_at IS NULL
             AND expires_at > clock_timestamp() RETURNING user_id INTO person;
          IF person IS NULL THEN RETURN NULL; END IF;
          PERFORM write_password(person, p_password_hash);
          RETURN person;
        END
        """,
    )
