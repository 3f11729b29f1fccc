"""NodeResourcesFit: the pod's requests must be free on the node, with room for one more pod.

Its score follows the configured strategy (``resource_allocation.py``).
Source: seed 002 §8; upstream ``plugins/noderesources/fit.go``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from scheduler_engine.api.objects import KubeObject, Node, Pod
from scheduler_engine.api.pod_resources import (
    DEFAULT_REQUESTS,
    Kept,
    Resource,
    is_extended_resource,
    pod_requests,
    request_parts,
    resource_of,
)
from scheduler_engine.framework.amounts import BASIC, PODS, PODS_THERE, IntArray, Mask, NodeAmounts
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.facts import Amount, Fact, Facts, Keys, fact
from scheduler_engine.framework.interface import EventRegistration, Handle, Hint, Plugin, PluginError, PreFilterResult
from scheduler_engine.framework.node_info import NodeInfo, PodInfo
from scheduler_engine.framework.nodes import Nodes, SlotArray
from scheduler_engine.framework.status import Status, unresolvable, unschedulable
from scheduler_engine.plugins.allocation_facts import fit_facts
from scheduler_engine.plugins.request_facts import ignored_pod_level, request_facts
from scheduler_engine.plugins.resource_allocation import (
    PER_RESOURCE_ALL,
    Wish,
    columns_of,
    rows_on_node,
    strategy_from,
    weighted_mean_all,
    wishes,
)
from scheduler_engine.records import record

PRE_FILTER_KEY = "PreFilterNodeResourcesFit"
PRE_SCORE_KEY = "PreScoreNodeResourcesFit"
DEVICE_CLASS_PREFIX = "deviceclass.resource.kubernetes.io/"
"""Before the name of a device class: the extended resource that it always serves."""
WANTED = Kept()
"""Requests and what is ignored of them → ``Wanted``."""


@record(frozen=True, slots=True)
class Wanted:
    """The requests that Filter checks: millicores, bytes, bytes, and nonzero scalar resources by name."""

    milli_cpu: int
    memory: int
    ephemeral_storage: int
    scalar: tuple[tuple[str, int], ...]

    def all(self) -> tuple[tuple[str, int], ...]:
        basic = ("cpu", self.milli_cpu), ("memory", self.memory), ("ephemeral-storage", self.ephemeral_storage)
        return (*basic, *self.scalar)

    def checked(self) -> list[tuple[str, int]]:
        """Return what must be free on the node."""
        return [(name, asked) for name, asked in self.all() if asked > 0 or name not in BASIC]


class Lacking(NamedTuple):
    """A resource that a node has too little of: millicores of cpu, bytes, pods or whole units."""

    resource: str
    requested: int
    used: int
    capacity: int

    @property
    def reason(self) -> str:
        return "Too many pods" if self.resource == "pods" else f"Insufficient {self.resource}"

    @property
    def hopeless(self) -> bool:
        """Return True if even the empty node would have too little."""
        return self.resource != "pods" and self.requested > self.capacity


class NodeResourcesFit(Plugin):
    name = "NodeResourcesFit"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self.ignored = tuple(args.get("ignoredResources") or ())
        self.ignored_groups = tuple(args.get("ignoredResourceGroups") or ())
        self.strategy = strategy_from(args)

    def sign(self, pod: Pod) -> Hashable:
        return pod.requests_text

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        pod_event = ClusterEvent("Pod", ActionType.DELETE | ActionType.UPDATE_POD_SCALE_DOWN)
        node_event = ClusterEvent("Node", ActionType.ADD | ActionType.UPDATE_NODE_ALLOCATABLE)
        registered = (
            EventRegistration(pod_event, self.after_pod_event),
            EventRegistration(node_event, self.after_node_change),
        )
        if not self.handle.rules.fit_watches_device_classes:
            return registered
        class_event = ClusterEvent("resource.k8s.io/DeviceClass", ActionType.ADD | ActionType.UPDATE)
        return (*registered, EventRegistration(class_event, self.after_device_class_change))

    def after_device_class_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        """Queue if devices of the class now serve an extended resource that the pod requests."""
        if new is None:
            return Hint.QUEUE, "hints.device-class-changed"
        serves = new.spec.get("extendedResourceName")
        if old is not None and (old.spec.get("extendedResourceName") or "") == (serves or ""):
            return Hint.SKIP, "hints.device-class-serves-the-same"
        wanted = pod_requests(pod, use_status=False)
        if serves in wanted or (old is None and f"{DEVICE_CLASS_PREFIX}{new.name}" in wanted):
            return Hint.QUEUE, "hints.device-class-serves-request"
        return Hint.SKIP, "hints.device-class-serves-nothing"

    def after_pod_event(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if new is None:
            if isinstance(old, Pod) and old.node_name:
                return Hint.QUEUE, "hints.pod-left-node"
            if isinstance(old, Pod) and old.nominated_node_name:
                return Hint.QUEUE, "hints.own-nomination-over" if old.uid == pod.uid else "hints.nomination-over"
            return Hint.SKIP, "hints.pod-had-no-node"
        if not (isinstance(old, Pod) and isinstance(new, Pod)):
            return Hint.QUEUE, "hints.not-a-pod"
        if new.uid == pod.uid:
            return Hint.QUEUE, "hints.pod-asks-for-less"
        if new.node_name and _frees_what_is_wanted(pod, old, new):
            return Hint.QUEUE, "hints.pod-gave-up"
        return Hint.SKIP, "hints.pod-gave-up-nothing"

    def after_node_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        """Check only allocatable, as if the node were empty."""
        if not isinstance(new, Node):
            return Hint.SKIP, "hints.not-a-node"
        wanted, after = wanted_from(pod), _empty_node(new)
        if lacking_resources(wanted, after):
            ignores = self.ignored or self.ignored_groups
            return Hint.SKIP, "hints.node-too-small-all-counted" if ignores else "hints.node-too-small"
        if not isinstance(old, Node):
            return Hint.QUEUE, "hints.node-large-enough"
        if _grown(wanted, _empty_node(old).allocatable, after.allocatable):
            return Hint.QUEUE, "hints.node-has-more"
        return Hint.SKIP, "hints.node-has-no-more"

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        state.write(PRE_FILTER_KEY, wanted_from(pod, self.ignored, self.ignored_groups))
        return None, None

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        wanted = state.read(PRE_FILTER_KEY)
        if wanted is None:
            raise PluginError(f'error reading "{PRE_FILTER_KEY}" from cycleState: not found')
        return _status(lacking_resources(wanted, node_info))

    def filter_all(self, state: CycleState, pod: Pod, nodes: Nodes) -> Iterable[tuple[Status | None, Mask]] | None:
        """Judge many nodes at once, by what they lack: nodes that lack the same get the same status."""
        wanted, amounts = state.read(PRE_FILTER_KEY), self.handle.snapshot.slots.amounts
        return None if wanted is None or amounts.large else _judged_together(wanted, nodes.slots, amounts)

    def sums_sign(self, state: CycleState) -> Hashable | None:
        wanted: Wanted | None = state.read(PRE_FILTER_KEY)
        return wanted

    def slack(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Iterator[int]:
        wanted, have, used = state.data[PRE_FILTER_KEY], node_info.allocatable, node_info.requested
        yield have.allowed_pod_number - len(node_info.pods) - 1
        for name, asked in wanted.checked():
            yield have.of(name) - used.of(name) - asked

    def frees(self, state: CycleState, info: PodInfo) -> Iterator[int]:
        yield 1
        for name, _ in state.data[PRE_FILTER_KEY].checked():
            yield info.resource.request.of(name)

    def explain_filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Facts:
        status = self.filter(state, pod, node_info)
        wanted = state.data[PRE_FILTER_KEY]
        lacking = {item.resource: item for item in lacking_resources(wanted, node_info)}
        shown = [_places(node_info, lacking), *_sums(wanted, node_info, lacking)]
        if len(shown) == 1:
            shown.append(fact("fit.no-requests"))
        beside = (*_beside(pod, wanted),)
        says = _conclusion(pod, node_info.name, [*lacking.values()], any(item.key == "fit.ignored" for item in beside))
        return Facts(says, (*shown, *beside), status)

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        state.write(PRE_SCORE_KEY, self._wishes(pod))
        return None

    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        wanted = state.read(PRE_SCORE_KEY)
        if wanted is None:
            wanted = self._wishes(pod)
        if not wanted:
            raise PluginError("resources not found")
        return self.strategy.score(rows_on_node(wanted, node_info, non_zero=True))

    def score_all(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntArray | None:
        wanted, amounts = state.read(PRE_SCORE_KEY), self.handle.snapshot.slots.amounts
        if self.strategy.type not in PER_RESOURCE_ALL or not wanted:
            return None
        columns = columns_of(wanted, nodes, amounts, non_zero=True)
        if columns is None:
            return None
        return weighted_mean_all(columns, PER_RESOURCE_ALL[self.strategy.type], len(nodes))

    def explain_score(self, state: CycleState, pod: Pod, node_info: NodeInfo, raw: Mapping[str, int]) -> Facts:
        wanted = state.read(PRE_SCORE_KEY) or self._wishes(pod)
        names = [name for name, _, _ in wanted]
        parts = request_parts(pod, use_status=False, pod_level=False, defaults=DEFAULT_REQUESTS)
        beside = *request_facts(parts, names), *ignored_pod_level(request_parts(pod, use_status=False), names)
        plain = wishes(self.strategy.resources, pod_requests(pod, use_status=False, pod_level=False))
        return fit_facts(self.strategy, wanted, plain, pod, node_info, beside)

    def _wishes(self, pod: Pod) -> tuple[Wish, ...]:
        """Return the pod's wishes for scoring: of the containers only, without pod-level resources or a resize."""
        requests = pod_requests(pod, use_status=False, pod_level=False, defaults=DEFAULT_REQUESTS)
        return wishes(self.strategy.resources, requests)


def wanted_from(pod: Pod, ignored: tuple[str, ...] = (), ignored_groups: tuple[str, ...] = ()) -> Wanted:
    """Return the requests of a pod without a node; extended resources may be ignored by name or by prefix."""
    key = pod.requests_text, ignored, ignored_groups
    kept: Wanted | None = WANTED.get(key)
    if kept is None:
        kept = WANTED[key] = _wanted(pod, ignored, ignored_groups)
    return kept


def _wanted(pod: Pod, ignored: tuple[str, ...], ignored_groups: tuple[str, ...]) -> Wanted:
    request = resource_of(pod_requests(pod, use_status=False))
    scalar = sorted(
        (name, amount)
        for name, amount in request.scalar.items()
        if amount != 0
        and not (is_extended_resource(name) and (name in ignored or name.split("/")[0] in ignored_groups))
    )
    return Wanted(request.milli_cpu, request.memory, request.ephemeral_storage, tuple(scalar))


def lacking_resources(wanted: Wanted, node_info: NodeInfo) -> list[Lacking]:
    """Return all resources that are too scarce."""
    have, used = node_info.allocatable, node_info.requested
    lacking: list[Lacking] = []
    if len(node_info.pods) + 1 > have.allowed_pod_number:
        lacking.append(Lacking("pods", 1, len(node_info.pods), have.allowed_pod_number))
    if 0 < wanted.milli_cpu > have.milli_cpu - used.milli_cpu:
        lacking.append(Lacking("cpu", wanted.milli_cpu, used.milli_cpu, have.milli_cpu))
    if 0 < wanted.memory > have.memory - used.memory:
        lacking.append(Lacking("memory", wanted.memory, used.memory, have.memory))
    if 0 < wanted.ephemeral_storage > have.ephemeral_storage - used.ephemeral_storage:
        stored = wanted.ephemeral_storage, used.ephemeral_storage, have.ephemeral_storage
        lacking.append(Lacking("ephemeral-storage", *stored))
    for name, amount in wanted.scalar:
        capacity, taken = have.scalar.get(name, 0), used.scalar.get(name, 0)
        if amount > capacity - taken:
            lacking.append(Lacking(name, amount, taken, capacity))
    return lacking


def _status(lacking: Sequence[Lacking]) -> Status | None:
    if not lacking:
        return None
    hopeless = any(item.hopeless for item in lacking)
    return (unresolvable if hopeless else unschedulable)(*(item.reason for item in lacking))


def _judged_together(wanted: Wanted, slots: SlotArray, amounts: NodeAmounts) -> Iterator[tuple[Status | None, Mask]]:
    """Return the different statuses, each with the places that have it: see ``lacking_resources``."""
    lacks = [("Too many pods", amounts.table[PODS_THERE][slots] + 1 > amounts.table[PODS][slots])]
    hopeless = np.zeros(len(slots), dtype=bool)
    for name, asked in wanted.checked():
        have = amounts.allocatable(name)[slots]
        lacks.append((f"Insufficient {name}", asked > have - amounts.requested(name)[slots]))
        hopeless |= lacks[-1][1] & (asked > have)
    rest = np.logical_or.reduce([lacking for _, lacking in lacks])
    yield None, ~rest
    while rest.any():
        first = int(rest.argmax())
        same = rest & (hopeless == hopeless[first])
        for _, lacking in lacks:
            same &= lacking == lacking[first]
        reasons = (reason for reason, lacking in lacks if lacking[first])
        yield (unresolvable if hopeless[first] else unschedulable)(*reasons), same
        rest &= ~same


# --- facts ---


def _waiting(node_info: NodeInfo) -> list[PodInfo]:
    """Return pods that count here because they are nominated; assumed ones have a node."""
    return [info for info in node_info.pods if not info.pod.node_name]


def _places(node_info: NodeInfo, lacking: Mapping[str, Lacking]) -> Fact:
    waiting, full = _waiting(node_info), "pods" in lacking
    key = f"fit.places{'-full' if full else ''}{'-nominated' if waiting else ''}"
    return fact(
        key,
        not full,
        there=len(node_info.pods) - len(waiting),
        nominated=len(waiting),
        pods=Keys(info.pod.key for info in waiting),
        whole=len(node_info.pods) + 1,
        allowed=node_info.allocatable.allowed_pod_number,
    )


def _sums(wanted: Wanted, node_info: NodeInfo, lacking: Mapping[str, Lacking]) -> Iterator[Fact]:
    for name, asked in wanted.all():
        if not asked:
            continue
        item = lacking.get(name)
        used, total = node_info.requested.of(name), node_info.allocatable.of(name)
        holders = [info for info in _waiting(node_info) if info.resource.request.of(name)]
        nominated = sum(info.resource.request.of(name) for info in holders)
        key = "fit.enough" if item is None else "fit.too-much-for-the-node" if item.hopeless else "fit.too-much"
        amounts = {
            "used": used - nominated,
            "nominated": nominated,
            "asked": asked,
            "whole": used + asked,
            "total": total,
            "rest": abs(total - used - asked),
        }
        yield fact(
            f"{key}-nominated" if holders else key,
            item is None,
            resource=name,
            pods=Keys(info.pod.key for info in holders),
            **{word: Amount(name, number) for word, number in amounts.items()},
        )


def _conclusion(pod: Pod, node: str, lacking: Sequence[Lacking], ignores: bool) -> Fact:
    hopeless = Keys(item.resource for item in lacking if item.hopeless)
    short = Keys(item.resource for item in lacking if item.resource != "pods")
    if not lacking:
        key, resources = "fit.fits-as-checked" if ignores else "fit.fits", short
    elif hopeless:
        key, resources = "fit.too-small", hopeless
    elif not short:
        key, resources = "fit.no-place", short
    else:
        key, resources = "fit.not-enough" if len(short) == len(lacking) else "fit.not-enough-and-no-place", short
    return fact(key, not lacking, node=node, pod=Keys((pod.key,)), resources=resources)


def _beside(pod: Pod, wanted: Wanted) -> Iterator[Fact]:
    """List unchecked resources, and the parts of the sums besides the containers."""
    parts, checked = request_parts(pod, use_status=False), dict(wanted.all())
    for name, asked in sorted(resource_of(parts.total()).scalar.items()):
        if asked and name not in checked:
            yield fact("fit.ignored", resource=name, asked=Amount(name, asked))
    yield from request_facts(parts, [name for name, asked in checked.items() if asked])


def _empty_node(node: Node) -> NodeInfo:
    info = NodeInfo()
    info.set_node(node)
    return info


def _grown(wanted: Wanted, before: Resource, after: Resource) -> bool:
    """Return True if the node takes more pods, or has more of a resource that the pod wants."""
    return (
        after.allowed_pod_number > before.allowed_pod_number
        or (wanted.milli_cpu > 0 and after.milli_cpu > before.milli_cpu)
        or (wanted.memory > 0 and after.memory > before.memory)
        or (wanted.ephemeral_storage > 0 and after.ephemeral_storage > before.ephemeral_storage)
        or any(after.scalar.get(name, 0) > before.scalar.get(name, 0) for name, _ in wanted.scalar)
    )


def _frees_what_is_wanted(pod: Pod, old: Pod, new: Pod) -> bool:
    """Return True if the scheduled pod, scaled down from ``old`` to ``new``, freed a resource that ``pod`` requests."""
    before, after = resource_of(pod_requests(old)), resource_of(pod_requests(new))
    wanted = {name for name, nano in pod_requests(pod).items() if nano != 0}
    return (
        ("cpu" in wanted and before.milli_cpu > after.milli_cpu)
        or ("memory" in wanted and before.memory > after.memory)
        or ("ephemeral-storage" in wanted and before.ephemeral_storage > after.ephemeral_storage)
        or any(name in wanted and held > after.scalar.get(name, 0) for name, held in before.scalar.items())
    )
