"""The words that texts of any kind are read with, read once from words.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.text.yaml_file import read_yaml

WORDS: Mapping[str, Any] = read_yaml(Path(__file__).with_name("words.yaml"))
