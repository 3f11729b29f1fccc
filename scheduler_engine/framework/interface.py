"""The interface of a plugin and the objects it gets.

A plugin is a class with a ``name`` and some of the methods below; having the method is how it takes part in an
extension point (``EXTENSION_POINTS``). Plugins only decide: they record nothing, keep no state between cycles except
what they compute from their arguments, and reach the world through ``Handle``. ``None`` as a status means
success. An internal error is raised as ``PluginError`` and becomes a status with code Error.

==================  ==========================================================================================
method              signature
==================  ==========================================================================================
pre_enqueue         (pod) → Status | None
less                (left: QueuedPodInfo, right: QueuedPodInfo) → bool
order_us            (info: QueuedPodInfo) → int   (the time by which ``less`` orders pods of one priority, if it is not
                    their timestamp; it then orders equal ones by their keys)
events_to_register  () → tuple[EventRegistration, …]
pre_filter          (state, pod, nodes) → tuple[PreFilterResult | None, Status | None]
add_pod, remove_pod (state, pod_to_schedule, pod_info, node_info) → None   (preemption: update this plugin's state)
filter              (state, pod, node_info) → Status | None
post_filter         (state, pod, statuses: NodeToStatus) → tuple[PostFilterResult | None, Status]
pre_score           (state, pod, nodes) → Status | None
score               (state, pod, node_info) → int
normalize_score     (state, pod, scores: dict[node name, int]) → None   (changes ``scores``)
reserve             (state, pod, node_name) → Status | None
unreserve           (state, pod, node_name) → None
permit              (state, pod, node_name) → tuple[Status | None, timeout in simulated microseconds]
pre_bind            (state, pod, node_name) → Status | None
bind                (state, pod, node_name) → Status | None
post_bind           (state, pod, node_name) → None
==================  ==========================================================================================

Source: seed 002 §6 and 004; upstream ``framework/interface.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from random import Random
from typing import Any, ClassVar, Protocol

import numpy as np

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.framework.columns import Columns
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.events import ClusterEvent
from scheduler_engine.framework.extender import Extender
from scheduler_engine.framework.node_info import NodeInfo, PodInfo
from scheduler_engine.framework.nodes import SlotArray, Slots
from scheduler_engine.framework.status import Code, Status
from scheduler_engine.records import record
from scheduler_engine.sharing import Table
from scheduler_engine.trace.events import Recorder
from scheduler_engine.versions import DEFAULT_RULES, Rules

MAX_NODE_SCORE = 100


class PluginError(Exception):
    """A plugin could not decide; the attempt ends with an error. The text comes from Kubernetes."""


class Hint(Enum):
    """The answer of a queueing hint."""

    QUEUE = "Queue"
    SKIP = "QueueSkip"


HintFunction = Callable[[Pod, KubeObject | None, KubeObject | None], tuple[Hint, str]]
"""(pod, old object, new object) → (verdict, short reason). Always a bound method, never a lambda."""


@record(frozen=True, slots=True)
class EventRegistration:
    """An event that may make a pod rejected by this plugin schedulable; no ``hint`` = always queue."""

    event: ClusterEvent
    hint: HintFunction | None = None


@record(frozen=True, slots=True)
class PreFilterResult:
    """``node_names``: filter only these nodes (sorted)."""

    node_names: tuple[str, ...]


@dataclass(slots=True)
class NodeToStatus:
    """The status of each failed node; other nodes have ``absent`` (upstream ``NodeToStatus``)."""

    absent: Status
    statuses: Mapping[str, Status] = field(default_factory=dict)

    def get(self, node_name: str) -> Status:
        return self.statuses.get(node_name, self.absent)

    def counted(self) -> Iterable[tuple[Status, int]]:
        """Return statuses, each with a number of nodes."""
        if hasattr(self.statuses, "counted"):
            counts: list[tuple[Status, int]] = self.statuses.counted()
            return counts
        return ((status, 1) for status in self.statuses.values())

    def nodes_for_code(self, lister: NodeInfoLister, code: Code) -> list[NodeInfo]:
        """Return the NodeInfos of the snapshot whose status has ``code``, in snapshot order."""
        if hasattr(self.statuses, "slots_for_code") and self.absent.code is not code:
            slots = lister.order[np.isin(lister.order, self.statuses.slots_for_code(code))]
            return [lister.slots.infos[slot] for slot in slots.tolist()]
        return [info for info in lister.list() if self.get(info.name).code is code]


@record(frozen=True, slots=True)
class PostFilterResult:
    """``nominated_node``: a node, "" to clear an old nomination, None to keep it.

    ``best_nodes`` were equally good and include the nominated one; ``cleared_nominations`` are pods that lost
    theirs. ``not_deleted``: (key of a victim, why nobody had to delete it), ``ineligible`` and ``waits_for`` as in
    ``PostFilterRan``.
    """

    nominated_node: str | None
    victims: tuple[Pod, ...] = ()
    best_nodes: tuple[str, ...] = ()
    cleared_nominations: tuple[str, ...] = ()
    not_deleted: tuple[tuple[str, str], ...] = ()
    ineligible: str = ""
    waits_for: str = ""


@dataclass(slots=True)
class QueuedPodInfo:
    """A pod in the scheduling queue. Times in simulated microseconds. ``was_flushed``: since its last attempt it was
    found in unschedulablePods after too long a time. ``signed``: the older version of the pod whose signature it still
    has; None: the signature is that of ``pod``. Source: upstream ``framework/types.go``.
    """

    pod_info: PodInfo
    timestamp_us: int = 0
    attempts: int = 0
    unschedulable_count: int = 0
    consecutive_errors_count: int = 0
    initial_attempt_us: int | None = None
    backoff_expiration_us: int | None = None
    unschedulable_plugins: dict[str, None] = field(default_factory=dict)
    pending_plugins: dict[str, None] = field(default_factory=dict)
    gating_plugin: str = ""
    was_flushed: bool = False
    signed: Pod | None = None

    @property
    def pod(self) -> Pod:
        return self.pod_info.pod

    def update(self, pod: Pod) -> None:
        """Replace the pod by a later version, and its signature with it."""
        self.pod_info, self.signed = PodInfo(pod), None

    def __deepcopy__(self, memo: dict[int, object]) -> QueuedPodInfo:
        copied = replace(
            self,
            unschedulable_plugins=dict(self.unschedulable_plugins),
            pending_plugins=dict(self.pending_plugins),
        )
        memo[id(self)] = copied
        return copied


class NodeInfoLister(Protocol):
    """The snapshot, as plugins see it. ``slots`` numbers its nodes; ``order``: the slots of ``list``."""

    slots: Slots
    order: SlotArray

    def list(self) -> Sequence[NodeInfo]: ...

    def have_pods_with_affinity(self) -> Sequence[NodeInfo]: ...

    def have_pods_with_required_anti_affinity(self) -> Sequence[NodeInfo]: ...

    def get(self, node_name: str) -> NodeInfo | None: ...

    def is_pvc_used_by_pods(self, key: str) -> bool: ...


class ObjectReader(Protocol):
    """The API objects that plugins may read (upstream: informer listers)."""

    def list(self, kind: str, namespace: str | None = None) -> Iterator[KubeObject]: ...

    def get(self, kind: str, key: str) -> KubeObject | None: ...

    def changed_since(self, kind: str, position: int) -> tuple[int, Sequence[str] | None]: ...

    def as_now(self, kinds: Sequence[str]) -> Mapping[str, Mapping[str, KubeObject]]: ...


class ApiWriter(Protocol):
    """The requests that plugins may send to the API server."""

    def bind(self, pod_key: str, uid: str, node_name: str) -> None: ...

    def delete_pod(self, pod_key: str, reason: str, message: str) -> None: ...

    def patch(self, kind: str, key: str, changes: Mapping[str, Any]) -> None: ...


class NominatorView(Protocol):
    """Read-only access to nominations."""

    def nominated_pods_for_node(self, node_name: str) -> Sequence[PodInfo]: ...

    def delete_nominated_pod_if_exists(self, pod: Pod) -> None: ...

    def has_nominations(self) -> bool: ...

    def nominated_nodes(self) -> Sequence[str]: ...


class NoNominations:
    """A nominator for use before there is a queue."""

    def nominated_pods_for_node(self, node_name: str) -> Sequence[PodInfo]:
        return ()

    def delete_nominated_pod_if_exists(self, pod: Pod) -> None:
        """Do nothing: there is none."""

    def has_nominations(self) -> bool:
        return False

    def nominated_nodes(self) -> Sequence[str]:
        return ()


class SchedulerServices(Protocol):
    """The scheduler's services for its plugins. ``pending_claims``: uid → claim with the devices that it will get, from
    Reserve until the API server has them.
    """

    pending_claims: Table[str, KubeObject]

    def waiting_pods(self) -> Sequence[Pod]: ...

    def has_place(self, pod: Pod) -> bool: ...

    def allow_waiting(self, uid: str, plugin: str) -> bool: ...

    def reject_waiting_pod(self, uid: str, plugin: str, reason: str) -> bool: ...

    def waiting_for(self, plugin: str, framework: FrameworkView | None) -> Sequence[tuple[Pod, str]]: ...

    def preempt_binding_pod(self, uid: str, plugin: str) -> bool: ...

    def hear_late_of(self, pod: Pod, duration_us: int, fault: int) -> None: ...


class NoScheduler:
    """A stub without binding cycles or a watch."""

    def __init__(self) -> None:
        self.pending_claims: Table[str, KubeObject] = Table()

    def waiting_pods(self) -> Sequence[Pod]:
        return ()

    def has_place(self, pod: Pod) -> bool:
        return False

    def allow_waiting(self, uid: str, plugin: str) -> bool:
        return False

    def reject_waiting_pod(self, uid: str, plugin: str, reason: str) -> bool:
        return False

    def waiting_for(self, plugin: str, framework: FrameworkView | None) -> Sequence[tuple[Pod, str]]:
        return ()

    def preempt_binding_pod(self, uid: str, plugin: str) -> bool:
        return False

    def hear_late_of(self, pod: Pod, duration_us: int, fault: int) -> None:
        """Do nothing: there is no watch here."""


class FrameworkView(Protocol):
    """The parts of the profile that plugins use; the runtime implements it. ``columns``: see ``columns.py``."""

    columns: Columns

    plugins: dict[str, Plugin]

    points: dict[str, list[Any]]

    def active_filters(self, state: CycleState) -> Sequence[Any]: ...

    def updated_by_pods(self, state: CycleState) -> bool: ...

    def ask(self, plugins: Sequence[Any], state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None: ...

    def nominated_for(self, pod: Pod, node_name: str) -> Sequence[PodInfo]: ...

    def run_filter_plugins_with_nominated_pods(
        self, state: CycleState, pod: Pod, node_info: NodeInfo
    ) -> Status | None: ...

    def with_pods(
        self, state: CycleState, pod: Pod, node_info: NodeInfo, more: Sequence[PodInfo]
    ) -> tuple[CycleState, NodeInfo, Status | None]: ...

    def run_add_pod(self, state: CycleState, pod: Pod, added: PodInfo, node_info: NodeInfo) -> Status | None: ...

    def run_remove_pod(self, state: CycleState, pod: Pod, removed: PodInfo, node_info: NodeInfo) -> Status | None: ...


@dataclass(slots=True)
class Handle:
    """Everything a plugin may access (upstream ``framework.Handle``). One per profile, shared by its plugins.

    ``recorder`` takes trace events from the framework; plugins record nothing. ``cycle`` is the number of
    the running scheduling cycle. ``now_us`` returns the simulated time (for pods without a start time). ``rules``:
    those of the version of Kubernetes. ``extenders`` in the order in which they are asked.
    """

    snapshot: NodeInfoLister
    objects: ObjectReader
    api: ApiWriter
    nominator: NominatorView
    recorder: Recorder
    random: Random
    framework: FrameworkView | None = None
    cycle: int = 0
    scheduler: SchedulerServices = field(default_factory=NoScheduler)
    rules: Rules = DEFAULT_RULES
    extenders: Sequence[Extender] = ()

    @property
    def now_us(self) -> int:
        return self.recorder.now_us

    def counts_together(self, nodes: Sequence[NodeInfo]) -> Columns | None:
        """Return where a plugin can keep counts over these nodes: if they are all of a snapshot's, and the trace does
        not show them. None: count anew.
        """
        if self.framework is None or self.recorder.full or nodes is not self.snapshot.list():
            return None
        return self.framework.columns


class Plugin:
    """The base class of all plugins.

    With ``sign``, a plugin's results are kept; ``reads_pods``: until the node or one of its pods changes; False: until
    the Node object changes. A plugin may also judge many nodes at once:

    ==================  ======================================================================================
    method              signature
    ==================  ======================================================================================
    filter_all          (state, pod, nodes: Nodes) → [(Status | None, which nodes have it), …] | None
    score_all           (state, pod, nodes: Nodes) → raw scores | None
    normalize_all       (state, pod, raw scores) → normalized scores | None
    ==================  ======================================================================================

    The results are those of ``filter``, ``score`` and ``normalize_score``, to the last digit; None: ask one by one.
    A filter that only compares sums over a node's pods can say so; dry runs of preemption then need no copies:

    ==================  ======================================================================================
    sums_sign           (state) → all that the others read of state and pod; None: the plain dry run must answer
    slack               (state, pod, node_info) → amounts left with ``pod`` on the node: it fits if none is negative
    frees               (state, pod_info) → what a pod of the node adds to these amounts when it leaves
    ==================  ======================================================================================
    """

    name: ClassVar[str]
    reads_pods: ClassVar[bool] = True

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        """``args``: this plugin's defaulted arguments in v1 form (``pluginConfig[].args``)."""
        self.handle = handle

    def works_in_pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> bool:
        """Return True if PreBind of this plugin has anything to do for ``pod``."""
        return False

    def sign(self, pod: Pod) -> Hashable | None:
        """Return what Filter and Score of this plugin read of ``pod``; None if they read more than a pod and a node.

        For two pods with equal signs, the verdict and the raw score on a node must be equal until the node changes.
        """
        return None
