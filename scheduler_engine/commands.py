"""What a person can do to a sandbox. The log of these commands is the truth; everything else follows from it.

Each command is a small frozen dataclass with a JSON form ``{"kind": …, …}`` (``to_json``/``from_json``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, ClassVar, get_args

from scheduler_engine.apiserver.lifecycle import BACKGROUND, POLICIES
from scheduler_engine.errors import Rejected

MAX_ADVANCE_SECONDS = 86_400
MAX_CYCLES = 10_000
AMOUNTS = ("cpu", "memory", "ephemeral_storage", "writable_layer", "inodes", "pids")
"""What a pod or a node's daemons can be said to use."""
MAX_REPLICAS = 1_000
MAX_SCHEDULERS = 5
REPLICA_ACTIONS = ("kill", "restart", "pause", "resume", "partition", "heal", "skew", "rate", "release")
MAX_RATE = 10
"""How many times as fast, or as slow, a replica's clock may run."""


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
class Cordon:
    """Mark a node unschedulable (``on``), or schedulable again."""

    kind: ClassVar[str] = "cordon"
    node: str
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
    """To the end of this pod's cycle, its binding included; without one, the next pod's."""

    kind: ClassVar[str] = "pod"


@dataclass(frozen=True, slots=True)
class Settle:
    """Until nothing can happen at this instant."""

    kind: ClassVar[str] = "settle"


@dataclass(frozen=True, slots=True)
class Advance:
    """Let simulated time pass; everything due on the way happens. ``play``: a tick of playing, which merges with
    the tick before.
    """

    kind: ClassVar[str] = "advance"
    seconds: float
    play: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """Until idle: nothing to schedule, nothing backing off, nothing on its way; at most ``cycles`` scheduling
    cycles.
    """

    kind: ClassVar[str] = "run"
    cycles: int = 1000


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
    """Another KubeletConfiguration for the kubelet of ``node`` (None: the default one)."""

    kind: ClassVar[str] = "kubelet"
    node: str
    configuration: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Evict:
    """Ask the API server to evict a pod; its answer is in the trace."""

    kind: ClassVar[str] = "evict"
    pod: str


@dataclass(frozen=True, slots=True)
class Drain:
    """Cordon a node and evict all but pods of DaemonSets, asking again every 5 s; ``on`` False: stop and uncordon."""

    kind: ClassVar[str] = "drain"
    node: str
    on: bool = True


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
    | Cordon
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
    | NodeCondition
    | Usage
    | KubeletConfigure
    | Evict
    | Drain
    | Replicas
    | Replica
)
COMMANDS: dict[str, type[Command]] = {command.kind: command for command in get_args(Command)}
FIELD_TYPES: dict[str, tuple[type, ...]] = {
    "manifests": (list, tuple),
    "object_kind": (str,),
    "key": (str,),
    "propagation_policy": (str,),
    "node": (str,),
    "on": (bool,),
    "replicas": (int,),
    "seconds": (int, float),
    "play": (bool,),
    "cycles": (int,),
    "configuration": (dict, type(None)),
    "plugin": (str,),
    "point": (str,),
    "answer": (str,),
    "profile": (str,),
    "pod": (str,),
    "type": (str,),
    "status": (str,),
    **dict.fromkeys(AMOUNTS, (str, type(None))),
    "count": (int,),
    "leader_elect": (bool,),
    "lock": (str,),
    **dict.fromkeys(("lease_duration", "renew_deadline", "retry_period"), (str, type(None))),
    "release_on_cancel": (bool,),
    "replica": (str,),
    "action": (str,),
    "rate": (int, float, str),
}


def to_json(command: Command) -> dict[str, Any]:
    """Plain JSON; the opposite of ``from_json``."""
    fields = asdict(command)
    if isinstance(command, Apply):
        fields["manifests"] = list(command.manifests)
    return {"kind": command.kind, **fields}


def from_json(data: Mapping[str, Any]) -> Command:
    """A command from its JSON form. Raises Rejected when it is none, or a number is out of bounds."""
    if data.get("kind") not in COMMANDS:
        raise Rejected(f"unknown command {data.get('kind')!r}")
    command = COMMANDS[data["kind"]]
    known = command.__dataclass_fields__
    fields = {name: value for name, value in data.items() if name != "kind"}
    for name, value in fields.items():
        if name not in known:
            raise Rejected(f"{command.kind}: unknown field {name!r}")
        types = FIELD_TYPES[name]
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            raise Rejected(f"{command.kind}: {name} must be {' or '.join(kind.__name__ for kind in types)}")
    if "manifests" in fields:
        fields["manifests"] = tuple(fields["manifests"])
    try:
        made = command(**fields)
    except TypeError as problem:
        raise Rejected(f"{command.kind}: a field is missing") from problem
    check_bounds(made)
    return made


def check_bounds(command: Command) -> None:
    """Raises Rejected when a number is out of bounds, or a word is none of those that may stand there."""
    if isinstance(command, Advance) and not 0 < command.seconds <= MAX_ADVANCE_SECONDS:
        raise Rejected(f"seconds: must be more than 0 and at most {MAX_ADVANCE_SECONDS}")
    if isinstance(command, Fault) and not 0 <= command.seconds <= MAX_ADVANCE_SECONDS:
        raise Rejected(f"seconds: must be from 0 to {MAX_ADVANCE_SECONDS}")
    if isinstance(command, Scale) and not 0 <= command.replicas <= MAX_REPLICAS:
        raise Rejected(f"replicas: must be from 0 to {MAX_REPLICAS}")
    if isinstance(command, Delete) and command.propagation_policy not in POLICIES:
        raise Rejected(f"propagation_policy: must be {', '.join(POLICIES)}")
    if isinstance(command, Replicas) and not 1 <= command.count <= MAX_SCHEDULERS:
        raise Rejected(f"count: must be from 1 to {MAX_SCHEDULERS}")
    if isinstance(command, Replica):
        _check_replica(command)
    if isinstance(command, Run) and not 0 < command.cycles <= MAX_CYCLES:
        raise Rejected(f"cycles: must be from 1 to {MAX_CYCLES}")


def _check_replica(command: Replica) -> None:
    if command.action not in REPLICA_ACTIONS:
        raise Rejected(f"action: must be {', '.join(REPLICA_ACTIONS)}")
    if command.action == "skew" and not 0 < abs(command.seconds) <= MAX_ADVANCE_SECONDS:
        raise Rejected(f"seconds: must be from -{MAX_ADVANCE_SECONDS} to {MAX_ADVANCE_SECONDS}, and not 0")
    if command.action == "rate":
        rate_of(command)


def rate_of(command: Replica) -> Fraction:
    """The rate of a clock: a number, or a text such as 1.1 or 1/3. Raises Rejected."""
    written = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,9})?)(?:/([0-9]{1,6}))?", str(command.rate))
    if written is None or (written[2] is not None and int(written[2]) == 0):
        raise Rejected("rate: must be a number or a fraction such as 1/2")
    rate = Fraction(written[1]) / int(written[2] or 1)
    if not Fraction(1, MAX_RATE) <= rate <= MAX_RATE:
        raise Rejected(f"rate: must be from 1/{MAX_RATE} to {MAX_RATE}")
    return rate


def _named(manifest: Any) -> str:
    """Kind and name of a manifest that has not been checked yet."""
    data = manifest if isinstance(manifest, Mapping) else {}
    metadata = data.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    return f"{data.get('kind', '?')} {name or '?'}"


def summary(command: Command) -> str:
    """One line for people: what was done."""
    if isinstance(command, Apply):
        named = [_named(item) for item in command.manifests]
        listed = ", ".join(named[:3]) + (f" and {len(named) - 3} more" if len(named) > 3 else "")
        return f"apply {listed}"
    if isinstance(command, Delete):
        how = "" if command.propagation_policy == BACKGROUND else f" ({command.propagation_policy})"
        return f"delete {command.object_kind} {command.key}{how}"
    if isinstance(command, Cordon):
        return f"{'cordon' if command.on else 'uncordon'} {command.node}"
    if isinstance(command, Scale):
        return f"scale {command.object_kind} {command.key} to {command.replicas}"
    if isinstance(command, RolloutRestart):
        return f"restart {command.object_kind} {command.key}"
    if isinstance(command, Advance):
        return "play" if command.play else f"advance {command.seconds:g} s"
    if isinstance(command, Fault):
        return f"fault: {command.plugin} at {command.point} answers {command.answer}"
    if isinstance(command, Allow):
        return f"allow {command.pod}"
    if isinstance(command, (NodeCondition, Usage, KubeletConfigure, Evict, Drain)):
        return _cluster_summary(command)
    if isinstance(command, (Replicas, Replica)):
        return _replica_summary(command)
    titles = {
        "configure": "configure the scheduler",
        "stage": "next stage",
        "pod": "next pod",
        "settle": "settle",
        "run": "run until idle",
    }
    return titles[command.kind]


def _cluster_summary(command: NodeCondition | Usage | KubeletConfigure | Evict | Drain) -> str:
    if isinstance(command, NodeCondition):
        return f"{command.node}: {command.type} is {command.status}"
    if isinstance(command, Usage):
        given = ((name.replace("_", " "), getattr(command, name)) for name in AMOUNTS)
        said = ", ".join(f"{name} {amount}" for name, amount in given if amount is not None)
        return f"{command.pod or f'the system on {command.node}'} uses {said or 'as before'}"
    if isinstance(command, KubeletConfigure):
        return f"configure the kubelet on {command.node}"
    if isinstance(command, Evict):
        return f"evict {command.pod}"
    return f"drain {command.node}" if command.on else f"stop draining {command.node}"


def _replica_summary(command: Replicas | Replica) -> str:
    if isinstance(command, Replica):
        amounts = {"skew": f" by {command.seconds:g} s", "rate": f" {command.rate}"}
        return f"{command.replica}: {command.action}{amounts.get(command.action, '')}"
    counted = "1 replica" if command.count == 1 else f"{command.count} replicas"
    how = f"elect a leader with {command.lock}" if command.leader_elect else "elect no leader"
    return f"{counted} of the scheduler, which {how}"
