"""The engine's own answer to each kind of question, from the trace: data, which the site puts into words.

The latest event before the end of a question counts, so the last of several attempts answers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scheduler_engine.lesson.ends import Why
from scheduler_engine.lesson.leaving import why_nobody, why_not
from scheduler_engine.lesson.model import Question
from scheduler_engine.lesson.offered import could_leave, nodes
from scheduler_engine.lesson.window import Answer, Window
from scheduler_engine.queue.lanes import (
    ACTIVE_Q,
    BACKOFF_Q,
    ERROR_BACKOFF_Q,
    GATED,
    IN_FLIGHT,
    OUTSIDE,
    UNSCHEDULABLE_PODS,
)
from scheduler_engine.scenario.attempts import Attempt
from scheduler_engine.scenario.expectations import failures_of
from scheduler_engine.scenario.why import agrees, refusal_facts
from scheduler_engine.trace import events as ev

BOUND = "bound"
LANES = (BOUND, ACTIVE_Q, BACKOFF_Q, ERROR_BACKOFF_Q, UNSCHEDULABLE_PODS, GATED)
"""The possible places of a pod."""
MOST_EXPLAINED = 30
"""Nodes of an answer whose refusal is explained by facts."""


# --- results of the filters ------------------------------------------------------------------------------------------


def _filtered(window: Window, question: Question) -> Attempt | None:
    """Return the attempt with the results: at Filter, or at PreFilter if that refused all nodes."""
    return window.attempt(question.pod, ev.FilterRan, ev.PodUnschedulable)


def _verdicts(window: Window, attempt: Attempt, names: tuple[str, ...]) -> dict[str, Why]:
    known = {*window.snapshot(attempt)}
    verdicts = {node: _verdict(attempt, node, node in known) for node in names}
    for node in [node for node, why in verdicts.items() if why.key == "refused"][:MOST_EXPLAINED]:
        facts = refusal_facts(window.run.simulation, attempt, node)
        if facts is not None and agrees(facts, attempt.verdict(node)):
            verdicts[node] = replace(verdicts[node], facts=facts)
    return verdicts


def _verdict(attempt: Attempt, node: str, known: bool) -> Why:
    verdict = attempt.verdict(node) if known else None
    if verdict is not None:
        plugin, _, reasons = verdict
        return Why("refused", {"plugin": plugin, "reasons": reasons}) if plugin else Why("passes")
    if not known:
        return Why("not-in-snapshot")
    narrowed = attempt.pre_filter.node_names if attempt.pre_filter else None
    if narrowed is not None and node not in narrowed:
        return Why("narrowed")
    first = attempt.filter.nominated_first if attempt.filter else ""
    if attempt.filter and attempt.filter.cut_short == "nominated":
        return Why("nominated-first", {"node": first})
    return Why("search-ended")


def passes(window: Window, question: Question) -> Answer | Why:
    attempt = _filtered(window, question)
    if attempt is None:
        return window.nothing(question.pod)
    passing = attempt.filter.feasible if attempt.filter else ()
    offered = window.offered(question, nodes)
    return Answer(tuple(passing), _verdicts(window, attempt, (*offered, *passing)), offered)


def refuses(window: Window, question: Question) -> Answer | Why:
    attempt = _filtered(window, question)
    if attempt is None:
        return window.nothing(question.pod)
    verdict = _verdicts(window, attempt, (question.node,))[question.node]
    if verdict.key != "refused":
        return Why("not-refused", {"pod": question.pod, "node": question.node, "why": verdict})
    return Answer(
        (verdict.values["plugin"],), {verdict.values["plugin"]: Why("says", {"reasons": verdict.values["reasons"]})}
    )


# --- winners and victims ---------------------------------------------------------------------------------------------


def winner(window: Window, question: Question) -> Answer | Why:
    """Answer with each of several equal nodes, since one of them is drawn."""
    attempt = window.attempt(question.pod, ev.HostSelected, ev.PodUnschedulable)
    if attempt is None:
        return window.nothing(question.pod)
    chosen = attempt.selected
    if chosen is None:
        message = attempt.finished.message if attempt.finished else ""
        nominated = attempt.post_filter.nominated_node if attempt.post_filter else ""
        return Why("no-node", {"pod": question.pod, "message": message, "nominated": nominated})
    why = {node: Why("total", {"total": total}) for node, total in attempt.totals.items()}
    left = tuple(node for node in window.offered(question, nodes) if node not in why)
    why |= _verdicts(window, attempt, left)
    drawn = chosen.how == "draw" and len(chosen.ties) > 1
    if drawn:
        why[chosen.node] = Why("drawn", {"total": chosen.total, "count": len(chosen.ties)})
    elif chosen.how == "first":
        why[chosen.node] = Why("first", {"total": chosen.total, "count": len(chosen.ties)})
    elif chosen.how == "only":
        why[chosen.node] = _only(attempt, chosen.node)
    return Answer(tuple(chosen.ties) if drawn else (chosen.node,), why)


def _only(attempt: Attempt, node: str) -> Why:
    """Return why an attempt chose a node without a score."""
    cut_short = attempt.filter.cut_short if attempt.filter else ""
    if cut_short == "nominated":
        return Why("nominated-first", {"node": node})
    return Why("passes") if cut_short else Why("only")


def victims(window: Window, question: Question) -> Answer | Why:
    """Use the last attempt that looked for victims: once they are gone, the next attempt needs none."""
    attempt = window.attempt(question.pod, ev.PostFilterRan) or _filtered(window, question)
    if attempt is None:
        return window.nothing(question.pod)
    result, offered = attempt.post_filter, window.offered(question, could_leave)
    if result is None and (attempt.outcome == "error" or attempt.abandoned):
        return window.nothing(question.pod)
    leaves = result.victims if result else ()
    why = why_not(window, attempt, (pod for pod in offered if pod not in leaves))
    if result is None or not leaves:
        return Answer((), why, offered, why_nobody(attempt))
    leaving = Why("leaves", {"node": result.nominated_node, "rung": attempt.rung})
    return Answer(leaves, {**why, **dict.fromkeys(leaves, leaving)}, offered)


# --- the place of a pod ----------------------------------------------------------------------------------------------


def lane(window: Window, question: Question) -> Answer | Why:
    """Answer with the pod's place at the end, whatever came before."""
    if question.at and _deleted_since_pop(window, question.pod):
        return Why("gone", {"pod": question.pod})
    gate = ""
    for event in window.backwards():
        if isinstance(event, ev.PodMoved) and event.pod == question.pod and event.target != OUTSIDE:
            gate = gate or event.gating_plugin
            if event.in_place:
                continue
            if event.target == IN_FLIGHT:
                return Why("in-flight", {"pod": question.pod})
            return Answer((event.target,), {event.target: _moved(event, gate)})
        if isinstance(event, ev.ObjectDeleted) and (event.kind, event.key) == ("Pod", question.pod):
            return Why("gone", {"pod": question.pod})
        if isinstance(event, (ev.ObjectAdded, ev.ObjectModified)) and (event.kind, event.key) == ("Pod", question.pod):
            node = event.manifest["spec"].get("nodeName")
            if node:
                return Answer((BOUND,), {BOUND: Why("bound", {"node": node})})
    return Why("nowhere", {"pod": question.pod})


def _deleted_since_pop(window: Window, pod: str) -> bool:
    """Return True if the pod of the attempt is gone: any pod with its name now is another one."""
    for event in window.backwards():
        if isinstance(event, ev.ObjectDeleted) and (event.kind, event.key) == ("Pod", pod):
            return True
        if isinstance(event, ev.CycleStarted) and event.pod == pod:
            return False
    return False


def _moved(event: ev.PodMoved, gate: str) -> Why:
    values: dict[str, Any] = {"lane": event.target, "cause": event.cause, "plugin": event.plugin, "hint": event.hint}
    return Why("moved", {**values, "plugins": event.unschedulable_plugins, "gate": gate})


def option(window: Window, question: Question) -> Answer | Why:
    right = tuple(option.text for option in question.options if not failures_of(window.run, option.holds))
    return Answer(right) if right else Why("none-holds")
