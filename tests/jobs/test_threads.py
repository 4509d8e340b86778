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


# Two people: one sends ten works, the other then one; each work takes 20 ms.
TURNS = """
from gevent import monkey
monkey.patch_all()
import gevent, sys, time
from app.jobs import system_threads
from app.jobs.system_threads import RealThreads, tell_costs_to, tell_senders_by

done, costs, sender = [], [], {}
tell_senders_by(lambda: sender[gevent.getcurrent()])
tell_costs_to(costs.append)
threads = RealThreads(1)

def work():
    end = time.thread_time() + 0.02
    while time.thread_time() < end:
        pass

def ask(who):
    sender[gevent.getcurrent()] = who
    threads.run(work)
    done.append(who)

asking = [gevent.spawn(ask, "ana") for _ in range(10)]
gevent.sleep(0)
asking += [gevent.spawn(ask, "ben")]
gone = gevent.spawn(ask, "cyd")
gevent.sleep(0)
gone.kill()
gevent.joinall(asking)
threads.run(work) if not sender.update({gevent.getcurrent(): "dan"}) else None
print("".join(who[0] for who in done), len(costs), min(costs) >= 0.02, threads._free, threads._line)
print(sys.getswitchinterval() == system_threads.SWITCH_SECONDS)
"""


@pytest.mark.fault(44)
def test_each_sender_has_one_work_done_in_turn_and_whoever_left_keeps_no_place() -> None:
    done = subprocess.run(
        [sys.executable, "-c", TURNS], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split("\n")[:2] == ["aabaaaaaaaa 12 True 1 {}", "True"]
