"""Pages to print: the handout of a room, and certificates."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from sandbox.workshop import paper
from sandbox.workshop.access import RoomAccess, room_page
from sandbox.workshop.addresses import site_for_others

ROLES = ("trainer", "participant")


@room_page
def handout(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    _check(access)
    context = {
        "room": access.room,
        "person": access.participant,
        "handout": paper.handout(access.room, access.participant),
        "site": site_for_others(request),
    }
    return render(request, "workshop/handout.html", context)


@room_page
def certificate(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    """Show the certificate of a participant; for the trainer, those of everybody in the room."""
    _check(access)
    people = [access.participant] if access.participant else access.room.people.order_by("name")
    context = {"room": access.room, "certificates": paper.certificates(access.room, people)}
    return render(request, "workshop/certificate.html", context)


def _check(access: RoomAccess) -> None:
    if access.role not in ROLES:
        raise Http404
