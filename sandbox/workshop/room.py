"""What can be done in a room. Each change is one short transaction; then everybody in the room hears of it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from sandbox.changes import store
from sandbox.limits.quotas import OverQuota
from sandbox.panels.model.moment import Moment
from sandbox.storage import tokens
from sandbox.storage.models import LONGEST_TITLE, Key, Sandbox, printable
from sandbox.worker.errors import EngineError
from sandbox.worker.live import ReplayFailed
from sandbox.workshop import sources
from sandbox.workshop.layers import tell_room
from sandbox.workshop.lessons import Brought, check_room, filled
from sandbox.workshop.models import OwnLesson, Participant, Seat, Workshop
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.shapes import Data

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Of codes: without those that are mistaken for others."""
CODE_LENGTH = 6
CODE_TRIES = 20
MOST_SEATS = 100
"""Of one person: what can be sent to somebody one after the other."""
MOST_MINUTES = 600
TRAINER = "Trainer"
"""Under which name a trainer's step stands in the sandbox of a participant."""


def opened(
    source: sources.Source,
    title: str = "",
    plan: Sequence[Data] = (),
    brought: Sequence[Brought] = (),
    begins: int = 0,
) -> tuple[Workshop, str]:
    """A new room whose trainer has a sandbox of ``source``, as everybody who joins gets; and the trainer's token.

    ``plan``: questions of a file, which the trainer can put; ``brought``: lessons of the trainer's own; ``begins``: the
    number of the one of them that everybody begins with instead of ``source``, 0 = none.
    """
    check_room([each.text for each in brought])
    token = tokens.new_token()
    room = Workshop(
        trainer_token_hash=tokens.digest(token),
        beamer_token_hash=tokens.digest(tokens.view_token(token)),
        plan=json.dumps(list(plan), ensure_ascii=False),
    )
    own: list[OwnLesson] = []
    for number, each in enumerate(brought, 1):
        own.append(filled(OwnLesson(workshop=room, number=number), each, [lesson.title for lesson in own]))
    seat_token = tokens.seat_token(token, 1)
    if begins:
        source, sandbox = sources.of_lesson(own[begins - 1]), sources.made_of(own[begins - 1], seat_token)
    else:
        sandbox = sources.made(source, seat_token)
    room.title, room.source = printable(title, LONGEST_TITLE) or source["title"], sources.written(source)
    with transaction.atomic():
        _save_with_code(room)
        OwnLesson.objects.bulk_create(own)
        _seat(room, None, token, 1, room.source, sandbox)
    return room, token


def _save_with_code(room: Workshop) -> None:
    for _ in range(CODE_TRIES):
        room.code = "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))
        if not Workshop.objects.filter(code=room.code).exists():
            return room.save(force_insert=True)
    raise OverQuota("This server has no free code for a room. Try again later.", 507)


def _seat(
    room: Workshop, participant: Participant | None, token: str, number: int, source: str, sandbox: Sandbox
) -> Seat:
    view = tokens.view_token(tokens.seat_token(token, number))
    return Seat.objects.create(
        workshop=room,
        participant=participant,
        number=number,
        source=source,
        sandbox=sandbox,
        began=sandbox.head,
        view_token=view,
    )


def current(owner: Participant | None, room: Workshop) -> Seat:
    """Where somebody sits, None = the trainer."""
    seats = Seat.objects.filter(workshop=room, participant=owner)
    return seats.select_related("sandbox").order_by("-number")[0]


def take_seat(room: Workshop, owner: Participant | None, token: str) -> Seat:
    """Where somebody sits, with its sandbox: it is made now, if it was not yet. Raises as ``sources.made``."""
    seat = current(owner, room)
    if seat.view_token:
        return seat
    sandbox = sources.made(sources.read(seat.source), tokens.seat_token(token, seat.number))
    with transaction.atomic():
        # While it was made, the room may have been stopped, let go on or closed, and its owner taken out.
        frozen = Workshop.objects.select_for_update().filter(pk=room.pk).values_list("frozen", flat=True).first()
        stays = owner is not None and room.people.filter(pk=owner.pk).exists()
        locked = Seat.objects.select_for_update().get(pk=seat.pk)
        if not locked.view_token:
            locked.sandbox, locked.began = sandbox, sandbox.head
            locked.view_token = tokens.view_token(tokens.seat_token(token, seat.number))
            locked.save()
            _freeze(Sandbox.objects.filter(pk=sandbox.pk), stays and bool(frozen))
            if owner is not None and owner.key:
                _let_in(owner, locked)
        else:
            sandbox.delete()  # Two pages of one person asked at once.
    tell_room(room.pk)
    return locked


def send(room: Workshop, source: sources.Source, to: Iterable[Participant], everybody: bool = False) -> int:
    """Give participants a new sandbox of ``source``; what they had stays theirs. How many got it.

    ``everybody``: they are all, and whoever joins later gets the same.
    """
    text, sent = sources.written(source), 0
    with transaction.atomic():
        if everybody:
            Workshop.objects.filter(pk=room.pk).update(latest=text)
        for participant in to:
            last = current(participant, room)
            if last.number < MOST_SEATS:
                Seat.objects.create(workshop=room, participant=participant, number=last.number + 1, source=text)
                sent += 1
    tell_room(room.pk)
    return sent


def step(room: Workshop, command: dict[str, Any], to: Iterable[Participant]) -> list[tuple[str, str]]:
    """Execute a command in the sandboxes of participants; the names of those who could not make it, and why."""
    refused = []
    for participant in to:
        seat = current(participant, room)
        if seat.sandbox is None:
            refused.append((participant.name, "has no sandbox yet"))
            continue
        seat.sandbox.by_helper = True
        try:
            store.execute(seat.sandbox, command, TRAINER)
        except (Rejected, OverQuota, EngineError, ReplayFailed) as error:
            refused.append((participant.name, str(error)))
    return refused


def moment_of_trainer(room: Workshop, at: Moment | None) -> sources.Source:
    """The trainer's sandbox as it was at a moment, None = now, as a source that no longer changes.

    Raises as ``store.fork``.
    """
    seat = current(None, room)
    if seat.sandbox is None:
        raise Rejected("The trainer's sandbox no longer exists.")
    return sources.copy_of(Sandbox.objects.get(pk=store.fork(seat.sandbox, at)[0]))


def set_frozen(room: Workshop, on: bool) -> None:
    """Stop everybody but the trainer, or let them go on."""
    with transaction.atomic():
        Workshop.objects.filter(pk=room.pk).update(frozen=on)
        _freeze(_sandboxes(room), on)
    tell_room(room.pk)


def _freeze(which: QuerySet[Sandbox], on: bool) -> None:
    which.update(frozen=on)


def _sandboxes(room: Workshop) -> QuerySet[Sandbox]:
    seats = Seat.objects.filter(workshop=room, participant__in=room.people)
    return Sandbox.objects.filter(pk__in=seats.values("sandbox"))


def thaw(participant: Participant) -> None:
    """Let somebody go on in their own sandboxes."""
    Sandbox.objects.filter(pk__in=participant.seats.values("sandbox")).update(frozen=False)


def set_eyes(room: Workshop, on: bool) -> None:
    """Show everybody the trainer's sandbox, or their own again."""
    Workshop.objects.filter(pk=room.pk).update(eyes=on)
    tell_room(room.pk)


def set_timer(room: Workshop, minutes: float) -> datetime | None:
    """Let so many minutes begin now; 0 takes the timer away. Raises ``Rejected``."""
    if not 0 <= minutes <= MOST_MINUTES:
        raise Rejected([FieldError("minutes", "Invalid value", f"Enter between 0 and {MOST_MINUTES} minutes.")])
    ends = timezone.now() + timedelta(minutes=minutes) if minutes else None
    Workshop.objects.filter(pk=room.pk).update(timer_ends=ends)
    tell_room(room.pk)
    return ends


def raise_hand(participant: Participant, up: bool) -> None:
    participant.hand = (participant.hand or timezone.now()) if up else None
    participant.save(update_fields=["hand"])
    tell_room(participant.workshop_id)


def allow_help(participant: Participant, token: str, on: bool) -> None:
    """Let the trainer change things in the participant's sandbox, until it is taken back."""
    lock_out(participant)
    if on:
        seat = take_seat(participant.workshop, participant, token)
        participant.key = tokens.new_token()
        _let_in(participant, seat)
    participant.save(update_fields=["key"])
    tell_room(participant.workshop_id)


def _let_in(participant: Participant, seat: Seat) -> None:
    if seat.sandbox is not None:
        digest = tokens.digest(participant.key)
        Key.objects.create(sandbox=seat.sandbox, token_hash=digest, view_token=seat.view_token)


def lock_out(participant: Participant) -> None:
    """Take the trainer's key back; not saved yet."""
    if participant.key:
        Key.objects.filter(token_hash=tokens.digest(participant.key)).delete()
        participant.key = ""


def close(room: Workshop) -> None:
    """Nobody joins or answers any more, and everybody is free to go on in their own sandbox."""
    with transaction.atomic():
        now = timezone.now()
        Workshop.objects.filter(pk=room.pk).update(closed=now, frozen=False, eyes=False, timer_ends=None)
        room.questions.filter(over=None).update(over=now)
        room.questions.update(away=True)
        _freeze(_sandboxes(room), False)
        for participant in room.people.exclude(key=""):
            lock_out(participant)
            participant.save(update_fields=["key"])
    tell_room(room.pk)


def delete(room: Workshop) -> None:
    """The room goes, and all that is known of its people. Everybody's sandboxes stay theirs."""
    close(room)
    room_id = room.pk
    room.delete()
    tell_room(room_id)


def participant_of(room: Workshop, key: str) -> Participant | None:
    """Who is in the room, by primary key as text."""
    number = int(key) if key.isascii() and key.isdigit() and len(key) < 19 else 0
    return room.people.filter(pk=number).first()
