"""What the deployment's files and its page promise exists in the code."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.config import Settings, load_settings
from app.embedded.child import PROGRAMS
from app.files.kinds import FORM_BYTES, LARGEST_BYTES
from app.observability.metrics import REGISTRY
from app.skills.forms.services.attachments import LARGEST_FORM

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = {name.upper() for name in Settings.model_fields}
# Read by the containers of others, or by compose itself.
NOT_OURS = {"POSTGRES_PASSWORD", "OWNER_PASSWORD", "APP_PASSWORD", "HTTP_PORT"}
# What the containers are to each other, which nobody sets.
MADE_BY_COMPOSE = {
    "COMANDA_DATA",
    "HOST",
    "PORT",
    "DATABASE_URL",
    "MIGRATION_DATABASE_URL",
    "REDIS_URL",
    "TRUSTED_PROXIES",
    "DEMO",
}
PAGE = (ROOT / "docs" / "deploying.md").read_text("utf-8")
NGINX = (ROOT / "deploy" / "nginx.conf").read_text("utf-8")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
    return loaded


def section(title: str) -> str:
    return PAGE.split(f"## {title}\n")[1].split("\n## ")[0]


def test_every_setting_is_documented_and_nothing_else_is() -> None:
    rows = [line for line in section("Settings").splitlines() if line.startswith("| `")]
    documented = {name for row in rows for name in re.findall(r"`([A-Z0-9_]+)`", row.split("|")[1])}
    assert documented == SETTINGS


def test_the_containers_take_every_setting_and_nothing_else(compose: dict[str, Any]) -> None:
    ours = [each for each in compose["services"].values() if each.get("image") == "comanda"]
    assert len(ours) == 4
    for service in ours:
        assert set(service["environment"]) == SETTINGS
        for name, value in service["environment"].items():
            assert name in MADE_BY_COMPOSE or value.startswith(f"${{{name}:"), name


def test_what_is_set_in_the_env_file_is_what_compose_reads() -> None:
    example = (ROOT / ".env.example").read_text("utf-8")
    offered = dict(re.findall(r"^#?([A-Z0-9_]+)=(.*)$", example, re.MULTILINE))
    used = set(re.findall(r"\$\{([A-Z0-9_]+)", (ROOT / "compose.yaml").read_text("utf-8")))
    assert set(offered) == used
    assert used - NOT_OURS == SETTINGS - MADE_BY_COMPOSE


def test_the_defaults_of_the_env_file_are_those_of_the_settings() -> None:
    example = (ROOT / ".env.example").read_text("utf-8")
    commented = dict(re.findall(r"^#([A-Z0-9_]+)=(.+)$", example, re.MULTILINE))
    assert len(commented) > 20
    unset = load_settings({})
    # The containers stand behind HTTPS; without it the line is uncommented.
    assert commented.pop("SECURE_COOKIES") == "false"
    for name, value in commented.items():
        read = load_settings({name: value})
        assert getattr(read, name.lower()) == getattr(unset, name.lower()), name


def test_an_empty_setting_of_the_containers_is_an_unset_one() -> None:
    assert load_settings(dict.fromkeys(SETTINGS, "")) == load_settings({})


def test_the_containers_start_what_the_supervisor_starts(compose: dict[str, Any]) -> None:
    for program in PROGRAMS:
        command = compose["services"][program.name]["command"]
        own = list(program.command[2:])
        assert command[-len(own) :] == own or command == own, program.name


def test_the_containers_have_no_rights_that_they_do_not_need(compose: dict[str, Any]) -> None:
    for name in ("migrate", "web", "runner", "jobs"):
        service = compose["services"][name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert "ports" not in service
    assert "\nUSER comanda\n" in (ROOT / "Dockerfile").read_text("utf-8")
    published = [name for name, each in compose["services"].items() if "ports" in each]
    assert published == ["nginx"]


def test_each_service_waits_for_those_it_needs(compose: dict[str, Any]) -> None:
    services = compose["services"]
    for name in ("web", "runner", "jobs"):
        needs = services[name]["depends_on"]
        assert needs["migrate"]["condition"] == "service_completed_successfully"
        assert needs["postgres"]["condition"] == "service_healthy"
    for name in ("web", "postgres", "redis"):
        assert services[name]["healthcheck"]["test"], name
    drain = Settings.model_fields["runner_drain_seconds"].default
    assert int(services["runner"]["stop_grace_period"].rstrip("s")) > drain


def test_ports_and_files_agree(compose: dict[str, Any]) -> None:
    port = compose["services"]["web"]["environment"]["PORT"]
    assert f"server web:{port} " in NGINX
    assert compose["services"]["nginx"]["ports"] == ["${HTTP_PORT:-8080}:8080"]
    assert "listen 8080;" in NGINX
    for service in compose["services"].values():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            if source.startswith("./"):
                assert (ROOT / source).is_file(), source
            else:
                assert source in compose["volumes"]
    for source in re.findall(r"^COPY (?!--from)(.+) \S+$", _dockerfile(), re.MULTILINE):
        for name in source.split():
            assert (ROOT / name).exists(), name


def _dockerfile() -> str:
    return (ROOT / "Dockerfile").read_text("utf-8")


def test_event_streams_pass_the_proxy_unbuffered(compose: dict[str, Any]) -> None:
    location = re.search(r"location ~ (\S+) \{([^}]*)\}", NGINX)
    assert location
    assert re.fullmatch(location[1], "/chat/0190a000-0000-7000-8000-000000000001/events")
    assert "proxy_buffering off;" in location[2]
    # What a client claims to be is replaced, not passed on.
    assert "X-Forwarded-For $remote_addr;" in NGINX
    assert compose["services"]["web"]["environment"]["TRUSTED_PROXIES"] == "1"


def test_the_proxy_takes_at_least_what_the_app_takes(app: Any) -> None:
    found = re.search(r"client_max_body_size (\d+)m;", NGINX)
    assert found
    assert int(found[1]) * 1024 * 1024 > app.config["MAX_CONTENT_LENGTH"]


@pytest.mark.parametrize(
    ("place", "largest"),
    [("= /files ", LARGEST_BYTES + FORM_BYTES), ("~ ^/forms/drafts/", LARGEST_FORM)],
)
def test_the_proxy_takes_files_as_large_as_the_app_does(place: str, largest: int) -> None:
    found = re.search(re.escape(f"location {place}") + r"[^}]*client_max_body_size (\d+)m;", NGINX)
    assert found
    assert int(found[1]) * 1024 * 1024 >= largest


def directives(text: str) -> list[str]:
    """Each statement of a configuration, on one line."""
    plain = re.sub(r"#.*", "", text)
    return [" ".join(each.split()) for each in re.split(r"[;{}]", plain) if each.strip()]


def test_the_proxys_blocks_are_closed_and_its_statements_end() -> None:
    """For machines without an nginx that would say so."""
    depth = 0
    for line in re.sub(r"#.*", "", NGINX).splitlines():
        words = line.strip()
        assert not words or words[-1] in ";{}", line
        depth += words.endswith("{") - words.startswith("}")
        assert depth >= 0
    assert depth == 0


def test_the_proxy_gives_up_half_requests_and_limits_connections() -> None:
    said = directives(NGINX)
    seconds = {
        name: [int(each.split()[1].rstrip("s")) for each in said if each.startswith(f"{name} ")]
        for name in ("client_header_timeout", "client_body_timeout", "send_timeout")
    }
    assert max(seconds["client_header_timeout"]) <= 15
    assert max(seconds["client_body_timeout"]) <= 60
    assert max(seconds["send_timeout"]) <= 60
    # The app is asked once the whole request is here.
    assert "proxy_request_buffering off" not in said
    [zone] = [each for each in said if each.startswith("limit_conn_zone ")]
    [limit] = [each for each in said if each.startswith("limit_conn ")]
    name = re.search(r"zone=(\w+):", zone)
    assert name
    assert limit.split()[1] == name[1]
    # One restaurant's devices share an address, and a page has two or three connections.
    assert 200 <= int(limit.split()[2]) <= 1000
    # The app's own name is passed on as it was typed: it is checked there.
    assert said.count("proxy_set_header Host $http_host") == 1


@pytest.mark.skipif(not shutil.which("nginx"), reason="there is no nginx here")
def test_nginx_understands_its_configuration(tmp_path: Path) -> None:
    (tmp_path / "site.conf").write_text(NGINX.replace("server web:", "server 127.0.0.1:"))
    folders = "".join(
        f"{kind}_temp_path {tmp_path}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    site = f"access_log off;\n{folders}include {tmp_path}/site.conf;"
    whole = f"pid {tmp_path}/pid;\nevents {{}}\nhttp {{\n{site}\n}}\n"
    (tmp_path / "nginx.conf").write_text(whole)
    command = ["nginx", "-t", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_the_roles_are_made_by_a_script_that_a_shell_understands() -> None:
    script = ROOT / "deploy" / "postgres-roles.sh"
    assert subprocess.run(["sh", "-n", str(script)]).returncode == 0
    assert script.stat().st_mode & 0o111


def test_every_number_is_documented_and_every_alert_uses_one() -> None:
    instruments = {metric.name for metric in REGISTRY.collect()}
    documented = set(re.findall(r"`(comanda_\w+)`", section("Numbers and alerts")))
    assert instruments <= {name.removesuffix("_total") for name in documented}
    alerts = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[1])
    [group] = alerts["groups"]
    for rule in group["rules"]:
        used = re.findall(r"comanda_\w+", rule["expr"])
        assert used
        assert {name.removesuffix("_bucket") for name in used} <= documented, rule["alert"]
