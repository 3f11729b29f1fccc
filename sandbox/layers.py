"""The channel layer of a site that is one process."""

from __future__ import annotations

import time

from channels.layers import InMemoryChannelLayer

SECONDS = 1.0


class LocalChannelLayer(InMemoryChannelLayer):
    """Looks for messages that nobody fetched once a second: Channels looks through all browsers at every message."""

    cleaned = 0.0

    def _clean_expired(self) -> None:
        now = time.monotonic()
        if now - self.cleaned >= SECONDS:
            self.cleaned = now
            super()._clean_expired()
