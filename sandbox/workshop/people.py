"""Participants of a room: they join under a name, come back, are renamed, leave, or are removed."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from sandbox.limits import ratelimit
from sandbox.limits.quotas import OverQuota
from sandbox.storage import tokens
from sandbox.web.access import TOO_OFTEN
from sandbox.web.errors import RateExceeded
from sandbox.words.say import say
from sandbox.workshop.layers import notify_room
from sandbox.workshop.models import NAME_CHARACTERS, Participant, Seat, Workshop
from sandbox.workshop.names import clean, readings
from sandbox.workshop.room import remove_keys, set_fields, unfreeze
from scheduler_engine.errors import FieldError, Rejected

MOST_PARTICIPANTS = 200
TAKEN = "FieldValueDuplicate"
"""The kind of the error for a name that is taken."""


def find_room(code: str) -> Workshop | None:
    """Return the open room with a code, which may have small letters and spaces; None if there is none."""
    typed = "".join(letter for letter in code.upper() if letter.isalnum())
    return Workshop.objects.filter(code=typed, closed=None).first()


def join(room: Workshop, name: str) -> tuple[Participant, str]:
    """Create a participant, and return it with the token of their page.

    Their seat is for the source that was last sent to everybody, or else for the room's own. Raise ``Rejected`` for a
    closed room or a name that is empty, too long or taken, ``OverQuota`` for a full room.
    """
    token = tokens.new_token()
    with transaction.atomic():
        locked = Workshop.objects.select_for_update().get(pk=room.pk)
        if locked.closed:
            raise Rejected(say("room.join-closed"))
        if locked.people.count() >= MOST_PARTICIPANTS:
            raise OverQuota(say("room.full", most=MOST_PARTICIPANTS))
        hashed, sealed = tokens.digest(token), tokens.seal(token)
        participant = Participant(workshop=locked, token_hash=hashed, sealed=sealed)
        participant.name = _free_name(locked, name)
        participant.save()
        Seat.objects.create(workshop=locked, participant=participant, number=1, source=locked.latest or locked.source)
    notify_room(room.pk)
    return participant, token


def come_back(room: Workshop, name: str, code: str) -> str:
    """Return the token of the participant called ``name``.

    Raise ``Rejected`` for an unknown name or a wrong code, ``RateExceeded`` after too many codes.
    """
    participant = _closest(room, name)
    if participant is None:
        raise Rejected([FieldError("name", "FieldValueNotFound", say("room.nobody-called", name=clean(name)))])
    if seconds := ratelimit.wait("code", str(participant.pk)):
        raise RateExceeded(say(TOO_OFTEN["code"]), seconds)
    token = tokens.unseal(participant.sealed, code.strip(), participant.token_hash)
    if token is None:
        raise Rejected([FieldError("back", "FieldValueInvalid", say("room.wrong-code", name=participant.name))])
    return token


def rename(participant: Participant, name: str) -> None:
    """Give a participant another name. Raise ``Rejected`` if it is empty, too long or taken, or they left."""
    with transaction.atomic():
        room = Workshop.objects.select_for_update().get(pk=participant.workshop_id)
        set_fields(participant, name=_free_name(room, name, participant))
    notify_room(participant.workshop_id)


def _closest(room: Workshop, name: str, ignored: Participant | None = None) -> Participant | None:
    """Return the participant called ``name``, else one whose name looks like it, else None."""
    wanted, cleaned = readings(name), clean(name)
    close = [person for person in room.people.order_by("pk") if person != ignored and readings(person.name) & wanted]
    return min(close, key=lambda person: person.name != cleaned, default=None)


def _free_name(room: Workshop, name: str, renamed: Participant | None = None) -> str:
    """Return ``name`` as it is saved. Raise ``Rejected`` if it is empty, too long, or too close to another in the room.

    ``renamed`` is the participant who gets the name, None for somebody who joins.
    """
    cleaned = clean(name)
    if not cleaned:
        raise Rejected([FieldError("name", "FieldValueRequired", say("room.no-name"))])
    if len(cleaned) > NAME_CHARACTERS:
        too_long = say("room.name-too-long", most=NAME_CHARACTERS, length=len(cleaned))
        raise Rejected([FieldError("name", "FieldValueTooLong", too_long)])
    other = _closest(room, cleaned, renamed)
    if other is None:
        return cleaned
    raise Rejected([FieldError("name", TAKEN, _name_taken(cleaned, other.name, joins=renamed is None))])


def _name_taken(name: str, other: str, joins: bool) -> str:
    """Say why ``name`` is not free. A person who joins may be the one who already has it."""
    if name == other:
        return say("room.name-taken-or-you", name=name) if joins else say("room.name-taken", name=name)
    if joins:
        return say("room.name-close-or-you", name=name, other=other)
    return say("room.name-close", name=name, other=other)


def leave(participant: Participant) -> None:
    """Delete a participant who leaves, with everything about them. Their sandboxes stay."""
    room_id = participant.workshop_id
    with transaction.atomic():
        Workshop.objects.select_for_update().get(pk=room_id)
        unfreeze(participant)
        remove_keys(participant)
        participant.delete()
    notify_room(room_id)


def remove(participant: Participant) -> None:
    """Remove a participant for the trainer. Their page closes; their sandboxes and results stay.

    Raise ``Rejected`` if they have left.
    """
    with transaction.atomic():
        Workshop.objects.select_for_update().get(pk=participant.workshop_id)
        unfreeze(participant)
        remove_keys(participant)
        set_fields(participant, removed=timezone.now(), hand=None, key="")
    notify_room(participant.workshop_id)
