"""Token buckets per client, kept in Django's cache."""

from __future__ import annotations

import time
from threading import Lock

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest

_lock = Lock()


def client(request: HttpRequest) -> str:
    """The address to count for: behind ``TRUSTED_PROXIES`` proxies, what the outermost of them saw."""
    proxies = settings.TRUSTED_PROXIES
    hops = [hop.strip() for hop in request.headers.get("X-Forwarded-For", "").split(",") if hop.strip()]
    return hops[-proxies] if proxies and len(hops) >= proxies else request.META.get("REMOTE_ADDR") or "unknown"


def wait(name: str, who: str, rate: float, burst: int) -> float:
    """Take one token of ``who``'s bucket ``name``; 0 = taken, else the seconds until the next one.

    A bucket holds ``burst`` tokens and refills with ``rate`` a second; all that is kept is when it will be full again.
    The lock makes this exact in one process; several processes on one shared cache may let a few more through.
    """
    key = f"ratelimit:{name}:{who}"
    with _lock:
        now = time.time()
        full_at = max(now, cache.get(key, now)) + 1 / rate
        late = full_at - now - burst / rate
        if late > 0:
            return late
        cache.set(key, full_at, timeout=burst / rate + 1)
    return 0.0
