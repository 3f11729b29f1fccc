"""Token buckets in the memory of this process: how often an address, or whoever holds a link, may ask.

``settings.RATE_LIMITS`` has the rate and the burst of each name.
"""

from __future__ import annotations

from threading import Lock
from time import monotonic
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from sandbox.limits.addresses import counted

ROOM = 100_000
"""Buckets that are kept: about 20 MB."""
SWEEP_SECONDS = 1.0
OTHERS = ""
"""Who shares a bucket when there is no room for more of them."""
ROUNDING = 1e-9


class Bucket:
    """Holds ``burst`` tokens and refills with ``rate`` a second; all that is kept is when it will be full again."""

    __slots__ = ("full_at",)

    def __init__(self) -> None:
        self.full_at = 0.0

    def take(self, rate: float, burst: int, now: float) -> float:
        """Take a token; 0 = taken, else the seconds until there is one."""
        full_at = max(now, self.full_at) + 1 / rate
        late = full_at - now - burst / rate
        if late > ROUNDING:
            return late
        self.full_at = full_at
        return 0.0


class Buckets:
    """At most ``room`` buckets. Only a full one is ever dropped, since it says no more than none at all.

    Whoever comes new while there is room for nobody shares a bucket with all others who do.
    """

    def __init__(self, room: int = ROOM) -> None:
        self.room = room
        self.kept: dict[tuple[str, str], Bucket] = {}
        self.swept_at = 0.0
        self.lock = Lock()

    def take(self, name: str, who: str, rate: float, burst: int) -> float:
        with self.lock:
            now = monotonic()
            key = (name, who)
            if key not in self.kept and not self._has_room(now):
                key = (name, OTHERS)
            return self.kept.setdefault(key, Bucket()).take(rate, burst, now)

    def _has_room(self, now: float) -> bool:
        if len(self.kept) >= self.room and now - self.swept_at >= SWEEP_SECONDS:
            self.swept_at = now
            self.kept = {key: bucket for key, bucket in self.kept.items() if bucket.full_at > now}
        return len(self.kept) < self.room


buckets = Buckets()


def wait(name: str, who: str) -> float:
    """Take one token of ``who``'s bucket ``name``; 0 = taken, else the seconds until the next one."""
    rate, burst = settings.RATE_LIMITS[name]
    return buckets.take(name, who, rate, burst)


def client(request: HttpRequest) -> str:
    """The address that a request counts for."""
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "")
    return counted(forwarded, request.META.get("REMOTE_ADDR") or "", settings.TRUSTED_PROXIES)


def client_of(scope: dict[str, Any]) -> str:
    """The address that a websocket counts for."""
    forwarded = b",".join(value for name, value in scope["headers"] if name.lower() == b"x-forwarded-for")
    return counted(forwarded.decode("latin-1"), (scope.get("client") or [""])[0], settings.TRUSTED_PROXIES)
