"""VolumeZone and VolumeBinding in words and numbers: where a pod's volumes are, or could be made.

Source: seed 002 §6; upstream ``plugins/{volumezone,volumebinding}``.
"""

from __future__ import annotations

from sandbox.panels.explain.claims import claims_of, fully_bound
from sandbox.panels.explain.model import UNRESOLVABLE, Case, Explanation, Line, any_of, label_of, passes, refuses
from sandbox.panels.explain.volume_matching import Provisioning, find_volume, provisioning, size_of
from sandbox.panels.words.say import say
from scheduler_engine.api.labels import Selector
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
        line = Line(say("volumes.zone-labels"), say("volumes.no-zone-labels"), say("volumes.no-zone-labels-note"))
        return passes(say("volumes.zones-not-checked", node=case.node.name), [line])
    lines, problem, objects = list[Line](), "", case.seen.pre_filter
    for name in case.pod.claim_names:
        claim = objects.get("PersistentVolumeClaim", f"{case.pod.namespace}/{name}")
        volume = objects.get("PersistentVolume", (claim.spec.get("volumeName") or "") if claim else "")
        for label, values in _topologies(volume):
            answer = label if label in labels else VOLUME_LABELS[label]
            fits, where, has = labels.get(answer) in values, any_of(values), label_of(labels, answer)
            said = say("volumes.volume-label", key=label, values=where, label=has)
            note = "" if fits else say("volumes.another-place")
            lines.append(Line(say("volumes.claim", claim=name), said, note))
            if not fits and not problem:
                problem = say("volumes.in-another-zone", claim=name, values=where, node=case.node.name, label=has)
    if problem:
        return refuses(problem, lines, NO_ZONE, code=UNRESOLVABLE)
    return passes(say("volumes.in-this-zone", pod=case.name, node=case.node.name), lines)


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
        label, bound = say("volumes.claim", claim=name), say("volumes.claim-bound", volume=claim.spec["volumeName"])
        if volume is None:
            lines.append(Line(label, bound, say("volumes.which-does-not-exist")))
            gone = gone or name
            continue
        problem = _out_of_reach(volume, case)
        lines.append(Line(label, bound, problem or say("volumes.within-reach-note")))
        if problem and not gone and not elsewhere:
            elsewhere = name
    reason, why = _waiting(case, waiting, lines)
    reasons = [
        *([ELSEWHERE] if elsewhere else []),
        *([reason] if reason else []),
        *([VOLUME_GONE] if gone and not elsewhere else []),
    ]
    if not reasons:
        return passes(say("volumes.within-reach", pod=case.name, node=case.node.name), lines)
    if elsewhere:
        why = say("volumes.out-of-reach", claim=elsewhere, node=case.node.name)
    return refuses(why or say("volumes.volume-missing", claim=gone), lines, *reasons, code=UNRESOLVABLE)


def _out_of_reach(volume: KubeObject, case: Case) -> str:
    """Which of the volume's terms fail on the node, "" when one matches or there are none."""
    required = (volume.spec.get("nodeAffinity") or {}).get("required")
    if required is None:
        return ""
    selector = node_selector_from(required)
    if selector.matches("", case.node.labels):
        return ""
    failed = [item for term in selector.terms for item in term.expressions if not item.matches(case.node.labels)]
    said = [
        say("volumes.volume-needs", wanted=item.text, label=label_of(case.node.labels, item.key)) for item in failed
    ]
    return "; ".join(said) or say("volumes.matches-no-node")


def _waiting(case: Case, waiting: list[KubeObject], lines: list[Line]) -> tuple[str, str]:
    """(reason, sentence) of the first claim that finds nothing, "" each when all do."""
    objects = case.seen.pre_filter
    for claim in waiting:
        chosen = claim.annotations.get(SELECTED_NODE, "")
        if chosen not in ("", case.node.name):
            making = say("volumes.being-made", node=chosen)
            lines.append(Line(say("volumes.claim", claim=claim.name), making, say("volumes.being-made-note")))
            return NONE_FOUND, say("volumes.being-made-elsewhere", claim=claim.name, chosen=chosen, node=case.node.name)
    taken: list[str] = []
    to_make = [claim for claim in waiting if claim.annotations.get(SELECTED_NODE)]
    for claim in sorted((item for item in waiting if item not in to_make), key=size_of):
        volume = find_volume(claim, objects, case.node.labels, taken)
        if volume is None:
            to_make.append(claim)
        else:
            taken.append(volume.name)
            takes = say("volumes.takes", volume=volume.name)
            lines.append(Line(say("volumes.claim", claim=claim.name), takes, say("volumes.takes-note")))
    for claim in to_make:
        reason, note = _make(provisioning(claim, objects), case)
        lines.append(Line(say("volumes.claim", claim=claim.name), say("volumes.none-suits"), note))
        if reason:
            return reason, say("volumes.none-can-be-made", claim=claim.name, node=case.node.name, why=note)
    return "", ""


def _make(how: Provisioning, case: Case) -> tuple[str, str]:
    labels = case.node.labels
    if not how.supported:
        return NONE_FOUND, say("volumes.class-makes-none")
    if how.topologies is not None and not any(item.matches(labels) for item in how.topologies):
        return NONE_FOUND, _makes_only(how.topologies)
    if how.capacities is not None and not any(item.matches(labels) for item in how.capacities):
        return NO_SPACE, say("volumes.no-room")
    return "", say("volumes.class-can-make")


def _makes_only(topologies: tuple[Selector, ...]) -> str:
    where = any_of([str(item) for item in topologies])
    return say("volumes.class-makes-only", topologies=where) if where else say("volumes.class-makes-nowhere")
