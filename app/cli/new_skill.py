"""`flask new-skill NAME`: the skeleton of a skill, with its tests, that works as it is written.

What it writes stands in app/cli/skeleton; docs/adding-a-skill.md prints and explains the same
files, and tests/test_guide.py holds both together.
"""

from __future__ import annotations

import io
import keyword
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from string import Template

import click
from alembic.script import ScriptDirectory
from babel.messages.pofile import read_po, write_po
from flask import current_app
from flask.cli import with_appcontext
from sqlalchemy.dialects.postgresql.base import RESERVED_WORDS

from app.cli.migrations import next_revision
from app.db import Base
from app.extensions import services

ROOT = Path(__file__).resolve().parents[2]
SKELETON = Path(__file__).with_name("skeleton")
# What is written: where it goes, and the file of the skeleton that it is made from.
FILES = {
    "app/skills/$name/__init__.py": "declaration.py.txt",
    "app/skills/$name/models.py": "models.py.txt",
    "app/skills/$name/nlu.py": "nlu.py.txt",
    "app/skills/$name/prompts.yaml": "prompts.yaml.txt",
    "app/skills/$name/services/__init__.py": "",
    "app/skills/$name/services/$many.py": "service.py.txt",
    "app/skills/$name/tools/__init__.py": "",
    "app/skills/$name/tools/${one}_tools.py": "tools.py.txt",
    "app/skills/$name/tools/examples.yaml": "examples.yaml.txt",
    "app/skills/$name/tools/templates.yaml": "templates.yaml.txt",
    "app/skills/$name/web/__init__.py": "",
    "app/skills/$name/web/views.py": "views.py.txt",
    "templates/$name/index.html": "index.html.txt",
    "migrations/versions/${revision}_$many.py": "migration.py.txt",
    "tests/skills/$name/test_$name.py": "tests.py.txt",
}
# Files that learn of a new skill.
SKILLS, ENVIRONMENT = "app/skills/__init__.py", "migrations/env.py"
CATALOG, SECURITY = "app/translations/es/LC_MESSAGES/messages.po", "docs/security.md"
FORM_FIELDS = "tests/factories/form_fields.py"
# The rule of the skeleton's table, as the page of security names it.
RULE = "| the group reads, managers and admins write | "
# As `make texts` writes the catalogs (.ci/catalog.py).
WIDTH = 100

# The place in the menu of the first skill that is added, from the top; the next one's follows.
FIRST_ORDER = 60
SHORTEST, LONGEST = 3, 24
_NAME = re.compile(r"[a-z]+(_[a-z]+)*")
# An article, and what is called so.
_SPANISH = re.compile(r"(el|la|los|las) ([^\W\d_][^\W_]*(?: [^\W_]+)*)")
MOST_SPANISH = 40
# Names that say nothing, or that are the project's own words for something else.
RESERVED = {"app", "common", "misc", "skill", "skills", "stuff", "test", "tests", "tool", "tools"}
VAGUE = re.compile(r"util|helper|manager|misc|common|stuff")


@dataclass(frozen=True)
class Names:
    """What a skill and its things are called.

    `many` is its table and what is listed, `one` a row of it; `spanish` begins with an article.
    """

    name: str
    spanish: str
    one: str
    many: str
    revision: str = ""
    newest: str = ""
    order: int = FIRST_ORDER

    @classmethod
    def of(cls, name: str, spanish: str, one: str = "") -> Names:
        """All names, of those that somebody chose.

        Without a name of its own, a row is the singular of a plural, and else an entry.
        """
        if one:
            return cls(name, spanish, one, _plural(one))
        if name.endswith("s") and not name.endswith("ss"):
            return cls(name, spanish, _singular(name), name)
        return cls(name, spanish, f"{name}_entry", f"{name}_entries")

    def words(self) -> dict[str, str]:
        """What stands in the skeleton for them."""
        title = self.name.replace("_", " ")
        article, _, spanish = self.spanish.partition(" ")
        return {
            "name": self.name,
            "dashed": self.name.replace("_", "-"),
            "one": self.one,
            "many": self.many,
            "Model": _in_capitals(self.one),
            "Models": _in_capitals(self.many),
            "title": title,
            "Title": title.capitalize(),
            "article": article,
            "spanish": spanish,
            "Spanish": spanish[:1].upper() + spanish[1:],
            "revision": self.revision,
            "newest": self.newest,
            "order": str(self.order),
        }


def _singular(name: str) -> str:
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    return name[: -2 if re.search(r"(?:s|x|z|ch|sh)es$", name) else -1]


def _plural(name: str) -> str:
    if re.search(r"[^aeiou]y$", name):
        return f"{name[:-1]}ies"
    return f"{name}es" if re.search(r"(?:s|x|z|ch|sh)$", name) else f"{name}s"


def _in_capitals(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


@dataclass(frozen=True)
class Taken:
    """What there is already that a new skill could be confused with."""

    skills: Collection[str]
    tools: Collection[str]
    tables: Collection[str]
    models: Collection[str]
    addresses: Collection[str]
    orders: Collection[int] = ()


@click.command("new-skill")
@click.argument("name")
@click.option(
    "--spanish",
    default="",
    metavar="WORDS",
    help='What it is called in Spanish, with the article: --spanish "las notas del turno".',
)
@click.option(
    "--one", default="", metavar="NAME", help="What a row is called, as in --one found_item."
)
@with_appcontext
def new_skill(name: str, spanish: str, one: str) -> None:
    """Write the skeleton of the skill NAME with its tests.

    NAME is a noun in lower case, such as shift_notes or lost_and_found. What is written works: its
    tests pass, it has a page, and the assistant reads from it and proposes to write.
    """
    names = Names.of(name, " ".join(spanish.lower().split()), one)
    paths = write_skill(ROOT, names, find_taken(), datetime.now(UTC))
    click.echo("\n".join([*paths, "", *_next_steps(name)]))


def find_taken() -> Taken:
    """What this project has."""
    rules = current_app.url_map.iter_rules()
    return Taken(
        skills=[skill.name for skill in services().registry.skills],
        tools=services().registry.tools,
        tables=Base.metadata.tables,
        models=[mapper.class_.__name__ for mapper in Base.registry.mappers],
        orders=[entry.order for entry in services().registry.navigation],
        addresses={*current_app.blueprints, *(rule.rule.split("/")[1] for rule in rules)},
    )


def _next_steps(name: str) -> list[str]:
    return [
        "It works as it is:",
        f"  .venv/bin/python -m pytest tests/skills/{name}",
        "What comes next:",
        f"  app/skills/{name}/tools/*.yaml",
        "               what people say, and only placeholders yet: replace them",
        "  make run     makes its table, and shows its page in the menu",
        "  make texts   after each change of what people read",
        "  make check   the linters and the rules of the project, in one to six minutes",
        "  make nlu     last, when its sentences are done: teaches the built-in assistant, in some",
        "               minutes. Until then it goes by how near a message is to an example,",
        "               and tests/nlu/test_model.py fails.",
        "docs/adding-a-skill.md explains each file and how to make it yours.",
    ]


def write_skill(root: Path, names: Names, taken: Taken, now: datetime) -> list[str]:
    """Write the skill into the project at `root`, and say what was written and changed.

    Raises:
        click.ClickException: it cannot be; nothing is written then.
    """
    check_names(names, taken)
    for needed in (*dict(CHANGES), "tests/skills", "templates"):
        if not (root / needed).exists():
            raise click.ClickException(
                f"{needed} is not there. Run this in a clone of the project, where its tests are."
            )
    newest = str(ScriptDirectory(str(root / "migrations")).get_current_head())
    names = replace(
        names,
        revision=next_revision(root / "migrations", now),
        newest=newest,
        order=next(order for order in count(FIRST_ORDER) if order not in taken.orders),
    )
    made = render(names)
    for path in made:
        folder = root / _own_folder(path, names.name)
        if folder.exists():
            raise click.ClickException(
                f"{folder.relative_to(root)} is there already. Choose another name or move it away."
            )
    changed = {path: change((root / path).read_text("utf-8"), names) for path, change in CHANGES}
    _write_all(root, made | changed)
    return [f"written  {path}" for path in made] + [f"changed  {path}" for path in changed]


def _own_folder(path: str, name: str) -> str:
    """The folder that a file of the skill makes, or the file itself where it goes among others."""
    head, found, _ = path.partition(f"/{name}/")
    return f"{head}/{name}" if found else path


def check_names(names: Names, taken: Taken) -> None:
    """Refuse a name that is none, says nothing or is taken.

    What it is called in Spanish is looked at last: it need not be known to ask for a name.

    Raises:
        click.ClickException: says what is wrong and what to do.
    """
    name = names.name
    for each, most in ((name, LONGEST), (names.one, LONGEST + len("_entry"))):
        if not _NAME.fullmatch(each) or not SHORTEST <= len(each) <= most:
            raise click.ClickException(
                f"{each!r} cannot be a name here. Take {SHORTEST} to {LONGEST} letters from a to"
                " z, small, with _ between words, such as shift_notes."
            )
    if keyword.iskeyword(name) or name in RESERVED or VAGUE.search(name):
        raise click.ClickException(f"{name!r} is reserved or says too little. Choose another noun.")
    activity = next((w for w in f"{name}_{names.one}".split("_") if w.endswith("ing")), "")
    if activity:
        raise click.ClickException(
            f"{activity!r} in {name!r} names an activity. Choose nouns for what is kept, such as"
            " shift_notes or fridge_log: no word of a name ends in -ing."
        )
    _check_claims(names, taken)
    spanish = _SPANISH.fullmatch(names.spanish)
    if not spanish or len(spanish[2]) not in range(SHORTEST, MOST_SPANISH + 1):
        raise click.UsageError(
            "--spanish takes what the skill is called in Spanish, with its article, in"
            f" {MOST_SPANISH} letters and digits at most, such as --spanish"
            ' "las notas del turno".'
        )


def _check_claims(names: Names, taken: Taken) -> None:
    """Refuse what the project has already.

    Raises:
        click.ClickException: says what it is.
    """
    name, words = names.name, names.words()
    claims: list[tuple[str, Collection[str], Collection[str]]] = [
        ("skill", (name,), taken.skills),
        ("table", (names.many,), {*taken.tables, *RESERVED_WORDS}),
        ("model", (words["Model"],), taken.models),
        ("tool", (f"list_{names.many}", f"add_{names.one}"), taken.tools),
        ("page", (name, words["dashed"]), taken.addresses),
    ]
    for kind, wanted, known in claims:
        for each in wanted:
            if each in known:
                raise click.ClickException(
                    f"There is a {kind} called {each!r} already. Choose another name for the skill."
                )


def render(names: Names) -> dict[str, str]:
    """The files of the skeleton under these names, by their paths in the project."""
    words = names.words()
    return {
        Template(path).substitute(words): _fill(source, words) for path, source in FILES.items()
    }


def _fill(source: str, words: Mapping[str, str]) -> str:
    return Template((SKELETON / source).read_text("utf-8")).substitute(words) if source else ""


def _register(text: str, names: Names) -> str:
    """The list of skills with this one, its import where it belongs by the alphabet."""
    constant = names.name.upper()
    text = _add_line(
        text, f"from app.skills.{names.name} import SKILL as {constant}", "from app.skills."
    )
    head, opening, rest = text.partition("SKILLS: tuple[Skill, ...] = (\n")
    listed, closing, tail = rest.partition("\n)\n")
    if not opening or not closing:
        raise click.ClickException(
            f"{SKILLS} has no list SKILLS with a skill a line. Mend it first."
        )
    return f"{head}{opening}{listed}\n    {constant},{closing}{tail}"


def _import_models(text: str, names: Names) -> str:
    return _add_line(text, f"import app.skills.{names.name}.models", "import app.skills.")


def _add_line(text: str, line: str, beside: str) -> str:
    """The text with the line among those that begin with `beside`, in their order."""
    lines = text.splitlines()
    places = [number for number, each in enumerate(lines) if each.startswith(beside)]
    if not places:
        raise click.ClickException(f"No line begins with {beside!r} where {line!r} belongs.")
    # As the linter sorts: what stands before the blank is the module's name.
    later = (number for number in places if lines[number].split(" ")[1] > line.split(" ")[1])
    lines.insert(next(later, places[-1] + 1), line)
    return "\n".join([*lines, ""])


def _translate(text: str, names: Names) -> str:
    """The Spanish catalog with what the skill is called."""
    words = names.words()
    catalog = read_po(io.BytesIO(text.encode()), locale="es")
    if catalog.get(words["Title"]) is None:
        catalog.add(words["Title"], words["Spanish"])
    stream = io.BytesIO()
    write_po(stream, catalog, width=WIDTH, sort_output=True, no_location=True, ignore_obsolete=True)
    return stream.getvalue().decode()


def _tell_rule(text: str, names: Names) -> str:
    """The page of security with the new table under its rule."""
    head, found, tail = text.partition(RULE)
    if not found:
        raise click.ClickException(f"{SECURITY} has no row {RULE.strip('| ')!r}. Mend it first.")
    tables, end, rest = tail.partition(" |\n")
    return f"{head}{found}{tables}, `{names.many}`{end}{rest}"


def _list_routes(text: str, names: Names) -> str:
    """What the forms of its page carry of what it shows: nothing, as long as no row is edited."""
    head, found, tail = text.rpartition("}  # fmt: skip\n")
    if not found:
        raise click.ClickException(f"{FORM_FIELDS} has no list NEED_NONE. Mend it first.")
    lines = f'    "{names.name}.add": ADDS,\n    "{names.name}.remove": SHOWN,\n'
    return f"{head}{lines}{found}{tail}"


CHANGES: tuple[tuple[str, Callable[[str, Names], str]], ...] = (
    (SKILLS, _register),
    (ENVIRONMENT, _import_models),
    (CATALOG, _translate),
    (SECURITY, _tell_rule),
    (FORM_FIELDS, _list_routes),
)


def _write_all(root: Path, files: Mapping[str, str]) -> None:
    """Write all of the files, or none of them."""
    before = {root / path: (root / path).read_bytes() for path in files if (root / path).exists()}
    folders: list[Path] = []
    try:
        for path, text in files.items():
            file = root / path
            _make_folders(file.parent, folders)
            file.write_text(text, "utf-8")
    except OSError as error:
        for file in (root / path for path in files):
            with suppress(OSError):
                if file in before:
                    file.write_bytes(before[file])
                else:
                    file.unlink(missing_ok=True)
        for folder in reversed(folders):
            with suppress(OSError):
                folder.rmdir()
        raise click.ClickException(
            f"{error.filename} cannot be written ({error.strerror}); nothing was changed. Run this"
            " as somebody who may write into the project's folders."
        ) from None


def _make_folders(folder: Path, made: list[Path]) -> None:
    """Make a folder and those above it that are missing, and add each to those that were made."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir()
        made.append(each)
