"""Rate limits: token buckets. ``settings.RATE_LIMITS`` has the rate and the burst of each name.

What a web process serves alone is counted in its memory: a sandbox and a room are in one place. With Redis, what one
address does in all places is counted there. So are the codes that are tried for a name: their page is at no room's
address, so any web process may serve it.
"""

from __future__ import annotations

from functools import cache
from threading import Lock
from time import monotonic
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from sandbox.limits.addresses import client_network
from sandbox.limits.shared import SharedBuckets
from sandbox.runtime import measures

ROOM = 100_000
"""Buckets in memory: about 20 MB."""
SWEEP_SECONDS = 1.0
OTHERS = ""
"""The key of the bucket that newcomers share when there is no room for more buckets."""
ROUNDING = 1e-9


class Bucket:
    """A bucket of ``burst`` tokens that refills at ``rate`` per second. It stores only when it will be full again."""

    __slots__ = ("full_at",)

    def __init__(self) -> None:
        self.full_at = 0.0

    def take(self, rate: float, burst: int, now: float) -> float:
        """Take a token. Return 0 if there was one, else the seconds until there is one."""
        full_at = max(now, self.full_at) + 1 / rate
        late = full_at - now - burst / rate
        if late > ROUNDING:
            return late
        self.full_at = full_at
        return 0.0


class Buckets:
    """At most ``room`` buckets. Only full ones are dropped: a new bucket is full, too.

    While there is no room, all newcomers share one bucket.
    """

    def __init__(self, room: int = ROOM) -> None:
        self.room = room
        self.buckets: dict[tuple[str, str], Bucket] = {}
        self.swept_at = 0.0
        self.lock = Lock()

    def take(self, name: str, who: str, rate: float, burst: int) -> float:
        with self.lock:
            now = monotonic()
            key = (name, who)
            if key not in self.buckets and not self._has_room(now):
                key = (name, OTHERS)
            return self.buckets.setdefault(key, Bucket()).take(rate, burst, now)

    def _has_room(self, now: float) -> bool:
        if len(self.buckets) >= self.room and now - self.swept_at >= SWEEP_SECONDS:
            self.swept_at = now
            self.buckets = {key: bucket for key, bucket in self.buckets.items() if bucket.full_at > now}
        return len(self.buckets) < self.room


buckets = Buckets()
SHARED = frozenset({"code", "create", "join", "socket"})
"""Limits that all web processes count together. ``address`` is not: it protects each web process from a flood."""


@cache
def shared(url: str) -> SharedBuckets:
    return SharedBuckets(url, buckets.take)


def wait(name: str, who: str) -> float:
    """Take a token from the bucket ``name`` of ``who``. Return 0 if there was one, else the seconds until the next."""
    rate, burst = settings.RATE_LIMITS[name]
    take = shared(settings.REDIS_URL).take if settings.REDIS_URL and name in SHARED else buckets.take
    seconds = take(name, who, rate, burst)
    if seconds:
        measures.REFUSED.labels(name).inc()
    return seconds


def client(request: HttpRequest) -> str:
    """Return the address that a request counts for."""
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "")
    return client_network(forwarded, request.META.get("REMOTE_ADDR") or "", settings.TRUSTED_PROXIES)


def client_of(scope: dict[str, Any]) -> str:
    """Return the address that a websocket counts for."""
    forwarded = b",".join(value for name, value in scope["headers"] if name.lower() == b"x-forwarded-for")
    return client_network(forwarded.decode("latin-1"), (scope.get("client") or [""])[0], settings.TRUSTED_PROXIES)
