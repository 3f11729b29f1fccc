"""Routes whose answers come from copies of the engine. Each asks what a page of the site asks."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Query, Router
from ninja.errors import HttpError

from sandbox.pool import engines
from sandbox.storage.records import Place
from sandbox.web.api import shapes
from sandbox.web.api.access import ONE, PROBLEMS, access_to, moment_of
from sandbox.web.errors import BadQuery
from sandbox.web.second_run import NoRun, named_run, second_run
from sandbox.words.say import say
from sandbox.worker import jobs
from sandbox.worker.rerolling import CHOICES as DRAWS
from sandbox.worker.room import KINDS, MOST_WANTED, POD, Asked
from sandbox.worker.seeds import Wanted

router = Router(tags=["Answers"])
AT = Query("", description=say("api.moment"))


@router.get(f"{ONE}/differences", response={200: shapes.Answer, **PROBLEMS}, summary=say("api.differences"))
def differences(request: HttpRequest, sandbox_id: UUID, token: str, asked: Query[shapes.Differences]) -> Any:
    """Compare with one of: a branch, a configuration, a version, a seed, an attempt (cycle) with another node."""
    access = access_to(request, sandbox_id, token, False)
    query = {name: "" if value is None else str(value) for name, value in asked.dict().items()}
    try:
        other, _ = second_run(access.sandbox, query)
    except NoRun as error:
        raise HttpError(404, str(error)) from error
    except ValueError as error:
        raise HttpError(422, str(error)) from error
    return _answer(*engines.now(access.sandbox, jobs.difference, other, moment_of(asked.at)))


@router.get(f"{ONE}/seeds", response={200: shapes.Answer, **PROBLEMS}, summary=say("api.seeds"))
def seeds(request: HttpRequest, sandbox_id: UUID, token: str, asked: Query[shapes.ManySeeds]) -> Any:
    """Play the seeds from 1 on, alone or beside another run. If each run takes long, fewer are played."""
    access = access_to(request, sandbox_id, token, False)
    try:
        named = named_run(access.sandbox, asked.dict(include={"branch", "configuration", "kubernetes"}))
    except NoRun as error:
        raise HttpError(404, str(error)) from error
    wanted = Wanted(asked.seeds, named[0] if named is not None else None)
    return _answer(*engines.now(access.sandbox, jobs.seeds, wanted, moment_of(asked.at)))


@router.get(f"{ONE}/reroll", response={200: shapes.Answer, **PROBLEMS}, summary=say("api.reroll"))
def reroll(
    request: HttpRequest,
    sandbox_id: UUID,
    token: str,
    cycle: int = Query(0, ge=0, description=say("api.cycle")),
    draws: int = Query(DRAWS[0], ge=1, le=DRAWS[-1], description=say("api.draws")),
) -> Any:
    access = access_to(request, sandbox_id, token, False)
    return _answer(*engines.now(access.sandbox, jobs.reroll, cycle, draws))


@router.get(f"{ONE}/fixes", response={200: shapes.FixesAnswer, **PROBLEMS}, summary=say("api.fixes"))
def fixes(
    request: HttpRequest,
    sandbox_id: UUID,
    token: str,
    pod: str = "",
    at: str = AT,
) -> Any:
    access = access_to(request, sandbox_id, token, False)
    _require("pod", pod, say("errors.no-pod-named"))
    return _answer(*engines.now(access.sandbox, jobs.fixes, pod, moment_of(at)))


@router.get(f"{ONE}/fit", response={200: shapes.Answer, **PROBLEMS}, summary=say("api.fit"))
def fit(
    request: HttpRequest,
    sandbox_id: UUID,
    token: str,
    pod: str = "",
    kind: str = Query(POD, description=say("api.kind-to-copy")),
    key: str = "",
    copies: int = Query(0, ge=0, le=MOST_WANTED, description=say("api.copies")),
    shape: str = Query("", description=say("api.shape")),
    at: str = AT,
) -> Any:
    access = access_to(request, sandbox_id, token, False)
    if kind not in KINDS:
        raise BadQuery(422, "kind", "FieldValueNotSupported", say("errors.kind-to-copy", kinds=", ".join(KINDS)))
    if kind == POD:
        _require("pod", pod, say("errors.no-pod-named"))
    else:
        _require("key", key, say("errors.no-workload-named"))
    if copies:
        _require("shape", shape, say("fit.no-shape"))
    return _answer(
        *engines.now(access.sandbox, jobs.fit, Asked(pod if kind == POD else key, copies, shape, kind), moment_of(at))
    )


@router.get(f"{ONE}/headroom", response={200: shapes.Answer, **PROBLEMS}, summary=say("api.headroom"))
def headroom(
    request: HttpRequest,
    sandbox_id: UUID,
    token: str,
    at: str = AT,
) -> Any:
    access = access_to(request, sandbox_id, token, False)
    return _answer(*engines.now(access.sandbox, jobs.still_fits, moment_of(at)))


@router.get(f"{ONE}/leave", response={200: shapes.Answer, **PROBLEMS}, summary=say("api.leave"))
def leave(
    request: HttpRequest,
    sandbox_id: UUID,
    token: str,
    node: str = "",
    zone: str = "",
    at: str = AT,
) -> Any:
    access = access_to(request, sandbox_id, token, False)
    _require("node", node or zone, say("leave.nothing-chosen"))
    if node and zone:
        raise BadQuery(422, "zone", "FieldValueForbidden", say("leave.both", node=node, zone=zone))
    return _answer(*engines.now(access.sandbox, jobs.leave, node, zone, moment_of(at)))


def _require(field: str, value: str, message: str) -> None:
    if not value:
        raise BadQuery(422, field, "FieldValueRequired", message)


def _answer(place: Place, found: dict[str, Any]) -> dict[str, Any]:
    """Return an answer. Raises ``BadQuery`` if the question names something that does not exist."""
    if field := found.get("unknown"):
        raise BadQuery(404, field, "FieldValueNotFound", found["problem"])
    answer = {name: value for name, value in found.items() if name not in ("problem", "unknown")}
    return {"head": place.position.head, "problem": found["problem"], "answer": answer}
