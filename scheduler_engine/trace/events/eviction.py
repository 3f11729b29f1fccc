"""Nodes in trouble, and the ways in which pods leave them."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_engine.trace.events.base import Event


@dataclass(frozen=True, slots=True)
class TaintEvictionPlanned(Event):
    """A NoExecute taint drives ``pod`` from ``node`` at ``at_us`` (simulated microseconds); None: not any more.

    ``taint`` decides, as kubectl writes it; the pod tolerates it for ``seconds``, None = not at all. ``why`` it is not
    planned any more: the pod is ``deleted``, the taints are ``removed``, those that are left are ``tolerated`` without
    end, or for ``taint`` it is ``evicted`` at once, or ``stays`` for another time.
    """

    pod: str
    node: str
    at_us: int | None
    taint: str = ""
    seconds: int | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class PressureObserved(Event):
    """What a node's kubelet saw at a look, told when it differs from the look before.

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


@dataclass(frozen=True, slots=True)
class NodeResourcesReclaimed(Event):
    """A kubelet freed ``freed`` bytes before it evicts: ``what`` is ``dead containers`` or ``unused images``.

    ``names``: keys of the pods that the containers belonged to, or one name for each image.
    """

    node: str
    what: str
    names: tuple[str, ...]
    freed: int
    threshold: str


@dataclass(frozen=True, slots=True)
class EvictionRanked(Event):
    """The order in which a kubelet would evict to reclaim ``resource``, as ``signal`` is below ``threshold``.

    ``rows``: (pod, exceeds its request, priority, usage, request, usage over request, QoS class, why it stands here).
    Of inodes any use exceeds, and what is taken off the usage is the request for ephemeral storage.
    """

    node: str
    signal: str
    resource: str
    threshold: str
    rows: tuple[tuple[str, bool, int, int, int, int, str, str], ...]


@dataclass(frozen=True, slots=True)
class PodEvicted(Event):
    """A kubelet evicts ``pod``, which has ``grace_seconds`` to end; its phase becomes Failed.

    ``signal`` "": not for pressure, but so that a critical pod has room.
    """

    node: str
    pod: str
    signal: str
    grace_seconds: int
    message: str


@dataclass(frozen=True, slots=True)
class PodRejected(Event):
    """The kubelet of ``node`` does not take ``pod``, which is bound to it; its phase becomes Failed."""

    node: str
    pod: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class EvictionAnswered(Event):
    """The API server's answer to a request to evict ``pod``.

    ``code``: 200, 429 or 500. ``cause`` says more about a refusal, ``budgets`` are the budgets that select the pod,
    ``asked_by`` is the node that is being drained, "" for a single request. ``late``: the pod was being deleted
    already, so that no budget was asked.
    """

    pod: str
    code: int
    message: str
    cause: str
    budgets: tuple[str, ...]
    asked_by: str
    late: bool = False


@dataclass(frozen=True, slots=True)
class DrainChanged(Event):
    """A drain of ``node``: ``what`` is started, waiting, evicted, finished, failed or stopped.

    ``pods``: those to evict (started), refused and asked for again at ``next_us`` (waiting), on their way out
    (evicted), or those that forbade the drain or were given up (failed). ``kept``: pods of DaemonSets and mirror pods,
    which stay.
    ``message``: kubectl's warning (started) or error (failed). ``flags``: those of ``force``, ``ignore_daemonsets`` and
    ``delete_emptydir_data`` that were given (started), or that would let the pods pass (failed).
    """

    node: str
    what: str
    pods: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    next_us: int | None = None
    message: str = ""
    flags: tuple[str, ...] = ()
