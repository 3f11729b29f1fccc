"""The base of controllers whose pods have places of their own: an ordinal, or a node.

A check looks at every place, and every pod that starts causes one. So such a controller notes which owners have a pod
in each place, and for these it only counts until a pod comes, goes or ends. Source: design of the sandbox.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.apiserver.watching import WatchEvent
from scheduler_engine.controllers.pod_state import is_active
from scheduler_engine.controllers.workload import WorkloadController
from scheduler_engine.sharing import Table


@dataclass(slots=True)
class PlacesController(WorkloadController):
    """``complete``: keys of owners that had exactly the pods that they want, all active. They are removed when a pod
    comes, goes or ends, and when the owner's spec changes.
    """

    complete: Table[str, None] = field(default_factory=Table)

    def notice(self, event: WatchEvent) -> None:
        WorkloadController.notice(self, event)
        old, new = event.old, event.new
        if event.kind == self.KIND:
            if old is None or new is None or old.spec != new.spec:
                self.complete.pop(event.key, None)
        elif event.kind == "Pod" and self.complete and _stands_otherwise(old, new):
            for item in filter(None, (old, new)):
                reference = item.controller_ref
                if reference is None:
                    self.complete.clear()  # Any owner may adopt it.
                elif reference["kind"] == self.KIND:
                    self.complete.pop(f"{item.namespace}/{reference['name']}", None)

    def all_active(self, owner: KubeObject, number: int) -> bool:
        """Return True if an owner has ``number`` pods, all active."""
        return sum(self.standings(owner).values()) == self.count_active(owner) == number

    def all_new(self, owner: KubeObject, revision: str) -> bool:
        """Return True if all pods are of the newest revision, and no time passes until they are available."""
        return not owner.spec.get("minReadySeconds") and all(
            standing.revision == revision for standing in self.standings(owner)
        )


def _stands_otherwise(old: KubeObject | None, new: KubeObject | None) -> bool:
    """Return True if a pod has come, gone or ended, or may have another owner."""
    return (
        not (isinstance(old, Pod) and isinstance(new, Pod))
        or is_active(old) != is_active(new)
        or old.labels != new.labels
        or old.metadata.get("ownerReferences") != new.metadata.get("ownerReferences")
    )
