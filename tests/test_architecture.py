"""The rules of the house that no reviewer should have to remember."""

from __future__ import annotations

import ast
import importlib.util
import re
import statistics
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Literal

import pytest
from alembic.script import ScriptDirectory
from babel.messages.pofile import read_po
from flask import Flask
from flask_babel import LazyString

from app.assistant.tools.parts import NoticePart, Part
from app.assistant.tools.registry import Registry, Skill
from app.jobs.tasks import skill_tasks
from app.skills import SKILLS
from tests.assistant.scripted import Count, LookUp

ROOT = Path(__file__).resolve().parent.parent
APP = ROOT / "app"
MODULES = sorted(file for file in APP.rglob("*.py"))
WORDS = sorted(APP.rglob("*.yaml"))
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
STATIC = [
    file
    for file in sorted((ROOT / "static").rglob("*"))
    if file.is_file() and file.suffix in (".js", ".css", ".svg", ".html", ".webmanifest")
]

# These put the app together, or start a part of it, and so may know all of it.
COMPOSITION = (
    "app",
    "app.factory",
    "app.cli",
    "app.cli.doctor",
    "app.jobs.tasks",
    "app.jobs.__main__",
    "app.demo",
    "app.embedded.prepare",
)
# From the top to the bottom: a layer may use those below it, never one above.
LAYERS = ("app.admin", "app.skills", "app.assistant", "app.retrieval", "app.accounts")
# A namespace's name, and a licence's address, are not requests.
NAMES_NOT_ADDRESSES = ("http://www.w3.org/", "http://www.apache.org/licenses/")


def name_of(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"), str(file))


def relative(file: Path) -> str:
    return str(file.relative_to(ROOT))


# Imports


class _Imports(ast.NodeVisitor):
    """The modules of ours that a module imports when it runs."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" not in ast.unparse(node.test):
            self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        self.names |= {alias.name for alias in node.names}

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        self.names.add(module)
        self.names |= {f"{module}.{alias.name}" for alias in node.names}


def imports_of(file: Path) -> set[str]:
    visitor = _Imports()
    visitor.visit(tree_of(file))
    return visitor.names & names_of(tuple(MODULES))


@cache
def names_of(files: tuple[Path, ...]) -> frozenset[str]:
    return frozenset(map(name_of, files))


def layer_of(module: str) -> int:
    """The place of a module's layer; what is in none of them is the platform, at the bottom."""
    for place, layer in enumerate(LAYERS):
        if module == layer or module.startswith(layer + "."):
            return place
    return len(LAYERS)


def test_nothing_imports_what_stands_above_it() -> None:
    wrong = [
        f"{name_of(file)} imports {imported}"
        for file in MODULES
        if not name_of(file).startswith(COMPOSITION[1:]) and name_of(file) != "app"
        for imported in imports_of(file)
        if layer_of(imported) < layer_of(name_of(file))
    ]
    assert wrong == []


def test_skills_do_not_import_each_other() -> None:
    wrong = []
    for file in (APP / "skills").glob("*/**/*.py"):
        own = ".".join(name_of(file).split(".")[:3])
        wrong += [
            f"{name_of(file)} imports {imported}"
            for imported in imports_of(file)
            if imported.startswith("app.skills") and not imported.startswith(own)
        ]
    assert wrong == []


def test_nobody_imports_the_composition_but_what_starts_a_process() -> None:
    starters = {"app.assistant.turns.runner": {"app"}, "app.embedded.prepare": {"app.demo"}}
    wrong = []
    for file in MODULES:
        name = name_of(file)
        if name in COMPOSITION or name.startswith("app.demo"):
            continue
        for imported in imports_of(file) & {*COMPOSITION[:-1]}:
            # `from app import schema` names the package on the way to one of its modules.
            is_package_only = imported == "app" and "create_app" not in file.read_text("utf-8")
            if not is_package_only and imported not in starters.get(name, set()):
                wrong.append(f"{name} imports {imported}")
    assert wrong == []


# What can be read and tested without a server, a database or a request.
PURE = (
    "app.assistant.turns.loop", "app.assistant.turns.citations", "app.assistant.turns.json_blocks",
    "app.assistant.prompts.expectations", "app.skills.service_requests.workflow.state",
    "app.retrieval.form_and_type_search", "app.periods", "app.text.money", "app.text.numbers",
    "app.text.allergens", "app.nlu.control",
)  # fmt: skip


def outside_of(file: Path) -> set[str]:
    """The packages of others that a module imports when it runs."""
    visitor = _Imports()
    visitor.visit(tree_of(file))
    return {name.partition(".")[0] for name in visitor.names}


@cache
def reached_from(module: str) -> frozenset[str]:
    """All of our modules that a module needs, however far away."""
    files = {name_of(file): file for file in MODULES}
    reached, todo = set[str](), [module]
    while todo:
        name = todo.pop()
        if name not in reached:
            reached.add(name)
            todo += imports_of(files[name])
    return frozenset(reached)


@pytest.mark.parametrize("module", PURE)
def test_pure_cores_know_nothing_of_flask_however_far_away(module: str) -> None:
    files = {name_of(file): file for file in MODULES}
    wrong = [each for each in reached_from(module) if "flask" in outside_of(files[each])]
    assert wrong == []


# The shape of what there is

# Folders and modules of a skill; `builder` and `readers` are described in decision 22.
SHAPE = {
    "__init__.py", "models.py", "services", "tools", "workflow", "nlu", "nlu.py", "web", "parts.py",
    "prompts.yaml", "texts.py", "labels.py", "notifications.py", "tasks.py", "cli.py", "starters",
    "builder", "readers",
}  # fmt: skip
# The few modules that everybody needs.
LOOSE = {"__init__", "config", "db", "errors", "extensions", "factory", "redis_client", "schema"}


def test_every_skill_has_the_same_shape() -> None:
    for skill in SKILLS:
        folder = APP / "skills" / skill.name
        there = {each.name for each in folder.iterdir() if each.name != "__pycache__"}
        assert there <= SHAPE, skill.name
        assert {"__init__.py", "models.py", "services", "tools", "web"} <= there, skill.name


# The pages: all else returns links (`app.web.links`). `builder` has the views of its editor.
PAGES = {"web", "builder"}


def test_only_pages_know_urls() -> None:
    """A tool or a service returns endpoint and arguments, which are stored and shown later."""
    wrong = [
        f"{relative(file)}: {name}"
        for layer in ("assistant", "skills")
        for file in (APP / layer).rglob("*.py")
        if not PAGES & set(file.relative_to(APP).parts[:-1])
        for name in ("url_for", "url_of")
        if re.search(rf"\b{name}\b", _read(file))
    ]
    assert wrong == []


def test_links_lead_to_endpoints_that_there_are(app: Flask) -> None:
    """They are stored with messages, so that an endpoint they name cannot just be renamed."""
    named = {
        f"{relative(file)}:{call.lineno}": call.args[0]
        for file in MODULES
        for call in ast.walk(tree_of(file))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "Link.to"
    }
    assert len(named) > 8
    endpoints = {rule.endpoint for rule in app.url_map.iter_rules()}
    unknown = [
        place
        for place, endpoint in named.items()
        if not (isinstance(endpoint, ast.Constant) and endpoint.value in endpoints)
    ]
    assert unknown == []


def test_what_lies_loose_is_what_everybody_needs() -> None:
    assert {file.stem for file in APP.glob("*.py")} == LOOSE


def test_modules_are_called_by_nouns() -> None:
    stems = {file.stem for file in MODULES} | {file.parent.name for file in MODULES}
    assert {each for each in stems if each.endswith("ing")} == set()


# Sizes


def functions_of(file: Path) -> Iterator[tuple[str, int]]:
    """Each function with its length in lines, without its decorators."""
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno
            yield f"{relative(file)}:{node.name}", node.end_lineno - node.lineno + 1


def test_functions_are_short() -> None:
    sizes = dict(each for file in MODULES for each in functions_of(file))
    assert {name: size for name, size in sizes.items() if size > 60} == {}
    assert statistics.median(sizes.values()) < 10
    assert statistics.quantiles(sizes.values(), n=10)[-1] < 30


def test_functions_of_tests_are_not_long_either() -> None:
    files = [*(ROOT / "tests").rglob("*.py")]
    sizes = dict(each for file in files for each in functions_of(file))
    assert {name: size for name, size in sizes.items() if size > 60} == {}


def lines_of(files: list[Path]) -> dict[str, int]:
    return {relative(file): len(file.read_text("utf-8").splitlines()) for file in files}


def test_modules_are_short() -> None:
    """A module tells one noun's whole story, be it 80 lines or 500, and is not split to be short.

    The limit was 400 lines once, and modules were split to stay below it: a stranger had to know
    which of six files held a piece of one noun. What is longer than 500 has several nouns in it.
    """
    assert {name: size for name, size in lines_of(MODULES).items() if size > 500} == {}


# A module that is shorter than this and is imported by one other alone may as well be part of it.
SHORT_MODULE = 110
MOST_APART = 15


def importers_of(sources: Mapping[Path, str]) -> dict[str, set[str]]:
    """Who imports each module, for types alone too; a package counts where it is named itself."""
    names = {name_of(file) for file in sources}
    found: dict[str, set[str]] = {name: set() for name in names}
    for file, source in sources.items():
        named: set[str] = set()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                named |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                within = {f"{node.module}.{alias.name}" for alias in node.names}
                named |= {each if each in names else node.module for each in within}
        for name in (named & names) - {name_of(file)}:
            found[name].add(name_of(file))
    return found


def modules_apart(sources: Mapping[Path, str]) -> list[str]:
    """The short modules that one other module alone imports.

    Packages are not counted, nor what a skill's shape has it declare (its `nlu`, its pages) or
    keep apart: whoever adds a skill cannot merge those.
    """
    importers = importers_of(sources)
    short = [
        file
        for file, source in sources.items()
        if file.name != "__init__.py" and len(source.splitlines()) < SHORT_MODULE
    ]
    alone = {name_of(file): importers[name_of(file)] for file in short}
    return [
        name
        for name, by in alone.items()
        if len(by) == 1
        and not by <= {declaration_of(name)}
        and not is_of_the_shape(name, importers)
    ]


def is_of_the_shape(module: str, modules: Collection[str]) -> bool:
    """Whether a skill cannot do without it: its `models`, or the one module of its `services`."""
    skill, _, own = module.removeprefix("app.skills.").partition(".")
    if not module.startswith("app.skills.") or own.count(".") > 1:
        return False
    folder, _, name = own.partition(".")
    if not name:
        return f"{folder}.py" in SHAPE
    beside = f"app.skills.{skill}.{folder}."
    return folder in SHAPE and not any(
        each.startswith(beside) and each != module for each in modules
    )


def declaration_of(module: str) -> str:
    """The package of the skill that a module belongs to; empty for one of none."""
    parts = module.split(".")
    return ".".join(parts[:3]) if parts[:2] == ["app", "skills"] else ""


def test_few_short_modules_have_a_single_importer() -> None:
    """Nothing is kept apart only to be short.

    What stays apart has a reason of its own: a child process loads it and little else, it is a
    table or the pages of a package that its `__init__` registers, or a noun that its only importer
    does not share. Merge a module where it belongs before this number is raised.
    """
    apart = modules_apart({file: file.read_text("utf-8") for file in MODULES})
    assert len(apart) <= MOST_APART, apart


def test_a_short_module_that_was_split_off_is_counted() -> None:
    whole = {file: file.read_text("utf-8") for file in MODULES}
    split = {APP / f"piece{n}.py": "def go() -> None: ...\n" for n in range(MOST_APART + 1)}
    whole_of_them = "".join(f"from app.piece{n} import go as go{n}\n" for n in range(len(split)))
    planted = modules_apart({**whole, **split, APP / "pieces.py": whole_of_them})
    assert {name_of(file) for file in split} <= set(planted)
    assert len(planted) > MOST_APART
    assert "app.pieces" not in planted


@pytest.mark.parametrize(
    ("one", "other", "is_apart"),
    [
        ("from app.piece import go", "", True),
        ("from app import piece", "", True),
        ("import app.piece", "", True),
        ("def go() -> None:\n    from app.piece import go", "", True),
        ("from app.piece import go", "import app.piece", False),
        ("", "", False),
    ],
)
def test_only_what_a_single_module_imports_is_counted(one: str, other: str, is_apart: bool) -> None:
    sources = {APP / "__init__.py": "", APP / "one.py": one, APP / "other.py": other}
    short = {**sources, APP / "piece.py": "go = print\n"}
    assert modules_apart(short) == (["app.piece"] if is_apart else [])
    long = {**sources, APP / "piece.py": "go = print\n" * SHORT_MODULE}
    assert modules_apart(long) == []
    package = {**sources, APP / "piece" / "__init__.py": "go = print\n"}
    assert modules_apart(package) == []


def test_what_the_shape_of_a_skill_keeps_apart_is_not_counted() -> None:
    """The smallest skill there is, with an import a module; a second service is its own choice."""
    notes = APP / "skills" / "notes"
    package = "app.skills.notes"
    sources = {
        notes / "models.py": "",
        notes / "services" / "notes.py": f"from {package} import models\n",
        notes / "tools" / "note_tools.py": f"from {package}.services import notes\n",
        notes / "nlu.py": f"from {package}.tools import note_tools\n",
        notes / "__init__.py": f"from {package} import nlu\n",
    }
    assert modules_apart(sources) == []
    more = {
        notes / "services" / "days.py": "",
        notes / "services" / "notes.py": f"from {package}.services import days\n",
    }
    assert modules_apart({**sources, **more}) == [
        f"{package}.services.notes",
        f"{package}.services.days",
    ]


def test_templates_are_short() -> None:
    assert {name: size for name, size in lines_of(TEMPLATES).items() if size > 150} == {}


# Names and words


def test_no_module_is_called_by_what_it_is_not() -> None:
    vague = re.compile(r"util|helper|manager|misc|common|stuff")
    assert [relative(file) for file in MODULES if vague.search(file.stem)] == []


def test_every_module_says_what_it_is_for() -> None:
    silent = []
    for file in MODULES:
        tree = tree_of(file)
        if tree.body and ast.get_docstring(tree) is None:
            silent.append(relative(file))
    assert silent == []


def test_no_source_has_an_open_end() -> None:
    # Written so that this line is not one of them.
    marks = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX|HACK)\b")
    files = [*MODULES, *TEMPLATES, *STATIC, *(ROOT / "migrations").rglob("*.py")]
    sources = [file for file in files if "vendor" not in file.parts]
    assert [relative(f) for f in sources if marks.search(f.read_text("utf-8"))] == []


# What there is one of: how it is written, and the only modules that may write it.
ONE_OF_EACH = {
    "the reader's language": (
        r"str\(get_locale\(\)\)|def reader_language", {"app/text/bilingual.py"}
    ),
    "the restaurant's clock": (r"utc_now\(\)\.astimezone\(", {"app/accounts/clock.py"}),
    "children that look at files": (
        r"sys\.executable|\bsetrlimit\(",
        # The embedded services are programs of ours, and see no files.
        {"app/files/child_process.py", "app/files/child_process_limits.py", "app/embedded/child.py",
         "app/embedded/lease.py"},
    ),
    "text without NUL or controls": (
        r"""replace\(["']\\0["'], ["']|category\(\w+\)\[0\] [!=]""", {"app/text/plain_text.py"}
    ),
    "the reading of YAML files": (
        r"yaml\.(?:safe_)?load\(",
        # The model's digest covers how it learns; a section's front matter is no file.
        {"app/text/yaml_file.py", "app/nlu/trainer.py", "app/nlu/normalization.py",
         "app/skills/knowledge/services/markdown_import.py"},
    ),
    "the days of the week": (
        r"\b(?:wednesday|miercoles)\b",
        # Phrases that name a habit.
        {"app/text/words.yaml", "app/periods/words.yaml"},
    ),
    "the months": (r"\b(?:february|febrero)\b", {"app/text/words.yaml"}),
    "numbers in words": (r"\b(?:seventeen|diecisiete)\b", {"app/text/words.yaml"}),
}  # fmt: skip


@pytest.mark.parametrize("what", ONE_OF_EACH)
def test_there_is_one_of_each(what: str) -> None:
    written, allowed = ONE_OF_EACH[what]
    found = {relative(file) for file in [*MODULES, *WORDS] if re.search(written, _read(file))}
    assert found - allowed == set()
    assert found


# What reads people's words; readers of formats have the formats' own.
READS_WORDS = re.compile(
    r"^app/(?:nlu|text|periods|fields/extraction|retrieval|assistant|skills/\w+/(?:nlu|services|tools))/"
)
THREE_WORDS = re.compile(
    r"(?<!<)\b[a-záéíóúñü]{2,}\|(?:\(\?:)?[a-záéíóúñü]{2,}\|(?:\(\?:)?[a-záéíóúñü]{2,}"
)
SMALL_WORDS = frozenset("the and for with your que los con para por una esta".split())
# Token names of a grammar, and the signs of money.
NO_WORDS = {
    "app/periods/date_phrases.py", "app/periods/parser.py", "app/periods/part_phrases.py",
    "app/periods/ranges.py", "app/periods/relative_phrases.py", "app/text/currencies.py",
}  # fmt: skip


def test_words_that_are_looked_for_stand_in_files_of_their_own() -> None:
    """No list of words in Python: neither the alternatives of a pattern, nor a text of them."""
    found = [
        f"{relative(file)}:{node.lineno}"
        for file in MODULES
        if READS_WORDS.match(relative(file)) and relative(file) not in NO_WORDS
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_list_of_words(node.value)
    ]
    assert found == []


def is_list_of_words(text: str) -> bool:
    """Whether a text is a pattern of words, or words that were written down to be parted."""
    if THREE_WORDS.search(text):
        return True
    words = text.split()
    is_plain = len(words) > 7 and all(word.isalpha() and word.islower() for word in words)
    return is_plain and len(SMALL_WORDS.intersection(words)) > 1


# Programs


def test_no_program_is_started_by_a_shell() -> None:
    """What is started gets its arguments as a list, and by subprocess alone."""
    shells = re.compile(r"\bshell\s*=|os\.(?:system|popen|exec|spawn)|getoutput")
    assert [relative(file) for file in MODULES if shells.search(file.read_text("utf-8"))] == []


# Files that people send

POSTED_FILES = "app.files.posted_files"


def attributes_of_requests(file: Path, name: str) -> list[str]:
    """Where a module names this attribute of a request, whatever the request is called there."""
    return [
        f"{relative(file)}:{node.lineno}"
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Attribute) and node.attr == name
        if re.search(r"request|posted", ast.unparse(node.value))
    ]


def names_imported_from(file: Path, module: str) -> set[str]:
    nodes = [node for node in ast.walk(tree_of(file)) if isinstance(node, ast.ImportFrom)]
    return {alias.name for node in nodes if node.module == module for alias in node.names}


def test_the_files_of_a_form_are_read_where_they_are_counted_and_nowhere_else() -> None:
    readers = [at for file in MODULES for at in attributes_of_requests(file, "files")]
    assert readers
    assert {at.partition(":")[0] for at in readers} == {"app/files/posted_files.py"}


def test_whoever_has_a_file_examined_has_counted_it_and_waited_for_their_turn() -> None:
    stores = [
        name_of(file)
        for file in MODULES
        if "store_upload" in names_imported_from(file, "app.files.uploads")
        or "read_table" in names_imported_from(file, "app.files.tables")
    ]
    assert stores
    for file in MODULES:
        taken = names_imported_from(file, POSTED_FILES)
        if name_of(file) in stores:
            assert {"get_posted_files", "examination"} <= taken, relative(file)
    examiners = [file for file in MODULES if "app.files.sandbox" in imports_of(file)]
    assert list(map(name_of, examiners)) == ["app.files.tables", "app.files.uploads"]


def test_each_route_that_takes_files_says_how_many_before_its_form_is_read() -> None:
    """Each blueprint whose views take files lets them in, and names the endpoint that it means."""
    skills = {
        APP.joinpath(*file.relative_to(APP).parts[: 2 if "skills" in file.parts else 1])
        for file in MODULES
        if "get_posted_files" in names_imported_from(file, POSTED_FILES)
    }
    for package in [APP / "files", *skills - {APP / "files"}]:
        allowing = [
            file
            for file in package.rglob("*views.py")
            if "allow_files" in names_imported_from(file, POSTED_FILES)
        ]
        assert allowing, relative(package)
        for file in allowing:
            source = file.read_text("utf-8")
            assert ("url_value_preprocessor" in source and "is_authenticated" in source) or (
                "EDITORS" in source
            ), relative(file)


def test_only_long_forms_and_files_are_larger_than_a_page() -> None:
    """What is set beside these two lets text into memory, or files past their count."""
    wrong = []
    for file in MODULES:
        source = file.read_text("utf-8")
        sets = re.findall(r"^.*max_content_length\b.* = .*$", source, re.MULTILINE)
        for line in sets:
            is_long_form = "max_form_memory_size = LARGEST_FORM" in line
            is_shorter = line.endswith("= LARGEST_SIGNED_OUT")
            if not (is_long_form or is_shorter) and name_of(file) != POSTED_FILES:
                wrong.append(f"{relative(file)}: {line.strip()}")
    assert wrong == []


# Parts, tools and skills


@pytest.fixture(scope="module")
def registry() -> Registry:
    return Registry(SKILLS)


def test_each_part_type_has_one_template_and_each_template_its_part(registry: Registry) -> None:
    templates = {part.template for part in registry.parts.values()}
    assert templates == {f"parts/_{type_}.html" for type_ in registry.parts}
    there = {f"parts/{file.name}" for file in (ROOT / "templates" / "parts").glob("*.html")}
    assert there == templates


def test_each_skill_says_what_it_is_called(registry: Registry) -> None:
    """A text of the catalog, so that it is called in Spanish what it is there."""
    titles = registry.titles.items()
    assert [name for name, title in titles if not isinstance(title, LazyString)] == []


def test_each_tool_says_in_both_languages_what_it_does_and_when(registry: Registry) -> None:
    for tool in registry.tools.values():
        assert set(tool.activity) == {"en", "es"}, tool.name
        assert set(tool.examples) == {"en", "es"}, tool.name
        assert all(len(tool.examples[language]) >= 5 for language in ("en", "es")), tool.name
        assert tool.description.endswith("."), tool.name
        assert re.fullmatch(r"[a-z][a-z0-9_]{2,63}", tool.name)
        assert tool.spec().parameters["additionalProperties"] is False


def unbounded(schema: Any, path: str) -> Iterator[str]:
    """Where in the schema of a tool's arguments a list or a mapping may have any length."""
    if isinstance(schema, list):
        for number, each in enumerate(schema):
            yield from unbounded(each, f"{path}.{number}")
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "array" and "maxItems" not in schema:
        yield path
    is_mapping = schema.get("type") == "object" and "properties" not in schema
    # One without any fields at all allows no others.
    if is_mapping and "maxProperties" not in schema and schema.get("additionalProperties", True):
        yield path
    for name, each in schema.items():
        yield from unbounded(each, f"{path}.{name}")


def test_each_list_that_a_tool_takes_has_a_longest(registry: Registry) -> None:
    found = [
        path
        for tool in registry.tools.values()
        for path in unbounded(tool.spec().parameters, tool.name)
    ]
    assert found == []


class Card(Part):
    template: ClassVar[str] = "parts/_card.html"
    type: Literal["card"] = "card"


class SearchShelf(LookUp):
    name = "search_shelf"
    is_search = True
    domain = "shelf"


class SearchShelfAgain(SearchShelf):
    name = "search_shelf_again"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"tools": (LookUp(),)}, {"tools": (LookUp(),)}),
        ({"parts": (Card,)}, {"parts": (Card,)}),
        ({}, {"parts": (NoticePart,)}),
        ({"context": {"x": lambda *_: ({}, [])}}, {"context": {"x": lambda *_: ({}, [])}}),
        ({"domains": ("manual",)}, {"domains": ("manual",)}),
        ({"tools": (SearchShelf(),)}, {"tools": (SearchShelfAgain(),)}),
        ({"tasks": {"x": print}}, {"tasks": {"x": print}}),
    ],
    ids=[
        "tool",
        "part",
        "the core's part",
        "context source",
        "domain",
        "search of a domain",
        "task",
    ],
)
def test_two_claims_to_one_name_fail_at_start(first: Any, second: Any) -> None:
    with pytest.raises(RuntimeError, match="two skills register"):
        Registry([Skill("one", **first), Skill("two", **second)])


def test_one_skill_cannot_claim_a_name_twice() -> None:
    with pytest.raises(RuntimeError, match="'look_up'"):
        Registry([Skill("one", tools=(LookUp(), Count(), LookUp()))])


def test_a_skills_task_cannot_take_the_name_of_one_of_comanda_itself() -> None:
    with pytest.raises(RuntimeError, match="'send_mail' of Comanda itself"):
        skill_tasks(Registry([Skill("one", tasks={"send_mail": print})]))


# Templates


@dataclass
class Tag:
    """A start tag of a template, its Jinja expressions blanked out."""

    name: str
    source: str
    attributes: set[str] = field(default_factory=set)


_JINJA = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
_TAG = re.compile(r"<([a-z][\w-]*)((?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>", re.DOTALL)
_ATTRIBUTE = re.compile(r"(?:^|\s)([a-zA-Z_:@][\w:.@-]*)(?=[\s=/]|$)")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'", re.DOTALL)


def tags_of(file: Path) -> Iterator[Tag]:
    source = _JINJA.sub(lambda match: "J" if match[0].startswith("{{") else " ", _read(file))
    for match in _TAG.finditer(source):
        yield Tag(match[1], match[0], set(_ATTRIBUTE.findall(_QUOTED.sub('""', match[2]))))


def _read(file: Path) -> str:
    return file.read_text("utf-8")


ALL_TAGS = [(file, tag) for file in TEMPLATES for tag in tags_of(file)]


def test_every_element_that_htmx_drives_carries_the_nonce() -> None:
    wrong = [
        f"{relative(file)}: {tag.source[:80]}"
        for file, tag in ALL_TAGS
        if any(name.startswith("hx-") for name in tag.attributes)
        and "hx-nonce" not in tag.attributes
    ]
    assert wrong == []


def test_no_template_has_a_script_style_or_handler_of_its_own() -> None:
    wrong = []
    for file, tag in ALL_TAGS:
        handlers = [name for name in tag.attributes if name.lower().startswith("on")]
        inline = tag.name == "style" or (tag.name == "script" and "src" not in tag.attributes)
        blocked = {"hx-on", "style"} & tag.attributes or "js:" in tag.source
        if handlers or inline or blocked:
            wrong.append(f"{relative(file)}: {tag.source[:80]}")
    assert wrong == []


def test_every_script_carries_the_nonce() -> None:
    scripts = [(file, tag) for file, tag in ALL_TAGS if tag.name == "script"]
    assert [relative(file) for file, tag in scripts if "nonce" not in tag.attributes] == []


def test_every_form_that_posts_carries_a_token() -> None:
    for file in TEMPLATES:
        source = _read(file)
        for form in re.findall(r"<form\b.*?</form>", source, re.DOTALL):
            if 'method="post"' in form:
                assert "csrf_token()" in form or "csrf()" in form, f"{relative(file)}: {form[:80]}"


def test_nothing_is_marked_safe_in_a_template_but_our_own_attributes() -> None:
    for file in TEMPLATES:
        for line in _read(file).splitlines():
            if "|safe" in line.replace(" ", ""):
                assert re.search(r"'[^']*'\|safe", line.replace(" ", "")), (
                    f"{relative(file)}: {line}"
                )
            assert "autoescape false" not in line


def test_nothing_is_fetched_from_another_place() -> None:
    elsewhere = re.compile(r"(?:https?:)?//[a-z0-9-]+(?:\.[a-z0-9-]+)+[^\s\"'`)]*", re.IGNORECASE)
    wrong = []
    for file in [*TEMPLATES, *STATIC]:
        source = re.sub(r"/\*.*?\*/|^\s*//.*$", "", _read(file), flags=re.DOTALL | re.MULTILINE)
        wrong += [
            f"{relative(file)}: {address}"
            for address in elsewhere.findall(source)
            if not address.startswith(NAMES_NOT_ADDRESSES) and "vendor" not in file.parts
        ]
    assert wrong == []


def test_scripts_make_no_html_of_text_and_evaluate_nothing() -> None:
    dangerous = re.compile(r"\.(innerHTML|outerHTML)\s*=|\beval\(|new Function|document\.write")
    ours = [file for file in STATIC if file.suffix == ".js" and "vendor" not in file.parts]
    assert [relative(file) for file in ours if dangerous.search(_read(file))] == []


# Words in both languages


def _catalog_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("catalog", ROOT / ".ci" / "catalog.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def error_names() -> set[str]:
    names: set[str] = _catalog_tool().error_kinds()
    return names


def error_messages() -> set[str]:
    """What errors say: their first argument, which is translated when it is shown."""
    found, kinds = set(), error_names()
    for file in MODULES:
        constants = {
            target.id: node.value.value
            for node in tree_of(file).body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.Call) and _called(node) in kinds and node.args:
                said = node.args[0]
                text = said.value if isinstance(said, ast.Constant) else None
                if isinstance(said, ast.Name):
                    text = constants.get(said.id)
                if isinstance(text, str):
                    found.add(text)
    return found


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def test_no_text_is_looked_up_inside_an_f_string() -> None:
    """The catalog's tool does not see into those: their texts would stay English unnoticed."""
    wrong = [
        f"{relative(file)}:{call.lineno}"
        for file in MODULES
        for joined in ast.walk(tree_of(file))
        if isinstance(joined, ast.JoinedStr)
        for call in ast.walk(joined)
        if isinstance(call, ast.Call) and ast.unparse(call.func) in ("_", "gettext", "ngettext")
    ]
    assert wrong == []


def test_errors_say_only_what_can_be_translated() -> None:
    """A message that is put together cannot stand in a catalog."""
    kinds = error_names()
    wrong = [
        f"{relative(file)}:{node.lineno}"
        for file in MODULES
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Call)
        and _called(node) in kinds
        and node.args
        and isinstance(node.args[0], ast.JoinedStr | ast.BinOp)
    ]
    assert wrong == []


def test_every_text_a_person_reads_has_its_spanish() -> None:
    used = {
        (message if isinstance(message, str) else message[0], context or "")
        for message, context in _catalog_tool().source_messages()
    }
    used |= {(text, "") for text in error_messages()}
    file = APP / "translations" / "es" / "LC_MESSAGES" / "messages.po"
    assert file.exists(), "there is no Spanish catalog"
    catalog = read_po(file.open("rb"), locale="es")
    missing = [
        text
        for text, context in sorted(used)
        if (found := catalog.get(text, context or None)) is None or not found.string or found.fuzzy
    ]
    assert missing == []


def test_translations_keep_the_placeholders_of_their_source() -> None:
    file = APP / "translations" / "es" / "LC_MESSAGES" / "messages.po"
    placeholder = re.compile(r"%\((\w+)\)[sd]|\{(\w+)\}")
    wrong = []
    for message in read_po(file.open("rb"), locale="es"):
        ids = [message.id] if isinstance(message.id, str) else list(message.id)
        string = message.string or ""
        texts = [string] if isinstance(string, str) else list(string)
        wanted = {name for text in ids for name in placeholder.findall(text)}
        wrong += [str(ids[0]) for text in texts if set(placeholder.findall(text)) - wanted]
    assert wrong == []


# What the repository must not say


def test_no_source_names_this_machine() -> None:
    folders = re.compile(r"(?<![\w.])/(?:root|home|work)/\w")
    files = [*MODULES, *TEMPLATES, *(ROOT / "docs").rglob("*.md"), *(ROOT / "tests").rglob("*.py")]
    wrong = [
        f"{relative(file)}: {match[0]}"
        for file in files
        if file != Path(__file__).resolve()
        for match in folders.finditer(_read(file))
    ]
    assert wrong == []


def test_migrations_are_one_chain() -> None:
    # Two people who each add one from the same place find out here, and not by a start that fails.
    heads = ScriptDirectory(str(ROOT / "migrations")).get_heads()
    assert len(heads) == 1, heads


# Passwords


def test_no_module_writes_a_passwords_hash() -> None:
    """The database's `write_password` does, which ends what the password before had opened."""
    by_hand = re.compile(
        r"\bCredential\(|(?:insert|update|delete)\(\s*Credential\b|\.password_hash\s*=[^=]"
        r"|(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM|MERGE\s+INTO)\s+credentials\b"
    )
    allowed = {"app/accounts/models.py: Credential("}
    wrong = {
        f"{relative(file)}: {match[0]}"
        for file in MODULES
        for match in by_hand.finditer(_read(file))
    }
    assert wrong == allowed
    callers = [file for file in MODULES if "write_password(" in _read(file)]
    assert [relative(file) for file in callers] == ["app/accounts/password_change.py"]


# Addresses and limits


def test_no_link_takes_its_host_from_a_request() -> None:
    asked = re.compile(
        r"request\.(?:url_root|host_url|base_url|root_url|script_root)\b|_external|SCRIPT_NAME"
    )
    wrong = [
        f"{relative(file)}: {match[0]}"
        for file in [*MODULES, *TEMPLATES]
        for match in asked.finditer(_read(file))
    ]
    assert wrong == []


# What looks for words in whole texts, be it put together by SQLAlchemy or written out.
_SEARCHES = re.compile(
    r"func\.(?:strpos|fold_text|name_words)\(|\bhas_words\(|\.contains\([^\n]*autoescape"
    r"|\.i?like\(|\bI?LIKE\b|\bSIMILAR TO\b|regexp_match|\bconditions\(filters|\bconditions\(until"
)
# These define what is searched, or how.
_DEFINE_SEARCHES = ("app.text.free_text", "app.text.normalize")


@pytest.mark.fault(47)
def test_whatever_searches_free_text_does_so_for_a_limited_time() -> None:
    searching = [
        file
        for file in MODULES
        if name_of(file) not in _DEFINE_SEARCHES and _SEARCHES.search(_read(file))
    ]
    assert len(searching) > 8
    wrong = [relative(file) for file in searching if "limit_search(" not in _read(file)]
    assert wrong == []
    # One place says how long.
    impatient = [file for file in MODULES if re.search(r"\.patience\(", _read(file))]
    assert [relative(file) for file in impatient] == ["app/text/free_text.py"]


@pytest.mark.fault(47)
def test_every_page_that_finds_by_words_is_limited_for_each_person() -> None:
    asks = re.compile(r"args\.get\(\"q\"|read_(?:wanted|filters?|narrowed)\(")
    views = [file for file in MODULES if file.stem.endswith("views") and asks.search(_read(file))]
    assert len(views) > 6
    limited = re.compile(r"limit_searches\b|\"chat searches\"")
    assert [relative(file) for file in views if not limited.search(_read(file))] == []


def test_every_limit_of_a_person_has_one_budget_for_all_its_views() -> None:
    """A plain `limiter.limit` counts each view for itself, and nobody who is not signed in."""
    wrong = [relative(file) for file in MODULES if re.search(r"limiter\.limit\(", _read(file))]
    assert wrong == []
    budgets: dict[str, str] = {}
    for file in MODULES:
        for rule, budget in re.findall(r'limit_person\(\s*([\w" ]+),\s*"([^"]+)"', _read(file)):
            assert budgets.setdefault(budget, relative(file)) == relative(file), (rule, budget)
    assert len(budgets) > 10
