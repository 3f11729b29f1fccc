"""Remedies for a node that has too little of a resource.

The largest request that fits is what the node has left of it. It is divided among the containers by lowering the
largest requests first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from scheduler_engine.answers.changes import Change, Edit, change
from scheduler_engine.answers.seen import Seen
from scheduler_engine.api.objects import Pod
from scheduler_engine.api.pod_resources import request_parts
from scheduler_engine.api.quantity import Quantity, canonical, parse_quantity
from scheduler_engine.framework.amounts import BASIC
from scheduler_engine.framework.facts import Amount, Keys
from scheduler_engine.framework.node_info import PodInfo
from scheduler_engine.plugins.node_resources_fit import PRE_FILTER_KEY, Lacking, lacking_resources

NANO = 1_000_000_000
MOST_DELETED = 3


def of_resources(seen: Seen) -> Iterator[tuple[Change, ...]]:
    """Yield one obstacle for each resource of which there is too little."""
    lacking = lacking_resources(seen.state.data[PRE_FILTER_KEY], seen.info)
    deleted = tuple(_deleted(seen, lacking))
    for item in lacking:
        requested = () if item.resource == "pods" else tuple(_request(seen, item))
        yield (*requested, *_enlarged(seen, item), *deleted)


def written(resource: str, number: int) -> str:
    """Write millicores of cpu, or whole units, as a quantity."""
    if resource == "cpu":
        return f"{number}m" if number % 1000 else str(number // 1000)
    return canonical(Quantity(number * NANO, "BinarySI")) if resource in BASIC else str(number)


def _request(seen: Seen, item: Lacking) -> Iterator[Change]:
    free = item.capacity - item.used
    edits = lowered(seen.pod, item.resource, free) if free >= 0 else None
    if edits is not None:
        name = item.resource
        asked, room = Amount(name, item.requested), Amount(name, free)
        yield change(
            "request", edits, item.requested - free, resource=name, asked=asked, free=room, node=seen.node.name
        )


def lowered(pod: Pod, resource: str, most: int) -> list[Edit] | None:
    """Return the edits after which the pod asks for at most ``most`` millicores or units; None: overhead exceeds it."""
    unit = NANO // 1000 if resource == "cpu" else NANO
    room = most * unit - request_parts(pod, use_status=False).overhead.get(resource, 0)
    if room < 0:
        return None
    level = (pod.spec.get("resources") or {}).get("requests") or {}
    if resource in level:
        return _set(pod, ("spec", "resources"), pod.spec["resources"], resource, room // unit)
    edits: list[Edit] = []
    sidecars = [index for index, item in enumerate(pod.init_containers) if item.get("restartPolicy") == "Always"]
    running = [("initContainers", index) for index in sidecars]
    running += [("containers", index) for index in range(len(pod.containers))]
    asked = {place: _asked(pod, place, resource) for place in running}
    for place, amount in _shares(asked, room).items():
        if amount != asked[place]:
            edits += _container(pod, place, resource, amount // unit)
            asked[place] = amount // unit * unit
    before = 0
    for index in range(len(pod.init_containers)):
        place = ("initContainers", index)
        if index in sidecars:
            before += asked[place]
        elif _asked(pod, place, resource) > room - before:
            edits += _container(pod, place, resource, (room - before) // unit)
    return edits


def _asked(pod: Pod, place: tuple[str, int], resource: str) -> int:
    """Return nano-units."""
    requests = (pod.spec[place[0]][place[1]].get("resources") or {}).get("requests") or {}
    return parse_quantity(requests[resource]).nano if resource in requests else 0


def _shares(asked: dict[tuple[str, int], int], room: int) -> dict[tuple[str, int], int]:
    """Lower the largest amounts until the sum is at most ``room``."""
    shares = dict(asked)
    for place in sorted(shares, key=lambda item: -shares[item]):
        excess = sum(shares.values()) - room
        if excess > 0:
            shares[place] = max(0, shares[place] - excess)
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


def _deleted(seen: Seen, lacking: Sequence[Lacking]) -> Iterator[Change]:
    """Yield the least important pods each of which leaves enough of everything."""
    chosen = (info for info in seen.residents() if all(_frees(info, lack) for lack in lacking))
    for info in islice(chosen, MOST_DELETED):
        yield deletion(info.pod)


def _frees(info: PodInfo, lack: Lacking) -> bool:
    request = 1 if lack.resource == "pods" else info.resource.request.of(lack.resource)
    return lack.used - request + lack.requested <= lack.capacity


def deletion(pod: Pod) -> Change:
    owner = pod.controller_ref
    owned = {} if owner is None else {"owner": f"{owner.get('kind')} {owner.get('name')}"}
    edits = [Edit("Pod", pod.key, "delete")]
    return change("delete", edits, pod.priority, pod=Keys((pod.key,)), node=pod.node_name, **owned)
