"""The doors: opening a room, joining one, and the page that a link leads to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from sandbox.changes.opening import read_lesson
from sandbox.library.scenarios import scenarios
from sandbox.library.shelf import shelf
from sandbox.limits import ratelimit
from sandbox.limits.quotas import OverQuota, check_import
from sandbox.web.access import limited, readable_body, too_often
from sandbox.workshop import files, people, room, sources
from sandbox.workshop.access import RoomAccess, shown
from sandbox.workshop.addresses import links
from sandbox.workshop.fragments import fragments
from sandbox.workshop.lessons import Brought
from sandbox.workshop.models import Workshop
from scheduler_engine.errors import FieldError, Rejected

MOST_ERRORS = 20
NO_ROOM = "There is no open room with this code. Ask your trainer for it."


@require_safe
def workshops(request: HttpRequest) -> HttpResponse:
    """Where a trainer opens a room, and a participant types the code."""
    return _doors(request)


def _doors(request: HttpRequest, errors: Sequence[str] = (), status: int = 200) -> HttpResponse:
    context = {
        "scenarios": list(scenarios().values()),
        "lessons": shelf("lessons"),
        "days": settings.ROOM_DAYS,
        "errors": errors[:MOST_ERRORS],
        "more_errors": len(errors[MOST_ERRORS:]),
        "given": {"scenario": next(iter(scenarios()), ""), "text": "", "title": "", **request.POST.dict()},
    }
    return render(request, "workshop/doors.html", context, status=status)


@csrf_exempt  # As for every new sandbox: a forged request opens a room that nobody knows.
@require_POST
@limited
@readable_body
def open_room(request: HttpRequest) -> HttpResponse:
    """A room of what the form names; else the doors again, with what is wrong in it."""
    try:
        made, token = _opened(request)
    except Rejected as refusal:
        return _doors(request, [str(error) for error in refusal.errors], 422)
    except OverQuota as error:
        return _doors(request, [str(error)], error.status)
    return _lead(request, reverse("room", args=[made.pk, token]))


def _lead(request: HttpRequest, path: str) -> HttpResponse:
    """To another page; a page that has sent its form by script goes there itself."""
    if request.headers.get("HX-Request"):
        return HttpResponse(status=204, headers={"HX-Redirect": path})
    return redirect(path)


def _opened(request: HttpRequest) -> tuple[Workshop, str]:
    title, text = request.POST.get("title", ""), _text(request)
    if files.is_room(text):
        read = files.read(text)
        return room.opened(read.source, title or read.title, read.plan, read.lessons, read.begins)
    if files.is_lesson(text):
        return room.opened(sources.BLANK, title, brought=[Brought(text, read_lesson(text))], begins=1)
    return room.opened(sources.file(text) if text else chosen(request), title)


def _text(request: HttpRequest) -> str:
    """Of the file, else of the field. Raises ``OverQuota`` or ``Rejected``."""
    given = request.FILES.get("file")
    if not given:
        text = request.POST.get("text", "")
        return text if text.strip() else ""
    check_import(given.size or 0)
    try:
        return given.read().decode()
    except UnicodeDecodeError:
        raise Rejected([FieldError("file", "DecodeError", "The file is not valid UTF-8 text.")]) from None


def chosen(request: HttpRequest, room: Workshop | None = None) -> sources.Source:
    """What a form names: a scenario, a lesson, one of the room's own, or nothing. Raises ``Rejected``."""
    if slug := request.POST.get("scenario", ""):
        kind, _, name = slug.rpartition(":")
        if kind == "own" and room is not None:
            return sources.own(room, name)
        return sources.lesson(name) if kind == "lesson" else sources.scenario(slug)
    return sources.BLANK


@csrf_exempt  # No cookie gives authority here either.
@require_http_methods(["GET", "HEAD", "POST"])
@readable_body
def join(request: HttpRequest, code: str = "") -> HttpResponse:
    """GET: asks for what is missing of code and name; POST: joins."""
    if late := ratelimit.wait("join", ratelimit.client(request)):
        return too_often(request, "join", late)
    given = request.POST.get("code") or request.GET.get("code") or code
    found = people.find(given) if given else None
    typed = {field: request.POST.get(field, "").strip() for field in ("name", "back")}
    context: dict[str, Any] = {"code": given, "room": found, "errors": [], "taken": False, **typed}
    if given and found is None:
        errors = [FieldError("code", "Not found", NO_ROOM)]
        return render(request, "workshop/join.html", context | {"errors": errors}, status=404)
    if request.method == "GET" and found is not None and request.headers.get("HX-Request"):
        return _lead(request, reverse("join-code", args=[found.code]))
    if request.method != "POST" or found is None or "name" not in request.POST:
        return render(request, "workshop/join.html", context)
    try:
        token = _token(found, context["name"], context["back"])
    except people.TooOften as error:
        return too_often(request, "code", error.late)
    except Rejected as error:
        context |= {"errors": error.errors, "taken": any(each.kind == people.TAKEN for each in error.errors)}
        return render(request, "workshop/join.html", context, status=422)
    except OverQuota as error:
        context |= {"errors": [FieldError("", "Invalid", str(error))]}
        return render(request, "workshop/join.html", context, status=error.status)
    return _lead(request, reverse("room", args=[found.pk, token]))


def _token(found: Workshop, name: str, code: str) -> str:
    """Of whoever comes back with their code, or else joins. Raises as ``people.join`` and ``people.come_back``."""
    return people.come_back(found, name, code) if code else people.join(found, name)[1]


@shown
def page(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    """The page of a link."""
    context = {
        "room": access.room,
        "person": access.participant,
        "fragments": fragments(access),
        "base": request.path,
        "links": links(request, access),
        "scenarios": list(scenarios().values()) if access.role == "trainer" else [],
        "lessons": shelf("lessons") if access.role == "trainer" else [],
        "plan": [files.told(question) for question in files.planned(access.room)],
        "days": settings.ROOM_DAYS,
    }
    return render(request, f"workshop/{access.role}.html", context)
