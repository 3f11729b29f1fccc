"""The state of a sandbox, with which every route that changes it answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from ninja import Status

from sandbox.changes import store
from sandbox.limits.quotas import OverQuota
from sandbox.pool import engines
from sandbox.storage.models import printable
from sandbox.storage.records import Position
from sandbox.web import executing
from sandbox.web.access import Access
from sandbox.web.api import shapes
from sandbox.web.api.access import once
from sandbox.web.errors import refusal_of
from sandbox.words.say import say
from sandbox.worker import jobs
from sandbox.worker.errors import EngineError
from sandbox.worker.live import ReplayFailed

UNREADABLE = (EngineError, OverQuota, ReplayFailed, OperationalError, InterfaceError)
"""What may keep a state from being read."""
UNREAD = {202: shapes.Unread}


def state_of(access: Access) -> dict[str, Any]:
    place, state = engines.now(access.sandbox, jobs.state)
    return _shown(access, place.position, state)


def event_of(access: Access) -> tuple[int, str]:
    """Return the number of changes so far, and the state as a server-sent event."""
    place, state = engines.now(access.sandbox, jobs.state)
    data = json.dumps(_shown(access, place.position, state))
    return place.revision, f"id: {place.revision}\nevent: state\ndata: {data}\n\n"


def state_after(access: Access) -> Any:
    """Return the state after a change. If it cannot be read, the answer says that the change was made."""
    return read_after(partial(state_of, access))


def read_after(read: Callable[[], Any]) -> Any:
    """Return what ``read`` returns after a change. If it cannot be read, the answer says that the change was made."""
    try:
        return read()
    except UNREADABLE as error:
        return Status(202, {"message": say("api.changed-unread", reason=refusal_of(error).message)})


def _shown(access: Access, position: Position, state: dict[str, Any]) -> dict[str, Any]:
    sandbox = access.sandbox
    known = {"title": sandbox.title, "seed": sandbox.seed, "queue_rules": sandbox.queue_rules}
    return {**known, "head": position.head, "length": position.length, **state}


def changed(
    request: HttpRequest,
    response: HttpResponse,
    access: Access,
    commands: Sequence[dict[str, Any]],
    who: str,
    dry_run: bool,
) -> Any:
    """Execute commands, all or none, and return the state after them. ``dry_run``: only try them."""
    if dry_run:
        return _shown(access, *store.tried(access.sandbox, commands))
    once(request, response, access, lambda key: executing.execute_all(access.sandbox, commands, printable(who), key))
    return state_after(access)
