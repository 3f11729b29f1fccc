"""The live line to one browser: it says what it looks at and gets the fragments that changed."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from html import escape
from typing import Any, ClassVar
from urllib.parse import urlencode
from uuid import UUID
from weakref import WeakValueDictionary

from channels.consumer import get_handler_name
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import Error

from sandbox.panels import PANELS
from sandbox.panels.view import View
from sandbox.pool import engines
from sandbox.runtime.layers import group
from sandbox.runtime.threads import LIVE_LINES, in_thread
from sandbox.storage.records import Place, Position
from sandbox.web.access import Access, open_access
from sandbox.worker.errors import EngineError
from sandbox.worker.rendering import Fragment

log = logging.getLogger(__name__)

ALWAYS = "status"
LONGEST_MESSAGE = 8192
"""Characters that a browser may send at once."""
LARGEST_MESSAGE = 1_000_000
"""Bytes that are sent at once; Daphne refuses to send more than 1 MiB."""
NOT_FOUND = 4404
"""Close code for a wrong URL: not one after which htmx connects again."""
TRY_AGAIN = 1011
PONG = '{"pong":true}'
"""What a page hears that has asked whether its line is alive, with a ``ping``."""
PATIENCE_SECONDS = 1.0
"""Between looks at a sandbox that is busy."""


class WorkbenchConsumer(AsyncWebsocketConsumer):
    """One socket. A change or a new view only marks it as behind; one task renders until it is level again.

    So a browser that is slow, or sends views faster than they can be rendered, skips states instead of queueing them.
    """

    rendering_locks: ClassVar[WeakValueDictionary[UUID, asyncio.Lock]] = WeakValueDictionary()

    async def connect(self) -> None:
        route = self.scope["url_route"]["kwargs"]
        self.access: Access | None = None
        try:
            self.access = await in_thread(LIVE_LINES, open_access, route["sandbox_id"], route["token"])
        except Error:
            log.exception("the database did not answer a browser; it is told to connect again")
            await self.accept()
            await self.close(TRY_AGAIN)
            return
        await self.accept()
        if self.access is None:
            await self.close(NOT_FOUND)
            return
        self.view = View()
        self.open: tuple[str, ...] = ()
        self.follow = False
        self.sent: dict[str, bytes] = {}
        self.told = 0
        """The revision that the browser knows to see."""
        self.place: Place | None = None
        """The newest state that it has heard of or shown."""
        self.behind = False
        self.task: asyncio.Task[None] | None = None
        # One thread at a time renders for one sandbox: others would only wait for its lock, and threads are few.
        self.turn = self.rendering_locks.setdefault(self.access.sandbox.pk, asyncio.Lock())
        await self.channel_layer.group_add(group(self.access.sandbox.pk), self.channel_name)

    async def disconnect(self, code: int) -> None:
        if self.access is None:
            return
        await self.channel_layer.group_discard(group(self.access.sandbox.pk), self.channel_name)
        if self.task is not None:
            self.task.cancel()

    async def dispatch(self, message: dict[str, Any]) -> None:
        """As in Channels, without its hop to a thread to close a database connection that no consumer has."""
        await getattr(self, get_handler_name(message))(message)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        message = _decoded(text_data)
        if self.access is None or message is None:
            return
        if "ping" in message:
            await self.send(PONG)
            return
        self.view = View.from_mapping(message)
        given = message.get("open")
        wanted = given.split() if isinstance(given, str) else []
        self.open = tuple(panel for panel in PANELS if panel == ALWAYS or panel in wanted)
        self.follow = message.get("follow") is True
        self.catch_up()

    async def sandbox_changed(self, message: dict[str, Any]) -> None:
        place = Place(Position(*message["position"]), message["revision"], message["expected_at"])
        if self.access is None or (self.place is not None and place.revision <= self.place.revision):
            return
        self.place = place
        self.catch_up()

    async def sandbox_progress(self, message: dict[str, Any]) -> None:
        """Something takes long there."""
        await self.send(json.dumps({"progress": message["text"]}))

    def catch_up(self) -> None:
        self.behind = True
        if self.open and (self.task is None or self.task.done()):
            self.task = asyncio.create_task(self._send_until_level())

    async def _send_until_level(self) -> None:
        try:
            while self.behind:
                self.behind = False
                try:
                    await self._send_changes()
                except EngineError:
                    # Something long runs in the sandbox. What it leads to will be shown.
                    self.behind = True
                    await asyncio.sleep(PATIENCE_SECONDS)
        except Exception:
            log.exception("a browser's fragments could not be rendered; it is told to connect again")
            await self.close(TRY_AGAIN)

    async def _send_changes(self) -> None:
        assert self.access is not None
        wanted = self.place
        async with self.turn:
            place, found = await in_thread(
                LIVE_LINES,
                engines.fragments,
                self.access.sandbox,
                wanted,
                self.view,
                self.open,
                self.access.can_edit,
                self.follow,
                self.sent,
            )
        if self.place is None or place.revision > self.place.revision:
            self.place = place
        changed = {panel: made for panel, made in found.items() if self.sent.get(panel) != made.digest}
        # A panel that is closed may change on the page by then; it is sent anew when it opens.
        self.sent = {panel: made.digest for panel, made in found.items()}
        if changed or place.revision != self.told:
            self.told = place.revision
            for message in _messages(changed, self.view, place.revision):
                await self.send(message)


def _messages(changed: dict[str, Fragment], view: View, revision: int) -> Iterator[str]:
    """The fragments in as few messages as the limit allows; what is too large for any the page fetches itself.

    The last one names the revision, in a comment: a page that has taken it sees every change up to there.
    """
    batch: list[str] = []
    size = 0
    for panel, made in changed.items():
        html = made.html
        length = len(html.encode())
        if length > LARGEST_MESSAGE:
            query = escape(urlencode(view.as_json()))
            html = f'<section id="panel-{panel}" aria-busy="true" hx-get="panel/{panel}/?{query}" hx-trigger="load"'
            html += ' hx-swap="outerHTML"></section>'
            length = len(html)
        if batch and size + length > LARGEST_MESSAGE:
            yield "".join(batch)
            batch, size = [], 0
        batch.append(html)
        size += length
    yield f"<!--{revision}-->" + "".join(batch)


def _decoded(text: str | None) -> dict[str, Any] | None:
    if not text or len(text) > LONGEST_MESSAGE:
        return None
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None
