"""The CSI volumes of all nodes as arrays by slot: only nodes of which something has changed are counted again.

They judge as ``loads_of`` in ``node_volumes`` does, which serves dry runs, single nodes and facts.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.amounts import IntArray, Mask
from scheduler_engine.framework.columns import grown
from scheduler_engine.framework.derived import Readers, Reading
from scheduler_engine.framework.interface import NodeInfoLister, ObjectReader, PluginError
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.nodes import Nodes
from scheduler_engine.plugins.csi_nodes import CsiNodes
from scheduler_engine.plugins.node_volumes import Volumes, attached_volumes, volume_limits, volumes_of

KINDS = ("CSINode", "PersistentVolumeClaim", "PersistentVolume", "StorageClass", "VolumeAttachment")
"""What a pod's volumes on a node can depend on."""
ATTACHED = "attached"
"""Names the reader of the VolumeAttachments; all others are named by slots."""
MUCH = 2**62


class Counted(NamedTuple):
    """One node. ``volumes`` of its pods; ``drivers``: those with a limit there."""

    volumes: Volumes
    drivers: Iterable[str]


class VolumeCounts:
    """``spare``: driver → slot → how many more volumes fit, negative if there are too many. ``attached``: node → the
    volumes attached there. ``holders``: volume → slots of the nodes whose pods have it.

    ``everywhere`` as in ``migrated_on``. ``broken``: slot → whether a pod has a volume that cannot be counted.
    ``stale``: slots to count again, None = all; ``reattached``: nodes to count again because of their attached volumes.
    """

    __slots__ = (
        "attached",
        "broken",
        "counted",
        "everywhere",
        "holders",
        "position",
        "readers",
        "reattached",
        "spare",
        "stale",
    )

    def __init__(self, everywhere: tuple[str, ...]) -> None:
        self.everywhere = everywhere
        self.readers = Readers(KINDS)
        self.position = 0
        self.stale: dict[Hashable, None] | None = None
        self.reattached: dict[str, None] = {}
        self.attached: dict[str, Volumes] = {}
        self.counted: dict[int, Counted] = {}
        self.spare: dict[str, IntArray] = {}
        self.holders: dict[tuple[str, str], dict[int, None]] = {}
        self.broken: Mask = np.zeros(0, dtype=bool)

    def attachments(self, objects: ObjectReader) -> dict[str, Volumes]:
        """Return node → the volumes attached there now: the same dict as before if nothing has changed."""
        changed = self.readers.stale(objects)
        if changed is None:
            self.stale = None
        elif self.stale is not None:
            self.stale.update(dict.fromkeys(changed))
        if changed is None or ATTACHED in changed:
            reading = Reading(objects)
            before, self.attached = self.attached, attached_volumes(reading)
            self.readers.note(ATTACHED, reading.read)
            for node in {**before, **self.attached}:
                if before.get(node) != self.attached.get(node):
                    self.reattached[node] = None
        return self.attached

    def update(self, snapshot: NodeInfoLister, objects: ObjectReader) -> None:
        """Count the nodes again of which something has changed."""
        slots = snapshot.slots
        changed = slots.changes.since(self.position) if self.position else None
        self.attachments(objects)
        if self.stale is None or changed is None:
            for counted in [*self.counted]:
                self._forget(counted)
            again: Iterable[Hashable] = range(len(slots.infos))
        else:
            self.stale.update(dict.fromkeys(changed))
            infos = (snapshot.get(node) for node in self.reattached)
            again = {**self.stale, **{info.slot: None for info in infos if info is not None}}
        free = dict.fromkeys(slots.free)
        for slot in again:
            if isinstance(slot, int):
                self._forget(slot)
                if slot not in free:
                    self._count(slots.infos[slot], objects)
        self.position, self.stale, self.reattached = slots.changes.position, {}, {}

    def _forget(self, slot: int) -> None:
        counted = self.counted.pop(slot, None)
        if counted is None:
            return
        self.readers.forget(slot)
        self.broken[slot] = False
        for driver in counted.drivers:
            self.spare[driver][slot] = MUCH
        for volume in counted.volumes:
            holders = self.holders[volume]
            del holders[slot]
            if not holders:
                del self.holders[volume]

    def _count(self, info: NodeInfo, objects: ObjectReader) -> None:
        slot, reading = info.slot, Reading(objects)
        csi_node = reading.get("CSINode", info.name)
        limits = volume_limits(csi_node)
        volumes: Volumes = {}
        self.broken = grown(self.broken, slot + 1)
        try:
            for pod in [item.pod for item in info.pods if item.pod.volumes] if limits else ():
                volumes.update(volumes_of(pod, csi_node, reading, self.everywhere, new=False))
        except PluginError:
            self.broken[slot] = True
        self.counted[slot] = Counted(volumes, limits)
        self.readers.note(slot, reading.read)
        there = {**volumes, **self.attached.get(info.name, {})} if limits else {}
        for driver, limit in limits.items():
            spare = self._spare(driver, slot + 1)
            spare[slot] = min(limit, MUCH) - sum(1 for volume in there if volume[0] == driver)
        for volume in volumes:
            self.holders.setdefault(volume, {})[slot] = None

    def _spare(self, driver: str, size: int) -> IntArray:
        spare = self.spare.get(driver)
        if spare is None or len(spare) < size:
            before = 0 if spare is None else len(spare)
            spare = self.spare[driver] = grown(np.zeros(0, dtype=np.int64) if spare is None else spare, size)
            spare[before:] = MUCH
        return spare

    def exceeded(self, pod: Pod, nodes: Nodes, csi_nodes: CsiNodes, objects: ObjectReader) -> Mask:
        """Return on which of the nodes the pod would exceed a limit.

        Raises MissingClaim, and PluginError if a volume of the pod or of one on the nodes cannot be counted.
        """
        exceeded: Mask = np.zeros(len(nodes), dtype=bool)
        codes = csi_nodes.codes[nodes.slots]
        for code, csi_node in enumerate(csi_nodes.kinds):
            where = np.flatnonzero(codes == code)
            if len(where):
                wanted = volumes_of(pod, csi_node, objects, self.everywhere, new=True)
                exceeded[where] = self._exceeded(wanted, nodes.slots[where])
        return exceeded

    def _exceeded(self, wanted: Volumes, slots: NDArray[np.intp]) -> Mask:
        exceeded: Mask = np.zeros(len(slots), dtype=bool)
        if wanted and self.broken[slots].any():
            raise PluginError("a volume of a pod on a node cannot be counted")
        for driver, number in _by_driver(wanted).items():
            if driver in self.spare:
                exceeded |= self._spare(driver, int(slots.max()) + 1)[slots] < number
        shared = dict.fromkeys(slot for volume in wanted for slot in self.holders.get(volume, ()))
        for slot in shared:
            held = self.counted[slot].volumes
            needed = _by_driver([volume for volume in wanted if volume not in held])
            full = any(self.spare[driver][slot] < needed.get(driver, -MUCH) for driver in self.counted[slot].drivers)
            exceeded[slots == slot] = full
        return exceeded


def _by_driver(volumes: Iterable[tuple[str, str]]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for driver, _ in volumes:
        numbers[driver] = numbers.get(driver, 0) + 1
    return numbers
