"""The garbage collector: handles objects whose owner is deleted.

In the background the owner goes first and its objects follow; in the foreground it waits for those that block its
deletion; orphans stay, without their owner. Source: upstream ``pkg/controller/garbagecollector``. An object that comes
with an owner that never existed here stays, so that pods copied from another cluster do not vanish; upstream would
delete them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.api.scheme import KINDS
from scheduler_engine.apiserver.lifecycle import BACKGROUND, FOREGROUND, ORPHAN, POLICIES
from scheduler_engine.apiserver.store import ApiServer
from scheduler_engine.apiserver.watching import Wants, Watch, WatchEvent
from scheduler_engine.sharing import Groups

Name = tuple[str, str]
"""Kind and key of an object."""


def concerns_owners(event: WatchEvent) -> bool:
    """Return True if an object goes or is being deleted, or has or had owners."""
    new = event.new
    return new is None or new.terminating or bool(owners(new)) or bool(owners(event.old))


@dataclass(slots=True)
class GarbageCollector:
    """``dependents``: uid of an owner → its dependents; ``waiting``: uid of an owner that is being deleted in the
    foreground → the owner.
    """

    WANTS: ClassVar[Wants] = dict.fromkeys(KINDS, concerns_owners)

    api: ApiServer
    watch: Watch
    dependents: Groups[str, Name, None] = field(default_factory=Groups)
    waiting: dict[str, Name] = field(default_factory=dict)

    def work(self) -> bool:
        """Handle one change; return False if there was none."""
        event = self.api.next_event(self.watch)
        if event is None:
            return False
        if event.new is not None:
            self._note_change(event.new)
        elif event.old is not None:
            self.waiting.pop(event.old.uid, None)
            dependents = self.dependents.get(event.old.uid)
            if dependents is not None:
                del self.dependents[event.old.uid]
                for name in dependents:
                    self._collect(name, event.old.uid)
        for reference in owners(event.old):
            if reference["uid"] in self.waiting:
                self._go_on(reference["uid"])
        return True

    def _note_change(self, item: KubeObject) -> None:
        """Handle a new or changed object."""
        name = (item.kind, item.key)
        for reference in owners(item):
            if name not in self.dependents.get(reference["uid"], ()):
                self.dependents.change(reference["uid"])[name] = None
            if reference["uid"] in self.waiting:
                self._collect(name)
        if item.terminating and _held_by(item, ORPHAN):
            for dependent in self._owned(item.uid):
                self._keep_owners(dependent, [owner for owner in owners(dependent) if owner["uid"] != item.uid])
            self._let_go(name, item.uid, ORPHAN)
        elif item.terminating and _held_by(item, FOREGROUND) and item.uid not in self.waiting:
            self.waiting[item.uid] = name
            for dependent in self._owned(item.uid):
                self._collect((dependent.kind, dependent.key))
            self._go_on(item.uid)

    def _owned(self, uid: str) -> Iterator[KubeObject]:
        for kind, key in list(self.dependents.get(uid, ())):
            item = self.api.get(kind, key)
            if item is not None and any(reference["uid"] == uid for reference in owners(item)):
                yield item

    def _collect(self, name: Name, lost: str = "") -> None:
        """Delete an object with no remaining owner; ``lost``: uid of one that has just gone."""
        item = self.api.get(*name)
        if item is None:
            return
        references = owners(item)
        gone = [reference for reference in references if reference["uid"] in (lost, *self.waiting)]
        if not gone or (item.terminating and not lost):
            return
        others = [reference for reference in references if reference not in gone]
        if others:
            self._keep_owners(item, others)
            return
        waited_for = any(reference["uid"] in self.waiting for reference in gone)
        in_foreground = waited_for and next(self._owned(item.uid), None) is not None
        self.api.delete(*name, FOREGROUND if in_foreground else BACKGROUND)

    def _keep_owners(self, item: KubeObject, references: list[dict[str, Any]]) -> None:
        self.api.patch(item.kind, item.key, {"metadata": {"ownerReferences": references or None}})

    def _go_on(self, uid: str) -> None:
        """Release an owner that nothing blocks any more."""
        for item in self._owned(uid):
            if any(reference["uid"] == uid and reference.get("blockOwnerDeletion") for reference in owners(item)):
                return
        self._let_go(self.waiting[uid], uid, FOREGROUND)

    def _let_go(self, name: Name, uid: str, policy: str) -> None:
        """Remove the finalizer that holds an object."""
        item = self.api.get(*name)
        if item is not None and item.uid == uid:
            kept = [finalizer for finalizer in item.metadata.get("finalizers") or () if finalizer != POLICIES[policy]]
            self.api.patch(*name, {"metadata": {"finalizers": kept or None}})


def owners(item: KubeObject | None) -> list[dict[str, Any]]:
    """Return the owner references of an object."""
    return [] if item is None else item.metadata.get("ownerReferences") or []


def _held_by(item: KubeObject, policy: str) -> bool:
    return POLICIES[policy] in (item.metadata.get("finalizers") or ())
