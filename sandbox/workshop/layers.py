"""The way to everybody in a room."""

from __future__ import annotations

from uuid import UUID

from channels.layers import get_channel_layer
from django.db import transaction

from sandbox.runtime.threads import tell


def group(room_id: UUID) -> str:
    """Name of the channel group of all pages of a room."""
    return f"room.{room_id.hex}"


def tell_room(room_id: UUID) -> None:
    """Something in the room has changed, as soon as it is committed."""
    transaction.on_commit(lambda: _tell(room_id), robust=True)


def _tell(room_id: UUID) -> None:
    layer = get_channel_layer()
    if layer is not None:
        tell(layer.group_send, group(room_id), {"type": "room.changed"})
