"""Answers from copies of the engine: what differs in another run, how many more pods fit, what would let one run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode

from sandbox.changes import store
from sandbox.panels.model.moment import Moment
from sandbox.pool import engines
from sandbox.storage import branches
from sandbox.storage.commands import to_text
from sandbox.storage.models import LONGEST_TITLE, Sandbox, printable
from sandbox.web.access import Access, edits, limited, problem, reads, who
from sandbox.web.files import attachment
from sandbox.web.numbers import whole_number
from sandbox.web.second_run import DIGITS, NoBranch, named_run, second_run
from sandbox.words.say import say
from sandbox.worker import jobs
from sandbox.worker.rerolling import CHOICES as DRAWS
from sandbox.worker.room import MOST_COPIES, MOST_WANTED, Asked
from sandbox.worker.seeds import CHOICES, Wanted
from scheduler_engine.errors import Rejected

MOST_COMMANDS = 20
"""Commands of one fix."""
Fix = list[dict[str, Any]]
"""The commands of a fix, in their JSON form."""


@reads
def differences(request: HttpRequest, access: Access) -> HttpResponse:
    """Compare with what the query names: ``branch``, ``configuration``, ``seed``, or ``cycle`` and ``node``.

    The runs end at the moment ``at``, or else at the present. If the query names nothing else, that moment is compared
    with the present. With ``seeds``, play both runs with so many seeds, or this one alone if the query names no other.
    """
    query: dict[str, Any] = request.GET.dict()
    at = Moment.read(query.get("at", ""))
    context = {
        "sandbox": access.sandbox,
        "base": request.path.removesuffix("differences/"),
        "asked": query,
        "branches": branches.branches_of(access.sandbox),
        "seed": access.sandbox.seed,
        "choices": CHOICES,
        "at": at,
        "can_edit": access.can_edit,
        "present": urlencode({name: value for name, value in query.items() if name != "at"}),
    }
    try:
        if "seeds" in query:
            return render(request, "seeds.html", context | _over_seeds(access.sandbox, query, at))
        other, name = second_run(access.sandbox, query)
    except NoBranch as error:
        return problem(request, 404, str(error))
    except ValueError as error:
        return problem(request, 400, str(error))
    context |= {"name": name, "later": other.later, "found": engines.read(access.sandbox, jobs.difference, other, at)}
    return render(request, "differences.html", context)


def _over_seeds(sandbox: Sandbox, query: Mapping[str, str], at: Moment | None) -> dict[str, Any]:
    """Return the answer, and the name of the other run. Raises ``NoBranch``, or ValueError with a sentence."""
    seeds = whole_number(query["seeds"], DIGITS)
    if seeds not in CHOICES or "cycle" in query:
        raise ValueError(say("errors.seeds", counts=", ".join(map(str, CHOICES))))
    other, name = named_run(sandbox, query) or (None, "")
    return {"name": name, "wanted": seeds, "found": engines.read(sandbox, jobs.seeds, Wanted(seeds, other), at)}


@reads
def reroll(request: HttpRequest, access: Access) -> HttpResponse:
    """Draw the node of the attempt ``cycle`` again, ``draws`` times."""
    cycle = whole_number(request.GET.get("cycle", ""), DIGITS)
    draws = whole_number(request.GET.get("draws", str(DRAWS[0])), DIGITS)
    if not cycle or draws not in DRAWS:
        return problem(request, 400, say("errors.draws", counts=", ".join(map(str, DRAWS))))
    context = {
        "sandbox": access.sandbox,
        "base": request.path.removesuffix("reroll/"),
        "choices": DRAWS,
        "at": Moment.read(request.GET.get("at", "")),
        "found": engines.read(access.sandbox, jobs.reroll, cycle, draws),
    }
    return render(request, "reroll.html", context)


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
def headroom(request: HttpRequest, access: Access) -> HttpResponse:
    """Show how much room each workload has, and which nodes could go."""
    at = Moment.read(request.GET.get("at", ""))
    context = {
        "sandbox": access.sandbox,
        "base": request.path.removesuffix("headroom/"),
        "at": at,
        "found": engines.read(access.sandbox, jobs.still_fits, at),
    }
    return render(request, "headroom.html", context)


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
    return _with_fix(request, lambda fix: _made(request, access.sandbox, request.path.removesuffix("mend/"), fix))


@limited
@edits
def mend_copy(request: HttpRequest, access: Access) -> HttpResponse:
    """Execute the ``commands`` of a fix in a new sandbox with the log up to the moment ``at``, and go there."""

    def copied(fix: Fix) -> HttpResponse:
        key, token = store.fork(access.sandbox, Moment.read(request.POST.get("at", "")))
        sandbox = Sandbox.objects.get(pk=key)
        try:
            return _made(request, sandbox, reverse("workbench", args=[key, token]), fix)
        except BaseException:
            sandbox.delete()  # Nobody has its address.
            raise

    return _with_fix(request, copied)


@edits
def mend_scenario(request: HttpRequest, access: Access) -> HttpResponse:
    """Return a scenario in which the ``commands`` of a fix let the ``pod`` run, as a file."""

    def saved(fix: Fix) -> HttpResponse:
        pod, at = request.POST.get("pod", ""), Moment.read(request.POST.get("at", ""))
        title = printable(say("fixes.title", title=access.sandbox.title, pod=pod), LONGEST_TITLE)
        return attachment(engines.read(access.sandbox, jobs.mended, fix, pod, title, at), "scenario", title)

    return _with_fix(request, saved)


def _with_fix(request: HttpRequest, act: Callable[[Fix], HttpResponse]) -> HttpResponse:
    """Return what ``act`` returns for the commands of the form, or the page that there are none."""
    fix = _commands(request.POST.get("commands", ""))
    return act(fix) if fix else problem(request, 400, say("errors.fix", most=MOST_COMMANDS))


def _made(request: HttpRequest, sandbox: Sandbox, address: str, fix: Fix) -> HttpResponse:
    """Execute a whole fix in a sandbox, and go to its page, whose map shows where the pod can land."""
    store.execute_all(sandbox, fix, who(request))
    pod, node = request.POST.get("pod", ""), request.POST.get("node", "")
    return redirect(f"{address}?{urlencode({'pod': pod} | ({'lands': f'{pod}@{node}'} if node else {}))}")


def _commands(text: str) -> Fix:
    """Return the commands in a JSON list; none if it is not one, or too long."""
    try:
        listed = json.loads(text)
        for command in listed if isinstance(listed, list) else ():
            to_text(command)
    except (ValueError, RecursionError, AttributeError, Rejected):
        return []
    return listed if isinstance(listed, list) and len(listed) <= MOST_COMMANDS else []
