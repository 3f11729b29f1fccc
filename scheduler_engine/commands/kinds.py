"""The commands: what a person can do to a sandbox. Each is a small frozen dataclass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, get_args

from scheduler_engine.apiserver.lifecycle import BACKGROUND

AMOUNTS = ("cpu", "memory", "ephemeral_storage", "writable_layer", "inodes", "pids")
"""What a pod or a node's daemons can be said to use."""
SUBRESOURCES = ("", "resize")
DRAIN_FLAGS = {
    "force": "--force",
    "ignore_daemonsets": "--ignore-daemonsets",
    "delete_emptydir_data": "--delete-emptydir-data",
}
"""Field of a drain → kubectl's name of the flag."""
REPLICA_ACTIONS = ("kill", "restart", "pause", "resume", "partition", "heal", "skew", "rate", "release")


@dataclass(frozen=True, slots=True)
class Apply:
    """Create or update objects, all or nothing, in this order. ``manifests`` as a person wrote them."""

    kind: ClassVar[str] = "apply"
    manifests: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete an object; a pod on a node gets its grace period.

    ``propagation_policy``, what becomes of what it owns: Background, Foreground or Orphan.
    """

    kind: ClassVar[str] = "delete"
    object_kind: str
    key: str
    propagation_policy: str = BACKGROUND


@dataclass(frozen=True, slots=True)
class Patch:
    """``kubectl patch --type=merge``: ``changes`` are laid over an object as a JSON merge patch (RFC 7396).

    ``subresource`` "resize" changes the requests and limits of a pod, which nothing else may.
    """

    kind: ClassVar[str] = "patch"
    object_kind: str
    key: str
    changes: dict[str, Any]
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class Replace:
    """``kubectl replace --force``: the object goes at once, without any grace, and ``manifest`` takes its place."""

    kind: ClassVar[str] = "replace"
    object_kind: str
    key: str
    manifest: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Cordon:
    """Mark a node unschedulable (``on``), or schedulable again."""

    kind: ClassVar[str] = "cordon"
    node: str
    on: bool = True


@dataclass(frozen=True, slots=True)
class Taint:
    """Give a node a taint, in place of one with the same key and effect; ``on`` False: take that one away."""

    kind: ClassVar[str] = "taint"
    node: str
    key: str
    effect: str
    value: str = ""
    on: bool = True


@dataclass(frozen=True, slots=True)
class Scale:
    """Give a workload another number of replicas."""

    kind: ClassVar[str] = "scale"
    object_kind: str
    key: str
    replicas: int


@dataclass(frozen=True, slots=True)
class RolloutRestart:
    """Replace the pods of a workload by new ones of the same template, as ``kubectl rollout restart`` does."""

    kind: ClassVar[str] = "rollout-restart"
    object_kind: str
    key: str


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of the cycle under way; without one, Pop."""

    kind: ClassVar[str] = "stage"


@dataclass(frozen=True, slots=True)
class PodCycle:
    """To the end of this pod's cycle, its binding included; without one, the next pod's.

    ``until``, here and below: it ends at the first rest at which it has written so many trace entries; 0: unbounded.
    """

    kind: ClassVar[str] = "pod"
    until: int = 0


@dataclass(frozen=True, slots=True)
class Settle:
    """Until nothing can happen at this instant."""

    kind: ClassVar[str] = "settle"
    until: int = 0


@dataclass(frozen=True, slots=True)
class Advance:
    """Let simulated time pass; everything due on the way happens. ``play``: a tick of playing, which merges with
    the tick before.
    """

    kind: ClassVar[str] = "advance"
    seconds: float
    play: bool = False
    until: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """Until idle: nothing to schedule, nothing backing off, nothing on its way within a day; at most ``cycles``
    scheduling cycles.
    """

    kind: ClassVar[str] = "run"
    cycles: int = 1000
    until: int = 0


@dataclass(frozen=True, slots=True)
class Configure:
    """Another KubeSchedulerConfiguration (None: the default one), effective from the next cycle."""

    kind: ClassVar[str] = "configure"
    configuration: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """The next call of ``plugin`` at ``point`` fails, is denied or waits (see ``framework/faults.py``).

    ``seconds`` is a wait's length; ``profile`` a scheduler name.
    """

    kind: ClassVar[str] = "fault"
    plugin: str
    point: str
    answer: str = "error"
    seconds: float = 0
    profile: str = "default-scheduler"


@dataclass(frozen=True, slots=True)
class Allow:
    """A pod that waits on Permit is allowed."""

    kind: ClassVar[str] = "allow"
    pod: str


@dataclass(frozen=True, slots=True)
class AssumedTtl:
    """An assumed pod expires in the cache so many ``seconds`` after its binding has finished; 0 = never, the default.

    Kubernetes v1.34 has a constant there, ``durationToExpireAssumedPod`` = 0.
    """

    kind: ClassVar[str] = "assumed-ttl"
    seconds: float


@dataclass(frozen=True, slots=True)
class Admission:
    """Switch an admission plugin of the API server on, or off: LimitPodHardAntiAffinityTopology.

    Objects that are there already stay.
    """

    kind: ClassVar[str] = "admission"
    plugin: str
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class NodeCondition:
    """Give a node's condition ``type`` (Ready, MemoryPressure …) a ``status``: True, False or Unknown."""

    kind: ClassVar[str] = "node-condition"
    node: str
    type: str
    status: str


@dataclass(frozen=True, slots=True)
class Usage:
    """What ``pod`` uses from now on, or the system daemons of ``node``: quantities; None leaves an amount as it is.

    ``ephemeral_storage``: local volumes and logs.
    """

    kind: ClassVar[str] = "usage"
    pod: str = ""
    node: str = ""
    cpu: str | None = None
    memory: str | None = None
    ephemeral_storage: str | None = None
    writable_layer: str | None = None
    inodes: str | None = None
    pids: str | None = None


@dataclass(frozen=True, slots=True)
class KubeletConfigure:
    """Another KubeletConfiguration for the kubelet of ``node`` (None: the default one).

    ``hard_eviction_grace``: seconds that a pod gets when a hard threshold is met, None = as in v1.34.1.
    """

    kind: ClassVar[str] = "kubelet"
    node: str
    configuration: dict[str, Any] | None = None
    hard_eviction_grace: int | None = None


@dataclass(frozen=True, slots=True)
class Evict:
    """Ask the API server to evict a pod; its answer is in the trace."""

    kind: ClassVar[str] = "evict"
    pod: str


@dataclass(frozen=True, slots=True)
class Drain:
    """``kubectl drain`` with three of its flags: cordon a node and evict its pods; ``on`` False: stop and uncordon.

    ``force``: also pods without a controller. ``ignore_daemonsets``: leave pods of DaemonSets there, which else forbid
    a drain. ``delete_emptydir_data``: also pods with an emptyDir volume. A drain that fails is an outcome in the trace.
    """

    kind: ClassVar[str] = "drain"
    node: str
    on: bool = True
    force: bool = False
    ignore_daemonsets: bool = False
    delete_emptydir_data: bool = False


@dataclass(frozen=True, slots=True)
class Replicas:
    """So many replicas of the scheduler, kube-scheduler-1 and on, in place of those there are.

    With ``leader_elect`` they compete for a ``lock``: leases, endpoints or configmaps; without, all of them schedule.
    Durations are Go's texts; None: what the scheduler's configuration says.
    """

    kind: ClassVar[str] = "replicas"
    count: int
    leader_elect: bool = True
    lock: str = "leases"
    lease_duration: str | None = None
    renew_deadline: str | None = None
    retry_period: str | None = None
    release_on_cancel: bool = True


@dataclass(frozen=True, slots=True)
class Replica:
    """Something happens to a replica of the scheduler: one of ``REPLICA_ACTIONS``.

    ``seconds``: how far skew sets its clock forward, or back; ``rate``: how many times as fast as the true one it runs.
    """

    kind: ClassVar[str] = "replica"
    replica: str
    action: str
    seconds: float = 0
    rate: float | str = 1


Command = (
    Apply
    | Delete
    | Patch
    | Replace
    | Cordon
    | Taint
    | Scale
    | RolloutRestart
    | Stage
    | PodCycle
    | Settle
    | Advance
    | Run
    | Configure
    | Fault
    | Allow
    | AssumedTtl
    | Admission
    | NodeCondition
    | Usage
    | KubeletConfigure
    | Evict
    | Drain
    | Replicas
    | Replica
)
COMMANDS: dict[str, type[Command]] = {command.kind: command for command in get_args(Command)}
