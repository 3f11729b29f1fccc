"""Who comes into a room, under which name, who comes back, and who leaves."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from sandbox.limits import ratelimit
from sandbox.limits.quotas import OverQuota
from sandbox.storage import tokens
from sandbox.workshop.layers import tell_room
from sandbox.workshop.models import NAME_CHARACTERS, Participant, Seat, Workshop
from sandbox.workshop.names import looks, tidy
from sandbox.workshop.room import lock_out, thaw
from scheduler_engine.errors import FieldError, Rejected

MOST_PARTICIPANTS = 200
TAKEN = "FieldValueDuplicate"
"""The kind of error of a name that somebody has."""
NO_CODE = "This is not the code of {name}. It has four digits and is on the page of {name}, under “More”."


def find(code: str) -> Workshop | None:
    """The open room of a code, however it was typed."""
    typed = "".join(letter for letter in code.upper() if letter.isalnum())
    return Workshop.objects.filter(code=typed, closed=None).first()


def join(room: Workshop, name: str) -> tuple[Participant, str]:
    """A new participant, and the token of their page. Raises ``Rejected`` for a name that is none, or is taken.

    They get what was sent to everybody last, or else what the room began with.
    """
    token = tokens.new_token()
    with transaction.atomic():
        locked = Workshop.objects.select_for_update().get(pk=room.pk)
        if locked.closed:
            raise Rejected("This room is closed.")
        if locked.people.count() >= MOST_PARTICIPANTS:
            raise OverQuota(f"This room is full: {MOST_PARTICIPANTS} people are in it.")
        hashed, sealed = tokens.digest(token), tokens.seal(token)
        participant = Participant(workshop=locked, token_hash=hashed, sealed=sealed)
        participant.name = _free(locked, name, " If it is you, enter your code.")
        participant.save()
        Seat.objects.create(workshop=locked, participant=participant, number=1, source=locked.latest or locked.source)
    tell_room(room.pk)
    return participant, token


def come_back(room: Workshop, name: str, code: str) -> str:
    """The token of somebody who is in the room under ``name``. Raises ``Rejected`` or ``TooOften``."""
    found = _named(room, name)
    if found is None:
        raise Rejected([FieldError("name", "FieldValueNotFound", f"Nobody here is called {tidy(name)}.")])
    if late := ratelimit.wait("code", str(found.pk)):
        raise TooOften(late)
    token = tokens.unseal(found.sealed, code.strip(), found.token_hash)
    if token is None:
        raise Rejected([FieldError("back", "FieldValueInvalid", NO_CODE.format(name=found.name))])
    return token


class TooOften(Exception):
    """Too many codes were tried for one name; ``late``: seconds until the next one may be."""

    def __init__(self, late: float) -> None:
        super().__init__(late)
        self.late = late


def rename(participant: Participant, name: str) -> None:
    """Raises ``Rejected``."""
    with transaction.atomic():
        room = Workshop.objects.select_for_update().get(pk=participant.workshop_id)
        participant.name = _free(room, name, "", participant)
        participant.save(update_fields=["name"])
    tell_room(participant.workshop_id)


def _named(room: Workshop, name: str, but: Participant | None = None) -> Participant | None:
    """Whose name is, or is taken for, ``name``; the same name goes first."""
    wanted, called = looks(name), tidy(name)
    close = [person for person in room.people.order_by("pk") if person != but and looks(person.name) & wanted]
    return min(close, key=lambda person: person.name != called, default=None)


def _free(room: Workshop, name: str, hint: str, but: Participant | None = None) -> str:
    """``name`` as it is kept. Raises ``Rejected`` when it is none, or too close to another one in the room."""
    called = tidy(name)[:NAME_CHARACTERS].strip()
    if not called:
        raise Rejected([FieldError("name", "FieldValueRequired", "Enter a name. It need not be your real one.")])
    other = _named(room, called, but)
    if other is None:
        return called
    same = f"“{called}” is here already."
    close = f"“{called}” is too close to “{other.name}”, who is here already."
    taken = (same if other.name == called else close) + (hint or " Choose another name.")
    raise Rejected([FieldError("name", TAKEN, taken)])


def leave(participant: Participant) -> None:
    """Somebody leaves the room, and what is known of them there is deleted. Their sandboxes stay theirs."""
    thaw(participant)
    lock_out(participant)
    room_id = participant.workshop_id
    participant.delete()
    tell_room(room_id)


def remove(participant: Participant) -> None:
    """The trainer takes somebody out. Their page is gone, their sandboxes stay theirs; the results have them still."""
    thaw(participant)
    lock_out(participant)
    participant.removed, participant.hand = timezone.now(), None
    participant.save(update_fields=["removed", "hand", "key"])
    tell_room(participant.workshop_id)
