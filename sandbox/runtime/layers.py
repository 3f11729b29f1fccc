"""The way to all browsers of a sandbox, and the channel layer of a site that is one process."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from uuid import UUID

from channels.layers import InMemoryChannelLayer, get_channel_layer

SECONDS = 1.0


def group(sandbox_id: UUID) -> str:
    """Name of the channel group of a sandbox's browsers."""
    return f"sandbox.{sandbox_id.hex}"


def publish(tell: Callable[..., None], sandbox_id: UUID, message: dict[str, Any]) -> None:
    """Send all browsers of a sandbox a message, by ``threads.tell`` or what ``threads.teller`` gave."""
    layer = get_channel_layer()
    if layer is not None:
        tell(layer.group_send, group(sandbox_id), message)


class LocalChannelLayer(InMemoryChannelLayer):
    """Looks for messages that nobody fetched once a second: Channels looks through all browsers at every message."""

    cleaned = 0.0

    def _clean_expired(self) -> None:
        now = time.monotonic()
        if now - self.cleaned >= SECONDS:
            self.cleaned = now
            super()._clean_expired()
