"""A process's connection to the API server, which may be cut: then its data is frozen, and its writes fail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.apiserver.store import ApiServer
from scheduler_engine.apiserver.watching import Wants, Watch, WatchEvent
from scheduler_engine.sharing import Groups

REFUSED = "connection refused"


@dataclass(slots=True)
class Connection:
    """``known``: the objects at the last watch event; None while connected. ``positions``: those of their logs."""

    server: ApiServer
    reachable: bool = True
    known: Groups[str, str, KubeObject] | None = None
    positions: dict[str, int] = field(default_factory=dict)

    def freeze(self) -> None:
        """Deliver no more watch events."""
        if self.known is None:
            self.known = self.server.objects.copy()
            self.positions = self.server.log.positions()

    def thaw(self) -> None:
        """Continue the watch where it was."""
        self.known = None

    # --- reading: informers, which answer from what the watch has brought ---

    def list(self, kind: str, namespace: str | None = None) -> Iterator[KubeObject]:
        if self.known is None:
            return self.server.list(kind, namespace)
        objects = self.known.get(kind, {}).values()
        return iter([item for item in objects if namespace is None or item.namespace == namespace])

    def get(self, kind: str, key: str) -> KubeObject | None:
        return self.server.get(kind, key) if self.known is None else self.known.get(kind, {}).get(key)

    def changed_since(self, kind: str, position: int) -> tuple[int, Sequence[str] | None]:
        if self.known is None:
            return self.server.changed_since(kind, position)
        until = self.positions.get(kind, 0)
        return until, self.server.log.since(kind, position, until)

    def as_now(self, kinds: Sequence[str]) -> Mapping[str, Mapping[str, KubeObject]]:
        return self.server.as_now(kinds) if self.known is None else {kind: self.known.share(kind) for kind in kinds}

    def pod(self, key: str) -> Pod | None:
        item = self.get("Pod", key)
        return item if isinstance(item, Pod) else None

    def watch(self, wants: Wants) -> Watch:
        return self.server.watch(wants)

    def next_event(self, watch: Watch) -> WatchEvent | None:
        return self.server.next_event(watch) if self.known is None else None

    # --- writing ---

    def bind(self, pod_key: str, uid: str, node_name: str) -> None:
        self._connect()
        self.server.bind(pod_key, uid, node_name)

    def patch(self, kind: str, key: str, changes: Mapping[str, Any]) -> None:
        self._connect()
        self.server.patch(kind, key, changes)

    def delete_pod(self, pod_key: str, reason: str, message: str) -> None:
        self._connect()
        self.server.delete_pod(pod_key, reason, message)

    def _connect(self) -> None:
        """Raises ApiError, without an answer's code and reason, when the connection is cut."""
        if not self.reachable:
            raise ApiError(0, "", REFUSED)
