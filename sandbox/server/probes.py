"""The probes of operators and their programs: does the process answer, is it ready, what has it measured?

They are answered before Django and before all limits. So a busy process is not taken for a dead one, and a probe may
name any host.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from django.conf import settings
from django.db import connection

from sandbox.pool import engines
from sandbox.runtime.threads import in_thread
from sandbox.storage.records import QUEUE_RULES, START, Plan
from sandbox.words.say import say
from sandbox.worker import jobs
from sandbox.worker.messages import Call

HEALTH, READY, METRICS = PATHS = ("/healthz", "/readyz", "/metrics")
CHECK_SECONDS = 5.0
"""How long a part may take to answer."""
FRESH_SECONDS = 1.0
"""For this long an answer counts for everybody, so that strangers cannot make the parts busy with probes."""
CHANNEL_LAYER = say("probes.channel-layer")
"""The part without which the site is ready nevertheless."""
THREADS = ThreadPoolExecutor(2, thread_name_prefix="probes")
TEXT, PROMETHEUS = "text/plain; charset=utf-8", "text/plain; version=1.0.0; charset=utf-8"
FORWARDED = frozenset((b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip", b"forwarded", b"via"))
"""Headers of proxies. Whoever reads the metrics must connect directly: a proxy beside the site has its address."""


class Answer(NamedTuple):
    status: int
    text: str
    content_type: str = TEXT


class ServerState(Protocol):
    """What the probes need to know of the server."""

    draining: bool


class Check:
    """One part of the site. Only one question to it runs at a time, also if it never answers."""

    def __init__(self, ask: Callable[[], Awaitable[Any]]) -> None:
        self.ask = ask
        self.task: asyncio.Future[Any] | None = None
        self.begun = 0.0

    async def answers(self) -> bool:
        now = time.monotonic()
        if self.task is None or (self.task.done() and now - self.begun >= FRESH_SECONDS):
            self.task, self.begun = asyncio.ensure_future(self.ask()), now
        await asyncio.wait([self.task], timeout=CHECK_SECONDS)
        return self.task.done() and not self.task.cancelled() and self.task.exception() is None


async def ask_database() -> None:
    def select() -> None:
        with connection.cursor() as cursor:
            # SQLite does not open its file for a statement without a table.
            cursor.execute("SELECT 1 FROM django_migrations LIMIT 1")
            cursor.fetchone()

    await in_thread(THREADS, select)


async def ask_channel_layer() -> None:
    """Ask Redis itself, because the channel layer hides its failures. A layer in memory answers by being here."""
    if settings.REDIS_URL:
        from redis.asyncio import Redis  # A site without Redis does not load its client.

        async with Redis.from_url(
            settings.REDIS_URL, socket_timeout=CHECK_SECONDS, socket_connect_timeout=CHECK_SECONDS
        ) as client:
            await client.ping()


async def ask_engines() -> None:
    """Give a job to each worker of the quick lane, in a sandbox that no visitor has."""

    def ask() -> None:
        for number in range(max(1, settings.ENGINE_PROCESSES)):
            plan = Plan(UUID(int=number), 0, "null", QUEUE_RULES[0], "")
            engines.started().ask(Call(plan, START, jobs.probe.name, ()), CHECK_SECONDS)

    await in_thread(THREADS, ask)


class Probes:
    """Answers the probes, and passes everything else to ``application``.

    ``measure``: returns the metrics as text. ``metrics_from``: networks of the programs that may read them. For all
    others the page does not exist.
    """

    def __init__(
        self,
        application: Any,
        server: ServerState,
        measure: Callable[[], str],
        metrics_from: Sequence[IPv4Network | IPv6Network],
    ) -> None:
        self.application, self.server, self.measure, self.metrics_from = application, server, measure, metrics_from
        self.checks = {
            say("probes.database"): Check(ask_database),
            CHANNEL_LAYER: Check(ask_channel_layer),
            say("probes.engine"): Check(ask_engines),
        }

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        answer = await self.answer(scope) if scope["type"] == "http" and scope["method"] in ("GET", "HEAD") else None
        if answer is None:
            await self.application(scope, receive, send)
            return
        body = answer.text.encode()
        headers = [(b"Content-Type", answer.content_type.encode()), (b"Content-Length", str(len(body)).encode())]
        headers.append((b"Cache-Control", b"no-store"))
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": body if scope["method"] == "GET" else b""})

    async def answer(self, scope: Any) -> Answer | None:
        """Return the answer to a probe, None for everything else."""
        if scope["path"] == HEALTH:
            return Answer(200, say("probes.alive") + "\n")
        if scope["path"] == READY:
            return await self.readiness()
        if scope["path"] == METRICS and self.may_read_metrics(scope):
            return Answer(200, self.measure(), PROMETHEUS)
        return None

    async def readiness(self) -> Answer:
        if self.server.draining:
            return Answer(503, say("probes.stopping") + "\n")
        answered = await asyncio.gather(*(check.answers() for check in self.checks.values()))
        lines = [
            say("probes.answers", part=part) if well else say("probes.does-not-answer", part=part)
            for part, well in zip(self.checks, answered, strict=True)
        ]
        # Without Redis the site still serves. All processes lose it at once: were none ready, nobody would be served.
        ready = all(well for part, well in zip(self.checks, answered, strict=True) if part != CHANNEL_LAYER)
        return Answer(200 if ready else 503, "\n".join(lines) + "\n")

    def may_read_metrics(self, scope: Any) -> bool:
        if any(name in FORWARDED for name, _ in scope["headers"]):
            return False
        try:
            address = ip_address((scope.get("client") or [""])[0])
        except ValueError:
            return False
        if isinstance(address, IPv6Address) and address.ipv4_mapped:
            address = address.ipv4_mapped
        return any(address in network for network in self.metrics_from)
