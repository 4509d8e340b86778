"""Slow work in a thread of the system: what waits for it, and in whose language it speaks."""

from __future__ import annotations

import subprocess
import sys

import pytest

# In a process of its own: gevent stays in a process once it is there.
SCRIPT = """
from gevent import monkey
monkey.patch_all()
import gevent
from contextvars import ContextVar
from app.text.markdown import _draw_model_text, render_model_text
from app.jobs.system_threads import RealThreads
from app.files.spreadsheets import WRITING, csv_lines

turns = 0
def count():
    global turns
    while True:
        turns += 1
        # Who never rests at all keeps the other thread from the interpreter on an idle machine.
        gevent.sleep(0.001)

# Twice as long as a reply may be, so that it takes some time on any machine.
reply = " [a*===)" * 5_000

language = ContextVar("language", default="en")
language.set("es")
gevent.spawn(count)
gevent.sleep(0)
before = turns
table = [["a;=1" * 2_500] * 20] * 20
text = {work}
print(len(text) > 30_000, turns - before > 10, RealThreads(1).run(language.get))
"""


def run(work: str) -> list[str]:
    script = SCRIPT.replace("{work}", work)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.split()


@pytest.mark.fault(44)
def test_others_go_on_while_a_long_table_is_written() -> None:
    assert run("WRITING.run(lambda: csv_lines(table))") == ["True", "True", "es"]


def test_they_would_wait_if_it_were_written_where_they_are() -> None:
    assert run("csv_lines(table)")[1] == "False"


@pytest.mark.fault(46)
def test_others_go_on_while_a_reply_is_drawn_that_was_made_to_be_slow() -> None:
    assert run("render_model_text(reply)")[:2] == ["True", "True"]
    assert run("_draw_model_text(reply)")[1] == "False"
