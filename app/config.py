"""Every setting of Comanda, read from the environment once.

`load_settings()` returns one frozen `Settings`. A wrong value stops the start
with the name of the setting and what it should have been.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    EmailStr,
    Field,
    ValidationError,
    model_validator,
)

from app.errors import ConfigurationError

LANGUAGES = ("en", "es")


def _postgres_url(value: str) -> str:
    """Accept the spellings people paste and return the one SQLAlchemy wants."""
    scheme = urlsplit(value).scheme
    if scheme not in ("postgres", "postgresql", "postgresql+psycopg"):
        raise ValueError("must start with postgresql://")
    return "postgresql+psycopg" + value[len(scheme) :]


def _redis_url(value: str) -> str:
    if urlsplit(value).scheme not in ("redis", "rediss", "unix"):
        raise ValueError("must start with redis://, rediss:// or unix://")
    return value


def _http_url(value: str) -> str:
    if urlsplit(value).scheme not in ("http", "https"):
        raise ValueError("must start with http:// or https://")
    return value.rstrip("/")


def _s3_prefix(value: str) -> str:
    return value.strip("/") + "/" if value else ""


def _host_names(value: object) -> object:
    return [name.strip() for name in value.split(",")] if isinstance(value, str) else value


PostgresUrl = Annotated[str, AfterValidator(_postgres_url)]
RedisUrl = Annotated[str, AfterValidator(_redis_url)]
HttpUrl = Annotated[str, AfterValidator(_http_url)]
# Names without ports, as people type them, with commas between them.
HostName = Annotated[str, Field(pattern=r"^[A-Za-z0-9.:_-]+$")]
HostNames = Annotated[tuple[HostName, ...], BeforeValidator(_host_names)]
# What needs no escaping in an address, and leads nowhere else.
_STEP = "[A-Za-z0-9_-][A-Za-z0-9_.-]*"
S3Prefix = Annotated[str, Field(pattern=f"^(/*{_STEP}(/{_STEP})*/*)?$"), AfterValidator(_s3_prefix)]


# Addresses to listen on that nobody can type into a browser, and one that answers for them.
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104
LOOPBACK = ("127.0.0.1", "::1", "localhost")


class Settings(BaseModel):
    """All settings; each field's name in capitals is its environment variable."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # Where things are kept and where the web server listens.
    comanda_data: Path = Path("var")
    host: str = "127.0.0.1"
    port: int = Field(8000, ge=1, le=65535)
    public_url: HttpUrl | None = None
    # Other names that people reach the server by; those that are unknown are refused where
    # PUBLIC_URL is set (app.web.hosts).
    allowed_hosts: HostNames = ()
    web_workers: int = Field(2, ge=1, le=64)
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    # The demo's passwords are known to everybody: unset, it is loaded where only this
    # machine can reach the server.
    demo: bool | None = None

    # Services. Unset means the embedded one.
    database_url: PostgresUrl | None = None
    migration_database_url: PostgresUrl | None = None
    redis_url: RedisUrl | None = None
    # Few: with as many at work as there are cores, each is done sooner than all at once.
    database_pool_size: int = Field(6, ge=1, le=200)
    # How long a statement of a web process may take; jobs, runners and migrations are not bound.
    statement_timeout_seconds: float = Field(15, ge=1, le=600)

    # Where uploads are kept: a bucket of an S3-compatible storage, else the data folder.
    s3_bucket: str | None = Field(None, pattern=r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$")
    s3_endpoint_url: HttpUrl | None = None
    s3_access_key_id: str | None = Field(None, pattern=r"^[!-~]+$")
    s3_secret_access_key: str | None = None
    s3_region: str = Field("us-east-1", pattern=r"^[a-z0-9-]+$")
    s3_prefix: S3Prefix = ""

    # Security. The key is generated and kept in the data folder when unset.
    secret_key: str | None = Field(None, min_length=32)
    secure_cookies: bool = False
    trusted_proxies: int = Field(0, ge=0, le=5)
    session_days: int = Field(30, ge=1, le=365)

    # Whoever sends this as a bearer token may read /metrics; without one nobody may.
    metrics_token: str | None = Field(None, min_length=16)

    # Mail. Without a server, messages are written to the log.
    smtp_host: str | None = None
    smtp_port: int = Field(587, ge=1, le=65535)
    smtp_user: str | None = None
    smtp_password: str | None = None
    smtp_tls: bool = True
    mail_from: EmailStr = "comanda@example.com"

    # The language model.
    ai_provider: Literal["openai", "builtin"] | None = None
    openai_api_key: str | None = None
    openai_base_url: HttpUrl | None = None
    ai_chat_model: str = "gpt-5-mini"
    # The model that reads photos of receipts; unset, nobody reads them.
    ai_vision_model: str | None = None
    # The model that proposes solutions to service requests; unset, the one that chats.
    ai_resolution_model: str | None = None
    # How tools are asked for: the API's own calls, or JSON for models without them.
    ai_tool_mode: Literal["native", "json"] = "native"
    # Whether the built-in assistant takes the turns that the model cannot answer.
    ai_fallback: bool = True
    ai_connect_timeout_seconds: float = Field(5, gt=0, le=60)
    ai_first_token_timeout_seconds: float = Field(20, gt=0, le=300)
    ai_turn_timeout_seconds: float = Field(90, gt=0, le=900)

    # Messages a person may send a day, and a group a month; 0 is no limit. A group may have
    # limits of its own, which an admin sets.
    daily_message_limit: int = Field(500, ge=0, le=1_000_000_000)
    monthly_message_limit: int = Field(50_000, ge=0, le=1_000_000_000)
    # US dollars for a million tokens, for the estimate on the usage page.
    ai_price_input: Decimal | None = Field(None, ge=0, le=100_000)
    ai_price_output: Decimal | None = Field(None, ge=0, le=100_000)
    # About how many tokens the system prompt may have before its editor warns of it.
    prompt_budget_tokens: int = Field(1500, ge=1, le=1_000_000)

    # Whether adding an expense always waits for its person's word, or only where something
    # was left to guess.
    expenses_confirm: Literal["always", "vague"] = "always"

    # Embeddings: the model that ships inside the package, or an API's.
    embedding_model: str = "wordllama-256"
    embedding_dimensions: int = Field(256, ge=8, le=4000)

    # How often an open stream is looked after: who has gone is noticed, who is there hears.
    stream_heartbeat_seconds: float = Field(10, ge=0.2, le=60)

    # How many streams, one for each open page, a web process serves to one person.
    streams_per_person: int = Field(40, ge=1, le=4000)

    # How many connections of one address a web process keeps, where no proxy stands before it.
    connections_per_address: int = Field(500, ge=10, le=4000)

    # How long the body of a request may keep a web process waiting (app.web.request_body).
    request_timeout_seconds: float = Field(15, ge=0.5, le=300)

    # Turns run in runner processes; a lease that is not renewed is lost.
    runner_concurrency: int = Field(100, ge=1, le=1000)
    # How many of one person run at once; the others wait for these.
    turns_per_person: int = Field(2, ge=1, le=1000)
    turn_lease_seconds: float = Field(3, ge=0.5, le=60)
    # How long a runner that is told to end goes on with what it has begun.
    runner_drain_seconds: float = Field(10, ge=0, le=300)

    @model_validator(mode="after")
    def _settings_agree(self) -> Settings:
        if self.database_url and not self.migration_database_url:
            raise ValueError("MIGRATION_DATABASE_URL: must be set together with DATABASE_URL")
        if self.migration_database_url and not self.database_url:
            raise ValueError("DATABASE_URL: must be set together with MIGRATION_DATABASE_URL")
        if self.ai_provider == "openai" and not (self.openai_api_key or self.openai_base_url):
            raise ValueError("AI_PROVIDER: openai needs OPENAI_API_KEY or OPENAI_BASE_URL")
        return self

    @model_validator(mode="after")
    def _bucket_and_keys_agree(self) -> Settings:
        """Files must not end up on one host's disk because a setting was forgotten."""
        keys = self.s3_access_key_id, self.s3_secret_access_key
        if self.s3_bucket and not all(keys):
            raise ValueError("S3_BUCKET: needs S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY")
        if not self.s3_bucket and (any(keys) or self.s3_endpoint_url or self.s3_prefix):
            raise ValueError("S3_BUCKET: must be set where other settings of S3 are")
        return self

    @property
    def provider(self) -> Literal["openai", "builtin"]:
        """The provider that answers first: what was asked for, else what is configured."""
        if self.ai_provider:
            return self.ai_provider
        return "openai" if self.openai_api_key or self.openai_base_url else "builtin"

    @property
    def loads_demo(self) -> bool:
        """Whether to load the demo restaurant: as was asked for, else for this machine alone."""
        if self.demo is not None:
            return self.demo
        return self.host in LOOPBACK and self.public_url is None

    @property
    def base_url(self) -> str:
        """The address people reach this server by, without a trailing slash."""
        host = EVERYWHERE.get(self.host, self.host)
        host = f"[{host}]" if ":" in host else host
        return self.public_url or f"http://{host}:{self.port}"


def load_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Read every setting from `environ` (the process environment by default).

    Raises:
        ConfigurationError: names each wrong setting and what it should be.
    """
    source = os.environ if environ is None else environ
    names = {name.upper(): name for name in Settings.model_fields}
    values = {
        field: source[variable].strip()
        for variable, field in names.items()
        if source.get(variable, "").strip()
    }
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise ConfigurationError(_explain(error)) from None


def _explain(error: ValidationError) -> str:
    """Turn a validation error into one line per wrong setting, without its value."""
    lines = []
    for problem in error.errors():
        message = problem["msg"].removeprefix("Value error, ")
        name = str(problem["loc"][0]).upper() + ": " if problem["loc"] else ""
        lines.append(f"{name}{message}")
    return "Wrong settings:\n  " + "\n  ".join(lines)
