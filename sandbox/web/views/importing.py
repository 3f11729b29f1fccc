"""A dump of a real cluster comes in: the file is read, a page says what will be there, then a sandbox is made of it."""

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
from sandbox.worker import jobs
from sandbox.worker.errors import EngineError
from sandbox.worker.jobs.importing import GONE
from scheduler_engine.errors import Rejected
from scheduler_engine.importing import GET, Choices

log = logging.getLogger(__name__)

KUBECTL = f"{GET} > cluster.yaml"
"""The line to copy."""
MOST_TOLD = 20
"""Errors of one file that an answer lists."""
MOST_WAITING = 200
"""Pods without a node that the page lists."""
MOST_SKIPPED = 100
NOTHING = "There is no file in this request. Choose one, or paste its text."
TOO_LARGE = "The pasted text is too long for a form. Save it as a file and upload that."


def told(view: Callable[..., HttpResponse], page: str = "import_refused.html") -> RoutedView:
    """What an import refuses, told to a browser as a page and to anything else as text."""

    @wraps(view)
    def caught(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except Rejected as error:
            return _refused(request, 422, [line_of(one) for one in error.errors[:MOST_TOLD]], page)
        except Http404 as gone:
            return _refused(request, 404, [str(gone)], page)
        except (quotas.OverQuota, EngineError, OSError) as error:
            refusal = refusal_of(error)
            return _refused(request, refusal.status, [refusal.message], page)

    return caught


@csrf_exempt  # As for every new sandbox: a forged request brings a file that nobody knows.
@require_POST
@limited
@told
def bring(request: HttpRequest) -> HttpResponse:
    """Read a file. The answer leads to the page of what will be there, or to the sandbox of a scenario; to ``curl`` it
    tells the address.
    """
    if not 0 <= int(request.META.get("CONTENT_LENGTH") or 0) <= settings.IMPORT_BYTES + settings.IMPORT_SLACK:
        raise quotas.OverQuota(f"The file is too large: the limit is {settings.IMPORT_BYTES:,} bytes.", 413)
    file, address = _file(request), ratelimit.client(request)
    quotas.check_import(file.size or 0)
    key, path = uploads.new_draft(address)
    try:
        with file:
            scenario = engines.of_file(jobs.import_read, uploads.place_of(file), str(path), file.name or "")
        uploads.check_room(address)
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
@told
def outlook(request: HttpRequest, key: str) -> HttpResponse:
    """What would come of it, with the choices in the query."""
    choices = _choices(request.GET)
    found = engines.of_file(jobs.import_preview, _path(key), choices)
    waiting = sorted(found.summary.waiting, key=lambda item: not item.message)
    context = {
        "key": key,
        "found": found,
        "choices": choices,
        "waiting": waiting[:MOST_WAITING],
        "more_waiting": len(waiting[MOST_WAITING:]),
        "skipped": found.skipped[:MOST_SKIPPED],
        "more_skipped": len(found.skipped[MOST_SKIPPED:]),
    }
    return render(request, "import.html", context)


@csrf_exempt
@require_POST
@limited
@told
def open_import(request: HttpRequest, key: str) -> HttpResponse:
    """Make the sandbox; where a pod was chosen, go on to where it is refused."""
    choices = _choices(request.POST)
    path = _path(key)
    configuration, commands, pod = engines.of_file(jobs.import_commands, path, choices)
    sandbox, token = store.create("Imported cluster", configuration=configuration, setup=commands)
    Path(path).unlink(missing_ok=True)
    address = reverse("workbench", args=[sandbox.pk, token])
    if not pod:
        return redirect(address)
    try:
        for command in engines.read(sandbox, jobs.way_to, pod):
            store.execute(sandbox, command)
    except (Rejected, EngineError) as error:
        # The cluster is there, and its page; only the first steps are left to the visitor.
        log.info("an import did not come to the chosen pod: %s", error)
    return redirect(f"{address}?{urlencode({'pod': pod})}")


def _path(key: str) -> str:
    found = uploads.path_of(key)
    if found is None:
        raise Http404(GONE)
    return str(found)


def _file(request: HttpRequest) -> UploadedFile:
    """The uploaded file, else the pasted text as one. Raises ``OverQuota`` or ``Rejected``."""
    try:
        file, text = request.FILES.get("file"), request.POST.get("text", "")
    except RequestDataTooBig:
        raise quotas.OverQuota(TOO_LARGE, 413) from None
    except (BadRequest, TooManyFieldsSent, TooManyFilesSent, MultiPartParserError):
        raise Rejected("The request could not be read.") from None
    if file is None and text.strip():
        return uploads.pasted(text)
    if file is None or not file.size:
        raise Rejected(NOTHING)
    return file


def _choices(given: QueryDict) -> Choices:
    return Choices(
        namespaces=tuple(given.getlist("without")),
        kinds=tuple(given.getlist("without-kind")),
        anonymous=given.get("names") == "made-up",
        pod=given.get("pod", ""),
    )


def _wants_page(request: HttpRequest) -> bool:
    return "text/html" in request.headers.get("Accept", "")


def _refused(request: HttpRequest, status: int, lines: list[str], page: str = "import_refused.html") -> HttpResponse:
    if _wants_page(request):
        return render(request, page, {"lines": lines}, status=status)
    text = "\n".join([*lines, "Nothing was created.", ""])
    return HttpResponse(text, content_type="text/plain; charset=utf-8", status=status)
