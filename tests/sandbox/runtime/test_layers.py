"""The channel layer in memory."""

from __future__ import annotations

import time

import pytest

from sandbox.runtime.layers import LocalChannelLayer


@pytest.mark.asyncio
async def test_a_page_that_is_open_for_days_still_gets_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = LocalChannelLayer()
    channel = await layer.new_channel()
    await layer.group_add("sandbox.1", channel)
    days = time.time() + 3 * 86400
    monkeypatch.setattr(time, "time", lambda: days)
    await layer.group_send("sandbox.1", {"type": "sandbox.changed"})
    assert await layer.receive(channel) == {"type": "sandbox.changed"}
