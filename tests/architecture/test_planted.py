"""Each rule of `tests/test_architecture.py` fails for what it forbids.

A file that breaks one rule is planted in a copy of the project; that rule's test has to fail, and
to name what was planted.
"""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app.assistant.tools.registry import Registry, Skill
from app.skills import SKILLS
from tests import test_architecture as rules
from tests.assistant.scripted import LookUp

COPIED = ("app", "templates", "static", "migrations", "docs", "tests", ".ci")
NOT_NEEDED = shutil.ignore_patterns("__pycache__", "*.npz", "*.jsonl", "*.xz", "*.mo")
CATALOG = "app/translations/es/LC_MESSAGES/messages.po"
# These plant what they forbid themselves.
PROVED_THERE = {
    "test_two_claims_to_one_name_fail_at_start",
    "test_one_skill_cannot_claim_a_name_twice",
    "test_a_skills_task_cannot_take_the_name_of_one_of_comanda_itself",
    "test_few_short_modules_have_a_single_importer",
    "test_a_short_module_that_was_split_off_is_counted",
    "test_only_what_a_single_module_imports_is_counted",
    "test_what_the_shape_of_a_skill_keeps_apart_is_not_counted",
}


class OneLanguage(LookUp):
    """A tool that nobody can find in Spanish."""

    name = "look_up_in_english"
    examples: Mapping[str, tuple[str, ...]] = {"en": ("look it up",) * 5}


class Endless(LookUp):
    """A tool whose arguments have no end."""

    name = "look_up_all"

    def spec(self) -> Any:
        spec = super().spec()
        listed = {"things": {"type": "array", "items": {"type": "string"}}}
        spec.parameters["properties"] = {**spec.parameters["properties"], **listed}
        return spec


@dataclass(frozen=True)
class Planted:
    """Files that break one rule, and what its test then names."""

    rule: Callable[..., None]
    files: Mapping[str, str] = field(default_factory=dict)
    told: str = "planted"
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.rule.__name__.removeprefix("test_")


def plant(rule: Callable[..., None], path: str, source: str, told: str = "planted") -> Planted:
    return Planted(rule, {path: source}, told)


LONG = "def planted() -> None:\n" + "    print()\n" * 60
BY_SHELL = 'import subprocess\nsubprocess.run("ls", shell=True)\n'
IN_A_STRING = "from flask_babel import gettext as _\nTEXT = f\"{_('planted')}\"\n"
SAID_TOGETHER = 'from app.errors import InvalidInput\nraise InvalidInput(f"No {planted}.")\n'
POT = '\nmsgid "planted %(number)s"\nmsgstr "plantado %(otro)s"\n'
CHAIN = 'revision = "planted"\ndown_revision = "20261120_1400"\n'
PLANTED = [
    # Imports
    plant(rules.test_nothing_imports_what_stands_above_it,
          "app/retrieval/planted_a.py", "from app.skills.forms import models\n"),
    plant(rules.test_skills_do_not_import_each_other,
          "app/skills/forms/services/planted_b.py", "import app.skills.expenses.models\n"),
    plant(rules.test_nobody_imports_the_composition_but_what_starts_a_process,
          "app/text/planted_c.py", "def late() -> None:\n    import app.factory\n"),
    Planted(rules.test_pure_cores_know_nothing_of_flask_however_far_away,
            {"app/periods/planted_d.py": "from app.text import planted_e\n",
             "app/text/planted_e.py": "import flask\n"},
            "planted_e", {"module": "app.periods.planted_d"}),
    # The shape of what there is, and sizes
    plant(rules.test_every_skill_has_the_same_shape,
          "app/skills/forms/planted_f.py", ""),
    plant(rules.test_what_lies_loose_is_what_everybody_needs, "app/planted_g.py", ""),
    plant(rules.test_only_pages_know_urls,
          "app/skills/forms/services/planted_ag.py", "from flask import url_for\n"),
    # A site without pages: no link of ours leads anywhere.
    Planted(rules.test_links_lead_to_endpoints_that_there_are, {}, "app/assistant",
            {"app": Flask("planted")}),
    Planted(rules.test_there_is_one_of_each,
            {"app/web/planted_ai.py": "LANGUAGE = str(get_locale())\n"}, "planted_ai",
            {"what": "the reader's language"}),
    plant(rules.test_modules_are_called_by_nouns, "app/text/settling.py", "", "settling"),
    plant(rules.test_functions_are_short, "app/text/planted_h.py", LONG),
    plant(rules.test_functions_of_tests_are_not_long_either, "tests/planted_i.py", LONG),
    plant(rules.test_modules_are_short, "app/text/planted_j.py", "print()\n" * 600),
    plant(rules.test_templates_are_short, "templates/planted_k.html", "<p></p>\n" * 151),
    # Names, words, programs
    plant(rules.test_no_module_is_called_by_what_it_is_not,
          "app/text/planted_helpers.py", ""),
    plant(rules.test_every_module_says_what_it_is_for, "app/text/planted_l.py", "A = 1\n"),
    plant(rules.test_no_source_has_an_open_end, "app/text/planted_m.py", "# TO" + "DO: later\n"),
    plant(rules.test_words_that_are_looked_for_stand_in_files_of_their_own,
          "app/nlu/planted_aj.py", 'WORDS = r"\\b(?:tomorrow|yesterday|mañana)\\b"\n'),
    plant(rules.test_words_that_are_looked_for_stand_in_files_of_their_own,
          "app/skills/forms/services/planted_ak.py",
          'WORDS = "the and for with your a in on".split()\n'),
    plant(rules.test_no_program_is_started_by_a_shell, "app/text/planted_n.py", BY_SHELL),
    # Files that people send
    plant(rules.test_the_files_of_a_form_are_read_where_they_are_counted_and_nowhere_else,
          "app/web/planted_o.py", "from flask import request\nALL = request.files\n"),
    plant(rules.test_whoever_has_a_file_examined_has_counted_it_and_waited_for_their_turn,
          "app/web/planted_p.py", "from app.files.uploads import store_upload\n"),
    plant(rules.test_each_route_that_takes_files_says_how_many_before_its_form_is_read,
          "app/admin/planted_q.py", "from app.files.posted_files import get_posted_files\n",
          "app/admin"),
    plant(rules.test_only_long_forms_and_files_are_larger_than_a_page,
          "app/web/planted_r.py", "request.max_content_length = 1\n"),
    # Parts, tools and skills
    Planted(rules.test_each_part_type_has_one_template_and_each_template_its_part,
            {"templates/parts/_planted.html": ""}, "planted", {"registry": Registry(SKILLS)}),
    Planted(rules.test_each_skill_says_what_it_is_called, {}, "planted",
            {"registry": Registry([Skill("planted")])}),
    Planted(rules.test_each_tool_says_in_both_languages_what_it_does_and_when, {}, "look_up",
            {"registry": Registry([Skill("planted", tools=(OneLanguage(),))])}),
    Planted(rules.test_each_list_that_a_tool_takes_has_a_longest, {}, "look_up_all",
            {"registry": Registry([Skill("planted", tools=(Endless(),))])}),
    # Templates and scripts
    plant(rules.test_every_element_that_htmx_drives_carries_the_nonce,
          "templates/planted_s.html", '<p hx-get="/"></p>'),
    plant(rules.test_no_template_has_a_script_style_or_handler_of_its_own,
          "templates/planted_t.html", '<p onclick="go()"></p>'),
    plant(rules.test_no_template_has_a_script_style_or_handler_of_its_own,
          "templates/planted_u.html", "<style>p {}</style>"),
    plant(rules.test_every_script_carries_the_nonce,
          "templates/planted_v.html", '<script src="/x.js"></script>'),
    plant(rules.test_every_form_that_posts_carries_a_token,
          "templates/planted_w.html", '<form method="post"></form>'),
    plant(rules.test_nothing_is_marked_safe_in_a_template_but_our_own_attributes,
          "templates/planted_x.html", "{{ words | safe }}"),
    plant(rules.test_nothing_is_marked_safe_in_a_template_but_our_own_attributes,
          "templates/planted_y.html", "{% autoescape false %}", "autoescape false"),
    plant(rules.test_nothing_is_fetched_from_another_place,
          "static/js/planted.js", 'import "https://cdn.example.com/x.js";'),
    plant(rules.test_scripts_make_no_html_of_text_and_evaluate_nothing,
          "static/js/planted.js", "place.innerHTML = words;"),
    # Words in both languages
    plant(rules.test_no_text_is_looked_up_inside_an_f_string,
          "app/text/planted_aa.py", IN_A_STRING),
    plant(rules.test_errors_say_only_what_can_be_translated,
          "app/text/planted_ab.py", SAID_TOGETHER),
    plant(rules.test_every_text_a_person_reads_has_its_spanish,
          "templates/planted_z.html", '{{ _("A planted text") }}', "A planted text"),
    plant(rules.test_translations_keep_the_placeholders_of_their_source, CATALOG, POT),
    # What the repository must not say
    plant(rules.test_no_source_names_this_machine, "docs/planted.md", "See /ho" + "me/planted.\n"),
    plant(rules.test_migrations_are_one_chain,
          "migrations/versions/20270101_0900_planted.py", CHAIN),
    # Passwords, addresses and limits
    plant(rules.test_no_module_writes_a_passwords_hash,
          "app/web/planted_ac.py", "update(Credential)\n"),
    plant(rules.test_no_link_takes_its_host_from_a_request,
          "app/web/planted_ad.py", "LINK = request.host_url\n"),
    plant(rules.test_whatever_searches_free_text_does_so_for_a_limited_time,
          "app/web/planted_ae.py", 'WHERE = name.ilike("%a%")\n'),
    plant(rules.test_every_page_that_finds_by_words_is_limited_for_each_person,
          "app/web/planted_views.py", 'WORDS = request.args.get("q")\n'),
    plant(rules.test_every_limit_of_a_person_has_one_budget_for_all_its_views,
          "app/web/planted_af.py", 'limiter.limit("1 per day")\n'),
]  # fmt: skip


@dataclass(frozen=True)
class Copy:
    """The project in another folder, and what the rules look at of it."""

    root: Path
    looked_at: Mapping[str, Any]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """The project as it is."""
    root = tmp_path_factory.mktemp("project")
    for folder in COPIED:
        shutil.copytree(rules.ROOT / folder, root / folder, ignore=NOT_NEEDED)
    templates = sorted((root / "templates").rglob("*.html"))
    looked_at = {
        "ROOT": root,
        "APP": root / "app",
        "MODULES": sorted((root / "app").rglob("*.py")),
        "TEMPLATES": templates,
        "STATIC": [root / file.relative_to(rules.ROOT) for file in rules.STATIC],
        "ALL_TAGS": [(file, tag) for file in templates for tag in rules.tags_of(file)],
    }
    return Copy(root, looked_at)


@pytest.fixture
def in_copy(copy: Copy, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Lets the rules look at the copy with these files in it, which go when the test ends."""
    before: dict[Path, str | None] = {}

    def put(files: Mapping[str, str]) -> None:
        looked_at = dict(copy.looked_at)
        for path, source in files.items():
            file = copy.root / path
            before[file] = file.read_text("utf-8") if file.exists() else None
            file.write_text((before[file] or "") + source, "utf-8")
            kind = {"app": "MODULES", "templates": "TEMPLATES", "static": "STATIC"}
            if (name := kind.get(path.partition("/")[0])) and before[file] is None:
                looked_at[name] = [*looked_at[name], file]
            if file.suffix == ".html":
                tags = [(file, tag) for tag in rules.tags_of(file)]
                looked_at["ALL_TAGS"] = [*looked_at["ALL_TAGS"], *tags]
        for name, value in looked_at.items():
            monkeypatch.setattr(rules, name, value)
        rules.reached_from.cache_clear()

    yield put
    for file, text in before.items():
        file.unlink() if text is None else file.write_text(text, "utf-8")
    rules.reached_from.cache_clear()


@pytest.mark.parametrize("planted", PLANTED, ids=str)
def test_what_a_rule_forbids_makes_it_fail(in_copy: Callable[..., None], planted: Planted) -> None:
    """Of the copy as it is, the rules hold as they do of the project; the message says of what."""
    in_copy(planted.files)
    with pytest.raises(AssertionError) as failed:
        planted.rule(**planted.arguments)
    assert planted.told in str(failed.value)


def test_every_rule_has_something_planted_for_it() -> None:
    """Whoever adds a rule shows here that it can fail."""
    all_rules = {
        name
        for name, each in vars(rules).items()
        if name.startswith("test_") and inspect.isfunction(each)
    }
    proved = {planted.rule.__name__ for planted in PLANTED}
    assert all_rules - proved - PROVED_THERE == set()
