"""Replicas of the scheduler, and their failures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from sandbox.pool import engines
from sandbox.web.access import Access, edits, reads, who
from sandbox.web.executing import execute
from sandbox.words.say import say
from sandbox.worker import jobs
from scheduler_engine.errors import Rejected

FORM = "fragments/leader_form.html"
DURATIONS = ("lease_duration", "renew_deadline", "retry_period")


@reads
def replicas_form(request: HttpRequest, access: Access) -> HttpResponse:
    """Return the form with the replicas as they are."""
    return render(request, FORM, engines.read(access.sandbox, jobs.leader_form))


@edits
def run(request: HttpRequest, access: Access) -> HttpResponse:
    """Replace the schedulers. Errors of the form are shown in it."""
    data = request.POST.dict()
    try:
        execute(access.sandbox, {"kind": "replicas", **_fields(data)}, who(request))
    except Rejected as error:
        if "form" not in data:
            raise
        return render(request, FORM, {"form": _typed(data), "errors": error.errors}, status=422)
    return HttpResponse(status=204, headers={"HX-Trigger": "replicas-set"})


def _fields(data: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of the command. Without an election it has no durations, so they cannot be invalid.

    Raise ``Rejected`` if the count is not a number.
    """
    fields: dict[str, Any] = {"count": int(_number(data, "count")), "leader_elect": "leader_elect" in data}
    if not fields["leader_elect"]:
        return fields
    if "form" in data:
        fields |= {"lock": data.get("lock", ""), "release_on_cancel": "release" in data}
    return fields | {name: data[name].strip() for name in DURATIONS if data.get(name, "").strip()}


def _typed(data: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of the form as they were sent, to show it again."""
    named = {name: data.get(name, "") for name in ("count", "lock", *DURATIONS)}
    return {**named, "leader_elect": "leader_elect" in data, "release": "release" in data}


def _number(data: Mapping[str, str], name: str) -> float:
    """Return the number in a field. Raise ``Rejected`` if it is not one."""
    try:
        number = float(data.get(name, ""))
    except ValueError:
        number = float("nan")
    if not -1e9 < number < 1e9:
        raise Rejected(say("errors.number", name=name))
    return number


EXTRA_FIELDS: dict[str, Callable[[Mapping[str, str]], dict[str, Any]]] = {
    "skew": lambda data: {"seconds": (-60 if data.get("way") == "back" else 60) * _number(data, "minutes")},
    "rate": lambda data: {"rate": data.get("rate", "").strip()},
}
"""Action → the fields of its command, besides the replica and the action."""


@edits
def act(request: HttpRequest, access: Access) -> HttpResponse:
    """Execute an action on one replica."""
    data = request.POST.dict()
    action = data.get("action", "")
    extra = EXTRA_FIELDS[action](data) if action in EXTRA_FIELDS else {}
    command = {"kind": "replica", "replica": data.get("replica", ""), "action": action, **extra}
    execute(access.sandbox, command, who(request))
    return HttpResponse(status=204)
