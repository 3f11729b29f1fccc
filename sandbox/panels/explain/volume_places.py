"""VolumeZone and VolumeBinding in words and numbers: where a pod's volumes are, or could be made.

Source: seed 002 §6; upstream ``plugins/{volumezone,volumebinding}``.
"""

from __future__ import annotations

from sandbox.panels.explain.claims import claims_of, fully_bound
from sandbox.panels.explain.model import UNRESOLVABLE, Case, Explanation, Line, label_of, passes, refuses
from sandbox.panels.explain.node_affinity import wanted
from sandbox.panels.explain.volume_matching import Provisioning, find_volume, provisioning, size_of
from scheduler_engine.api.node_affinity import node_selector_from
from scheduler_engine.api.objects import KubeObject
from scheduler_engine.api.topology import VOLUME_LABELS

NO_ZONE = "node(s) had no available volume zone"
ELSEWHERE = "node(s) didn't match PersistentVolume's node affinity"
NONE_FOUND = "node(s) didn't find available persistent volumes to bind"
NO_SPACE = "node(s) did not have enough free storage"
VOLUME_GONE = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
SELECTED_NODE = "volume.kubernetes.io/selected-node"


def zone_filter(case: Case) -> Explanation:
    labels = case.node.labels
    if not any(label in labels for label in VOLUME_LABELS):
        line = Line("zone labels", "none on the node", "a cluster in one zone may leave its nodes unlabelled")
        return passes(f"{case.node.name} has no zone label, so zones of volumes are not checked.", [line])
    lines, problem, objects = list[Line](), "", case.seen.pre_filter
    for name in case.pod.claim_names:
        claim = objects.get("PersistentVolumeClaim", f"{case.pod.namespace}/{name}")
        volume = objects.get("PersistentVolume", (claim.spec.get("volumeName") or "") if claim else "")
        for label, values in _topologies(volume):
            answer = label if label in labels else VOLUME_LABELS[label]
            fits, where, has = labels.get(answer) in values, " or ".join(values), label_of(labels, answer)
            lines.append(Line(f"claim {name}", f"{label} {where}, node has {has}", "" if fits else "another place"))
            if not fits and not problem:
                problem = f"The volume of claim {name} is in {where}, and {case.node.name} has {has}."
    if problem:
        return refuses(problem, lines, NO_ZONE, code=UNRESOLVABLE)
    return passes(f"The volumes of {case.name} are where {case.node.name} is.", lines)


def _topologies(volume: KubeObject | None) -> list[tuple[str, list[str]]]:
    """(label, values that will do) of a volume; ``a__b`` names two zones, a label with an empty part does not count."""
    found = []
    for label in VOLUME_LABELS:
        if volume is not None and label in volume.labels:
            values = sorted({part.strip() for part in volume.labels[label].split("__")})
            if all(values):
                found.append((label, values))
    return found


def binding_filter(case: Case) -> Explanation:
    """Bound claims first; then those that wait for their first consumer, the smallest choosing first."""
    lines: list[Line] = []
    waiting: list[KubeObject] = []
    elsewhere = gone = ""
    for name, claim in claims_of(case.pod, case.seen.pre_filter):
        if claim is None:
            continue
        if not fully_bound(claim):
            waiting.append(claim)
            continue
        volume = case.seen.pre_filter.get("PersistentVolume", claim.spec["volumeName"])
        if volume is None:
            lines.append(Line(f"claim {name}", f"bound to {claim.spec['volumeName']}", "which does not exist"))
            gone = gone or name
            continue
        problem = _out_of_reach(volume, case)
        lines.append(Line(f"claim {name}", f"bound to {volume.name}", problem or "the node can reach it"))
        if problem and not gone and not elsewhere:
            elsewhere = name
    reason, why = _waiting(case, waiting, lines)
    reasons = [
        *([ELSEWHERE] if elsewhere else []),
        *([reason] if reason else []),
        *([VOLUME_GONE] if gone and not elsewhere else []),
    ]
    if not reasons:
        return passes(f"The volumes of {case.name} are within reach of {case.node.name}, or can be made there.", lines)
    if elsewhere:
        why = f"The volume of claim {elsewhere} cannot be reached from {case.node.name}."
    return refuses(why or f"Claim {gone} is bound to a volume that does not exist.", lines, *reasons, code=UNRESOLVABLE)


def _out_of_reach(volume: KubeObject, case: Case) -> str:
    """Which of the volume's terms fail on the node, "" when one matches or there are none."""
    required = (volume.spec.get("nodeAffinity") or {}).get("required")
    if required is None:
        return ""
    selector = node_selector_from(required)
    if selector.matches("", case.node.labels):
        return ""
    failed = [item for term in selector.terms for item in term.expressions if not item.matches(case.node.labels)]
    said = [f"needs {wanted(item)}, node has {label_of(case.node.labels, item.key)}" for item in failed]
    return "; ".join(said) or "its node affinity matches no node"


def _waiting(case: Case, waiting: list[KubeObject], lines: list[Line]) -> tuple[str, str]:
    """(reason, sentence) of the first claim that finds nothing, "" each when all do."""
    objects = case.seen.pre_filter
    for claim in waiting:
        chosen = claim.annotations.get(SELECTED_NODE, "")
        if chosen not in ("", case.node.name):
            lines.append(
                Line(f"claim {claim.name}", f"a volume is being made on {chosen}", "so only that node will do")
            )
            return NONE_FOUND, f"The volume of claim {claim.name} is being made on {chosen}, not on {case.node.name}."
    taken: list[str] = []
    to_make = [claim for claim in waiting if claim.annotations.get(SELECTED_NODE)]
    for claim in sorted((item for item in waiting if item not in to_make), key=size_of):
        volume = find_volume(claim, objects, case.node.labels, taken)
        if volume is None:
            to_make.append(claim)
        else:
            taken.append(volume.name)
            lines.append(
                Line(
                    f"claim {claim.name}",
                    f"takes {volume.name}",
                    "the smallest available volume that suits, or the one set aside",
                )
            )
    for claim in to_make:
        reason, note = _make(provisioning(claim, objects), case)
        lines.append(Line(f"claim {claim.name}", "no volume suits, one would have to be made", note))
        if reason:
            return (
                reason,
                f"For claim {claim.name} there is no volume on {case.node.name}, and none can be made: {note}.",
            )
    return "", ""


def _make(how: Provisioning, case: Case) -> tuple[str, str]:
    labels = case.node.labels
    if not how.supported:
        return NONE_FOUND, "its class makes none"
    if how.topologies is not None and not any(item.matches(labels) for item in how.topologies):
        return NONE_FOUND, f"its class makes volumes only where {' or '.join(map(str, how.topologies)) or '(nowhere)'}"
    if how.capacities is not None and not any(item.matches(labels) for item in how.capacities):
        return NO_SPACE, "no storage that the node sees has enough room"
    return "", "its class can make one here"
