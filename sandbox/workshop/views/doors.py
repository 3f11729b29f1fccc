"""Open a room, join one, and show the page of a link."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from sandbox.content.scenarios import scenarios
from sandbox.content.shelf import shelf
from sandbox.limits import ratelimit
from sandbox.limits.quotas import OverQuota, check_import
from sandbox.web.access import public_form, readable_body, too_often
from sandbox.words.say import say
from sandbox.workshop import files, people, room, sources
from sandbox.workshop.access import RoomAccess, room_page
from sandbox.workshop.addresses import links
from sandbox.workshop.fragments import fragments
from sandbox.workshop.models import NAME_CHARACTERS, Workshop
from scheduler_engine.errors import FieldError, Rejected

MOST_ERRORS = 20


@require_safe
def workshops(request: HttpRequest) -> HttpResponse:
    """Show the page on which a trainer opens a room and a participant enters a code."""
    return _entrance(request)


def _entrance(request: HttpRequest, errors: Sequence[str] = (), status: int = 200) -> HttpResponse:
    context = {
        "scenarios": list(scenarios().values()),
        "lessons": shelf("lessons"),
        "days": settings.ROOM_DAYS,
        "errors": errors[:MOST_ERRORS],
        "more_errors": len(errors[MOST_ERRORS:]),
        "values": {"scenario": next(iter(scenarios()), ""), "text": "", "title": "", **request.POST.dict()},
    }
    return render(request, "workshop/doors.html", context, status=status)


@public_form
def open_room(request: HttpRequest) -> HttpResponse:
    """Open a room of the source in the form. If the form is invalid, show it again with the errors."""
    try:
        opened, token = _open(request)
    except Rejected as refusal:
        return _entrance(request, [str(error) for error in refusal.errors], 422)
    except OverQuota as error:
        return _entrance(request, [str(error)], error.status)
    return _redirect(request, reverse("room", args=[opened.pk, token]))


def _redirect(request: HttpRequest, path: str) -> HttpResponse:
    """Redirect to another page, with a header for htmx if a script sent the form."""
    if request.headers.get("HX-Request"):
        return HttpResponse(status=204, headers={"HX-Redirect": path})
    return redirect(path)


def _open(request: HttpRequest) -> tuple[Workshop, str]:
    """Open the room, and return it with the trainer's token. Raise ``OverQuota`` or ``Rejected``."""
    title, text = request.POST.get("title", ""), _text(request)
    return (
        files.open_file(text, title, request.POST.get("anew") == "1")
        if text
        else room.open_room(chosen_source(request), title)
    )


def _text(request: HttpRequest) -> str:
    """Return the text of the file, else of the text field. Raise ``OverQuota`` or ``Rejected``."""
    file = request.FILES.get("file")
    if not file:
        text = request.POST.get("text", "")
        return text if text.strip() else ""
    check_import(file.size or 0)
    try:
        text = file.read().decode()
    except UnicodeDecodeError:
        raise Rejected([FieldError("file", "DecodeError", say("errors.not-utf-8"))]) from None
    if not text.strip():
        raise Rejected([FieldError("file", "FieldValueRequired", say("errors.empty-file"))])
    return text


def chosen_source(request: HttpRequest, room: Workshop | None = None) -> sources.Source:
    """Return the source in a form: a scenario, a lesson, one of the room's own lessons, or an empty sandbox.

    Raise ``Rejected`` for an unknown one.
    """
    slug = request.POST.get("scenario", "")
    kind, _, name = slug.rpartition(":")
    if kind == "own" and room is not None:
        return sources.own(room, name)
    return sources.named("", name) if kind == "lesson" and name else sources.named(slug, "")


@csrf_exempt  # As elsewhere, no cookie grants access.
@require_http_methods(["GET", "HEAD", "POST"])
@readable_body
def join(request: HttpRequest, code: str = "") -> HttpResponse:
    """GET: ask for the code and the name. POST: join, or come back with a personal code."""
    if seconds := ratelimit.wait("join", ratelimit.client(request)):
        return too_often(request, "join", seconds)
    typed_code = request.POST.get("code") or request.GET.get("code") or code
    joined_room = people.find_room(typed_code) if typed_code else None
    typed = {field: request.POST.get(field, "").strip() for field in ("name", "back")}
    context: dict[str, Any] = {"code": typed_code, "room": joined_room, "errors": [], "taken": False, **typed}
    context["longest_name"] = NAME_CHARACTERS
    if typed_code and joined_room is None:
        errors = [FieldError("code", "Not found", say("room.no-room"))]
        return render(request, "workshop/join.html", context | {"errors": errors}, status=404)
    if request.method == "GET" and joined_room is not None and request.headers.get("HX-Request"):
        return _redirect(request, reverse("join-code", args=[joined_room.code]))
    if request.method != "POST" or joined_room is None or "name" not in request.POST:
        return render(request, "workshop/join.html", context)
    try:
        name, back = typed["name"], typed["back"]
        token = people.come_back(joined_room, name, back) if back else people.join(joined_room, name)[1]
    except Rejected as error:
        context |= {"errors": error.errors, "taken": any(each.kind == people.TAKEN for each in error.errors)}
        return render(request, "workshop/join.html", context, status=422)
    except OverQuota as error:
        context |= {"errors": [FieldError("", "Invalid", str(error))]}
        return render(request, "workshop/join.html", context, status=error.status)
    return _redirect(request, reverse("room", args=[joined_room.pk, token]))


@room_page
def page(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    """Show the page for the role of a link."""
    context = {
        "room": access.room,
        "person": access.participant,
        "fragments": fragments(access),
        "base": request.path,
        "links": links(request, access),
        "scenarios": list(scenarios().values()) if access.role == "trainer" else [],
        "lessons": shelf("lessons") if access.role == "trainer" else [],
        "days": settings.ROOM_DAYS,
    }
    return render(request, f"workshop/{access.role}.html", context)
