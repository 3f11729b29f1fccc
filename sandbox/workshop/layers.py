"""Notify all pages of a room of a change."""

from __future__ import annotations

from uuid import UUID

from channels.layers import get_channel_layer
from django.db import transaction

from sandbox.runtime.threads import tell


def group(room_id: UUID) -> str:
    """Return the name of the channel group that all pages of a room are in."""
    return f"room.{room_id.hex}"


def notify_room(room_id: UUID) -> None:
    """Tell all pages of a room, once the transaction is committed, that the room has changed."""
    transaction.on_commit(lambda: _send_change(room_id), robust=True)


def _send_change(room_id: UUID) -> None:
    layer = get_channel_layer()
    if layer is not None:
        tell(layer.group_send, group(room_id), {"type": "room.changed"})
