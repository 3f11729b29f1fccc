"""Import a dump of a real cluster: read the file, show what will be in the sandbox, create the sandbox."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest, RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from sandbox.changes import store
from sandbox.changes.opening import open_uploaded
from sandbox.limits import quotas, ratelimit
from sandbox.pool import engines
from sandbox.web import uploads
from sandbox.web.access import RoutedView, limited
from sandbox.web.errors import line_of, refusal_of
from sandbox.web.executing import execute_all
from sandbox.words.say import say
from sandbox.worker import jobs
from sandbox.worker.errors import EngineError
from sandbox.worker.jobs.importing import GONE
from scheduler_engine.errors import Rejected
from scheduler_engine.importing import GET, Choices
from scheduler_engine.versions import RELEASES, VERSIONS

log = logging.getLogger(__name__)

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
    if not 0 <= int(request.META.get("CONTENT_LENGTH") or 0) <= settings.IMPORT_BYTES + settings.IMPORT_SLACK:
        raise quotas.OverQuota(say("import.too-large", most=settings.IMPORT_BYTES), 413)
    file, address = _file(request), ratelimit.client(request)
    quotas.check_import(file.size or 0)
    key, path = uploads.new_draft(address)
    try:
        with file:
            scenario = engines.of_file(jobs.import_read, uploads.descriptor_path(file), str(path), file.name or "")
        uploads.check_space(address)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
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
    result = engines.of_file(jobs.import_preview, _path(key), choices)
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
    choices = _choices(request.POST)
    path = _path(key)
    configuration, commands, pod, kubernetes = engines.of_file(jobs.import_commands, path, choices)
    sandbox, token = store.create(
        say("titles.imported"), configuration=configuration, setup=commands, kubernetes=kubernetes
    )
    Path(path).unlink(missing_ok=True)
    address = reverse("workbench", args=[sandbox.pk, token])
    if not pod:
        return redirect(address)
    try:
        way = engines.read(sandbox, jobs.way_to, pod)
        if way:
            execute_all(sandbox, way)
    except (Rejected, EngineError) as error:
        # The sandbox exists, so show it. The visitor can do the first steps.
        log.info("an import did not reach the chosen pod: %s", error)
    return redirect(f"{address}?{urlencode({'pod': pod})}")


def _path(key: str) -> str:
    """Return the path of a draft. Raise ``Http404`` if it is gone."""
    path = uploads.draft_path(key)
    if path is None:
        raise Http404(GONE)
    return str(path)


def _file(request: HttpRequest) -> UploadedFile:
    """Return the uploaded file, else the pasted text as a file. Raise ``OverQuota`` or ``Rejected``."""
    try:
        file, text = request.FILES.get("file"), request.POST.get("text", "")
    except RequestDataTooBig:
        raise quotas.OverQuota(say("import.pasted-too-long"), 413) from None
    except (BadRequest, TooManyFieldsSent, TooManyFilesSent, MultiPartParserError):
        raise Rejected(say("errors.unreadable")) from None
    if file is None and text.strip():
        return uploads.upload_of_text(text)
    if file is None or not file.size:
        raise Rejected(say("import.no-file"))
    return file


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
