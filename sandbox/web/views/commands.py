"""Buttons and forms that only need a command. Each executes it, or moves the head once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect

from sandbox.changes import store
from sandbox.pool import engines
from sandbox.storage.commands import only_steps, summary
from sandbox.storage.models import Sandbox
from sandbox.storage.records import Position, log_of
from sandbox.web.access import Access, edits, problem, who
from sandbox.web.executing import execute
from sandbox.words.say import say
from scheduler_engine.commands import DRAIN_FLAGS
from scheduler_engine.versions import VERSIONS, known_gates


def _number(data: QueryDict, name: str, least: float) -> float:
    """Return the number in a field. If it is less than ``least``, raise ``ValueError`` with a sentence to show."""
    try:
        number = float(data.get(name, ""))
    except ValueError:
        number = float("nan")
    if not least <= number < 1e9:
        raise ValueError(say("errors.least", name=name, least=least))
    return int(number) if number.is_integer() else number


def _advance(data: QueryDict) -> dict[str, Any]:
    command: dict[str, Any] = {"kind": "advance", "seconds": _number(data, "seconds", 0.000001)}
    return command | {"play": True} if data.get("play") == "1" else command


def _object(data: QueryDict) -> dict[str, Any]:
    return {"object_kind": data.get("kind", ""), "key": data.get("key", "")}


def _on_node(kind: str, data: QueryDict) -> dict[str, Any]:
    return {"kind": kind, "node": data.get("node", ""), "on": data.get("on") == "1"}


def _kubernetes(data: QueryDict) -> dict[str, Any]:
    """Return the command for a version with its default gates, or, if the form shows ``gates``, with those ``on``."""
    version, on = data.get("version", ""), data.getlist("on")
    known = known_gates(version) if version in VERSIONS and data.get("gates") == "1" else {}
    gates = {name: name in on for name, (default, locked) in known.items() if not locked and (name in on) != default}
    return {"kind": "kubernetes", "version": version, "feature_gates": gates or None}


COMMANDS: dict[str, Callable[[QueryDict], dict[str, Any]]] = {
    "stage": lambda data: {"kind": "stage"},
    "pod": lambda data: {"kind": "pod"},
    "settle": lambda data: {"kind": "settle"},
    "run": lambda data: {"kind": "run"},
    "advance": _advance,
    "assumed-ttl": lambda data: {"kind": "assumed-ttl", "seconds": _number(data, "seconds", 0)},
    "admission": lambda data: {
        "kind": "admission",
        "plugin": data.get("plugin", ""),
        "enabled": data.get("enabled") == "1",
    },
    "kubernetes": _kubernetes,
    "allow": lambda data: {"kind": "allow", "pod": data.get("pod", "")},
    "cordon": lambda data: _on_node("cordon", data),
    "delete": lambda data: {
        "kind": "delete",
        **_object(data),
        **({"propagation_policy": data["policy"]} if data.get("policy") else {}),
    },
    "drain": lambda data: _on_node("drain", data) | {name: data.get(name) == "1" for name in DRAIN_FLAGS},
    # The API server's answer, also a refusal, reaches every browser with the panels.
    "evict": lambda data: {"kind": "evict", "pod": data.get("pod", "")},
    "node-condition": lambda data: {
        "kind": "node-condition",
        **{name: data.get(name, "") for name in ("node", "type", "status")},
    },
    "rollout": lambda data: {"kind": "rollout-restart", **_object(data)},
}
"""Verb → the command of a form."""
WITH_URLS = ("allow", "cordon", "delete", "drain", "evict", "node-condition", "rollout")
"""Verbs with their own URLs."""
MOVES: dict[str, Callable[[Position, QueryDict], int]] = {
    "back": lambda position, data: position.head - 1,
    "forward": lambda position, data: position.head + 1,
    "goto": lambda position, data: int(_number(data, "n", 0)),
}


@edits
def do(request: HttpRequest, access: Access, verb: str) -> HttpResponse:
    try:
        if verb in COMMANDS:
            execute(access.sandbox, COMMANDS[verb](request.POST), who(request))
        elif verb == "stop":
            return _stop(request, access)
        elif verb in MOVES:
            store.go_to(access.sandbox, lambda position: MOVES[verb](position, request.POST))
            if verb == "back":
                return _undone(request, access)
        else:
            raise Http404
    except ValueError as error:
        return problem(request, 400, str(error))
    return HttpResponse(status=204)


def _undone(request: HttpRequest, access: Access) -> HttpResponse:
    """Say which command a step back undid, unless it was only a step of the scheduler, which the page shows."""
    head = Position.of(Sandbox.objects.get(pk=access.sandbox.pk)).head
    text = log_of(access.sandbox.pk).filter(n=head + 1).values_list("command", flat=True).first()
    if text is None or only_steps(text):
        return HttpResponse(status=204)
    message = say("history.undone", summary=summary(text))
    response = problem(request, 200, message, calm=True)
    response["HX-Retarget"], response["HX-Reswap"] = "#notice", "innerHTML"
    return response


def _stop(request: HttpRequest, access: Access) -> HttpResponse:
    """Stop the command that runs. Its own request is answered with an error."""
    engines.stop(access.sandbox.pk)
    if request.headers.get("HX-Request"):
        return HttpResponse(status=204)
    return redirect("workbench", access.sandbox.pk, access.token)
