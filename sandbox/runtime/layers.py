"""Messages to all browsers of a sandbox, and the channel layer for a site without Redis."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Any
from uuid import UUID

from channels.layers import InMemoryChannelLayer, get_channel_layer

SECONDS = 1.0
LINKS_CHANGED = {"type": "links.changed"}
"""The message to browsers of a sandbox whose links may have ended: a key is withdrawn, or the sandbox is deleted."""
HERE = secrets.token_hex(8)
"""The name of this process in messages, to tell its own from those of other web processes."""


def group(sandbox_id: UUID) -> str:
    """Return the name of the channel group of a sandbox's browsers."""
    return f"sandbox.{sandbox_id.hex}"


def publish(tell: Callable[..., None], sandbox_id: UUID, message: dict[str, Any]) -> None:
    """Send a message to all browsers of a sandbox. ``tell``: ``threads.tell``, or a result of ``threads.teller``."""
    layer = get_channel_layer()
    if layer is not None:
        tell(layer.group_send, group(sandbox_id), message)


def begin() -> None:
    """Let the channel layer work in the running loop, which serves browsers as long as it runs."""
    layer = get_channel_layer()
    if layer is not None:
        layer.begin()


class LocalChannelLayer(InMemoryChannelLayer):
    """Drops expired messages once a second. Channels itself would go through all browsers at every message.

    A browser leaves its groups when its line ends, however long that is. Channels itself would drop it after a day.
    """

    cleaned = 0.0

    def __init__(self, **options: Any) -> None:
        super().__init__(**options | {"group_expiry": float("inf")})

    def begin(self) -> None:
        """Work in the running loop. Nothing is needed here."""

    def _clean_expired(self) -> None:
        now = time.monotonic()
        if now - self.cleaned >= SECONDS:
            self.cleaned = now
            super()._clean_expired()
