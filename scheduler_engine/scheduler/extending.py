"""What the extenders of a configuration do in a cycle: exclude nodes, add points, bind.

Each call is an event of the trace. Source: upstream ``schedule_one.go`` (findNodesThatPassExtenders, prioritizeNodes,
extendersBinding).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from scheduler_engine.api.objects import Pod
from scheduler_engine.api.quantity_int64 import wrapped
from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.framework.extender import EXTENDER, Extender, Filtered
from scheduler_engine.framework.extender_answers import ExtenderError
from scheduler_engine.framework.extender_calls import View
from scheduler_engine.framework.facts import Facts
from scheduler_engine.framework.interface import Handle
from scheduler_engine.framework.nodes import Nodes, NodeScores, nodes_of, numbers_from
from scheduler_engine.framework.runtime import Scores
from scheduler_engine.framework.status import Status, error, unresolvable, unschedulable
from scheduler_engine.trace.events import ExtenderAsked


@dataclass(slots=True)
class Exclusion:
    """The nodes that pass all extenders; ``statuses`` of those with a message; ``silent``: excluded without one."""

    passing: Nodes
    statuses: dict[str, Status] = field(default_factory=dict)
    silent: tuple[str, ...] = ()


def interested(handle: Handle, pod: Pod) -> Iterator[Extender]:
    """Yield the extenders that are interested in a pod, in the order in which they are asked."""
    return (extender for extender in handle.extenders if extender.is_interested(pod))


def view_of(handle: Handle, pod: Pod, counts: bool = True) -> View:
    """Return what a call about a pod is about. ``counts``: its cost counts, as it is not only explained."""
    effort = handle.recorder.effort if counts else None
    return View(pod, handle.snapshot.get, len(handle.snapshot.list()), effort)


def exclude(handle: Handle, pod: Pod, feasible: Nodes) -> Exclusion:
    """Ask the extenders, one after the other, which of the feasible nodes pass. Raises ExtenderError."""
    result = Exclusion(feasible)
    for extender in interested(handle, pod):
        if not len(result.passing):
            break
        if not extender.filter_verb:
            continue
        asked = tuple(info.name for info in result.passing)
        try:
            answer = extender.filter(view_of(handle, pod), result.passing)
        except ExtenderError as problem:
            _record(handle, pod, extender, "filter", asked, error=str(problem), ignored=extender.ignorable)
            if extender.ignorable:
                continue
            raise
        statuses = _statuses(answer)
        result.passing = nodes_of(answer.passing)
        result.statuses |= statuses
        passing = tuple(info.name for info in answer.passing)
        failed = tuple((name, status.code.value, status.message) for name, status in statuses.items())
        _record(handle, pod, extender, "filter", asked, remaining=passing, failed=failed)
    left = {*result.statuses, *(info.name for info in result.passing)}
    result.silent = tuple(info.name for info in feasible if info.name not in left)
    return result


def _statuses(answer: Filtered) -> dict[str, Status]:
    """Return the statuses of nodes that fail; a node in both lists is unresolvable."""
    failed = {node: unschedulable(text).by(EXTENDER) for node, text in answer.failed.items()}
    return failed | {node: unresolvable(text).by(EXTENDER) for node, text in answer.unresolvable.items()}


def points(handle: Handle, pod: Pod, nodes: Nodes) -> Scores:
    """Return extender → the points that it adds to the total of each node. Errors only mean that it adds none."""
    result: Scores = {}
    for extender in interested(handle, pod):
        if not extender.prioritize_verb:
            continue
        names = tuple(info.name for info in nodes)
        try:
            scores = extender.prioritize(view_of(handle, pod), nodes)
        except ExtenderError as problem:
            _record(handle, pod, extender, "prioritize", names, error=str(problem), ignored=True)
            continue
        factor = extender.factor
        added = dict.fromkeys(names, 0)
        for name, score in scores:
            if name in added:
                added[name] = wrapped(added[name] + score * factor)
        before = result.get(extender.name)
        numbers = numbers_from([*added.values()])
        result[extender.name] = NodeScores(nodes, numbers if before is None else before.numbers + numbers)
        rows = tuple((name, score, wrapped(score * factor)) for name, score in scores)
        _record(handle, pod, extender, "prioritize", names, scores=rows)
    return result


def bind(handle: Handle, number: int, pod: Pod, node: str) -> tuple[bool, Status | None]:
    """Let an extender bind the pod of cycle ``number``. Return whether one was responsible, and its failure.

    An extender of a cluster writes the binding to the API server. Here its consent does that.
    """
    for extender in interested(handle, pod):
        if not extender.bind_verb:
            continue
        try:
            extender.bind(view_of(handle, pod), node)
            handle.api.bind(pod.key, pod.uid, node)
        except (ExtenderError, ApiError) as problem:
            ignored = extender.ignorable
            _record(handle, pod, extender, "bind", (node,), error=str(problem), ignored=ignored, cycle=number)
            if extender.ignorable:
                continue
            return True, error(str(problem))
        _record(handle, pod, extender, "bind", (node,), remaining=(node,), cycle=number)
        return True, None
    return False, None


def filters(handle: Handle, pod: Pod) -> bool:
    """Return True if an extender is asked which nodes pass."""
    return any(extender.filter_verb for extender in interested(handle, pod))


def extender_verdict(handle: Handle, pod: Pod, node: str, given: Status | None) -> Facts | None:
    """Explain the status that extenders gave a node, None if it passed, by the first that agrees with it. None: none of
    them says why.
    """
    view = view_of(handle, pod, counts=False)
    asked = [extender for extender in interested(handle, pod) if extender.filter_verb]
    known = [facts for extender in asked if (facts := extender.calls.explain_filter(view, node)) is not None]
    wanted = None if given is None else (given.code, given.reasons)
    agreeing = (facts for facts in known if (facts.status and (facts.status.code, facts.status.reasons)) == wanted)
    return next(agreeing, known[-1] if known else None)


def extender_score(handle: Handle, pod: Pod, node: str, name: str) -> Facts | None:
    """Explain the score of an extender for a node; None if it does not say."""
    asked = next((extender for extender in interested(handle, pod) if extender.name == name), None)
    if asked is None or not asked.prioritize_verb:
        return None
    return asked.calls.explain_score(view_of(handle, pod, counts=False), node)


def _record(
    handle: Handle,
    pod: Pod,
    extender: Extender,
    call: str,
    nodes: Sequence[str],
    *,
    remaining: tuple[str, ...] = (),
    failed: tuple[tuple[str, str, str], ...] = (),
    scores: tuple[tuple[str, int, int], ...] = (),
    error: str = "",
    ignored: bool = False,
    cycle: int = 0,
) -> None:
    """Record a call. ``cycle``: its number; 0: the one that runs."""
    asked = cycle or handle.cycle, pod.key, extender.name, call, tuple(nodes), remaining, failed, scores
    handle.recorder.add(ExtenderAsked(*asked, error=error, ignored=ignored, weight=extender.weight))
