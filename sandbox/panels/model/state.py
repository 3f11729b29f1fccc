"""The parts of a World: plain records folded from the trace."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from sandbox.panels.model.cache import Lists
from sandbox.words.amounts import SECOND, amounts
from scheduler_engine import commands
from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.api.pod_resources import Resource, pod_resource
from scheduler_engine.api.topology import BETA_ZONE, ZONE
from scheduler_engine.framework.extension_points import STAGES
from scheduler_engine.trace import events as ev

BINDING = frozenset(stage.name for stage in STAGES if stage.binding)


@dataclass(slots=True)
class Queued:
    """A pod's place in the scheduling queue: the move that brought it there (``came``), and what caused that.

    ``move``: its last move, which may have changed it in place. ``cycle``: number of the cycle whose step caused it, 0
    = a person's own ``command`` or the clock did. ``about``: key of the object whose change moved it.
    """

    lane: str
    move: ev.PodMoved
    at_us: int
    came: ev.PodMoved
    command: int = 0
    cycle: int = 0
    answer: ev.HintAnswered | None = None
    about: str = ""

    def is_of(self, uid: str) -> bool:
        """Return True unless it is the place of another pod of the same name."""
        return self.move.uid in ("", uid)


@dataclass(slots=True)
class Fault:
    """A fault to come. ``pod``: the pod that it delays until ``until_us``, "" if it has not struck yet."""

    wish: ev.FaultSet
    pod: str = ""
    since_us: int = 0
    until_us: int = 0


@dataclass
class PodState:
    """A pod as the API server and the scheduler's cache know it. ``added``: number of the entry that added it, which
    tells it from deleted pods of its name.
    """

    pod: Pod
    app: int
    added: int = 0
    assumed_on: str = ""
    terminating_since_us: int | None = None

    @property
    def key(self) -> str:
        return self.pod.key

    @property
    def node(self) -> str:
        """Return the node to which the pod is bound or on which it is assumed, "" if there is none."""
        return self.pod.node_name or self.assumed_on

    @property
    def state(self) -> str:
        """Return ``terminating``, ``bound``, ``assumed`` or ``pending``."""
        if self.terminating_since_us is not None:
            return "terminating"
        if self.pod.node_name:
            return "bound"
        return "assumed" if self.assumed_on else "pending"

    @property
    def gone_at_us(self) -> int | None:
        """Return when its grace period ends, in simulated microseconds; None if it is not being deleted."""
        if self.terminating_since_us is None:
            return None
        grace = self.pod.metadata.get("deletionGracePeriodSeconds")
        if grace is None:
            grace = self.pod.spec.get("terminationGracePeriodSeconds", 30)
        return self.terminating_since_us + int(grace) * SECOND

    def left_us(self, clock_us: int) -> int:
        """Return the microseconds until its grace period ends."""
        return max(0, (self.gone_at_us or clock_us) - clock_us)

    @cached_property
    def requests(self) -> dict[str, int]:
        """Resource → millicores, bytes or count."""
        return requests_of(self.pod)


def requests_of(pod: Pod) -> dict[str, int]:
    """Return the pod's effective request, cpu and memory first; resources that it does not request are left out."""
    return amounts_of(pod_resource(pod).request)


def amounts_of(resource: Resource) -> dict[str, int]:
    """Return resource → millicores, bytes or count, without those of which there are none."""
    amounts = {"cpu": resource.milli_cpu, "memory": resource.memory, "ephemeral-storage": resource.ephemeral_storage}
    return {name: number for name, number in {**amounts, **resource.scalar}.items() if number}


@dataclass
class NodeState:
    """A node. ``ghost``: it does not exist, but has pods. ``left_us``: when it was deleted, None = it never existed."""

    node: Node
    ghost: bool = False
    left_us: int | None = None

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def leaving(self) -> bool:
        """Return True if it is being deleted, and still there: finalizers hold it."""
        return self.node.terminating and not self.ghost

    @cached_property
    def allocatable(self) -> dict[str, int]:
        return amounts(self.node.allocatable or self.node.status.get("capacity") or {})

    @cached_property
    def zone(self) -> str:
        labels = self.node.labels
        return labels.get(ZONE) or labels.get(BETA_ZONE) or ""


@dataclass(frozen=True, slots=True)
class StageMark:
    """A finished stage of a cycle. ``entry``: number of its entry."""

    stage: str
    note: str
    next_stage: str
    at_us: int
    command: int
    entry: int = 0


@dataclass
class Cycle:
    """One scheduling attempt with all its tables. ``outcome`` "" while it runs.

    ``entry``, ``last_entry``: numbers of the first and the last entry of its stages. ``replica``: the scheduler that
    runs it; ``before``: number of the previous cycle of that scheduler, 0 = none. ``uid`` is its pod's; ``taken``: when
    the attempt ended, another pod had the name.

    ``waits``: (plugin, simulated microseconds) on Permit: who makes it wait, and until when.
    ``wait_rejected``: why it was rejected before any timeout, as in ``PermitWait``. ``counted``: how many pods of its
    group had a node on Permit. After a failure:
    ``forgotten`` is the node from which the cache took the pod, ``requeued`` its move back to the queue.

    ``configured`` is the configuration at its start, which it keeps.

    ``asked``: the calls of extenders, in order. ``state``: what plugins wrote into the CycleState, in order.
    ``popped``: the pod as it was popped, which may be gone before it is assumed.
    """

    number: int
    pod: str
    attempt: int
    nominated: str
    profile: str
    at_us: int
    command: int
    priority: int = 0
    entry: int = 0
    last_entry: int = 0
    replica: str = ""
    before: int = 0
    stages: list[StageMark] = field(default_factory=list)
    snapshot: ev.SnapshotTaken | None = None
    asked: list[ev.ExtenderAsked] = field(default_factory=list)
    lists: Lists = field(default_factory=Lists)
    pre_filter: ev.PreFilterRan | None = None
    filter: ev.FilterRan | None = None
    fit_error: ev.PodUnschedulable | None = None
    tried: list[ev.PreemptionNodeTried] = field(default_factory=list)
    limited: ev.PreemptionLimited | None = None
    ladder: list[ev.PreemptionCriterionApplied] = field(default_factory=list)
    post_filter: ev.PostFilterRan | None = None
    state: list[ev.CycleStateWritten] = field(default_factory=list)
    pre_score: ev.PreScoreRan | None = None
    score: ev.ScoreRan | None = None
    normalized: ev.NormalizeRan | None = None
    selected: ev.HostSelected | None = None
    plugins: dict[str, ev.PluginsRan] = field(default_factory=dict)
    waits: tuple[tuple[str, int], ...] = ()
    waits_since_us: int = 0
    wait_rejected: str = ""
    counted: ev.PodGroupCounted | None = None
    forgotten: str = ""
    requeued: ev.PodMoved | None = None
    configured: ev.Configured | None = None
    outcome: str = ""
    node: str = ""
    message: str = ""
    ended_us: int = 0
    uid: str = ""
    taken: bool = False
    popped: Pod | None = field(default=None, repr=False, compare=False)

    @property
    def order(self) -> tuple[str, ...]:
        """Return the nodes in the order of the snapshot."""
        return self.lists.nodes

    @property
    def last_finished(self) -> StageMark | None:
        """Return the last finished stage."""
        return self.stages[-1] if self.stages else None

    @property
    def last_stage(self) -> str:
        return self.stages[-1].stage if self.stages else ""

    @property
    def next_stage(self) -> str:
        return self.stages[-1].next_stage if self.stages else "Pop"

    @property
    def last_scheduling(self) -> StageMark | None:
        """Return the last finished stage of its scheduling cycle."""
        return next((mark for mark in reversed(self.stages) if mark.stage not in BINDING), None)

    @property
    def last_command(self) -> int:
        return max([self.command, *(mark.command for mark in self.stages)])

    def is_of(self, uid: str) -> bool:
        """Return True unless the attempt was for another pod of the same name."""
        return self.uid in ("", uid)

    def ranked_by(self, extender: str) -> ev.ExtenderAsked | None:
        """Return the call in which an extender scored nodes, None if there is none."""
        calls = (one for one in self.asked if one.call == "prioritize" and not one.error)
        return next((one for one in calls if one.extender == extender), None)

    def mark(self, stage: str) -> StageMark | None:
        return next((mark for mark in reversed(self.stages) if mark.stage == stage), None)


@dataclass(frozen=True, slots=True)
class Command:
    """``command`` as the trace records it; ``after_cycle``: number of cycles that had begun by then."""

    number: int
    command: commands.Command
    at_us: int
    after_cycle: int

    @property
    def kind(self) -> str:
        return self.command.kind

    @property
    def summary(self) -> str:
        return self.command.summary


@dataclass(slots=True)
class KubeEvent:
    """``uid``: of the object that it regards, "" if there was none. ``first``, ``last``: numbers of trace entries.

    ``node``: that of the pod that it regards, when it was recorded first.
    """

    at_us: int
    event: ev.EventRecorded
    count: int = 1
    uid: str = ""
    first: int = 0
    last: int = 0
    node: str = ""

    def is_of(self, pod: Pod) -> bool:
        """Return True if it regards this pod, not a deleted one of its name."""
        return (self.event.regarding_kind, self.event.regarding, self.uid) == ("Pod", pod.key, pod.uid)


def by_priority(queued: Queued) -> tuple[int, int, str]:
    """Return a sort key: the order of activeQ."""
    move = queued.move
    if move.order_us is None:
        return -move.priority, move.timestamp_us, ""
    return -move.priority, move.order_us, move.pod


def by_time(queued: Queued) -> tuple[int, ...]:
    """Return a sort key: the order in which pods came."""
    return (queued.at_us,)


def by_expiry(queued: Queued) -> tuple[int, ...]:
    """Return a sort key: the order of backoffQ. Backoffs end at whole seconds, so priority often decides."""
    return queued.move.backoff_until_us or 0, -queued.move.priority, queued.move.timestamp_us


def by_error_expiry(queued: Queued) -> tuple[int, ...]:
    """Return a sort key: the order of errorBackoffQ. Equal ones leave in the order in which they came."""
    return (queued.move.backoff_until_us or 0,)


def leaves_us(move: ev.PodMoved, default_us: int) -> int:
    """Return when a pod leaves its backoff queue if nothing takes it out before, in simulated microseconds."""
    times = (move.flushed_us, move.backoff_until_us, default_us)
    return next(at_us for at_us in times if at_us is not None)
