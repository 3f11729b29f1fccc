"""The channel layer of several web processes: each message is one PUBLISH in Redis.

Browsers of this process get a message at once, without Redis. A process subscribes to the groups that its browsers are
in. Redis keeps nothing: a message that is sent while a connection is down is lost. So browsers have to catch up
whenever Redis confirms a subscription to their group, the first one and those after a lost connection, and when Redis
can be reached again after it refused a message to their group.
"""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from sandbox.runtime.layers import HERE, LocalChannelLayer

log = logging.getLogger(__name__)

PREFIX = "scheduler-sandbox."
ALIVE = f"{PREFIX}alive"
"""A channel that is always subscribed: Redis' client cannot wait without one."""
CATCH_UP = {"type": "catch.up.again"}
"""The message to browsers that may have missed something."""
MOST_CONNECTIONS = 32
"""Connections of this process. While Redis hangs, further messages wait for one, and then count as missed."""
SECONDS = 5.0
"""How long Redis may take to connect and to answer."""
QUIET_SECONDS = 15.0
"""After this long without a message Redis is asked if it is there; after as long again the connection is given up."""
AGAIN_SECONDS = 0.5
"""The pause before the next connection."""


class RedisChannelLayer(LocalChannelLayer):
    """Groups across web processes. Only the serving loop has browsers; other loops may send.

    The serving loop sends over connections that stay, and what could not be sent is made good. Another loop, as in a
    command of ``manage.py``, ends soon: it connects for each message, and gives up once Redis is away.
    """

    def __init__(self, url: str, **options: Any) -> None:
        super().__init__(**options)
        self.url = url
        self.loop: asyncio.AbstractEventLoop | None = None
        self.redis: Redis | None = None
        self.pubsub: PubSub | None = None
        """The connection that is subscribed, None while there is none."""
        self.subscribed: set[str] = set()
        self.changing = asyncio.Lock()
        self.listener: asyncio.Task[None] | None = None
        self.repeater: asyncio.Task[None] | None = None
        self.unsure = False
        """A subscription failed. The connection may have been renewed meanwhile, without it."""
        self.missed: dict[str, None] = {}
        """Groups to which a message could not be sent."""
        self.away = False
        """True from the first failure until Redis answers again, to log each only once."""

    def _connect(self) -> Redis:
        # Tried once more at once, because a restart of Redis ends connections that wait in the pool.
        pool = BlockingConnectionPool.from_url(
            self.url,
            max_connections=MOST_CONNECTIONS,
            timeout=SECONDS,
            socket_timeout=SECONDS,
            socket_connect_timeout=SECONDS,
            retry=Retry(NoBackoff(), 1),
        )
        return Redis.from_pool(pool)

    def begin(self) -> None:
        """Serve browsers in the running loop, even before the first one comes: a change may come earlier."""
        self.loop = asyncio.get_running_loop()
        self.redis, self.changing = self._connect(), asyncio.Lock()
        self.listener = self.loop.create_task(self._listen(self.redis))

    # --- what Channels calls ---

    async def new_channel(self, prefix: str = "specific.") -> str:
        if self.loop is not asyncio.get_running_loop():
            self.begin()
        return await super().new_channel(prefix)

    async def group_add(self, group: str, channel: str) -> None:
        await super().group_add(group, channel)
        await self._subscribe_as_wanted(group)

    async def group_discard(self, group: str, channel: str) -> None:
        await super().group_discard(group, channel)
        await self._subscribe_as_wanted(group)

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        await super().group_send(group, message)
        serving = self.redis if self.loop is asyncio.get_running_loop() else None
        try:
            if serving is not None:
                await _publish(serving, group, message)
            elif not self.away:  # Else a command that deletes many sandboxes would wait for Redis at each.
                async with self._connect() as redis:
                    await _publish(redis, group, message)
        except (RedisError, OSError) as error:
            self._note_away(error)
            if serving is not None:
                self.missed[group] = None
                if self.repeater is None or self.repeater.done():
                    self.repeater = asyncio.create_task(self._repeat(serving))

    async def _repeat(self, redis: Redis) -> None:
        """Tell the browsers of all groups that missed a message to catch up, as soon as that is possible."""
        while self.missed:
            await asyncio.sleep(AGAIN_SECONDS)
            try:
                for group in list(self.missed):
                    await _publish(redis, group, CATCH_UP)
                    del self.missed[group]
            except (RedisError, OSError) as error:
                self._note_away(error)
        self._note_back()

    # --- subscriptions ---

    async def _subscribe_as_wanted(self, group: str) -> None:
        """Subscribe to a group if it has browsers here, else unsubscribe. Without a connection, ``_listen`` does so."""
        async with self.changing:
            pubsub = self.pubsub
            wanted = group in self.groups
            if pubsub is None or wanted == (group in self.subscribed):
                return
            change = pubsub.subscribe if wanted else pubsub.unsubscribe
            (self.subscribed.add if wanted else self.subscribed.discard)(group)
            try:
                await change(f"{PREFIX}{group}")
            except (RedisError, OSError) as error:
                self._note_away(error)
                self.unsure = True

    async def _listen(self, redis: Redis) -> None:
        """Deliver the messages of other web processes. Connect again whenever the connection is lost."""
        while True:
            try:
                async with redis.pubsub() as pubsub:
                    # Before the lock is taken: browsers that come and go must not wait for a Redis that hangs.
                    await pubsub.connect()
                    await self._subscribe_to_all(pubsub)
                    await self._deliver(pubsub)
            except (RedisError, OSError) as error:
                self._note_away(error)
            except Exception:
                log.exception("messages from other web processes could not be read; connecting again")
            finally:
                self.pubsub = None
            await asyncio.sleep(AGAIN_SECONDS)

    async def _subscribe_to_all(self, pubsub: PubSub) -> None:
        async with self.changing:
            self.subscribed, self.unsure = set(self.groups), False
            await pubsub.subscribe(ALIVE, *(f"{PREFIX}{group}" for group in self.subscribed))
            self.pubsub = pubsub

    async def _deliver(self, pubsub: PubSub) -> None:
        """Deliver messages until the connection is lost.

        Raises ``ConnectionError`` if Redis is silent too long, or if a subscription failed.
        """
        asked = False
        while True:
            message = await pubsub.get_message(timeout=QUIET_SECONDS)
            if self.unsure:
                raise ConnectionError("a subscription failed")
            if message is not None:
                asked = False
                await self._take(message)
            elif asked:
                raise ConnectionError("no answer to a ping")
            else:
                asked = True
                await pubsub.ping()

    async def _take(self, message: dict[str, Any]) -> None:
        self._note_back()
        if message["type"] not in ("message", "subscribe"):
            return
        group = message["channel"].decode().removeprefix(PREFIX)
        if message["type"] == "subscribe":
            await super().group_send(group, CATCH_UP)
        elif not (data := message["data"].decode()).startswith(HERE):
            await super().group_send(group, json.loads(data[len(HERE) :]))

    def _note_away(self, error: Exception) -> None:
        if not self.away:
            self.away = True
            log.warning("Redis cannot be reached; changes of other web processes wait until it is back: %s", error)

    def _note_back(self) -> None:
        if self.away and not self.missed:
            self.away = False
            log.warning("Redis answers again; browsers catch up")


async def _publish(redis: Redis, group: str, message: dict[str, Any]) -> None:
    await redis.publish(f"{PREFIX}{group}", f"{HERE}{json.dumps(message)}")
