"""A kubelet's measurements: the usage of its pods, and what is left of the node.

Source: seed 002 §10 (Eviction signals); upstream ``pkg/kubelet/eviction/helpers.go`` (makeSignalObservations). Usage is
simulated (``api/simulated.py``): a pod without annotations uses nothing. A node without a disk size has 100Gi.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_engine.api.images import normalized_image_name
from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.api.quantity import parse_quantity
from scheduler_engine.api.simulated import IMAGEFS, MAX_PIDS, USAGE, amount_of

GIBIBYTE = 1024**3
DEFAULT_NODEFS = 100 * GIBIBYTE
DEFAULT_MAX_PIDS = 32_768
BYTES_PER_INODE = 16_384
"""The default of ext4."""


@dataclass(frozen=True, slots=True)
class Observation:
    """Available and total amount, in bytes, inodes or processes."""

    available: int
    capacity: int


@dataclass(frozen=True, slots=True)
class Stats:
    """``running``: pods whose containers run; ``dead``: finished ones whose containers are still on the disk."""

    node: Node
    running: tuple[Pod, ...]
    dead: tuple[Pod, ...]

    @property
    def dedicated_imagefs(self) -> bool:
        return IMAGEFS in self.node.annotations

    def observations(self) -> dict[str, Observation]:
        """Return eviction signal → what is left of how much."""
        observations: dict[str, Observation] = {}
        memory = (self.node.status.get("capacity") or {}).get("memory")
        if memory is not None:
            capacity = parse_quantity(memory).value()
            observations["memory.available"] = _left(capacity, self._used("memory"))
        images = image_bytes(self.node)
        layers = sum(usage(pod, "writable_layer") for pod in (*self.running, *self.dead))
        layers += usage(self.node, "writable_layer")
        nodefs, used = self._nodefs_capacity(), self._used("ephemeral_storage")
        dedicated = amount_of(self.node.annotations, IMAGEFS)
        observations["nodefs.available"] = _left(nodefs, used if dedicated is not None else used + images + layers)
        observations["nodefs.inodesFree"] = _left(nodefs // BYTES_PER_INODE, self._used("inodes"))
        if dedicated is None:
            observations["imagefs.available"] = observations["nodefs.available"]
            observations["imagefs.inodesFree"] = observations["nodefs.inodesFree"]
        else:
            observations["imagefs.available"] = _left(dedicated, images + layers)
            observations["imagefs.inodesFree"] = _left(dedicated // BYTES_PER_INODE, 0)
        pids = amount_of(self.node.annotations, MAX_PIDS)
        observations["pid.available"] = _left(DEFAULT_MAX_PIDS if pids is None else pids, self._used("pids"))
        return observations

    def _used(self, name: str) -> int:
        return usage(self.node, name) + sum(usage(pod, name) for pod in self.running)

    def _nodefs_capacity(self) -> int:
        written = (self.node.status.get("capacity") or {}).get("ephemeral-storage")
        return DEFAULT_NODEFS if written is None else parse_quantity(written).value()

    def unused_images(self) -> list[dict[str, Any]]:
        """Return images that no container on the node, dead or alive, was made from."""
        wanted = _images_of((*self.running, *self.dead))
        return [
            image
            for image in self.node.status.get("images") or ()
            if not any(normalized_image_name(name) in wanted for name in image.get("names") or ())
        ]


def reclaims(signal: str, dedicated_imagefs: bool) -> tuple[str, ...]:
    """Return what a kubelet removes before it evicts: ``dead containers`` and ``unused images``, or nothing.

    On a separate filesystem they free nothing if the node's own is short.
    Source: upstream ``pkg/kubelet/eviction/helpers.go`` (buildSignalToNodeReclaimFuncs).
    """
    if not signal.startswith(("nodefs", "imagefs")) or (dedicated_imagefs and signal.startswith("nodefs")):
        return ()
    return "dead containers", "unused images"


def usage(item: Pod | Node, name: str) -> int:
    """Return the usage of a pod, or of a node's system daemons: ``name`` is a key of ``USAGE``."""
    return amount_of(item.annotations, USAGE[name]) or 0


def says_usage(annotations: Mapping[str, str]) -> bool:
    return any(name in annotations for name in USAGE.values())


def image_bytes(node: Node) -> int:
    return sum(size for _, size in node.images)


def _left(capacity: int, used: int) -> Observation:
    return Observation(max(capacity - used, 0), capacity)


def _images_of(pods: Iterable[Pod]) -> dict[str, None]:
    containers = (container for pod in pods for container in (*pod.init_containers, *pod.containers))
    return {normalized_image_name(container.get("image") or ""): None for container in containers}
