"""The deletion of a namespace: first all objects in it, then the namespace.

Source: upstream ``pkg/controller/namespace/deletion/namespaced_resources_deleter.go``. All deletions are requested at
once, kind by kind; pods on nodes have their grace periods.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scheduler_engine.api.scheme import KINDS
from scheduler_engine.apiserver.store import ApiServer
from scheduler_engine.apiserver.watching import Wants, Watch, every_change, is_deletion


@dataclass(slots=True)
class NamespaceController:
    WANTS: ClassVar[Wants] = {**dict.fromkeys(KINDS, is_deletion), "Namespace": every_change}

    api: ApiServer
    watch: Watch

    def work(self) -> bool:
        """Handle one change; return False if there was none."""
        event = self.api.next_event(self.watch)
        if event is None:
            return False
        if event.kind == "Namespace" and event.new is not None and event.new.terminating:
            self._empty(event.new.name)
        elif event.old is not None and event.old.namespace:
            self._finish(event.old.namespace)
        return True

    def _empty(self, name: str) -> None:
        for item in self.api.content_of(name):
            if not item.terminating and self.api.get(item.kind, item.key) is not None:
                self.api.delete(item.kind, item.key)
        self._finish(name)

    def _finish(self, name: str) -> None:
        namespace = self.api.get("Namespace", name)
        if namespace is not None and namespace.terminating and not self.api.content_of(name):
            self.api.remove("Namespace", name)
