"""The garbage collector: when an owner goes, what it owned goes, too (in the background, the owner first).

Source: upstream ``pkg/controller/garbagecollector``. An object that comes with an owner that was never here stays, so
that pods copied from another cluster do not vanish; upstream would delete them. Not here: foreground deletion, orphans.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler_engine.apiserver.store import ApiServer, Watch


@dataclass(slots=True)
class GarbageCollector:
    """``dependents``: uid of an owner → (kind, key) of what names it as an owner."""

    api: ApiServer
    watch: Watch
    dependents: dict[str, dict[tuple[str, str], None]] = field(default_factory=dict)

    def work(self) -> bool:
        """Handle what is new; False when there was nothing."""
        event = self.api.next_event(self.watch)
        if event is None:
            return False
        if event.new is not None:
            for reference in event.new.metadata.get("ownerReferences") or ():
                self.dependents.setdefault(reference["uid"], {})[event.kind, event.new.key] = None
        elif event.old is not None:
            for kind, key in self.dependents.pop(event.old.uid, {}):
                self._lost_owner(kind, key, event.old.uid)
        return True

    def _lost_owner(self, kind: str, key: str, uid: str) -> None:
        item = self.api.get(kind, key)
        references = [] if item is None else item.metadata.get("ownerReferences") or []
        others = [reference for reference in references if reference["uid"] != uid]
        if len(others) == len(references):
            return
        if others:
            self.api.patch(kind, key, {"metadata": {"ownerReferences": others}})
        else:
            self.api.delete(kind, key)
