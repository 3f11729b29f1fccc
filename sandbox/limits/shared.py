"""Rate limits that all web processes share: token buckets in Redis."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Lock
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
local empty_until = now + ARGV[1] * ARGV[2]
local kept = tonumber(redis.call('GET', KEYS[1]) or 0)
local full_at = math.max(now, kept) + ARGV[1]
local late = full_at - empty_until
local answer = '0'
if kept > empty_until + 0.000001 then
  full_at, answer = empty_until, tostring(ARGV[1])
elseif late > 0.000001 then
  return tostring(late)
end
local milliseconds = math.max(1, math.ceil((full_at - now) * 1000))
redis.call('SET', KEYS[1], string.format('%.6f', full_at), 'PX', string.format('%.0f', milliseconds))
return answer
"""
"""Take a token: arguments are the seconds of a token and the burst. A bucket is kept until it is full again.

If the clock of Redis is set back, a bucket would stay empty as long. It is filled from now on, so that nobody waits
longer than for one token.
"""

Take = Callable[[str, str, float, int], float]


class SharedBuckets:
    """Buckets in Redis. While it is away, each web process counts for itself, with ``own``."""

    def __init__(self, url: str, own: Take) -> None:
        self.own = own
        self.guard = Lock()
        self.away = False
        """Redis did not answer. Until ``ask_at`` nobody asks it, then one thread tries."""
        self.ask_at = 0.0
        redis: Any = Redis.from_url(url, socket_timeout=SECONDS, socket_connect_timeout=SECONDS)
        self.script = redis.register_script(TAKE)

    def take(self, name: str, who: str, rate: float, burst: int) -> float:
        """Take a token. Return 0 if there was one, else the seconds until there is one."""
        if self._may_ask():
            try:
                seconds = float(self.script(keys=[f"{PREFIX}{name}.{who}"], args=[1 / rate, burst]))
            except RedisError as error:
                if self._note(away=True):
                    log.warning("Redis does not count rates, so each web process counts its own: %s", error)
            else:
                if self._note(away=False):
                    log.warning("Redis counts rates again")
                return seconds
        return self.own(name, who, rate, burst)

    def _may_ask(self) -> bool:
        with self.guard:
            if not self.away:
                return True
            now = monotonic()
            if now < self.ask_at:
                return False
            self.ask_at = now + AGAIN_SECONDS
            return True

    def _note(self, away: bool) -> bool:
        """Note if Redis is away. Return True if that is new."""
        with self.guard:
            is_new, self.away = self.away != away, away
            if away:
                self.ask_at = monotonic() + AGAIN_SECONDS
        return is_new
