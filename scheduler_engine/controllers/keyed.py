"""The base of controllers for one kind: a queue of keys, and Kubernetes Events.

Such a controller reads the watch to its end and notes the affected keys; then it handles one object after the other,
from the API server's present state. Source: the controllers' work queues under upstream ``pkg/controller``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.apiserver.store import ApiServer
from scheduler_engine.apiserver.watching import Wants, Watch, WatchEvent
from scheduler_engine.timeline import Timeline
from scheduler_engine.trace.events import EventRecorded


@dataclass(slots=True)
class KeyedController:
    """``dirty``: keys of objects to handle, in the order noted; ``last_messages``: key of an object → its last message
    from ``tell_once``.
    """

    KIND: ClassVar[str] = ""
    WANTS: ClassVar[Wants] = {}

    api: ApiServer
    timeline: Timeline
    watch: Watch
    dirty: dict[str, None] = field(default_factory=dict)
    last_messages: dict[str, str] = field(default_factory=dict)

    def work(self) -> bool:
        """Note one change, or handle one object; return False if there was neither."""
        event = self.api.next_event(self.watch)
        if event is not None:
            self.notice(event)
            return True
        if not self.dirty:
            return False
        key = next(iter(self.dirty))
        del self.dirty[key]
        item = self.api.get(self.KIND, key)
        if item is None:
            self.last_messages.pop(key, None)
        else:
            self.see_to(item)
        return True

    def notice(self, event: WatchEvent) -> None:
        """Note the objects that a change affects."""
        raise NotImplementedError

    def see_to(self, item: KubeObject) -> None:
        """Bring one object to its desired state."""
        raise NotImplementedError

    def enqueue(self, key: str) -> None:
        self.dirty[key] = None

    def tell(self, item: KubeObject, reason: str, message: str, kind: str = "Normal") -> None:
        """Record a Kubernetes Event about an object."""
        self.api.recorder.add(EventRecorded(item.kind, item.key, kind, reason, message))

    def tell_once(self, item: KubeObject, reason: str, message: str, kind: str) -> None:
        """Record the event, unless it was the last one."""
        if self.last_messages.get(item.key) != message:
            self.last_messages[item.key] = message
            self.tell(item, reason, message, kind)
