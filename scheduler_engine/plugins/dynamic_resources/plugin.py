"""DynamicResources: a pod goes to nodes with the devices that its claims have, or can get there.

Arguments: ``filterTimeout``, up to ``allocator.MOST_SECONDS``. Source: seed 002 §6; upstream
``plugins/dynamicresources/dynamicresources.go``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple

from scheduler_engine.api.device_pools import indexed
from scheduler_engine.api.devices import FINALIZER, Device, DeviceId, ResourceClaim, alternatives
from scheduler_engine.api.objects import KubeObject, Node, Pod
from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.durations import UNITS_NS, parse_duration
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.facts import Facts, Keys, SearchFacts, fact
from scheduler_engine.framework.interface import (
    EventRegistration,
    Handle,
    Hint,
    NodeToStatus,
    Plugin,
    PluginError,
    PostFilterResult,
    PreFilterResult,
)
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.noted_objects import NotedObjects, NotingObjects
from scheduler_engine.framework.status import SKIP, Status, unresolvable, unschedulable
from scheduler_engine.plugins.dynamic_resources.allocator import (
    EFFORT_PER_SECOND,
    MOST_SECONDS,
    Allocator,
    Film,
    InvalidPools,
    TimedOut,
)
from scheduler_engine.plugins.dynamic_resources.claims import (
    ClaimProblem,
    ClaimsUnusable,
    allocated_devices,
    claims_of,
)
from scheduler_engine.plugins.dynamic_resources.facts import (
    failure_facts,
    filter_facts,
    is_away,
    pre_bind_facts,
    refusal_facts,
    reserve_facts,
    search_facts,
)
from scheduler_engine.sharing import Rows, Table

STATE, ALTERNATIVES = "DynamicResources", "DeviceRequest.firstAvailable"
NOT_AVAILABLE = unresolvable("resourceclaim not available on the node")
NOT_ENOUGH = unresolvable("cannot allocate all claims")
TIMED_OUT = unresolvable("timed out trying to allocate devices")
INVALID_POOLS = unresolvable("invalid resource pools were encountered")
NOTHING_TO_DEALLOCATE = unschedulable("no new claims to deallocate")
DEALLOCATED = unschedulable("deallocation of ResourceClaim completed")
STILL_NOT = unschedulable("still not schedulable")
CONCLUSIONS = {
    None: "enough",
    NOT_AVAILABLE: "away",
    NOT_ENOUGH: "not-enough",
    TIMED_OUT: "timed-out",
    INVALID_POOLS: "invalid-pools",
}
"""Result of Filter → the row that says so."""
REFUSAL, CLASSES, PROBLEM = (f"DynamicResources/{topic}" for topic in ("refusal", "classes", "problem"))
"""Topics of the problem that PreFilter found, of the classes that Filter read, and of the problem of PreBind."""


@dataclass(slots=True)
class ClaimState:
    """Shared by all copies of a cycle's state, as upstream. ``allocator``: None if no claim needs devices.

    ``allocations``: node → what each claim without devices would get there. ``reserved``: number of a claim → its
    allocation, between Reserve and PreBind. ``written``: number → claim, as PreBind has written it. Facts about earlier
    stages need the claims as they were, so these stay.
    """

    claims: Rows[ResourceClaim] = field(default_factory=Rows)
    allocator: Allocator | None = None
    allocations: Table[str, list[dict[str, Any]]] = field(default_factory=Table)
    reserved: Table[int, dict[str, Any]] = field(default_factory=Table)
    written: Table[int, ResourceClaim] = field(default_factory=Table)

    def latest(self) -> list[ResourceClaim]:
        return [self.written.get(number, claim) for number, claim in enumerate(self.claims)]

    def without_devices(self) -> list[tuple[int, ResourceClaim]]:
        return [(number, claim) for number, claim in enumerate(self.claims) if claim.allocation is None]


class DynamicResources(Plugin):
    name = "DynamicResources"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        limit = parse_duration(args.get("filterTimeout") or "0s") if handle.rules.ends_long_searches else 0
        seconds = Fraction(limit, UNITS_NS["s"]) or MOST_SECONDS
        self.most_effort = int(min(seconds, MOST_SECONDS) * EFFORT_PER_SECOND)

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        node_changes = ActionType.ADD | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_ALLOCATABLE
        changes = ActionType.ADD | ActionType.UPDATE
        generated = ClusterEvent("Pod", ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM)
        return (
            EventRegistration(ClusterEvent("Node", node_changes)),
            EventRegistration(ClusterEvent("resource.k8s.io/ResourceClaim", changes), self.after_claim_change),
            EventRegistration(generated, self.after_pod_change),
            EventRegistration(ClusterEvent("resource.k8s.io/DeviceClass", changes)),
            EventRegistration(ClusterEvent("resource.k8s.io/ResourceSlice", changes)),
        )

    def after_claim_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        try:
            uses = any(new is not None and claim.uid == new.uid for _, claim in self._claims(pod))
        except ClaimsUnusable:
            return Hint.SKIP, "hints.resource-claims-unusable"
        had = old is not None and old.status.get("allocation") is not None
        if had and new is not None and new.status.get("allocation") is None:
            return Hint.QUEUE, "hints.resource-claim-deallocated"
        if not uses:
            return Hint.SKIP, "hints.resource-claim-does-not-matter"
        if old is None or new is None:
            return Hint.QUEUE, "hints.resource-claim-created"
        if old.status == new.status:
            return Hint.SKIP, "hints.resource-claim-status-as-before"
        return Hint.QUEUE, "hints.resource-claim-status-changed"

    def after_pod_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if not isinstance(new, Pod) or new.uid != pod.uid:
            return Hint.SKIP, "hints.another-pod-changed"
        try:
            self._claims(new)
        except ClaimsUnusable:
            return Hint.SKIP, "hints.resource-claims-unusable"
        return Hint.QUEUE, "hints.resource-claims-generated"

    def _claims(self, pod: Pod) -> list[tuple[str, ResourceClaim]]:
        return list(claims_of(pod, self.handle.objects, self.handle.rules))

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Hold back a pod until it has all its claims."""
        try:
            self._claims(pod)
        except ClaimsUnusable as problem:
            return unresolvable(str(problem))
        return None

    # --- PreFilter and Filter ---

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        held = ClaimState()
        state.write(STATE, held)
        try:
            claims = Rows(claim for _, claim in self._claims(pod))
            if not claims:
                return None, SKIP
            self._check(claims)
        except ClaimsUnusable as unusable:
            state.notes(REFUSAL).setdefault("", unusable.problem)
            return None, unresolvable(str(unusable))
        if any(claim.allocation is None for claim in claims):
            objects, pending = self.handle.objects, self.handle.scheduler.pending_claims
            slices = indexed(objects.list("ResourceSlice"))
            allocated = allocated_devices(objects, pending)
            held.allocator = Allocator(objects, slices, allocated, self.handle.rules, self.most_effort)
        held.claims = claims
        return None, None

    def _check(self, claims: Sequence[ResourceClaim]) -> None:
        """Raise ClaimsUnusable if no node can serve one of the claims without devices."""
        for claim in claims:
            if claim.allocation is not None:
                continue
            if claim.uid in self.handle.scheduler.pending_claims:
                text = f"resource claim {claim.key} is in the process of being allocated"
                raise ClaimsUnusable(ClaimProblem("pending", "", claim.key, text))
            self._check_requests(claim)

    def _check_requests(self, claim: ResourceClaim) -> None:
        for request in claim.requests:
            name = request["name"]
            if request.get("firstAvailable") and ALTERNATIVES not in self.handle.rules.kept_fields:
                problem = "has subrequests, but the DRAPrioritizedList feature is disabled"
                text = f"resource claim {claim.key}, request {name}: {problem}"
                raise ClaimsUnusable(ClaimProblem("alternatives", name, claim.key, text))
            for name, wanted in alternatives(request):
                device_class = wanted["deviceClassName"]
                if self.handle.objects.get("DeviceClass", device_class) is None:
                    text = f"request {name}: device class {device_class} does not exist"
                    raise ClaimsUnusable(ClaimProblem("no-class", name, claim.key, text, device_class))

    def explain_pre_filter(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Facts:
        problem: ClaimProblem | None = state.noted.get(REFUSAL, {}).get("")
        if problem is None:
            raise PluginError("the pod was not refused")
        return refusal_facts(pod, problem)

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        held, node = state_of(state), node_info.node
        if not held.claims or node is None:
            return None
        allocator = held.allocator
        if allocator is not None:
            allocator = replace(allocator, objects=NotingObjects(self.handle.objects, state, CLASSES))
        found = _found(held, node, allocator)
        if found.status is None and found.allocations:
            held.allocations[node.name] = found.allocations
        return found.status

    def explain_filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Facts:
        held, node = state_of(state), node_info.node
        if not held.claims or node is None:
            return Facts(fact("devices.none-claimed", True, pod=Keys((pod.key,))))
        return self._judged(state, pod, node, Film())[0]

    def explain_search(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> SearchFacts | None:
        """Return each step of the search for the devices of a pod on a node."""
        held, node = state_of(state), node_info.node
        if held.allocator is None or node is None:
            return None
        film = Film()
        facts, allocations = self._judged(state, pod, node, film)
        claims = [claim for _, claim in held.without_devices()]
        return search_facts(facts, claims, allocations, film, _devices(held, node), held.allocator.allocated)

    def _judged(self, state: CycleState, pod: Pod, node: Node, film: Film) -> tuple[Facts, list[dict[str, Any]]]:
        """Repeat Filter. Return its facts and what the claims would get. ``film`` is filled."""
        held = state_of(state)
        allocator = held.allocator
        if allocator is not None:
            allocator = replace(allocator, objects=NotedObjects(self.handle.objects, state, CLASSES))
        try:
            found = _found(held, node, allocator, film)
        except PluginError as problem:
            return failure_facts("cannot-judge", pod, str(problem), node.name), []
        devices, conclusion = _devices(held, node), CONCLUSIONS[found.status]
        facts = filter_facts(pod, node, held.claims, found.allocations, film.steps, devices, found.status, conclusion)
        return facts, found.allocations

    # --- after a failure ---

    def post_filter(
        self, state: CycleState, pod: Pod, statuses: NodeToStatus
    ) -> tuple[PostFilterResult | None, Status]:
        """Take the devices from one claim that only this pod could use, so that they are chosen anew.

        Fail if PreFilter ended before this plugin's turn: Kubernetes v1.34.1 misses its state there, too.
        """
        held = state_of(state)
        if not held.claims:
            return None, NOTHING_TO_DEALLOCATE
        nodes = [info.node for info in self.handle.snapshot.list() if statuses.get(info.name).by("") == NOT_AVAILABLE]
        away = [claim for claim in held.claims if any(node is not None and is_away(claim, node) for node in nodes)]
        # Upstream takes any of them.
        for claim in sorted(away, key=lambda item: item.key):
            consumers = [consumer.get("uid") for consumer in claim.consumers]
            if consumers in ([], [pod.uid]):
                changes = {"status": {"reservedFor": None, "allocation": None, "devices": None}}
                self.handle.api.patch("ResourceClaim", claim.key, changes)
                return None, DEALLOCATED
        return None, STILL_NOT

    # --- after a success ---

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Keep the devices that Filter found on the node, so that no other pod gets them."""
        held = state_of(state)
        wanting = held.without_devices()
        if not wanting:
            return None
        allocations = held.allocations.get(node_name)
        if not allocations:
            raise PluginError("claim allocation not found for node")
        for (number, claim), allocation in zip(wanting, allocations, strict=True):
            held.reserved[number] = allocation
            self.handle.scheduler.pending_claims[claim.uid] = claim.evolve({"status": {"allocation": allocation}})
        return None

    def explain_reserve(self, state: CycleState, pod: Pod, node_name: str) -> Facts:
        held = state_of(state)
        return reserve_facts(pod, {held.claims[number].name: item for number, item in held.reserved.items()})

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        held = state.read(STATE)
        if not isinstance(held, ClaimState):
            return
        for claim in held.latest():
            self.handle.scheduler.pending_claims.pop(claim.uid, None)
            latest = self.handle.objects.get("ResourceClaim", claim.key)
            if isinstance(latest, ResourceClaim) and latest.uid == claim.uid and claim.reserved_for(pod.uid):
                others = [consumer for consumer in latest.consumers if consumer.get("uid") != pod.uid]
                self.handle.api.patch("ResourceClaim", claim.key, {"status": {"reservedFor": others or None}})

    def works_in_pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> bool:
        return bool(state_of(state).claims)

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Write devices and pod into the claims."""
        held = state_of(state)
        for number, claim in enumerate(held.latest()):
            if not claim.reserved_for(pod.uid):
                try:
                    held.written[number] = self._bind(pod, claim, held.reserved.get(number))
                except PluginError as problem:
                    state.notes(PROBLEM)[""] = str(problem)
                    raise
        return None

    def explain_pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Facts:
        problem = state.noted.get(PROBLEM, {}).get("")
        if problem is not None:
            return failure_facts("not-written", pod, problem, node_name)
        return pre_bind_facts(pod, state_of(state).latest())

    def _bind(self, pod: Pod, claim: ResourceClaim, allocation: dict[str, Any] | None) -> ResourceClaim:
        """Return the claim as the API server has it then. Raises PluginError if it has changed in a wrong way."""
        try:
            return self._written(pod, claim, allocation)
        finally:
            if allocation is not None:
                self.handle.scheduler.pending_claims.pop(claim.uid, None)

    def _written(self, pod: Pod, claim: ResourceClaim, allocation: dict[str, Any] | None) -> ResourceClaim:
        """Write first the finalizer, then all else. A claim that was deleted and made again is written like any other:
        upstream gets the latest claim of that name after a conflict.
        """
        key = claim.key
        adds = "add reservation" if allocation is None else "add allocation and reservation"
        latest = self.handle.objects.get("ResourceClaim", key)
        if not isinstance(latest, ResourceClaim):
            first = adds if allocation is None or FINALIZER in _finalizers(claim) else "add finalizer"
            raise PluginError(f'{first} to claim {key}: resourceclaims.resource.k8s.io "{claim.name}" not found')
        if latest.terminating:
            raise PluginError(f"claim {key} got deleted in the meantime")
        if allocation is not None and latest.allocation is not None:
            raise PluginError(f"claim {key} got allocated elsewhere in the meantime")
        if allocation is not None and FINALIZER not in _finalizers(latest):
            finalizers = [*_finalizers(latest), FINALIZER]
            self._patch(key, {"metadata": {"finalizers": finalizers}}, "add finalizer")
        users = [*latest.consumers, {"resource": "pods", "name": pod.name, "uid": pod.uid}]
        status = {"reservedFor": users} if allocation is None else {"allocation": allocation, "reservedFor": users}
        self._patch(key, {"status": status}, adds)
        written = self.handle.objects.get("ResourceClaim", key)
        assert isinstance(written, ResourceClaim)
        return written

    def _patch(self, key: str, changes: dict[str, Any], adds: str) -> None:
        try:
            self.handle.api.patch("ResourceClaim", key, changes)
        except ApiError as refusal:
            raise PluginError(f"{adds} to claim {key}: {refusal.message}") from None


def _finalizers(claim: ResourceClaim) -> list[str]:
    return claim.metadata.get("finalizers") or []


class Found(NamedTuple):
    """The result of Filter. ``allocations``: what each claim without devices would get, [] if they do not get all."""

    status: Status | None
    allocations: list[dict[str, Any]]


def _found(held: ClaimState, node: Node, allocator: Allocator | None, film: Film | None = None) -> Found:
    """Judge a node. Raises PluginError for a claim that cannot be judged."""
    allocations: list[dict[str, Any]] = []
    if allocator is not None:
        try:
            got = allocator.allocate(node, [claim for _, claim in held.without_devices()], film)
        except TimedOut:
            if allocator.rules.long_searches_are_errors:
                raise PluginError(f"node {node.name}: {TIMED_OUT.message}") from None
            return Found(TIMED_OUT, [])
        except InvalidPools:
            return Found(INVALID_POOLS, [])
        if got is None:
            return Found(NOT_ENOUGH, [])
        allocations = got
    if any(is_away(claim, node) for claim in held.claims):
        return Found(NOT_AVAILABLE, allocations)
    return Found(None, allocations)


def _devices(held: ClaimState, node: Node) -> dict[DeviceId, Device]:
    """Return the devices that a node can use, in the order in which a search tries them."""
    pools = () if held.allocator is None else held.allocator.pools(node)
    return {device.id: device for pool in pools for device in pool.devices()}


def may_use(state: CycleState, node: Node, devices: Collection[DeviceId]) -> bool:
    """Return whether a node can use one of these devices."""
    return any(device in devices for device in _devices(state_of(state), node))


def would_do(state: CycleState, node: Node, freed: Collection[DeviceId]) -> bool:
    """Return whether the claims would get what they want on a node if other claims had given ``freed`` back."""
    held = state_of(state)
    if held.allocator is None:
        return False
    others = Table((device, None) for device in held.allocator.allocated if device not in freed)
    try:
        return _found(held, node, replace(held.allocator, allocated=others)).status is None
    except PluginError:
        return False


def state_of(state: CycleState) -> ClaimState:
    """Return what PreFilter wrote. Raises PluginError if it did not run, even for pods without claims."""
    held = state.read(STATE)
    if not isinstance(held, ClaimState):
        raise PluginError("not found")
    return held
