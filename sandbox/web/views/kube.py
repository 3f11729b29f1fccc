"""The API server of a sandbox, for kubectl: its address is the sandbox's, and ``kube/``."""

from __future__ import annotations

import json
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from sandbox.kube.reading import Request
from sandbox.kube.statuses import Refused, failure, no_resource, not_allowed
from sandbox.limits import ratelimit
from sandbox.pool import engines
from sandbox.web.access import TOO_OFTEN, open_access
from sandbox.web.errors import refusal_of
from sandbox.words.say import say
from sandbox.worker import jobs


@csrf_exempt  # No cookie grants access.
def kube(request: HttpRequest, sandbox_id: UUID, token: str, path: str) -> HttpResponse:
    """Answer a request of kubectl. Every error is a ``Status``."""
    try:
        return HttpResponse(_answer(request, sandbox_id, token, path), content_type="application/json")
    except Refused as refused:
        return _failure(refused.code, refused.message, refused.details)
    except Exception as error:  # noqa: BLE001 – ``refusal_of`` logs what the operator must know.
        refusal = refusal_of(error)
        return _failure(refusal.status, refusal.message)


def _answer(request: HttpRequest, sandbox_id: UUID, token: str, path: str) -> str:
    access = open_access(sandbox_id, token)
    if access is None:
        raise no_resource()
    if request.method != "GET":
        raise not_allowed()
    if ratelimit.wait("look", f"{sandbox_id} {access.can_edit}"):
        raise Refused(429, say(TOO_OFTEN["look"]))
    wanted = Request(path, request.GET.dict(), request.headers.get("Accept", ""))
    return engines.read(access.sandbox, jobs.kube_read, wanted)


def _failure(code: int, message: str, details: dict[str, object] | None = None) -> HttpResponse:
    return HttpResponse(json.dumps(failure(code, message, details)), status=code, content_type="application/json")
