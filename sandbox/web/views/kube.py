"""The API server of a sandbox, for kubectl: its address is the sandbox's, and ``kube/``."""

from __future__ import annotations

import json
from math import ceil
from typing import Any
from uuid import UUID

import yaml
from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from sandbox.changes import store
from sandbox.kube import discovery, reviews
from sandbox.kube.reading import Request
from sandbox.kube.statuses import Refused, failure, forbidden, no_resource
from sandbox.kube.writing import Write
from sandbox.limits import ratelimit
from sandbox.pool import engines
from sandbox.storage.models import printable
from sandbox.web.access import TOO_OFTEN, Access, open_access, reads
from sandbox.web.configuring.version import rules_of
from sandbox.web.errors import refusal_of
from sandbox.words.say import say
from sandbox.worker import jobs
from sandbox.worker.errors import Busy, Occupied
from scheduler_engine.versions import release_of

OLD_OPENAPI, OLD_OPENAPI_TYPE = "openapi/v2", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"


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
        code, document = _answer(request, sandbox_id, token, path)
        return HttpResponse(document, status=code, content_type="application/json")
    except Refused as refused:
        return _failure(refused)
    except (Busy, Occupied) as error:
        # Clients wait and try again by themselves.
        return _failure(Refused(429, str(error), {"retryAfterSeconds": 1}))
    except Exception as error:  # noqa: BLE001 – ``refusal_of`` logs what the operator must know.
        refusal = refusal_of(error)
        return _failure(Refused(refusal.status, refusal.message))


def _answer(request: HttpRequest, sandbox_id: UUID, token: str, path: str) -> tuple[int, str]:
    access = open_access(sandbox_id, token)
    if access is None:
        raise no_resource()
    query, kind = request.GET.dict(), (request.content_type or "").lower()
    if request.method == "GET":
        _take("look", f"{sandbox_id} {access.can_edit}")
        if (document := _discovery(access, path)) is not None:
            return 200, json.dumps(document)
        wanted = Request(path, query, request.headers.get("Accept", ""))
        return 200, engines.read(access.sandbox, jobs.kube_read, wanted)
    write = Write(request.method or "", path, query, kind, _body(request))
    if (
        review := reviews.answer(write.method, path, kind, write.body, access.can_edit and not access.frozen)
    ) is not None:
        _take("look", f"{sandbox_id} {access.can_edit}")
        return 201, json.dumps(review)
    _check_may_change(access, write)
    _take("command", str(sandbox_id))
    return store.carry_out(access.sandbox, jobs.kube_write, write, _name(request))


def _discovery(access: Access, path: str) -> dict[str, Any] | None:
    """Return a document of discovery, which no worker needs to be asked for; None if the path is none."""
    parts = path.strip("/").split("/")
    if parts[0] not in discovery.FIRST:
        return None
    return discovery.document(parts, release_of(rules_of(access.sandbox).kubernetes))


def _body(request: HttpRequest) -> bytes:
    try:
        return request.body
    except RequestDataTooBig as problem:
        text = f"Request entity too large: limit is {settings.DATA_UPLOAD_MAX_MEMORY_SIZE}"
        raise Refused(413, text) from problem


def _take(rate: str, who: str) -> None:
    if seconds := ratelimit.wait(rate, who):
        raise Refused(429, say(TOO_OFTEN[rate]), {"retryAfterSeconds": ceil(seconds)})


def _check_may_change(access: Access, write: Write) -> None:
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
    if (seconds := (refused.details or {}).get("retryAfterSeconds")) is not None:
        response.headers["Retry-After"] = str(seconds)
    return response
