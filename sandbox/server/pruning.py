"""Deletes unused sandboxes and workshops: once a day in the server, or with ``manage.py prune``.

The server also deletes old drafts of imports.
"""

from __future__ import annotations

import time
from datetime import timedelta
from threading import Lock

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from sandbox.changes import store
from sandbox.limits import quotas
from sandbox.runtime.threads import BACKGROUND, in_background
from sandbox.storage import shared_text
from sandbox.storage.models import Sandbox
from sandbox.web import uploads
from sandbox.workshop import room as rooms
from sandbox.workshop.models import Workshop

DAY_SECONDS = 24 * 60 * 60
AT_ONCE = 50
"""Sandboxes deleted in one transaction, so that nobody waits long for the database."""
SHORTER_DAYS = (30, 7, 1)
"""Shorter limits to try while the store is nearly full."""
NEARLY_FULL = 0.9

_next = 0.0
_lock = Lock()


def prune(days: int) -> int:
    """Delete the sandboxes that nobody has changed for ``days`` days. Return how many."""
    unused = Sandbox.objects.filter(last_used__lt=timezone.now() - timedelta(days=days)).order_by("last_used")
    deleted = 0
    while True:
        with transaction.atomic():
            keys = list(unused.select_for_update().values_list("pk", flat=True)[:AT_ONCE])
            store.delete(keys)
        deleted += len(keys)
        if len(keys) < AT_ONCE:
            return deleted


def prune_rooms(days: int) -> int:
    """Delete the workshops unused for ``days`` days, with the names and answers of their people. Return how many.

    As if their trainers had deleted them: nobody's sandbox stays paused, and no trainer keeps a key to one.
    """
    unused = Workshop.objects.filter(last_used__lt=timezone.now() - timedelta(days=days))
    deleted = 0
    for key in list(unused.values_list("pk", flat=True)):
        room = unused.filter(pk=key).first()  # It may have been used again meanwhile.
        if room is not None:
            rooms.delete(room)
            deleted += 1
    return deleted


def prune_daily() -> None:
    """Prune after ``ROOM_DAYS`` and ``PRUNE_DAYS``, sandboxes sooner while the store is nearly full."""
    if settings.ROOM_DAYS:
        prune_rooms(settings.ROOM_DAYS)
    if not settings.PRUNE_DAYS:
        shared_text.sweep()
        return
    for days in (settings.PRUNE_DAYS, *(days for days in SHORTER_DAYS if days < settings.PRUNE_DAYS)):
        prune(days)
        shared_text.sweep()
        quotas.forget_stored_bytes()
        if quotas.store_bytes() < NEARLY_FULL * settings.STORE_BYTES:
            return


def chore() -> None:
    """Delete old drafts of imports, and prune if due. The server calls this every few minutes; it does not block."""
    in_background(BACKGROUND, uploads.sweep)
    prune_if_due()


def prune_if_due() -> None:
    """Prune in the background, unless this process has pruned within a day."""
    global _next
    with _lock:
        now = time.monotonic()
        if now < _next or not (settings.PRUNE_DAYS or settings.ROOM_DAYS):
            return
        _next = now + DAY_SECONDS
    in_background(BACKGROUND, prune_daily)
