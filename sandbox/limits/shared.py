"""Rate limits that all web processes share: token buckets in Redis."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

log = logging.getLogger(__name__)

PREFIX = "scheduler-sandbox.limit."
SECONDS = 0.5
"""How long Redis may take to connect and to answer."""
AGAIN_SECONDS = 5.0
"""After this long Redis is asked again, once it did not answer."""
TAKE = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local full_at = math.max(now, tonumber(redis.call('GET', KEYS[1]) or 0)) + ARGV[1]
local late = full_at - now - ARGV[1] * ARGV[2]
if late > 0.000001 then return tostring(late) end
redis.call('SET', KEYS[1], string.format('%.6f', full_at), 'PX', math.ceil((full_at - now) * 1000))
return '0'
"""
"""Take a token: arguments are the seconds of a token and the burst. A bucket is kept until it is full again."""

Take = Callable[[str, str, float, int], float]


class SharedBuckets:
    """Buckets in Redis. While it is away, each web process counts for itself, with ``own``."""

    def __init__(self, url: str, own: Take) -> None:
        self.own = own
        self.away_until = 0.0
        redis: Any = Redis.from_url(url, socket_timeout=SECONDS, socket_connect_timeout=SECONDS)
        self.script = redis.register_script(TAKE)

    def take(self, name: str, who: str, rate: float, burst: int) -> float:
        """Take a token. Return 0 if there was one, else the seconds until there is one."""
        if monotonic() >= self.away_until:
            try:
                return float(self.script(keys=[f"{PREFIX}{name}.{who}"], args=[1 / rate, burst]))
            except RedisError as error:
                log.warning("Redis does not count rates, so each web process counts its own: %s", error)
                self.away_until = monotonic() + AGAIN_SECONDS
        return self.own(name, who, rate, burst)
