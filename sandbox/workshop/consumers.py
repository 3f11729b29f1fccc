"""The live line of a page of a room."""

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
from sandbox.workshop.access import RoomAccess, enter, parted, unless_deleted
from sandbox.workshop.board import watched
from sandbox.workshop.fragments import Board, fragments
from sandbox.workshop.layers import group

log = logging.getLogger(__name__)

NOT_FOUND = 4404
TRY_AGAIN = 1011
LONGEST = 100
"""Characters of what a trainer looks for."""
PAUSE_SECONDS = 0.4
"""Between two looks at the room: forty people who step once a second change it all the time."""


class RoomConsumer(AsyncWebsocketConsumer):
    """A change marks it as behind; one task looks until it is level, not more often than pages can be read."""

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
        await self.send(json.dumps({"now": time.time()}))  # The clocks of those who look at one timer differ.
        await self.channel_layer.group_add(group(self.room_id), self.channel_name)
        self.catch_up()

    async def disconnect(self, code: int) -> None:
        if self.task is not None:
            self.task.cancel()
        await self.channel_layer.group_discard(group(self.room_id), self.channel_name)
        for sandbox_id in self.watching:
            await self.channel_layer.group_discard(layers.group(sandbox_id), self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """How a trainer looks at the board. What is done in a room is posted."""
        try:
            given = json.loads(text_data or "")
        except (ValueError, RecursionError):
            return
        if isinstance(given, dict) and "ping" in given:
            await self.send(PONG)
        elif isinstance(given, dict):
            found = {name: str(given.get(name, ""))[:LONGEST] for name in ("order", "find")}
            self.looked = Board(**found)
            self.catch_up()

    async def room_changed(self, message: dict[str, Any]) -> None:
        self.catch_up()

    async def sandbox_changed(self, message: dict[str, Any]) -> None:
        self.catch_up()

    async def sandbox_progress(self, message: dict[str, Any]) -> None:
        """Told on the page of the sandbox itself."""

    def catch_up(self) -> None:
        self.behind = True
        if self.task is None or self.task.done():
            self.task = asyncio.create_task(self._send_until_level())

    async def _send_until_level(self) -> None:
        try:
            while self.behind:
                self.behind = False
                if not await self._send_changes():
                    return
                await asyncio.sleep(PAUSE_SECONDS)
        except Exception:
            log.exception("a page of a room could not be rendered; it is told to connect again")
            await self.close(TRY_AGAIN)

    async def _send_changes(self) -> bool:
        """False when there is nothing for this token any more."""
        found = await in_thread(LIVE_LINES, _look, self.room_id, self.token, self.looked)
        if found is None:
            why: str = await in_thread(LIVE_LINES, parted, self.room_id, self.token)
            if not self.sent and why != "removed":  # A guess must not find out which rooms there are.
                why = ""
            await self.send(json.dumps({"gone": why}))
            await self.close(NOT_FOUND)
            return False
        made, wanted = found
        for sandbox_id in sorted(wanted - self.watching):
            await self.channel_layer.group_add(layers.group(sandbox_id), self.channel_name)
        for sandbox_id in sorted(self.watching - wanted):
            await self.channel_layer.group_discard(layers.group(sandbox_id), self.channel_name)
        self.watching = wanted
        changed = "".join(html for name, html in made.items() if self.sent.get(name) != html)
        self.sent = made
        if changed:
            await self.send(changed)
        return True


def _look(room_id: UUID, token: str, looked: Board) -> tuple[dict[str, str], set[UUID]] | None:
    """The fragments of a page, and the sandboxes that they tell of."""
    access = enter(room_id, token)
    return None if access is None else unless_deleted(room_id, lambda: (fragments(access, looked), _watched(access)))


def _watched(access: RoomAccess) -> set[UUID]:
    return set(watched(access.room)) if access.role == "trainer" else set()
