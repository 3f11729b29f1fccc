"""How evenly a cluster is used at a moment, and how long its pods waited.

Amounts come from NodeInfos of the nodes and pods in the API server, rules from the plugins themselves.
Source: capability X9; the definitions are in ``docs/command-line.md``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import pstdev
from typing import Any

from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.api.pod_resources import BASIC
from scheduler_engine.api.topology import zone_key
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.node_info import NodeInfo, PodInfo
from scheduler_engine.plugins.node_resources_fit import NodeResourcesFit, wanted_from
from scheduler_engine.plugins.pod_topology_spread import PodTopologySpread
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace import events as ev

PODS = "pods"
STANDING = "spread.standing"
Amounts = tuple[tuple[str, int], ...]
"""((resource, amount), …): millicores of cpu, bytes, or whole units"""


@dataclass(frozen=True, slots=True)
class Use:
    """How much of a resource pods request on a node, or in all on the nodes of a zone or of the cluster (``name`` "").

    Amounts: millicores of cpu, bytes, or whole units. A node on which too much is requested has nothing ``free``.
    """

    name: str
    requested: int
    allocatable: int
    free: int

    @property
    def share(self) -> float:
        return self.requested / self.allocatable


@dataclass(frozen=True, slots=True)
class ResourceUse:
    """One resource. ``nodes``: those that have any of it, in order of creation; ``zones``: by name, "" = without."""

    resource: str
    whole: Use
    nodes: tuple[Use, ...]
    zones: tuple[Use, ...]

    @property
    def fullest(self) -> Use:
        """Return the node with the largest share; the first of several."""
        return max(self.nodes, key=lambda node: node.share)

    @property
    def emptiest(self) -> Use:
        return min(self.nodes, key=lambda node: node.share)

    @property
    def deviation(self) -> float:
        """Return the standard deviation of the nodes' shares."""
        return pstdev(node.share for node in self.nodes)

    @property
    def largest_piece(self) -> float | None:
        """Return which share of all that is free is on one node; None if nothing is free."""
        return max(node.free for node in self.nodes) / self.whole.free if self.whole.free else None


@dataclass(frozen=True, slots=True)
class Skew:
    """A topology spread constraint, and ``counts``: ((domain, matching pods), …) as the plugin counts them.

    ``when``: DoNotSchedule or ScheduleAnyway. Of pods whose constraint reads alike but counts other nodes, it is the
    largest skew.
    """

    namespace: str
    topology_key: str
    selector: str
    when: str
    max_skew: int
    counts: Amounts

    @property
    def identity(self) -> tuple[str, ...]:
        return self.namespace, self.topology_key, self.selector, self.when, str(self.max_skew)

    @property
    def skew(self) -> int:
        """Return the largest count minus the smallest."""
        numbers = [number for _, number in self.counts]
        return max(numbers) - min(numbers)


@dataclass(frozen=True, slots=True)
class Waits:
    """Simulated microseconds from the creation of a pod to its binding, for the ``bound`` pods that were bound.

    ``median_us`` and ``p95_us`` are the shortest waits that at least 50% and 95% of these pods did not exceed.
    """

    bound: int
    median_us: int
    p95_us: int
    longest_us: int


@dataclass(frozen=True, slots=True)
class CopiesLeft:
    """How many pods with the ``requests`` of ``pod`` NodeResourcesFit would still let on the nodes."""

    pod: str
    requests: Amounts
    copies: int


@dataclass(frozen=True, slots=True)
class Balance:
    """``waits``: None if no pod was bound. ``copies_left``: None without a pod, or if its profile lacks the plugin."""

    resources: tuple[ResourceUse, ...]
    skews: tuple[Skew, ...]
    waits: Waits | None
    copies_left: CopiesLeft | None


def balance_of(simulation: Simulation, shape: Pod | None) -> Balance:
    """Return the figures at this moment; ``shape`` is the pod to count copies of, see ``frequent_shape``."""
    infos = node_infos(simulation)
    left = copies_left(simulation, shape, infos) if shape is not None else None
    return Balance(uses_of(infos), skews_of(simulation, infos), waits_of(simulation.recorder.entries), left)


def node_infos(simulation: Simulation) -> list[NodeInfo]:
    """Return a NodeInfo for each node, with the unfinished pods that are bound to it."""
    infos = []
    for node in simulation.api.list("Node"):
        assert isinstance(node, Node)
        info = NodeInfo()
        info.set_node(node)
        for pod in simulation.api.pods_on(node.name):
            if not pod.finished:
                info.add_pod(pod)
        infos.append(info)
    return infos


# --- resources --------------------------------------------------------------------------------------------------------


def uses_of(infos: Sequence[NodeInfo]) -> tuple[ResourceUse, ...]:
    """Return the use of each resource that a node has: cpu, memory, ephemeral-storage, others by name, pods."""
    others = dict.fromkeys(name for info in infos for name in info.allocatable.scalar)
    return tuple(use for name in (*BASIC, *sorted(others), PODS) if (use := _use_of(name, infos)) is not None)


def _use_of(resource: str, infos: Sequence[NodeInfo]) -> ResourceUse | None:
    nodes: list[Use] = []
    zones: dict[str, list[Use]] = {}
    for info in infos:
        use = _on_node(resource, info)
        if use.allocatable:
            nodes.append(use)
            zones.setdefault(_zone(info), []).append(use)
    if not nodes:
        return None
    return ResourceUse(
        resource, _sum("", nodes), tuple(nodes), tuple(_sum(name, zones[name]) for name in sorted(zones))
    )


def _on_node(resource: str, info: NodeInfo) -> Use:
    if resource == PODS:
        requested, allocatable = len(info.pods), info.allocatable.allowed_pod_number
    else:
        requested, allocatable = info.requested.of(resource), info.allocatable.of(resource)
    return Use(info.name, requested, allocatable, max(0, allocatable - requested))


def _zone(info: NodeInfo) -> str:
    """Return ``region/zone``, or what there is of it, as the scheduler's tree of nodes groups them."""
    key = zone_key(info.node.labels) if info.node is not None else ""
    return "/".join(part for part in key.split(":\0:") if part)


def _sum(name: str, uses: Iterable[Use]) -> Use:
    columns = zip(*((use.requested, use.allocatable, use.free) for use in uses), strict=True)
    return Use(name, *map(sum, columns))


# --- room for more pods -----------------------------------------------------------------------------------------------


def frequent_shape(*simulations: Simulation) -> Pod | None:
    """Return a pod with the requests that most pods of these simulations have; of several such requests, the first."""
    pods = [pod for simulation in simulations for pod in simulation.api.pods()]
    wanted = [wanted_from(pod) for pod in pods]
    if not pods:
        return None
    [(frequent, _)] = Counter(wanted).most_common(1)
    return pods[wanted.index(frequent)]


def copies_left(simulation: Simulation, shape: Pod, infos: Sequence[NodeInfo]) -> CopiesLeft | None:
    """Count the copies of a pod that fit on the nodes, by the sums of the pod's NodeResourcesFit."""
    framework = simulation.scheduler.profiles.get(shape.scheduler_name)
    plugin = framework.plugins.get(NodeResourcesFit.name) if framework is not None else None
    if not isinstance(plugin, NodeResourcesFit):
        return None
    # A resize in its status must not count for the copies.
    pod = Pod({**shape.manifest, "status": {}})
    state = CycleState()
    plugin.pre_filter(state, pod, infos)
    taken = (*plugin.frees(state, PodInfo(pod)),)
    copies = 0
    for info in infos:
        left = (*plugin.slack(state, pod, info),)
        if min(left) >= 0:
            copies += 1 + min(rest // each for rest, each in zip(left, taken, strict=True) if each)
    requests = tuple((name, amount) for name, amount in wanted_from(pod).all() if amount)
    return CopiesLeft(pod.key, requests, copies)


# --- spread constraints -----------------------------------------------------------------------------------------------


def skews_of(simulation: Simulation, infos: Sequence[NodeInfo]) -> tuple[Skew, ...]:
    """Return the skew of each constraint that a pod or a profile states; not of Kubernetes' built-in defaults."""
    skews: dict[tuple[str, ...], Skew] = {}
    asked: dict[tuple[str, ...], None] = {}
    for pod in simulation.api.pods():
        framework = simulation.scheduler.profiles.get(pod.scheduler_name)
        plugin: Any = framework.plugins.get(PodTopologySpread.name) if framework is not None else None
        if plugin is None or (plugin.system_defaulted and not pod.topology_spread_constraints):
            continue
        counted_alike = _counted_alike(pod)
        if counted_alike in asked:
            continue
        asked[counted_alike] = None
        for skew in _skews_for(plugin, pod, infos):
            known = skews.get(skew.identity)
            if known is None or known.skew < skew.skew:
                skews[skew.identity] = skew
    return tuple(skews.values())


def _skews_for(plugin: PodTopologySpread, pod: Pod, infos: Sequence[NodeInfo]) -> Iterator[Skew]:
    numbered: dict[tuple[Any, Any], Skew] = {}
    for item in plugin.explain_standing(pod, infos):
        if item.key == STANDING:
            values: Any = item.values
            counts = values["counts"].numbers
            skew = Skew(pod.namespace, values["domain"].key, values["selector"], values["when"], values["most"], counts)
            numbered[values["when"], values["number"]] = skew
    yield from numbered.values()


def _counted_alike(pod: Pod) -> tuple[str, ...]:
    """Return what the counts depend on: for default constraints, also on the pod's Services and its controller."""
    constraints = pod.topology_spread_constraints
    keys = {key for item in constraints for key in item.get("matchLabelKeys") or ()} if constraints else pod.labels
    labels = sorted((key, value) for key, value in pod.labels.items() if key in keys)
    owner = None if constraints else pod.controller_ref
    node_affinity = pod.affinity.get("nodeAffinity")
    parts = (constraints, labels, owner, pod.spec.get("nodeSelector"), node_affinity, pod.tolerations)
    return pod.scheduler_name, pod.namespace, *map(repr, parts)


# --- waiting ----------------------------------------------------------------------------------------------------------


def waits_of(entries: Iterable[ev.Entry]) -> Waits | None:
    """Return how long the pods of a trace waited; those that were created with a node did not wait."""
    created_us: dict[str, int] = {}
    waits: list[int] = []
    for entry in entries:
        event = entry.event
        if not isinstance(event, (ev.ObjectAdded, ev.ObjectModified, ev.ObjectDeleted)) or event.kind != "Pod":
            continue
        if isinstance(event, ev.ObjectDeleted):
            created_us.pop(event.key, None)
        elif not event.manifest["spec"].get("nodeName"):
            created_us.setdefault(event.key, entry.at_us)
        elif event.key in created_us:
            waits.append(entry.at_us - created_us.pop(event.key))
    if not waits:
        return None
    waits.sort()
    return Waits(len(waits), _percentile(waits, 50), _percentile(waits, 95), waits[-1])


def _percentile(ordered: Sequence[int], percent: int) -> int:
    return ordered[-(-len(ordered) * percent // 100) - 1]
