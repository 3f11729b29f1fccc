"""Import a dump of a real cluster: read the file, show what will be in the sandbox, create the sandbox."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from sandbox.changes.opening import open_uploaded
from sandbox.limits import quotas
from sandbox.pool import engines
from sandbox.web import imports
from sandbox.web.access import RoutedView, limited
from sandbox.web.errors import line_of, refusal_of
from sandbox.words.say import say
from sandbox.worker import jobs
from sandbox.worker.errors import EngineError
from scheduler_engine.errors import Rejected
from scheduler_engine.importing import GET, Choices
from scheduler_engine.versions import RELEASES, VERSIONS

KUBECTL = f"{GET} > cluster.yaml"
"""The command to copy."""
MOST_ERRORS = 20
"""Errors of one file in an answer."""
MOST_WAITING = 200
"""Pods without a node on the page."""
MOST_SKIPPED = 100


def with_errors(view: Callable[..., HttpResponse], page: str = "import_refused.html") -> RoutedView:
    """Make a view that answers errors as a page to a browser, and as text to other clients."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except Rejected as error:
            return _errors(request, 422, [line_of(one) for one in error.errors[:MOST_ERRORS]], page)
        except Http404 as gone:
            return _errors(request, 404, [str(gone)], page)
        except (quotas.OverQuota, EngineError, OSError) as error:
            refusal = refusal_of(error)
            return _errors(request, refusal.status, [refusal.message], page)

    return guarded


@csrf_exempt  # A forged request only uploads a file that nobody knows.
@require_POST
@limited
@with_errors
def upload(request: HttpRequest) -> HttpResponse:
    """Read a file. Redirect to the page that shows what will be in the sandbox, or to the sandbox of a scenario file.

    A client that is not a browser, such as ``curl``, gets the address as text.
    """
    key, scenario = imports.read(request)
    if scenario is not None:
        sandbox, token = open_uploaded(scenario)
        address = reverse("workbench", args=[sandbox.pk, token])
    else:
        address = reverse("import-outlook", args=[key])
    if _wants_page(request):
        return redirect(address)
    whole = request.build_absolute_uri(address)
    return HttpResponse(f"{whole}\n", content_type="text/plain; charset=utf-8", status=201, headers={"Location": whole})


@require_safe
@limited
@with_errors
def preview(request: HttpRequest, key: str) -> HttpResponse:
    """Show what will be in the sandbox, with the choices in the query."""
    choices = _choices(request.GET)
    result = engines.of_file(jobs.import_preview, imports.path_of(key), choices)
    waiting = sorted(result.summary.waiting, key=lambda item: not item.message)
    context = {
        "key": key,
        "preview": result,
        "choices": choices,
        "versions": [*zip(VERSIONS, RELEASES, strict=True)],
        "waiting": waiting[:MOST_WAITING],
        "more_waiting": len(waiting[MOST_WAITING:]),
        "skipped": result.skipped[:MOST_SKIPPED],
        "more_skipped": len(result.skipped[MOST_SKIPPED:]),
    }
    return render(request, "import.html", context)


@csrf_exempt
@require_POST
@limited
@with_errors
def open_import(request: HttpRequest, key: str) -> HttpResponse:
    """Create the sandbox. If the form names a pod, step to where the scheduler refuses it."""
    sandbox, token, imported = imports.create(imports.path_of(key), _choices(request.POST))
    address = reverse("workbench", args=[sandbox.pk, token])
    return redirect(f"{address}?{urlencode({'pod': imported.pod})}" if imported.pod else address)


def _choices(data: QueryDict) -> Choices:
    return Choices(
        namespaces=tuple(data.getlist("without")),
        kinds=tuple(data.getlist("without-kind")),
        anonymous=data.get("names") == "made-up",
        pod=data.get("pod", ""),
        kubernetes=data.get("kubernetes", ""),
    )


def _wants_page(request: HttpRequest) -> bool:
    return "text/html" in request.headers.get("Accept", "")


def _errors(request: HttpRequest, status: int, lines: list[str], page: str = "import_refused.html") -> HttpResponse:
    if _wants_page(request):
        return render(request, page, {"lines": lines}, status=status)
    text = "\n".join([*lines, say("import.nothing-created"), ""])
    return HttpResponse(text, content_type="text/plain; charset=utf-8", status=status)
