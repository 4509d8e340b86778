"""The rules of the house that no reviewer should have to remember."""

from __future__ import annotations

import ast
import importlib.util
import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Literal

import pytest
from alembic.script import ScriptDirectory
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from app import errors
from app.assistant.parts import NoticePart, Part
from app.assistant.registry import Registry, Skill
from app.jobs import skill_tasks
from app.skills import SKILLS
from tests.assistant.scripted import Count, LookUp

ROOT = Path(__file__).resolve().parent.parent
APP = ROOT / "app"
MODULES = sorted(file for file in APP.rglob("*.py"))
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
    "app.doctor",
    "app.jobs",
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
    known = {name_of(each) for each in MODULES}
    return visitor.names & known


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
    starters = {"app.assistant.runner": {"app"}, "app.embedded.prepare": {"app.demo"}}
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


def test_pure_cores_know_nothing_of_flask() -> None:
    pure = ("turn", "toolbox", "citations", "events", "expectations", "tool", "parts")
    for name in pure:
        source = (APP / "assistant" / f"{name}.py").read_text("utf-8")
        assert not re.search(r"^(from|import) flask", source, re.MULTILINE), name


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
    assert {name: size for name, size in lines_of(MODULES).items() if size > 400} == {}


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


# Parts, tools and skills


@pytest.fixture(scope="module")
def registry() -> Registry:
    return Registry(SKILLS)


def test_each_part_type_has_one_template_and_each_template_its_part(registry: Registry) -> None:
    templates = {part.template for part in registry.parts.values()}
    assert templates == {f"parts/_{type_}.html" for type_ in registry.parts}
    there = {f"parts/{file.name}" for file in (ROOT / "templates" / "parts").glob("*.html")}
    assert there == templates


def test_each_tool_says_in_both_languages_what_it_does_and_when(registry: Registry) -> None:
    for tool in registry.tools.values():
        assert set(tool.activity) == {"en", "es"}, tool.name
        assert set(tool.examples) == {"en", "es"}, tool.name
        assert all(len(tool.examples[language]) >= 5 for language in ("en", "es")), tool.name
        assert tool.description.endswith("."), tool.name
        assert re.fullmatch(r"[a-z][a-z0-9_]{2,63}", tool.name)
        assert tool.spec().parameters["additionalProperties"] is False


class Card(Part):
    template: ClassVar[str] = "parts/_card.html"
    type: Literal["card"] = "card"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"tools": (LookUp(),)}, {"tools": (LookUp(),)}),
        ({"parts": (Card,)}, {"parts": (Card,)}),
        ({}, {"parts": (NoticePart,)}),
        ({"context": {"x": lambda *_: ({}, [])}}, {"context": {"x": lambda *_: ({}, [])}}),
        ({"domains": ("manual",)}, {"domains": ("manual",)}),
        ({"tasks": {"x": print}}, {"tasks": {"x": print}}),
    ],
    ids=["tool", "part", "the core's part", "context source", "domain", "task"],
)
def test_two_claims_to_one_name_fail_at_start(first: Any, second: Any) -> None:
    with pytest.raises(RuntimeError, match="two skills register"):
        Registry([Skill("one", **first), Skill("two", **second)])


def test_one_skill_cannot_claim_a_name_twice() -> None:
    with pytest.raises(RuntimeError, match="'look_up'"):
        Registry([Skill("one", tools=(LookUp(), Count(), LookUp()))])


def test_a_skills_task_cannot_take_the_name_of_one_of_the_house() -> None:
    with pytest.raises(RuntimeError, match="'send_mail' of the house"):
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
    kinds = (each for each in vars(errors).values() if isinstance(each, type))
    return {kind.__name__ for kind in kinds if issubclass(kind, errors.ComandaError)}


def error_messages() -> set[str]:
    """What errors say: their first argument, which is translated when it is shown."""
    found = set()
    for file in MODULES:
        constants = {
            target.id: node.value.value
            for node in tree_of(file).body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.Call) and _called(node) in error_names() and node.args:
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
    wrong = [
        f"{relative(file)}:{node.lineno}"
        for file in MODULES
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Call)
        and _called(node) in error_names()
        and node.args
        and isinstance(node.args[0], ast.JoinedStr | ast.BinOp)
    ]
    assert wrong == []


def test_every_text_a_person_reads_has_its_spanish() -> None:
    tool = _catalog_tool()
    used = {
        message if isinstance(message, str) else message[0]
        for _file, _line, message, *_ in extract_from_dir(
            str(ROOT), tool.METHODS, keywords=tool.KEYWORDS
        )
    }
    file = APP / "translations" / "es" / "LC_MESSAGES" / "messages.po"
    assert file.exists(), "there is no Spanish catalog"
    catalog = read_po(file.open("rb"), locale="es")
    missing = [
        text
        for text in sorted(used | error_messages())
        if (found := catalog.get(text)) is None or not found.string or found.fuzzy
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
