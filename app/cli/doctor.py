"""`flask doctor`: what is configured, what is reachable, and what to fix."""

from __future__ import annotations

import smtplib
import sys

import click
from flask.cli import with_appcontext
from redis.exceptions import RedisError
from sqlalchemy import text

from app.assistant.providers.choice import make_provider
from app.config import EVERYWHERE, Settings
from app.db import owner_database
from app.demo import find_demo, open_accounts
from app.errors import NotLearned
from app.extensions import Services, services
from app.nlu.model import load_model
from app.notifications.mail_connection import connect
from app.observability.health import (
    Finding,
    check_database,
    check_files,
    check_model,
    check_readiness,
    check_redis,
    check_schema,
)
from app.observability.presence import Presence

SMTP_SECONDS = 5
# Of a few hundred pages that read nothing, far less than the memory that Redis is given.
MOST_WAITING_BYTES = 2 * 1024 * 1024


@click.command("doctor")
@with_appcontext
def run_doctor() -> None:
    """Look at every setting and service; ends with 1 when something needs a hand."""
    findings = examine(services())
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        mark = "ok  " if finding.ok else "FIX "
        click.echo(f"{mark} {finding.name:<{width}}  {finding.detail}")
        if finding.fix and not finding.ok:
            click.echo(f"     {'':<{width}}  {finding.fix}")
    if not all(finding.ok for finding in findings):
        sys.exit(1)


def examine(on: Services) -> list[Finding]:
    """Everything that can be looked at, in the order things depend on each other."""
    findings = [_addresses(on), check_database(on), check_redis(on)]
    findings += [_listeners(on)] if findings[2].ok else []
    if findings[1].ok:
        findings += [check_schema(on), _vectors(on)]
        # The people and the turns can be looked up only where their tables are.
        findings += [_demo(on), *_processes(on)] if findings[3].ok else []
    findings += [check_files(on), _model(on), _learned()]
    return [*findings, _embedding(on), _mail(on), _cookies(on)]


def _processes(on: Services) -> list[Finding]:
    """What /readyz says of the runners and the jobs; the model is looked at more closely."""
    looked_at = ("database", "redis", "model")
    found = {finding.name: finding for finding in check_readiness(on)}
    return [finding for name, finding in found.items() if name not in looked_at]


def _listeners(on: Services) -> Finding:
    """Whether Redis cuts off listeners that do not read; they could fill its memory."""
    try:
        limits = on.redis.config_get("client-output-buffer-limit")
        said = str(next(iter(limits.values()), "")).split()
        hard, soft = (int(each) for each in said[said.index("pubsub") + 1 :][:2])
    except (RedisError, ValueError) as error:
        # A hosted Redis may tell nobody how it is set.
        return Finding("listeners", True, f"it is not told what waits for them: {error}")
    fix = "Set Redis's client-output-buffer-limit to: pubsub 1mb 128kb 5"
    is_bounded = 0 < hard <= MOST_WAITING_BYTES and soft > 0
    return Finding("listeners", is_bounded, f"at most {hard} bytes wait for one", fix)


def _addresses(on: Services) -> Finding:
    """Where people reach Comanda; a server that runs may have been told otherwise."""
    address, data = on.settings.base_url, on.settings.comanda_data
    return Finding(
        "address",
        bool(on.settings.public_url) or on.settings.host not in EVERYWHERE,
        f"{address}, as the settings of this shell say; data in {data}",
        "Links in invitations lead to this machine only; set PUBLIC_URL.",
    )


def _vectors(on: Services) -> Finding:
    with on.database.engine.connect() as connection:
        version = connection.execute(
            text("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
        ).scalar()
    if version is None:
        return Finding("pgvector", False, "missing", "As a superuser: CREATE EXTENSION vector;")
    return Finding("pgvector", True, version)


def _demo(on: Services) -> Finding:
    """Accounts whose password is in the documentation, in an installation that is not a demo."""
    if on.settings.loads_demo:
        return Finding("demo", True, "loaded at each start, with the sign-ins that are printed")
    owner = owner_database(on.settings)
    with owner.transaction() as session:
        found, still_open = find_demo(session), open_accounts(session)
    owner.engine.dispose()
    if found:
        what = ", ".join([*found.houses, *found.people])
        return Finding("demo", False, f"still here: {what}", "Run `flask seed --remove`.")
    if still_open:
        fixes = " and ".join(f"`flask users password {email}`" for email in sorted(still_open))
        detail = "the published password still lets in " + ", ".join(sorted(still_open))
        return Finding("demo", False, detail, f"Run {fixes}.")
    return Finding("demo", True, "none of it is here")


def _model(on: Services) -> Finding:
    provider = make_provider(on.settings, on.embedder)
    if provider.name == "builtin":
        detail = "the built-in assistant; set OPENAI_API_KEY or OPENAI_BASE_URL for a model"
        return Finding("model", True, detail)
    problem = provider.check()
    if problem:
        return Finding("model", False, problem, "Check OPENAI_BASE_URL, the key and the model.")
    left_alone = _left_alone(on)
    if left_alone and not left_alone.ok:
        return left_alone
    return Finding("model", True, f"{provider.model} answers")


def _learned() -> Finding:
    """What messages are for was learned from sentences, which may have changed since."""
    try:
        load_model()
    except NotLearned as error:
        return Finding("learned", False, error.problem, error.FIX)
    return Finding("learned", True, "from the sentences that are there")


def _left_alone(on: Services) -> Finding | None:
    """How the runners find the model; None while they cannot be asked."""
    try:
        return check_model(on, Presence(on.redis).runners())
    except RedisError:
        return None


def _embedding(on: Services) -> Finding:
    from app.retrieval.query_cache import EmbeddingUnavailable

    try:
        size = len(on.embedder.embed(["test embedding"])[0])
    except EmbeddingUnavailable as error:
        return Finding("embeddings", False, str(error), "Searches use words only until then.")
    wanted = on.settings.embedding_dimensions
    fix = f"Set EMBEDDING_DIMENSIONS to {size} and run `flask embeddings backfill`."
    return Finding("embeddings", size == wanted, f"{on.embedder.model}, {size} numbers", fix)


def _mail(on: Services) -> Finding:
    host, port = on.settings.smtp_host, on.settings.smtp_port
    if host is None:
        return Finding("mail", True, "written to the log, as SMTP_HOST is not set")
    try:
        _greet_mail_server(on.settings, host)
    except (OSError, UnicodeError) as error:
        fix = "Check SMTP_HOST, SMTP_PORT and SMTP_TLS, and SMTP_USER with SMTP_PASSWORD."
        return Finding("mail", False, f"{host}:{port}: {_reason(error)}", fix)
    return Finding("mail", True, f"{host}:{port} answers")


def _greet_mail_server(settings: Settings, host: str) -> None:
    """Go as far as a message would, and send none.

    Raises:
        OSError: smtplib's own errors are among them.
        UnicodeError: the host, user or password has letters that the protocol cannot carry.
    """
    with connect(settings, host, SMTP_SECONDS):
        pass


def _reason(error: OSError | UnicodeError) -> str:
    """Why there is no mail, in words; never with a password in them."""
    if isinstance(error, smtplib.SMTPResponseException):
        said = error.smtp_error
        words = said.decode(errors="replace") if isinstance(said, bytes) else said
        return " ".join(f"{error.smtp_code} {words}".split())
    # Within a conversation, smtplib takes a silence for the end of the connection.
    if isinstance(error, TimeoutError) or isinstance(error.__context__, TimeoutError):
        return f"no answer within {SMTP_SECONDS} seconds"
    if isinstance(error, UnicodeError):
        return "SMTP_HOST, SMTP_USER or SMTP_PASSWORD has letters that mail cannot carry"
    return error.strerror or str(error) or type(error).__name__


def _cookies(on: Services) -> Finding:
    """Cookies must be secure as soon as Comanda is served over HTTPS."""
    https = on.settings.base_url.startswith("https://")
    ok = on.settings.secure_cookies or not https
    return Finding(
        "cookies",
        ok,
        "secure" if on.settings.secure_cookies else "plain HTTP",
        "Set SECURE_COOKIES=true.",
    )
