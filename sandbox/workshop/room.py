"""All actions in a room. Each is one short transaction, after which all pages of the room are notified."""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from sandbox.changes import copies
from sandbox.limits.quotas import OverQuota
from sandbox.panels.model.moment import Moment
from sandbox.runtime import layers
from sandbox.runtime.threads import tell
from sandbox.storage import tokens
from sandbox.storage.failures import refusal
from sandbox.storage.models import LONGEST_TITLE, Key, Sandbox, printable
from sandbox.web.executing import execute
from sandbox.web.numbers import KEY_DIGITS, whole_number
from sandbox.words.say import say
from sandbox.worker.errors import EngineError
from sandbox.worker.live import ReplayFailed
from sandbox.workshop import sources
from sandbox.workshop.layers import notify_room
from sandbox.workshop.lessons import LessonFile, check_limits, fill
from sandbox.workshop.models import OwnLesson, Participant, Seat, Sending, Workshop
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.shapes import Data

log = logging.getLogger(__name__)

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Letters of codes, without those that people confuse."""
CODE_LENGTH = 6
CODE_TRIES = 20
MOST_SEATS = 100
"""The number of sandboxes that a trainer can send one person."""
MOST_MINUTES = 600
MOST_LISTED = 5
"""Participants that the error of a step names."""
STEPS: dict[str, dict[str, Any]] = {
    "stage": {"kind": "stage"},
    "pod": {"kind": "pod"},
    "settle": {"kind": "settle"},
    "second": {"kind": "advance", "seconds": 1},
}
"""Name of a step → the command that a trainer executes in participants' sandboxes."""
MOST_LOST = 3
"""Failures of the database after which a step for a room ends."""
TRAINER = say("room.trainer")
"""The name beside a trainer's step in the log of a participant's sandbox."""


def open_room(
    source: sources.Source,
    title: str = "",
    plan: Sequence[Data] = (),
    files: Sequence[LessonFile] = (),
    first: int = 0,
    trainers: sources.Source | None = None,
    fill_in: Callable[[Workshop, list[OwnLesson]], object] = lambda room, lessons: None,
) -> tuple[Workshop, str]:
    """Create a room, and return it with the trainer's token. Everybody in it starts with a sandbox of ``source``.

    ``plan``: the rows of the plan in a room's file. ``files``: the trainer's own lessons. ``first``: the number of the
    lesson among them that everybody starts with instead of ``source``, 0 for none. ``trainers``: the source of the
    trainer's own sandbox, None = the same as everybody's. ``fill_in`` adds more to the room in the same transaction.
    """
    check_limits([file.text for file in files])
    token = tokens.new_token()
    room = Workshop(
        trainer_token_hash=tokens.digest(token),
        beamer_token_hash=tokens.digest(tokens.view_token(token)),
        rows=json.dumps(list(plan), ensure_ascii=False),
    )
    own: list[OwnLesson] = []
    for number, file in enumerate(files, 1):
        lesson = OwnLesson(workshop=room, number=number)
        fill(lesson, file, [other.title for other in own])
        own.append(lesson)
    seat_token = tokens.seat_token(token, 1)
    if first:
        source = sources.of_lesson(own[first - 1])
    if first and trainers is None:
        sandbox = sources.create_of_lesson(own[first - 1], seat_token)
    else:
        sandbox = sources.create(trainers or source, seat_token)
    room.title, room.source = printable(title, LONGEST_TITLE) or source["title"], sources.to_text(source)
    with transaction.atomic():
        _save_with_code(room)
        OwnLesson.objects.bulk_create(own)
        _seat(room, None, token, 1, sources.to_text(trainers or source), sandbox)
        fill_in(room, own)
    return room, token


def _save_with_code(room: Workshop) -> None:
    """Save a new room under an unused code. Raise ``OverQuota`` if none turns up."""
    for _ in range(CODE_TRIES):
        room.code = "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))
        if not Workshop.objects.filter(code=room.code).exists():
            return room.save(force_insert=True)
    raise OverQuota(say("room.no-code-left"), 507)


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
    """Return the current seat of a participant, or of the trainer if ``owner`` is None."""
    return _seats(owner, room)[0]


def seats_of(owner: Participant, room: Workshop) -> list[Seat]:
    """Return the seats of a participant, the current one first."""
    seats = list(_seats(owner, room))
    if room.closed:  # Seats without a sandbox by then never get one.
        seats = [seat for seat in seats if seat.sandbox_id] or seats
    return seats


def _seats(owner: Participant | None, room: Workshop) -> QuerySet[Seat]:
    """Return the seats of a participant or the trainer, the current one first; none if the participant has left."""
    return Seat.objects.filter(workshop=room, participant=owner).select_related("sandbox").order_by("-number")


def take_seat(room: Workshop, owner: Participant | None, token: str) -> Seat:
    """Return the current seat of a participant or the trainer, and create its sandbox if it has none.

    A participant may have deleted an earlier one. Raise ``Rejected`` if the trainer's was deleted: its questions would
    be answered by another run. Raise what ``sources.create`` raises.
    """
    seat = current(owner, room)
    if seat.sandbox_id is not None:
        return seat
    if owner is None and seat.view_token:
        raise Rejected(say("room.no-trainer-sandbox"))
    sandbox = sources.create(sources.from_text(seat.source), tokens.seat_token(token, seat.number))
    with transaction.atomic():
        # Meanwhile the room may have been paused, resumed or closed, the owner removed, and the key withdrawn.
        frozen = Workshop.objects.select_for_update().filter(pk=room.pk).values_list("frozen", flat=True).first()
        now = room.people.filter(pk=owner.pk).first() if owner is not None else None
        locked = Seat.objects.select_for_update().get(pk=seat.pk)
        if locked.sandbox_id is None:
            locked.sandbox, locked.began = sandbox, sandbox.head
            locked.view_token = tokens.view_token(tokens.seat_token(token, seat.number))
            locked.save()
            Sandbox.objects.filter(pk=sandbox.pk).update(frozen=now is not None and bool(frozen))
            if now is not None and now.key:
                _add_key(now, locked)
        else:
            sandbox.delete()  # Two pages of the same person created one at the same time.
    notify_room(room.pk)
    return locked


def send(room: Workshop, source: sources.Source, to: Iterable[Participant], everybody: bool = False) -> int:
    """Give participants a new seat for a sandbox of ``source``, and return how many got one. Earlier seats stay.

    ``everybody``: ``to`` is the whole room, so participants who join later get the same.
    """
    text, sent = sources.to_text(source), 0
    with transaction.atomic():
        if everybody:
            Workshop.objects.filter(pk=room.pk).update(latest=text)
            sending(room, source, timezone.now()).save()
        # Some may have left meanwhile.
        for participant in room.people.select_for_update().filter(pk__in=[one.pk for one in to]).order_by("pk"):
            last = current(participant, room)
            if last.number < MOST_SEATS:
                Seat.objects.create(workshop=room, participant=participant, number=last.number + 1, source=text)
                sent += 1
    notify_room(room.pk)
    return sent


def sendings(room: Workshop) -> list[Sending]:
    """Return what was sent to everybody, in order: as much as one person can get. Sources are read when needed."""
    rows = [*room.sendings.defer("source").order_by("-pk")[:MOST_SEATS]][::-1]
    if room.latest and not rows:  # A room of an older version stores only the last one, without its time.
        return [sending(room, sources.from_text(room.latest), None)]
    return rows


def sending(room: Workshop, source: sources.Source, at: datetime | None) -> Sending:
    """Return the unsaved row for a source that was sent. ``at``: None = unknown."""
    title = source["title"][: Sending.LONGEST]
    return Sending(workshop=room, source=sources.to_text(source), title=title, gone=source["kind"] == "gone", at=at)


def step(room: Workshop, command: dict[str, Any], to: Iterable[Participant]) -> tuple[int, list[tuple[str, str]]]:
    """Execute a command in the sandboxes of participants. Return how many ran it, and each failure: name, reason.

    A failure of the database counts for the participant whose turn it is: others have run the command already. After
    ``MOST_LOST`` of them, the rest is not tried.
    """
    done, lost, failures = 0, 0, []
    for participant in to:
        if lost >= MOST_LOST:
            failures.append((participant.name, say("room.not-tried")))
            continue
        try:
            seat = _seats(participant, room).first()
            if seat is None:
                continue  # They left meanwhile.
            if seat.sandbox is None:
                failures.append((participant.name, say("room.no-sandbox")))
                continue
            seat.sandbox.by_helper = True
            execute(seat.sandbox, command, TRAINER)
            done += 1
        except (Rejected, OverQuota, EngineError, ReplayFailed) as error:
            failures.append((participant.name, str(error)))
        except (OperationalError, InterfaceError) as error:
            log.exception("the database failed in the middle of a step for a room")
            failures.append((participant.name, refusal(error)[1]))
            lost += 1
    return done, failures


def recipients(room: Workshop, chosen: Sequence[str]) -> list[Participant]:
    """Return participants by primary key, given as text, or all if none is chosen.

    Raise ``Rejected`` if there are none.
    """
    everybody = list(room.people.order_by("pk"))
    to = [person for person in everybody if not chosen or str(person.pk) in chosen]
    if not to:
        raise Rejected(say("room.no-chosen") if everybody else say("room.nobody"))
    return to


def send_to(room: Workshop, chosen: Sequence[str], find: Callable[[], sources.Source]) -> int:
    """Send the source that ``find`` returns to participants by primary key, to all if none is chosen.

    Return how many got it. Participants who join later get what was sent to all. So a trainer can send something to an
    empty room. Raise ``Rejected`` if nobody is chosen, before the source is copied, and what ``find`` raises.
    """
    count = room.people.count()
    to = recipients(room, chosen) if count else []
    return send(room, find(), to, everybody=len(to) == count)


def step_failures(failures: Sequence[tuple[str, str]]) -> str:
    """Return the sentence that names the first failures of a step."""
    text = "; ".join(say("room.step-failure", name=name, reason=reason) for name, reason in failures[:MOST_LISTED])
    if len(failures) > MOST_LISTED:
        text = say("room.step-failures", failures=text, count=len(failures) - MOST_LISTED)
    return say("room.step-failed", failures=text)


def moment_of_trainer(room: Workshop, at: Moment | None) -> sources.Source:
    """Return a copy of the trainer's sandbox at a moment (None: now) as a source.

    Raise ``Rejected`` if the sandbox is gone, and what ``copies.fork`` raises.
    """
    seat = current(None, room)
    if seat.sandbox is None:
        raise Rejected(say("room.no-trainer-sandbox"))
    return sources.copy_of(Sandbox.objects.get(pk=copies.fork(seat.sandbox, at)[0]))


def set_frozen(room: Workshop, on: bool) -> None:
    """Pause all participants, or let them continue."""
    with transaction.atomic():
        Workshop.objects.filter(pk=room.pk).update(frozen=on)
        _sandboxes(room).update(frozen=on)
    notify_room(room.pk)


def _sandboxes(room: Workshop) -> QuerySet[Sandbox]:
    seats = Seat.objects.filter(workshop=room, participant__in=room.people)
    return Sandbox.objects.filter(pk__in=seats.values("sandbox"))


def unfreeze(participant: Participant) -> None:
    """Let a participant continue in all of their own sandboxes."""
    Sandbox.objects.filter(pk__in=participant.seats.values("sandbox")).update(frozen=False)


def show_trainer(room: Workshop, on: bool) -> None:
    """Show the trainer's sandbox to all participants, or their own again."""
    Workshop.objects.filter(pk=room.pk).update(eyes=on)
    notify_room(room.pk)


def set_timer(room: Workshop, minutes: float) -> datetime | None:
    """Start a timer, or remove it with 0 minutes. Return when it ends. Raise ``Rejected`` for an invalid number."""
    if not 0 <= minutes <= MOST_MINUTES:
        raise Rejected([FieldError("minutes", "Invalid value", say("room.minutes", most=MOST_MINUTES))])
    ends = timezone.now() + timedelta(minutes=minutes) if minutes else None
    Workshop.objects.filter(pk=room.pk).update(timer_ends=ends)
    notify_room(room.pk)
    return ends


def raise_hand(participant: Participant, up: bool) -> None:
    """Raise or lower a hand. A raised hand keeps its time. Raise ``Rejected`` if the participant has left meanwhile."""
    set_fields(participant, hand=(participant.hand or timezone.now()) if up else None)
    notify_room(participant.workshop_id)


def set_fields(participant: Participant, **fields: Any) -> None:
    """Store fields of a participant. Raise ``Rejected`` if they have left meanwhile."""
    if not Participant.objects.filter(pk=participant.pk).update(**fields):
        raise Rejected(say("room.no-participant"))
    for name, value in fields.items():
        setattr(participant, name, value)


def allow_help(participant: Participant, token: str, on: bool) -> None:
    """Let the trainer change the participant's sandbox, or stop that. Raise what ``take_seat`` raises."""
    seat = take_seat(participant.workshop, participant, token) if on else None
    with transaction.atomic():
        Workshop.objects.select_for_update().get(pk=participant.workshop_id)
        remove_keys(participant)
        set_fields(participant, key=tokens.new_token() if seat is not None else "")
        if seat is not None:
            _add_key(participant, seat)
    notify_room(participant.workshop_id)


def _add_key(participant: Participant, seat: Seat) -> None:
    if seat.sandbox is not None:
        digest = tokens.digest(participant.key)
        Key.objects.create(sandbox=seat.sandbox, token_hash=digest, view_token=seat.view_token)


def change_keys(room: Workshop) -> None:
    """Give the trainer new keys in place of all that participants have allowed, in a transaction."""
    for participant in room.people.exclude(key=""):
        remove_keys(participant)
        set_fields(participant, key=tokens.new_token())
        _add_key(participant, current(participant, room))


def remove_keys(participant: Participant) -> None:
    """Revoke all keys of the trainer, also those of requests at the same time. The participant is not saved yet."""
    keys = Key.objects.filter(sandbox__in=participant.seats.values("sandbox"))
    for sandbox_id in keys.values_list("sandbox", flat=True):
        transaction.on_commit(partial(layers.publish, tell, sandbox_id, layers.LINKS_CHANGED), robust=True)
    keys.delete()


def close(room: Workshop) -> None:
    """Close a room: nobody can join or answer any more, and everybody can continue in their own sandbox."""
    with transaction.atomic():
        now = timezone.now()
        Workshop.objects.filter(pk=room.pk).update(closed=now, frozen=False, eyes=False, timer_ends=None)
        room.questions.filter(over=None).update(over=now)
        room.questions.update(away=True)
        _sandboxes(room).update(frozen=False)
        for participant in room.people.exclude(key=""):
            remove_keys(participant)
            set_fields(participant, key="")
    notify_room(room.pk)


def delete(room: Workshop) -> None:
    """Delete a room and everything about its participants. Their sandboxes stay."""
    close(room)
    room_id = room.pk
    room.delete()
    notify_room(room_id)


def participant_of(room: Workshop, key: str) -> Participant | None:
    """Return a participant of the room by primary key, given as text; None if there is no such participant."""
    return room.people.filter(pk=whole_number(key, KEY_DIGITS) or 0).first()
