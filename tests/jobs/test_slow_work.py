"""What takes long in Python runs in a thread of the system, or in a program of its own.

A worker serves many people in one thread, by gevent: while one request draws a PDF, nobody
else's page moves. This follows, within each module, which functions reach slow work, and wants
each of them to be handed to `RealThreads.run`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.test_architecture import MODULES, name_of, tree_of

# By their names as they are called: writing tables, drawing pages and pictures, comparing texts.
SLOW = frozenset(
    ("csv_lines", "SimpleDocTemplate", "Image.open", "Image.new", "book.save", "SequenceMatcher")
)
# Run as a child process that has limits; `app/files/child_process.py` starts it.
CHILDREN = ("app.files.", "app.skills.knowledge.readers")


def slow_work_in_requests(tree: ast.Module) -> list[str]:
    """The functions of a module that do slow work where whoever calls them stands."""
    functions = {each.name: each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}
    slow_by_name = {name: list(slow_calls(each)) for name, each in functions.items()}
    apart = reached_from(handed_over(tree), functions)
    return sorted(
        f"{name} calls {call}"
        for name, calls in slow_by_name.items()
        for call in calls
        if name not in apart
    )


def slow_calls(function: ast.FunctionDef) -> Iterator[str]:
    """What is slow and called by the function itself, outside of what it hands over."""
    handed = {id(node) for call in runs(function) for node in ast.walk(call)}
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and id(node) not in handed:
            called = ast.unparse(node.func)
            if called in SLOW:
                yield called


def runs(tree: ast.AST) -> list[ast.Call]:
    """The calls of `run` of a `RealThreads`, which are constants by their name."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "run"
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id.isupper()
    ]


def handed_over(tree: ast.Module) -> set[str]:
    return {name for call in runs(tree) for each in call.args for name in names_in(each)}


def names_in(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | {
        node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)
    }


def reached_from(names: set[str], functions: dict[str, ast.FunctionDef]) -> set[str]:
    reached: set[str] = set()
    waiting = names & functions.keys()
    while waiting:
        name = waiting.pop()
        reached.add(name)
        waiting |= (names_in(functions[name]) & functions.keys()) - reached
    return reached


def test_no_request_does_slow_work_where_others_wait_for_it() -> None:
    wrong = {
        name_of(file): found
        for file in MODULES
        if not name_of(file).startswith(CHILDREN)
        if (found := slow_work_in_requests(tree_of(file)))
    }
    assert wrong == {}


def test_there_is_slow_work_and_it_is_found() -> None:
    """Of what this looks for there is some in each of the modules that are known to do it."""
    doing = {
        name_of(file)
        for file in MODULES
        if any(call in ast.unparse(tree_of(file)) for call in (f"{each}(" for each in SLOW))
    }
    assert doing >= {
        "app.text.diff",
        "app.skills.expenses.services.export",
        "app.skills.forms.services.export",
        "app.skills.forms.services.pdf",
    }
    bare = ast.parse(
        "def view(rows):\n    return write(rows)\n\ndef write(rows):\n    return csv_lines(rows)"
    )
    assert slow_work_in_requests(bare) == ["write calls csv_lines"]
    handed = ast.parse(
        "def view(rows):\n    return WRITING.run(partial(write, rows))\n\n"
        "def write(rows):\n    return csv_lines(rows)"
    )
    assert slow_work_in_requests(handed) == []


def test_nothing_of_the_web_takes_a_file_apart_itself() -> None:
    """Readers of files are imported by the children, and by nothing else but their like."""
    libraries = ("pypdfium2", "docx", "lxml", "bs4")
    readers = ("app.files.examiner", "app.files.images", "app.files.documents")
    wrong = []
    for file in MODULES:
        if name_of(file).startswith(CHILDREN):
            continue
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.ImportFrom) and node.module:
                takes_apart = node.module.split(".")[0] in libraries or node.module in readers
                # In this process; a command line has one of its own.
                reads_here = "read_file" in [alias.name for alias in node.names]
                is_reader = node.module == "app.skills.knowledge.readers" and reads_here
                if takes_apart or (is_reader and not name_of(file).endswith(".cli")):
                    wrong.append(f"{name_of(file)} imports {node.module}")
    assert wrong == []
