"""The `flask` command: asking, evaluating, importing, people, and what is the matter."""

from __future__ import annotations

import click
from flask.cli import AppGroup, with_appcontext

from app import schema
from app.assistant.cli import ask
from app.assistant.prompts.system_prompt import refresh_prompts
from app.assistant.turns.message_evaluation import eval_understanding
from app.backup.cli import backup, restore
from app.cli.doctor import run_doctor
from app.cli.migrations import make_revision
from app.cli.new_skill import new_skill
from app.cli.users import users
from app.db import owner_database
from app.demo import DemoFound, find_demo, load_demo, remove_demo
from app.errors import ConfigurationError
from app.extensions import services
from app.retrieval.cli import embeddings_backfill, eval_retrieval
from app.skills.knowledge.cli import import_manual, import_menu

database = AppGroup("db", help="Bring the database's schema up to date.")
embeddings = AppGroup("embeddings", help="The vectors of everything searchable.")
evaluation = AppGroup("eval", help="Measure quality on your own questions.")
importing = AppGroup("import", help="Bring documents into the library.")


@database.command("upgrade")
@click.argument("revision", default="head")
def upgrade(revision: str) -> None:
    """Apply the missing migrations, and give every group the prompts it lacks."""
    try:
        schema.upgrade(services().settings, revision)
    except ConfigurationError as error:
        raise click.ClickException(str(error)) from None
    if revision == "head":
        with owner_database(services().settings).transaction() as session:
            refresh_prompts(session, services().registry)
    click.echo("The database is up to date.", err=True)


@database.command("downgrade")
@click.argument("revision")
def downgrade(revision: str) -> None:
    """Go back to a revision; data of what is undone is lost."""
    schema.downgrade(services().settings, revision)
    click.echo(f"The database is at {revision}.", err=True)


@click.command("seed")
@click.option("--remove", is_flag=True, help="Delete the demo and its accounts instead.")
@click.option("--yes", is_flag=True, help="With --remove: do not ask first.")
@with_appcontext
def seed(remove: bool, yes: bool) -> None:
    """Load the demo restaurant, or --remove it; running it again changes nothing."""
    if remove:
        _remove_demo(yes)
        return
    text = load_demo(services())
    click.echo(text or "The demo is loaded; its people have passwords of their own.")


def _remove_demo(yes: bool) -> None:
    with owner_database(services().settings).session() as session:
        found = find_demo(session)
        if found:
            # Nothing is kept waiting while somebody thinks about the answer.
            session.rollback()
            if not yes:
                click.confirm(f"Delete {_in_words(found)}?", abort=True, err=True)
            found = remove_demo(session)
            session.commit()
    click.echo(f"Deleted {_in_words(found)}." if found else "There is no demo here.")
    for email in found.kept:
        click.echo(
            f"{email} belongs to another group and stays; `flask users password {email}` gives"
            " them a password that is not published."
        )
    if services().settings.loads_demo:
        click.echo("The next start loads the demo again, unless DEMO=false is set.")


def _in_words(found: DemoFound) -> str:
    groups = [f"{name} with everything in it" for name in found.houses]
    people = f"{len(found.people)} demo accounts ({', '.join(found.people)})"
    return " and ".join([*groups, people] if found.people else groups)


def mount(commands: click.Group) -> None:
    """Mount every command on `flask`'s own group; mounting them again changes nothing."""
    embeddings.add_command(embeddings_backfill, "backfill")
    evaluation.add_command(eval_retrieval, "retrieval")
    evaluation.add_command(eval_understanding, "understanding")
    database.add_command(make_revision, "revision")
    importing.add_command(import_manual, "manual")
    importing.add_command(import_menu, "menu")
    groups = (users, database, embeddings, evaluation, importing)
    for command in (ask, seed, run_doctor, backup, restore, new_skill, *groups):
        commands.add_command(command)
