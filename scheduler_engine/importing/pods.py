"""Pods of a live cluster: which to omit, and how to keep the others as they are.

Source: upstream ``pkg/controller/podgc`` and ``pkg/kubelet`` (what would become of them).
"""

from __future__ import annotations

from typing import Any

from scheduler_engine.api.simulated import DURATION, LONGEST_SECONDS, READY, START_DELAY
from scheduler_engine.importing.draft import Draft, controller_of, is_a, owner_key

Manifest = dict[str, Any]

FINISHED = ("Succeeded", "Failed")
CONTROLLERS = ("ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job")
FOR_EVER = str(LONGEST_SECONDS)
MERGED_KEYS = (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn"))
AFFINITY_LISTS = ("requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution")


def leave_out(draft: Draft) -> None:
    """Omit finished pods and unbound deleted pods that no finalizer holds, and pods whose node is missing."""
    nodes, pods = draft.of("Node"), draft.of("Pod")
    for key, pod in list(pods.items()):
        bound = pod["spec"].get("nodeName")
        owner = controller_of(pod)
        held = key in draft.terminating and bool(pod["metadata"].get("finalizers"))
        finished = (pod.get("status") or {}).get("phase") in FINISHED
        if finished and owner is not None:
            draft.done[pod["metadata"]["namespace"], owner["name"]] = None
        if finished and not held:
            draft.drop("Pod", key, "finished")
        elif bound and bound not in nodes:
            draft.drop("Pod", key, "node-missing")
        elif key in draft.terminating and not bound and not held:
            draft.drop("Pod", key, "gone")
        elif key in draft.terminating:
            draft.notice_log.note("held" if held else "terminating", key)
    draft.terminating = {key: None for key in draft.terminating if key in pods}


def keep_as_they_are(draft: Draft) -> None:
    """Keep pods from changing only because time passes: they stay ready, waiting or running."""
    for key, pod in draft.of("Pod").items():
        status, annotations = pod.get("status") or {}, {}
        if pod["spec"].get("nodeName") and status and status.get("phase") not in FINISHED:
            annotations = _annotations(draft, key, pod, status)
        held = pod["metadata"].get("annotations") or {}
        if annotations:
            pod["metadata"]["annotations"] = {**annotations, **held}
        _with_claims(draft, pod)
        _unmerged(pod)


def _annotations(draft: Draft, key: str, pod: Manifest, status: Manifest) -> dict[str, str]:
    phase, annotations = status.get("phase"), {}
    ready = next((item.get("status") for item in status.get("conditions") or () if item.get("type") == "Ready"), "")
    if phase == "Pending":
        annotations[START_DELAY] = FOR_EVER
        draft.notice_log.note("not-started", key)
    elif ready == "False":
        annotations[READY] = "false"
        draft.notice_log.note("not-ready", key)
    owner = controller_of(pod)
    if owner is not None and owner.get("kind") == "Job":
        annotations[DURATION] = FOR_EVER
        draft.notice_log.note("job-pods", key)
    return annotations


def _with_claims(draft: Draft, pod: Manifest) -> None:
    """Detach a claim created for an ephemeral volume: it names its pod by uid, and pods get new ones: the pod then uses
    it as a normal claim.
    """
    claims, metadata, volumes = draft.of("PersistentVolumeClaim"), pod["metadata"], []
    for volume in pod["spec"].get("volumes") or ():
        key = f"{metadata['namespace']}/{metadata['name']}-{volume['name']}"
        claim = claims.get(key) if volume.get("ephemeral") else None
        if claim is not None and _belongs(claim, metadata["name"]):
            owners = [item for item in claim["metadata"]["ownerReferences"] if item["kind"] != "Pod"]
            claim["metadata"] = {**claim["metadata"], "ownerReferences": owners}
            volume = {"name": volume["name"], "persistentVolumeClaim": {"claimName": claim["metadata"]["name"]}}
            draft.notice_log.note("ephemeral", key)
        volumes.append(volume)
    if volumes:
        pod["spec"] = {**pod["spec"], "volumes": volumes}


def _belongs(claim: Manifest, pod: str) -> bool:
    owners = claim["metadata"].get("ownerReferences") or ()
    return any(owner.get("kind") == "Pod" and owner.get("name") == pod for owner in owners)


def _unmerged(pod: Manifest) -> None:
    """Remove what the API server merged into selectors from ``matchLabelKeys``, because it will merge it again."""
    spec, labels = pod["spec"], pod["metadata"].get("labels") or {}
    if spec.get("topologySpreadConstraints"):
        constraints = [_without_merged(item, labels) for item in spec["topologySpreadConstraints"]]
        spec = {**spec, "topologySpreadConstraints": constraints}
    affinity = spec.get("affinity") or {}
    for side in ("podAffinity", "podAntiAffinity"):
        for listed in AFFINITY_LISTS:
            terms = (affinity.get(side) or {}).get(listed)
            if terms:
                whole = {**affinity[side], listed: [_term_without_merged(item, labels) for item in terms]}
                affinity = {**affinity, side: whole}
    pod["spec"] = {**spec, "affinity": affinity} if affinity else spec


def _term_without_merged(term: Manifest, labels: Manifest) -> Manifest:
    if "podAffinityTerm" in term:
        return {**term, "podAffinityTerm": _without_merged(term["podAffinityTerm"], labels)}
    return _without_merged(term, labels)


def _without_merged(term: Manifest, labels: Manifest) -> Manifest:
    selector = term.get("labelSelector")
    merged = [
        {"key": key, "operator": operator, "values": [labels[key]]}
        for field, operator in MERGED_KEYS
        for key in term.get(field) or ()
        if key in labels
    ]
    if not merged or not selector or not selector.get("matchExpressions"):
        return term
    kept = [item for item in selector["matchExpressions"] if item not in merged]
    return {**term, "labelSelector": {**selector, "matchExpressions": kept}}


def tell_of_owners(draft: Draft) -> None:
    """Report pods whose controller is missing."""
    for key, pod in draft.of("Pod").items():
        owner = controller_of(pod)
        if owner is None or owner.get("kind") == "Node":
            continue
        held = draft.of(owner["kind"]).get(owner_key(pod, owner)) if owner["kind"] in CONTROLLERS else None
        if held is None or not is_a(held, owner):
            draft.notice_log.note("owner-missing", key)
