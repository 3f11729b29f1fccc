"""Sandboxes and scenarios inside of other people's pages, and the script that puts them there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from sandbox.changes import sharing, store
from sandbox.library.scenarios import scenarios
from sandbox.library.shelf import lessons
from sandbox.limits import ratelimit
from sandbox.panels import PANELS, frames
from sandbox.panels.frames import END, START, Frame
from sandbox.panels.model.moment import Moment
from sandbox.panels.view import View
from sandbox.pool import engines
from sandbox.storage.models import Sandbox
from sandbox.web.access import Access, limited, problem, readable_body, reads, too_often
from sandbox.web.styles import styled
from sandbox.worker import jobs
from scheduler_engine.scenario import Scenario

SCRIPT_SECONDS = 3600
"""How long a browser may keep the script."""


@reads
def page(request: HttpRequest, access: Access) -> HttpResponse:
    """A sandbox, or panels of it, at a moment."""
    frame = Frame.from_mapping(request.GET.dict())
    return _drawn(request, access.sandbox, access.token, frame, access.can_edit and frame.live)


@reads
def state(request: HttpRequest, access: Access) -> HttpResponse:
    """What the page shows of another moment, or of another choice, as JSON."""
    given = request.GET.dict()
    frame, view = Frame.from_mapping(given), View.from_mapping(given)
    return JsonResponse(engines.read(access.sandbox, jobs.embedded, view, frame.at, list(frame.panels)))


def _drawn(
    request: HttpRequest, sandbox: Sandbox, token: str, frame: Frame, can_act: bool, try_url: str = ""
) -> HttpResponse:
    """``can_act``: it may step. ``try_url``: where a sandbox of one's own is made, "" = nowhere."""
    view = View.from_mapping(request.GET.dict())
    found = engines.read(sandbox, jobs.embedded, view, frame.at, list(frame.panels))
    base = reverse("workbench", args=[sandbox.pk, token])
    own = f"{request.scheme}://{request.get_host()}"
    context = {
        "title": sandbox.title,
        "frame": frame,
        "styles": styled(frame.panels),
        "places": [
            (name, [PANELS[panel] for panel in panels], _first(frame, panels, found["tab"]))
            for name, panels in frames.places(frame.names)
        ],
        "fragments": found["fragments"],
        "moment": found["moment"],
        "told": {key: found[key] for key in ("moment", "facts", "sentence", "tab")},
        "view": view.as_json(),
        "base": base,
        "socket": f"/ws{base}" if frame.live else "",
        "can_act": can_act,
        "try_url": try_url,
        "query": frame.query(view, found["moment"]["at"]),
        "left_out": " ".join(frames.address_errors(request.GET.dict())),
        "origins": [frame.origin] if frame.origin else frames.origins(settings.FRAME_ANCESTORS, own),
    }
    return render(request, "embed.html", context)


def _first(frame: Frame, panels: tuple[str, ...], told: str) -> str:
    """Which of the panels of one place is open."""
    return next((panel for panel in (frame.tab, told) if panel in panels), panels[0])


def _of_lesson(slug: str) -> Scenario | None:
    """A lesson as a scenario: what it opens with, and the way that it goes itself."""
    placed = lessons().get(slug)
    if placed is None:
        return None
    lesson = placed.lesson
    return replace(lesson.scenario, slug=lesson.slug, then=tuple(step for part in lesson.parts for step in part.way))


KINDS: dict[str, Callable[[str], Scenario | None]] = {
    "scenario": lambda slug: scenarios().get(slug),
    "lesson": _of_lesson,
}
"""What an address names → the scenario behind it."""


@csrf_exempt  # As for every new sandbox: a forged request makes one that nobody knows.
@require_http_methods(["GET", "HEAD", "POST"])
def story(request: HttpRequest, kind: str, slug: str) -> HttpResponse:
    """GET: a story with its steps played, to look at; POST: a sandbox of one's own that has come as far."""
    known = KINDS[kind](slug)
    if known is None:
        return problem(request, 404, f"There is no {kind} named “{slug[:80]}” on this site.")
    return _try(request, known) if request.method == "POST" else _show(request, known)


def _show(request: HttpRequest, known: Scenario) -> HttpResponse:
    there = sharing.find(known) or _made(request, known)
    if isinstance(there, HttpResponse):
        return there
    sandbox, token = there
    if late := ratelimit.wait("look", f"{sandbox.pk} False"):
        return too_often(request, "look", late)
    frame = Frame.from_mapping(request.GET.dict())
    return _drawn(request, sandbox, token, frame, False, request.path)


def _made(request: HttpRequest, known: Scenario) -> tuple[Sandbox, str] | HttpResponse:
    late = ratelimit.wait("create", ratelimit.client(request))
    return too_often(request, "create", late) if late else sharing.get_or_create(known)


@limited
@readable_body
def _try(request: HttpRequest, known: Scenario) -> HttpResponse:
    """The visitor goes on in the same frame, live, from the moment that was in view."""
    given = request.POST.dict()
    frame, view = Frame.from_mapping(given), View.from_mapping(given)
    if frame.at and frame.at not in (START, END) and Moment.read(frame.at) is None:
        return problem(request, 400, "at must be start, end or a moment such as 12.40.")
    sandbox, _ = sharing.get_or_create(known)
    at = engines.read(sandbox, jobs.embedded, View(), frame.at, [])["moment"]["at"] if frame.at else ""
    own = reverse("embed", args=store.fork(sandbox, Moment.read(at)))
    return redirect(f"{own}?{frame.query(view, '', steps='1', live='1')}")


@cache
def _script() -> bytes:
    return (settings.BASE_DIR / "static" / "js" / "embed.js").read_bytes()


@require_safe
def script(request: HttpRequest) -> HttpResponse:
    """The custom element, under an address that stays."""
    headers = {"Cache-Control": f"public, max-age={SCRIPT_SECONDS}", "Access-Control-Allow-Origin": "*"}
    return HttpResponse(_script(), content_type="text/javascript; charset=utf-8", headers=headers)


@require_safe
def opening(request: HttpRequest) -> HttpResponse:
    """What a link carries in itself is read by the browser alone: a fragment is never sent."""
    return render(request, "open.html")


urlpatterns = [
    path("embed/", page, name="embed"),
    path("embed/state/", state, name="embed-state"),
]
"""Below a sandbox."""
