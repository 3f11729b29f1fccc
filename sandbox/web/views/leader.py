"""Replicas of the scheduler, and what goes wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path

from sandbox.changes import store
from sandbox.pool import engines
from sandbox.web.access import Access, edits, reads, who
from sandbox.worker import jobs
from scheduler_engine.errors import Rejected

FORM = "fragments/leader_form.html"
DURATIONS = ("lease_duration", "renew_deadline", "retry_period")


@reads
def replicas_form(request: HttpRequest, access: Access) -> HttpResponse:
    return render(request, FORM, engines.read(access.sandbox, jobs.leader_form))


@edits
def run(request: HttpRequest, access: Access) -> HttpResponse:
    """Replace the schedulers. What is wrong with a filled-in form is said there."""
    given = request.POST.dict()
    try:
        store.execute(access.sandbox, {"kind": "replicas", **_wanted(given)}, who(request))
    except Rejected as error:
        if "form" not in given:
            raise
        return render(request, FORM, {"form": _typed(given), "errors": error.errors}, status=422)
    return HttpResponse(status=204, headers={"HX-Trigger": "replicas-set"})


def _wanted(given: Mapping[str, str]) -> dict[str, Any]:
    """Raises Rejected. Without an election the durations do not matter, so none is judged."""
    wanted: dict[str, Any] = {
        "count": int(_number(given, "count")),
        "leader_elect": "leader_elect" in given,
    }
    if not wanted["leader_elect"]:
        return wanted
    if "form" in given:
        wanted |= {"lock": given.get("lock", ""), "release_on_cancel": "release" in given}
    return wanted | {name: given[name].strip() for name in DURATIONS if given.get(name, "").strip()}


def _typed(given: Mapping[str, str]) -> dict[str, Any]:
    """The form as it was sent, to be shown again."""
    named = {name: given.get(name, "") for name in ("count", "lock", *DURATIONS)}
    return {**named, "leader_elect": "leader_elect" in given, "release": "release" in given}


def _number(given: Mapping[str, str], name: str) -> float:
    """Raises ``Rejected``."""
    try:
        number = float(given.get(name, ""))
    except ValueError:
        number = float("nan")
    if not -1e9 < number < 1e9:
        raise Rejected(f"{name} must be a number")
    return number


WITH: dict[str, Callable[[Mapping[str, str]], dict[str, Any]]] = {
    "skew": lambda given: {"seconds": _sign(given) * 60 * _number(given, "minutes")},
    "rate": lambda given: {"rate": given.get("rate", "").strip()},
}
"""What an action needs beside the replica's name."""


def _sign(given: Mapping[str, str]) -> int:
    return -1 if given.get("way") == "back" else 1


@edits
def act(request: HttpRequest, access: Access) -> HttpResponse:
    """Do something to one replica."""
    given = request.POST.dict()
    action = given.get("action", "")
    extra = WITH[action](given) if action in WITH else {}
    command = {"kind": "replica", "replica": given.get("replica", ""), "action": action, **extra}
    store.execute(access.sandbox, command, who(request))
    return HttpResponse(status=204)


urlpatterns: list[URLPattern] = [
    path("replicas/", run, name="replicas"),
    path("replicas-form/", replicas_form, name="replicas-form"),
    path("replica/", act, name="replica"),
]
