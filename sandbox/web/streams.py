"""Which requests have answers that go on. They count as live lines, not as requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from sandbox.kube import watches
from sandbox.web.event_stream import EVENTS, EventStream
from sandbox.web.kube_watch import KubeWatch

Application = Callable[[dict[str, Any], Any, Any], Awaitable[None]]


def _asks_for_events(scope: Mapping[str, Any]) -> bool:
    return scope["type"] == "http" and scope["method"] == "GET" and EVENTS.fullmatch(scope["path"]) is not None


STREAMS: dict[Callable[[Mapping[str, Any]], bool], Application] = {
    watches.is_watch: KubeWatch.as_asgi(),
    _asks_for_events: EventStream.as_asgi(),
}
"""Test of an ASGI scope → the application that answers."""


def stream_for(scope: Mapping[str, Any]) -> Application | None:
    """Return the application that answers a request for as long as the client wants, None for any other request."""
    return next((application for is_one, application in STREAMS.items() if is_one(scope)), None)


def sandbox_of(scope: Mapping[str, Any]) -> str:
    """Return the id of the sandbox that such a request is about."""
    found = watches.WATCHED.fullmatch(scope["path"]) or EVENTS.fullmatch(scope["path"])
    return found["id"] if found else ""


def with_streams(application: Application) -> Application:
    """Return ``application`` behind a check whether an answer goes on."""

    async def routed(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await (stream_for(scope) or application)(scope, receive, send)

    return routed
