"""Token buckets in the memory of this process: how often an address, or whoever holds a link, may ask.

``settings.RATE_LIMITS`` has the rate and the burst of each name.
"""

from __future__ import annotations

import re
from ipaddress import IPv6Address, IPv6Network, ip_address
from threading import Lock
from time import monotonic
from typing import Any

from django.conf import settings
from django.http import HttpRequest

ROOM = 100_000
"""Buckets that are kept: about 20 MB."""
SWEEP_SECONDS = 1.0
OTHERS = ""
"""Who shares a bucket when there is no room for more of them."""
PORT = re.compile(r"\[(?P<six>[^\[\]]*)\](:[0-9]*)?|(?P<four>[^:]*):[0-9]*")
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
    return counted(request.META.get("HTTP_X_FORWARDED_FOR", ""), request.META.get("REMOTE_ADDR") or "")


def client_of(scope: dict[str, Any]) -> str:
    """The address that a websocket counts for."""
    forwarded = b",".join(value for name, value in scope["headers"] if name.lower() == b"x-forwarded-for")
    return counted(forwarded.decode("latin-1"), (scope.get("client") or [""])[0])


def counted(forwarded: str, peer: str) -> str:
    """The address to count for: behind ``TRUSTED_PROXIES`` proxies, what the outermost of them saw.

    ``forwarded``: X-Forwarded-For; what stands there before the proxies' own entries is the visitor's invention.
    """
    proxies = settings.TRUSTED_PROXIES
    hops = [hop.strip() for hop in forwarded.split(",") if hop.strip()]
    told = hops[-proxies] if proxies and len(hops) >= proxies else ""
    return _network(told) or _network(peer) or "unknown"


def _network(text: str) -> str:
    """An IPv4 address, or the /64 of an IPv6 one, all of which a single client has; "" for what is no address."""
    text = text.strip('" ')
    if ported := PORT.fullmatch(text):
        text = ported["six"] or ported["four"] or ""
    try:
        address = ip_address(text)
    except ValueError:
        return ""
    if not isinstance(address, IPv6Address):
        return str(address)
    return str(address.ipv4_mapped or IPv6Network((int(address), 64), strict=False))
