"""Routes for programs: explain a pod, run many commands, try them, wait, and check and collect expectations."""

from __future__ import annotations

import json
from functools import partial
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Status
from ninja.errors import HttpError

from sandbox.changes import expectations
from sandbox.pool import engines
from sandbox.storage.models import printable
from sandbox.web import executing
from sandbox.web.api import explanations, shapes
from sandbox.web.api.access import ONE, PROBLEMS, access_to, moment_of, once
from sandbox.web.api.states import UNREAD, changed, event_of, state_after
from sandbox.web.errors import BadQuery
from sandbox.words.say import say
from sandbox.worker import jobs
from scheduler_engine.errors import Rejected
from scheduler_engine.scenario.expectations import EXPECTATIONS

EVENT_STREAM = {"text/event-stream": {"schema": {"type": "string"}}}
EVENTS_BODY = {"responses": {200: {"content": EVENT_STREAM, "description": "OK"}}}

NEEDED: dict[str, tuple[str, ...]] = {
    "verdict": ("pod", "node"),
    "score": ("pod", "node", "plugin"),
    "total": ("pod", "node"),
    "leader": (),
    "clock": (),
}
"""Fact → the fields that say what it is about. A fact without a row is about a pod."""

router = Router(tags=["Programs"])


@router.get(f"{ONE}/explain", response={200: explanations.Explained, **PROBLEMS}, summary=say("api.explain"))
def explain(request: HttpRequest, sandbox_id: UUID, token: str, asked: Query[explanations.ExplainQuery]) -> Any:
    """Explain the last attempt for a pod, or the one that ``attempt`` or ``cycle`` chooses."""
    access = access_to(request, sandbox_id, token, False)
    nodes = [asked.node] if asked.node else []
    about = asked.pod, nodes, asked.attempt, asked.cycle, moment_of(asked.at)
    found = engines.read(access.sandbox, jobs.explanation, *about)
    if found is None:
        chosen = [name for name in ("attempt", "cycle") if getattr(asked, name) is not None]
        field, row = (chosen[0], "errors.no-attempt") if chosen else ("pod", "errors.no-pod-here")
        raise BadQuery(404, field, "FieldValueNotFound", say(row, pod=asked.pod))
    if isinstance(found, list):
        cycles = ", ".join(map(str, found))
        raise BadQuery(422, "cycle", "FieldValueRequired", say("errors.several-attempts", cycles=cycles))
    return found


@router.post(f"{ONE}/batch", response={200: shapes.State, **UNREAD, **PROBLEMS}, summary=say("api.batch"))
def batch(
    request: HttpRequest,
    response: HttpResponse,
    sandbox_id: UUID,
    token: str,
    body: shapes.Batch,
    who: str = "",
    dry_run: bool = Query(False, description=say("api.dry-run")),
) -> Any:
    """Execute commands one after the other, all or none. They are one change, which one step back does not undo."""
    access = access_to(request, sandbox_id, token, True)
    return changed(request, response, access, [command.root for command in body.commands], who, dry_run)


@router.post(f"{ONE}/wait", response={200: shapes.Waited, **UNREAD, **PROBLEMS}, summary=say("api.wait"))
def wait(
    request: HttpRequest, response: HttpResponse, sandbox_id: UUID, token: str, body: shapes.Wait, who: str = ""
) -> Any:
    """Let simulated time pass until all expectations hold, or until the time is over. It has passed in both cases.

    They are checked whenever nothing more can happen at an instant. If they hold already, nothing changes.
    """
    access = access_to(request, sandbox_id, token, True)
    _check(body.until, "until")
    wanted = body.until, body.seconds
    act = partial(executing.carry_out, access.sandbox, jobs.wait, wanted, printable(who))
    differs = once(request, response, access, act)
    if differs is None:
        differs = engines.read(access.sandbox, jobs.judged, body.until, None)
    state = state_after(access)
    if isinstance(state, Status):
        return state
    return {"met": not any(differs), "until": _judged(body.until, differs), "state": state}


@router.post(f"{ONE}/check", response={200: list[shapes.Judged], **PROBLEMS}, summary=say("api.check"))
def check(request: HttpRequest, sandbox_id: UUID, token: str, body: shapes.Check) -> Any:
    """Check expectations at a moment. Nothing is stored."""
    access = access_to(request, sandbox_id, token, False)
    _check(body.expectations, "expectations")
    differs = engines.read(access.sandbox, jobs.judged, body.expectations, moment_of(body.at))
    return _judged(body.expectations, differs)


@router.get(f"{ONE}/expectations", response={200: list[shapes.Collected], **PROBLEMS}, summary=say("api.collected"))
def collected(request: HttpRequest, sandbox_id: UUID, token: str) -> Any:
    """List the expectations that people collected here, and those of the scenario. ``wrong``: why one fails."""
    access = access_to(request, sandbox_id, token, False)
    return engines.read(access.sandbox, jobs.collected)


@router.post(f"{ONE}/expectations", response={201: shapes.Kept, **PROBLEMS}, summary=say("api.collect"))
def collect(request: HttpRequest, sandbox_id: UUID, token: str, body: shapes.Fact, who: str = "") -> Any:
    """Collect a fact of a moment as an expectation, as “Expect this” does."""
    access = access_to(request, sandbox_id, token, True)
    about = body.dict(exclude={"fact", "at"}, exclude_none=True)
    for field in NEEDED.get(body.fact, ("pod",)):
        if not about.get(field):
            raise BadQuery(422, field, "FieldValueRequired", say("errors.fact-needs", fact=body.fact, field=field))
    kept = expectations.expect(access.sandbox, body.fact, about, moment_of(body.at), printable(who))
    return Status(201, {"key": kept.pk, "expectation": json.loads(kept.expectation)})


@router.delete(f"{ONE}/expectations/{{key}}", response={204: None, **PROBLEMS}, summary=say("api.drop"))
def drop(request: HttpRequest, sandbox_id: UUID, token: str, key: int) -> Any:
    access = access_to(request, sandbox_id, token, True)
    if not expectations.take_back(access.sandbox, key):
        raise HttpError(404, say("expectations.no-such"))
    return Status(204, None)


@router.get(f"{ONE}/events", response={200: None, **PROBLEMS}, summary=say("api.events"), openapi_extra=EVENTS_BODY)
def events(request: HttpRequest, sandbox_id: UUID, token: str) -> Any:
    """Follow the sandbox by server-sent events: its state now, and after each change. Changes may be told together."""
    # Reached only without the server, which keeps the answer open: see ``sandbox.web.streams``.
    _, text = event_of(access_to(request, sandbox_id, token, False))
    return HttpResponse(text, content_type="text/event-stream")


def _check(listed: list[dict[str, Any]], field: str) -> None:
    """Raise ``Rejected`` if one of the expectations is not valid."""
    if problems := list(EXPECTATIONS.problems(listed, field)):
        raise Rejected(problems)


def _judged(listed: list[dict[str, Any]], differs: list[list[str]]) -> list[dict[str, Any]]:
    return [
        {"expectation": expectation, "holds": not texts, "differs": texts}
        for expectation, texts in zip(listed, differs, strict=True)
    ]
