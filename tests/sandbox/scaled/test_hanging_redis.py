"""A Redis that takes connections and never answers, or fails in the middle: browsers neither wait nor miss anything."""

from __future__ import annotations

import asyncio

import pytest

from sandbox.runtime import redis_layer
from sandbox.runtime.redis_layer import CATCH_UP, MOST_CONNECTIONS, RedisChannelLayer
from tests.processes import stopped
from tests.sandbox.scaled.test_limits import connections
from tests.servers import RedisServer
from tests.waiting import PATIENCE

MESSAGES = 3 * MOST_CONNECTIONS
pytestmark = pytest.mark.asyncio


@pytest.fixture
def hung(own_redis: RedisServer, monkeypatch: pytest.MonkeyPatch) -> RedisServer:
    """Return a Redis for which the layer waits longer than any test does."""
    monkeypatch.setattr(redis_layer, "SECONDS", 10 * PATIENCE)
    return own_redis


async def test_browsers_come_and_go_while_redis_hangs(hung: RedisServer) -> None:
    assert hung.process is not None
    with stopped([hung.process.pid]):
        layer = RedisChannelLayer(url=hung.url)
        async with asyncio.timeout(PATIENCE):
            channel = await layer.new_channel()
            before = connections(hung)
            while connections(hung) == before:
                await asyncio.sleep(0.01)
            await layer.group_add("sandbox.one", channel)
            await layer.group_discard("sandbox.one", channel)
        await end(layer)


async def test_messages_that_cannot_be_sent_open_few_connections(hung: RedisServer) -> None:
    layer = RedisChannelLayer(url=hung.url)
    await layer.new_channel()
    assert hung.process is not None
    with stopped([hung.process.pid]):
        message = {"type": "sandbox.changed"}
        sending = [asyncio.create_task(layer.group_send(f"sandbox.{n}", message)) for n in range(MESSAGES)]
        async with asyncio.timeout(PATIENCE):
            while connections(hung) < MOST_CONNECTIONS - 1:
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.5)
        assert connections(hung) <= MOST_CONNECTIONS + 1
        for task in sending:
            task.cancel()
        await asyncio.gather(*sending, return_exceptions=True)
        await end(layer)


async def test_a_group_is_subscribed_again_if_that_failed(own_redis: RedisServer) -> None:
    layer = RedisChannelLayer(url=own_redis.url)
    channel = await layer.new_channel()
    async with asyncio.timeout(PATIENCE):
        while (pubsub := layer.pubsub) is None:
            await asyncio.sleep(0.01)

        async def fail(*groups: str) -> None:
            raise ConnectionError("lost")

        pubsub.subscribe = fail
        await layer.group_add("sandbox.one", channel)
        assert layer.pubsub is pubsub
        # The connection is alive. Its next message is the occasion to begin anew.
        await layer.group_send("alive", {"type": "sandbox.changed"})
        assert await layer.receive(channel) == CATCH_UP
    await end(layer)


async def end(layer: RedisChannelLayer) -> None:
    assert layer.listener is not None
    layer.listener.cancel()
    await asyncio.gather(layer.listener, return_exceptions=True)
    assert layer.redis is not None
    await layer.redis.connection_pool.disconnect()
