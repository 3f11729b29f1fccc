"""Watches of kubectl: an answer that goes on, with a line for each change. No thread waits for them."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from io import BytesIO
from typing import Any
from uuid import UUID

from channels.consumer import AsyncConsumer, get_handler_name
from channels.exceptions import StopConsumer
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse
from django.middleware.security import SecurityMiddleware

from sandbox.kube.reading import Request
from sandbox.kube.statuses import failure, no_resource
from sandbox.kube.watches import WATCHED, is_watch
from sandbox.kube.watching import News
from sandbox.limits import ratelimit
from sandbox.pool import engines
from sandbox.runtime.layers import group
from sandbox.runtime.threads import LIVE_LINES, in_thread
from sandbox.web.access import Access, open_access
from sandbox.web.consumers import WorkbenchConsumer
from sandbox.web.kube_errors import as_refused, check_rate, retry_after
from sandbox.web.middleware import with_headers
from sandbox.worker import jobs
from sandbox.worker.errors import EngineError

log = logging.getLogger(__name__)

Application = Callable[[dict[str, Any], Any, Any], Awaitable[None]]

PATIENCE_SECONDS = 1.0
"""The pause before the next try in a sandbox that is busy."""
QUIET_SECONDS = 30.0
"""After this long a space is sent, so that no proxy thinks that nobody is there."""
LONGEST_SECONDS = 3600.0
"""How long a watch may last. The client then begins another one where this one ended."""
SPACE = {"type": "http.response.body", "body": b" ", "more_body": True}
"""What clients skip before the next event. An empty line is an event without a type to the Python client."""


def with_watches(application: Application) -> Application:
    """Return ``application`` behind a check whether a request is a watch."""
    watch = KubeWatch.as_asgi()

    async def routed(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await (watch if is_watch(scope) else application)(scope, receive, send)

    return routed


def _headers(request: HttpRequest) -> list[tuple[bytes, bytes]]:
    """Return the headers of a watch: those that the middleware gives every answer, and no buffer in a proxy."""
    response = HttpResponse(content_type="application/json", headers={"X-Accel-Buffering": "no"})
    with_headers(request, SecurityMiddleware(lambda _: response).process_response(request, response))
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in response.items()]


class KubeWatch(AsyncConsumer):
    """One watch. A change marks it as behind; one task sends until it is up to date, as fast as the client reads."""

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        found = WATCHED.fullmatch(scope["path"])
        assert found is not None
        self.sandbox_id, self.token = UUID(found["id"]), found["token"]
        self.http = ASGIRequest(scope, BytesIO())
        self.path = found["path"]
        self.access: Access | None = None
        self.seen: int | None = None
        self.begun = False
        self.news = asyncio.Event()
        # One thread at a time reads in one sandbox, for pages and watches: others would only wait, and there are few.
        self.turn = WorkbenchConsumer.rendering_locks.setdefault(self.sandbox_id, asyncio.Lock())
        self.task: asyncio.Task[None] | None = None
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self.task is not None:
                self.task.cancel()
            if self.access is not None:
                await self.channel_layer.group_discard(group(self.sandbox_id), self.channel_name)

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Call the handler as Channels does, but without a thread to close database connections: there are none."""
        await getattr(self, get_handler_name(message))(message)

    async def http_request(self, message: dict[str, Any]) -> None:
        if message.get("more_body"):
            return
        try:
            access = await in_thread(LIVE_LINES, self._open)
        except Exception as error:  # noqa: BLE001 – ``as_refused`` logs what the operator must know.
            await self._refuse(error)
            return
        self.access = access
        await self.channel_layer.group_add(group(self.sandbox_id), self.channel_name)
        self.task = asyncio.create_task(self._send_all())

    def _open(self) -> Access:
        """Return what the link allows, after the checks of every request, and note what it asks for."""
        self.http.get_host()
        check_rate("address", ratelimit.client(self.http))
        access = open_access(self.sandbox_id, self.token)
        if access is None:
            raise no_resource()
        check_rate("look", f"{self.sandbox_id} {access.can_edit}")
        self.request = Request(self.path, self.http.GET.dict(), self.http.headers.get("Accept", ""))
        return access

    async def http_disconnect(self, message: dict[str, Any]) -> None:
        raise StopConsumer

    async def sandbox_changed(self, message: dict[str, Any]) -> None:
        self.news.set()

    async def catch_up_again(self, message: dict[str, Any]) -> None:
        """Look again, because messages may have been lost."""
        self.news.set()

    async def sandbox_progress(self, message: dict[str, Any]) -> None:
        """A watch shows no progress."""

    async def links_changed(self, message: dict[str, Any]) -> None:
        """End the watch if its link no longer opens the sandbox."""
        self.news.set()

    async def _send_all(self) -> None:
        """Send news until the watch ends."""
        try:
            seconds = min(self.request.number("timeoutSeconds") or LONGEST_SECONDS, LONGEST_SECONDS)
            async with asyncio.timeout(seconds):
                while await self._send_news():
                    await self._wait()
        except TimeoutError:
            pass
        except Exception as error:
            if not self.begun:
                await self._refuse(error)
                return
            log.exception("a watch ended; the client begins another one")
        if not self.begun:
            await self._begin(200)
        await self.send({"type": "http.response.body", "body": b""})

    async def _wait(self) -> None:
        """Wait for the next change. Meanwhile send spaces, which clients skip."""
        while True:
            try:
                async with asyncio.timeout(QUIET_SECONDS):
                    await self.news.wait()
                return
            except TimeoutError:
                await self.send(SPACE)

    async def _send_news(self) -> bool:
        """Send what happened since the last time. Return False if the watch is over."""
        news = await self._look()
        if news is None:
            return False
        self.seen = news.seen
        if not self.begun:
            await self._begin(200)
            # The server sends the headers with the first bytes. Clients skip a space.
            await self.send(SPACE)
        for line in news.lines:
            await self.send({"type": "http.response.body", "body": line.encode(), "more_body": True})
        return not news.over

    async def _look(self) -> News | None:
        """Return what happened; None if the link no longer opens the sandbox. Wait while a long job runs there."""
        while True:
            self.news.clear()
            try:
                async with self.turn:
                    return await in_thread(LIVE_LINES, self._read)
            except EngineError:
                await asyncio.sleep(PATIENCE_SECONDS)

    def _read(self) -> News | None:
        access = open_access(self.sandbox_id, self.token)
        if access is None:
            return None
        return engines.read_with_turns(access.sandbox, jobs.kube_watch, self.request, self.seen)

    async def _begin(self, status: int, more: Sequence[tuple[bytes, bytes]] = ()) -> None:
        self.begun = True
        await self.send({"type": "http.response.start", "status": status, "headers": [*_headers(self.http), *more]})

    async def _refuse(self, error: Exception) -> None:
        refused = as_refused(error)
        document = failure(refused.code, refused.message, refused.details, refused.reason)
        seconds = retry_after(refused)
        await self._begin(refused.code, [] if seconds is None else [(b"Retry-After", seconds.encode())])
        await self.send({"type": "http.response.body", "body": json.dumps(document).encode()})
