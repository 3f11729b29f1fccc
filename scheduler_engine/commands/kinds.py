"""The commands of a sandbox. Each class is one row of the table (see ``table``)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from typing import Annotated, Any

from scheduler_engine.api.objects import scalar_text
from scheduler_engine.api.validation.problems import invalid
from scheduler_engine.apiserver.admission import SWITCHED
from scheduler_engine.apiserver.lifecycle import BACKGROUND, POLICIES
from scheduler_engine.commands.table import OBJECTS, REMOVAL, Command, Spelled, command, wrong_field
from scheduler_engine.config.schema import API_VERSION, KIND
from scheduler_engine.errors import Rejected
from scheduler_engine.framework.faults import ANSWERS
from scheduler_engine.shapes import Either, Flag, ListOf, Manifest, MapOf, Nothing, Number, Text
from scheduler_engine.versions import VERSIONS, gates_text, rules_for
from scheduler_engine.words import say

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
MANAGERS = "metadata.managedFields"

Kind = Annotated[str, Spelled("kind")]
Seconds = Annotated[float, Number(least=0, most=MAX_ADVANCE_SECONDS)]
CONFIGURATION = Either(
    (Manifest("", API_VERSION, KIND), Nothing()),
    say("refusals.must-be", what=say("types.mapping") + say("types.or") + say("types.empty")),
)
Until = Annotated[int, Number(say("command-parts.until"), whole=True, least=0)]


def _some(names: list[str], count: int) -> str:
    """Return the first of ``count`` names, and the number of others."""
    some = ", ".join(names[:MOST_NAMES])
    return say("command-parts.more", names=some, more=count - MOST_NAMES) if count > MOST_NAMES else some


@command("apply", charge=OBJECTS, traced=True)
class Apply(Command):
    """Create or update the objects in ``manifests``, in this order. If one is refused, nothing changes."""

    manifests: Annotated[tuple[dict[str, Any], ...], ListOf(Manifest(say("command-parts.manifest")))]

    @property
    def named(self) -> str:
        """Return kinds and names from the manifests, which may be invalid."""
        return _some([_named(item) for item in self.manifests[:MOST_NAMES]], len(self.manifests))


def _named(manifest: Any) -> str:
    data = manifest if isinstance(manifest, Mapping) else {}
    metadata = data.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    return f"{data.get('kind', '?')} {name or '?'}"


@command("delete", charge=REMOVAL)
class Delete(Command):
    """Delete an object. A pod on a node gets its grace period.

    ``propagation_policy``, the handling of objects it owns: Background, Foreground or Orphan.
    ``grace_period_seconds``: of a pod, instead of its own; 0: it goes at once; -1: its own.
    """

    object_kind: Kind
    key: str
    propagation_policy: Annotated[str, Text(values=tuple(POLICIES))] = BACKGROUND
    grace_period_seconds: Annotated[int, Number(whole=True, least=-1)] = -1

    @property
    def how(self) -> str:
        return "" if self.propagation_policy == BACKGROUND else f" ({self.propagation_policy})"


@command("patch")
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
        return self.subresource or say("command-parts.edit")

    @property
    def paths(self) -> str:
        """Return what it changes. Who manages the fields, as server-side apply notes, is left out beside that."""
        paths = [*_paths(self.changes, "")] or [say("command-parts.nothing")]
        shown = [path for path in paths if path != MANAGERS] or paths
        return _some(shown, len(shown))


def _paths(changes: Mapping[str, Any], start: str) -> Iterator[str]:
    """Yield what a patch changes: ``spec.replicas=3``, ``no metadata.labels.app``, ``spec.taints``."""
    for name, value in changes.items():
        path = f"{start}{name}"
        if isinstance(value, Mapping) and value:
            yield from _paths(value, f"{path}.")
        elif value is None:
            yield say("command-parts.removed", path=path)
        elif isinstance(value, (str, int, float)) and len(text := scalar_text(value)) <= LONGEST_VALUE:
            yield f"{path}={text}"
        else:
            yield path


@command("replace", charge=REMOVAL)
class Replace(Command):
    """``kubectl replace --force``: delete the object without a grace period, and create ``manifest``."""

    object_kind: Kind
    key: str
    manifest: Annotated[dict[str, Any], Manifest()]


@command("cordon")
class Cordon(Command):
    """Cordon a node; if ``on`` is false, uncordon it."""

    node: str
    on: bool = True

    @property
    def verb(self) -> str:
        return say("command-parts.cordon" if self.on else "command-parts.uncordon")


@command("taint")
class Taint(Command):
    """Add a taint to a node, or replace the one with the same key and effect; if ``on`` is false, remove it."""

    node: str
    key: str
    effect: str
    value: str = ""
    on: bool = True

    @property
    def verb(self) -> str:
        return say("command-parts.taint" if self.on else "command-parts.untaint")

    @property
    def taint(self) -> str:
        return f"{self.key}{f'={self.value}' if self.value and self.on else ''}:{self.effect}"


@command("scale")
class Scale(Command):
    """Set the number of replicas of a workload."""

    object_kind: Kind
    key: str
    replicas: Annotated[int, Number(whole=True, least=0, most=MAX_REPLICAS)]

    def check(self) -> None:
        if self.replicas < 0:
            raise Rejected([invalid("spec.replicas", self.replicas, "must be greater than or equal to 0")])


@command("rollout-restart")
class RolloutRestart(Command):
    """``kubectl rollout restart``: replace the pods of a workload by new ones with the same template."""

    object_kind: Kind
    key: str


@command("stage", steps=True)
class Stage(Command):
    """Run the next stage of the current cycle, or Pop if there is no cycle."""


@command("pod", steps=True)
class PodCycle(Command):
    """Run to the end of the current pod's cycle, or of the next pod's, including its binding.

    ``until``, here and below: stop at the first rest with this many trace entries written; 0: run to the end.
    """

    until: Until = 0


@command("settle", steps=True)
class Settle(Command):
    """Run until nothing can happen at this instant."""

    until: Until = 0


@command("advance", steps=True)
class Advance(Command):
    """Let simulated time pass, with all that is due in it. ``play``: merge it with the previous tick of playing."""

    seconds: Annotated[float, Number(say("command-parts.seconds"), above=0, most=MAX_ADVANCE_SECONDS)]
    play: bool = False
    until: Until = 0

    @property
    def passing(self) -> str:
        return say("command-parts.play") if self.play else say("command-parts.advance", seconds=self.seconds)

    def check(self) -> None:
        if not (0 < self.seconds <= MAX_ADVANCE_SECONDS and time_us(self) > 0):
            raise Rejected([wrong_field("seconds", say("refusals.seconds", most=MAX_ADVANCE_SECONDS))])

    def recorded(self) -> Command:
        """Return a tick of playing without its seconds, because later ticks may merge with it."""
        return replace(self, seconds=0) if self.play else self


def time_us(advance: Advance) -> int:
    """Return the time that an Advance lets pass, in whole microseconds."""
    return round(advance.seconds * 1_000_000)


@command("run", steps=True)
class Run(Command):
    """Run until nothing is left to schedule, backs off, or is due within a day, for at most ``cycles`` cycles."""

    cycles: Annotated[int, Number(whole=True, least=1, most=MAX_CYCLES)] = 1000
    until: Until = 0


@command("configure")
class Configure(Command):
    """Use another KubeSchedulerConfiguration from the next cycle on. null: the default one."""

    configuration: Annotated[dict[str, Any] | None, CONFIGURATION] = None


@command("kubernetes")
class Kubernetes(Command):
    """Follow another version of Kubernetes: API server and schedulers, with the configuration in force.

    ``feature_gates``: name → on, of gates that differ from the defaults of the version. A running cycle ends under the
    rules that it began with.
    """

    version: Annotated[str, Text(values=VERSIONS)]
    feature_gates: Annotated[
        dict[str, Any] | None,
        Either((MapOf(Flag()), Nothing()), say("refusals.gates-or-nothing"), say("command-parts.feature-gates")),
    ] = None

    @property
    def named(self) -> str:
        gates = gates_text(self.feature_gates or {})
        return say("command-parts.with-gates", version=self.version, gates=gates) if gates else self.version

    def check(self) -> None:
        if self.version in VERSIONS:
            try:
                rules_for(self.version, self.feature_gates)
            except Rejected as refusal:
                raise Rejected([wrong_field("feature_gates", str(refusal))]) from refusal


@command("fault")
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
        return say("command-parts.failing", plugin=self.plugin, point=self.point, answer=self.answer)

    def check(self) -> None:
        if self.answer not in ANSWERS.get(self.point, ()):
            raise Rejected(say("refusals.no-such-answer", answer=repr(self.answer), point=repr(self.point)))


@command("allow")
class Allow(Command):
    """Allow a pod that waits on Permit."""

    pod: str


@command("assumed-ttl")
class AssumedTtl(Command):
    """Let assumed pods expire in the cache this many ``seconds`` after their binding. 0, the default: never.

    Kubernetes v1.34 has a constant for this, ``durationToExpireAssumedPod`` = 0.
    """

    seconds: Seconds

    @property
    def expiry(self) -> str:
        if self.seconds:
            return say("command-parts.expire", seconds=self.seconds)
        return say("command-parts.never-expire")


@command("admission")
class Admission(Command):
    """Switch an admission plugin of the API server on or off: LimitPodHardAntiAffinityTopology.

    Existing objects stay.
    """

    plugin: Annotated[str, Text(values=SWITCHED)]
    enabled: bool = True

    @property
    def switched(self) -> str:
        return say("command-parts.switch-on" if self.enabled else "command-parts.switch-off")


@command("node-condition")
class NodeCondition(Command):
    """Set a node's condition ``type`` (Ready, MemoryPressure …) to a ``status``: True, False or Unknown."""

    node: str
    type: str
    status: str

    @property
    def condition(self) -> str:
        return say("command-parts.condition", type=self.type, status=self.status)


@command("usage")
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
        return self.pod or say("command-parts.system", node=self.node)

    @property
    def amounts(self) -> str:
        amounts = ((name.replace("_", " "), getattr(self, name)) for name in AMOUNTS)
        said = (say("command-parts.amount", name=name, amount=amount) for name, amount in amounts if amount is not None)
        return ", ".join(said) or say("command-parts.as-before")


@command("kubelet")
class KubeletConfigure(Command):
    """Use another KubeletConfiguration for the kubelet of ``node``. null: the default one.

    ``hard_eviction_grace``: the seconds that a pod gets at a hard threshold; null: as in v1.34.1.
    """

    node: str
    configuration: dict[str, Any] | None = None
    hard_eviction_grace: Annotated[int | None, Spelled("grace of hard evictions")] = None

    def check(self) -> None:
        if not 0 <= (self.hard_eviction_grace or 0) <= MAX_ADVANCE_SECONDS:
            problem = say("refusals.from-to", least=0, most=MAX_ADVANCE_SECONDS)
            raise Rejected([wrong_field("hard_eviction_grace", problem)])


@command("evict", charge=OBJECTS, traced=True)
class Evict(Command):
    """Ask the API server to evict a pod. The trace has its answer."""

    pod: str


@command("bind", charge=OBJECTS)
class Bind(Command):
    """Bind a pod to a node, as a scheduler of your own does. The node need not exist."""

    pod: str
    node: str


@command("drain")
class Drain(Command):
    """``kubectl drain``: cordon a node and evict its pods. If ``on`` is false, stop, and uncordon the node.

    ``force``: also pods without a controller. ``ignore_daemonsets``: keep pods of DaemonSets, which otherwise prevent
    a drain. ``delete_emptydir_data``: also pods with an emptyDir volume. A failed drain is an outcome in the trace.
    """

    node: str
    on: bool = True
    force: Annotated[bool, Flag(say("command-parts.force"))] = False
    ignore_daemonsets: Annotated[
        bool,
        Flag(say("command-parts.ignore-daemonsets")),
        Spelled("ignore-daemonsets"),
    ] = False
    delete_emptydir_data: Annotated[
        bool,
        Flag(say("command-parts.delete-emptydir-data")),
        Spelled("delete-emptydir-data"),
    ] = False

    @property
    def doing(self) -> str:
        flags = "".join(f" {flag}" for name, flag in DRAIN_FLAGS.items() if getattr(self, name))
        if self.on:
            return say("command-parts.drain", node=self.node, flags=flags)
        return say("command-parts.stop-draining", node=self.node)


@command("replicas", traced=True)
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
        return say("command-parts.replicas", count=self.count)

    @property
    def electing(self) -> str:
        if self.leader_elect:
            return say("command-parts.elect-leader", lock=self.lock)
        return say("command-parts.elect-nobody")


@command("replica", traced=True)
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
        if self.action == "skew":
            return f" {say('command-parts.by-seconds', seconds=self.seconds)}"
        return f" {self.rate}" if self.action == "rate" else ""

    def check(self) -> None:
        if self.action == "skew" and not 0 < abs(self.seconds) <= MAX_ADVANCE_SECONDS:
            raise Rejected([wrong_field("seconds", say("refusals.skew", most=MAX_ADVANCE_SECONDS))])
        if self.action == "rate":
            rate_of(self)


def rate_of(replica: Replica) -> Fraction:
    """Return the rate of a clock: a number, or a text such as 1.1 or 1/3. Raises Rejected."""
    written = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,9})?)(?:/([0-9]{1,6}))?", str(replica.rate))
    if written is None or (written[2] is not None and int(written[2]) == 0):
        raise Rejected([wrong_field("rate", say("refusals.fraction"))])
    rate = Fraction(written[1]) / int(written[2] or 1)
    if not Fraction(1, MAX_RATE) <= rate <= MAX_RATE:
        raise Rejected([wrong_field("rate", say("refusals.from-to", least=Fraction(1, MAX_RATE), most=MAX_RATE))])
    return rate
