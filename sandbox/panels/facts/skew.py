"""Pods per zone for the spread constraint of the pod in focus, as the zone headers show them.

While the pod is being placed, they say how its filter judged each zone; afterwards, how the pods stand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sandbox.panels.facts.domains import ZONE_KEYS, domain_of
from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World, app_name
from sandbox.words.say import say
from scheduler_engine import wording
from scheduler_engine.framework.facts import Counts, Domain, Fact
from scheduler_engine.trace import events as ev

PLUGIN, HARD = "PodTopologySpread", "DoNotSchedule"
VERDICTS = {"out": "verdicts.not-counted", "yes": "verdicts.skew-allowed", "no": "verdicts.skew-above"}
SKEWS = ("spread.skew", "spread.skew-with-few-domains", "spread.skew-without-domains")


def is_history(world: World, cycle: Cycle) -> bool:
    """Return True if the pod has its node, and since then time passed or something else happened."""
    pod = world.pod_of(cycle)
    if cycle is not world.cycle or not cycle.outcome or not cycle.stages or pod is None or not pod.node:
        return False
    happened = world.evictions.happened
    other_news = happened is not None and happened.n > world.latest.get(ev.StageFinished, 0)
    return other_news or world.clock_us > cycle.stages[-1].at_us


def skews(world: World, cycle: Cycle | None, key: str) -> dict[str, dict[str, Any]]:
    """Return zone, or domain of the label ``key`` by which the map groups, → pips and verdict."""
    pod = world.pod_of(cycle) if cycle else None
    if cycle is None or pod is None:
        return {}
    keys, standing = (key,) if key else ZONE_KEYS, is_history(world, cycle)
    facts = _standing(world, cycle, keys) if standing else _judged(world, cycle, keys, key)
    about = {"label": app_name(pod.pod), "app": pod.app}
    return {zone: _zone(item, node, standing) | about for zone, (item, node) in _worst(facts).items()}


def _worst(facts: Iterator[tuple[str, Fact, str]]) -> dict[str, tuple[Fact, str]]:
    """Return one fact for each zone, with the node that it is about: a refusal if there is one, else the largest skew.

    The node is "" if the fact is about all nodes of the zone that no pod is nominated to.
    """
    worst: dict[str, tuple[Fact, str]] = {}
    for zone, item, node in facts:
        worst[zone] = max(worst.get(zone, (item, node)), (item, node), key=_badness)
    return worst


def _badness(judged: tuple[Fact, str]) -> tuple[bool, int, bool]:
    item, node = judged
    return item.ok is False, int(str(item.values["skew"])), not node


def _standing(world: World, cycle: Cycle, keys: tuple[str, ...]) -> Iterator[tuple[str, Fact, str]]:
    for item in world.witness.standing(world.pods[cycle.pod].pod, PLUGIN):
        if item.values["when"] == HARD and _is_over(item, keys):
            yield str(item.values["name"]), item, ""


def _judged(world: World, cycle: Cycle, keys: tuple[str, ...], key: str) -> Iterator[tuple[str, Fact, str]]:
    """Yield what the filter saw in each zone: on one node, and on those with nominated pods, which may differ."""
    table = cycle.filter
    if table is None or PLUGIN not in table.plugins or PLUGIN in table.skipped or not world.witness.at_hand(cycle):
        return
    shared = {row[0] for row in table.looked_at if row[4]}
    finished = set[str]()
    for node in world.nodes.values():
        zone = domain_of(node, key)
        is_needed = zone and (zone not in finished or node.name in shared)
        facts = world.witness.filter(cycle, node.name, PLUGIN) if is_needed else None
        for item in facts.of(*SKEWS) if facts else ():
            if _is_over(item, keys) and item.values["name"] == zone:
                if node.name not in shared:
                    finished.add(zone)
                yield zone, item, node.name if node.name in shared else ""


def _is_over(item: Fact, keys: tuple[str, ...]) -> bool:
    return _domain(item).key in keys


def _domain(item: Fact) -> Domain:
    domain = item.values["domain"]
    assert isinstance(domain, Domain)
    return domain


def _zone(item: Fact, node: str, standing: bool) -> dict[str, Any]:
    """Return what a header shows; ``constraint``: its name, if another one is about the same zones."""
    numbers, counts = item.values, item.values["counts"]
    count = numbers["there"]
    assert isinstance(count, int)
    assert isinstance(counts, Counts)
    is_counted = any(name == numbers["name"] for name, _ in counts.numbers)
    verdict = "out" if not is_counted else "yes" if item.ok else "no"
    text = say(VERDICTS[verdict], skew=numbers["skew"], most=numbers["most"])
    return {
        "count": count,
        "pips": range(min(count, 5)),
        "many": count > 5,
        "said": verdict,
        "text": say("verdicts.skew-with-nominated", skew=text, node=node) if node and is_counted else text,
        "constraint": wording.written({"name": _domain(item)})["name"] if _domain(item).is_ambiguous else "",
        "standing": standing,
    }
