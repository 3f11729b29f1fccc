"""What differs between a sandbox and another run of it: a branch, an earlier configuration, another seed."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from sandbox.pool import engines
from sandbox.storage import branches
from sandbox.storage.branches import BranchRow
from sandbox.web.access import Access, problem, reads
from sandbox.words.say import say
from sandbox.worker import jobs
from sandbox.worker.comparing import CONFIGURATIONS, Other

MOST_SEED = 2**31 - 1


@reads
def differences(request: HttpRequest, access: Access) -> HttpResponse:
    """Compare the present with what the query names: ``branch``, ``configuration`` or ``seed``."""
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
    seed = query.get("seed", "")
    if seed.isascii() and seed.isdigit() and len(seed) <= len(str(MOST_SEED)) and int(seed) <= MOST_SEED:
        return Other(seed=int(seed)), say("differences.seed", seed=int(seed))
    raise ValueError(say("errors.compare-with", most=MOST_SEED))
