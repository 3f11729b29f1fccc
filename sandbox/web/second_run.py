"""The run that a query wants to compare a sandbox with, for the page and the API."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from django.urls import Resolver404, ResolverMatch, resolve

from sandbox.panels.model.moment import Moment
from sandbox.storage import branches
from sandbox.storage.models import Sandbox
from sandbox.storage.records import Plan, log_of
from sandbox.web.access import open_access
from sandbox.web.numbers import whole_number
from sandbox.words.say import say
from sandbox.worker.other_run import CONFIGURATIONS, Other
from scheduler_engine.versions import VERSIONS, release_of

MOST_SEED, DIGITS = 2**31 - 1, 10
LONGEST_NAME = 253


LINK = "with"
"""Field of a query: the link of another sandbox."""


class NoRun(LookupError):
    """The branch or the other sandbox is gone, or there never was one."""


def named_run(sandbox: Sandbox, query: Mapping[str, str]) -> tuple[Other, str] | None:
    """Return the other sandbox, ``branch``, ``configuration`` or version (``kubernetes``) of a query with its name in
    words; None if it has none.

    Raises ``NoRun``.
    """
    if link := query.get(LINK):
        return _of_sandbox(link)
    if key := query.get("branch"):
        branch = next((item for item in branches.branches_of(sandbox) if str(item.key) == key), None)
        texts = branches.commands_of(sandbox.pk, branch.key) if branch is not None else None
        if branch is None or texts is None:
            raise NoRun(say("errors.no-branch"))
        return Other(texts=tuple(texts)), say("differences.branch", after=branch.after, count=branch.count)
    configuration = query.get("configuration", "")
    if configuration in CONFIGURATIONS:
        return Other(configuration=configuration), say(f"differences.configuration-{configuration}")
    if (kubernetes := query.get("kubernetes", "")) in VERSIONS:
        return Other(kubernetes=kubernetes), say("differences.version", version=release_of(kubernetes))
    return None


def workbench_of(path: str) -> ResolverMatch | None:
    """Return the match of a workbench's path; None for any other."""
    try:
        match = resolve(path)
    except Resolver404:
        return None
    return match if match.view_name == "workbench" else None


def _of_sandbox(link: str) -> tuple[Other, str]:
    """Return the run of the sandbox with this link, an address or its path, and its name in words. Raises ``NoRun``."""
    try:
        match = workbench_of(urlsplit(link.strip()).path)
    except ValueError:
        # Not even an address, such as "http://[".
        match = None
    access = open_access(**match.kwargs) if match is not None else None
    if access is None:
        raise NoRun(say("errors.no-other-sandbox"))
    other = access.sandbox
    texts = log_of(other.pk).filter(n__lte=other.head).order_by("n").values_list("command", flat=True)
    return Other(texts=tuple(texts), plan=Plan.of(other)), say("differences.sandbox", title=other.title)


def second_run(sandbox: Sandbox, query: Mapping[str, str]) -> tuple[Other, str]:
    """Return the run of a query, also with another ``seed``, or with ``cycle`` and ``node``, and its name in words.

    If the query names nothing but a moment ``at``, that moment is compared with the present. Raises ``NoRun``, or
    ``ValueError`` with a sentence if it names no run.
    """
    named = named_run(sandbox, query)
    if named is not None:
        return named
    cycle, node = whole_number(query.get("cycle", ""), DIGITS), query.get("node", "")
    if cycle and node and len(node) <= LONGEST_NAME:
        return Other(cycle=cycle, node=node), say("differences.instead", cycle=cycle, node=node)
    seed = whole_number(query.get("seed", ""), DIGITS)
    if seed is not None and seed <= MOST_SEED:
        return Other(seed=seed), say("differences.seed", seed=seed)
    names_none = not any(query.get(name, "") not in ("", "0") for name in ("seed", "cycle", "node"))
    if names_none and Moment.read(query.get("at", "")) is not None:
        return Other(later=True), say("differences.later")
    raise ValueError(say("errors.compare-with", versions=", ".join(VERSIONS), most=MOST_SEED))
