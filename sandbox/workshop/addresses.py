"""The links of a room, and the one to join as a picture that a phone reads."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import segno
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from markupsafe import Markup

from sandbox.runtime.hosts import LOOPBACK
from sandbox.storage import tokens
from sandbox.workshop.access import RoomAccess
from sandbox.workshop.models import Seat
from sandbox.workshop.room import current


def links(request: HttpRequest, access: RoomAccess) -> dict[str, Any]:
    """Of the page of a link: only what its role may pass on."""
    room = access.room
    site = site_for_others(request)
    join = site + reverse("join-code", args=[room.code])
    found: dict[str, Any] = {"join": join, "qr": qr(join), "short": (site + reverse("join")).split("://")[1]}
    if access.role == "trainer":
        found["only_here"] = is_only_here(site)
        beamer = reverse("room", args=[room.pk, tokens.view_token(access.token)])
        found["beamer"] = request.build_absolute_uri(beamer)
        found["sandbox"] = own(access.token, current(None, room))
    return found


def site_for_others(request: HttpRequest) -> str:
    """The site as others reach it: a trainer may have opened it on the machine that serves."""
    here = request.build_absolute_uri("/").rstrip("/")
    known = [host for host in settings.ALLOWED_HOSTS if host not in (*LOOPBACK, "*") and not host.startswith(".")]
    if not known or not is_only_here(here):
        return here
    port = urlsplit(here).port
    return f"{request.scheme}://{known[0]}{f':{port}' if port else ''}"


def is_only_here(address: str) -> bool:
    """Whether an address leads nobody on another machine to this one."""
    return (urlsplit(address).hostname or "") in ("localhost", "127.0.0.1", "::1")


def own(token: str, seat: Seat) -> str:
    """Path of the workbench of one's own seat; empty as long as it was not made."""
    if seat.sandbox_id is None:
        return ""
    return reverse("workbench", args=[seat.sandbox_id, tokens.seat_token(token, seat.number)])


def qr(text: str) -> str:
    """An SVG without colours of its own: it is drawn in the colour of text, on white."""
    made = segno.make(text, error="m", micro=False)
    return Markup(made.svg_inline(scale=1, border=2, omitsize=True, svgclass="qr", lineclass="qr-line"))
