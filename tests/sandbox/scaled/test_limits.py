"""What one address may do is counted by all web processes together."""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from redis import Redis

from sandbox.limits.ratelimit import Buckets
from sandbox.limits.shared import AGAIN_SECONDS, PREFIX, SharedBuckets
from tests.processes import stopped
from tests.sandbox.scaled.conftest import Start
from tests.servers import RedisServer
from tests.waiting import until

CODES = 120
"""The burst of codes that one address may try."""
THREADS = 16
NAME_CODES = 5
"""The burst of attempts at the code of one name."""
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
    now[0] += AGAIN_SECONDS
    assert one.take("x", "me", 0.001, 1) > 0
    assert len(caplog.records) == 2, "one warning each"
    own_redis.start()
    now[0] += AGAIN_SECONDS
    assert [take.take("x", "me", 0.001, 1) > 0 for take in (one, other)] == [False, True]
    assert len(caplog.records) == 4, "and one when it is back"


def test_while_redis_hangs_one_request_tries_it_and_the_others_count_for_themselves(
    own_redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr("sandbox.limits.shared.monotonic", lambda: now[0])
    take = shared(own_redis)
    assert own_redis.process is not None
    with stopped([own_redis.process.pid]), ThreadPoolExecutor(THREADS) as threads:
        take.take("x", "me", 0.001, 1)
        before, now[0] = connections(own_redis), now[0] + AGAIN_SECONDS
        list(threads.map(lambda n: take.take("x", f"{n}", 0.001, 1), range(THREADS)))
        tried = connections(own_redis) - before
    assert tried <= 1


def connections(server: RedisServer) -> int:
    """Return how many connections to a server this machine has opened lately, from the kernel's table."""
    rows = Path("/proc/net/tcp").read_text().splitlines()[1:]
    return sum(row.split()[2].endswith(f":{server.port:04X}") for row in rows)


@pytest.mark.parametrize("jump", [3600, 86_400 * 365])
def test_if_the_clock_of_redis_is_set_back_nobody_waits_longer_than_for_one_token(
    redis_server: RedisServer, jump: int
) -> None:
    take, who = shared(redis_server), f"jump {jump}"
    with Redis.from_url(redis_server.url) as client:
        client.set(f"{PREFIX}x.{who}", f"{time.time() + jump:.6f}", px=1000 * jump)
    assert 0 < take.take("x", who, 0.5, 250) <= 2
    until(lambda: take.take("x", who, 0.5, 250) == 0)


@pytest.mark.parametrize("rate", [1e-9, 1e-3, 1e7, 1e9, 1e300])
def test_every_rate_that_the_settings_allow_is_counted(
    redis_server: RedisServer, rate: float, caplog: pytest.LogCaptureFixture
) -> None:
    take = shared(redis_server)
    assert [take.take("x", f"rate {rate}", rate, 2) for _ in range(2)] == [0, 0]
    if rate < 1:
        assert take.take("x", f"rate {rate}", rate, 2) > 0
    assert caplog.records == []


def test_attempts_at_the_code_of_one_name_count_together(web: Start) -> None:
    sites = [web(CODE_RATE="0.0001") for _ in range(2)]
    room = sites[0].ask("POST", "/workshop/open/", "title=Room")[2]
    code = re.findall(r"/join/([A-Z0-9]{6})/", sites[0].ask("GET", room)[1])[0]
    assert sites[0].ask("POST", "/join/", f"code={code}&name=Ada")[0] == 302
    attempts = [f"code={code}&name=Ada&back={n:04}" for n in range(NAME_CODES + 2)]
    statuses = [sites[n % 2].ask("POST", "/join/", attempt)[0] for n, attempt in enumerate(attempts)]
    # One of the guesses may be right.
    assert set(statuses[:NAME_CODES]) <= {302, 422}
    assert statuses[NAME_CODES:] == [429, 429]


def test_codes_tried_at_several_web_processes_count_together(web: Start, redis_server: RedisServer) -> None:
    with Redis.from_url(redis_server.url) as client:
        client.flushall()  # Other tests have tried codes from the same address.
    sites = [web(JOIN_RATE="0.0001") for _ in range(2)]
    statuses = [sites[n % 2].ask("POST", "/join/", WRONG)[0] for n in range(CODES + 2)]
    assert 429 not in statuses[:CODES]
    assert statuses[CODES:] == [429, 429]
