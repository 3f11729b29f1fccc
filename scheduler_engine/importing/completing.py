"""What the API server needs before it accepts a pod: its namespace, priority class and runtime class.

Source: upstream ``plugin/pkg/admission/{priority,runtimeclass}``.
"""

from __future__ import annotations

from typing import Any

from scheduler_engine.api.priorities import SYSTEM_PRIORITY_CLASSES
from scheduler_engine.api.scheme import KINDS
from scheduler_engine.apiserver.admission import PREEMPT_LOWER_PRIORITY
from scheduler_engine.importing.draft import Draft

Manifest = dict[str, Any]

DEFAULT = "default"
BUILT_IN = ("default", "kube-system", "kube-public", "kube-node-lease")
"""Namespaces of every sandbox."""


def add_namespaces(draft: Draft) -> None:
    held, wanted = draft.of("Namespace"), dict[str, None]()
    for manifest in draft.every():
        if KINDS[manifest["kind"]].namespaced:
            wanted[manifest["metadata"]["namespace"]] = None
    for name in wanted:
        if name not in held and name not in BUILT_IN:
            draft.add({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
            draft.notice_log.note("namespaces", name)


def keep_one_default_class(draft: Draft) -> None:
    """Keep one of several, which a race can leave: the lowest, as the API server does."""
    held = [item for item in draft.of("PriorityClass").values() if item.get("globalDefault")]
    for item in sorted(held, key=lambda item: int(item.get("value", 0)))[1:]:
        item["globalDefault"] = False
        draft.notice_log.note("default-classes", item["metadata"]["name"])


def settle_volumes(draft: Draft) -> None:
    """Drop a volume whose claim is missing, if deleted with its claim; note claims whose volume is missing."""
    volumes, claims = draft.of("PersistentVolume"), draft.of("PersistentVolumeClaim")
    for name, volume in list(volumes.items()):
        spec = volume.get("spec") or {}
        claim = spec.get("claimRef") or {}
        held = claims.get(f"{claim.get('namespace')}/{claim.get('name')}")
        if held is not None and claim.get("uid") and (held.get("spec") or {}).get("volumeName") == name:
            # Without a uid, as in snapshots, the volume means this claim: they name each other.
            held["metadata"].setdefault("uid", claim["uid"])
        here = held is not None and held["metadata"].get("uid") == claim.get("uid")
        if claim.get("uid") and not here and spec.get("persistentVolumeReclaimPolicy") == "Delete":
            draft.drop("PersistentVolume", name, "volumes-released")
    for key, claim in claims.items():
        wanted = (claim.get("spec") or {}).get("volumeName")
        if wanted and wanted not in volumes:
            draft.notice_log.note("claims-lost", key)


def add_priority_classes(draft: Draft) -> None:
    """Keep each pod's number and policy, even if its class changed."""
    classes = draft.of("PriorityClass")
    default = next((item for item in classes.values() if item.get("globalDefault")), None)
    for key, pod in draft.of("Pod").items():
        spec = pod["spec"]
        name, number = spec.get("priorityClassName") or "", spec.get("priority")
        policy = spec.get("preemptionPolicy") or PREEMPT_LOWER_PRIORITY
        if number is None:
            if name and name not in classes and name not in SYSTEM_PRIORITY_CLASSES:
                _add_class(draft, name, 0, policy)
                draft.notice_log.note("priority-classes", name)
        elif name and name not in classes and name not in SYSTEM_PRIORITY_CLASSES:
            _add_class(draft, name, number, policy)
            draft.notice_log.note("priority-classes", name)
        elif _admitted_priority(classes, default, name) != (number, policy):
            kept = "" if policy == PREEMPT_LOWER_PRIORITY else f"-{policy}"
            class_name = f"{name or 'priority'}-{number}{kept}".lower().replace("--", "-minus-")
            _add_class(draft, class_name, number, policy)
            pod["spec"] = {**spec, "priorityClassName": class_name}
            draft.notice_log.note("priority-numbers", key)


def _admitted_priority(classes: dict[str, Manifest], default: Manifest | None, name: str) -> tuple[int, str]:
    """Return the priority and policy that admission would compute."""
    if name in SYSTEM_PRIORITY_CLASSES:
        return SYSTEM_PRIORITY_CLASSES[name], PREEMPT_LOWER_PRIORITY
    priority_class = classes[name] if name else default
    if priority_class is None:
        return 0, PREEMPT_LOWER_PRIORITY
    return priority_class.get("value", 0), priority_class.get("preemptionPolicy") or PREEMPT_LOWER_PRIORITY


def _add_class(draft: Draft, name: str, number: int, policy: str) -> None:
    fields = {"value": number, "preemptionPolicy": policy}
    head = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}}
    draft.add({**head, **fields})


def add_runtime_classes(draft: Draft) -> None:
    """Keep each pod's overhead."""
    classes, amounts = draft.of("RuntimeClass"), dict[str, Manifest]()
    for name, held in classes.items():
        amounts[name] = (held.get("overhead") or {}).get("podFixed") or {}
    for pod in draft.of("Pod").values():
        spec = pod["spec"]
        name, overhead = spec.get("runtimeClassName") or "", spec.get("overhead") or {}
        if not name and not overhead:
            continue
        wanted = name or "overhead"
        number = 1
        while wanted in amounts and overhead and amounts[wanted] != overhead:
            number += 1
            wanted = f"{name or 'overhead'}-{number}"
        if wanted not in amounts:
            amounts[wanted] = overhead
            head = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": wanted}}
            more = {"overhead": {"podFixed": overhead}} if overhead else {}
            draft.add({**head, "handler": "runc", **more})
            draft.notice_log.note("runtime-classes", wanted)
        if wanted != name:
            pod["spec"] = {**spec, "runtimeClassName": wanted}
