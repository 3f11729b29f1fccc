"""The PodGroup controller of kubernetes-sigs/scheduler-plugins: keeps the status of PodGroups.

Like upstream, it counts all pods with the group's name in their label, whatever their namespace. The scheduler counts
those of the group's namespace. Source: scheduler-plugins ``pkg/controllers/podgroup_controller.go``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.api.pod_groups import LABEL, POD_GROUP, min_member
from scheduler_engine.apiserver.watching import Wants, WatchEvent, all_of
from scheduler_engine.controllers.keyed import KeyedController

FINAL = ("Finished", "Failed")
"""Phases that never change."""


def _named(item: KubeObject | None) -> str:
    """Return the name of the group that a pod is in, "" for none."""
    return item.labels.get(LABEL, "") if item is not None else ""


def _may_count(event: WatchEvent) -> bool:
    """Return True if a pod of a group came, went, or changed its phase or its group."""
    old, new = event.old, event.new
    if isinstance(old, Pod) and isinstance(new, Pod):
        return _named(old) != _named(new) or (bool(_named(new)) and old.phase != new.phase)
    return bool(_named(old) or _named(new))


@dataclass(slots=True)
class PodGroupController(KeyedController):
    KIND: ClassVar[str] = POD_GROUP
    WANTS: ClassVar[Wants] = {**all_of(POD_GROUP), "Pod": _may_count}

    def notice(self, event: WatchEvent) -> None:
        for item in (event.old, event.new):
            if item is None:
                continue
            if event.kind == POD_GROUP:
                self.enqueue(item.key)
            elif name := _named(item):
                self.enqueue(f"{item.namespace}/{name}")

    def see_to(self, group: KubeObject) -> None:
        if group.status.get("phase") in FINAL:
            return
        listed = self.api.list("Pod")
        pods = [pod for pod in listed if isinstance(pod, Pod) and _named(pod) == group.name]
        changes = _changes(group, pods)
        if any(group.status.get(name) != value for name, value in changes.items()):
            self.api.patch(POD_GROUP, group.key, {"status": changes})


def _changes(group: KubeObject, pods: Sequence[Pod]) -> dict[str, Any]:
    """Return the fields of the status to set; None removes one, as a 0 is not written. Each step is a change, which
    leads to the next step.
    """
    phase, needed = group.status.get("phase"), min_member(group)
    if not phase:
        return {"phase": "Pending"}
    if phase == "Pending":
        return {"phase": "Scheduling", **_occupied(pods)} if len(pods) >= needed else {}
    phases = Counter(pod.phase for pod in pods)
    counts = {name: phases[name.capitalize()] for name in ("running", "succeeded", "failed")}
    written = {name: number or None for name, number in counts.items()}
    return {**written, "phase": _phase(len(pods), needed, **counts)}


def _phase(pods: int, needed: int, running: int, succeeded: int, failed: int) -> str:
    if pods < needed:
        return "Pending"
    if succeeded >= needed:
        return "Finished"
    if failed and failed + running + succeeded >= needed:
        return "Failed"
    return "Running" if succeeded + running >= needed else "Scheduling"


def _occupied(pods: Sequence[Pod]) -> dict[str, str]:
    """Return who owns the first pod, by namespace and name."""
    owners = pods[0].metadata.get("ownerReferences") or () if pods else ()
    names = sorted(f"{pods[0].namespace}/{owner['name']}" for owner in owners)
    return {"occupiedBy": ",".join(names)} if names else {}
