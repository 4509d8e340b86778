"""The whole house under its supervisor, with small programs in the place of the app's."""

from __future__ import annotations

import os
import re
import signal
import socket
import time
from pathlib import Path

from tests.embedded.processes import (
    Holder,
    House,
    everything_is_gone,
    keeper_process,
    kill_everything,
    remember,
    remembered,
    services_are_gone,
    wait_until,
)


def found_settings(folder: Path) -> Holder:
    return Holder(folder, "--find-only")


def test_the_house_starts_says_where_it_is_and_stops_in_order(folder: Path) -> None:
    house = House(folder)
    house.wait_until_ready()
    house.wait_for("jobs starts")
    assert f"http://127.0.0.1:{house.port}" in house.text
    assert "Sign in as somebody@example.com" in house.text
    began = time.monotonic()
    assert house.stop() == 0
    assert time.monotonic() - began < 15
    order = re.findall(r"(web|runner|jobs) ends", house.text)
    assert order[0] == "web"
    assert sorted(order) == ["jobs", "runner", "web"]
    wait_until(lambda: everything_is_gone(folder), seconds=5)


def test_sigterm_stops_the_house_like_ctrl_c(folder: Path) -> None:
    house = House(folder)
    house.wait_until_ready()
    assert house.stop(signal.SIGTERM) == 0
    assert services_are_gone(folder)


def test_a_second_start_says_where_the_first_runs_and_leaves_it_alone(folder: Path) -> None:
    house = House(folder)
    house.wait_until_ready()
    code, text = House(folder).ends_with()
    assert code == 1
    assert text.count("\n") == 0
    assert "already runs" in text
    assert f"http://127.0.0.1:{house.port}" in text
    assert house.process.poll() is None
    house.stop()


def test_a_program_that_dies_is_started_again(folder: Path) -> None:
    house = House(folder)
    house.wait_until_ready()
    house.wait_for("runner starts")
    killed = house.process_of("runner")
    os.kill(killed, signal.SIGKILL)
    house.wait_for("runner ended (SIGKILL); it starts again in 0.5 s")
    wait_until(lambda: house.process_of("runner") != killed)
    house.stop()


def test_services_that_lose_their_keeper_are_started_again(folder: Path) -> None:
    house = House(folder)
    house.wait_until_ready()
    keepers = {name: keeper_process(folder, name) for name in ("postgres", "redis")}
    for process in keepers.values():
        os.kill(process, signal.SIGKILL)
    for name, process in keepers.items():
        house.wait_for(f"{name} ended; it starts again")
        wait_until(lambda name=name, process=process: keeper_process(folder, name) != process)
    holder = found_settings(folder)
    remember(holder.settings(), "after")
    holder.leave()
    house.stop()


def test_nothing_is_left_when_the_supervisor_is_killed(folder: Path) -> None:
    house = House(folder)
    house.wait_until_ready()
    house.wait_for("jobs starts")
    holder = found_settings(folder)
    remember(holder.settings(), "acknowledged")
    holder.leave()
    house.process.kill()
    wait_until(lambda: everything_is_gone(folder), seconds=15)
    again = House(folder)
    again.wait_until_ready()
    holder = found_settings(folder)
    assert remembered(holder.settings()) == ["acknowledged"]
    holder.leave()
    again.stop()


def test_nothing_acknowledged_is_lost_when_everything_is_killed(folder: Path) -> None:
    house = House(folder)
    house.wait_until_ready()
    holder = found_settings(folder)
    remember(holder.settings(), "acknowledged")
    kill_everything(folder)
    wait_until(lambda: everything_is_gone(folder), seconds=10)
    again = House(folder)
    again.wait_until_ready()
    holder = found_settings(folder)
    assert remembered(holder.settings()) == ["acknowledged"]
    holder.leave()
    again.stop()


def test_a_port_in_use_is_named(folder: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        code, text = House(folder, PORT=str(port)).ends_with()
    assert code == 1
    assert text.startswith(f"PORT: {port} on 127.0.0.1 is used by another program")
    assert text.count("\n") == 0
    assert not (folder / "services").exists()


def test_a_wrong_setting_is_named(folder: Path) -> None:
    code, text = House(folder, module="app.embedded", WEB_WORKERS="many").ends_with()
    assert code == 1
    assert "WEB_WORKERS" in text
    assert "Traceback" not in text


def test_a_database_that_cannot_be_reached_is_named_without_its_password(folder: Path) -> None:
    address = "postgresql://someone:hush@127.0.0.1:1/comanda"
    house = House(
        folder, module="app.embedded", DATABASE_URL=address, MIGRATION_DATABASE_URL=address
    )
    code, text = house.ends_with()
    assert code == 1
    assert "DATABASE_URL: " in text
    assert "hush" not in text
    assert "Traceback" not in text


def test_services_alone_run_until_they_are_stopped(folder: Path) -> None:
    house = House(folder, "--services-only", module="app.embedded")
    house.wait_for("The services run")
    holder = found_settings(folder)
    remember(holder.settings(), "alone")
    holder.leave()
    assert house.stop() == 0
    assert services_are_gone(folder)
