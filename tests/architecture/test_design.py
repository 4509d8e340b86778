"""Rules of the design that are checked by reading the code; each is shown to fail as well.

A rule is a function of a `Code`, which says what breaks it. Its test runs it over the project, and
over a few files that break it, written to a folder of the test's own.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import pytest

from app.skills import SKILLS

ROOT = Path(__file__).resolve().parents[2]
# Where each tool is declared.
TOOLS = {tool.name: skill.name for skill in SKILLS for tool in skill.tools}
# The folders of `app/`, as docs/architecture.md describes them.
PACKAGES = frozenset(
    ("accounts", "admin", "assistant", "backup", "cli", "demo", "embedded", "fields", "files",
     "jobs", "nlu", "notifications", "observability", "periods", "retrieval", "skills", "text",
     "translations", "web")
)  # fmt: skip
MOST_LOOSE = 8
# Words that say nothing, and figures of speech for what has a plain name.
BANNED = frozenset(
    ("util", "utils", "helper", "helpers", "manager", "misc", "common", "stuff", "house", "door",
     "doors", "wish", "wishes", "surroundings", "standing", "redraw", "patience", "stranger")
)  # fmt: skip
LONGEST_VIEW = 25
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Code:
    """The modules of a project: `app/` below this folder."""

    root: Path

    @cached_property
    def files(self) -> Mapping[str, Path]:
        """Every module by its name; a package is its `__init__`."""
        found = {}
        for file in sorted((self.root / "app").rglob("*.py")):
            parts = file.relative_to(self.root).with_suffix("").parts
            found[".".join(parts).removesuffix(".__init__")] = file
        return found

    @cached_property
    def trees(self) -> Mapping[str, ast.Module]:
        return {name: ast.parse(file.read_text("utf-8")) for name, file in self.files.items()}

    def skills(self) -> Iterator[tuple[str, Path]]:
        """The folders of the skills, by name."""
        for folder in sorted((self.root / "app" / "skills").iterdir()):
            if (folder / "__init__.py").exists():
                yield folder.name, folder

    def imports(self, name: str, *, at_start: bool = False) -> set[str]:
        """The modules of ours that one imports; those inside functions too unless `at_start`."""
        nodes = _run_at_start(self.trees[name]) if at_start else ast.walk(self.trees[name])
        found: set[str] = set()
        for node in nodes:
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    within = f"{node.module}.{alias.name}"
                    found.add(within if within in self.files else str(node.module))
        return {each for each in found if each in self.files} - {name}


def _run_at_start(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements that importing a module runs, without those for types alone."""
    todo: list[ast.stmt] = list(tree.body)
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.If | ast.Try | ast.With | ast.ClassDef):
            todo += [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt)]


@cache
def project() -> Code:
    return Code(ROOT)


# Imports


def import_circles(code: Code) -> list[str]:
    """Modules that cannot be imported without one another."""
    needs = {name: code.imports(name, at_start=True) for name in code.files}
    # Whatever needs nothing that is left cannot be in a circle.
    while free := [name for name, wanted in needs.items() if not wanted & needs.keys()]:
        for name in free:
            del needs[name]
    # What is left leads into a circle; what nobody left needs is not in one.
    while free := [name for name in needs if not any(name in each for each in needs.values())]:
        for name in free:
            del needs[name]
    return sorted(needs)


BUILTIN = "app.assistant.providers.builtin"


def insides_of_the_builtin_provider(code: Code) -> list[str]:
    """Skills know providers by their interface; the built-in one is a provider like any other."""
    return [
        f"{name} imports {imported}"
        for name in code.files
        if name.startswith("app.skills.")
        for imported in sorted(code.imports(name))
        if imported.startswith(BUILTIN)
    ]


def tools_named_elsewhere(code: Code) -> list[str]:
    """A tool is known by name in its own skill; all others find it in the registry."""
    named = re.compile(rf"\b(?:{'|'.join(TOOLS)})\b")
    return [
        f"{name} names {tool}"
        for name, tree in code.trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for tool in named.findall(node.value)
        if not f"{name}.".startswith(f"app.skills.{TOOLS[tool]}.")
    ]


# The shape of what there is


def unknown_packages(code: Code) -> list[str]:
    """A folder of `app/` that the architecture does not describe, and modules too many beside."""
    app = code.root / "app"
    folders = {each.name for each in app.iterdir() if each.is_dir() and each.name[0] != "_"}
    loose = sorted(file.name for file in app.glob("*.py"))
    return sorted(folders - PACKAGES) + (loose if len(loose) > MOST_LOOSE else [])


def declarations_with_code(code: Code) -> list[str]:
    """A skill's `__init__` declares what it brings, and does nothing else."""
    plain = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.Expr)
    return [
        f"{skill}: {ast.unparse(node).splitlines()[0]}"
        for skill, _folder in code.skills()
        for node in code.trees[f"app.skills.{skill}"].body
        if not isinstance(node, plain)
    ]


def misplaced_tables(code: Code) -> list[str]:
    """The tables of a skill stand in its `models.py`."""
    return [
        f"{name}: {node.name}"
        for name, tree in code.trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and "Base" in map(ast.unparse, node.bases)
        if name.startswith("app.skills.") and not name.endswith(".models")
    ]


# Of a request's parts, and of what answers it, a service knows nothing.
OF_HTTP = {"request", "session", "redirect", "render_template", "abort", "make_response", "flash"}


def services_that_know_http(code: Code) -> list[str]:
    """Services and the states of conversations are given values, and return domain objects."""
    return [
        f"{name} imports {alias.name}"
        for name, tree in code.trees.items()
        if re.match(r"app\.skills\.\w+\.(?:services|workflow|models)\b", name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "flask"
        for alias in node.names
        if alias.name in OF_HTTP
    ]


# Views


def views_of(code: Code) -> Iterator[tuple[str, ast.FunctionDef, str]]:
    """Each function that answers a route, and the decorators that say so."""
    for name, tree in code.trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                routes = [ast.unparse(each) for each in node.decorator_list]
                routes = [
                    each for each in routes if re.match(r"\w+\.(?:get|post|route)\(['\"f]", each)
                ]
                if routes:
                    yield f"{name}.{node.name}", node, " ".join(routes)


def long_views(code: Code) -> list[str]:
    """A view parses, calls one service and renders; one line says what it answers with."""
    wrong = []
    for name, node, _routes in views_of(code):
        assert node.end_lineno
        documented = ast.get_docstring(node) or ""
        is_long = node.end_lineno - node.lineno + 1 > LONGEST_VIEW
        if is_long or len(documented.splitlines()) != 1:
            wrong.append(name)
    return wrong


def posts_that_redirect_by_302(code: Code) -> list[str]:
    """A browser repeats nothing after a 303."""
    return [
        f"{name}: {ast.unparse(call)}"
        for name, node, routes in views_of(code)
        if ".post(" in routes
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "redirect"
        if len(call.args) < 2 and not call.keywords
    ]


# Names


def words_of(name: str) -> set[str]:
    """The words of an identifier, in lower case."""
    return set(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_"))


def modules_by_banned_words(code: Code) -> list[str]:
    return [name for name in code.files if words_of(name.rpartition(".")[2]) & BANNED]


_HOUSE = re.compile(r"\bhouses?\b|\bcasas?\b", re.IGNORECASE)
# The demo's own modules, and a key of exports that people have kept.
SAY_HOUSE = {"app.assistant.threads.export", "app.cli", "app.cli.doctor", "app.demo"}


def restaurants_called_houses(code: Code) -> list[str]:
    """A restaurant is a group in code and a restaurant on screen; a house is neither."""
    places = {**code.files, "templates": code.root / "templates"}
    for catalog in (code.root / "app" / "translations").rglob("*.po"):
        places[catalog.parent.parent.name] = catalog
    said = [name for name, place in places.items() if _HOUSE.search(_text_of(place))]
    return [name for name in said if name not in SAY_HOUSE]


def _text_of(place: Path) -> str:
    """A file's text, or all that of a folder's pages."""
    files = sorted(place.rglob("*.html")) if place.is_dir() else [place]
    return "\n".join(file.read_text("utf-8") for file in files if file.exists())


# Nouns, or an adjective before one.
ENDS_ALIKE = {"spelling", "pending", "calling"}


def gerunds(code: Code) -> list[str]:
    """Modules are called by nouns, in each of their words: rename those that are told."""
    return [
        f"{name}: {word}"
        for name in code.files
        for word in sorted(words_of(name.rpartition(".")[2]))
        if word.endswith("ing") and word not in ENDS_ALIKE
    ]


def glossary_words(page: str) -> set[str]:
    """The words that the tables of the glossary explain."""
    rows = re.findall(r"^\| ([a-z][^|]*) \|", page, re.MULTILINE)
    return {word.strip() for row in rows for word in row.split(",")} - {"word", "…"}


def several_meanings(code: Code) -> list[str]:
    """Words of the glossary that name several classes, and where those are."""
    page = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    words = {"".join(part.capitalize() for part in word.split()) for word in glossary_words(page)}
    places: dict[str, list[str]] = defaultdict(list)
    for name, tree in code.trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name in words:
                places[node.name].append(name)
    return [
        f"{word}: {', '.join(places[word])}" for word in sorted(places) if len(places[word]) > 1
    ]


# These take words of the product's own: of its files, its languages, its icons and its phrases.
KEEPS_WORDS = {
    "app.skills.expenses.nlu.lexicon.either",
    "app.fields.display.calling_codes", "app.text.translation._catalog", "app.web.icons.icon",
    "app.nlu.agreement._kinds_of", "app.nlu.emergency._listed",
}  # fmt: skip
_TEXTS = frozenset({"str", "Words", "Markup"})


def texts_kept_for_ever(code: Code) -> list[str]:
    """What a `cache` without bound takes is none of what people write, or memory would fill."""
    return [
        f"{name}.{node.name}"
        for name, tree in code.trees.items()
        for node in ast.walk(tree)
        if isinstance(node, FUNCTIONS)
        and any(isinstance(each, ast.Name) and each.id == "cache" for each in node.decorator_list)
        and any(_is_text(each) for each in [*node.args.args, *_others(node.args)])
        and f"{name}.{node.name}" not in KEEPS_WORDS
    ]


def _others(arguments: ast.arguments) -> list[ast.arg]:
    return [*arguments.kwonlyargs, *([arguments.vararg] if arguments.vararg else [])]


def _is_text(argument: ast.arg) -> bool:
    named = ast.walk(argument.annotation) if argument.annotation else ()
    return any(isinstance(each, ast.Name) and each.id in _TEXTS for each in named)


# The rules, what breaks each, and what is said of it

Rule = Callable[[Code], Iterable[str]]
ROUTE = 'from flask import Blueprint\nblueprint = Blueprint("a", __name__)\n\n\n'
PROPOSAL = "class Proposal:\n    pass\n"
SLOTS = "def a():\n    from app.assistant.providers.builtin import slots\n"
SAVE = '@blueprint.post("/")\ndef save():\n    return redirect("/")\n'
RULES: list[tuple[Rule, Mapping[str, str], str]] = [
    (import_circles,
     {"app/text/a.py": "import app.text.b\n", "app/text/b.py": "from app.text import c\n",
      "app/text/c.py": "from app.text.a import go\n", "app/text/d.py": "import app.text.a\n"},
     "app.text.b"),
    (import_circles,
     {"app/text/a.py": "if 1:\n    import app.text.b\n", "app/text/b.py": "import app.text.a\n"},
     "app.text.a"),
    (insides_of_the_builtin_provider,
     {"app/assistant/providers/builtin/slots.py": "",
      "app/skills/pars/nlu.py": SLOTS},
     f"app.skills.pars.nlu imports {BUILTIN}.slots"),
    (tools_named_elsewhere,
     {"app/skills/pars/nlu.py": 'if tool == "search_forms":\n    pass\n'},
     "app.skills.pars.nlu names search_forms"),
    (unknown_packages, {"app/lib/a.py": ""}, "lib"),
    (unknown_packages, {f"app/a{n}.py": "" for n in range(9)}, "a8.py"),
    (declarations_with_code,
     {"app/skills/pars/__init__.py": "def build():\n    pass\n"}, "pars: def build():"),
    (misplaced_tables,
     {"app/skills/pars/services/pars.py": "class Par(Base):\n    pass\n"},
     "app.skills.pars.services.pars: Par"),
    (services_that_know_http,
     {"app/skills/pars/services/pars.py": "from flask import request\n"},
     "app.skills.pars.services.pars imports request"),
    (long_views,
     {"app/admin/views.py": f'{ROUTE}@blueprint.get("/")\ndef page():\n    """Page."""\n'
      + "    print()\n" * 24},
     "app.admin.views.page"),
    (long_views,
     {"app/admin/views.py": f'{ROUTE}@blueprint.get("/")\ndef page():\n    return ""\n'},
     "app.admin.views.page"),
    (posts_that_redirect_by_302,
     {"app/admin/views.py": ROUTE + SAVE},
     "app.admin.views.save: redirect('/')"),
    (modules_by_banned_words, {"app/text/house_rules.py": ""}, "app.text.house_rules"),
    (restaurants_called_houses,
     {"app/text/a.py": "# The house's own.\n"}, "app.text.a"),
    (restaurants_called_houses,
     {"templates/a.html": "<p>Ask the house</p>"}, "templates"),
    (restaurants_called_houses,
     {"app/translations/es/LC_MESSAGES/messages.po": 'msgstr "la casa"'}, "es"),
    (texts_kept_for_ever,
     {"app/text/a.py": "@cache\ndef stems(text: str) -> set[str]:\n    return {text}\n"},
     "app.text.a.stems"),
    (gerunds, {"app/text/going_on.py": ""}, "app.text.going_on: going"),
    (several_meanings,
     {"app/text/a.py": PROPOSAL, "app/web/a.py": PROPOSAL},
     "Proposal: app.text.a, app.web.a"),
]  # fmt: skip


@pytest.mark.parametrize("rule", dict.fromkeys(rule for rule, _files, _told in RULES))
def test_a_rule_of_the_design_holds(rule: Rule) -> None:
    assert list(rule(project())) == []


@pytest.mark.parametrize(
    ("rule", "files", "told"),
    RULES,
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_what_breaks_a_rule_of_the_design_is_found(
    tmp_path: Path, rule: Rule, files: Mapping[str, str], told: str
) -> None:
    (tmp_path / "app" / "skills").mkdir(parents=True)
    assert list(rule(Code(tmp_path))) == []
    for path, source in files.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source, "utf-8")
    assert told in rule(Code(tmp_path))


def test_the_glossarys_words_are_read() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    words = glossary_words(page)
    assert {"thread", "turn", "proposal", "passage", "turn outcome", "widget"} <= words
    assert "where" not in words
    # Each place that it names is there.
    places = re.findall(r"`(app/[\w./]+)`", page)
    assert len(places) > 20
    assert [place for place in places if not (ROOT / place).exists()] == []


def test_each_skill_has_tests_of_its_own() -> None:
    without = [
        skill
        for skill, _folder in project().skills()
        if not list((ROOT / "tests" / "skills" / skill).rglob("test_*.py"))
    ]
    assert without == []
