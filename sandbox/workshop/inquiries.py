"""Questions of participants to the trainer: they ask and vote, the trainer answers, hides and shows them."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from sandbox.limits import ratelimit
from sandbox.limits.quotas import OverQuota
from sandbox.web.access import TOO_OFTEN
from sandbox.web.errors import RateExceeded
from sandbox.web.numbers import KEY_DIGITS, whole_number
from sandbox.words.say import say
from sandbox.workshop.layers import notify_room
from sandbox.workshop.models import INQUIRY_CHARACTERS, Inquiry, Participant, Workshop
from sandbox.workshop.questions import line
from scheduler_engine.errors import FieldError, Rejected

MOST_OPEN = 5
"""Open questions of one person."""
MOST_INQUIRIES = 50
"""Questions of one person in a room, with answered and hidden ones."""
MOST_PROJECTED = 6
"""Questions on a projector: the last row of seats must be able to read them."""


@dataclass(frozen=True, slots=True)
class InquiryView:
    """A question as a page shows it. ``mine`` and ``voted``: for the participant who looks."""

    key: int
    text: str
    name: str
    votes: int
    mine: bool
    voted: bool
    answered: bool


def inquire(participant: Participant, text: str) -> Inquiry:
    """Ask the trainer. Raise ``Rejected`` for an invalid text, ``OverQuota`` or ``RateExceeded`` for too many."""
    asked = line(text)
    if not asked:
        raise Rejected([FieldError("text", "Required value", say("room.no-ask"))])
    if len(asked) > INQUIRY_CHARACTERS:
        raise Rejected([FieldError("text", "Too long", say("room.ask-too-long", most=INQUIRY_CHARACTERS))])
    with transaction.atomic():
        locked = Participant.objects.select_for_update().filter(pk=participant.pk).first()
        if locked is None:
            raise Rejected(say("room.no-participant"))
        if locked.inquiries.filter(answered=None, hidden=False).count() >= MOST_OPEN:
            raise OverQuota(say("room.inquiries-open", most=MOST_OPEN))
        if locked.inquiries.count() >= MOST_INQUIRIES:
            raise OverQuota(say("room.inquiries-full", most=MOST_INQUIRIES))
        if seconds := ratelimit.wait("inquiry", str(participant.pk)):
            raise RateExceeded(say(TOO_OFTEN["inquiry"]), seconds)
        inquiry = Inquiry.objects.create(workshop_id=participant.workshop_id, participant=locked, text=asked)
    notify_room(participant.workshop_id)
    return inquiry


def vote(participant: Participant, inquiry: Inquiry, on: bool) -> None:
    """Vote for a question of somebody else, or take the vote back. Voting twice counts once.

    Raise ``Rejected`` for one's own question.
    """
    if inquiry.participant_id == participant.pk:
        raise Rejected(say("room.own-inquiry"))
    if on:
        inquiry.voters.add(participant)
    else:
        inquiry.voters.remove(participant)
    notify_room(participant.workshop_id)


def set_answered(inquiry: Inquiry, on: bool) -> None:
    """Mark a question as answered, or as open again."""
    Inquiry.objects.filter(pk=inquiry.pk).update(answered=timezone.now() if on else None)
    notify_room(inquiry.workshop_id)


def hide(inquiry: Inquiry) -> None:
    """Hide a question from all pages."""
    Inquiry.objects.filter(pk=inquiry.pk).update(hidden=True)
    notify_room(inquiry.workshop_id)


def show_on_projector(room: Workshop, on: bool) -> None:
    """Show the participants' open questions on the projector, or no longer."""
    Workshop.objects.filter(pk=room.pk).update(inquiries_shown=on)
    notify_room(room.pk)


def by_key(room: Workshop, key: str) -> Inquiry | None:
    """Return a question of the room by primary key, given as text; None if no page shows such a question."""
    return _present(room).filter(pk=whole_number(key, KEY_DIGITS) or 0).first()


def _present(room: Workshop) -> QuerySet[Inquiry]:
    return Inquiry.objects.filter(workshop=room, hidden=False, participant__removed=None)


def present(room: Workshop) -> list[InquiryView]:
    """Return the questions that pages show, in the order in which they were asked."""
    return sorted(listed(room, None, by_votes=False), key=lambda view: view.key)


def listed(room: Workshop, looking: Participant | None, by_votes: bool) -> list[InquiryView]:
    """Return the questions that pages show, open ones first; by votes, or in the order in which they were asked."""
    votes = Count("voters", filter=Q(voters__removed=None))
    rows = list(_present(room).select_related("participant").annotate(count=votes).order_by("pk"))
    voted = set(looking.votes.filter(workshop=room).values_list("pk", flat=True)) if looking else set()
    views = [
        InquiryView(
            key=row.pk,
            text=row.text,
            name=row.participant.name if row.participant else "",
            votes=row.count + row.votes_before,
            mine=looking is not None and row.participant_id == looking.pk,
            voted=row.pk in voted,
            answered=row.answered is not None,
        )
        for row in rows
    ]
    return sorted(views, key=lambda view: (view.answered, -view.votes if by_votes else 0))
