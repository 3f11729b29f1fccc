"""Embed sandboxes and scenarios in other pages, and serve the script for such pages."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from sandbox.changes import copies, sharing
from sandbox.content.scenarios import scenarios
from sandbox.content.shelf import lessons
from sandbox.limits import ratelimit
from sandbox.panels import PANELS, frames
from sandbox.panels.frames import END, START, Frame
from sandbox.panels.model.moment import Moment
from sandbox.panels.view import View
from sandbox.pool import engines
from sandbox.storage.models import Sandbox
from sandbox.web.access import PART, Access, limited, problem, readable_body, reads, too_often
from sandbox.web.styles import styled
from sandbox.web.views import answers
from sandbox.web.views.waiting import SHOWN
from sandbox.words.say import rows, say
from sandbox.worker import jobs
from scheduler_engine.scenario import Scenario

SCRIPT_SECONDS = 3600
"""How long a browser may cache the script."""


@reads
def page(request: HttpRequest, access: Access) -> HttpResponse:
    """Show a sandbox, or some of its panels, at a moment."""
    frame = Frame.from_mapping(request.GET.dict())
    return _render(request, access.sandbox, access.token, frame, access.can_edit and frame.live)


@reads
def differences(request: HttpRequest, access: Access) -> HttpResponse:
    """Show what differs between a sandbox and another run. Nothing can be changed there, whatever the link permits."""
    return _compared(request, access.sandbox, access.watching)


def _compared(request: HttpRequest, sandbox: Sandbox, token: str) -> HttpResponse:
    fields = {name: value for name, value in request.GET.dict().items() if name not in (PART, SHOWN)}
    frame = Frame.from_mapping(fields)
    base = reverse("workbench", args=[sandbox.pk, token])
    context = {
        "layout": "embed_answer.html",
        "frame": frame,
        "origins": _origins(request, frame),
        "left_out": " ".join(frames.address_errors(fields, frames.ADDRESS_OF_ANSWER)),
        "open": urlencode({name: value for name, value in fields.items() if name in (*frames.COMPARED, "at")}),
    }
    return answers.compared(request, Access(sandbox, token, False), base, context)


@reads
def state(request: HttpRequest, access: Access) -> HttpResponse:
    """Return what the frame shows at another moment, or for another choice, as JSON."""
    query = request.GET.dict()
    frame, view = Frame.from_mapping(query), View.from_mapping(query)
    return JsonResponse(engines.read(access.sandbox, jobs.embedded, view, frame.at, list(frame.panels)))


def _render(
    request: HttpRequest, sandbox: Sandbox, token: str, frame: Frame, can_act: bool, try_url: str = ""
) -> HttpResponse:
    """Return the page of a frame. ``can_act``: the visitor may step. ``try_url``: creates an own sandbox, or ""."""
    view = View.from_mapping(request.GET.dict())
    result = engines.read(sandbox, jobs.embedded, view, frame.at, list(frame.panels))
    base = reverse("workbench", args=[sandbox.pk, token])
    context = {
        "title": sandbox.title,
        "frame": frame,
        "styles": styled(frame.panels),
        "places": [
            (name, [PANELS[panel] for panel in panels], _first(frame, panels, result["tab"]))
            for name, panels in frames.places(frame.names)
        ],
        "fragments": result["fragments"],
        "moment": result["moment"],
        "state": {key: result[key] for key in ("moment", "facts", "sentence", "tab")},
        "view": view.as_json(),
        "base": base,
        "socket": f"/ws{base}" if frame.live else "",
        "can_act": can_act,
        "try_url": try_url,
        "query": frame.query(view, result["moment"]["at"]),
        "left_out": " ".join(frames.address_errors(request.GET.dict())),
        "origins": _origins(request, frame),
    }
    return render(request, "embed.html", context)


def _origins(request: HttpRequest, frame: Frame) -> list[str]:
    """Return the origins that messages come from and go to; none if any page may frame the site."""
    own = f"{request.scheme}://{request.get_host()}"
    return [frame.origin] if frame.origin else frames.origins(settings.FRAME_ANCESTORS, own)


def _first(frame: Frame, panels: tuple[str, ...], tab: str) -> str:
    """Return the panel that is open in one place: that of the frame, else ``tab``, else the first."""
    return next((panel for panel in (frame.tab, tab) if panel in panels), panels[0])


def _of_lesson(slug: str) -> Scenario | None:
    """Return a lesson as a scenario, with the lesson's own commands as steps; None for an unknown one."""
    placed = lessons().get(slug)
    if placed is None:
        return None
    lesson = placed.lesson
    return replace(lesson.scenario, slug=lesson.slug, then=tuple(step for part in lesson.parts for step in part.way))


KINDS: dict[str, Callable[[str], Scenario | None]] = {
    "scenario": lambda slug: scenarios().get(slug),
    "lesson": _of_lesson,
}
"""Kind in an address → the function that returns the scenario with a name."""
NO_SUCH = {"scenario": "errors.no-scenario-named", "lesson": "errors.no-lesson-named"}


@csrf_exempt  # A forged request only creates a sandbox that nobody knows.
@require_http_methods(["GET", "HEAD", "POST"])
def story(request: HttpRequest, kind: str, slug: str) -> HttpResponse:
    """GET: show a scenario or a lesson with its steps executed. POST: create an own sandbox at the same moment."""
    scenario = KINDS[kind](slug)
    if scenario is None:
        return problem(request, 404, say(NO_SUCH[kind], name=slug[:80]))
    return _try(request, scenario) if request.method == "POST" else _show(request, scenario)


@require_safe
def story_differences(request: HttpRequest, kind: str, slug: str) -> HttpResponse:
    """Show what differs between a scenario or a lesson with its steps executed, and another run of it."""
    scenario = KINDS[kind](slug)
    if scenario is None:
        return problem(request, 404, say(NO_SUCH[kind], name=slug[:80]))
    return _of_all(request, scenario, lambda sandbox, token: _compared(request, sandbox, token))


def _show(request: HttpRequest, scenario: Scenario) -> HttpResponse:
    frame = Frame.from_mapping(request.GET.dict())
    return _of_all(
        request, scenario, lambda sandbox, token: _render(request, sandbox, token, frame, False, request.path)
    )


def _of_all(request: HttpRequest, scenario: Scenario, show: Callable[[Sandbox, str], HttpResponse]) -> HttpResponse:
    """Return ``show(sandbox, view token)`` for the scenario's sandbox, which all pages share."""
    shared = sharing.find(scenario)
    if shared is None and (seconds := ratelimit.wait("create", ratelimit.client(request))):
        return too_often(request, "create", seconds)
    sandbox, token = shared or sharing.get_or_create(scenario)
    if seconds := ratelimit.wait("look", f"{sandbox.pk} False"):
        return too_often(request, "look", seconds)
    return show(sandbox, token)


@limited
@readable_body
def _try(request: HttpRequest, scenario: Scenario) -> HttpResponse:
    """Let the visitor continue in the same frame, in an own sandbox, from the moment in view."""
    data = request.POST.dict()
    frame, view = Frame.from_mapping(data), View.from_mapping(data)
    if frame.at and frame.at not in (START, END) and Moment.read(frame.at) is None:
        return problem(request, 400, say("errors.moment-of-frame"))
    sandbox, _ = sharing.get_or_create(scenario)
    at = engines.read(sandbox, jobs.embedded, View(), frame.at, [])["moment"]["at"] if frame.at else ""
    own = reverse("embed", args=copies.fork(sandbox, Moment.read(at)))
    return redirect(f"{own}?{frame.query(view, '', steps='1', live='1')}")


@cache
def _script() -> str:
    """Return the script with its sentences, since the pages that load it have none."""
    script = (settings.BASE_DIR / "static" / "js" / "embed.js").read_text()
    return script.replace("ROWS = {}", f"ROWS = {json.dumps(rows('element'))}")


@require_safe
def script(request: HttpRequest) -> HttpResponse:
    """Return the script of the custom element. Its address never changes."""
    headers = {"Cache-Control": f"public, max-age={SCRIPT_SECONDS}", "Access-Control-Allow-Origin": "*"}
    return HttpResponse(_script(), content_type="text/javascript; charset=utf-8", headers=headers)


@require_safe
def open_link(request: HttpRequest) -> HttpResponse:
    """Show the page that reads a sandbox from the link itself. Browsers never send that part of a URL."""
    return render(request, "open.html")
