"""Remedies for a node that lacks devices for a pod's claims: end a pod that has such devices, or drop the claims."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from scheduler_engine.answers.changes import Change
from scheduler_engine.answers.remedies_claims import without_resource_claims
from scheduler_engine.answers.removals import removals
from scheduler_engine.answers.seen import Seen, deletable
from scheduler_engine.api.devices import DeviceId, ResourceClaim
from scheduler_engine.api.objects import Pod
from scheduler_engine.plugins.dynamic_resources.plugin import may_use, would_do

MOST_SEARCHES = 8
"""How many searches for devices one node is worth."""
HOLDERS = "holders-of-devices"
"""The note of a look that all its nodes share."""


def of_devices(seen: Seen) -> Iterator[tuple[Change, ...]]:
    if HOLDERS not in seen.notes:
        seen.notes[HOLDERS] = [*_holders(seen)]
    near = (item for item in seen.notes[HOLDERS] if may_use(seen.state, seen.node, item[1]))
    freeing = (pod for pod, devices in islice(near, MOST_SEARCHES) if would_do(seen.state, seen.node, devices))
    yield (*removals(seen.simulation, freeing), *without_resource_claims(seen.simulation, seen.pod))


def _holders(seen: Seen) -> Iterator[tuple[Pod, frozenset[DeviceId]]]:
    """Yield the pods that somebody could delete, the least important first, and the devices that this would free."""
    devices: dict[str, set[DeviceId]] = {}
    for claim in seen.simulation.api.list("ResourceClaim"):
        if isinstance(claim, ResourceClaim) and len(claim.consumers) == 1:
            devices.setdefault(claim.consumers[0]["uid"], set()).update(claim.exclusive_devices())
    pods = [info for item in seen.simulation.scheduler.snapshot.list() for info in item.pods if info.pod.uid in devices]
    for info in deletable(pods):
        yield info.pod, frozenset(devices[info.pod.uid])
