"""The live line to one page of a room."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from typing import Any
from uuid import UUID

from channels.generic.websocket import AsyncWebsocketConsumer

from sandbox.runtime import layers
from sandbox.runtime.threads import LIVE_LINES, in_thread
from sandbox.web.consumers import PONG
from sandbox.workshop.access import RoomAccess, enter, unless_gone, why_gone
from sandbox.workshop.board import watched
from sandbox.workshop.fragments import Board, fragments
from sandbox.workshop.layers import group

log = logging.getLogger(__name__)

NOT_FOUND = 4404
TRY_AGAIN = 1011
LONGEST = 100
"""Characters of a search on the board."""
PAUSE_SECONDS = 0.4
"""The pause between two updates: forty people who step once a second change the room all the time."""


class RoomConsumer(AsyncWebsocketConsumer):
    """One socket. A change marks it as behind; one task sends until it is up to date, slowly enough to read."""

    async def connect(self) -> None:
        route = self.scope["url_route"]["kwargs"]
        self.room_id: UUID = route["room_id"]
        self.token: str = route["token"]
        self.looked = Board()
        self.sent: dict[str, str] = {}
        self.watching: set[UUID] = set()
        self.behind = False
        self.task: asyncio.Task[None] | None = None
        await self.accept()
        await self.send(json.dumps({"now": time.time()}))  # Clocks of browsers differ; the timer must not.
        await self.channel_layer.group_add(group(self.room_id), self.channel_name)
        self.catch_up()

    async def disconnect(self, code: int) -> None:
        if self.task is not None:
            self.task.cancel()
        await self.channel_layer.group_discard(group(self.room_id), self.channel_name)
        for sandbox_id in self.watching:
            await self.channel_layer.group_discard(layers.group(sandbox_id), self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Take the trainer's view of the board. Actions are posted over HTTP instead."""
        try:
            message = json.loads(text_data or "")
        except (ValueError, RecursionError):
            return
        if isinstance(message, dict) and "ping" in message:
            await self.send(PONG)
        elif isinstance(message, dict):
            self.looked = Board(**{name: str(message.get(name, ""))[:LONGEST] for name in ("order", "find")})
            self.catch_up()

    async def room_changed(self, message: dict[str, Any]) -> None:
        self.catch_up()

    async def sandbox_changed(self, message: dict[str, Any]) -> None:
        self.catch_up()

    async def catch_up_again(self, message: dict[str, Any]) -> None:
        """Catch up because messages may have been lost."""
        self.catch_up()

    async def links_changed(self, message: dict[str, Any]) -> None:
        """Show the board without a sandbox that was deleted."""
        self.catch_up()

    async def sandbox_progress(self, message: dict[str, Any]) -> None:
        """Ignore it: the page of the sandbox itself shows it."""

    def catch_up(self) -> None:
        self.behind = True
        if self.task is None or self.task.done():
            self.task = asyncio.create_task(self._send_until_current())

    async def _send_until_current(self) -> None:
        try:
            while self.behind:
                self.behind = False
                if not await self._send_changes():
                    return
                await asyncio.sleep(PAUSE_SECONDS)
        except Exception:
            log.exception("a page of a room could not be rendered; its browser must connect again")
            await self.close(TRY_AGAIN)

    async def _send_changes(self) -> bool:
        """Send what changed. Return False if the token no longer grants access."""
        page = await in_thread(LIVE_LINES, _look, self.room_id, self.token, self.looked)
        if page is None:
            why: str = await in_thread(LIVE_LINES, why_gone, self.room_id, self.token)
            if not self.sent and why != "removed":  # Somebody who guesses must not learn which rooms exist.
                why = ""
            await self.send(json.dumps({"gone": why}))
            await self.close(NOT_FOUND)
            return False
        rendered, wanted = page
        for sandbox_id in sorted(wanted - self.watching):
            await self.channel_layer.group_add(layers.group(sandbox_id), self.channel_name)
        for sandbox_id in sorted(self.watching - wanted):
            await self.channel_layer.group_discard(layers.group(sandbox_id), self.channel_name)
        self.watching = wanted
        changed = "".join(html for name, html in rendered.items() if self.sent.get(name) != html)
        self.sent = rendered
        if changed:
            await self.send(changed)
        return True


def _look(room_id: UUID, token: str, looked: Board) -> tuple[dict[str, str], set[UUID]] | None:
    """Return the fragments of a page and the sandboxes that they show; None without access."""
    access = enter(room_id, token)
    return (
        None if access is None else unless_gone(room_id, token, lambda: (fragments(access, looked), _watched(access)))
    )


def _watched(access: RoomAccess) -> set[UUID]:
    return set(watched(access.room)) if access.role in ("trainer", "assistant") else set()
