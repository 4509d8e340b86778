"""Putting the app together: configuration, then extensions, then the core, then skills."""

from __future__ import annotations

import re
from datetime import timedelta
from gettext import NullTranslations
from pathlib import Path
from typing import Any

import click
from flask import Flask, g
from flask.cli import AppGroup
from flask_babel import get_domain, get_locale
from jinja2 import pass_eval_context
from jinja2.nodes import EvalContext
from markupsafe import Markup
from redis.backoff import NoBackoff
from redis.retry import Retry

from app import redis_client
from app.accounts import init_accounts
from app.accounts.concurrency_limit import init_lanes
from app.admin import init_admin
from app.assistant import init_assistant
from app.assistant.tools.registry import Registry, Skill
from app.config import LANGUAGES, Settings, load_settings
from app.db import app_database
from app.embedded import resolve
from app.extensions import Services, babel, cookie_name, csrf, htmx, limiter
from app.files import init_files
from app.files.examination_queue import ExaminationQueue
from app.files.storage import make_storage, spool_folder
from app.notifications import init_notifications
from app.observability.health import init_health
from app.observability.logs import init_logs
from app.observability.metrics_page import init_metrics_page
from app.observability.request_log import init_request_log
from app.retrieval.embedder import make_embedder
from app.skills import SKILLS
from app.web.hosts import init_hosts
from app.web.pages import choose_language, choose_zone, init_bodies, init_web
from app.web.request_body import (
    LARGEST_BODY,
    LONGEST_FIELD,
    MOST_PARTS,
    BoundedJSONProvider,
    limit_waiting,
)
from app.web.static_files import init_static

ROOT = Path(__file__).resolve().parent.parent


class Commands(AppGroup):
    """The `flask` command's, imported when one of them is wanted.

    A web server, a runner and the jobs run none, and what commands alone import (the demo,
    migrations, the skeleton of a skill) would cost each of them memory and time to start.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        self._mount()
        return super().list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        self._mount()
        return super().get_command(ctx, cmd_name)

    def _mount(self) -> None:
        from app.cli import mount

        mount(self)


def build_app(settings: Settings | None = None, skills: tuple[Skill, ...] = SKILLS) -> Flask:
    """Make the app: configuration, then extensions, then the core, then the skills.

    Raises:
        ConfigurationError: a setting is wrong, or a service it names cannot be used.
    """
    settings = resolve(settings or load_settings())
    app = Flask(
        "comanda",
        root_path=str(ROOT),
        template_folder=str(ROOT / "templates"),
        static_folder=str(ROOT / "static"),
    )
    app.cli = Commands(app.name)
    _configure(app, settings)
    init_logs(settings)
    init_request_log(app)
    connection = redis_client.connect(settings.redis_url or "")
    app.extensions["comanda"] = Services(
        settings=settings,
        database=app_database(settings, statement_seconds=settings.statement_timeout_seconds),
        redis=connection,
        embedder=make_embedder(settings, connection),
        registry=Registry(skills),
        files=make_storage(settings),
        examinations=ExaminationQueue(connection),
    )
    init_lanes(app)
    init_hosts(app)
    init_bodies(app)
    _bind_extensions(app)
    init_static(app)
    init_web(app)
    init_health(app)
    init_metrics_page(app)
    init_accounts(app)
    init_files(app)
    init_notifications(app)
    init_assistant(app)
    init_admin(app)
    for skill in skills:
        for blueprint in skill.blueprints:
            app.register_blueprint(blueprint)
    return app


def _configure(app: Flask, settings: Settings) -> None:
    app.config.update(
        SECRET_KEY=settings.secret_key,
        SESSION_COOKIE_NAME=cookie_name("comanda", settings),
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=settings.secure_cookies,
        PERMANENT_SESSION_LIFETIME=timedelta(days=settings.session_days),
        MAX_CONTENT_LENGTH=LARGEST_BODY,
        MAX_FORM_MEMORY_SIZE=LONGEST_FIELD,
        MAX_FORM_PARTS=MOST_PARTS,
        SPOOL_FOLDER=spool_folder(settings),
        # An idle kitchen phone must not meet an expired form.
        WTF_CSRF_TIME_LIMIT=None,
        WTF_CSRF_SSL_STRICT=False,
        # The limiter's library has a name of its own for Redis on a socket.
        RATELIMIT_STORAGE_URI=re.sub("^unix:", "redis+unix:", settings.redis_url or ""),
        RATELIMIT_STORAGE_OPTIONS={
            "socket_timeout": 1,
            "socket_connect_timeout": 1,
            "retry": Retry(NoBackoff(), 0),
        },
        # "60 a minute" are 60 in any minute, not 60 on either side of one that ends.
        RATELIMIT_STRATEGY="moving-window",
        RATELIMIT_SWALLOW_ERRORS=True,
        # While Redis is away, or takes nothing, each process counts for itself.
        RATELIMIT_IN_MEMORY_FALLBACK_ENABLED=True,
        BABEL_DEFAULT_LOCALE=LANGUAGES[0],
        BABEL_TRANSLATION_DIRECTORIES=str(ROOT / "app" / "translations"),
        # What is asked for without a version is asked for each time (and answered with 304).
        SEND_FILE_MAX_AGE_DEFAULT=None,
    )
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.json = BoundedJSONProvider(app)
    app.wsgi_app = limit_waiting(  # type: ignore[assignment, method-assign]
        app.wsgi_app, settings.request_timeout_seconds
    )
    if settings.trusted_proxies:
        from werkzeug.middleware.proxy_fix import ProxyFix

        hops = settings.trusted_proxies
        app.wsgi_app = ProxyFix(  # type: ignore[method-assign]
            app.wsgi_app, x_for=hops, x_proto=hops, x_host=hops
        )


def _bind_extensions(app: Flask) -> None:
    csrf.init_app(app)
    htmx.init_app(app)
    limiter.init_app(app)
    babel.init_app(app, locale_selector=choose_language, timezone_selector=choose_zone)
    app.jinja_env.install_gettext_callables(  # type: ignore[attr-defined]
        gettext=lambda message: _catalog().gettext(message),
        ngettext=lambda one, many, number: _catalog().ngettext(one, many, number),
        newstyle=True,
    )
    app.jinja_env.globals["_"] = _translate


@pass_eval_context
def _translate(where: EvalContext, message: str, /, **values: Any) -> str:
    """What Jinja's own `_` does, in one call instead of five: a page has hundreds of them."""
    text = _catalog().gettext(message)
    return (Markup(text) if where.autoescape else text) % values  # noqa: S704 - our own texts


def _catalog() -> NullTranslations:
    """The translations of this request, which babel would look up for each of 200 texts."""
    locale = get_locale()
    known, catalog = g.get("catalog", (None, None))
    if catalog is None or known is not locale:
        catalog = get_domain().get_translations()
        g.catalog = (locale, catalog)
    kept: NullTranslations = catalog
    return kept
