"""The commands of a sandbox. Each class is one row of the table (see ``table``)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from typing import Annotated, Any

from scheduler_engine.api.validation.problems import invalid
from scheduler_engine.apiserver.admission import SWITCHED
from scheduler_engine.apiserver.lifecycle import BACKGROUND, POLICIES
from scheduler_engine.commands.table import OBJECTS, REMOVAL, Command, Spelled, command, wrong_field
from scheduler_engine.errors import Rejected
from scheduler_engine.framework.faults import ANSWERS
from scheduler_engine.shapes import Anything, Flag, ListOf, MapOf, Number, Text

MAX_ADVANCE_SECONDS = 86_400
MAX_CYCLES = 10_000
MAX_REPLICAS = 1_000
MAX_SCHEDULERS = 5
MAX_RATE = 10
"""The largest factor by which a replica's clock may run fast or slow."""
AMOUNTS = ("cpu", "memory", "ephemeral_storage", "writable_layer", "inodes", "pids")
"""The amounts of usage that can be set for a pod or a node's daemons."""
DRAIN_FLAGS = {
    "force": "--force",
    "ignore_daemonsets": "--ignore-daemonsets",
    "delete_emptydir_data": "--delete-emptydir-data",
}
"""Field of a drain → kubectl's name of the flag."""
REPLICA_ACTIONS = ("kill", "restart", "pause", "resume", "partition", "heal", "skew", "rate", "release")
MOST_NAMES = 3
LONGEST_VALUE = 40

Kind = Annotated[str, Spelled("kind")]
Seconds = Annotated[float, Number(least=0, most=MAX_ADVANCE_SECONDS)]
Until = Annotated[int, Number("Stop after this many trace entries. 0: run to the end.", whole=True, least=0)]


def _some(names: list[str], count: int) -> str:
    """Return the first of ``count`` names, and the number of others."""
    more = f" and {count - MOST_NAMES} more" if count > MOST_NAMES else ""
    return f"{', '.join(names[:MOST_NAMES])}{more}"


@command("apply", "apply {0.named}", charge=OBJECTS, traced=True)
class Apply(Command):
    """Create or update the objects in ``manifests``, in this order. If one is refused, nothing changes."""

    manifests: Annotated[tuple[dict[str, Any], ...], ListOf(MapOf(Anything(), "A manifest, as for kubectl apply."))]

    @property
    def named(self) -> str:
        """Return kinds and names from the manifests, which may be invalid."""
        return _some([_named(item) for item in self.manifests[:MOST_NAMES]], len(self.manifests))


def _named(manifest: Any) -> str:
    data = manifest if isinstance(manifest, Mapping) else {}
    metadata = data.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    return f"{data.get('kind', '?')} {name or '?'}"


@command("delete", "delete {0.object_kind} {0.key}{0.how}", charge=REMOVAL)
class Delete(Command):
    """Delete an object. A pod on a node gets its grace period.

    ``propagation_policy``, the handling of objects it owns: Background, Foreground or Orphan.
    """

    object_kind: Kind
    key: str
    propagation_policy: Annotated[str, Text(values=tuple(POLICIES))] = BACKGROUND

    @property
    def how(self) -> str:
        return "" if self.propagation_policy == BACKGROUND else f" ({self.propagation_policy})"


@command("patch", "{0.verb} {0.object_kind} {0.key}: {0.paths}")
class Patch(Command):
    """``kubectl patch --type=merge``: merge ``changes`` into an object as a JSON merge patch (RFC 7396).

    ``subresource`` "resize" changes the requests and limits of a pod, which no other command may.
    """

    object_kind: Kind
    key: str
    changes: dict[str, Any]
    subresource: Annotated[str, Text(values=("", "resize"))] = ""

    @property
    def verb(self) -> str:
        return self.subresource or "edit"

    @property
    def paths(self) -> str:
        paths = [*_paths(self.changes, "")] or ["nothing"]
        return _some(paths, len(paths))


def _paths(changes: Mapping[str, Any], start: str) -> Iterator[str]:
    """Yield what a patch changes: ``spec.replicas=3``, ``no metadata.labels.app``, ``spec.taints``."""
    for name, value in changes.items():
        path = f"{start}{name}"
        if isinstance(value, Mapping) and value:
            yield from _paths(value, f"{path}.")
        elif value is None:
            yield f"no {path}"
        elif isinstance(value, (str, int, float)) and len(text := str(value)) <= LONGEST_VALUE:
            yield f"{path}={text}"
        else:
            yield path


@command("replace", "replace {0.object_kind} {0.key}", charge=REMOVAL)
class Replace(Command):
    """``kubectl replace --force``: delete the object without a grace period, and create ``manifest``."""

    object_kind: Kind
    key: str
    manifest: dict[str, Any]


@command("cordon", "{0.verb} {0.node}")
class Cordon(Command):
    """Cordon a node; if ``on`` is false, uncordon it."""

    node: str
    on: bool = True

    @property
    def verb(self) -> str:
        return "cordon" if self.on else "uncordon"


@command("taint", "{0.verb} {0.node} {0.taint}")
class Taint(Command):
    """Add a taint to a node, or replace the one with the same key and effect; if ``on`` is false, remove it."""

    node: str
    key: str
    effect: str
    value: str = ""
    on: bool = True

    @property
    def verb(self) -> str:
        return "taint" if self.on else "untaint"

    @property
    def taint(self) -> str:
        return f"{self.key}{f'={self.value}' if self.value and self.on else ''}:{self.effect}"


@command("scale", "scale {0.object_kind} {0.key} to {0.replicas}")
class Scale(Command):
    """Set the number of replicas of a workload."""

    object_kind: Kind
    key: str
    replicas: Annotated[int, Number(whole=True, least=0, most=MAX_REPLICAS)]

    def check(self) -> None:
        if self.replicas < 0:
            raise Rejected([invalid("spec.replicas", self.replicas, "must be greater than or equal to 0")])


@command("rollout-restart", "restart {0.object_kind} {0.key}")
class RolloutRestart(Command):
    """``kubectl rollout restart``: replace the pods of a workload by new ones with the same template."""

    object_kind: Kind
    key: str


@command("stage", "next stage", steps=True)
class Stage(Command):
    """Run the next stage of the current cycle, or Pop if there is no cycle."""


@command("pod", "next pod", steps=True)
class PodCycle(Command):
    """Run to the end of the current pod's cycle, or of the next pod's, including its binding.

    ``until``, here and below: stop at the first rest with this many trace entries written; 0: run to the end.
    """

    until: Until = 0


@command("settle", "settle", steps=True)
class Settle(Command):
    """Run until nothing can happen at this instant."""

    until: Until = 0


@command("advance", "{0.passing}", steps=True)
class Advance(Command):
    """Let simulated time pass, with all that is due in it. ``play``: merge it with the previous tick of playing."""

    seconds: Annotated[float, Number("Simulated seconds.", above=0, most=MAX_ADVANCE_SECONDS)]
    play: bool = False
    until: Until = 0

    @property
    def passing(self) -> str:
        return "play" if self.play else f"advance {self.seconds:g} s"

    def check(self) -> None:
        if not (0 < self.seconds <= MAX_ADVANCE_SECONDS and time_us(self) > 0):
            raise Rejected([wrong_field("seconds", f"must be at least 0.000001 and at most {MAX_ADVANCE_SECONDS}")])

    def recorded(self) -> Command:
        """Return a tick of playing without its seconds, because later ticks may merge with it."""
        return replace(self, seconds=0) if self.play else self


def time_us(advance: Advance) -> int:
    """Return the time that an Advance lets pass, in whole microseconds."""
    return round(advance.seconds * 1_000_000)


@command("run", "run until idle", steps=True)
class Run(Command):
    """Run until nothing is left to schedule, backs off, or is due within a day, for at most ``cycles`` cycles."""

    cycles: Annotated[int, Number(whole=True, least=1, most=MAX_CYCLES)] = 1000
    until: Until = 0


@command("configure", "configure the scheduler")
class Configure(Command):
    """Use another KubeSchedulerConfiguration from the next cycle on. null: the default one."""

    configuration: dict[str, Any] | None = None


@command("fault", "fault: {0.failing}")
class Fault(Command):
    """Make the next call of ``plugin`` at ``point`` fail, be denied or wait. See ``framework/faults.py``.

    ``seconds``: the length of a wait. ``profile``: a scheduler name.
    """

    plugin: str
    point: Annotated[str, Text(values=tuple(ANSWERS))]
    answer: Annotated[str, Text(values=tuple(sorted({*chain.from_iterable(ANSWERS.values())})))] = "error"
    seconds: Seconds = 0
    profile: str = "default-scheduler"

    @property
    def failing(self) -> str:
        return f"{self.plugin} at {self.point} answers {self.answer}"

    def check(self) -> None:
        if self.answer not in ANSWERS.get(self.point, ()):
            raise Rejected(f"a plugin cannot answer {self.answer!r} at {self.point!r}")


@command("allow", "allow {0.pod}")
class Allow(Command):
    """Allow a pod that waits on Permit."""

    pod: str


@command("assumed-ttl", "assumed pods {0.expiry}")
class AssumedTtl(Command):
    """Let assumed pods expire in the cache this many ``seconds`` after their binding. 0, the default: never.

    Kubernetes v1.34 has a constant for this, ``durationToExpireAssumedPod`` = 0.
    """

    seconds: Seconds

    @property
    def expiry(self) -> str:
        return f"expire after {self.seconds:g} s" if self.seconds else "never expire"


@command("admission", "switch {0.switched} admission plugin {0.plugin}")
class Admission(Command):
    """Switch an admission plugin of the API server on or off: LimitPodHardAntiAffinityTopology.

    Existing objects stay.
    """

    plugin: Annotated[str, Text(values=SWITCHED)]
    enabled: bool = True

    @property
    def switched(self) -> str:
        return "on" if self.enabled else "off"


@command("node-condition", "{0.node}: {0.condition}")
class NodeCondition(Command):
    """Set a node's condition ``type`` (Ready, MemoryPressure …) to a ``status``: True, False or Unknown."""

    node: str
    type: str
    status: str

    @property
    def condition(self) -> str:
        return f"{self.type} is {self.status}"


@command("usage", "{0.who} uses {0.amounts}")
class Usage(Command):
    """Set the usage of ``pod``, or of the system daemons of ``node``, as quantities. null keeps an amount.

    ``ephemeral_storage``: local volumes and logs.
    """

    pod: str = ""
    node: str = ""
    cpu: str | None = None
    memory: str | None = None
    ephemeral_storage: Annotated[str | None, Spelled("ephemeral-storage")] = None
    writable_layer: Annotated[str | None, Spelled("writable layer")] = None
    inodes: str | None = None
    pids: str | None = None

    @property
    def who(self) -> str:
        return self.pod or f"the system on {self.node}"

    @property
    def amounts(self) -> str:
        amounts = ((name.replace("_", " "), getattr(self, name)) for name in AMOUNTS)
        return ", ".join(f"{name} {amount}" for name, amount in amounts if amount is not None) or "as before"


@command("kubelet", "configure the kubelet on {0.node}")
class KubeletConfigure(Command):
    """Use another KubeletConfiguration for the kubelet of ``node``. null: the default one.

    ``hard_eviction_grace``: the seconds that a pod gets at a hard threshold; null: as in v1.34.1.
    """

    node: str
    configuration: dict[str, Any] | None = None
    hard_eviction_grace: Annotated[int | None, Spelled("grace of hard evictions")] = None

    def check(self) -> None:
        if not 0 <= (self.hard_eviction_grace or 0) <= MAX_ADVANCE_SECONDS:
            raise Rejected([wrong_field("hard_eviction_grace", f"must be from 0 to {MAX_ADVANCE_SECONDS}")])


@command("evict", "evict {0.pod}", charge=OBJECTS, traced=True)
class Evict(Command):
    """Ask the API server to evict a pod. The trace has its answer."""

    pod: str


@command("drain", "{0.doing}")
class Drain(Command):
    """``kubectl drain``: cordon a node and evict its pods. If ``on`` is false, stop, and uncordon the node.

    ``force``: also pods without a controller. ``ignore_daemonsets``: keep pods of DaemonSets, which otherwise prevent
    a drain. ``delete_emptydir_data``: also pods with an emptyDir volume. A failed drain is an outcome in the trace.
    """

    node: str
    on: bool = True
    force: Annotated[bool, Flag("Also evict pods without a controller.")] = False
    ignore_daemonsets: Annotated[
        bool,
        Flag("Leave pods of DaemonSets on the node. Without this flag they prevent a drain."),
        Spelled("ignore-daemonsets"),
    ] = False
    delete_emptydir_data: Annotated[
        bool,
        Flag("Also evict pods with an emptyDir volume, and lose the data in it."),
        Spelled("delete-emptydir-data"),
    ] = False

    @property
    def doing(self) -> str:
        flags = "".join(f" {flag}" for name, flag in DRAIN_FLAGS.items() if getattr(self, name))
        return f"drain {self.node}{flags}" if self.on else f"stop draining {self.node}"


@command("replicas", "{0.counted} of the scheduler, which {0.electing}", traced=True)
class Replicas(Command):
    """Replace the replicas of the scheduler by ``count`` new ones: kube-scheduler-1, kube-scheduler-2 …

    With ``leader_elect`` they compete for a ``lock``: leases, endpoints or configmaps. Without it, all of
    them schedule. Durations are texts as in Go; null: the value in the scheduler's configuration.
    """

    count: Annotated[int, Number(whole=True, least=1, most=MAX_SCHEDULERS), Spelled("replicas")]
    leader_elect: bool = True
    lock: str = "leases"
    lease_duration: str | None = None
    renew_deadline: str | None = None
    retry_period: str | None = None
    release_on_cancel: bool = True

    @property
    def counted(self) -> str:
        return "1 replica" if self.count == 1 else f"{self.count} replicas"

    @property
    def electing(self) -> str:
        return f"elect a leader with {self.lock}" if self.leader_elect else "elect no leader"


@command("replica", "{0.replica}: {0.action}{0.amount}", traced=True)
class Replica(Command):
    """Kill, pause, cut off or otherwise disturb a replica of the scheduler, or undo that.

    ``seconds``: how far skew sets its clock forward, or back. ``rate``: its speed relative to the true time.
    """

    replica: str
    action: Annotated[str, Text(values=REPLICA_ACTIONS)]
    seconds: float = 0
    rate: float | str = 1

    @property
    def amount(self) -> str:
        amounts = {"skew": f" by {self.seconds:g} s", "rate": f" {self.rate}"}
        return amounts.get(self.action, "")

    def check(self) -> None:
        if self.action == "skew" and not 0 < abs(self.seconds) <= MAX_ADVANCE_SECONDS:
            text = f"must be from -{MAX_ADVANCE_SECONDS} to {MAX_ADVANCE_SECONDS}, and not 0"
            raise Rejected([wrong_field("seconds", text)])
        if self.action == "rate":
            rate_of(self)


def rate_of(replica: Replica) -> Fraction:
    """Return the rate of a clock: a number, or a text such as 1.1 or 1/3. Raises Rejected."""
    written = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,9})?)(?:/([0-9]{1,6}))?", str(replica.rate))
    if written is None or (written[2] is not None and int(written[2]) == 0):
        raise Rejected([wrong_field("rate", "must be a number or a fraction such as 1/2")])
    rate = Fraction(written[1]) / int(written[2] or 1)
    if not Fraction(1, MAX_RATE) <= rate <= MAX_RATE:
        raise Rejected([wrong_field("rate", f"must be from 1/{MAX_RATE} to {MAX_RATE}")])
    return rate
