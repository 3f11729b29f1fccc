"""Websocket URLs of the site, and who is let through to them."""

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
from sandbox.web.consumers import WorkbenchConsumer
from sandbox.workshop.consumers import RoomConsumer

Scope = dict[str, Any]
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

TOO_OFTEN = 4429
"""Close code for who connects or talks too often: the page waits long before it connects again."""


async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer the handshake with 403."""
    await receive()
    await send({"type": "websocket.close"})


websocket_urlpatterns = [
    path("ws/s/<uuid:sandbox_id>/<str:token>/", WorkbenchConsumer.as_asgi()),
    path("ws/w/<uuid:room_id>/<str:token>/", RoomConsumer.as_asgi()),
    re_path("", refuse),  # type: ignore[arg-type]
]


def guarded(application: Application) -> Application:
    """Let through whoever comes from a page of this site, and neither connects nor talks too often."""

    async def door(scope: Scope, receive: Receive, send: Send) -> None:
        if not _has_readable_origin(scope):
            return await refuse(scope, receive, send)
        if ratelimit.wait("address", who := ratelimit.client_of(scope)) or ratelimit.wait("socket", who):
            await receive()
            await send({"type": "websocket.accept"})
            return await send({"type": "websocket.close", "code": TOO_OFTEN})
        # The root path is what a visitor's header says to Daphne.
        return await application(scope | {"root_path": ""}, _paced(receive, send), send)

    return door


def _has_readable_origin(scope: Scope) -> bool:
    """Whether Channels can judge the origin: it breaks down at one like ``http://[``."""
    try:
        return all(urlsplit(value.decode("latin-1")).port != 0 for name, value in scope["headers"] if name == b"origin")
    except ValueError:
        return False


def _paced(receive: Receive, send: Send) -> Receive:
    """``receive`` of a socket that is closed when it talks too often."""
    bucket = ratelimit.Bucket()

    async def receive_paced() -> Message:
        message = await receive()
        if message["type"] != "websocket.receive":
            return message
        if not bucket.take(*settings.RATE_LIMITS["message"], monotonic()):
            return message
        await send({"type": "websocket.close", "code": TOO_OFTEN})
        return {"type": "websocket.disconnect", "code": TOO_OFTEN}

    return receive_paced


WITHOUT_ORIGIN = b"null"
"""What a page tells that stands in a frame with ``sandbox`` and without ``allow-same-origin``."""


def from_pages(routes: Application) -> Application:
    """Let pages of this site through, and pages in frames that have no origin.

    The token in the address alone gives authority, and a browser adds nothing to it that a foreign page does not know.
    """
    validated = AllowedHostsOriginValidator(routes)

    async def judged(scope: Scope, receive: Receive, send: Send) -> None:
        origins = [value for name, value in scope["headers"] if name == b"origin"]
        await (routes if origins == [WITHOUT_ORIGIN] else validated)(scope, receive, send)

    return judged


websockets = guarded(from_pages(URLRouter(websocket_urlpatterns)))
