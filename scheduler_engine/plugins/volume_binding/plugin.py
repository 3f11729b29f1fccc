"""VolumeBinding: a pod goes to nodes with its volumes, or where they can be made.

Bound claims keep the pod near their volume; claims that wait for their first consumer get the smallest suitable
volume, or request one on the chosen node. Source: seed 002 §6; upstream
``plugins/volumebinding/volume_binding.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from scheduler_engine.api.objects import KubeObject, Node, Pod
from scheduler_engine.framework.amounts import Mask
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.facts import Facts, Keys, fact
from scheduler_engine.framework.interface import EventRegistration, Handle, Hint, Plugin, PluginError, PreFilterResult
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.nodes import Nodes
from scheduler_engine.framework.noted_objects import NotedObjects, NotingObjects, ObjectGetter, note_as_now
from scheduler_engine.framework.status import SKIP, Code, Status, error, unresolvable
from scheduler_engine.plugins.csi_nodes import csi_nodes
from scheduler_engine.plugins.volume_binding.binder import Stopped, TimedOut, VolumeBinder
from scheduler_engine.plugins.volume_binding.facts import (
    filter_facts,
    immediate_facts,
    pre_bind_facts,
    reserve_facts,
)
from scheduler_engine.plugins.volume_binding.finding import (
    NodeFindings,
    PodVolumeClaims,
    PodVolumes,
    Progress,
    Reservation,
    find_pod_volumes,
)
from scheduler_engine.plugins.volume_binding.matching import volume_limit
from scheduler_engine.plugins.volume_binding.together import reasons_by_node
from scheduler_engine.plugins.volume_facts import refused_early
from scheduler_engine.plugins.volume_references import (
    MIGRATED_PLUGINS,
    ClaimProblem,
    claim_references,
    missing_claim,
    not_owned,
    refers_to,
)

STATE = "VolumeBinding"
FINDINGS = "VolumeBinding/findings"
"""Topic of Filter's findings: node → NodeFindings."""
RESERVATION, PROGRESS = "VolumeBinding/reservation", "VolumeBinding/progress"
"""Topics of the results of Reserve (node → Reservation) and PreBind (number → Progress)."""
TOGETHER, CSI_NODES = "VolumeBinding/together", ("CSINode",)
"""Topic of the objects on which Filter's verdicts about many nodes depend, and their kind."""
GIVEN_BACK = "VolumeBinding/given back"
"""Topic of the nodes on which Unreserve ran after Reserve."""
UNBOUND_IMMEDIATE = unresolvable("pod has unbound immediate PersistentVolumeClaims")
WAITING = Status(Code.WAIT, ("waiting for the volume controller to bind the pod's claims",))
DEFAULT_BIND_TIMEOUT_SECONDS = 600
SECOND_US = 1_000_000


@dataclass(slots=True)
class BindingState:
    """Shared by all copies of a cycle's state, as upstream.

    ``pod_volumes``: the pod's choice per node that passed Filter. ``deadline_us``: when PreBind stops waiting,
    None = nothing written yet.
    """

    claims: PodVolumeClaims = field(default_factory=PodVolumeClaims)
    pod_volumes: dict[str, PodVolumes] = field(default_factory=dict)
    all_bound: bool = False
    deadline_us: int | None = None


class VolumeBinding(Plugin):
    """Arguments: ``bindTimeoutSeconds`` (600), in simulated seconds."""

    name = "VolumeBinding"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self.binder = VolumeBinder(handle)
        self.bind_timeout_us: int = args.get("bindTimeoutSeconds", DEFAULT_BIND_TIMEOUT_SECONDS) * SECOND_US

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        changes = ActionType.ADD | ActionType.UPDATE
        driver_update = ClusterEvent("storage.k8s.io/CSIDriver", ActionType.UPDATE)
        capacity_change = ClusterEvent("storage.k8s.io/CSIStorageCapacity", changes)
        return (
            EventRegistration(ClusterEvent("storage.k8s.io/StorageClass", changes), self.after_class_change),
            EventRegistration(ClusterEvent("PersistentVolumeClaim", changes), self.after_claim_change),
            EventRegistration(ClusterEvent("PersistentVolume", changes)),
            EventRegistration(ClusterEvent("Node", ActionType.ADD | ActionType.UPDATE_NODE_LABEL)),
            EventRegistration(ClusterEvent("storage.k8s.io/CSINode", changes), self.after_csi_node_change),
            EventRegistration(driver_update, self.after_driver_update),
            EventRegistration(capacity_change, self.after_capacity_change),
        )

    def after_class_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if old is None or new is None:
            return Hint.QUEUE, "hints.class-created"
        if (old.manifest.get("allowedTopologies") or []) != (new.manifest.get("allowedTopologies") or []):
            return Hint.QUEUE, "hints.class-topologies-changed"
        return Hint.SKIP, "hints.class-topologies-as-before"

    def after_claim_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if new is not None and refers_to(pod, new):
            return Hint.QUEUE, "hints.claim-created-or-changed"
        return Hint.SKIP, "hints.claim-not-used"

    def after_csi_node_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if old is None or new is None:
            return Hint.QUEUE, "hints.csi-node-created"
        if old.annotations.get(MIGRATED_PLUGINS, "") != new.annotations.get(MIGRATED_PLUGINS, ""):
            return Hint.QUEUE, "hints.migrated-plugins-changed"
        return Hint.SKIP, "hints.migrated-plugins-as-before"

    def after_driver_update(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        used = new is not None and any((volume.get("csi") or {}).get("driver") == new.name for volume in pod.volumes)
        tracked = old is not None and bool(old.spec.get("storageCapacity"))
        tracks = new is not None and bool(new.spec.get("storageCapacity"))
        if used and tracked and not tracks:
            return Hint.QUEUE, "hints.capacity-no-longer-checked"
        return Hint.SKIP, "hints.driver-does-not-matter"

    def after_capacity_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if old is None or new is None:
            return Hint.QUEUE, "hints.capacity-announced"
        before, after = volume_limit(old), volume_limit(new)
        if after is not None and (before is None or after.value() > before.value()):
            return Hint.QUEUE, "hints.larger-volumes"
        return Hint.SKIP, "hints.no-larger-volumes"

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        if not claim_references(pod):
            state.write(STATE, BindingState())
            return None, SKIP
        problem = _claim_problem(pod, NotingObjects(self.handle.objects, state, self.name))
        if problem is not None:
            return None, unresolvable(problem.text)
        claims = self.binder.claims_of(pod)
        if claims.immediate:
            state.notes(FINDINGS).setdefault("", claims)
            return None, UNBOUND_IMMEDIATE
        state.write(STATE, BindingState(claims))
        return None, None

    def explain_pre_filter(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Facts:
        objects = NotedObjects(self.handle.objects, state, self.name)
        problem = _claim_problem(pod, objects)
        if problem is not None:
            return refused_early(pod, problem, objects, (reference.name for reference in claim_references(pod)))
        claims: PodVolumeClaims | None = state.notes(FINDINGS).get("")
        if claims is None:
            raise PluginError("the pod was not refused")
        return replace(immediate_facts(pod, claims), status=UNBOUND_IMMEDIATE)

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        held = _state_of(state)
        if node_info.node is None:
            return None
        findings = find_pod_volumes(held.claims, node_info.node, self.handle.objects)
        state.notes(FINDINGS).setdefault(node_info.name, findings)
        if findings.reasons:
            return unresolvable(*findings.reasons)
        held.pod_volumes[node_info.name] = findings.chosen()
        return None

    def filter_all(self, state: CycleState, pod: Pod, nodes: Nodes) -> list[tuple[Status | None, Mask]] | None:
        held, snapshot, objects = state.read(STATE), self.handle.snapshot, self.handle.objects
        columns = self.handle.counts_together(snapshot.list())
        if columns is None or nodes.infos is not snapshot.slots.infos or not isinstance(held, BindingState):
            return None
        if not self._reserves():
            return None
        try:
            found = reasons_by_node(held.claims, nodes, snapshot, partial(csi_nodes, columns, snapshot, objects))
        except PluginError:
            return None
        note_as_now(objects, state, TOGETHER, CSI_NODES)
        return [(unresolvable(*reasons), there) for reasons, there in found]

    def _reserves(self) -> bool:
        """Return True if Reserve comes to this plugin: it completes what ``filter_all`` leaves out."""
        framework = self.handle.framework
        return framework is not None and any(plugin is self for plugin in framework.points["reserve"])

    def _find(self, state: CycleState, node_name: str) -> None:
        """Find the pod's volumes on the chosen node, if ``filter_all`` has judged it: as they were then."""
        held, info = state.read(STATE), self.handle.snapshot.get(node_name)
        if TOGETHER not in state.noted or not isinstance(held, BindingState) or node_name in held.pod_volumes:
            return
        if info is not None and info.node is not None:
            findings = self._findings_on(state, held, info.node)
            state.notes(FINDINGS).setdefault(node_name, findings)
            if not findings.reasons:
                held.pod_volumes[node_name] = findings.chosen()

    def _findings_on(self, state: CycleState, held: BindingState, node: Node) -> NodeFindings:
        return find_pod_volumes(held.claims, node, NotedObjects(self.handle.objects, state, TOGETHER))

    def explain_filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Facts:
        held, node = _state_of(state), node_info.node
        if node is None:
            raise PluginError("the node is gone")
        findings: NodeFindings | None = state.notes(FINDINGS).get(node_info.name)
        if findings is None:
            findings = self._findings_on(state, held, node)
        status = unresolvable(*findings.reasons) if findings.reasons else None
        return replace(filter_facts(pod, node, held.claims, findings), status=status)

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Skip Score: scoring by free capacity is off in v1.34 unless a feature gate is set."""
        return SKIP

    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        return 0

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        held = _state_of(state)
        self._find(state, node_name)
        chosen = held.pod_volumes.get(node_name)
        notes, info = state.notes(RESERVATION), self.handle.snapshot.get(node_name)
        node = None if info is None else info.node
        try:
            held.all_bound = chosen is None or self.binder.assume(pod, node_name, chosen)
        except PluginError as problem:
            done = problem.done if isinstance(problem, Stopped) else 0
            notes.setdefault(node_name, Reservation(node, False, str(problem), done))
            raise
        notes.setdefault(node_name, Reservation(node, held.all_bound))
        return None

    def explain_reserve(self, state: CycleState, pod: Pod, node_name: str) -> Facts:
        reservation, findings = _reservation(state, node_name), _findings(state, node_name)
        status = error(reservation.problem) if reservation.problem else None
        if findings is None or reservation.node is None:
            return Facts(fact("volumes.nothing-to-reserve", True, pod=Keys((pod.key,))), status=status)
        written = _progress(state)[-1].written if _progress(state) else 0
        given_back = written if node_name in state.noted.get(GIVEN_BACK, {}) else None
        facts = reserve_facts(pod, reservation.node, _state_of(state).claims, findings, reservation, given_back)
        return replace(facts, status=status)

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        held = state.read(STATE)
        self._find(state, node_name)
        if isinstance(held, BindingState) and node_name in held.pod_volumes:
            self.binder.revert(held.pod_volumes[node_name])
            state.notes(GIVEN_BACK).setdefault(node_name, True)

    def works_in_pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> bool:
        """Raises PluginError if neither Filter nor Reserve found volumes for the pod."""
        held = _state_of(state)
        if not held.all_bound:
            self._chosen(state, held, node_name)
        return not held.all_bound

    def _chosen(self, state: CycleState, held: BindingState, node_name: str) -> PodVolumes:
        self._find(state, node_name)
        if node_name not in held.pod_volumes:
            raise PluginError(f'no pod volume found for node "{node_name}"')
        return held.pod_volumes[node_name]

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Write the choice once, then Wait for the volume controller and check every simulated second."""
        held = _state_of(state)
        if held.all_bound:
            return None
        chosen = self._chosen(state, held, node_name)
        try:
            waits_for = self._bind(held, pod, node_name, chosen)
        except PluginError as problem:
            written = problem.done if isinstance(problem, Stopped) else chosen.count
            late = problem.unbound if isinstance(problem, TimedOut) else ()
            _note(state, Progress(held.deadline_us or 0, late, str(problem), written))
            raise
        _note(state, Progress(held.deadline_us or 0, waits_for, written=chosen.count))
        return WAITING if waits_for else None

    def _bind(self, held: BindingState, pod: Pod, node_name: str, chosen: PodVolumes) -> tuple[str, ...]:
        """Return the names of claims that are not bound yet; right after writing, all."""
        if held.deadline_us is None:
            names = [item.claim.name for item in chosen.static_bindings] + [item.name for item in chosen.provisions]
            self.binder.write(pod, chosen)
            held.deadline_us = self.handle.now_us + self.bind_timeout_us
            return tuple(names)
        try:
            unbound = self.binder.unbound(pod, node_name, chosen)
        except PluginError as problem:
            raise PluginError(f"binding volumes: {problem}") from problem
        held.all_bound = not unbound
        late = tuple(claim.name for claim in unbound)
        if late and self.handle.now_us >= held.deadline_us:
            raise TimedOut("binding volumes: context deadline exceeded", late)
        return late

    def explain_pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Facts:
        """Explain the last call."""
        reservation, findings = _reservation(state, node_name), _findings(state, node_name)
        if reservation.all_bound or findings is None:
            return Facts(fact("volumes.nothing-to-write", True, pod=Keys((pod.key,))))
        progress = _progress(state)
        if not progress:
            raise PluginError("PreBind has not run")
        last = progress[-1]
        status = error(last.problem) if last.problem else WAITING if last.waits_for else None
        return replace(pre_bind_facts(pod, node_name, findings, last), status=status)


def _progress(state: CycleState) -> list[Progress]:
    """Return the results of PreBind's calls, each one once."""
    return [*state.noted.get(PROGRESS, {}).values()]


def _note(state: CycleState, progress: Progress) -> None:
    """Keep the result of a call of PreBind, unless the last one was the same."""
    notes = state.notes(PROGRESS)
    if not notes or notes[len(notes) - 1] != progress:
        notes[len(notes)] = progress


def _reservation(state: CycleState, node_name: str) -> Reservation:
    reservation = state.noted.get(RESERVATION, {}).get(node_name)
    if not isinstance(reservation, Reservation):
        raise PluginError("nothing was reserved on the node")
    return reservation


def _findings(state: CycleState, node_name: str) -> NodeFindings | None:
    """Return Filter's findings on the node; None: the pod has no claims, so Filter was skipped."""
    findings: NodeFindings | None = state.noted.get(FINDINGS, {}).get(node_name)
    return findings


def _state_of(state: CycleState) -> BindingState:
    held = state.read(STATE)
    if not isinstance(held, BindingState):
        raise PluginError("not found")
    return held


def _claim_problem(pod: Pod, objects: ObjectGetter) -> ClaimProblem | None:
    """Return what rules the pod out everywhere."""
    for reference in claim_references(pod):
        name = reference.name
        claim = objects.get("PersistentVolumeClaim", f"{pod.namespace}/{name}")
        if claim is None and reference.ephemeral:
            text = f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
            return ClaimProblem(text, "claim-not-created-yet", name)
        if claim is None:
            return missing_claim(name)
        if claim.status.get("phase") == "Lost":
            volume_name = claim.spec.get("volumeName") or ""
            text = f'persistentvolumeclaim "{claim.name}" bound to non-existent persistentvolume "{volume_name}"'
            return ClaimProblem(text, "volume-is-lost", name, volume_name)
        if claim.terminating:
            return ClaimProblem(f'persistentvolumeclaim "{claim.name}" is being deleted', "claim-is-deleted", name)
        foreign = not_owned(pod, claim) if reference.ephemeral else ""
        if foreign:
            return ClaimProblem(foreign, "claim-of-another-pod", name)
    return None
