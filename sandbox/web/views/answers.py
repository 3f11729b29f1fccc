"""Answers from copies of the engine: what differs in another run, how many more pods fit, what would let one run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from sandbox.changes import copies
from sandbox.panels.model.moment import Moment
from sandbox.pool import engines
from sandbox.storage import branches
from sandbox.storage.commands import to_text
from sandbox.storage.models import LONGEST_TITLE, Sandbox, printable
from sandbox.web.access import PART, Access, edits, limited, problem, reads, who
from sandbox.web.executing import execute_all
from sandbox.web.files import attachment
from sandbox.web.numbers import whole_number
from sandbox.web.second_run import DIGITS, LINK, NoRun, named_run, second_run
from sandbox.web.views import waiting
from sandbox.web.views.waiting import SHOWN, Page
from sandbox.words.say import say
from sandbox.worker import jobs
from sandbox.worker.rerolling import CHOICES as DRAWS
from sandbox.worker.room import KINDS, MOST_COPIES, MOST_WANTED, POD, Asked
from sandbox.worker.seeds import CHOICES, Wanted
from scheduler_engine.errors import Rejected
from scheduler_engine.versions import RELEASES, VERSIONS

MOST_COMMANDS = 20
"""Commands of one fix."""
Fix = list[dict[str, Any]]
"""The commands of a fix, in their JSON form."""


@reads
def differences(request: HttpRequest, access: Access) -> HttpResponse:
    """Compare with what the query names: ``branch``, ``configuration``, ``kubernetes``, ``with``, ``seed``, or
    ``cycle`` and ``node``.

    ``with``: the link of another sandbox. The runs end at the moment ``at``, or else at the present. If the query names
    nothing else, that moment is compared with the present. With ``seeds``, play both runs with that many seeds, or this
    one alone if the query names no other.
    """
    return compared(request, access, request.path.removesuffix("differences/"), {})


def compared(request: HttpRequest, access: Access, base: str, more: dict[str, Any]) -> HttpResponse:
    """Return the page of a comparison. ``base``: the address of the workbench. ``more``: for the templates."""
    query: dict[str, Any] = {name: value for name, value in request.GET.dict().items() if name not in (PART, SHOWN)}
    at = Moment.read(query.get("at", ""))
    context = {
        "base": base,
        "asked": query,
        "branches": branches.branches_of(access.sandbox),
        "seed": access.sandbox.seed,
        "choices": CHOICES,
        "versions": tuple(zip(VERSIONS, RELEASES, strict=True)),
        "at": at,
        "present": urlencode({name: value for name, value in query.items() if name != "at"}),
        **more,
    }
    page = partial(Page, heading=say("differences.heading"), subject=access.sandbox.title, back=_back(base, at))
    try:
        wanted, name = _over_seeds(access.sandbox, query) if "seeds" in query else second_run(access.sandbox, query)
    except NoRun as error:
        if "frame" in more or PART in request.GET:
            return problem(request, 404, str(error))
        found = {"problem": str(error), "unknown": LINK if query.get(LINK) else "branch"}
        return waiting.show(request, access, page("differences.html", context=context), found)
    except ValueError as error:
        return problem(request, 400, str(error))
    context |= {"name": name}
    if isinstance(wanted, Wanted):
        shown = page(template="seeds.html", scripts=("seeds",), context=context | {"wanted": wanted.seeds})
        return waiting.answer(request, access, shown, jobs.seeds, wanted, at)
    shown = page(template="differences.html", context=context | {"later": wanted.later})
    return waiting.answer(request, access, shown, jobs.difference, wanted, at)


def _over_seeds(sandbox: Sandbox, query: Mapping[str, str]) -> tuple[Wanted, str]:
    """Return the runs of a query, and the name of the other one. Raises ``NoRun``, or ValueError with a sentence."""
    seeds = whole_number(query["seeds"], DIGITS)
    if seeds not in CHOICES or "cycle" in query:
        raise ValueError(say("errors.seeds", counts=", ".join(map(str, CHOICES))))
    other, name = named_run(sandbox, query) or (None, "")
    return Wanted(seeds, other), name


def _back(base: str, at: Moment | None, **view: str) -> str:
    """Return the address of the workbench at a moment, with what is in view there."""
    query = urlencode({name: value for name, value in {**view, "at": str(at or "")}.items() if value})
    return f"{base}?{query}" if query else base


@reads
def reroll(request: HttpRequest, access: Access) -> HttpResponse:
    """Draw the node of the attempt ``cycle`` again, ``draws`` times."""
    cycle = whole_number(request.GET.get("cycle", ""), DIGITS)
    draws = whole_number(request.GET.get("draws", str(DRAWS[0])), DIGITS)
    if not cycle or draws not in DRAWS:
        return problem(request, 400, say("errors.draws", counts=", ".join(map(str, DRAWS))))
    at, base = Moment.read(request.GET.get("at", "")), request.path.removesuffix("reroll/")
    page = Page(
        "reroll.html",
        say("reroll-page.heading"),
        access.sandbox.title,
        _back(base, at, cycle=str(cycle)),
        context={"base": base, "choices": DRAWS, "at": at},
    )
    return waiting.answer(request, access, page, jobs.reroll, cycle, draws)


@reads
def fit(request: HttpRequest, access: Access) -> HttpResponse:
    """Count the copies of ``pod``, or of the pod of the workload ``kind`` and ``key``, that fit.

    With ``copies`` and ``shape``, also count the nodes that they need.
    """
    query: dict[str, Any] = request.GET.dict()
    copies = whole_number(query.get("copies") or "0", DIGITS)
    if copies is None or copies > MOST_WANTED:
        return problem(request, 400, say("errors.copies", most=MOST_WANTED))
    kind = query.get("kind") or POD
    if kind not in KINDS:
        return problem(request, 400, say("errors.kind-to-copy", kinds=", ".join(KINDS)))
    key = query.get("pod" if kind == POD else "key", "")
    at, asked = Moment.read(query.get("at", "")), Asked(key, copies, query.get("shape", ""), kind)
    base = request.path.removesuffix("fit/")
    page = Page(
        "fit.html",
        say("fit.heading"),
        key if kind == POD else say("fit.workload", kind=kind, key=key),
        _back(base, at, **({"pod": key} if kind == POD else {"tab": "workloads"})),
        context={"base": base, "asked": asked, "most": MOST_WANTED, "limit": MOST_COPIES, "at": at},
    )
    return waiting.answer(request, access, page, jobs.fit, asked, at)


@reads
def fixes(request: HttpRequest, access: Access) -> HttpResponse:
    """Show the smallest changes that would let ``pod`` run."""
    at, pod = Moment.read(request.GET.get("at", "")), request.GET.get("pod", "")
    base = request.path.removesuffix("fixes/")
    page = Page(
        "fixes.html",
        say("fixes.heading"),
        pod,
        _back(base, at, pod=pod),
        parts="fragments/fixes.html",
        context={"base": base, "at": at},
    )
    return waiting.answer(request, access, page, jobs.fixes, pod, at)


@reads
def headroom(request: HttpRequest, access: Access) -> HttpResponse:
    """Show how much room each workload has, and which nodes could go."""
    at, base = Moment.read(request.GET.get("at", "")), request.path.removesuffix("headroom/")
    page = Page(
        "headroom.html",
        say("headroom.heading"),
        access.sandbox.title,
        _back(base, at),
        parts="fragments/headroom_so_far.html",
        context={"base": base, "at": at},
    )
    return waiting.answer(request, access, page, jobs.still_fits, at)


@reads
def leave(request: HttpRequest, access: Access) -> HttpResponse:
    """Show what becomes of the pods if ``node`` is drained, or ``zone`` is lost."""
    node, zone = request.GET.get("node", ""), request.GET.get("zone", "")
    if node and zone:
        return problem(request, 400, say("leave.both", node=node, zone=zone))
    at, base = Moment.read(request.GET.get("at", "")), request.path.removesuffix("leave/")
    page = Page(
        "leave.html",
        say("leave.heading-node") if node else say("leave.heading-zone"),
        node or zone,
        _back(base, at, node=node),
        context={"base": base, "node": node, "zone": zone, "at": at},
    )
    return waiting.answer(request, access, page, jobs.leave, node, zone, at)


@edits
def mend(request: HttpRequest, access: Access) -> HttpResponse:
    """Execute the ``commands`` of a fix, all or none, and go back to the sandbox."""
    return _with_fix(request, lambda fix: _made(request, access.sandbox, request.path.removesuffix("mend/"), fix))


@limited
@edits
def mend_copy(request: HttpRequest, access: Access) -> HttpResponse:
    """Execute the ``commands`` of a fix in a new sandbox with the log up to the moment ``at``, and go there."""

    def copied(fix: Fix) -> HttpResponse:
        key, token = copies.fork(access.sandbox, Moment.read(request.POST.get("at", "")))
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
    execute_all(sandbox, fix, who(request))
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
