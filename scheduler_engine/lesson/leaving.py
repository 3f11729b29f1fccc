"""Why an attempt evicts no pods, or not a certain pod: from the results of its dry runs and criteria."""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_engine.framework.status import Code
from scheduler_engine.lesson.ends import Why
from scheduler_engine.lesson.window import Window
from scheduler_engine.plugins.default_preemption import DefaultPreemption
from scheduler_engine.preemption.preemption import NEVER, WAITING
from scheduler_engine.scenario.attempts import Attempt
from scheduler_engine.trace import events as ev
from scheduler_engine.trace.events import NO_VICTIMS

INELIGIBLE = {NEVER: "nobody-never", WAITING: "nobody-waits"}
"""Why a pod may not preempt → key of our reason."""


def why_nobody(attempt: Attempt) -> Why:
    """Return why no pod has to leave, for an attempt that found no victims."""
    values = {"pod": attempt.pod, "node": _waited_for(attempt)}
    if attempt.post_filter is None:
        fits = attempt.filter is not None and attempt.filter.feasible
        return Why("nobody-fits" if fits else "nobody-asked", values)
    if attempt.post_filter.ineligible:
        return Why(INELIGIBLE[attempt.post_filter.ineligible], values)
    for plugin, code, reasons in attempt.post_filter.verdicts:
        if code == Code.ERROR.value:
            return Why("says", {"plugin": plugin, "reasons": reasons})
    return _nobody_helps(attempt, attempt.post_filter, values)


def _nobody_helps(attempt: Attempt, ran: ev.PostFilterRan, values: dict[str, str]) -> Why:
    """Return why preemption found no room: nobody looked, a fault answered in its place, or it helps nowhere."""
    if attempt.tried:
        return Why("nobody-helps", values)
    answer = next((verdict for verdict in ran.verdicts if verdict[0] == DefaultPreemption.name), None)
    if answer is None:
        return Why("nobody-asked", values)
    plugin, _, reasons = answer
    rows = attempt.filter.looked_at if attempt.filter is not None else ()
    if any(row[1] and row[2] == Code.UNSCHEDULABLE.value for row in rows):
        return Why("says", {"plugin": plugin, "reasons": reasons})
    return Why("nobody-helps", values)


def why_not(window: Window, attempt: Attempt, pods: Iterable[str]) -> dict[str, Why]:
    """Return pod → why it need not leave, without pods for which ``why_nobody`` says all that is known."""
    placed = window.placed(attempt)
    leaving = {pod for other in window.earlier(attempt) if other.post_filter for pod in other.post_filter.victims}
    reasons = {pod: _why_not(attempt, pod, placed.get(pod, ""), pod in leaving) for pod in pods}
    return {pod: why for pod, why in reasons.items() if why is not None}


def _why_not(attempt: Attempt, pod: str, node: str, leaving: bool) -> Why | None:
    values = {"pod": attempt.pod, "node": node}
    if not node:
        return Why("not-in-snapshot")
    if attempt.post_filter is None or attempt.is_ineligible:
        return Why("leaves-already", values) if leaving and node == _waited_for(attempt) else None
    run = next((run for run in attempt.tried if run.node == node), None)
    if run is None:
        return _not_tried(attempt, values)
    if run.rejected == NO_VICTIMS or (run.steps and pod not in _removed(run)):
        return Why("stays-important", values)
    if run.rejected:
        return Why("stays-in-vain", {**values, "reason": run.rejected.rstrip(".")})
    if pod in run.victims:
        return _better_node(attempt, node)
    return Why("stays-beside", values) if run.steps else None


def _waited_for(attempt: Attempt) -> str:
    """Return the node that the pod is nominated to: at PostFilter if it waits there, else when the attempt began."""
    return (attempt.post_filter.waits_for if attempt.post_filter is not None else "") or attempt.nominated_node


def _removed(run: ev.PreemptionNodeTried) -> tuple[str, ...]:
    """Return the pods that a dry run first removed from its node."""
    return tuple(pod for action, pod, _, _ in run.steps if action == "remove")


def _not_tried(attempt: Attempt, values: dict[str, str]) -> Why:
    verdict = attempt.verdict(values["node"])
    if verdict is not None and verdict[1] != Code.UNSCHEDULABLE.value:
        return Why("stays-refused", {**values, "plugin": verdict[0], "reasons": verdict[2]})
    narrowed = attempt.pre_filter.node_names if attempt.pre_filter else None
    return Why("stays-narrowed" if narrowed is not None and values["node"] not in narrowed else "stays-untried", values)


def _better_node(attempt: Attempt, node: str) -> Why | None:
    """Return why the victims on this node were not chosen, if others were."""
    if attempt.post_filter is None or not attempt.post_filter.nominated_node:
        return None
    rung = next((rung.criterion for rung in attempt.rungs if node in rung.fallen), "")
    return Why("stays-for-better", {"node": attempt.post_filter.nominated_node, "rung": rung})
