"""A skill of the tests' own that writes: the temperatures of a house's fridges.

It is what any skill with a writing tool is: an argument model, examples, what would be
done, doing it and taking it back. Its table, in a schema of its own, is made by `make_table`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal
from uuid import UUID

from pydantic import Field
from sqlalchemy import Column, Double, MetaData, Table, Text, Uuid, make_url, text

from app.assistant.tools.registry import Skill
from app.assistant.tools.tool import Arguments, Draft, Receipt, ToolContext, ToolFailure, WriteTool
from app.db import Database, ScopedSession, new_id
from app.errors import Conflict
from app.skills import SKILLS

COLDEST, HOTTEST = -40, 60
UNITS = {
    "walk-in": {"en": "walk-in", "es": "cámara fría"},
    "freezer": {"en": "freezer", "es": "congelador"},
    "bar": {"en": "bar fridge", "es": "refrigerador de la barra"},
}
_SCHEMA = "CREATE SCHEMA IF NOT EXISTS for_tests; GRANT USAGE ON SCHEMA for_tests TO {role}"
# Beside the app's metadata, which is compared with the migrations.
TABLE = Table(
    "fridge_log",
    MetaData(schema="for_tests"),
    Column("id", Uuid, primary_key=True),
    Column("group_id", Uuid, nullable=False),
    Column("user_id", Uuid, nullable=False),
    Column("unit", Text, nullable=False),
    Column("degrees", Double, nullable=False),
    Column("note", Text, nullable=False),
)
_POLICY = """
    ALTER TABLE for_tests.fridge_log ENABLE ROW LEVEL SECURITY;
    DROP POLICY IF EXISTS own ON for_tests.fridge_log;
    CREATE POLICY own ON for_tests.fridge_log USING (
      group_id = (SELECT nullif(current_setting('comanda.group_id', true), '')::uuid)
      AND user_id = (SELECT nullif(current_setting('comanda.user_id', true), '')::uuid));
    GRANT SELECT, INSERT, DELETE ON for_tests.fridge_log TO {role};
"""
_INSERT = (
    "INSERT INTO for_tests.fridge_log VALUES (:id, :group_id, :user_id, :unit, :degrees, :note)"
)


def make_table(owner: Database, app_url: str) -> None:
    """Make the skill's table as a migration would; nothing where it is there already."""
    role = f'"{make_url(app_url).username}"'
    with owner.transaction() as session:
        session.execute(text("SELECT pg_advisory_xact_lock(4711)"))
        session.execute(text(_SCHEMA.format(role=role)))
        TABLE.create(session.connection(), checkfirst=True)
        session.execute(text(_POLICY.format(role=role)))


def logged(owner: Database, user_id: UUID) -> list[tuple[str, float]]:
    """What stands in this person's log: unit and degrees."""
    with owner.transaction() as session:
        rows = session.execute(
            text(
                "SELECT unit, degrees FROM for_tests.fridge_log WHERE user_id = :user ORDER BY id"
            ),
            {"user": user_id},
        )
        return [(unit, degrees) for unit, degrees in rows]


class Reading(Arguments):
    unit: Literal["walk-in", "freezer", "bar"]
    degrees: float = Field(description="In degrees Celsius.")
    note: str | None = Field(None, max_length=200)


class LogTemperature(WriteTool):
    """Writes one temperature into the fridge log."""

    name = "log_temperature"
    description = "Write the temperature of a fridge into the log."
    arguments = Reading
    makes_true = ("noted",)
    activity: Mapping[str, str] = MappingProxyType(
        {"en": "Reading the fridge log…", "es": "Leyendo el registro…"}
    )
    examples: Mapping[str, tuple[str, ...]] = MappingProxyType(
        {
            "en": ("log 4 degrees for the walk-in", "the freezer is at -18, write it down"),
            "es": ("anota 4 grados en walk-in", "registra el freezer a -18 grados"),
        }
    )
    undo_minutes = 10

    def propose(self, arguments: Any, context: ToolContext) -> Draft:
        if not COLDEST <= arguments.degrees <= HOTTEST:
            raise ToolFailure(f"No fridge is at {arguments.degrees} degrees.")
        values = {"en": f"{arguments.degrees:g} °C", "es": f"{arguments.degrees:g} °C"}
        return Draft(
            arguments,
            {
                "en": f"Log {values['en']} for the {UNITS[arguments.unit]['en']}.",
                "es": f"Registrar {values['es']} en: {UNITS[arguments.unit]['es']}.",
            },
            {
                "en": [("Fridge", UNITS[arguments.unit]["en"]), ("Temperature", values["en"])],
                "es": [("Personas", UNITS[arguments.unit]["es"]), ("Temperatura", values["es"])],
            },
        )

    def execute(self, session: ScopedSession, arguments: Any) -> Receipt:
        if arguments.note == "the log is locked":
            raise Conflict("This has been done already.")
        row = {
            "id": new_id(),
            "group_id": session.scope.group_id,
            "user_id": session.scope.user_id,
            "unit": arguments.unit,
            "degrees": arguments.degrees,
            "note": arguments.note or "",
        }
        session.execute(
            text(_INSERT),
            row,
        )
        return Receipt(
            str(row["id"]),
            {
                "en": f"Logged {arguments.degrees:g} °C for the {UNITS[arguments.unit]['en']}.",
                "es": f"Se registró {arguments.degrees:g} °C en: {UNITS[arguments.unit]['es']}.",
            },
            {},
            kept={"degrees": arguments.degrees},
        )

    def undo(self, session: ScopedSession, receipt: Receipt) -> None:
        session.execute(
            text("DELETE FROM for_tests.fridge_log WHERE id = :id"), {"id": receipt.result_id}
        )


class Defrost(LogTemperature):
    """For managers only, and for good."""

    name = "defrost_freezer"
    description = "Note that the freezer was defrosted."
    examples: Mapping[str, tuple[str, ...]] = MappingProxyType(
        {"en": ("note that we defrosted",), "es": ("anota que descongelamos",)}
    )
    roles = ("manager", "admin")
    undo_minutes = 0


FRIDGE_LOG = Skill("fridge_log", tools=(LogTemperature(), Defrost()))
SKILLS_WITH_LOG = (*SKILLS, FRIDGE_LOG)
