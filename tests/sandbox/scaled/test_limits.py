"""What one address may do is counted by all web processes together."""

from __future__ import annotations

import pytest
from redis import Redis

from sandbox.limits.ratelimit import Buckets
from sandbox.limits.shared import AGAIN_SECONDS, PREFIX, SharedBuckets
from tests.sandbox.scaled.conftest import Start
from tests.servers import RedisServer
from tests.waiting import until

CODES = 120
"""The burst of codes that one address may try."""
WRONG = "code=AAAAAA&name=Ada"


def shared(server: RedisServer) -> SharedBuckets:
    return SharedBuckets(server.url, Buckets().take)


def test_a_burst_is_shared_by_all_and_comes_back_with_time(redis_server: RedisServer) -> None:
    one, other = shared(redis_server), shared(redis_server)
    assert [take.take("x", "burst", 1, 3) for take in (one, other, one)] == [0, 0, 0]
    assert 0 < other.take("x", "burst", 1, 3) <= 1
    assert other.take("x", "somebody else", 1, 3) == other.take("y", "burst", 1, 3) == 0
    until(lambda: one.take("x", "burst", 1, 3) == 0)


def test_redis_forgets_a_bucket_that_is_full_again(redis_server: RedisServer) -> None:
    shared(redis_server).take("x", "forgotten", 20, 3)
    with Redis.from_url(redis_server.url) as client:
        until(lambda: not client.exists(f"{PREFIX}x.forgotten"))


def test_while_redis_is_away_each_counts_for_itself(
    own_redis: RedisServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = [1000.0]
    monkeypatch.setattr("sandbox.limits.shared.monotonic", lambda: now[0])
    one, other = shared(own_redis), shared(own_redis)
    assert one.take("x", "me", 0.001, 1) == 0
    assert other.take("x", "me", 0.001, 1) > 0
    own_redis.kill()
    assert [take.take("x", "me", 0.001, 1) > 0 for take in (one, one, other)] == [False, True, False]
    assert len(caplog.records) == 2, "one warning each"
    own_redis.start()
    now[0] += AGAIN_SECONDS
    assert [take.take("x", "me", 0.001, 1) > 0 for take in (one, other)] == [False, True]


def test_codes_tried_at_several_web_processes_count_together(web: Start) -> None:
    sites = [web(JOIN_RATE="0.0001") for _ in range(2)]
    statuses = [sites[n % 2].ask("POST", "/join/", WRONG)[0] for n in range(CODES + 2)]
    assert 429 not in statuses[:CODES]
    assert statuses[CODES:] == [429, 429]
