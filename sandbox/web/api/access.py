"""What the routes of one sandbox share: its address, its refusals, and the access that a token grants."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest
from ninja.errors import HttpError

from sandbox.limits import ratelimit
from sandbox.panels.model.moment import Moment
from sandbox.web.access import TOO_OFTEN, Access, open_access
from sandbox.web.api import shapes
from sandbox.web.errors import RateExceeded
from sandbox.words.say import say

PROBLEMS = dict.fromkeys((400, 403, 404, 409, 413, 422, 423, 429, 500, 503, 507), shapes.Problem)
ONE = "/sandboxes/{uuid:sandbox_id}/{token}"


def access_to(request: HttpRequest, sandbox_id: UUID, token: str, edits: bool) -> Access:
    """Return the access of a token. Raise ``HttpError`` if it is refused, ``RateExceeded`` after too many requests."""
    access = open_access(sandbox_id, token)
    if access is None:
        raise HttpError(404, say("errors.no-sandbox"))
    if edits and not access.can_edit:
        raise HttpError(403, say("errors.view-only-token"))
    if edits and access.frozen:
        raise HttpError(423, say("errors.paused"))
    name, counted = ("command", str(sandbox_id)) if edits else ("look", f"{sandbox_id} {access.can_edit}")
    if seconds := ratelimit.wait(name, counted):
        raise RateExceeded(say(TOO_OFTEN[name]), seconds)
    return access


def moment_of(text: str) -> Moment | None:
    """Return the moment of a text, "" = the present. Raises HttpError if it is not one."""
    moment = Moment.read(text)
    if text and moment is None:
        raise HttpError(422, say("errors.moment-of-log"))
    return moment
