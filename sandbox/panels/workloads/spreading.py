"""Where the pods of a workload stand: how many per zone, and the skew of its topologySpreadConstraints.

Source: seed 002 §4; a pod that runs is never moved to repair a skew (ibid., Known limitations).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sandbox.panels.explain.model import domain
from sandbox.panels.explain.spread_rules import Constraint, constraint_of, lacks_a_key
from sandbox.panels.facts.domains import ZONE_KEYS
from sandbox.panels.facts.owned import Alike
from sandbox.panels.model.state import PodState
from sandbox.panels.model.world import World
from sandbox.panels.words.phrases import listed
from sandbox.panels.words.say import say
from scheduler_engine.api.objects import Pod

MOST_DOMAINS = 8
"""So many domains are listed; of more only the emptiest and the fullest are named."""
MOST_PIPS = 6
HARD = "DoNotSchedule"
SKEWS = {"yes": "workloads.skew-kept", "no": "workloads.skew-broken", "soft": "workloads.skew-only-preferred"}
Counts = dict[str, int]


class Crowds:
    """How many pods of each kind count on each node: of 2,000 pods few differ in namespace and labels."""

    def __init__(self, world: World, groups: Alike) -> None:
        self.world = world
        self.counts: list[tuple[Pod, Counts]] = []
        for pods in groups.values():
            placed = [pod for pod in pods if pod.node and pod.state != "terminating"]
            counts: Counts = {}
            for pod in placed:
                counts[pod.node] = counts.get(pod.node, 0) + 1
            if placed:
                self.counts.append((placed[0].pod, counts))

    def per_node(self, constraint: Constraint, namespace: str) -> Counts:
        """Node → pods that ``constraint`` counts there."""
        total: Counts = {}
        for one, counts in self.counts:
            if constraint.counts(one, namespace):
                for node, number in counts.items():
                    total[node] = total.get(node, 0) + number
        return total


def where(crowds: Crowds, makes: Iterable[Pod], pods: Iterable[PodState], app: int) -> list[dict[str, Any]]:
    """One line per constraint of the pods that a workload ``makes``; without any, its ``pods`` per zone."""
    lines: dict[tuple[str, Constraint], dict[str, Any]] = {}
    for pod in makes:
        given = [(str(item.get("whenUnsatisfiable")), item) for item in pod.topology_spread_constraints]
        for action, item in given:
            constraint = constraint_of(item, pod)
            if (action, constraint) not in lines:
                together = [constraint_of(other, pod) for one, other in given if one == action]
                counts = _domains(crowds, constraint, together, pod)
                lines[action, constraint] = _line(constraint.key, counts, app) | _verdict(constraint, counts, action)
    return list(lines.values()) or _zones(crowds.world, pods, app)


def _domains(crowds: Crowds, constraint: Constraint, together: list[Constraint], pod: Pod) -> Counts:
    """Matching pods per domain, over the nodes that the scheduler would count for ``pod``."""
    held = crowds.per_node(constraint, pod.namespace)
    counts: Counts = {}
    for node in crowds.world.nodes.values():
        if node.ghost or lacks_a_key(node.node, together) or constraint.excludes(pod, node.node):
            continue
        value = node.node.labels[constraint.key]
        counts[value] = counts.get(value, 0) + held.get(node.name, 0)
    return counts


def _verdict(constraint: Constraint, counts: Counts, action: str) -> dict[str, Any]:
    lowest = 0 if len(counts) < constraint.min_domains else min(counts.values(), default=0)
    skew, most = max(counts.values(), default=0) - lowest, constraint.max_skew
    said = "yes" if skew <= most else "no" if action == HARD else "soft"
    few = len(counts) < constraint.min_domains
    return {
        "said": said,
        "text": say(SKEWS[said], skew=skew, most=most),
        "selector": str(constraint.selector) or say("workloads.selects-nobody"),
        "note": say("workloads.few-domains", least=constraint.min_domains) if few else "",
    }


def _zones(world: World, pods: Iterable[PodState], app: int) -> list[dict[str, Any]]:
    counts: Counts = {node.zone: 0 for node in world.nodes.values() if node.zone and not node.ghost}
    for pod in pods:
        node = world.nodes.get(pod.node)
        if node is not None and node.zone in counts and pod.state != "terminating" and not pod.pod.finished:
            counts[node.zone] += 1
    return [_line(ZONE_KEYS[0], counts, app)] if counts else []


def _line(key: str, counts: Counts, app: int) -> dict[str, Any]:
    """``domains`` in the order of the cluster; ``many`` is a sentence in place of too long a list."""
    lowest, highest = min(counts.values(), default=0), max(counts.values(), default=0)
    several = len(counts) > MOST_DOMAINS
    ordered = sorted(counts.items(), key=lambda item: item[0])
    return {
        "key": domain(key),
        "title": key,
        "domains": []
        if several
        else [
            {"name": name, "count": number, "pips": range(min(number, MOST_PIPS)), "over": number > MOST_PIPS}
            for name, number in ordered
        ],
        "many": _many(ordered, lowest, highest, domain(key)) if several else "",
        "said": "",
    }


def _many(ordered: list[tuple[str, int]], lowest: int, highest: int, key: str) -> str:
    emptiest = [name for name, number in ordered if number == lowest]
    fullest = [name for name, number in ordered if number == highest]
    domains = say("things.of the key", count=len(ordered), name=key)
    if lowest == highest:
        return say("workloads.same-in-each", pods=lowest, domains=domains)
    return say(
        "workloads.fewest-and-most",
        domains=domains,
        lowest=lowest,
        emptiest=listed(emptiest, 1),
        highest=highest,
        fullest=listed(fullest, 1),
    )
