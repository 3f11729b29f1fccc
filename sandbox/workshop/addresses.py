"""The links of a room, and the one to join as a picture that a phone reads."""

from __future__ import annotations

import segno
from django.http import HttpRequest
from django.urls import reverse
from markupsafe import Markup

from sandbox import tokens
from sandbox.workshop.access import RoomAccess
from sandbox.workshop.models import Seat
from sandbox.workshop.room import current


def links(request: HttpRequest, access: RoomAccess) -> dict[str, str]:
    """Of the page of a link: only what its role may pass on."""
    room = access.room
    join = request.build_absolute_uri(reverse("join-code", args=[room.code]))
    found = {"join": join, "qr": qr(join), "short": request.build_absolute_uri(reverse("join")).split("://")[1]}
    if access.role == "trainer":
        beamer = reverse("room", args=[room.pk, tokens.view_token(access.token)])
        found["beamer"] = request.build_absolute_uri(beamer)
        found["sandbox"] = own(access.token, current(None, room))
    return found


def own(token: str, seat: Seat) -> str:
    """Path of the workbench of one's own seat; empty as long as it was not made."""
    if seat.sandbox_id is None:
        return ""
    return reverse("workbench", args=[seat.sandbox_id, tokens.seat_token(token, seat.number)])


def qr(text: str) -> str:
    """An SVG without colours of its own: it is drawn in the colour of text, on white."""
    made = segno.make(text, error="m", micro=False)
    return Markup(made.svg_inline(scale=1, border=2, omitsize=True, svgclass="qr", lineclass="qr-line"))
