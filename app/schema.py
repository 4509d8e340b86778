"""Bringing the database's schema up to date, by whoever starts first."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, make_url, text

from app.config import Settings
from app.errors import ConfigurationError

MIGRATIONS = Path(__file__).resolve().parent.parent / "migrations"
# Any number will do, as long as every Comanda process waits for the same one.
MIGRATION_LOCK = 7_240_461_119


def alembic_config(settings: Settings) -> Config:
    """Alembic's configuration, with the owner's address and the app's role inside."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["url"] = settings.migration_database_url
    config.attributes["app_role"] = make_url(settings.database_url or "").username
    return config


def upgrade(settings: Settings, revision: str = "head") -> None:
    """Apply the missing migrations; processes that start together wait for one another."""
    _check_roles(settings)
    # Finding out takes a tenth of the time that Alembic needs to find nothing to do.
    if revision == "head" and not pending(settings):
        return
    command.upgrade(alembic_config(settings), revision)


def downgrade(settings: Settings, revision: str) -> None:
    command.downgrade(alembic_config(settings), revision)


def pending(settings: Settings) -> bool:
    """True when the code knows a migration that the database has not seen."""
    script = ScriptDirectory(str(MIGRATIONS))
    engine = create_engine(settings.migration_database_url or "")
    try:
        with engine.connect() as connection:
            current = MigrationContext.configure(connection).get_current_heads()
    finally:
        engine.dispose()
    return set(current) != set(script.get_heads())


def _check_roles(settings: Settings) -> None:
    """Refuse an app role for which row-level security would do nothing."""
    engine = create_engine(settings.database_url or "")
    try:
        with engine.connect() as connection:
            privileged = connection.execute(
                text("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user")
            ).scalar_one()
    finally:
        engine.dispose()
    if privileged:
        raise ConfigurationError(
            "DATABASE_URL: its role is a superuser or may bypass row-level security;"
            " give the app a plain role and keep the owner for MIGRATION_DATABASE_URL"
        )
