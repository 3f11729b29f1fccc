"""The links of a room, and the QR code of the link to join."""

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
    """Return the links that a role may pass on, by name. ``qr`` is the QR code of the link to join."""
    room = access.room
    site = site_for_others(request)
    join = site + reverse("join-code", args=[room.code])
    result: dict[str, Any] = {"join": join, "qr": qr(join), "short": (site + reverse("join")).split("://")[1]}
    if access.role == "trainer":
        result["only_here"] = is_only_here(site)
        projector = reverse("room", args=[room.pk, tokens.view_token(access.token)])
        result["projector"] = request.build_absolute_uri(projector)
        result["sandbox"] = own_path(access.token, current(None, room))
    elif access.role == "assistant":
        result["sandbox"] = watch_path(current(None, room))
    return result


def site_for_others(request: HttpRequest) -> str:
    """Return the address of the site for others. A trainer may have opened it on the server itself, as localhost."""
    here = request.build_absolute_uri("/").rstrip("/")
    known = [host for host in settings.ALLOWED_HOSTS if host not in (*LOOPBACK, "*") and not host.startswith(".")]
    if not known or not is_only_here(here):
        return here
    port = urlsplit(here).port
    return f"{request.scheme}://{known[0]}{f':{port}' if port else ''}"


def is_only_here(address: str) -> bool:
    """Return True if an address works on this machine only."""
    return (urlsplit(address).hostname or "") in ("localhost", "127.0.0.1", "::1")


def own_path(token: str, seat: Seat) -> str:
    """Return the path of the workbench of a seat, for its owner; empty while the seat has no sandbox."""
    if seat.sandbox_id is None:
        return ""
    return reverse("workbench", args=[seat.sandbox_id, tokens.seat_token(token, seat.number)])


def watch_path(seat: Seat) -> str:
    """Return the path on which others watch a seat; empty while it has no sandbox."""
    return reverse("workbench", args=[seat.sandbox_id, seat.view_token]) if seat.sandbox_id else ""


def look_paths(seat: Seat) -> dict[str, str]:
    """Return the paths of the workbench of a participant's seat for the trainer: ``watch``, and ``help``.

    They are empty without a sandbox, and ``help`` also if the participant has not allowed it.
    """
    if seat.sandbox_id is None or seat.participant is None:
        return {"watch": "", "help": ""}
    watch = reverse("workbench", args=[seat.sandbox_id, seat.view_token])
    key = seat.participant.key
    return {"watch": watch, "help": reverse("workbench", args=[seat.sandbox_id, key]) if key else ""}


def qr(text: str) -> str:
    """Return a QR code as an SVG without colours: the page draws it in the text colour on white."""
    code = segno.make(text, error="m", micro=False)
    return Markup(code.svg_inline(scale=1, border=2, omitsize=True, svgclass="qr", lineclass="qr-line"))
