"""Settings: read once, wrong values refused with the name of the setting and no secret."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from pydantic import ValidationError

from app.config import Settings, load_settings
from app.embedded.supervisor import environment_of
from app.errors import ConfigurationError

OWNER = "postgresql://owner:geheim@db/comanda"
PLAIN = "postgresql://app:geheim@db/comanda"


def test_nothing_needs_to_be_set() -> None:
    settings = load_settings({})
    assert settings.comanda_data == Path("var")
    assert settings.base_url == "http://127.0.0.1:8000"
    assert settings.database_url is None
    assert settings.provider == "builtin"


def test_a_value_is_read_from_the_variable_of_its_name() -> None:
    settings = load_settings({"PORT": " 9001 ", "LOG_LEVEL": "debug", "DEMO": "false"})
    assert (settings.port, settings.log_level, settings.demo) == (9001, "debug", False)


def test_an_empty_variable_counts_as_unset() -> None:
    assert load_settings({"PORT": "", "SECRET_KEY": "  "}) == load_settings({})


def test_variables_of_others_are_left_alone() -> None:
    assert load_settings({"HOME": "/root", "PORTO": "x", "port": "1"}) == load_settings({})


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"PORT": "0"}, "PORT"),
        ({"PORT": "70000"}, "PORT"),
        ({"PORT": "eight"}, "PORT"),
        ({"WEB_WORKERS": "-1"}, "WEB_WORKERS"),
        ({"LOG_LEVEL": "loud"}, "LOG_LEVEL"),
        ({"DEMO": "perhaps"}, "DEMO"),
        ({"DATABASE_URL": "mysql://db", "MIGRATION_DATABASE_URL": OWNER}, "DATABASE_URL"),
        ({"DATABASE_URL": PLAIN}, "MIGRATION_DATABASE_URL"),
        ({"MIGRATION_DATABASE_URL": OWNER}, "DATABASE_URL"),
        ({"REDIS_URL": "http://redis"}, "REDIS_URL"),
        ({"SECRET_KEY": "short"}, "SECRET_KEY"),
        ({"PUBLIC_URL": "comanda.example"}, "PUBLIC_URL"),
        ({"MAIL_FROM": "nobody"}, "MAIL_FROM"),
        ({"AI_PROVIDER": "other"}, "AI_PROVIDER"),
        ({"AI_PROVIDER": "openai"}, "AI_PROVIDER"),
        ({"OPENAI_BASE_URL": "localhost:11434/v1"}, "OPENAI_BASE_URL"),
        ({"AI_TURN_TIMEOUT_SECONDS": "0"}, "AI_TURN_TIMEOUT_SECONDS"),
        ({"TURN_LEASE_SECONDS": "0.1"}, "TURN_LEASE_SECONDS"),
        ({"EMBEDDING_DIMENSIONS": "9000"}, "EMBEDDING_DIMENSIONS"),
        ({"TRUSTED_PROXIES": "9"}, "TRUSTED_PROXIES"),
        ({"METRICS_TOKEN": "short"}, "METRICS_TOKEN"),
        ({"RUNNER_DRAIN_SECONDS": "-1"}, "RUNNER_DRAIN_SECONDS"),
    ],
)
def test_a_wrong_value_is_refused_by_name_and_not_repeated(
    variables: dict[str, str], named: str
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        load_settings(variables)
    assert named in str(refused.value)
    assert "geheim" not in str(refused.value)
    assert "short" not in str(refused.value).replace("shorter", "")


def test_every_wrong_value_is_named_at_once() -> None:
    with pytest.raises(ConfigurationError) as refused:
        load_settings({"PORT": "x", "LOG_LEVEL": "y", "WEB_WORKERS": "z"})
    assert len(str(refused.value).splitlines()) == 4


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_the_usual_spellings_of_a_database_address_are_understood(scheme: str) -> None:
    settings = load_settings(
        {"DATABASE_URL": f"{scheme}://a:b@db/c", "MIGRATION_DATABASE_URL": f"{scheme}://o:b@db/c"}
    )
    assert settings.database_url == "postgresql+psycopg://a:b@db/c"
    assert settings.migration_database_url == "postgresql+psycopg://o:b@db/c"


@pytest.mark.parametrize(
    ("variables", "provider"),
    [
        ({"OPENAI_API_KEY": "sk-x"}, "openai"),
        ({"OPENAI_BASE_URL": "http://localhost:11434/v1"}, "openai"),
        ({"OPENAI_API_KEY": "sk-x", "AI_PROVIDER": "builtin"}, "builtin"),
    ],
)
def test_a_key_or_an_address_chooses_the_model_unless_one_is_asked_for(
    variables: dict[str, str], provider: str
) -> None:
    assert load_settings(variables).provider == provider


BUCKET = {"S3_BUCKET": "house", "S3_ACCESS_KEY_ID": "id", "S3_SECRET_ACCESS_KEY": "geheim"}


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"S3_BUCKET": "house"}, "S3_BUCKET: needs S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY"),
        ({**BUCKET, "S3_ACCESS_KEY_ID": ""}, "S3_BUCKET: needs S3_ACCESS_KEY_ID"),
        ({**BUCKET, "S3_SECRET_ACCESS_KEY": ""}, "S3_BUCKET: needs S3_ACCESS_KEY_ID"),
        ({**BUCKET, "S3_BUCKET": ""}, "S3_BUCKET: must be set where other settings of S3 are"),
        ({"S3_ENDPOINT_URL": "https://x.example"}, "S3_BUCKET: must be set"),
        ({"S3_PREFIX": "house"}, "S3_BUCKET: must be set"),
        ({**BUCKET, "S3_BUCKET": "My House"}, "S3_BUCKET: "),
        ({**BUCKET, "S3_BUCKET": "house/photos"}, "S3_BUCKET: "),
        ({**BUCKET, "S3_ENDPOINT_URL": "minio:9000"}, "S3_ENDPOINT_URL: must start with http"),
        ({**BUCKET, "S3_REGION": "Paris!"}, "S3_REGION: "),
        ({**BUCKET, "S3_PREFIX": "a/../b"}, "S3_PREFIX: "),
        ({**BUCKET, "S3_PREFIX": "año"}, "S3_PREFIX: "),
        ({**BUCKET, "S3_ACCESS_KEY_ID": "an id"}, "S3_ACCESS_KEY_ID: "),
    ],
)
def test_a_bucket_comes_with_all_that_it_needs_and_no_secret_is_told(
    variables: dict[str, str], said: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_settings(variables)
    assert said in str(caught.value)
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "prefix"),
    [("", ""), ("house", "house/"), ("/a/house/", "a/house/"), ("a.b_c-1", "a.b_c-1/")],
)
def test_what_stands_before_objects_ends_where_their_own_places_begin(
    given: str, prefix: str
) -> None:
    settings = load_settings({**BUCKET, "S3_PREFIX": given})
    assert (settings.s3_prefix, settings.s3_region) == (prefix, "us-east-1")


def test_addresses_lose_their_last_slash() -> None:
    settings = load_settings({"PUBLIC_URL": "https://comanda.example/"})
    assert settings.base_url == "https://comanda.example"


@pytest.mark.parametrize(
    ("given", "loads"),
    [
        ({}, True),
        ({"HOST": "localhost"}, True),
        ({"HOST": "0.0.0.0"}, False),
        ({"PUBLIC_URL": "https://house.example"}, False),
        ({"HOST": "0.0.0.0", "DEMO": "true"}, True),
        ({"DEMO": "false"}, False),
    ],
)
def test_the_demo_is_loaded_where_only_this_machine_can_sign_in_to_it(
    given: dict[str, str], loads: bool
) -> None:
    assert load_settings(given).loads_demo is loads


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ({}, "http://127.0.0.1:8000"),
        ({"HOST": "0.0.0.0", "PORT": "80"}, "http://127.0.0.1:80"),
        ({"HOST": "::"}, "http://[::1]:8000"),
        ({"HOST": "fd00::7"}, "http://[fd00::7]:8000"),
        ({"HOST": "0.0.0.0", "PUBLIC_URL": "https://house.example/"}, "https://house.example"),
    ],
)
def test_links_lead_to_an_address_that_can_be_typed(given: dict[str, str], address: str) -> None:
    assert load_settings(given).base_url == address


def test_settings_cannot_be_changed_once_read() -> None:
    with pytest.raises(ValidationError):
        load_settings({}).port = 1  # type: ignore[misc]


def test_a_misspelt_field_is_refused() -> None:
    with pytest.raises(ValidationError):
        Settings(prot=8000)  # type: ignore[call-arg]


# Every field, set to something other than its default.
OTHERS: dict[str, object] = {
    "comanda_data": Path("/srv/comanda"),
    "host": "192.0.2.7",
    "port": 9001,
    "public_url": "https://comanda.example",
    "allowed_hosts": ("comanda.example", "10.0.0.7", "fe80::1"),
    "web_workers": 3,
    "log_level": "debug",
    "demo": False,
    "database_url": "postgresql+psycopg://app:geheim@db/comanda",
    "migration_database_url": "postgresql+psycopg://owner:geheim@db/comanda",
    "redis_url": "redis://redis/1",
    "database_pool_size": 7,
    "statement_timeout_seconds": 14.5,
    "s3_bucket": "uploads",
    "s3_endpoint_url": "https://s3.example",
    "s3_access_key_id": "AKIA",
    "s3_secret_access_key": "hush, hush",
    "s3_region": "mx-central-1",
    "s3_prefix": "comanda/files/",
    "secret_key": "s" * 40,
    "secure_cookies": True,
    "trusted_proxies": 2,
    "session_days": 7,
    "metrics_token": "m" * 20,
    "smtp_host": "mail.example",
    "smtp_port": 25,
    "smtp_user": "comanda",
    "smtp_password": "hush",
    "smtp_tls": False,
    "mail_from": "comanda@mail.example",
    "ai_provider": "openai",
    "openai_api_key": "sk-hush",
    "openai_base_url": "https://model.example/v1",
    "ai_chat_model": "one",
    "ai_vision_model": "two",
    "ai_resolution_model": "three",
    "ai_tool_mode": "json",
    "ai_fallback": False,
    "ai_connect_timeout_seconds": 6.5,
    "ai_first_token_timeout_seconds": 21.5,
    "ai_turn_timeout_seconds": 91.5,
    "daily_message_limit": 0,
    "monthly_message_limit": 0,
    "ai_price_input": Decimal("0.25"),
    "ai_price_output": Decimal("2.00"),
    "prompt_budget_tokens": 1600,
    "expenses_confirm": "vague",
    "embedding_model": "other",
    "embedding_dimensions": 512,
    "stream_heartbeat_seconds": 11.5,
    "streams_per_person": 41,
    "connections_per_address": 501,
    "request_timeout_seconds": 16.5,
    "runner_concurrency": 101,
    "turns_per_person": 3,
    "turn_lease_seconds": 4.5,
    "runner_drain_seconds": 0,
}


def test_programs_are_started_with_the_defaults_where_nothing_is_set() -> None:
    settings = Settings(comanda_data=Path("/srv/comanda"))
    assert load_settings(environment_of(settings)) == settings


def test_programs_are_started_with_every_setting_as_it_is_set() -> None:
    defaults = Settings()
    assert set(OTHERS) == set(Settings.model_fields)
    assert all(getattr(defaults, field) != value for field, value in OTHERS.items())
    settings = Settings.model_validate(OTHERS)
    assert load_settings(environment_of(settings)) == settings
