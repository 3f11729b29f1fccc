"""The routes. Each reads something or executes one command, as in the page."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe
from ninja import Query, Router, Status
from ninja.errors import HttpError

from sandbox.changes import store, study
from sandbox.changes.opening import open_named, open_scenario, open_uploaded, read_lesson, read_uploaded
from sandbox.content.scenarios import scenarios
from sandbox.limits.quotas import check_size
from sandbox.panels import PANELS
from sandbox.panels.facts.finding import LONGEST_WANTED, for_readers
from sandbox.panels.view import View
from sandbox.pool import engines
from sandbox.storage.models import LONGEST_TITLE, Sandbox, printable
from sandbox.storage.records import log_of
from sandbox.web.access import field_problem
from sandbox.web.api import answers, content, imports, lessons, links, programs, questions, shapes, timelines
from sandbox.web.api.access import ONE, PROBLEMS, access_to, addresses_of, check_rate, moment_of
from sandbox.web.api.states import UNREAD, changed, state_of
from sandbox.web.files import FILES, attachment
from sandbox.web.shared import FOR_AN_HOUR, same_for_all
from sandbox.words.say import say
from sandbox.worker import jobs
from sandbox.worker.jobs.exporting import ExportOptions
from scheduler_engine.errors import Rejected
from scheduler_engine.versions import chosen_rules

MOST_ENTRIES, MOST_OBJECTS = 5000, 1000
EXPORTED = {
    file.content_type: {"schema": {"type": "object" if file.content_type == "application/json" else "string"}}
    for file in FILES.values()
}
MANIFESTS = {"application/json": {"schema": {"type": "object"}}, "application/yaml": {"schema": {"type": "string"}}}
EXPORT_BODY = {"responses": {200: {"content": EXPORTED, "description": "OK"}}}

router = Router(tags=["Sandboxes"])


@router.post("/sandboxes", response={201: shapes.Created, **PROBLEMS}, summary=say("api.create"))
def create(request: HttpRequest, new: shapes.NewSandbox) -> Any:
    """Create a sandbox from a scenario, a lesson, a file of either, or your own commands."""
    check_rate(request, "create")
    # Generated clients also send the defaults.
    chosen = new.dict(exclude_defaults=True)
    named = [name for name in OPENERS if name in chosen]
    if named and len(chosen) > 1:
        raise HttpError(422, say("errors.file-alone", name=named[0]))
    sandbox, token = OPENERS[named[0]](chosen[named[0]]) if named else _own(new)
    return Status(201, addresses_of(request, sandbox.pk, token))


def _scenario(name: str) -> tuple[Sandbox, str]:
    scenario = scenarios().get(name)
    if scenario is None:
        raise HttpError(404, say("errors.no-scenario"))
    return open_scenario(scenario)


def _lesson(name: str) -> tuple[Sandbox, str]:
    opened = open_named(name)
    if opened is None:
        raise HttpError(404, say("lesson.no-such"))
    return opened


OPENERS: dict[str, Callable[[str], tuple[Sandbox, str]]] = {
    "scenario": _scenario,
    "file": lambda text: open_uploaded(read_uploaded(text)),
    "lesson": _lesson,
    "lesson_file": lambda text: study.open_learned(read_lesson(text), text=text),
}
"""Field of a new sandbox that stands alone → the function that creates the sandbox."""


def _own(new: shapes.NewSandbox) -> tuple[Sandbox, str]:
    title = printable(new.title, LONGEST_TITLE) or say("titles.empty")
    values = title, "", new.seed, new.configuration, new.commands, new.queue_rules
    version = {"kubernetes": new.kubernetes, "feature_gates": new.feature_gates}
    chosen_rules(**version)
    return store.create(*values, priority_numbers=new.priority_numbers, **version)


@router.get(ONE, response={200: shapes.State, **PROBLEMS}, summary=say("api.state"))
def state(request: HttpRequest, sandbox_id: UUID, token: str) -> Any:
    return state_of(access_to(request, sandbox_id, token, False))


@router.delete(ONE, response={204: None, **PROBLEMS}, summary=say("api.delete"))
def delete(request: HttpRequest, sandbox_id: UUID, token: str) -> Any:
    """Delete the sandbox with its log, branches and expectations. Nobody can open it any more."""
    access = access_to(request, sandbox_id, token, True)
    if access.key is not None:
        raise HttpError(403, say("errors.owner-deletes"))
    store.delete([access.sandbox.pk])
    return Status(204, None)


@router.post(f"{ONE}/commands", response={200: shapes.State, **UNREAD, **PROBLEMS}, summary=say("api.execute"))
def execute(
    request: HttpRequest,
    response: HttpResponse,
    sandbox_id: UUID,
    token: str,
    command: shapes.Command,
    who: str = "",
    dry_run: bool = Query(False, description=say("api.dry-run")),
) -> Any:
    """Execute one command, as in a log: a stage, a pod, an advance, a patch …"""
    access = access_to(request, sandbox_id, token, True)
    return changed(request, response, access, [command.root], who, dry_run)


@router.post(
    f"{ONE}/manifests",
    response={200: shapes.Applied, **UNREAD, **PROBLEMS},
    summary=say("api.apply"),
    openapi_extra={"requestBody": {"required": True, "content": MANIFESTS}},
)
def apply(
    request: HttpRequest,
    response: HttpResponse,
    sandbox_id: UUID,
    token: str,
    who: str = "",
    dry_run: bool = Query(False, description=say("api.dry-run")),
) -> Any:
    """Apply YAML or JSON, several documents or a List, as in ``kubectl apply --filename``. All or nothing."""
    access = access_to(request, sandbox_id, token, True)
    check_size(len(request.body))
    text = request.body
    manifests, checked = engines.read(access.sandbox, jobs.check, text)
    if checked.errors:
        raise Rejected(checked.errors)
    command = {"kind": "apply", "manifests": manifests}
    try:
        state = changed(request, response, access, [command], who, dry_run)
    except Rejected as error:
        raise Rejected(engines.read(access.sandbox, jobs.locate, text, error.errors)) from error
    if isinstance(state, Status):
        return state
    return {"state": state, "warnings": [field_problem(warning) for warning in checked.warnings]}


@router.get(f"{ONE}/panels/{{panel}}", response={200: shapes.Facts, **PROBLEMS}, summary=say("api.facts"))
def facts(
    request: HttpRequest,
    sandbox_id: UUID,
    token: str,
    panel: str,
    pod: str = "",
    node: str = "",
    plugin: str = "",
    cycle: int = 0,
    at: str = Query("", description=say("api.moment")),
) -> Any:
    access = access_to(request, sandbox_id, token, False)
    if panel not in PANELS:
        raise HttpError(404, say("errors.no-panel", panels=", ".join(PANELS)))
    moment_of(at)
    view = View.from_mapping({"pod": pod, "node": node, "plugin": plugin, "cycle": cycle, "at": at})
    place, shown = engines.now(access.sandbox, jobs.facts, panel, view)
    return {"panel": panel, "head": place.position.head, "facts": shown}


@router.get(f"{ONE}/objects/{{kind}}", response={200: shapes.Objects, **PROBLEMS}, summary=say("api.objects"))
def objects(
    request: HttpRequest,
    sandbox_id: UUID,
    token: str,
    kind: str,
    after: str = Query("", description=say("api.after")),
    limit: int = Query(500, ge=1, le=MOST_OBJECTS),
) -> Any:
    access = access_to(request, sandbox_id, token, False)
    items, following = engines.read(access.sandbox, jobs.objects, kind, after, limit)
    return {"items": items, "next": following}


@router.get(f"{ONE}/find", response={200: shapes.Hits, **PROBLEMS}, summary=say("api.find"))
def find(
    request: HttpRequest,
    sandbox_id: UUID,
    token: str,
    q: str = Query(..., pattern=r"\S", max_length=LONGEST_WANTED, description=say("api.wanted")),
    at: str = Query("", description=say("api.moment")),
) -> Any:
    access = access_to(request, sandbox_id, token, False)
    hits, more = engines.read(access.sandbox, jobs.find, q, moment_of(at))
    shown = hits if access.can_edit else for_readers(hits)
    return {"hits": [hit._asdict() for hit in shown], "more": more}


@router.get(f"{ONE}/log", response={200: shapes.Log, **PROBLEMS}, summary=say("api.log"))
def log(request: HttpRequest, sandbox_id: UUID, token: str) -> Any:
    access = access_to(request, sandbox_id, token, False)
    sandbox: Sandbox = access.sandbox
    texts = log_of(sandbox.pk).filter(n__lte=sandbox.head).order_by("n").values_list("command", flat=True)
    return {
        "engine": sandbox.engine_version,
        "seed": sandbox.seed,
        "configuration": json.loads(sandbox.configuration),
        "queue_rules": sandbox.queue_rules,
        "kubernetes": sandbox.kubernetes,
        "feature_gates": json.loads(sandbox.feature_gates),
        "priority_numbers": sandbox.priority_numbers,
        "commands": [json.loads(text) for text in texts],
    }


@router.get(f"{ONE}/trace", response={200: None, **PROBLEMS}, summary=say("api.trace"))
def trace(
    request: HttpRequest,
    sandbox_id: UUID,
    token: str,
    after: int = Query(0, ge=0, description=say("api.skip")),
    limit: int = Query(MOST_ENTRIES, ge=1, le=MOST_ENTRIES),
) -> Any:
    access = access_to(request, sandbox_id, token, False)
    lines: list[str] = engines.read(access.sandbox, jobs.trace, after, limit)
    return HttpResponse("".join(f"{line}\n" for line in lines), content_type="application/x-ndjson")


@router.get(
    f"{ONE}/export/{{form}}", response={200: None, **PROBLEMS}, summary=say("api.export"), openapi_extra=EXPORT_BODY
)
def export(
    request: HttpRequest, sandbox_id: UUID, token: str, form: shapes.ExportForm, options: Query[shapes.Exporting]
) -> Any:
    """Export a scenario, manifests, a snapshot for kube-scheduler-simulator, or the trace."""
    access = access_to(request, sandbox_id, token, False)
    title, moment = access.sandbox.title, moment_of(options.at)
    wanted = ExportOptions(form, options.setup, options.expect, options.added, options.kwok)
    exported = engines.read(access.sandbox, jobs.export, wanted, title, moment)
    return attachment(exported, form, title)


api = answers.api
for part in (
    content.router,
    router,
    imports.router,
    timelines.router,
    questions.router,
    programs.router,
    lessons.router,
    links.router,
):
    api.add_router("", part)


@require_safe
@same_for_all(control=FOR_AN_HOUR)
def document(request: HttpRequest) -> HttpResponse:
    """Return the OpenAPI document."""
    return JsonResponse(api.get_openapi_schema())
