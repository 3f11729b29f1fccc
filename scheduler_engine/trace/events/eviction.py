"""Nodes in trouble, and the ways pods leave them."""

from __future__ import annotations

from scheduler_engine.records import record
from scheduler_engine.trace.events.base import Event


@record(frozen=True, slots=True)
class TaintEvictionPlanned(Event):
    """A NoExecute taint drives ``pod`` from ``node`` at ``at_us`` (simulated microseconds); None: no longer.

    ``taint`` decides, as kubectl writes it; the pod tolerates it for ``seconds``, None = not at all. ``why`` it is no
    longer planned: the pod is ``deleted``, the taints are ``removed``, the remaining ones are ``tolerated`` without
    end, or for ``taint`` it is ``evicted`` at once, or ``stays`` for another time.
    """

    pod: str
    node: str
    at_us: int | None
    taint: str = ""
    seconds: int | None = None
    why: str = ""


@record(frozen=True, slots=True)
class PressureObserved(Event):
    """A node's kubelet observed a change in resource pressure.

    ``signals`` are (signal, available, capacity) in bytes, inodes or processes. ``thresholds`` are (threshold as text,
    signal, amount, hard, state): ``quiet``, ``met`` (evicts), ``waits`` (soft, in its grace period) or ``reclaiming``
    (no longer below, but the minimum reclaim is not reached). ``until``: (threshold, simulated microseconds at which
    its grace period ends) of those that wait. ``conditions``: (node condition, simulated microseconds at which it was
    last seen, None while it is seen) of those that the kubelet reports.
    """

    node: str
    signals: tuple[tuple[str, int, int], ...]
    thresholds: tuple[tuple[str, str, int, bool, str], ...]
    until: tuple[tuple[str, int], ...]
    conditions: tuple[tuple[str, int | None], ...]


@record(frozen=True, slots=True)
class NodeResourcesReclaimed(Event):
    """A kubelet freed ``freed`` bytes before evicting: ``what`` is ``dead containers`` or ``unused images``.

    ``names``: keys of the pods that owned the containers, or one name for each image.
    """

    node: str
    what: str
    names: tuple[str, ...]
    freed: int
    threshold: str


@record(frozen=True, slots=True)
class EvictionRanked(Event):
    """The order in which a kubelet would evict to reclaim ``resource``, as ``signal`` is below ``threshold``.

    ``rows``: (pod, exceeds its request, priority, usage, request, usage over request, QoS class, why it is here).
    For inodes any use exceeds, and the request for ephemeral storage is subtracted from the usage.
    """

    node: str
    signal: str
    resource: str
    threshold: str
    rows: tuple[tuple[str, bool, int, int, int, int, str, str], ...]


@record(frozen=True, slots=True)
class PodEvicted(Event):
    """A kubelet evicts ``pod``, which has ``grace_seconds`` to stop; its phase becomes Failed.

    ``signal`` "": not for pressure, but to make room for a critical pod.
    """

    node: str
    pod: str
    signal: str
    grace_seconds: int
    message: str


@record(frozen=True, slots=True)
class PodRejected(Event):
    """The kubelet of ``node`` rejects ``pod``, which is bound to it; its phase becomes Failed."""

    node: str
    pod: str
    reason: str
    message: str


@record(frozen=True, slots=True)
class EvictionAnswered(Event):
    """The API server's answer to a request to evict ``pod``.

    ``code``: 200, 429 or 500. ``cause`` explains a refusal, ``budgets`` are the budgets that select the pod,
    ``asked_by`` is the node being drained, "" for a single request. ``late``: the pod was already being deleted, so
    no budget was checked.
    """

    pod: str
    code: int
    message: str
    cause: str
    budgets: tuple[str, ...]
    asked_by: str
    late: bool = False


@record(frozen=True, slots=True)
class DrainChanged(Event):
    """A drain of ``node``: ``what`` is started, waiting, evicted, finished, failed or stopped.

    ``pods``: those to evict (started), refused and retried at ``next_us`` (waiting), terminating (evicted), or those
    that prevented the drain or were given up (failed). ``kept``: pods of DaemonSets and mirror pods, which stay.
    ``message``: kubectl's warning (started) or error (failed). ``flags``: those of ``force``, ``ignore_daemonsets`` and
    ``delete_emptydir_data`` that were set (started), or that would let the pods pass (failed).
    """

    node: str
    what: str
    pods: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    next_us: int | None = None
    message: str = ""
    flags: tuple[str, ...] = ()
