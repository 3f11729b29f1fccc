"""The live line to one browser: the browser sends its view, and receives the fragments that changed."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, ClassVar
from urllib.parse import urlencode
from uuid import UUID
from weakref import WeakValueDictionary

from channels.consumer import get_handler_name
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import Error

from sandbox.changes import homes
from sandbox.panels import PANELS
from sandbox.panels.view import View
from sandbox.pool import engines
from sandbox.runtime.layers import HERE, group
from sandbox.runtime.threads import LIVE_LINES, in_thread
from sandbox.storage.models import Sandbox
from sandbox.storage.records import Place, Position
from sandbox.web.access import Access, open_access
from sandbox.worker.errors import EngineError
from sandbox.worker.rendering import Fragment

log = logging.getLogger(__name__)

ALWAYS = "status"
LONGEST_MESSAGE = 8192
"""Characters of one message from a browser."""
LARGEST_MESSAGE = 1_000_000
"""Bytes of one message to a browser; Daphne refuses to send more than 1 MiB."""
NOT_FOUND = 4404
"""Close code for a wrong URL, after which htmx does not connect again."""
TRY_AGAIN, MOVED = 1011, 1012
"""Close codes after which the page connects again at once."""
PONG = '{"pong":true}'
"""The answer to a ``ping``, with which a page checks whether its line is alive."""
PATIENCE_SECONDS = 1.0
"""The pause before the next try in a sandbox that is busy."""


class WorkbenchConsumer(AsyncWebsocketConsumer):
    """One socket. A change or a new view marks it as behind; one task renders until it is up to date.

    So a slow browser, or one that sends views faster than they can be rendered, skips states instead of queueing them.
    """

    rendering_locks: ClassVar[WeakValueDictionary[UUID, asyncio.Lock]] = WeakValueDictionary()

    async def connect(self) -> None:
        route = self.scope["url_route"]["kwargs"]
        self.access: Access | None = None
        try:
            self.access = await in_thread(LIVE_LINES, open_access, route["sandbox_id"], route["token"])
        except Error:
            log.exception("the database did not answer; the browser must connect again")
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
        self.shown_revision = 0
        """The revision that the browser was last sent."""
        self.place: Place | None = None
        """The newest state that was announced or sent."""
        self.behind = False
        self.connected = time.monotonic()
        self.task: asyncio.Task[None] | None = None
        # One thread at a time renders for one sandbox: others would only wait for its lock, and there are few threads.
        self.turn = self.rendering_locks.setdefault(self.access.sandbox.pk, asyncio.Lock())
        await self.channel_layer.group_add(group(self.access.sandbox.pk), self.channel_name)

    async def disconnect(self, code: int) -> None:
        if self.access is None:
            return
        await self.channel_layer.group_discard(group(self.access.sandbox.pk), self.channel_name)
        if self.task is not None:
            self.task.cancel()

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Call the handler as Channels does, but without a thread to close database connections: there are none."""
        await getattr(self, get_handler_name(message))(message)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        message = _decoded(text_data)
        if self.access is None or message is None:
            return
        if "ping" in message:
            await self.send(PONG)
            return
        self.view = View.from_mapping(message)
        panels = message.get("open")
        names = panels.split() if isinstance(panels, str) else []
        self.open = tuple(panel for panel in PANELS if panel == ALWAYS or panel in names)
        self.follow = message.get("follow") is True
        self.catch_up()

    async def sandbox_changed(self, message: dict[str, Any]) -> None:
        place = Place(Position(*message["position"]), message["revision"], message["expected_at"])
        if self.access is None or (self.place is not None and place.revision <= self.place.revision):
            return
        self.place = place
        self.catch_up()
        if message["by"] != HERE and homes.note_stray(self.access.sandbox.pk, place.revision, self.connected):
            # The page connects again by way of the proxy, which knows the sandbox's new home. It may take a while to
            # answer the close, if its tab sleeps.
            await self.channel_layer.group_discard(group(self.access.sandbox.pk), self.channel_name)
            await self.close(MOVED)

    async def catch_up_again(self, message: dict[str, Any]) -> None:
        """Show the present, because messages may have been lost."""
        self.place = None
        self.catch_up()

    async def links_changed(self, message: dict[str, Any]) -> None:
        """Close the line if its link no longer opens the sandbox, even if the browser shows nothing."""
        if self.access is None:
            return
        try:
            access = await in_thread(LIVE_LINES, open_access, self.access.sandbox.pk, self.access.token)
        except Error:
            log.exception("the database did not answer; the browser must connect again")
            await self.close(TRY_AGAIN)
            return
        if access is None:
            self.open = ()
            await self.close(NOT_FOUND)

    async def sandbox_progress(self, message: dict[str, Any]) -> None:
        """Send the progress of a long job in the sandbox."""
        await self.send(json.dumps({"progress": message["text"]}))

    def catch_up(self) -> None:
        """Start the task that sends what changed, unless it already runs."""
        self.behind = True
        if self.open and (self.task is None or self.task.done()):
            self.task = asyncio.create_task(self._send_until_current())

    async def _send_until_current(self) -> None:
        try:
            while self.behind:
                self.behind = False
                try:
                    await self._send_changes()
                except EngineError:
                    # A long job runs in the sandbox. Its result will be sent later.
                    self.behind = True
                    await asyncio.sleep(PATIENCE_SECONDS)
        except Exception:
            log.exception("a browser's fragments could not be rendered; the browser must connect again")
            await self.close(TRY_AGAIN)

    async def _send_changes(self) -> None:
        assert self.access is not None
        async with self.turn:
            looked = await in_thread(
                LIVE_LINES, _look, self.access, self.place, self.view, self.open, self.follow, self.sent
            )
        if looked is None:
            self.open = ()
            await self.close(NOT_FOUND)
            return
        place, fragments = looked
        if self.place is None or place.revision > self.place.revision:
            self.place = place
        changed = {panel: item for panel, item in fragments.items() if self.sent.get(panel) != item.digest}
        # Forget closed panels: their place on the page may have changed when they open again.
        self.sent = {panel: item.digest for panel, item in fragments.items()}
        if changed or place.revision != self.shown_revision:
            self.shown_revision = place.revision
            for message in _messages(changed, self.view, place.revision):
                await self.send(message)


def _look(
    access: Access, hint: Place | None, view: View, panels: Sequence[str], follow: bool, digests: dict[str, bytes]
) -> tuple[Place, dict[str, Fragment]] | None:
    """Return what ``engines.fragments`` does; None if the link no longer opens the sandbox.

    While the line was open, the sandbox may have been deleted, or the owner may have withdrawn a helper's key.
    """
    if open_access(access.sandbox.pk, access.token) is None:
        return None
    try:
        return engines.fragments(access.sandbox, hint, view, panels, access.can_edit, follow, digests)
    except Sandbox.DoesNotExist:
        return None


def _messages(changed: dict[str, Fragment], view: View, revision: int) -> Iterator[str]:
    """Yield messages with the fragments, as few as the size limit allows.

    Instead of a fragment that is too large, the message has a placeholder with which the page fetches it. The last
    message has the revision in a comment: a page that received it shows every change up to there.
    """
    batch: list[str] = []
    size = 0
    for panel, fragment in changed.items():
        html = fragment.html
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
    """Return the message in a text; None if the text is too long or is not a JSON object."""
    if not text or len(text) > LONGEST_MESSAGE:
        return None
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None
