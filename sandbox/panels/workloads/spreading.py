"""Where the pods of a workload run: how many per zone, and the skew of its topologySpreadConstraints.

Source: seed 002 §4; a running pod is never moved to repair a skew (same section, Known limitations).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sandbox.panels.facts.domains import ZONE_KEYS
from sandbox.panels.model.state import PodState
from sandbox.panels.model.world import World
from sandbox.words.phrases import listed
from sandbox.words.say import say
from scheduler_engine import wording
from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.facts import Domain, Fact, constraint_domains

MOST_DOMAINS = 8
"""Most domains that are listed; of more, only the emptiest and the fullest are named."""
MOST_PIPS = 6
PLUGIN, HARD = "PodTopologySpread", "DoNotSchedule"
SKEWS = {"yes": "workloads.skew-kept", "no": "workloads.skew-broken", "soft": "workloads.skew-only-preferred"}
Counts = dict[str, int]


def where(world: World, samples: Iterable[Pod], pods: Iterable[PodState]) -> list[dict[str, Any]]:
    """Return one line per constraint of the ``samples`` of a workload's pods; without any, its ``pods`` per zone."""
    distinct: dict[tuple[Any, ...], list[Fact]] = {}
    for pod in samples:
        if pod.topology_spread_constraints:
            for domains in _by_constraint(world.witness.standing(pod, PLUGIN)):
                numbers = domains[0].values
                key = tuple(numbers[name] for name in ("when", "domain", "selector", "most", "least", "counts"))
                distinct.setdefault(key, domains)
    names = constraint_domains([_identity(domains[0]) for domains in distinct.values()])
    lines = [_constraint(domains, name) for domains, name in zip(distinct.values(), names, strict=True)]
    return lines or _zones(world, pods)


def _identity(item: Fact) -> tuple[str, str, int]:
    """Return the topology key of a fact's constraint, its selector and its place in the list."""
    domain, number = item.values["domain"], item.values["number"]
    assert isinstance(domain, Domain)
    assert isinstance(number, int)
    return domain.key, str(item.values["selector"]), number


def _by_constraint(facts: Iterable[Fact]) -> list[list[Fact]]:
    by_constraint: dict[tuple[Any, ...], list[Fact]] = {}
    for item in facts:
        by_constraint.setdefault((item.values["when"], item.values["number"]), []).append(item)
    return [*by_constraint.values()]


def _constraint(domains: list[Fact], name: Domain) -> dict[str, Any]:
    """Return the line of one constraint. ``domains``: a fact for each domain; ``name``: what to call it."""
    worst = max(domains, key=lambda item: int(str(item.values["skew"])))
    numbers = worst.values
    sign = "yes" if worst.ok else "no" if numbers["when"] == HARD else "soft"
    few = len(domains) < int(str(numbers["least"]))
    return {
        **_line(name, {str(item.values["name"]): int(str(item.values["there"])) for item in domains}),
        "said": sign,
        "text": say(SKEWS[sign], skew=numbers["skew"], most=numbers["most"]),
        "selector": numbers["selector"] or say("workloads.selects-nobody"),
        "note": say("workloads.few-domains", least=numbers["least"]) if few else "",
    }


def _zones(world: World, pods: Iterable[PodState]) -> list[dict[str, Any]]:
    counts: Counts = {node.zone: 0 for node in world.existing_nodes() if node.zone}
    for pod in pods:
        node = world.nodes.get(pod.node)
        if node is not None and node.zone in counts and pod.state != "terminating" and not pod.pod.finished:
            counts[node.zone] += 1
    return [_line(Domain(ZONE_KEYS[0]), counts)] if counts else []


def _line(name: Domain, counts: Counts) -> dict[str, Any]:
    """Return a line. ``domains`` are in order of their names; ``many`` is a sentence instead of too long a list."""
    lowest, highest = min(counts.values(), default=0), max(counts.values(), default=0)
    several = len(counts) > MOST_DOMAINS
    ordered = sorted(counts.items(), key=lambda item: item[0])
    domain = wording.written({"domain": name})["domain"]
    domains = [
        {"name": value, "count": number, "pips": range(min(number, MOST_PIPS)), "over": number > MOST_PIPS}
        for value, number in ordered
    ]
    return {
        "key": domain,
        "title": name.key,
        "domains": [] if several else domains,
        "many": _many(ordered, lowest, highest, domain) if several else "",
        "said": "",
    }


def _many(ordered: list[tuple[str, int]], lowest: int, highest: int, key: str) -> str:
    emptiest = listed([name for name, number in ordered if number == lowest], 1)
    fullest = listed([name for name, number in ordered if number == highest], 1)
    domains = say("things.of the key", count=len(ordered), name=key)
    if lowest == highest:
        return say("workloads.same-in-each", pods=lowest, domains=domains)
    ends = {"lowest": lowest, "emptiest": emptiest, "highest": highest, "fullest": fullest}
    return say("workloads.fewest-and-most", domains=domains, **ends)
