"""Pods per zone for the spread constraint of the pod in question, as shown in the zone headers.

While the pod is being placed they say what one more would do; when that is history, how the pods stand.
"""

from __future__ import annotations

from typing import Any

from sandbox.panels.facts.domains import ZONE_KEYS, domain_of
from sandbox.panels.model.state import Cycle, PodState
from sandbox.panels.model.world import World, app_name
from sandbox.panels.words.say import say
from scheduler_engine.api.labels import selector_from
from scheduler_engine.trace import events as ev


def zone_constraint(pod: PodState, key: str) -> dict[str, Any] | None:
    """The pod's first constraint over what the map groups by: the label ``key``, or zones."""
    keys = (key,) if key else ZONE_KEYS
    return next((item for item in pod.pod.topology_spread_constraints if item.get("topologyKey") in keys), None)


def is_history(world: World, cycle: Cycle) -> bool:
    """The pod has its node, and since then time has passed or something beside the scheduler has happened."""
    pod = world.pods.get(cycle.pod)
    if cycle is not world.cycle or not cycle.outcome or not cycle.stages or pod is None or not pod.node:
        return False
    happened = world.evictions.happened
    beside = happened is not None and happened.n > world.latest.get(ev.StageFinished, 0)
    return beside or world.clock_us > cycle.stages[-1].at_us


def skews(world: World, cycle: Cycle | None, key: str) -> dict[str, dict[str, Any]]:
    """Zone, or domain of the label ``key`` that the map groups by, → pips and verdict.

    Counts are of pods as they stand; whether a zone is refused is read from the trace.
    """
    pod = world.pods.get(cycle.pod) if cycle else None
    constraint = zone_constraint(pod, key) if pod else None
    if cycle is None or pod is None or constraint is None:
        return {}
    selector = selector_from(constraint.get("labelSelector"))
    standing = is_history(world, cycle)
    counts: dict[str, int] = {}
    refused: set[str] = set()
    for node in world.nodes.values():
        domain = domain_of(node, key)
        if node.ghost or not domain:
            continue
        counts.setdefault(domain, 0)
        if world.pods_on.get(node.name):
            counts[domain] += sum(
                other.pod.namespace == pod.pod.namespace
                and other.state != "terminating"
                and (standing or other.key != pod.key)
                and selector.matches(other.pod.labels)
                for other in world.pods_of(node.name)
            )
    for name, plugin, _, _, _ in cycle.filter.rows if cycle.filter else ():
        if plugin == "PodTopologySpread" and name in world.nodes:
            refused.add(domain_of(world.nodes[name], key))
    lowest = min(counts.values(), default=0)
    self_match = 1 if selector.matches(pod.pod.labels) and not standing else 0
    hard = constraint.get("whenUnsatisfiable") == "DoNotSchedule"
    most = int(constraint.get("maxSkew") or 1)
    if standing:
        refused = {zone for zone, count in counts.items() if hard and count - lowest > most}
    return {
        zone: _zone(count, count + self_match - lowest, most, hard, zone in refused, app_name(pod.pod), pod.app)
        | {"standing": standing}
        for zone, count in counts.items()
    }


def _zone(count: int, skew: int, most: int, hard: bool, refused: bool, label: str, app: int) -> dict[str, Any]:
    said = "no" if refused else ("yes" if hard and skew <= most else "")
    return {
        "label": label,
        "app": app,
        "count": count,
        "pips": range(min(count, 5)),
        "many": count > 5,
        "said": said,
        "above": said == "no" and skew > most,
        "text": _text(skew, most, said),
    }


def _text(skew: int, most: int, said: str) -> str:
    if said == "no" and skew <= most:
        return say("verdicts.skew-too-large")
    if said == "no":
        return say("verdicts.skew-above", skew=skew, most=most)
    return say("verdicts.skew-allowed", skew=skew, most=most) if said else ""
