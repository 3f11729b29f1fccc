"""A participant's own notes. They are saved as they are typed, on several devices."""

from __future__ import annotations

from django.db.models import F, Q

from sandbox.words.say import say
from sandbox.workshop.models import Participant
from scheduler_engine.errors import FieldError, Rejected

LONGEST = 10_000
"""Characters of the notes of one person."""


def save(participant: Participant, text: str, page: str, turn: int) -> int | None:
    """Save notes, and return how often that was done. ``turn``: how often they were saved when ``page`` read them.

    Return None if another page has saved others since: nothing is overwritten that nobody has read. Raise ``Rejected``
    if they are too long, or the participant has left.
    """
    lines = text.replace("\r\n", "\n")
    if len(lines) > LONGEST:
        message = say("room.notes-too-long", most=LONGEST, length=len(lines))
        raise Rejected([FieldError("text", "Too long", message)])
    rows = Participant.objects.filter(pk=participant.pk, removed=None)
    known = Q(notes_turn=turn) | (Q(notes_page=page) & ~Q(notes_page=""))
    if rows.filter(known).update(notes=lines, notes_page=page, notes_turn=F("notes_turn") + 1):
        return rows.values_list("notes_turn", flat=True).first()
    if not rows.exists():
        raise Rejected(say("room.no-participant"))
    return None


def as_file(participant: Participant) -> str:
    """Return notes as the text of a file, with the room's title and the date on which it was opened."""
    room = participant.workshop
    return f"{room.title}\n{room.created:%Y-%m-%d}, {participant.name}\n\n{participant.notes}\n"
