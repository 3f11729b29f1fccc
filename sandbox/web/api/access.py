"""What the routes of one sandbox share: its address, its refusals, and the access that a token grants."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import TypeVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from ninja.errors import HttpError

from sandbox.changes.once import HEADER, DoneAlready, Once
from sandbox.limits import ratelimit
from sandbox.panels.model.moment import Moment
from sandbox.storage import tokens
from sandbox.storage.models import LONGEST_KEY
from sandbox.web.access import TOO_OFTEN, Access, open_access
from sandbox.web.api import shapes
from sandbox.web.errors import BadQuery, RateExceeded
from sandbox.words.say import say

PROBLEMS = dict.fromkeys((400, 403, 404, 409, 413, 422, 423, 429, 500, 503, 507), shapes.Problem)
T = TypeVar("T")

REPLAYED = "Idempotency-Replayed"
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


def check_rate(request: HttpRequest, name: str) -> None:
    """Count a request of this client. Raise ``RateExceeded`` if there are too many: ``name`` says of which kind."""
    if seconds := ratelimit.wait(name, ratelimit.client(request)):
        raise RateExceeded(say(TOO_OFTEN[name]), seconds)


def addresses_of(request: HttpRequest, sandbox_id: UUID, token: str) -> dict[str, str]:
    """Return the addresses of a new sandbox, as ``shapes.Created``. ``token``: its edit token."""
    paths = {
        "api": reverse("api:state", args=[sandbox_id, token]),
        "edit": reverse("workbench", args=[sandbox_id, token]),
        "watch": reverse("workbench", args=[sandbox_id, tokens.view_token(token)]),
    }
    return {"id": str(sandbox_id), **{name: request.build_absolute_uri(path) for name, path in paths.items()}}


def moment_of(text: str) -> Moment | None:
    """Return the moment of a text, "" = the present. Raises HttpError if it is not one."""
    moment = Moment.read(text)
    if text and moment is None:
        raise HttpError(422, say("errors.moment-of-log"))
    return moment


def once(request: HttpRequest, response: HttpResponse, access: Access, act: Callable[[Once | None], T]) -> T | None:
    """Carry a request out, unless it has an idempotency key and was carried out before. Return what ``act`` returns.

    None: it was carried out before, which ``response`` says in a header.
    """
    key = request.headers.get(HEADER, "")
    if len(key) > LONGEST_KEY:
        raise BadQuery(422, HEADER, "FieldValueTooLong", say("errors.long-key", most=LONGEST_KEY))
    wanted = Once(key, sha256(request.get_full_path().encode() + b"\n" + request.body).hexdigest()) if key else None
    try:
        if wanted is not None:
            wanted.check(access.sandbox.pk)
        return act(wanted)
    except DoneAlready:
        response.headers[REPLAYED] = "true"
        return None
