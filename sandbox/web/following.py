"""Answers that go on while a sandbox changes: the watches of kubectl, and the events of the API. No thread waits."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from uuid import UUID

from channels.consumer import AsyncConsumer, get_handler_name
from channels.exceptions import StopConsumer
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse
from django.middleware.security import SecurityMiddleware

from sandbox.runtime.layers import group
from sandbox.runtime.threads import LIVE_LINES, in_thread
from sandbox.web.access import Access, open_access
from sandbox.web.consumers import WorkbenchConsumer
from sandbox.web.middleware import with_headers
from sandbox.worker.errors import EngineError

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 1.0
"""The pause before the next try in a sandbox that is busy."""
QUIET_SECONDS = 30.0
"""After this long something is sent that clients skip, so that no proxy thinks that nobody is there."""
LONGEST_SECONDS = 3600.0
"""How long an answer may go on. The client then asks again."""


@dataclass(frozen=True, slots=True)
class Part:
    """What happened since the last part. ``seen``: up to where. ``over``: the answer ends here."""

    texts: Sequence[str]
    seen: int | None
    over: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that does not begin: ``wait`` as in the header Retry-After, "" = without."""

    status: int
    body: str
    wait: str = ""


def _headers(request: HttpRequest, content_type: str) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer: those that the middleware gives every answer, and no buffer in a proxy."""
    response = HttpResponse(content_type=content_type, headers={"X-Accel-Buffering": "no"})
    with_headers(request, SecurityMiddleware(lambda _: response).process_response(request, response))
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in response.items()]


class Following(AsyncConsumer):
    """One answer. A change marks it as behind; one task sends until it is up to date, as fast as the client reads."""

    path: re.Pattern[str]
    """Its groups are ``id`` and ``token`` of the sandbox, and what else the path has."""
    content_type: str
    space: str
    """What clients skip."""

    @classmethod
    def asked_by(cls, scope: Mapping[str, Any]) -> bool:
        """Return True if this answers the request of an ASGI scope."""
        return scope["type"] == "http" and scope["method"] == "GET" and cls.path.fullmatch(scope["path"]) is not None

    def admit(self) -> Access:
        """Return what the link allows, after the checks of every request, and note what is asked for."""
        raise NotImplementedError

    def read(self, access: Access) -> Part:
        """Return what happened since ``seen``, in a thread. Raises ``EngineError`` while a long job runs."""
        raise NotImplementedError

    def refusal(self, error: Exception) -> Refusal:
        """Return the answer to an error. What the operator must know is logged."""
        raise NotImplementedError

    def longest(self) -> float:
        """Return the seconds after which the answer ends."""
        return LONGEST_SECONDS

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        found = self.path.fullmatch(scope["path"])
        assert found is not None
        self.named = found.groupdict()
        self.sandbox_id, self.token = UUID(self.named["id"]), self.named["token"]
        self.http = ASGIRequest(scope, BytesIO())
        self.access: Access | None = None
        self.seen: int | None = None
        self.begun = False
        self.news = asyncio.Event()
        # One thread at a time reads in one sandbox, for pages and these: others would only wait, and there are few.
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
            access = await in_thread(LIVE_LINES, self.admit)
        except Exception as error:  # noqa: BLE001 – ``refusal`` logs what the operator must know.
            await self._refuse(error)
            return
        self.access = access
        await self.channel_layer.group_add(group(self.sandbox_id), self.channel_name)
        self.task = asyncio.create_task(self._send_all())

    async def http_disconnect(self, message: dict[str, Any]) -> None:
        raise StopConsumer

    async def sandbox_changed(self, message: dict[str, Any]) -> None:
        self.news.set()

    async def catch_up_again(self, message: dict[str, Any]) -> None:
        """Look again, because messages may have been lost."""
        self.news.set()

    async def sandbox_progress(self, message: dict[str, Any]) -> None:
        """Progress is not shown."""

    async def links_changed(self, message: dict[str, Any]) -> None:
        """End the answer if its link no longer opens the sandbox."""
        self.news.set()

    async def _send_all(self) -> None:
        """Send news until the answer ends."""
        try:
            async with asyncio.timeout(self.longest()):
                while await self._send_news():
                    await self._wait()
        except TimeoutError:
            pass
        except Exception as error:
            if not self.begun:
                await self._refuse(error)
                return
            log.exception("an answer that went on has ended; the client asks again")
        if not self.begun:
            await self._begin(200)
        await self.send({"type": "http.response.body", "body": b""})

    async def _wait(self) -> None:
        """Wait for the next change. Meanwhile send what clients skip."""
        while True:
            try:
                async with asyncio.timeout(QUIET_SECONDS):
                    await self.news.wait()
                return
            except TimeoutError:
                await self._send(self.space)

    async def _send_news(self) -> bool:
        """Send what happened since the last time. Return False if the answer is over."""
        part = await self._look()
        if part is None:
            return False
        self.seen = part.seen
        if not self.begun:
            await self._begin(200)
            # The server sends the headers with the first bytes.
            await self._send(self.space)
        for text in part.texts:
            await self._send(text)
        return not part.over

    async def _look(self) -> Part | None:
        """Return what happened; None if the link no longer opens the sandbox. Wait while a long job runs there."""
        while True:
            self.news.clear()
            try:
                async with self.turn:
                    return await in_thread(LIVE_LINES, self._read)
            except EngineError:
                await asyncio.sleep(PATIENCE_SECONDS)

    def _read(self) -> Part | None:
        access = open_access(self.sandbox_id, self.token)
        return None if access is None else self.read(access)

    async def _send(self, text: str) -> None:
        await self.send({"type": "http.response.body", "body": text.encode(), "more_body": True})

    async def _begin(self, status: int, more: Sequence[tuple[bytes, bytes]] = (), content_type: str = "") -> None:
        self.begun = True
        headers = [*_headers(self.http, content_type or self.content_type), *more]
        await self.send({"type": "http.response.start", "status": status, "headers": headers})

    async def _refuse(self, error: Exception) -> None:
        refusal = self.refusal(error)
        more = [(b"Retry-After", refusal.wait.encode())] if refusal.wait else []
        await self._begin(refusal.status, more, "application/json")
        await self.send({"type": "http.response.body", "body": refusal.body.encode()})
