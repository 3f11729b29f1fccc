"""The websocket URLs, and the checks before a connection reaches a consumer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from channels.routing import URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.conf import settings
from django.urls import path, re_path

from sandbox.limits import ratelimit
from sandbox.runtime import measures
from sandbox.runtime.threads import LIVE_LINES, in_thread
from sandbox.web.consumers import WorkbenchConsumer
from sandbox.workshop.consumers import RoomConsumer

Scope = dict[str, Any]
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

TOO_OFTEN = 4429
"""Close code for a client over its rate limit. The page then waits long before it connects again."""


async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer the handshake with 403."""
    await receive()
    await send({"type": "websocket.close"})


websocket_urlpatterns = [
    path("ws/s/<uuid:sandbox_id>/<str:token>/", WorkbenchConsumer.as_asgi()),
    path("ws/w/<uuid:room_id>/<str:token>/", RoomConsumer.as_asgi()),
    re_path("", refuse),  # type: ignore[arg-type]
]


def rate_limited(application: Application) -> Application:
    """Return ``application`` behind a check of the origin's syntax and behind the rate limits of a websocket."""

    async def limited(scope: Scope, receive: Receive, send: Send) -> None:
        if not _has_readable_origin(scope):
            return await refuse(scope, receive, send)
        who = ratelimit.client_of(scope)
        if ratelimit.wait("address", who) or await in_thread(LIVE_LINES, ratelimit.wait, "socket", who):
            await receive()
            await send({"type": "websocket.accept"})
            return await send({"type": "websocket.close", "code": TOO_OFTEN})
        # Daphne takes the root path from a header, which any visitor can send.
        return await application(scope | {"root_path": ""}, _paced(receive, send), send)

    return limited


def _has_readable_origin(scope: Scope) -> bool:
    """Return True if Channels can parse the Origin header. It crashes on one like ``http://[``."""
    try:
        return all(urlsplit(value.decode("latin-1")).port != 0 for name, value in scope["headers"] if name == b"origin")
    except ValueError:
        return False


def _paced(receive: Receive, send: Send) -> Receive:
    """Return a ``receive`` that closes the socket when it sends messages too often."""
    bucket = ratelimit.Bucket()

    async def receive_paced() -> Message:
        message = await receive()
        if message["type"] != "websocket.receive":
            return message
        if not bucket.take(*settings.RATE_LIMITS["message"], monotonic()):
            return message
        measures.REFUSED.labels("message").inc()
        await send({"type": "websocket.close", "code": TOO_OFTEN})
        return {"type": "websocket.disconnect", "code": TOO_OFTEN}

    return receive_paced


WITHOUT_ORIGIN = b"null"
"""The Origin header of a page in an iframe with ``sandbox`` and without ``allow-same-origin``."""


def origin_checked(routes: Application) -> Application:
    """Return ``routes`` for pages of this site, and for pages in frames that have no origin.

    The token in the address is the only authority. The browser sends no cookie that would add to it.
    """
    validated = AllowedHostsOriginValidator(routes)

    async def checked(scope: Scope, receive: Receive, send: Send) -> None:
        origins = [value for name, value in scope["headers"] if name == b"origin"]
        await (routes if origins == [WITHOUT_ORIGIN] else validated)(scope, receive, send)

    return checked


websockets = rate_limited(origin_checked(URLRouter(websocket_urlpatterns)))
