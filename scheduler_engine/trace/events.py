"""The trace: frozen, past-tense events that name things by key and hold numbers, never live objects.

Every event becomes one ``Entry`` (number, simulated time in microseconds, number of the command that set it off).
Pods are named ``namespace/name``, nodes by name. A *verdict* is ``(plugin, code, reasons)`` with ``code`` one of the
names of :class:`scheduler_engine.framework.status.Code`. Tables stay tuples, so that one stage is one event however
many nodes it looked at. ``trace/text.py`` gives each event one line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Verdict = tuple[str, str, tuple[str, ...]]
"""(plugin, code, reasons)"""


class Event:
    """Base of all trace events; the class name is the event's type in JSON."""

    __slots__ = ()


# --- commands and the API server ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CommandGiven(Event):
    """A person (or a script) did something. ``command`` is its JSON form without manifests; ``summary`` one line."""

    number: int
    kind: str
    summary: str


@dataclass(frozen=True, slots=True)
class Configured(Event):
    """The scheduler's configuration from now on: at the start, and when it is changed.

    ``configuration`` is the defaulted KubeSchedulerConfiguration; ``profiles`` are (scheduler name, ((extension point,
    ((plugin, weight), …)), …)): the effective plugins in running order, weight 0 everywhere but at ``score``.
    ``queue_rules``: ``v1.34`` or ``design-doc``.
    """

    configuration: dict[str, Any]
    profiles: tuple[tuple[str, tuple[tuple[str, tuple[tuple[str, int], ...]], ...]], ...]
    queue_rules: str = "v1.34"


@dataclass(frozen=True, slots=True)
class ObjectAdded(Event):
    """The API server stored a new object; ``manifest`` is plain JSON (never mutated)."""

    kind: str
    key: str
    manifest: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ObjectModified(Event):
    kind: str
    key: str
    manifest: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ObjectDeleted(Event):
    kind: str
    key: str


@dataclass(frozen=True, slots=True)
class EventRecorded(Event):
    """A Kubernetes Event object: what ``kubectl describe`` would list. ``type`` is Normal or Warning."""

    regarding_kind: str
    regarding: str
    type: str
    reason: str
    message: str


# --- queue ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PodMoved(Event):
    """A pod entered, left or changed queues.

    ``source``/``target`` are ``activeQ``, ``backoffQ``, ``errorBackoffQ``, ``unschedulablePods``, ``gated``,
    ``inFlight`` or ``""`` (outside). ``cause`` is Kubernetes' label (``PodAdd``, ``NodeAdd``,
    ``ScheduleAttemptFailure``, ``BackoffComplete``, ``UnschedulableTimeout``, ``PopFromBackoffQ``, ``Pop``,
    ``Scheduled``, ``PodDelete``, ``PodUpdate`` …). ``plugin``/``hint`` say which plugin's queueing hint decided and
    how (``Queue``/``QueueSkip``), when one was asked. The rest is the pod's QueuedPodInfo after the move;
    ``timestamp_us`` and ``backoff_until_us`` are simulated microseconds. ``uid`` is the pod's: one of the same name may
    be queued while the attempt of a deleted one is still under way.
    """

    pod: str
    source: str
    target: str
    cause: str
    plugin: str = ""
    hint: str = ""
    priority: int = 0
    attempts: int = 0
    timestamp_us: int = 0
    backoff_until_us: int | None = None
    unschedulable_plugins: tuple[str, ...] = ()
    pending_plugins: tuple[str, ...] = ()
    gating_plugin: str = ""
    uid: str = ""


@dataclass(frozen=True, slots=True)
class MoveRequested(Event):
    """``MoveAllToActiveOrBackoffQueue`` was called for ``cluster_event`` (e.g. ``NodeAdd``); ``in_flight`` pods
    noted it.
    """

    cluster_event: str
    object_key: str
    scheduling_cycle: int
    in_flight: tuple[str, ...]
    moved: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HintAnswered(Event):
    """A plugin was asked whether ``cluster_event`` may help ``pod``; ``verdict`` is Queue or QueueSkip."""

    pod: str
    plugin: str
    cluster_event: str
    verdict: str
    why: str


@dataclass(frozen=True, slots=True)
class NominationChanged(Event):
    """The nominator now holds ``pod`` for ``node`` ("" = for none)."""

    pod: str
    node: str


# --- cache ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NodeTreeChanged(Event):
    """``zones`` is ((zone key, (node, …)), …) in zone order; ``order`` the round-robin list."""

    zones: tuple[tuple[str, tuple[str, ...]], ...]
    order: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CachePodChanged(Event):
    """``what`` is assumed, confirmed, forgotten, expired, added, updated or removed."""

    pod: str
    node: str
    what: str
    uid: str = ""


@dataclass(frozen=True, slots=True)
class CacheNodeChanged(Event):
    """``what`` is added, updated, removed or ghost (left the tree, pods still there)."""

    node: str
    what: str
    generation: int


@dataclass(frozen=True, slots=True)
class SnapshotTaken(Event):
    """``UpdateSnapshot`` ran at a cycle's start.

    ``cloned`` are the nodes copied, ``stopped_at`` the first unchanged one (""= the walk reached the tail), ``recency``
    the cache's list ((node, generation), …) from the head, ``rebuilt`` the lists built anew
    (nodeInfoList, havePodsWithAffinityNodeInfoList, havePodsWithRequiredAntiAffinityNodeInfoList, usedPVCSet),
    ``node_order`` the snapshot's list, None when unchanged since the previous snapshot.
    """

    cycle: int
    generation: int
    cloned: tuple[str, ...]
    stopped_at: str
    rebuilt: tuple[str, ...]
    recency: tuple[tuple[str, int], ...]
    node_order: tuple[str, ...] | None


# --- the scheduling cycle --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CycleStarted(Event):
    """A pod was popped. ``cycle`` numbers scheduling cycles from 1."""

    cycle: int
    pod: str
    profile: str
    attempt: int
    nominated_node: str


@dataclass(frozen=True, slots=True)
class StageFinished(Event):
    """A stage of THE table ran. ``note`` is the few words under the ribbon; ``next_stage`` "" = the cycle is over.

    Stages that a cycle leaves out (PostFilter when nodes fit, PreScore and Score with one feasible node) have no event.
    """

    cycle: int
    pod: str
    stage: str
    note: str
    next_stage: str


@dataclass(frozen=True, slots=True)
class PreFilterRan(Event):
    """``verdicts`` of every PreFilter plugin asked, in order; ``node_names`` the nodes the search was narrowed to."""

    cycle: int
    verdicts: tuple[Verdict, ...]
    node_names: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class FilterRan(Event):
    """One whole Filter stage.

    ``plugins`` are the Filter plugins in running order, ``skipped`` those PreFilter skipped. ``rows`` hold, in visiting
    order,
    ``(node, plugin, code, reasons, with_nominated)``: plugin "" and code Success = passes; else the first plugin
    that failed. ``with_nominated`` lists the nominated pods that were added for the first of the two runs.
    ``start_index`` … ``next_start_index`` are indices into the snapshot's list; ``feasible`` in the order found.
    ``also``: per node that failed, what the filters after the first failing one would have said, each asked alone (the
    real scheduler does not ask).
    """

    cycle: int
    plugins: tuple[str, ...]
    skipped: tuple[str, ...]
    rows: tuple[tuple[str, str, str, tuple[str, ...], tuple[str, ...]], ...]
    feasible: tuple[str, ...]
    all_nodes: int
    searched: int
    nodes_to_find: int
    start_index: int
    next_start_index: int
    nominated_first: str
    also: tuple[tuple[str, tuple[Verdict, ...]], ...] = ()
    feasible_count: int = 0


@dataclass(frozen=True, slots=True)
class PodUnschedulable(Event):
    """The FitError: nothing was feasible. ``message`` is the text as after Filter (no PostFilter part yet)."""

    cycle: int
    pod: str
    message: str
    plugins: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PreemptionNodeTried(Event):
    """The dry run on one node.

    ``steps`` are (action, pod, ok, reason): action ``remove`` (a lower-priority pod out), ``fits`` (the filters after
    all are out; pod ""), ``reprieve`` (back in: ok = kept, not ok = victim). ``violates`` = the pod's PDB would be
    violated (those are reprieved first). ``victims`` most important first; ``rejected`` is the reason when the node is
    no candidate.
    """

    cycle: int
    node: str
    steps: tuple[tuple[str, str, bool, str], ...]
    violating: tuple[str, ...]
    victims: tuple[str, ...]
    pdb_violations: int
    rejected: str


@dataclass(frozen=True, slots=True)
class PreemptionCriterionApplied(Event):
    """One rung of the ladder: ``values`` ((node, value as text), …); ``survivors`` go on, ``fallen`` are out."""

    cycle: int
    criterion: str
    values: tuple[tuple[str, str], ...]
    survivors: tuple[str, ...]
    fallen: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PostFilterRan(Event):
    """``verdicts`` of the PostFilter plugins asked. ``nominated_node`` "" = none; ``victims`` are being deleted."""

    cycle: int
    verdicts: tuple[Verdict, ...]
    nominated_node: str
    victims: tuple[str, ...]
    best_nodes: tuple[str, ...]
    cleared_nominations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PreScoreRan(Event):
    cycle: int
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True)
class ScoreRan(Event):
    """``raw``: plugin → ((node, raw), …), nodes in feasible order; ``weights``: plugin → weight, in running order."""

    cycle: int
    weights: tuple[tuple[str, int], ...]
    raw: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]


@dataclass(frozen=True, slots=True)
class NormalizeRan(Event):
    """As ``ScoreRan``: ``normalized`` (0–100 each) and ``weighted``; ``totals`` per node."""

    cycle: int
    normalized: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
    weighted: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
    totals: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class HostSelected(Event):
    """``how``: ``highest`` (one top total), ``draw`` (seeded choice among ``ties``), ``only`` (one feasible node)."""

    cycle: int
    pod: str
    node: str
    how: str
    ties: tuple[str, ...]
    total: int | None


@dataclass(frozen=True, slots=True)
class PluginsRan(Event):
    """Reserve, Unreserve, Permit, PreBind, Bind or PostBind plugins ran for ``node``."""

    cycle: int
    extension_point: str
    node: str
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True)
class PermitWait(Event):
    """Permit made a pod wait: ``waits`` are (plugin, simulated microseconds at which it gives up); the first to give up
    rejects the pod. Empty: nobody makes it wait any more, as it was allowed or deleted.
    """

    cycle: int
    pod: str
    waits: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class FaultSet(Event):
    """The next call of ``plugin`` at ``point`` (an extension point as in a configuration) will answer ``answer``.

    ``number`` is the command that wished for it; ``duration_us`` a wait's length. Source: ``framework/faults.py``.
    """

    number: int
    profile: str
    plugin: str
    point: str
    answer: str
    duration_us: int


@dataclass(frozen=True, slots=True)
class FaultStruck(Event):
    """Fault ``number`` met ``pod``. ``until_us``: it holds the pod up until then; None: it is over and done with."""

    number: int
    pod: str
    until_us: int | None


@dataclass(frozen=True, slots=True)
class CycleFinished(Event):
    """``outcome``: bound, unschedulable, nominated (unschedulable, but victims are on their way), error, skipped
    or deleted.
    """

    cycle: int
    pod: str
    outcome: str
    node: str
    message: str


# --- nodes in trouble, evictions -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TaintEvictionPlanned(Event):
    """A NoExecute taint drives ``pod`` from ``node`` at ``at_us`` (simulated microseconds); None: not any more."""

    pod: str
    node: str
    at_us: int | None


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
    """A kubelet freed ``freed`` bytes before it evicts: ``what`` is ``dead containers`` or ``unused images``."""

    node: str
    what: str
    names: tuple[str, ...]
    freed: int


@dataclass(frozen=True, slots=True)
class EvictionRanked(Event):
    """The order in which a kubelet would evict to reclaim ``resource``, as ``signal`` is below ``threshold``.

    ``rows``: (pod, exceeds its request, priority, usage, request, usage over request, QoS class, why it stands here).
    """

    node: str
    signal: str
    resource: str
    threshold: str
    rows: tuple[tuple[str, bool, int, int, int, int, str, str], ...]


@dataclass(frozen=True, slots=True)
class PodEvicted(Event):
    """A kubelet evicts ``pod``, which has ``grace_seconds`` to end; its phase becomes Failed."""

    node: str
    pod: str
    signal: str
    grace_seconds: int
    message: str


@dataclass(frozen=True, slots=True)
class EvictionAnswered(Event):
    """The API server's answer to a request to evict ``pod``.

    ``code``: 200, 429 or 500. ``cause`` says more about a refusal, ``budgets`` are the budgets that select the pod,
    ``asked_by`` is the node that is being drained, "" for a single request.
    """

    pod: str
    code: int
    message: str
    cause: str
    budgets: tuple[str, ...]
    asked_by: str


@dataclass(frozen=True, slots=True)
class DrainChanged(Event):
    """A drain of ``node``: ``what`` is started, waiting (``pods`` refused; asked again at ``next_us``), evicted (all
    are on their way out), finished or stopped. ``kept``: pods of DaemonSets, which stay.
    """

    node: str
    what: str
    pods: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    next_us: int | None = None


# --- replicas of the scheduler and their election ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ReplicasConfigured(Event):
    """The replicas of the scheduler from now on; those before are gone. Durations are microseconds.

    ``lock`` is leases, endpoints or configmaps, ``lock_key`` the key of the object that holds the record; without
    ``leader_elect`` both are "" and every replica schedules.
    """

    replicas: tuple[str, ...]
    leader_elect: bool
    lock: str
    lock_key: str
    lease_duration_us: int
    renew_deadline_us: int
    retry_period_us: int
    release_on_cancel: bool


@dataclass(frozen=True, slots=True)
class ReplicaChanged(Event):
    """What a replica is from now on. ``state``: acquiring, leading or stopped; ``why`` says what happened.

    ``own_us`` is what its clock shows at this moment, ``rate`` how fast that clock runs (a fraction as text, "1").
    ``schedules``: it has a scheduler that works (a leader has; one that stands still or is cut off still has one).
    """

    replica: str
    state: str
    why: str
    schedules: bool
    paused: bool
    reachable: bool
    own_us: int
    rate: str


@dataclass(frozen=True, slots=True)
class ElectorTried(Event):
    """A replica tried to take, renew or release the lock.

    ``outcome``: created, acquired, renewed, released, held (by somebody whose lease it believes to be valid) or
    failed; ``message`` says why the last two. ``holder`` is who it believes leads from now on, "" = nobody, and
    ``valid_until_us`` when that lease ends in its belief, in simulated microseconds (None: it has seen no lease).
    """

    replica: str
    outcome: str
    message: str
    holder: str
    valid_until_us: int | None


@dataclass(frozen=True, slots=True)
class LockChanged(Event):
    """The record in the lock from now on; times are what the writer's clock showed, in microseconds."""

    writer: str
    holder: str
    lease_duration_seconds: int
    acquire_time_us: int | None
    renew_time_us: int | None
    leader_transitions: int


@dataclass(frozen=True, slots=True)
class Entry:
    """An event in its place. ``at_us``: simulated microseconds; ``command``: number of the command (1-based).

    ``replica``: the scheduler replica that did it; "" = somebody else, or the one scheduler of a sandbox without
    replicas.
    """

    n: int
    at_us: int
    command: int
    event: Event
    replica: str = ""


@dataclass(slots=True)
class Recorder:
    """Collects entries. Copying shares the entries, which are immutable.

    ``full`` says whether tables of verdicts and scores are wanted (lean traces leave ``rows``, ``raw``, ``normalized``
    and
    ``weighted`` empty).
    """

    full: bool = True
    entries: list[Entry] = field(default_factory=list)
    now_us: int = 0
    command: int = 0
    replica: str = ""

    def add(self, event: Event) -> None:
        """Append ``event`` at the current simulated time."""
        self.entries.append(Entry(len(self.entries) + 1, self.now_us, self.command, event, self.replica))

    def doing(self, replica: str) -> Doing:
        """``with recorder.doing(name)``: what is recorded inside was done by ``replica``."""
        return Doing(self, replica)

    def __deepcopy__(self, memo: dict[int, object]) -> Recorder:
        copy = Recorder(self.full, list(self.entries), self.now_us, self.command, self.replica)
        memo[id(self)] = copy
        return copy


@dataclass(slots=True)
class Doing:
    """Entered around every stage and every watch event, and so no generator."""

    recorder: Recorder
    replica: str
    before: str = ""

    def __enter__(self) -> None:
        self.before, self.recorder.replica = self.recorder.replica, self.replica

    def __exit__(self, *_: object) -> None:
        self.recorder.replica = self.before
