"""Two sandboxes side by side in one page, stepped together: the same scenario under different rules."""

from __future__ import annotations

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from sandbox.changes import copies
from sandbox.changes.opening import open_scenario
from sandbox.content.scenarios import scenarios
from sandbox.panels.model.moment import Moment
from sandbox.pool import engines
from sandbox.storage.models import LONGEST_TITLE, Sandbox, printable
from sandbox.web.access import Access, edits, limited, open_access, problem, readable_body
from sandbox.web.second_run import NoRun, second_run, workbench_of
from sandbox.words.say import say
from sandbox.worker import jobs

SIDES = ("left", "right")
RULES = {"v1.34": "compare.by-v1-34", "design-doc": "compare.by-the-design-doc"}
"""Queue rules → key of the sentence that says how they differ."""


@csrf_exempt  # A forged request only creates sandboxes that nobody knows.
@require_http_methods(["GET", "HEAD", "POST"])
def compare(request: HttpRequest) -> HttpResponse:
    """GET: show the workbenches whose paths are ``left`` and ``right``. POST: open two scenarios and show them."""
    return open_both(request) if request.method == "POST" else show_both(request)


def show_both(request: HttpRequest) -> HttpResponse:
    paths = {side: request.GET.get(side, "") for side in SIDES}
    # Nothing else of the site may be shown in a frame here.
    matches = [workbench_of(path) for path in paths.values()]
    if None in matches:
        return problem(request, 404, say("errors.two-sandboxes"))
    accesses = [open_access(**match.kwargs) for match in matches if match is not None]
    sandboxes = [access.sandbox if access else None for access in accesses]
    rules = [RULES[sandbox.queue_rules] if sandbox else "" for sandbox in sandboxes]
    differ = len(set(rules)) == len(SIDES)
    sides = [
        {"name": side, "path": paths[side], "sandbox": sandbox, "rules": key if differ else ""}
        for side, sandbox, key in zip(SIDES, sandboxes, rules, strict=True)
    ]
    return render(request, "compare.html", {"sides": sides, "panel": request.GET.get("panel", "queue")})


@limited
@readable_body
def open_both(request: HttpRequest) -> HttpResponse:
    chosen = [scenarios().get(request.POST.get(side, "")) for side in SIDES]
    known = [scenario for scenario in chosen if scenario is not None]
    if len(known) < len(SIDES):
        return problem(request, 404, say("errors.no-scenario"))
    opened = list[tuple[Sandbox, str]]()
    try:
        for scenario in known:
            opened.append(open_scenario(scenario))
    except Exception:
        for sandbox, _ in opened:
            sandbox.delete()
        raise
    return _shown([reverse("workbench", args=[sandbox.pk, token]) for sandbox, token in opened])


@limited
@edits
def open_runs(request: HttpRequest, access: Access) -> HttpResponse:
    """Open the sandbox's run and the one that the form names, before they first differ, as two new sandboxes."""
    sandbox = access.sandbox
    try:
        other, name = second_run(sandbox, request.POST.dict())
    except NoRun as error:
        return problem(request, 404, str(error))
    except ValueError as error:
        return problem(request, 400, str(error))
    runs = engines.read(sandbox, jobs.in_step, other, Moment.read(request.POST.get("at", "")))
    titles = sandbox.title, printable(say("compare.title", title=sandbox.title, name=name), LONGEST_TITLE)
    with transaction.atomic():
        opened = [copies.open_run(sandbox, run, title) for run, title in zip(runs, titles, strict=True)]
    return _shown([reverse("workbench", args=ids) for ids in opened], "cluster")


def _shown(paths: list[str], panel: str = "") -> HttpResponse:
    """``panel``: the one that narrow screens show."""
    query = dict(zip(SIDES, paths, strict=True)) | ({"panel": panel} if panel else {})
    return redirect(f"{reverse('compare')}?{urlencode(query)}")
