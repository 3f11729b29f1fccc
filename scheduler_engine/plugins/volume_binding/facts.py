"""Facts of a pod's claims: which must be bound before Filter, what Filter found on a node, what Reserve and PreBind do.

Source: upstream ``volumebinding/binder.go``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.framework.facts import Amount, AnyOf, Fact, Facts, Keys, Parts, Value, fact
from scheduler_engine.plugins.node_affinity_facts import selector_facts
from scheduler_engine.plugins.volume_binding.finding import (
    BIND_CONFLICT,
    BoundFinding,
    NodeFindings,
    PodVolumeClaims,
    Progress,
    Reservation,
    UnboundClaim,
    UnboundFinding,
)
from scheduler_engine.plugins.volume_binding.matching import (
    Candidate,
    bound_to,
    objections,
    requested_storage,
    suitable_volumes,
)
from scheduler_engine.plugins.volume_facts import claim_fact
from scheduler_engine.plugins.volume_references import storage_class_of
from scheduler_engine.timeline import SECOND_US

NANO = 10**9


def immediate_facts(pod: Pod, claims: PodVolumeClaims) -> Facts:
    """Explain which claims of a pod are not bound."""
    names = Keys(item.claim.name for item in claims.immediate)
    whys = [
        fact(
            f"volumes.{why}",
            False,
            claim=claim.name,
            name=storage_class_of(claim),
            volume=claim.spec.get("volumeName") or "",
        )
        for claim, why in claims.immediate
    ]
    bound, waiting = (item.claim for item in claims.bound), (item.claim for item in (*claims.selected, *claims.unbound))
    others = [claim_fact(claim.name, claim) for claim in (*bound, *waiting)]
    says = fact("volumes.claims-not-bound", False, pod=Keys((pod.key,)), claims=names, count=len(names))
    return Facts(says, (*whys, *others))


def filter_facts(pod: Pod, node: Node, claims: PodVolumeClaims, findings: NodeFindings) -> Facts:
    bound = [shown for item in findings.bound for shown in _bound(item, node)]
    waiting = [*_waiting(node, claims, findings)]
    return Facts(_conclusion(pod, node, findings, [*bound, *waiting]), (*bound, *waiting))


def _bound(finding: BoundFinding, node: Node) -> Iterator[Fact]:
    claim, volume, name = finding.claim.name, finding.volume, finding.claim.spec["volumeName"]
    if finding.reachable:
        row = "bound-and-reachable"
    else:
        row = "bound-to-nothing" if volume is None else "bound-out-of-reach"
    yield fact(f"volumes.{row}", finding.reachable, claim=claim, volume=name, node=node.name)
    if volume is not None and volume.node_selector is not None and not finding.reachable:
        # Like the decision, the terms ignore the node's name.
        yield from selector_facts("volumes.node-affinity", volume.node_selector, "", node.labels, volume=name)


def _waiting(node: Node, claims: PodVolumeClaims, findings: NodeFindings) -> Iterator[Fact]:
    away = findings.elsewhere
    if away is not None:
        yield fact(
            "volumes.provisioned-elsewhere", False, claim=away.claim.name, chosen=away.selected_node, node=node.name
        )
    for finding in findings.unbound:
        claim = finding.item.claim.name
        if finding.volume is not None:
            yield _takes(node, claims, findings, finding, finding.volume.name)
            continue
        if finding.item.selected_node:
            yield fact("volumes.provisioned-here", claim=claim, chosen=node.name)
        else:
            yield fact("volumes.none-suits", claim=claim)
            yield from _passed_over(node, claims, findings, finding)
        yield _provisioned(node, finding)


def _takes(node: Node, claims: PodVolumeClaims, findings: NodeFindings, finding: UnboundFinding, volume: str) -> Fact:
    item = finding.item
    if finding.volume is not None and bound_to(finding.volume, item.claim):
        return fact("volumes.takes-what-is-set-aside", True, claim=item.claim.name, volume=volume)
    taken = _taken_before(claims, findings, item)
    suitable = suitable_volumes(item.claim, item.size, item.candidates, node.labels, taken)
    equal = _equal(suitable, suitable[0].capacity)
    row = "takes-the-first" if equal > 1 else "takes-the-smallest"
    return fact(f"volumes.{row}", True, claim=item.claim.name, volume=volume, equal=equal)


def _passed_over(
    node: Node, claims: PodVolumeClaims, findings: NodeFindings, finding: UnboundFinding
) -> Iterator[Fact]:
    """Return the volumes of the claim's class, by reason why none fits."""
    item = finding.item
    taken = _taken_before(claims, findings, item)
    size = requested_storage(item.claim) or "0"
    for reason, names in objections(item.claim, item.size, item.candidates, node.labels, taken).items():
        yield fact(
            f"volumes.passed-over-{reason}", claim=item.claim.name, volumes=Keys(names), size=str(size), node=node.name
        )


def _provisioned(node: Node, finding: UnboundFinding) -> Fact:
    """Explain if a volume can be provisioned for the claim."""
    how, claim = finding.item.provisioning, finding.item.claim
    places = AnyOf(str(item) for item in how.topologies or ())
    if not finding.reason:
        row = "can-be-provisioned"
    elif finding.reason != BIND_CONFLICT:
        row = "no-room"
    elif not how.supported:
        row = "class-provisions-none"
    else:
        row = "class-provisions-only"
    size = str(requested_storage(claim) or "0")
    values = {"claim": claim.name, "name": storage_class_of(claim), "node": node.name, "size": size}
    return fact(f"volumes.{row}", not finding.reason, topologies=places, **values)


def reserve_facts(
    pod: Pod,
    node: Node,
    claims: PodVolumeClaims,
    findings: NodeFindings,
    reservation: Reservation,
    given_back: int | None = None,
) -> Facts:
    """Explain which volumes are reserved for the claims, why these, and for which claims one is provisioned.

    ``given_back``: Unreserve ran, and this number of claims was written before.
    """
    about: dict[str, Value] = {"pod": Keys((pod.key,)), "node": node.name}
    bound = [claim_fact(item.claim.name, item.claim) for item in findings.bound]
    if reservation.all_bound:
        return Facts(fact("volumes.all-claims-bound", True, **about), tuple(bound))
    if reservation.problem:
        says = fact("volumes.not-reserved", False, **about, reason=reservation.problem)
        return Facts(says, (*bound, *_not_reserved(findings, reservation.assumed)))
    waiting = [_reserved(node, claims, findings, finding) for finding in findings.unbound]
    says = _given_back(about, findings, given_back) if given_back else _reserved_in_all(about, findings, given_back)
    return Facts(says, (*bound, *waiting))


def _reserved_in_all(about: dict[str, Value], findings: NodeFindings, given_back: int | None) -> Fact:
    volumes = Keys(item.volume.name for item in findings.unbound if item.volume is not None)
    provisioned = Keys(item.item.claim.name for item in findings.unbound if item.volume is None)
    row = "reserved-and-provisioned" if volumes and provisioned else "reserved" if volumes else "provisioned"
    row = row if given_back is None else f"{row}-given-back"
    ok = True if given_back is None else None
    return fact(
        f"volumes.{row}", ok, **about, volumes=volumes, claims=provisioned, count=len(volumes) or len(provisioned)
    )


def _given_back(about: dict[str, Value], findings: NodeFindings, written: int) -> Fact:
    """Say that Unreserve gave back what PreBind had not written."""
    stay = Keys(item.item.claim.name for item in findings.unbound[:written])
    row = "rest-given-back" if written < len(findings.unbound) else "nothing-given-back"
    return fact(f"volumes.{row}", **about, claims=stay, count=len(stay))


def _not_reserved(findings: NodeFindings, assumed: int) -> Iterator[Fact]:
    """Say for which claim Reserve failed, what it gave back, and what it did not try."""
    for place, finding in enumerate(findings.unbound):
        row = "assumed-and-given-back" if place < assumed else "not-assumed" if place == assumed else "not-tried"
        item, volume = finding.item, finding.volume
        if volume is not None:
            what = fact("volumes.that-volume", volume=volume.name)
        else:
            size = Amount("storage", item.size // NANO)
            what = fact("volumes.new-volume", size=size, name=storage_class_of(item.claim))
        yield fact(f"volumes.{row}", False if place == assumed else None, claim=item.claim.name, what=what)


def _reserved(node: Node, claims: PodVolumeClaims, findings: NodeFindings, finding: UnboundFinding) -> Fact:
    item, volume = finding.item, finding.volume
    claim, size = item.claim, Amount("storage", item.size // NANO)
    if volume is None:
        row = "provisions-as-requested" if item.selected_node else "provisions"
        return fact(f"volumes.{row}", claim=claim.name, size=size, name=storage_class_of(claim), node=node.name)
    if bound_to(volume, claim):
        return fact("volumes.reserves-what-is-set-aside", True, claim=claim.name, volume=volume.name)
    suitable = suitable_volumes(claim, item.size, item.candidates, node.labels, _taken_before(claims, findings, item))
    sizes = [
        fact("volumes.size", volume=one.volume.name, size=Amount("storage", one.capacity // NANO)) for one in suitable
    ]
    capacity = next(one.capacity for one in suitable if one.volume.name == volume.name)
    equal = _equal(suitable, capacity)
    several = "reserves-the-first" if equal > 1 else "reserves-the-smallest"
    return fact(
        f"volumes.{several}" if len(suitable) > 1 else "volumes.reserves-the-only",
        True,
        claim=claim.name,
        volume=volume.name,
        size=size,
        capacity=Amount("storage", capacity // NANO),
        count=len(suitable),
        equal=equal,
        suitable=Parts(sizes),
        node=node.name,
    )


def _equal(suitable: Sequence[Candidate], capacity: int) -> int:
    """Return how many volumes have this size; ``find_matching_volume`` takes the first of them by name."""
    return sum(one.capacity == capacity for one in suitable)


def _taken_before(claims: PodVolumeClaims, findings: NodeFindings, item: UnboundClaim) -> list[str]:
    """Return the volumes that the pod's smaller claims take."""
    before = claims.unbound[: claims.unbound.index(item)]
    return [known.volume.name for known in findings.unbound if known.volume is not None and known.item in before]


def pre_bind_facts(pod: Pod, node: str, findings: NodeFindings, progress: Progress) -> Facts:
    """Explain what PreBind wrote, and for which claims it waits. The first write that fails ends it."""
    about: dict[str, Value] = {"pod": Keys((pod.key,)), "count": len(progress.waits_for)}
    if progress.waits_for:
        row, ok = ("not-bound-in-time", False) if progress.problem else ("waits-for-controller", None)
        deadline, claims = progress.deadline_us / SECOND_US, Keys(progress.waits_for)
        says = fact(f"volumes.{row}", ok, **about, claims=claims, seconds=deadline)
    elif progress.problem:
        says = fact("volumes.binding-failed", False, **about, reason=progress.problem)
    else:
        says = fact("volumes.controller-is-done", True, **about)
    return Facts(says, tuple(_writes(node, findings, progress.written)))


def _writes(node: str, findings: NodeFindings, written: int) -> Iterator[Fact]:
    for place, item in enumerate(findings.unbound):
        ok, end = (None, "") if place < written else (False, "-failed") if place == written else (None, "-not-tried")
        if item.volume is None:
            yield fact(f"volumes.writes-selected-node{end}", ok, claim=item.item.claim.name, node=node)
        else:
            yield fact(f"volumes.writes-claim-ref{end}", ok, claim=item.item.claim.name, volume=item.volume.name)


CONCLUSIONS = {
    "bound-out-of-reach": "out-of-reach",
    "provisioned-elsewhere": "being-provisioned-elsewhere",
    "class-provisions-none": "no-volume-and-none-provisioned",
    "class-provisions-only": "no-volume-and-provisioned-elsewhere",
    "no-room": "no-volume-and-no-room",
    "bound-to-nothing": "volume-is-missing",
}
"""Row of a fact → row of its conclusion; if there are several, the first here wins."""


def _conclusion(pod: Pod, node: Node, findings: NodeFindings, shown: list[Fact]) -> Fact:
    rows = {item.key.removeprefix("volumes."): item for item in shown if item.ok is False}
    for row, follows in CONCLUSIONS.items():
        if findings.reasons and row in rows:
            return fact(f"volumes.{follows}", False, **rows[row].values)
    return fact("volumes.within-reach", True, pod=Keys((pod.key,)), node=node.name)
