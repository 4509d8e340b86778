"""Background jobs: what must happen, but not while somebody waits for a page.

They are asked for with `app.jobs.queue.defer`. The worker is an asyncio process of its own; its
tasks push blocking work into threads. Those of the skills stand in their declarations.

Start it with `python -m app.jobs`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any
from uuid import UUID

import procrastinate
import psycopg
import redis
import structlog
from flask import Flask
from procrastinate import JobContext, PsycopgConnector, RetryStrategy
from sqlalchemy import make_url, text

from app.assistant import init_assistant
from app.assistant.threads.deletion import forget_deleted_chats
from app.assistant.threads.export_jobs import export_chats, forget_chat_export
from app.assistant.tools.registry import Registry, TaskFunction
from app.assistant.turns.outcome import forget_old_facts
from app.config import Settings, load_settings
from app.db import Database, Scope, app_database
from app.embedded import resolve
from app.files.clean_up import clean_up_files
from app.files.storage import Storage, make_storage
from app.jobs.queue import DEFAULT, VECTORS
from app.notifications.mail import NOTIFY_CHANNEL
from app.notifications.mail_delivery import forget_old_mail, send_waiting_mail
from app.observability.logs import init_logs
from app.retrieval.embedder import make_embedder
from app.retrieval.index import embed_missing
from app.skills import SKILLS

EMBED_BATCH = 200
HEARTBEAT_SECONDS = 2.0
STALLED_SECONDS = 6.0
# A group has two at most: its imports take turns, and its people's exports.
CONCURRENCY = 6
# Those of all groups wait for one server, which may take its time or never answer.
VECTORS_CONCURRENCY = 3
# What looks after the product itself waits for nobody's imports.
UPKEEP, UPKEEP_CONCURRENCY = "upkeep", 2
# Letters wait for a server that may take its time, and nothing else waits for them.
MAIL, MAIL_CONCURRENCY = "mail", 2
# A job tells how far it is beside the transaction in which it works.
CONNECTIONS = 2 * (CONCURRENCY + VECTORS_CONCURRENCY + UPKEEP_CONCURRENCY + MAIL_CONCURRENCY)
NAMESPACE = "comanda"
MAX_RETRIES = 5
RETRY = RetryStrategy(max_attempts=MAX_RETRIES, exponential_wait=2)

log = structlog.get_logger()
tasks = procrastinate.Blueprint()


@cache
def _database() -> Database:
    return app_database(_settings(), pool_size=CONNECTIONS)


@cache
def _settings() -> Settings:
    return resolve(load_settings())


@cache
def _files() -> Storage:
    return make_storage(_settings())


@cache
def _pages() -> Flask:
    """An app that knows the pages and nothing else: files that are written here link to them."""
    app = Flask("comanda")
    init_assistant(app)
    for skill in SKILLS:
        for blueprint in skill.blueprints:
            app.register_blueprint(blueprint)
    return app


@tasks.task(name="embed_missing", retry=RETRY)
async def embed_group(*, group_id: str) -> None:
    """Give the group's new and changed documents their vectors."""
    await asyncio.to_thread(_embed_group, UUID(group_id))


def _embed_group(group_id: UUID) -> None:
    settings = _settings()
    embedder = make_embedder(settings, redis.Redis.from_url(settings.redis_url or ""))
    with _database().session(Scope(group_id)) as session:
        report = embed_missing(session, embedder, group_id=group_id, batch_size=EMBED_BATCH)
    log.info("embedded", group=str(group_id), report=str(report))


@tasks.periodic(cron="* * * * * */20")
@tasks.task(name="send_mail", queue=MAIL, queueing_lock="send_mail")
async def send_mail(timestamp: int = 0) -> None:
    """Send what waits to be sent."""
    sent = await asyncio.to_thread(send_waiting_mail, _database(), _settings())
    if sent:
        log.info("mail sent", count=sent)


@tasks.periodic(cron="17 * * * *")
@tasks.task(name="forget_expired", queue=UPKEEP, queueing_lock="forget_expired")
async def forget_expired(timestamp: int = 0) -> None:
    """Remove sign-ins and resets that are over, old mail and facts of turns, what was deleted."""

    def forget() -> None:
        with _database().transaction() as session:
            session.execute(text("SELECT forget_expired_sign_ins()"))
        forget_old_mail(_database())
        forget_old_facts(_database())
        forget_deleted_chats(_database())
        with _database().transaction() as session:
            session.execute(text("SELECT forget_discarded_forms()"))

    await asyncio.to_thread(forget)


@tasks.periodic(cron="37 * * * *")
@tasks.task(name="clean_up_files", queue=UPKEEP, queueing_lock="clean_up_files")
async def clean_up(timestamp: int = 0) -> None:
    """Remove files that were uploaded and never sent, and bytes that belong to no file."""
    done = await asyncio.to_thread(clean_up_files, _database(), _files())
    if any(done):
        log.info("files cleaned up", removed=done.files, orphans=done.orphans)


@tasks.periodic(cron="* * * * * */5")
@tasks.task(name="retry_stalled", queue=UPKEEP, queueing_lock="retry_stalled", pass_context=True)
async def retry_stalled(context: JobContext, timestamp: int = 0) -> None:
    """Queue again the jobs of workers that died in the middle of them."""
    manager = context.app.job_manager
    stalled = await manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_SECONDS)
    for job in stalled:
        await manager.retry_job(job)


@tasks.task(name="export_chats", retry=RETRY, pass_context=True)
async def export_all_chats(context: JobContext, /, **arguments: Any) -> None:
    """Write all chats of a person into a file."""
    is_last_try = context.job.attempts >= MAX_RETRIES

    def export() -> None:
        # Links in the file get their site from its letterhead; this context's is never seen.
        with _pages().test_request_context("/"):
            export_chats(_database(), _files(), is_last_try=is_last_try, **arguments)

    await asyncio.to_thread(export)


@tasks.task(name="forget_chat_export", retry=RETRY)
async def forget_exported_chats(**arguments: Any) -> None:
    """Let go of that file when its day is over."""
    await asyncio.to_thread(forget_chat_export, _database(), _files(), **arguments)


def _in_a_thread(run: TaskFunction) -> Callable[..., Awaitable[None]]:
    """A skill's task as the worker wants it: it may block, and gets the database first.

    When its last try fails, nobody will be told but by the task itself.
    """

    async def task(context: JobContext, **arguments: Any) -> None:
        is_last_try = context.job.attempts >= MAX_RETRIES
        await asyncio.to_thread(run, _database(), is_last_try=is_last_try, **arguments)

    return task


def skill_tasks(registry: Registry) -> procrastinate.Blueprint:
    """What the skills want done in the background, under the names they gave it."""
    theirs = procrastinate.Blueprint()
    for name, run in registry.tasks.items():
        if name in tasks.tasks:
            raise RuntimeError(f"a skill registers the task {name!r} of Comanda itself")
        theirs.task(name=name, retry=RETRY, pass_context=True)(_in_a_thread(run))
    return theirs


async def _mail_at_once(address: str) -> None:
    """Send mail as soon as somebody queues it; the periodic job is the net under this."""
    while True:
        try:
            connection = await psycopg.AsyncConnection.connect(address, autocommit=True)
            async with connection:
                await connection.execute(f"LISTEN {NOTIFY_CHANNEL}")
                async for _notice in connection.notifies():
                    await asyncio.to_thread(send_waiting_mail, _database(), _settings())
        except Exception as error:  # noqa: BLE001 - nobody else would send mail at once again
            log.error("cannot listen for mail", error=type(error).__name__)
            await asyncio.sleep(5)


async def work(settings: Settings) -> None:
    """Work until told to stop."""
    url = make_url(settings.database_url or "").set(drivername="postgresql")
    address = url.render_as_string(hide_password=False)
    connector = PsycopgConnector(conninfo=address, max_size=10)
    app = procrastinate.App(connector=connector)
    app.add_tasks_from(tasks, namespace=NAMESPACE)
    app.add_tasks_from(skill_tasks(Registry(SKILLS)), namespace=NAMESPACE)
    async with app.open_async():
        log.info("jobs ready")
        running = [
            asyncio.create_task(_run_worker(app, [DEFAULT], CONCURRENCY, is_told_to_stop=True)),
            asyncio.create_task(_run_worker(app, [VECTORS], VECTORS_CONCURRENCY)),
            asyncio.create_task(_run_worker(app, [UPKEEP], UPKEEP_CONCURRENCY)),
            asyncio.create_task(_run_worker(app, [MAIL], MAIL_CONCURRENCY)),
            asyncio.create_task(_mail_at_once(address)),
        ]
        # Without one of them the process is no use: whoever started it starts it anew.
        done, others = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        for each in others:
            each.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        for each in done:
            each.result()


async def _run_worker(
    app: procrastinate.App, queues: list[str], concurrency: int, *, is_told_to_stop: bool = False
) -> None:
    """Do the jobs of these queues, until cancelled or told to stop by the system."""
    await app.run_worker_async(
        queues=queues,
        concurrency=concurrency,
        update_heartbeat_interval=HEARTBEAT_SECONDS,
        stalled_worker_timeout=STALLED_SECONDS,
        delete_jobs="successful",
        shutdown_graceful_timeout=5,
        install_signal_handlers=is_told_to_stop,
    )


def main() -> None:
    init_logs(_settings())
    asyncio.run(work(_settings()))
