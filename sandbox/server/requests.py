"""Counts, times and logs the answered requests."""

from __future__ import annotations

import logging
import time
from typing import Any

from django.conf import settings

from sandbox.runtime import logs, measures

log, access = logging.getLogger(__name__), logging.getLogger("sandbox.requests")

STATIC = "static"
FORWARDED_FOR, REQUEST_ID = b"x-forwarded-for", b"x-request-id"


BEHIND_A_PROXY = (
    "A request has X-Forwarded-For, but TRUSTED_PROXIES is 0. If a proxy sent it, set TRUSTED_PROXIES: now all "
    "visitors share the limits of one address, and links say http."
)
WITHOUT_A_PROXY = (
    "A request has no X-Forwarded-For, but TRUSTED_PROXIES is not 0. If visitors can reach this process without the "
    "proxy, set TRUSTED_PROXIES=0: now they can invent their address."
)


class Requests:
    """Passes requests to ``application``. The head of an answer ends the time.

    ``proxies``: only behind proxies does X-Request-Id name the request, because any visitor can send it.
    """

    def __init__(self, application: Any, proxies: int) -> None:
        self.application, self.proxies = application, proxies
        self.warned = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        if not self.warned and bool(self.proxies) != (FORWARDED_FOR in headers):
            self.warned = True
            log.warning(WITHOUT_A_PROXY if self.proxies else BEHIND_A_PROXY)
        forwarded = headers.get(REQUEST_ID, "") if self.proxies else ""
        facts, start = logs.facts_of(forwarded), time.monotonic()
        if scope["path"].startswith(f"/{settings.STATIC_URL.strip('/')}/"):
            facts.route = STATIC

        async def send_and_note(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                _note(facts, message["status"], time.monotonic() - start)
            await send(message)

        await self.application(scope | {"facts": facts}, receive, send_and_note)


def _note(facts: logs.Facts, status: int, seconds: float) -> None:
    measures.REQUESTS.labels(facts.route, str(status)).inc()
    measures.REQUEST_SECONDS.labels(facts.route).observe(seconds)
    if settings.LOG_REQUESTS:
        measured = {"status": status, "seconds": round(seconds, 4)}
        access.info("%s %s in %.4f s", facts.route, status, seconds, extra={"facts": facts, "measured": measured})
