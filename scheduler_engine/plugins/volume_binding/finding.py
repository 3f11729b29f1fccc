"""What a pod's claims find on a node: their bound volumes, volumes they would take, or new ones.

Source: seed 002 §6; upstream ``volumebinding/binder.go``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from scheduler_engine.api.objects import KubeObject, Node
from scheduler_engine.framework.interface import PluginError
from scheduler_engine.framework.noted_objects import ObjectGetter
from scheduler_engine.plugins.csi_translation import Untranslatable
from scheduler_engine.plugins.volume_binding.choice import Choice
from scheduler_engine.plugins.volume_binding.matching import Candidate, Provisioning, as_on_node
from scheduler_engine.records import record

NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind"
NOT_ENOUGH_SPACE = "node(s) did not have enough free storage"
VOLUME_MISSING = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"


class BoundClaim(NamedTuple):
    """``volume`` None: it does not exist."""

    claim: KubeObject
    volume: Candidate | None


@record(frozen=True, slots=True)
class UnboundClaim:
    """A claim that waits for its first consumer. ``size``: nano-bytes requested. ``selected_node``: where a volume was
    already requested, or "". ``choice``: the order in which it takes one of the ``candidates``.
    """

    claim: KubeObject
    size: int
    candidates: tuple[Candidate, ...]
    provisioning: Provisioning
    selected_node: str
    choice: Choice = field(compare=False, repr=False)

    def labels_read(self) -> dict[str, None]:
        """Return the keys of the node labels on which the outcome depends."""
        selectors = (*(self.provisioning.topologies or ()), *(self.provisioning.capacities or ()))
        read = dict.fromkeys(needed.key for selector in selectors for needed in selector.requirements)
        for item in (*self.choice.reserved, *self.choice.suitable):
            for term in item.node_selector.terms if item.node_selector is not None else ():
                read.update(dict.fromkeys(needed.key for needed in term.expressions))
        return read


class ImmediateClaim(NamedTuple):
    """A claim that should be bound by now; ``why``: row of the fact that says why it does not wait for the pod."""

    claim: KubeObject
    why: str


@record(frozen=True, slots=True)
class PodVolumeClaims:
    """``unbound``: the smallest first; ``selected``: those for which a volume was requested on some node."""

    bound: tuple[BoundClaim, ...] = ()
    unbound: tuple[UnboundClaim, ...] = ()
    selected: tuple[UnboundClaim, ...] = ()
    immediate: tuple[ImmediateClaim, ...] = ()


@record(frozen=True, slots=True)
class Binding:
    volume: KubeObject
    claim: KubeObject


@dataclass(slots=True)
class PodVolumes:
    """The volumes a pod would take on one node. ``assumed``: the objects contain the changes to write."""

    static_bindings: list[Binding] = field(default_factory=list)
    provisions: list[KubeObject] = field(default_factory=list)
    assumed: bool = False

    @property
    def count(self) -> int:
        return len(self.static_bindings) + len(self.provisions)


class BoundFinding(NamedTuple):
    """``volume`` as seen from the node."""

    claim: KubeObject
    volume: Candidate | None
    reachable: bool


class UnboundFinding(NamedTuple):
    """``volume``: the one for the claim, None = one must be created. ``reason``: why that is impossible."""

    item: UnboundClaim
    volume: KubeObject | None
    reason: str = ""


class Reservation(NamedTuple):
    """The result of Reserve on ``node``. ``all_bound``: there was nothing to assume. ``problem``: why it failed.

    ``assumed``: claims before the one that failed, in the order of ``NodeFindings.unbound``.
    """

    node: Node | None
    all_bound: bool
    problem: str = ""
    assumed: int = 0


class Progress(NamedTuple):
    """The result of a call of PreBind after Reserve assumed something.

    ``waits_for``: names of claims that are not bound; empty: the volume controller is done. ``problem``: why it
    failed, or ""; if there are claims too, they were not bound at the deadline. ``written``: claims whose choice the
    API server has, in the order of ``NodeFindings.unbound``.
    """

    deadline_us: int
    waits_for: tuple[str, ...] = ()
    problem: str = ""
    written: int = 0


class NodeFindings(NamedTuple):
    """The findings so far: bound claims up to the first faulty one, and those to provision likewise, after those with
    a volume.

    ``elsewhere``: a claim whose volume is being created on another node; then no other unbound one was checked.
    """

    bound: list[BoundFinding]
    unbound: list[UnboundFinding]
    elsewhere: UnboundClaim | None
    reasons: list[str]

    def chosen(self) -> PodVolumes:
        """Return what the pod would take, if there are no ``reasons``."""
        taken = [Binding(item.volume, item.item.claim) for item in self.unbound if item.volume is not None]
        return PodVolumes(taken, [item.item.claim for item in self.unbound if item.volume is None])


def find_pod_volumes(claims: PodVolumeClaims, node: Node, objects: ObjectGetter) -> NodeFindings:
    """Return what the claims find on ``node``, and the reasons against the pod there."""
    bound: list[BoundFinding] = []
    reasons: list[str] = []
    missing = False
    for claim, item in claims.bound:
        volume = None if item is None else on_node(item, node, objects)
        reachable = volume is not None and volume.reachable_from(node.labels)
        bound.append(BoundFinding(claim, volume, reachable))
        if not reachable:
            missing = volume is None
            break
    if bound and not bound[-1].reachable and not missing:
        reasons.append(NODE_CONFLICT)
    elsewhere = next((item for item in claims.selected if item.selected_node != node.name), None)
    unbound = find_unbound(claims, node) if elsewhere is None else []
    problem = BIND_CONFLICT if elsewhere is not None else unbound[-1].reason if unbound else ""
    if problem:
        reasons.append(problem)
    if missing:
        reasons.append(VOLUME_MISSING)
    return NodeFindings(bound, unbound, elsewhere, reasons)


def on_node(item: Candidate, node: KubeObject, objects: ObjectGetter) -> Candidate:
    """Return the volume as seen from ``node``. Raises PluginError for a broken in-tree volume."""
    if not item.plugin:
        return item
    try:
        return as_on_node(item, objects.get("CSINode", node.name))
    except Untranslatable as problem:
        raise PluginError(f"could not translate pv: {problem}") from problem


def find_unbound(claims: PodVolumeClaims, node: Node) -> list[UnboundFinding]:
    """Try existing volumes first, the smallest claim choosing first; the rest must be created."""
    findings: list[UnboundFinding] = []
    to_provision = [*claims.selected]
    taken: dict[str, None] = {}
    for item in claims.unbound:
        match = item.choice.on(node.labels, taken)
        if match is None:
            to_provision.append(item)
            continue
        taken[match.volume.name] = None
        findings.append(UnboundFinding(item, match.volume))
    for item in to_provision:
        reason = ""
        if not item.provisioning.possible_on(node.labels):
            reason = BIND_CONFLICT
        elif not item.provisioning.has_space_on(node.labels):
            reason = NOT_ENOUGH_SPACE
        findings.append(UnboundFinding(item, None, reason))
        if reason:
            break
    return findings
