"""Pods in backoff: one heap for those that plugins rejected, one for those that failed by an error.

Source: seed 000 (backoff queue); upstream ``backend/queue/backoff_queue.go``.
"""

from __future__ import annotations

from scheduler_engine.framework.interface import QueuedPodInfo
from scheduler_engine.queue.heap import Heap, Less
from scheduler_engine.trace.events import Recorder

SECOND_US = 1_000_000
ORDERING_WINDOW_US = SECOND_US
"""Within one window backoffQ is ordered like activeQ; whole windows are flushed at a time."""


class BackoffQueue:
    """``backoff_q`` is ordered by window of expiry, then like activeQ; ``error_backoff_q`` by expiry alone.

    Times are simulated microseconds; ``clock.now_us`` is now. A maximum of 0 turns backoff off.
    """

    def __init__(self, clock: Recorder, less: Less, initial_us: int, max_us: int) -> None:
        self.clock = clock
        self.active_less = less
        self.initial_us = initial_us
        self.max_us = max_us
        self.backoff_q = Heap(self.expires_first_then_active)
        self.error_backoff_q = Heap(self.expires_first)

    def __len__(self) -> int:
        return len(self.backoff_q) + len(self.error_backoff_q)

    def __contains__(self, key: str) -> bool:
        return key in self.backoff_q or key in self.error_backoff_q

    def get(self, key: str) -> QueuedPodInfo | None:
        return self.backoff_q.get(key) or self.error_backoff_q.get(key)

    def add(self, info: QueuedPodInfo) -> bool:
        """Put ``info`` into its heap; return False if it had to leave the other one."""
        target, other = self.heaps_for(info)
        target.add_or_update(info)
        return other.delete(info.pod.key) is None

    def heaps_for(self, info: QueuedPodInfo) -> tuple[Heap, Heap]:
        """Return (the pod's heap, the other one): if no plugin rejected it, an error did."""
        if info.unschedulable_plugins or info.pending_plugins:
            return self.backoff_q, self.error_backoff_q
        return self.error_backoff_q, self.backoff_q

    def delete(self, key: str) -> QueuedPodInfo | None:
        return self.backoff_q.delete(key) or self.error_backoff_q.delete(key)

    def pop_all_completed(self) -> list[QueuedPodInfo]:
        """Remove and return every pod whose backoff is over, in order, backoffQ first."""
        return [*self._pop_completed(self.backoff_q), *self._pop_completed(self.error_backoff_q)]

    def _pop_completed(self, heap: Heap) -> list[QueuedPodInfo]:
        popped = []
        while (first := heap.peek()) is not None and not self.is_backing_off(first):
            heap.pop()
            popped.append(first)
        return popped

    def is_backing_off(self, info: QueuedPodInfo) -> bool:
        """Return True until the window in which the backoff ends is over."""
        over_us = self.over_us(info)
        return over_us is not None and self.clock.now_us < over_us

    def over_us(self, info: QueuedPodInfo) -> int | None:
        """Return the end of the window in which the backoff ends. None without backoff."""
        expiration = self.expiration_us(info)
        return None if expiration is None else self.align(expiration) + ORDERING_WINDOW_US

    def flushed_us(self, info: QueuedPodInfo) -> int | None:
        """Return when the pod leaves, if not taken out earlier: the first whole second after its backoff."""
        over_us = self.over_us(info)
        return None if over_us is None else -(-over_us // SECOND_US) * SECOND_US

    def expiration_us(self, info: QueuedPodInfo) -> int | None:
        """Return the end of the backoff, None without one; kept in ``info`` until the next failure."""
        count = info.consecutive_errors_count or info.unschedulable_count
        if count == 0 or self.max_us == 0:
            return None
        if info.backoff_expiration_us is None:
            info.backoff_expiration_us = self.align(info.timestamp_us + self.duration_us(count))
        return info.backoff_expiration_us

    def duration_us(self, count: int) -> int:
        """Return initial × 2^(count − 1), at most the maximum; ``count`` ≥ 1."""
        return min(self.initial_us << (count - 1), self.max_us)

    def align(self, time_us: int) -> int:
        """Return the start of the window that contains ``time_us``."""
        return time_us - time_us % ORDERING_WINDOW_US

    def expires_first(self, left: QueuedPodInfo, right: QueuedPodInfo) -> bool:
        return (self.expiration_us(left) or 0) < (self.expiration_us(right) or 0)

    def expires_first_then_active(self, left: QueuedPodInfo, right: QueuedPodInfo) -> bool:
        ends, other_ends = self.expiration_us(left) or 0, self.expiration_us(right) or 0
        return ends < other_ends if ends != other_ends else self.active_less(left, right)
