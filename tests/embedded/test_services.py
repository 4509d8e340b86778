"""The embedded services as those who use them see them."""

from __future__ import annotations

import os
import shutil
import signal
import stat
from pathlib import Path

import psycopg
import pytest
import redis

from app.embedded import postgres_url
from app.embedded.folder import DataFolder, open_folder
from app.embedded.home import find_home
from app.embedded.postgres import SUPERUSER
from app.errors import ConfigurationError
from app.schema import upgrade
from tests.embedded.processes import (
    Holder,
    connect,
    keeper_process,
    kill_everything,
    remember,
    remembered,
    service_process,
    services_are_gone,
    wait_until,
)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_services_start_in_an_empty_folder(folder: Path) -> None:
    holder = Holder(folder)
    settings = holder.settings()
    with connect(settings.database_url) as connection:
        row = connection.execute(
            "SELECT current_setting('server_version_num')::int / 10000,"
            " (SELECT extname FROM pg_extension WHERE extname = 'vector'), version()"
        ).fetchone()
    assert row is not None
    assert row[:2] == (18, "vector")
    with redis.Redis.from_url(settings.redis_url or "") as client:
        assert client.ping()
        assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
        assert client.config_get("appendonly") == {"appendonly": "yes"}
    assert settings.secret_key
    holder.leave()
    wait_until(lambda: services_are_gone(folder))


def test_what_is_kept_is_private(folder: Path) -> None:
    holder = Holder(folder)
    holder.settings()
    assert mode(folder / "secrets.json") == 0o600
    for private in ("locks", "logs", "services/postgres", "services/redis", "services/run"):
        assert mode(folder / private) == 0o700
    holder.leave()


def test_the_addresses_and_the_key_stay_the_same(folder: Path) -> None:
    found = []
    for _ in range(2):
        holder = Holder(folder)
        found.append(holder.settings())
        holder.leave()
    assert found[0] == found[1]


def test_the_app_role_is_powerless_and_the_owner_can_migrate(folder: Path) -> None:
    holder = Holder(folder)
    settings = holder.settings()
    with connect(settings.database_url) as connection:
        privileged = connection.execute(
            "SELECT rolsuper OR rolbypassrls OR rolcreatedb OR rolcreaterole FROM pg_roles"
            " WHERE rolname = current_user"
        ).fetchone()
        assert privileged == (False,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("CREATE TABLE mine (word text)")
    remember(settings, "the owner can")
    holder.leave()


def test_nobody_gets_in_without_a_password(folder: Path) -> None:
    holder = Holder(folder)
    settings = holder.settings()
    wrong = (settings.database_url or "").replace(":", ":wrong-", 2).replace(":wrong-//", "://")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        connect(wrong)
    holder.leave()


def test_a_superuser_is_refused_as_the_apps_role(folder: Path) -> None:
    holder = Holder(folder)
    settings = holder.settings()
    data = DataFolder(folder)
    superuser = postgres_url(find_home(data), SUPERUSER, data.secrets().superuser)
    with pytest.raises(ConfigurationError, match="DATABASE_URL"):
        upgrade(settings.model_copy(update={"database_url": superuser}))
    holder.leave()


def test_callers_that_start_together_share_the_services(folder: Path) -> None:
    holders = [Holder(folder) for _ in range(3)]
    assert len({holder.settings().database_url for holder in holders}) == 1
    first, *others = holders
    process = service_process(folder, "postgres")
    first.leave()
    # The one that may have started them has left; the others still work.
    settings = Holder(folder, "--find-only").settings()
    remember(settings, "still here")
    assert service_process(folder, "postgres") == process
    for holder in others:
        holder.leave()


def test_services_are_found_but_not_started_on_request(folder: Path) -> None:
    holder = Holder(folder, "--find-only")
    assert holder.settings().database_url is None
    holder.leave()
    assert not folder.exists()


def test_services_named_by_a_setting_are_left_alone(folder: Path) -> None:
    holder = Holder(folder, REDIS_URL="redis://127.0.0.1:1/0")
    settings = holder.settings()
    assert settings.redis_url == "redis://127.0.0.1:1/0"
    assert not (folder / "services" / "redis").exists()
    holder.leave()


def test_services_end_when_their_last_user_is_killed(folder: Path) -> None:
    holder = Holder(folder)
    holder.settings()
    holder.process.kill()
    wait_until(lambda: services_are_gone(folder), seconds=10)


@pytest.mark.parametrize("name", ["postgres", "redis"])
def test_a_service_that_is_killed_starts_again(folder: Path, name: str) -> None:
    holder = Holder(folder)
    settings = holder.settings()
    remember(settings, "before")
    killed = service_process(folder, name)
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: service_process(folder, name) != killed)
    # Joining waits until it answers again.
    second = Holder(folder)
    assert second.settings() == settings
    assert remembered(settings) == ["before"]
    with redis.Redis.from_url(settings.redis_url or "") as client:
        assert client.ping()
    second.leave()
    holder.leave()


def test_nothing_acknowledged_is_lost_when_everything_is_killed(folder: Path) -> None:
    holder = Holder(folder)
    settings = holder.settings()
    remember(settings, "one")
    with redis.Redis.from_url(settings.redis_url or "") as client:
        client.set("word", "kept")
        wait_until(lambda: client.info("persistence")["aof_pending_bio_fsync"] == 0)
    kill_everything(folder)
    again = Holder(folder)
    assert remembered(again.settings()) == ["one"]
    with redis.Redis.from_url(settings.redis_url or "") as client:
        assert client.get("word") == b"kept"
    again.leave()


def test_services_end_with_their_keeper_and_start_again(folder: Path) -> None:
    holder = Holder(folder)
    remember(holder.settings(), "one")
    for name in ("postgres", "redis"):
        os.kill(keeper_process(folder, name), signal.SIGKILL)
    wait_until(lambda: services_are_gone(folder), seconds=10)
    again = Holder(folder)
    assert remembered(again.settings()) == ["one"]
    again.leave()
    holder.leave()


def test_a_stale_lock_file_with_a_living_process_number_is_no_obstacle(folder: Path) -> None:
    holder = Holder(folder)
    holder.settings()
    kill_everything(folder)
    wait_until(lambda: services_are_gone(folder))
    stale = folder / "services" / "postgres" / "postmaster.pid"
    lines = stale.read_text().splitlines()
    owner = stale.stat()
    stale.write_text("\n".join([str(_living_process_of(owner.st_uid)), *lines[1:]]) + "\n")
    again = Holder(folder)
    again.settings()
    again.leave()


def _living_process_of(user: int) -> int:
    """A process of the services' user, whom Postgres would take for its own kind."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and entry.stat().st_uid == user:
            return int(entry.name)
    return os.getpid()


@pytest.mark.parametrize("name", ["with spaces & 100% ñ", "one, two"])
def test_a_folder_may_have_any_name(folder: Path, name: str) -> None:
    odd = folder.parent / name
    holder = Holder(odd)
    settings = holder.settings()
    remember(settings, "reachable")
    with redis.Redis.from_url(settings.redis_url or "") as client:
        assert client.ping()
    holder.leave()
    wait_until(lambda: services_are_gone(odd))
    if (odd / "sockets-folder").exists():
        shutil.rmtree(Path((odd / "sockets-folder").read_text()))


def test_a_long_path_gets_its_sockets_in_a_short_private_folder(folder: Path) -> None:
    long = folder.parent / ("a long name " * 8).strip() / "data"
    holder = Holder(long)
    settings = holder.settings()
    remember(settings, "reachable")
    sockets = Path((long / "sockets-folder").read_text())
    assert len(os.fsencode(sockets)) < 92
    assert mode(sockets) == 0o700
    holder.leave()
    wait_until(lambda: services_are_gone(long))
    shutil.rmtree(sockets)
    again = Holder(long)
    assert remembered(again.settings()) == ["reachable"]
    shutil.rmtree(Path((long / "sockets-folder").read_text()), ignore_errors=True)
    again.process.kill()
    wait_until(lambda: services_are_gone(long))


def test_a_database_of_another_version_is_left_alone_and_named(folder: Path) -> None:
    holder = Holder(folder)
    holder.settings()
    holder.leave()
    wait_until(lambda: services_are_gone(folder))
    (folder / "services" / "postgres" / "PG_VERSION").write_text("17\n")
    refused = Holder(folder)
    assert "was made by PostgreSQL 17 and this is 18" in refused.answer()
    refused.leave()


def test_a_damaged_file_of_secrets_is_named(folder: Path) -> None:
    open_folder(folder)
    (folder / "secrets.json").write_text("{}")
    with pytest.raises(ConfigurationError, match=r"secrets\.json is damaged"):
        DataFolder(folder).secrets()
