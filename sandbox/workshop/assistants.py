"""Assistants of the trainer: the links that the trainer makes for them, and revokes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Max, Q
from django.urls import reverse
from django.utils import timezone

from sandbox.limits.quotas import OverQuota
from sandbox.storage import tokens
from sandbox.words.say import say
from sandbox.workshop.layers import notify_room
from sandbox.workshop.models import Assistant, Workshop
from sandbox.workshop.room import change_keys

MOST_ASSISTANTS = 10
"""Links that work at the same time."""
SEEN_WITHIN = timedelta(minutes=1)
"""How precise ``seen`` is: it is written at most once in this time."""


@dataclass(frozen=True, slots=True)
class AssistantView:
    """An assistant as the trainer's page shows them. ``path``: of their page."""

    number: int
    path: str
    seen: datetime | None


def listed(room: Workshop, trainer_token: str) -> list[AssistantView]:
    """Return the assistants whose links work."""
    return [
        AssistantView(
            row.number, reverse("room", args=[room.pk, tokens.assistant_token(trainer_token, row.number)]), row.seen
        )
        for row in room.assistants.filter(revoked=False).order_by("number")
    ]


def make(room: Workshop, trainer_token: str) -> None:
    """Make a link for an assistant. Raise ``OverQuota`` if there are too many."""
    with transaction.atomic():
        locked = Workshop.objects.select_for_update().get(pk=room.pk)
        if locked.assistants.filter(revoked=False).count() >= MOST_ASSISTANTS:
            raise OverQuota(say("room.assistants-full", most=MOST_ASSISTANTS))
        number = (locked.assistants.aggregate(last=Max("number"))["last"] or 0) + 1
        digest = tokens.digest(tokens.assistant_token(trainer_token, number))
        Assistant.objects.create(workshop=locked, number=number, token_hash=digest)
    notify_room(room.pk)


def revoke(room: Workshop, number: int) -> bool:
    """Revoke the link of an assistant. Return False if there is none with this number.

    The assistant may have kept the links on which they helped participants, so these change, too.
    """
    with transaction.atomic():
        locked = Workshop.objects.select_for_update().get(pk=room.pk)
        if not locked.assistants.filter(number=number, revoked=False).update(revoked=True):
            return False
        change_keys(locked)
    notify_room(room.pk)
    return True


def find(room: Workshop, token_hash: str) -> Assistant | None:
    """Return the assistant with a token, None if there is none. Store that the link was used."""
    found = room.assistants.filter(token_hash=token_hash, revoked=False).first()
    if found is not None:
        _see(found)
    return found


def _see(assistant: Assistant) -> None:
    now = timezone.now()
    rows = Assistant.objects.filter(pk=assistant.pk)
    if rows.filter(Q(seen=None) | Q(seen__lt=now - SEEN_WITHIN)).update(seen=now) and assistant.seen is None:
        notify_room(assistant.workshop_id)
