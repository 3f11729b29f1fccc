"""Owners of pods: workloads and their replica sets; and the state of a pod in kubectl's words."""

from __future__ import annotations

from typing import Any

from sandbox.panels.model.state import PodState
from sandbox.panels.model.world import World
from sandbox.words.say import say
from scheduler_engine.api.conditions import is_ready
from scheduler_engine.api.objects import Pod

Manifest = dict[str, Any]
REVISION = "deployment.kubernetes.io/revision"
Labels = tuple[tuple[str, str], ...]
Alike = dict[tuple[str, Labels], list[PodState]]
"""Namespace and labels → the pods that have not finished. A selector selects all or none of a group."""
KINDS = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job")


class Owned:
    """Pods by owner. ``pods``: uid of a controller → its pods. ``sets``: uid of a Deployment → its replica sets.

    The newest set is first. ``workloads``: those that no other workload controls, by kind and age.
    """

    def __init__(self, world: World) -> None:
        self.pods: dict[str, list[PodState]] = {}
        self.sets: dict[str, list[Manifest]] = {}
        self.workloads: list[Manifest] = []
        for pod in world.pods.values():
            reference = pod.pod.controller_ref
            if reference is not None:
                self.pods.setdefault(str(reference.get("uid")), []).append(pod)
        for kind in KINDS:
            for manifest in world.objects.get(kind, {}).values():
                reference = controller_of(manifest)
                if kind == "ReplicaSet" and reference.get("kind") == "Deployment":
                    self.sets.setdefault(str(reference.get("uid")), []).append(manifest)
                else:
                    self.workloads.append(manifest)
        for sets in self.sets.values():
            sets.sort(key=revision, reverse=True)

    def pods_of(self, owner: Manifest) -> list[PodState]:
        return self.pods.get(uid(owner), [])

    def sets_of(self, owner: Manifest) -> list[Manifest]:
        return self.sets.get(uid(owner), [])


def alike(world: World) -> Alike:
    groups: Alike = {}
    for pod in world.pods.values():
        if not pod.pod.finished:
            groups.setdefault((pod.pod.namespace, tuple(sorted(pod.pod.labels.items()))), []).append(pod)
    return groups


def controller_of(manifest: Manifest) -> Manifest:
    """Return the owner reference of its controller, {} without one."""
    references: list[Manifest] = (manifest.get("metadata") or {}).get("ownerReferences") or []
    return next((item for item in references if item.get("controller")), {})


def uid(manifest: Manifest) -> str:
    return str((manifest.get("metadata") or {}).get("uid") or "")


def key_of(manifest: Manifest) -> str:
    """Return ``namespace/name``."""
    metadata = manifest["metadata"]
    return f"{metadata.get('namespace') or 'default'}/{metadata['name']}"


def revision(manifest: Manifest) -> int:
    """Return the revision of a replica set, or of a Deployment's current template; 0 if it has none."""
    text = ((manifest.get("metadata") or {}).get("annotations") or {}).get(REVISION, "0")
    return int(text) if text.isascii() and text.isdigit() else 0


def condition(pod: PodState) -> str:
    """Return what kubectl would list in its column STATUS, "" for a pod that is ready."""
    stored = pod.pod
    if stored.finished:
        return str(stored.status.get("reason") or ("Completed" if stored.phase == "Succeeded" else "Error"))
    if pod.state == "terminating":
        return "Terminating"
    if not pod.node:
        return "SchedulingGated" if stored.scheduling_gates else "Pending"
    if stored.phase in ("", "Pending"):
        return "ContainerCreating" if stored.node_name else "Pending"
    return "" if is_ready(stored) else "NotReady"


def is_waiting(pod: PodState) -> bool:
    """Return True if the pod is neither ready nor leaving."""
    return not pod.pod.finished and pod.state != "terminating" and bool(condition(pod))


def controlled_by(pod: Pod, world: World) -> str:
    """Return ``ReplicaSet shop-1 of Deployment shop``, "" for a pod without a controller."""
    text, reference = "", pod.controller_ref or {}
    for _ in range(3):
        if not reference:
            break
        owner = f"{reference.get('kind')} {reference.get('name')}"
        text = say("workloads.owned-by", owned=text, owner=owner) if text else owner
        manifest = world.objects.get(str(reference.get("kind")), {}).get(f"{pod.namespace}/{reference.get('name')}")
        reference = controller_of(manifest) if manifest else {}
    return text
