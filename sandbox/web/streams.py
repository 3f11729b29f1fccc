"""Which requests have answers that go on. They count as live lines, not as requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from sandbox.web.event_stream import EventStream
from sandbox.web.following import Following
from sandbox.web.kube_watch import KubeWatch

Application = Callable[[dict[str, Any], Any, Any], Awaitable[None]]
STREAMS: dict[type[Following], Application] = {stream: stream.as_asgi() for stream in (KubeWatch, EventStream)}


def sandbox_of(scope: Mapping[str, Any]) -> str:
    """Return the id of the sandbox that a request follows, "" if its answer does not go on."""
    stream = _stream_for(scope)
    found = None if stream is None else stream.path.fullmatch(scope["path"])
    return "" if found is None else found["id"]


def _stream_for(scope: Mapping[str, Any]) -> type[Following] | None:
    return next((stream for stream in STREAMS if stream.asked_by(scope)), None)


def with_streams(application: Application) -> Application:
    """Return ``application`` behind a check whether an answer goes on."""

    async def routed(scope: dict[str, Any], receive: Any, send: Any) -> None:
        stream = _stream_for(scope)
        await (application if stream is None else STREAMS[stream])(scope, receive, send)

    return routed
