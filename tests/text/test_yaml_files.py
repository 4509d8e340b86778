"""The files of words and texts: read as they are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "app").rglob("*.yaml"))
# The one in C is ten times as fast where it is there.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _named_twice(node: yaml.Node | None) -> Iterator[str]:
    """The keys that a mapping has more than once, with their lines: the last one would win."""
    if isinstance(node, yaml.MappingNode):
        names = Counter(str(key.value) for key, _ in node.value)
        for key, value in node.value:
            if names[str(key.value)] > 1:
                yield f"{key.value} in line {key.start_mark.line + 1}"
            yield from _named_twice(value)
    elif isinstance(node, yaml.SequenceNode):
        for each in node.value:
            yield from _named_twice(each)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_file_names_a_thing_twice(path: Path) -> None:
    assert list(_named_twice(yaml.compose(path.read_text("utf-8"), LOADER))) == []


def test_a_thing_that_is_named_twice_is_found() -> None:
    written = "words:\n  en: yes\n  es: sí\n  en: no\n"
    assert list(_named_twice(yaml.compose(written, LOADER))) == ["en in line 2", "en in line 4"]
