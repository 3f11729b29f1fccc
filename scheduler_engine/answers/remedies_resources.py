"""Remedies for a node that has too little of a resource.

The largest request that fits is what the node has left of it. It is divided among the containers by lowering the
largest requests to a common amount. To request nothing is no fix: the pod would run, but not with what it needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scheduler_engine.answers.changes import Change, Edit, change
from scheduler_engine.answers.removals import removals
from scheduler_engine.answers.seen import Seen
from scheduler_engine.api.objects import Pod
from scheduler_engine.api.pod_resources import request_parts
from scheduler_engine.api.quantity import Quantity, canonical, parse_quantity
from scheduler_engine.framework.amounts import BASIC
from scheduler_engine.framework.facts import Amount
from scheduler_engine.framework.node_info import PodInfo
from scheduler_engine.plugins.node_resources_fit import PRE_FILTER_KEY, Lacking, lacking_resources

NANO = 1_000_000_000


def of_resources(seen: Seen) -> Iterator[tuple[Change, ...]]:
    """Yield one obstacle for each resource of which there is too little."""
    lacking = lacking_resources(seen.state.data[PRE_FILTER_KEY], seen.info)
    enough = (info.pod for info in seen.residents() if all(_frees(info, lack) for lack in lacking))
    removed = tuple(removals(seen.simulation, enough))
    for item in lacking:
        requested = () if item.resource == "pods" else tuple(_request(seen, item))
        yield (*requested, *_enlarged(seen, item), *removed)


def written(resource: str, number: int) -> str:
    """Write millicores of cpu, or whole units, as a quantity."""
    if resource == "cpu":
        return f"{number}m" if number % 1000 else str(number // 1000)
    return canonical(Quantity(number * NANO, "BinarySI")) if resource in BASIC else str(number)


def _request(seen: Seen, item: Lacking) -> Iterator[Change]:
    free = item.capacity - item.used
    edits = lowered(seen.pod, item.resource, free)
    if edits is not None:
        name = item.resource
        asked, room = Amount(name, item.requested), Amount(name, free)
        yield change(
            "request", edits, item.requested - free, resource=name, asked=asked, free=room, node=seen.node.name
        )


def lowered(pod: Pod, resource: str, most: int) -> list[Edit] | None:
    """Return the edits after which the pod asks for at most ``most`` millicores or units; None if one would have to
    ask for nothing.
    """
    unit = NANO // 1000 if resource == "cpu" else NANO
    room = most * unit - request_parts(pod, use_status=False).overhead.get(resource, 0)
    if room < unit:
        return None
    level = (pod.spec.get("resources") or {}).get("requests") or {}
    if resource in level:
        return _set(pod, ("spec", "resources"), pod.spec["resources"], resource, room // unit)
    sidecars = [index for index, item in enumerate(pod.init_containers) if item.get("restartPolicy") == "Always"]
    running = [("initContainers", index) for index in sidecars]
    running += [("containers", index) for index in range(len(pod.containers))]
    asked = {place: _asked(pod, place, resource) for place in running}
    shares = _shares(asked, room, unit)
    before = 0
    for index in range(len(pod.init_containers)):
        place = ("initContainers", index)
        if index in sidecars:
            before += shares[place]
        elif _asked(pod, place, resource) > room - before:
            asked[place], shares[place] = _asked(pod, place, resource), (room - before) // unit * unit
    changed = {place: amount for place, amount in shares.items() if amount != asked[place]}
    if any(amount < unit for amount in changed.values()):
        return None
    return [edit for place in changed for edit in _container(pod, place, resource, changed[place] // unit)]


def _asked(pod: Pod, place: tuple[str, int], resource: str) -> int:
    """Return nano-units."""
    requests = (pod.spec[place[0]][place[1]].get("resources") or {}).get("requests") or {}
    return parse_quantity(requests[resource]).nano if resource in requests else 0


def _shares(asked: dict[tuple[str, int], int], room: int, unit: int) -> dict[tuple[str, int], int]:
    """Lower the largest amounts to the same one, in whole units, so that the sum is at most ``room``."""
    shares, left = dict(asked), room
    smallest_first = sorted(shares, key=lambda item: shares[item])
    for number, place in enumerate(smallest_first):
        most = left // (len(shares) - number)
        if shares[place] > most:
            shares[place] = max(most // unit * unit, 0)
        left -= shares[place]
    return shares


def _container(pod: Pod, place: tuple[str, int], resource: str, number: int) -> list[Edit]:
    field, index = place
    path = ("spec", field, str(index), "resources")
    return _set(pod, path, pod.spec[field][index].get("resources") or {}, resource, number)


def _set(pod: Pod, path: Sequence[str], held: dict[str, Any], resource: str, number: int) -> list[Edit]:
    """Return the edits of one ``resources``. Of any but the basic resources, request and limit must be equal."""
    fields = ["requests"] if resource in BASIC else ["requests", "limits"]
    text = written(resource, number)
    return [
        Edit("Pod", pod.key, "set", (*path, field, resource), text)
        for field in fields
        if resource in held.get(field, ())
    ]


def _enlarged(seen: Seen, item: Lacking) -> Iterator[Change]:
    total = item.used + item.requested
    text = written(item.resource, total)
    node, capacity = seen.node, seen.node.status.get("capacity") or {}
    edits = [Edit("Node", node.name, "set", ("status", "allocatable", item.resource), text)]
    missing = total - item.capacity
    if item.resource in capacity:
        scale = NANO // 1000 if item.resource == "cpu" else NANO
        more = parse_quantity(capacity[item.resource]).nano // scale
        if more < total:
            edits.append(Edit("Node", node.name, "set", ("status", "capacity", item.resource), text))
    had, wanted = Amount(item.resource, item.capacity), Amount(item.resource, total)
    yield change("enlarge", edits, missing, resource=item.resource, had=had, total=wanted, node=node.name)


def _frees(info: PodInfo, lack: Lacking) -> bool:
    request = 1 if lack.resource == "pods" else info.resource.request.of(lack.resource)
    return lack.used - request + lack.requested <= lack.capacity
