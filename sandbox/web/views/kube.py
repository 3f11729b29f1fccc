"""The API server of a sandbox, for kubectl: its address is the sandbox's, and ``kube/``."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

import yaml
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt

from sandbox.kube import commands, discovery, reviews
from sandbox.kube.bodies import Write
from sandbox.kube.reading import Request
from sandbox.kube.statuses import Refused, failure, forbidden, healthy, no_resource, not_allowed
from sandbox.kube.strictness import header
from sandbox.pool import engines
from sandbox.storage.models import printable
from sandbox.web import executing
from sandbox.web.access import Access, open_access, reads
from sandbox.web.configuring.version import rules_of
from sandbox.web.kube_errors import as_refused, check_rate, retry_after
from sandbox.words.say import say
from sandbox.worker import jobs
from sandbox.worker.jobs.kube import Answer
from scheduler_engine.versions import release_of

PREFLIGHT = {
    "Access-Control-Allow-Methods": "POST, GET, OPTIONS, PUT, DELETE, PATCH",
    "Access-Control-Allow-Headers": "Content-Type, Accept, User-Agent, X-Requested-With",
    "Access-Control-Max-Age": "600",
}
"""What a browser asks before a page of another origin may send a change. The address is the key, so all may."""
OLD_OPENAPI, OLD_OPENAPI_TYPE = "openapi/v2", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
HEALTH = ("healthz", "livez", "readyz")
"""Paths at which an API server says that it works."""
PICTURE = Path(__file__).with_name("kubectl_picture.json")
"""What kubectl prints, and where the pods are, before and after Play. A test runs the commands and compares."""


@reads
def use_kubectl(request: HttpRequest, access: Access) -> HttpResponse:
    """Show how to use kubectl on the sandbox: commands to copy, how it looks, and what works with this link."""
    base = reverse("workbench", args=[access.sandbox.pk, access.token])
    context = {
        "sandbox": access.sandbox,
        "can_edit": access.can_edit,
        "base": base,
        "commands": _to_copy(request.build_absolute_uri(f"{base}kubeconfig"), access.can_edit),
        "moments": _picture(),
        "read": commands.READ,
        "change": commands.CHANGE,
        "wait": commands.WAIT,
        "never": commands.NEVER,
    }
    return render(request, "kubectl.html", context)


def _to_copy(address: str, can_edit: bool) -> list[tuple[str, str]]:
    """Return commands for a shell, each with what it does."""
    connect = f'curl -fsS "{address}" > sandbox.kubeconfig && export KUBECONFIG="$PWD/sandbox.kubeconfig"'
    add = (say("kubectl.add"), "kubectl create deployment web --image=nginx --replicas=3")
    why = (say("kubectl.why"), "kubectl describe pods")
    return [
        (say("kubectl.connect-shell"), connect),
        (say("kubectl.see"), "kubectl get nodes,pods"),
        add if can_edit else why,
    ]


@cache
def _picture() -> list[dict[str, Any]]:
    moments: list[dict[str, Any]] = json.loads(PICTURE.read_text())
    return moments


@reads
def kubeconfig(request: HttpRequest, access: Access) -> HttpResponse:
    """Return the file with which kubectl finds the sandbox."""
    name = "sandbox"
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": request.build_absolute_uri("kube")}}],
        "users": [{"name": name, "user": {}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }
    headers = {"Content-Disposition": 'attachment; filename="sandbox.kubeconfig"'}
    return HttpResponse(yaml.safe_dump(document, sort_keys=False), content_type="application/yaml", headers=headers)


@csrf_exempt  # No cookie grants access.
def kube(request: HttpRequest, sandbox_id: UUID, token: str, path: str) -> HttpResponse:
    """Answer a request of kubectl. Every error is a ``Status``."""
    try:
        if path == OLD_OPENAPI:
            # kubectl falls back to it, and makes do with an empty one.
            return HttpResponse(b"", content_type=OLD_OPENAPI_TYPE)
        if request.method == "OPTIONS" and "Origin" in request.headers:
            return HttpResponse(status=204, headers=PREFLIGHT)
        if path in HEALTH:
            return _healthy(request, sandbox_id, token, path)
        code, document, warnings = _answer(request, sandbox_id, token, path)
        headers = {"Warning": header(warnings)} if warnings else {}
        return HttpResponse(document, status=code, content_type="application/json", headers=headers)
    except Exception as error:  # noqa: BLE001 – ``as_refused`` logs what the operator must know.
        return _failure(as_refused(error))


def _answer(request: HttpRequest, sandbox_id: UUID, token: str, path: str) -> Answer:
    access = open_access(sandbox_id, token)
    if access is None:
        raise no_resource()
    query, kind = request.GET.dict(), (request.content_type or "").lower()
    if request.method == "GET":
        check_rate("look", f"{sandbox_id} {access.can_edit}")
        if (document := _discovery(access, path)) is not None:
            return 200, json.dumps(document), ()
        wanted = Request(path, query, request.headers.get("Accept", ""))
        return 200, *engines.read_with_turns(access.sandbox, jobs.kube_read, wanted)
    write = Write(request.method or "", path, query, kind, request.body, agent=_name(request))
    if _discovery(access, path) is not None:
        raise not_allowed()
    review = reviews.answer(write.method, path, kind, write.body, access.can_edit and not access.frozen)
    if review is not None:
        check_rate("look", f"{sandbox_id} {access.can_edit}")
        return 201, json.dumps(review), ()
    _check_may_change(access)
    check_rate("command", str(sandbox_id))
    return executing.carry_out(access.sandbox, jobs.kube_write, write, _name(request))


def _healthy(request: HttpRequest, sandbox_id: UUID, token: str, path: str) -> HttpResponse:
    if open_access(sandbox_id, token) is None:
        raise no_resource()
    if request.method not in ("GET", "HEAD"):
        raise not_allowed()
    return HttpResponse(healthy(path, "verbose" in request.GET), content_type="text/plain; charset=utf-8")


def _discovery(access: Access, path: str) -> dict[str, Any] | None:
    """Return a document of discovery, which no worker needs to be asked for; None if the path is none."""
    parts = path.strip("/").split("/")
    if parts[0] not in discovery.FIRST:
        return None
    return discovery.document(parts, release_of(rules_of(access.sandbox).kubernetes))


def _check_may_change(access: Access) -> None:
    if not access.can_edit:
        raise forbidden(say("errors.view-only"))
    if access.frozen:
        raise forbidden(say("errors.paused"))


def _name(request: HttpRequest) -> str:
    """Return the name of the program, for the log: ``kubectl``."""
    return printable(request.headers.get("User-Agent", "").partition("/")[0])


def _failure(refused: Refused) -> HttpResponse:
    document = failure(refused.code, refused.message, refused.details, refused.reason)
    response = HttpResponse(json.dumps(document), status=refused.code, content_type="application/json")
    if (seconds := retry_after(refused)) is not None:
        response.headers["Retry-After"] = seconds
    return response
