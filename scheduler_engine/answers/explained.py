"""Why a pod is where it is, as plain data: what the trace recorded, what the plugins looked at, and both in words.

Shape of an answer (amounts: millicores of cpu, bytes of memory and storage, whole units otherwise)::

    pod, kubernetes         its key; the version of Kubernetes whose rules the attempt followed
    exists, node, nominated, lane, attempts
                            where the pod is now; ``lane`` as in the expectation ``waits``; ``node``: "" = none
    why                     why there was no attempt, in words; "" if there was one
    attempt                 None, or number, cycle, replica, pod_was_deleted, outcome, message, abandoned, chosen,
                            preemption, counts, refusals and nodes

    chosen                  None, or node, how (``highest``, ``draw``, ``first``, ``only``), among, margin and words
    preemption              None, or nominated, victims and words
    counts                  nodes in the cluster, and how many of them were checked
    refusals                each plugin with one set of reasons: plugin, code, reasons, count, and the first nodes
    nodes                   node, passes, plugin, code, reasons, why, scores, total

    why of a node           None, or sentence, arithmetic (label, formula, note) and facts (key, ok, values)
    scores                  plugin → raw, normalized, weighted

Source: design of the sandbox.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_engine import wording
from scheduler_engine.framework.facts import Facts
from scheduler_engine.plain import plain
from scheduler_engine.scenario.attempts import Attempt, RunView
from scheduler_engine.scenario.expectations.attempts import how_chosen
from scheduler_engine.scenario.expectations.queues import lane_of, nominated
from scheduler_engine.scenario.why import (
    OTHERWISE,
    agrees,
    preemption_in_words,
    refusal_facts,
    reservation_in_words,
    without_attempt,
)
from scheduler_engine.simulation import Simulation

MOST_NODES = 100
"""Nodes that are listed, besides those that were asked for."""
MOST_NAMES = 20
"""Nodes that are named for one refusal."""


def explained(
    simulation: Simulation,
    pod: str,
    attempt: Attempt | None,
    nodes: Sequence[str] = (),
    before: Simulation | None = None,
) -> dict[str, Any]:
    """Return why ``pod`` is where it is. ``attempt``: the one to explain, None = there was none.

    ``nodes`` are always listed. ``before``: a simulation in which the attempt's scheduler has not begun another one;
    None: ``simulation`` can find it.
    """
    run, stored = RunView(simulation), simulation.api.pod(pod)
    return {
        "pod": pod,
        "kubernetes": (simulation if attempt is None else attempt).rules.kubernetes,
        "exists": stored is not None,
        "node": stored.node_name if stored is not None else "",
        "nominated": nominated(run, pod),
        "lane": lane_of(run, pod),
        "attempts": len(run.own_attempts(pod)),
        "why": without_attempt(simulation, pod) if attempt is None else "",
        "attempt": None if attempt is None else _attempt(simulation, attempt, nodes, before or simulation),
    }


def _attempt(simulation: Simulation, attempt: Attempt, nodes: Sequence[str], before: Simulation) -> dict[str, Any]:
    pod = simulation.api.pod(attempt.pod)
    return {
        "number": attempt.number,
        "cycle": attempt.cycle,
        "replica": attempt.replica,
        "pod_was_deleted": pod is None or pod.uid != attempt.uid,
        "outcome": attempt.outcome,
        "message": attempt.finished.message if attempt.finished and attempt.failed else "",
        "abandoned": attempt.abandoned,
        "chosen": _chosen(before, attempt),
        "preemption": _preemption(before, attempt),
        "counts": {
            "nodes": attempt.filter.all_nodes if attempt.filter else 0,
            "checked": len(attempt.filter.looked_at) if attempt.filter else 0,
        },
        "refusals": _refusals(attempt),
        "nodes": [_node(before, attempt, node) for node in _listed(attempt, nodes)],
    }


def _chosen(before: Simulation, attempt: Attempt) -> dict[str, Any] | None:
    if attempt.selected is None:
        return None
    return {
        "node": attempt.selected.node,
        "how": attempt.selected.how,
        "among": list(attempt.selected.ties),
        "margin": attempt.margin,
        "words": [how_chosen(attempt.selected, attempt), *reservation_in_words(before, attempt)],
    }


def _preemption(before: Simulation, attempt: Attempt) -> dict[str, Any] | None:
    if attempt.post_filter is None:
        return None
    return {
        "nominated": attempt.post_filter.nominated_node,
        "victims": list(attempt.post_filter.victims),
        "words": list(preemption_in_words(before, attempt)),
    }


def _refusals(attempt: Attempt) -> list[dict[str, Any]]:
    """Group the nodes by the plugin and the reasons that refused them, the largest group first."""
    if attempt.filter is None:
        verdicts = attempt.pre_filter.verdicts if attempt.pre_filter else ()
        refused = [(plugin, code, reasons, "") for plugin, code, reasons in verdicts if reasons]
    else:
        rows = attempt.filter.looked_at
        refused = [(plugin, code, reasons, node) for node, plugin, code, reasons, _ in rows if plugin]
    groups: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for plugin, code, reasons, node in refused:
        groups.setdefault((plugin, code, reasons), []).extend([node] if node else [])
    ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
    return [
        {"plugin": plugin, "code": code, "reasons": list(reasons), "count": len(names), "nodes": names[:MOST_NAMES]}
        for (plugin, code, reasons), names in ordered
    ]


def _listed(attempt: Attempt, nodes: Sequence[str]) -> list[str]:
    """Return the first nodes of an attempt, and those that were asked for."""
    return [*dict.fromkeys([*attempt.ranked[:MOST_NODES], *nodes])]


def _node(before: Simulation, attempt: Attempt, node: str) -> dict[str, Any]:
    verdict = attempt.verdict(node)
    plugin, code, reasons = verdict or ("", "", ())
    return {
        "node": node,
        "passes": None if verdict is None else not plugin,
        "plugin": plugin,
        "code": code,
        "reasons": list(reasons),
        "why": _why(refusal_facts(before, attempt, node), attempt, node),
        "scores": attempt.scores(node),
        "total": attempt.totals.get(node),
    }


def _why(facts: Facts | None, attempt: Attempt, node: str) -> dict[str, Any] | None:
    if facts is None:
        return None
    if not agrees(facts, attempt.verdict(node)):
        return {"sentence": OTHERWISE, "arithmetic": [], "facts": []}
    return {
        "sentence": wording.sentence(facts),
        "arithmetic": [plain(line) for line in wording.lines(facts)],
        "facts": [plain(fact) for fact in (facts.says, *facts.shown)],
    }
