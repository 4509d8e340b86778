"""What others notice while one person misbehaves: their first tokens and their uploads.

Options: --scenarios=streaming,uploads,accounting,looks,json --samples=32 --quiet=16 --period=0.7
--scans=12 --files=900 --large=16 --streams=500 --looks=40 --seconds=380. A scenario for which not
enough of the seconds is left is not begun, which counts as missed.

Colleagues send a message and a picture each `period` seconds: with nobody else on, then while
one person misbehaves, then with nobody else again. The bar: nothing of theirs fails, and their
95th percentiles are at most twice the quiet ones around them (or 30 ms longer, where that is
more: the 95th percentile of few samples is not steady). What misbehaves, of one person each:

- streaming: three turns at a time whose replies open a block or an object that never ends, or
  are floods of words without a pause;
- uploads: pictures of 3,000 scans, forms with 900 files and files of 19 MB, all at once;
- accounting: replies that tell of too many tokens, of fewer than none, or of none at all, and
  arguments that are nested thousands deep, while the person holds 500 event streams open;
- looks: forty looks at a long section of the manual at once, each again as soon as it is answered;
- json: as streaming, with a runner whose model is asked for JSON, and thoughts without an end.

Whatever is still at work some seconds after a scenario is killed, so that it is not measured in
the next; the result says so. The load shares the cores with the server: `cpu` says how much each
part took, in cores; `everything_else` is Postgres, Redis, the benchmark's own process and whatever
else this machine does. Where that is much in the quiet already, the figures say little.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.request import urlopen
from uuid import uuid4

from sqlalchemy import text

from app.config import Settings
from app.files.field_rules import upload_rules
from app.retrieval.evaluate import percentile
from bench.support.colleagues import LONGEST_SECONDS
from bench.support.house import House, as_plan, open_house
from bench.support.load import Load, load
from bench.support.memory import settle, watching
from bench.support.pictures import photo
from bench.support.processor import cpu_seconds, descendants, machine_seconds
from bench.support.wire import Guest
from tests.factories import Member, make_section
from tests.skills.forms.filling import field as form_field
from tests.skills.forms.filling import make_template

STUB = ("-m", "tests.model_server", "--script", "bench/support/abused_model.py")
STREAMING = ("fenced-block", "open-object", "word-flood")
ACCOUNTING = ("huge-usage", "negative-usage", "missing-usage", "nested-arguments")
JSON = ("open-thoughts", "thought-objects", "answer-flood")
SCENARIOS = ("streaming", "uploads", "accounting", "looks", "json")

TIMES_QUIET_BAR = 2
FLOOR_MS = 30
# Among the longest that are found in manuals: about forty pages.
LONG_SECTION = "- Wipe the **shelf** of the *walk-in* and note it in the log.\n" * 1500
MEASURED = {"first_token_ms": "first_token", "upload_ms": "upload"}
# It misbehaves for so long before the others come.
HEAD_START_SECONDS = 2.0
# As many streams of one person as a process serves where nothing else is set.
MOST_STREAMS: int = Settings.model_fields["streams_per_person"].default
# More conversations and forms than one person begins in a scenario.
MOST_BEGUN = 2_000
# What it has left behind may take so long to come to its end by itself.
SETTLE_SECONDS = 6.0


def measure(arguments: Sequence[str]) -> dict[str, Any]:
    """For each scenario the others' figures, beside those of the quiet before and after it."""
    options, began = _options(arguments), time.monotonic()
    with open_house(
        stub=STUB, STREAMS_PER_PERSON=str(MOST_STREAMS), CONNECTIONS_PER_ADDRESS="500"
    ) as running:
        with running.app.app_context():
            rules = upload_rules("proof", ("image",)).signed()
        count = max(options.samples, options.quiet)
        plan = {
            "port": running.port,
            "guests": as_plan([guest for _, guest in running.hire(count)]),
            "rules": rules,
            "photo": photo().hex(),
            "period": options.period,
        }
        with load("support.colleagues", plan) as colleagues:
            colleagues.wait_for("here")
            course = Course(running, colleagues, options, rules, began)
            figures = course.run()
            colleagues.tell("0")
            colleagues.result()
    return {
        "met": all(each["met"] for each in figures.values()),
        "scenarios": figures,
        "bar": {
            "p95_times_quiet_p95": TIMES_QUIET_BAR,
            "or_ms_longer": FLOOR_MS,
            "failed": 0,
            "failed_counts_as_ms": LONGEST_SECONDS * 1000,
        },
        "seconds": round(time.monotonic() - began),
        "shares_the_cores": "2 web workers, 1 runner, Postgres, Redis, model, both loads",
    }


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="abuse")
    parser.add_argument("--scenarios", type=_scenarios, default=SCENARIOS)
    parser.add_argument("--samples", type=int, default=32)
    parser.add_argument("--quiet", type=int, default=16)
    parser.add_argument("--period", type=float, default=0.7)
    for name, number in (("scans", 12), ("files", 900), ("large", 16), ("streams", 500),
                         ("looks", 40)):  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--seconds", type=float, default=380)
    return parser.parse_args(list(arguments))


def _scenarios(names: str) -> tuple[str, ...]:
    """Some of them, in the order in which they are run."""
    asked = names.split(",")
    if unknown := set(asked) - set(SCENARIOS):
        raise argparse.ArgumentTypeError(f"there is no scenario {', '.join(sorted(unknown))}")
    return tuple(each for each in SCENARIOS if each in asked)


@dataclass
class Round:
    """What one round of the colleagues measured, and what it cost."""

    first_token_ms: list[float]
    upload_ms: list[float]
    failed: dict[str, int]
    memory_mb: dict[str, float] = field(default_factory=dict)
    cpu: dict[str, float] = field(default_factory=dict)


@dataclass
class Course:
    """All scenarios one after the other, with quiet between them."""

    running: House
    colleagues: Load
    options: argparse.Namespace
    rules: str
    began: float

    def run(self) -> dict[str, dict[str, Any]]:
        figures, before, mode = dict[str, dict[str, Any]](), None, "native"
        for name in self.options.scenarios:
            if self._seconds_left() < self._seconds_for_one():
                figures[name] = {"met": False, "not_measured": "no time was left"}
                continue
            if name == "json" and mode == "native":
                mode, before = "json", None
                self.running.restart(runners=True, AI_TOOL_MODE=mode)
            before = before or self._round(self.options.quiet)
            during, answers = self._misbehave(name)
            ended = self._end_what_is_left()
            after = self._round(self.options.quiet)
            figures[name] = _figures(before, during, after) | answers | {"had_to_be_killed": ended}
            before = after
        return figures

    def _seconds_left(self) -> float:
        return float(self.options.seconds - (time.monotonic() - self.began))

    def _seconds_for_one(self) -> float:
        """The longest that a scenario takes with its quiet, but for programs that start anew."""
        samples = self.options.samples + 2 * self.options.quiet
        waiting = LONGEST_SECONDS + HEAD_START_SECONDS + SETTLE_SECONDS
        return float(samples * self.options.period + waiting)

    def _misbehave(self, name: str) -> tuple[Round, dict[str, Any]]:
        """A round of the others beside one person, and how that person was answered."""
        [(member, guest)] = self.running.hire(1)
        with load("support.offender", self._plan(name, member, guest)) as offender:
            offender.wait_for("begun")
            settle(HEAD_START_SECONDS)
            during = self._round(self.options.samples, offender)
            offender.tell("stop")
            result = offender.result()
        assert not result["broken"], result["broken"]
        return during, {"answers_to_the_misbehaving": result["answers"]}

    def _plan(self, name: str, member: Member, guest: Guest) -> dict[str, Any]:
        ids = [self.running.issue_id(member) for _ in range(MOST_BEGUN)]
        plan = {"port": self.running.port, "guest": as_plan([guest])[0], "ids": ids}
        if name in ("streaming", "json"):
            return plan | {"kinds": STREAMING if name == "streaming" else JSON}
        if name == "accounting":
            return plan | {"kinds": ACCOUNTING, "streams": self.options.streams}
        if name == "looks":
            return plan | {"looks": self.options.looks, "page": self._long_page()}
        fields = [form_field("file", label={"en": "Proof", "es": "Prueba"})]
        form = make_template(self.running.owner, self.running.group_id, fields)
        counts = {each: getattr(self.options, each) for each in ("scans", "files", "large")}
        return plan | counts | {"rules": self.rules, "form": str(form.id)}

    def _long_page(self) -> str:
        slug = f"long-{uuid4().hex[:8]}"
        make_section(self.running.owner, self.running.group_id, slug, "Cleaning", LONG_SECTION)
        return f"/library/manual/{slug}"

    def _round(self, samples: int, offender: Load | None = None) -> Round:
        """Let the colleagues send so many messages and pictures."""
        running = self.running
        watched = [*running.web_pids, *running.runner_pids]
        parts = {
            "web_and_runner": watched,
            "model": [running.model_pid],
            "colleagues": [self.colleagues.process.pid],
            "misbehaving": [offender.process.pid] if offender else [],
        }
        with _costs(parts) as costs, _peaks(watched) as peaks:
            self.colleagues.tell(str(samples))
            measured = Round(**self.colleagues.result())
        measured.cpu, measured.memory_mb = costs(), peaks()
        return measured

    def _end_what_is_left(self) -> list[str]:
        """Wait until nothing of a scenario goes on any more; kill what does not end."""
        until = time.monotonic() + SETTLE_SECONDS
        while (busy := self._busy()) and time.monotonic() < until:
            settle(0.5)
        self.running.restart(web="web" in busy, runners="runner" in busy)
        return busy

    def _busy(self) -> list[str]:
        """Which of the processes are still at what they were asked for."""
        with self.running.owner.transaction() as session:
            turns = session.scalar(text("SELECT count(*) FROM turns WHERE finished_at IS NULL"))
        is_examining = bool(descendants(self.running.web.children()))
        is_slow = not all(self._answers_soon() for _ in range(4))
        return ["web"] * (is_examining or is_slow) + ["runner"] * bool(turns)

    def _answers_soon(self) -> bool:
        address = f"http://127.0.0.1:{self.running.port}/healthz"
        with suppress(OSError), urlopen(address, timeout=2) as answer:
            return bool(answer.status == 200)
        return False


@contextmanager
def _costs(parts: dict[str, list[int]]) -> Iterator[Callable[[], dict[str, float]]]:
    """How many cores each part used on average within this block, and all else on the machine."""

    def look() -> dict[str, float]:
        used = {name: cpu_seconds(_with_children(pids)) for name, pids in parts.items()}
        return used | {"everything_else": machine_seconds() - sum(used.values())}

    before, began = look(), time.monotonic()
    found: dict[str, float] = {}
    yield lambda: found
    seconds = time.monotonic() - began
    found |= {name: round((used - before[name]) / seconds, 2) for name, used in look().items()}


@contextmanager
def _peaks(pids: list[int]) -> Iterator[Callable[[], dict[str, float]]]:
    """The most memory that processes had within this block, alone and with their children."""
    with (
        watching(lambda: pids, every=1) as alone,
        watching(lambda: _with_children(pids), every=1) as everything,
    ):
        yield lambda: {
            "web_and_runner": round(alone.proportional_mib * 1.048576, 1),
            "with_what_looks_at_files": round(everything.proportional_mib * 1.048576, 1),
        }


def _with_children(pids: Iterable[int]) -> list[int]:
    return list({*pids, *descendants(pids)})


def _figures(before: Round, during: Round, after: Round) -> dict[str, Any]:
    figures = {
        shown: _compare([*getattr(before, name), *getattr(after, name)], getattr(during, name))
        for name, shown in MEASURED.items()
    }
    quiet_failed = dict(Counter(before.failed) + Counter(after.failed))
    kept = all(each["met"] for each in figures.values())
    return {
        "met": kept and not during.failed and not quiet_failed,
        **figures,
        "failed": during.failed,
        "failed_in_quiet": quiet_failed,
        "peak_memory_mb": {"quiet": before.memory_mb, "during": during.memory_mb},
        "cpu": {"quiet": before.cpu, "during": during.cpu},
    }


def _compare(quiet: list[float], during: list[float]) -> dict[str, Any]:
    quiet_p95, p95 = percentile(quiet, 0.95), percentile(during, 0.95)
    bar = max(TIMES_QUIET_BAR * quiet_p95, quiet_p95 + FLOOR_MS)
    return {
        "met": p95 <= bar,
        "quiet_p50_ms": round(percentile(quiet, 0.5), 1),
        "quiet_p95_ms": round(quiet_p95, 1),
        "p50_ms": round(percentile(during, 0.5), 1),
        "p95_ms": round(p95, 1),
        "p95_times_quiet": round(p95 / quiet_p95, 2),
        "bar_ms": round(bar, 1),
        "samples": len(during),
        "quiet_samples": len(quiet),
    }
