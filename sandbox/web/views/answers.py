"""Answers from copies of the engine: what differs in another run, how many more pods fit, what would let one run."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode

from sandbox.changes import store
from sandbox.panels.model.moment import Moment
from sandbox.pool import engines
from sandbox.storage import branches
from sandbox.storage.branches import BranchRow
from sandbox.storage.commands import to_text
from sandbox.storage.models import Sandbox
from sandbox.web.access import Access, edits, limited, problem, reads, who
from sandbox.web.numbers import whole_number
from sandbox.words.say import say
from sandbox.worker import jobs
from sandbox.worker.comparing import CONFIGURATIONS, Other
from sandbox.worker.room import MOST_COPIES, MOST_WANTED, Asked
from scheduler_engine.errors import Rejected

MOST_SEED, DIGITS = 2**31 - 1, 10
LONGEST_NAME = 253
MOST_COMMANDS = 20
"""Commands of one fix."""


@reads
def differences(request: HttpRequest, access: Access) -> HttpResponse:
    """Compare with what the query names: ``branch``, ``configuration``, ``seed``, or ``cycle`` and ``node``."""
    others = branches.branches_of(access.sandbox)
    try:
        other, name = _other(request, access, others)
    except ValueError as error:
        return problem(request, 400, str(error))
    if other is None:
        return problem(request, 404, say("errors.no-branch"))
    context = {
        "sandbox": access.sandbox,
        "base": request.path.removesuffix("differences/"),
        "name": name,
        "asked": request.GET,
        "branches": others,
        "seed": access.sandbox.seed,
        "found": engines.read(access.sandbox, jobs.difference, other),
    }
    return render(request, "differences.html", context)


def _other(request: HttpRequest, access: Access, others: list[BranchRow]) -> tuple[Other | None, str]:
    """Return the second run and its name, None if the branch is gone. Raises ValueError with a sentence."""
    query: dict[str, Any] = request.GET.dict()
    if key := query.get("branch"):
        branch = next((item for item in others if str(item.key) == key), None)
        texts = branches.commands_of(access.sandbox.pk, branch.key) if branch is not None else None
        if branch is None or texts is None:
            return None, ""
        return Other(texts=tuple(texts)), say("differences.branch", after=branch.after, count=branch.count)
    configuration = query.get("configuration", "")
    if configuration in CONFIGURATIONS:
        return Other(configuration=configuration), say(f"differences.configuration-{configuration}")
    cycle, node = whole_number(query.get("cycle", ""), DIGITS), query.get("node", "")
    if cycle and node and len(node) <= LONGEST_NAME:
        return Other(cycle=cycle, node=node), say("differences.instead", cycle=cycle, node=node)
    seed = whole_number(query.get("seed", ""), DIGITS)
    if seed is not None and seed <= MOST_SEED:
        return Other(seed=seed), say("differences.seed", seed=seed)
    raise ValueError(say("errors.compare-with", most=MOST_SEED))


@reads
def fit(request: HttpRequest, access: Access) -> HttpResponse:
    """Count the copies of ``pod`` that fit; with ``copies`` and ``shape``, also the nodes that they need."""
    query: dict[str, Any] = request.GET.dict()
    copies = whole_number(query.get("copies") or "0", DIGITS)
    if copies is None or copies > MOST_WANTED:
        return problem(request, 400, say("errors.copies", most=MOST_WANTED))
    at, asked = Moment.read(query.get("at", "")), Asked(query.get("pod", ""), copies, query.get("shape", ""))
    context = {
        "sandbox": access.sandbox,
        "base": request.path.removesuffix("fit/"),
        "asked": asked,
        "most": MOST_WANTED,
        "limit": MOST_COPIES,
        "at": at,
        "found": engines.read(access.sandbox, jobs.fit, asked, at),
    }
    return render(request, "fit.html", context)


@reads
def fixes(request: HttpRequest, access: Access) -> HttpResponse:
    """Show the smallest changes that would let ``pod`` run."""
    at = Moment.read(request.GET.get("at", ""))
    found = engines.read(access.sandbox, jobs.fixes, request.GET.get("pod", ""), at)
    for fix in found["fixes"]:
        fix["commands"] = json.dumps(fix["commands"], separators=(",", ":"))
    context = {
        "sandbox": access.sandbox,
        "base": request.path.removesuffix("fixes/"),
        "can_edit": access.can_edit,
        "at": at,
        "found": found,
    }
    return render(request, "fixes.html", context)


@reads
def leave(request: HttpRequest, access: Access) -> HttpResponse:
    """Show what becomes of the pods if ``node`` is drained, or ``zone`` is lost."""
    node, zone = request.GET.get("node", ""), request.GET.get("zone", "")
    at = Moment.read(request.GET.get("at", ""))
    context = {
        "sandbox": access.sandbox,
        "base": request.path.removesuffix("leave/"),
        "node": node,
        "zone": zone,
        "at": at,
        "found": engines.read(access.sandbox, jobs.leave, node, zone, at),
    }
    return render(request, "leave.html", context)


@edits
def mend(request: HttpRequest, access: Access) -> HttpResponse:
    """Execute the ``commands`` of a fix, and go back to the sandbox."""
    return _mend(request, lambda: (access.sandbox, request.path.removesuffix("mend/")))


@limited
@edits
def mend_copy(request: HttpRequest, access: Access) -> HttpResponse:
    """Execute the ``commands`` of a fix in a new sandbox with the log up to the moment ``at``, and go there."""

    def fork() -> tuple[Sandbox, str]:
        copied, token = store.fork(access.sandbox, Moment.read(request.POST.get("at", "")))
        return Sandbox.objects.get(pk=copied), reverse("workbench", args=[copied, token])

    return _mend(request, fork)


def _mend(request: HttpRequest, where: Callable[[], tuple[Sandbox, str]]) -> HttpResponse:
    """``where``: returns the sandbox and its address. It is called if there are commands."""
    chosen = _commands(request.POST.get("commands", ""))
    if not chosen or len(chosen) > MOST_COMMANDS:
        return problem(request, 400, say("errors.fix", most=MOST_COMMANDS))
    sandbox, address = where()
    for command in chosen:
        store.execute(sandbox, command, who(request))
    return redirect(f"{address}?{urlencode({'pod': request.POST.get('pod', '')})}")


def _commands(text: str) -> list[dict[str, Any]]:
    """Return the commands in a JSON list; none if it is not one."""
    try:
        listed = json.loads(text)
        for command in listed if isinstance(listed, list) else ():
            to_text(command)
    except (ValueError, RecursionError, AttributeError, Rejected):
        return []
    return listed if isinstance(listed, list) else []
