"""Routes that move a sandbox in its own past: go back, list and reopen branches, continue in a copy."""

from __future__ import annotations

import json
from functools import partial
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Router, Status
from ninja.errors import HttpError

from sandbox.changes import copies, store
from sandbox.storage import branches
from sandbox.storage.commands import summary
from sandbox.storage.records import Position
from sandbox.web.api import shapes
from sandbox.web.api.access import ONE, PROBLEMS, access_to, addresses_of, check_rate, moment_of
from sandbox.web.api.states import UNREAD, state_after
from sandbox.web.errors import BadQuery
from sandbox.words.say import say

router = Router(tags=["Timelines"])


@router.post(f"{ONE}/head", response={200: shapes.State, **UNREAD, **PROBLEMS}, summary=say("api.move"))
def go_to(request: HttpRequest, sandbox_id: UUID, token: str, move: shapes.Move) -> Any:
    """Move to the state after a command, or back to a moment. Send ``to`` or ``at``."""
    access = access_to(request, sandbox_id, token, True)
    if (move.to is None) == (not move.at):
        raise HttpError(422, say("errors.to-or-at"))
    moment, to = moment_of(move.at), move.to
    if moment is not None:
        store.go_to_moment(access.sandbox, moment)
    elif to is not None:
        store.go_to(access.sandbox, partial(_stored, to))
    return state_after(access)


def _stored(n: int, position: Position) -> int:
    """Return the number of a command. Raise ``BadQuery`` if the log is not that long."""
    if n > position.length:
        raise BadQuery(422, "to", "FieldValueInvalid", say("errors.no-command", n=n, length=position.length))
    return n


@router.get(f"{ONE}/branches", response={200: list[shapes.Branch], **PROBLEMS}, summary=say("api.branches"))
def list_branches(request: HttpRequest, sandbox_id: UUID, token: str) -> Any:
    """List the timelines that the sandbox left when somebody went back and did something else, the newest first."""
    access = access_to(request, sandbox_id, token, False)
    return [
        {
            "branch": row.key,
            "after": row.after,
            "count": row.count,
            "first": json.loads(row.first),
            "about": summary(row.first),
            "who": row.who,
            "created": row.created,
        }
        for row in branches.branches_of(access.sandbox)
    ]


@router.post(
    f"{ONE}/branches/{{branch}}", response={200: shapes.State, **UNREAD, **PROBLEMS}, summary=say("api.reopen")
)
def reopen(request: HttpRequest, sandbox_id: UUID, token: str, branch: shapes.Key) -> Any:
    """Continue on a branch. The present timeline becomes a branch."""
    access = access_to(request, sandbox_id, token, True)
    if store.reopen(access.sandbox, branch) is None:
        raise HttpError(404, say("errors.no-branch"))
    return state_after(access)


@router.post(f"{ONE}/fork", response={201: shapes.Created, **PROBLEMS}, summary=say("api.fork"))
def fork(request: HttpRequest, sandbox_id: UUID, token: str, body: shapes.Fork) -> Any:
    """Create a sandbox with the log of this one up to a moment, with its lesson and its expectations."""
    check_rate(request, "create")
    access = access_to(request, sandbox_id, token, True)
    copied = copies.fork(access.sandbox, moment_of(body.at), anew=body.anew)
    return Status(201, addresses_of(request, *copied))
