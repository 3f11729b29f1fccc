"""The order in which a kubelet evicts pods, and the reasons.

Source: seed 002 §10 (Pod selection for kubelet eviction); upstream ``pkg/kubelet/eviction/helpers.go``. Short of
memory or disk: pods over their requests first, then by priority, then by their excess. Short of process
numbers, which have no requests: by priority, then by usage. Inodes have no requests either, and the seed says the same
of them; upstream ranks them like disks, so a pod that uses any exceeds a request of 0 and goes first, whatever its
priority, and the amount finally subtracted is the request for ephemeral storage, in bytes. Equal pods are
ordered by name.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from scheduler_engine.api.critical_pods import is_critical
from scheduler_engine.api.node_stats import usage
from scheduler_engine.api.objects import Pod
from scheduler_engine.api.pod_resources import pod_requests, resource_of
from scheduler_engine.api.qos import qos_class

CRITICAL = "critical: never evicted by a kubelet"
"""Why a critical pod is in the table although it stays."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A row of the table: amounts in bytes, inodes or processes. ``over``: usage less the request that counts."""

    pod: Pod
    exceeds: bool
    usage: int
    request: int
    has_request: bool
    qos: str
    over: int
    measures_inodes: bool = False

    @property
    def critical(self) -> bool:
        return is_critical(self.pod)

    @property
    def reason(self) -> str:
        if self.critical:
            return CRITICAL
        if self.measures_inodes:
            side = "uses inodes" if self.exceeds else "uses no inodes"
            return f"{side}; priority {self.pod.priority}; usage less the request for ephemeral storage {self.over}"
        if not self.has_request:
            return f"priority {self.pod.priority}, then usage: there are no requests to compare with"
        side = "exceeds its request" if self.exceeds else "stays within its request"
        return f"{side}; priority {self.pod.priority}; usage over request {self.over}"

    def row(self) -> tuple[str, bool, int, int, int, int, str, str]:
        """Return the row of the trace event ``EvictionRanked``."""
        key, priority = self.pod.key, self.pod.priority
        return key, self.exceeds, priority, self.usage, self.request, self.over, self.qos, self.reason


def measured(signal: str, dedicated_imagefs: bool) -> tuple[str, ...]:
    """Return the kinds of usage (keys of ``USAGE``) that a kubelet compares for a signal."""
    if signal == "memory.available":
        return ("memory",)
    if signal == "pid.available":
        return ("pids",)
    if signal.endswith("inodesFree"):
        return ("inodes",)
    if not dedicated_imagefs:
        return ("ephemeral_storage", "writable_layer")
    return ("ephemeral_storage",) if signal == "nodefs.available" else ("writable_layer",)


def rank(pods: Iterable[Pod], signal: str, dedicated_imagefs: bool) -> list[Ranked]:
    """Sort pods by eviction order."""
    kinds = measured(signal, dedicated_imagefs)
    return sorted((_ranked(pod, kinds) for pod in pods), key=_order)


def _ranked(pod: Pod, kinds: tuple[str, ...]) -> Ranked:
    requests = resource_of(pod_requests(pod))
    known = {
        "memory": requests.memory,
        "ephemeral_storage": requests.ephemeral_storage,
        "writable_layer": requests.ephemeral_storage,
    }
    used, request = sum(usage(pod, kind) for kind in kinds), known.get(kinds[0])
    qos = qos_class(pod.spec)
    if kinds == ("inodes",):
        return Ranked(pod, used > 0, used, 0, False, qos, used - requests.ephemeral_storage, True)
    exceeds = request is not None and used > request
    return Ranked(pod, exceeds, used, request or 0, request is not None, qos, used - (request or 0))


def _order(row: Ranked) -> tuple[bool, int, int, str]:
    return not row.exceeds, row.pod.priority, -row.over, row.pod.key
