"""Remedies for a node that other pods spoil: host ports, topology spread, pod affinity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scheduler_engine.answers.changes import Change, Edit, change
from scheduler_engine.answers.remedies_labels import REQUIRED
from scheduler_engine.answers.removals import removals
from scheduler_engine.answers.seen import Seen
from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.facts import Keys
from scheduler_engine.framework.node_info import PodInfo
from scheduler_engine.plugins.inter_pod_affinity.filtering import FilterState as NearState
from scheduler_engine.plugins.inter_pod_affinity.filtering import there
from scheduler_engine.plugins.inter_pod_affinity.plugin import FILTER_STATE as NEAR
from scheduler_engine.plugins.node_ports import ports_conflict
from scheduler_engine.plugins.pod_topology_spread.constraints import DO_NOT_SCHEDULE, SCHEDULE_ANYWAY, SpreadConstraint
from scheduler_engine.plugins.pod_topology_spread.plugin import FILTER_STATE as SPREAD

LAST_PORT = 65_535
MOST_KEEPERS = 3
"""With more pods that keep off a pod, no combination of changes is tried."""


def of_ports(seen: Seen) -> Iterator[tuple[Change, ...]]:
    """Yield one obstacle for each host port that is taken."""
    sidecars = [(i, item) for i, item in enumerate(seen.pod.init_containers) if item.get("restartPolicy") == "Always"]
    places = [
        *(("initContainers", *item) for item in sidecars),
        *(("containers", *item) for item in enumerate(seen.pod.containers)),
    ]
    for field, index, container in places:
        for number, port in enumerate(container.get("ports") or ()):
            asked = (port.get("hostIP") or "0.0.0.0", port.get("protocol") or "TCP", port.get("hostPort") or 0)
            if asked[2] and ports_conflict([asked], seen.info.used_ports):
                yield tuple(_port(seen, ("spec", field, str(index), "ports", str(number), "hostPort"), asked))


def _port(seen: Seen, path: tuple[str, ...], asked: tuple[str, str, int]) -> Iterator[Change]:
    own = dict.fromkeys(port for port in seen.pod.host_ports if port != asked)
    used = {**seen.info.used_ports, **own}
    others = (
        number for number in range(asked[2] + 1, LAST_PORT + 1) if not ports_conflict([(*asked[:2], number)], used)
    )
    number = next(others, 0)
    if number:
        yield change("port", [seen.edit("set", path, number)], old=asked[2], port=number)
    holders = [info.pod for info in seen.residents() if ports_conflict([asked], dict.fromkeys(info.pod.host_ports))]
    yield from removals(seen.simulation, holders)


def of_spread(seen: Seen) -> Iterator[tuple[Change, ...]]:
    """Yield one obstacle for each constraint that the node violates; those of a profile stay as they are."""
    own = [item for item in seen.pod.topology_spread_constraints if item.get("whenUnsatisfiable") == DO_NOT_SCHEDULE]
    state, labels = seen.state.data[SPREAD].clone(), seen.node.labels
    for place, domains in enumerate(state.domains):
        constraint, value = domains.constraint, labels.get(domains.constraint.topology_key)
        skew = None if value is None else domains.skew(value)
        if skew is not None and skew <= constraint.max_skew:
            continue
        yield (
            *(_constraint(seen, own[place], skew) if place < len(own) else ()),
            *(_matching(seen, constraint) if skew == constraint.max_skew + 1 else ()),
        )


def _constraint(seen: Seen, item: Mapping[str, Any], skew: int | None) -> Iterator[Change]:
    listed, path = seen.pod.topology_spread_constraints, ("spec", "topologySpreadConstraints")
    key, most = str(item["topologyKey"]), int(item["maxSkew"])

    def instead(constraint: Mapping[str, Any]) -> Edit:
        return seen.edit("set", path, [constraint if other is item else other for other in listed])

    if skew is not None:
        yield change("skew", [instead({**item, "maxSkew": skew})], skew - most, key=key, old=most, skew=skew)
    # Soft constraints may not set minDomains.
    soft = {name: value for name, value in item.items() if name != "minDomains"}
    soft["whenUnsatisfiable"] = SCHEDULE_ANYWAY
    if any((other["topologyKey"], other["whenUnsatisfiable"]) == (key, SCHEDULE_ANYWAY) for other in listed):
        # Each topology key may have one soft constraint.
        yield change("unspread", [seen.edit("drop", path, item)], key=key)
    else:
        yield change("soften", [instead(soft)], key=key)


def _matching(seen: Seen, constraint: SpreadConstraint) -> Iterator[Change]:
    """Yield the least important pods in the domain that the constraint counts."""
    there = (info.pod for info in seen.neighbours(constraint.topology_key))
    counted = (pod for pod in there if pod.namespace == seen.pod.namespace and constraint.selector.matches(pod.labels))
    yield from removals(seen.simulation, counted)


def of_affinity(seen: Seen) -> Iterator[tuple[Change, ...]]:
    """Yield an obstacle for the required affinity, and one for each term or pod that keeps the pod off."""
    state: NearState = seen.state.data[NEAR].clone()
    labels = seen.node.labels
    if state.terms and not _near_enough(state, labels):
        yield tuple(_terms(seen, "podAffinity", "affinity", whole=len(state.terms) > 1))
    for place, term in enumerate(state.anti_terms):
        count = there(state.anti_affinity, term.topology_key, labels)
        if count > 0:
            near = seen.neighbours(term.topology_key) if count == 1 else ()
            met = (info.pod for info in near if term.matches(info.pod, {}))
            removed = removals(seen.simulation, met)
            yield (_without(seen.pod, "podAntiAffinity", "anti-affinity", place), *removed)
    keepers = [*_keepers(seen, state)]
    if len(keepers) > MOST_KEEPERS:
        yield ()
    for info, places in keepers if len(keepers) <= MOST_KEEPERS else ():
        yield (*_neighbour(info.pod, places), *removals(seen.simulation, [info.pod]))


def _near_enough(state: NearState, labels: Mapping[str, str]) -> bool:
    if any(term.topology_key not in labels for term in state.terms):
        return False
    return state.first_of_group or all(there(state.affinity, term.topology_key, labels) > 0 for term in state.terms)


def _terms(seen: Seen, field: str, kind: str, whole: bool) -> Iterator[Change]:
    for place in range(len(seen.pod.affinity[field][REQUIRED])):
        yield _without(seen.pod, field, kind, place)
    if whole:
        edit = seen.edit("set", ("spec", "affinity", field, REQUIRED))
        yield change(f"no-{kind}", [edit])


def _without(pod: Pod, field: str, kind: str, place: int) -> Change:
    term = pod.affinity[field][REQUIRED][place]
    edit = Edit("Pod", pod.key, "drop", ("spec", "affinity", field, REQUIRED), term)
    return change(kind, [edit], key=str(term["topologyKey"]), number=place + 1)


def _keepers(seen: Seen, state: NearState) -> Iterator[tuple[PodInfo, list[int]]]:
    """Yield the pods whose own anti-affinity keeps the pod off the node, with the places of these terms."""
    if not any(there(state.existing, key, seen.node.labels) > 0 for key in state.existing_keys):
        return
    for other in seen.simulation.scheduler.snapshot.have_pods_with_required_anti_affinity():
        for info in other.pods_with_required_anti_affinity:
            pairs = [] if other.node is None else state.keepers(info, other.node)
            terms = [term for term, (key, value) in pairs if seen.node.labels.get(key) == value]
            if terms:
                held = info.required_anti_affinity_terms
                yield info, [place for place, term in enumerate(held) if term in terms]


def _neighbour(pod: Pod, places: Sequence[int]) -> Iterator[Change]:
    edits = [edit for place in places for edit in _without(pod, "podAntiAffinity", "anti-affinity", place).edits]
    # A replaced pod would be scheduled again: it keeps its node.
    yield change("neighbour", edits, pod=Keys((pod.key,)), node=pod.node_name)
