"""Drain nodes like ``kubectl drain``: cordon, list the pods once, request each eviction until granted, await the end.

Source: seed 002 §11; upstream ``staging/src/k8s.io/kubectl/pkg/cmd/drain/drain.go`` (RunDrain) and
``pkg/drain/drain.go`` (evictPods, waitForDelete), with its 5 s between two requests. kubectl checks once a second if a
pod is gone; here a drain sees it at once.

The node is not checked again: neither an uncordon nor new pods change a drain. Requests name a pod, not its uid. If
a refused pod is replaced by one of the same name, the next request applies to that one, as upstream.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import ClassVar

from scheduler_engine.api.objects import Pod
from scheduler_engine.apiserver.eviction import evict
from scheduler_engine.apiserver.store import ApiServer
from scheduler_engine.apiserver.watching import Wants, Watch, is_deletion
from scheduler_engine.controllers.drain_filters import Flags, aggregate, list_pods
from scheduler_engine.timeline import SECOND_US, Timeline
from scheduler_engine.trace.events import DrainChanged

RETRY_US = 5 * SECOND_US
ALLOWED, TRY_AGAIN = 200, 429


@dataclass(slots=True)
class Drain:
    """A running drain. ``asking``: key → uid of pods without a final answer, ``leaving``: uid → key of those whose
    end it awaits, ``kept``: keys of pods that stay, ``errors``: key → error of abandoned ones, ``timer``: 0 = none.
    """

    asking: dict[str, str]
    kept: tuple[str, ...]
    leaving: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    timer: int = 0


@dataclass(slots=True)
class Drainer:
    """``draining``: node → its drain."""

    WANTS: ClassVar[Wants] = {"Pod": is_deletion}

    api: ApiServer
    timeline: Timeline
    watch: Watch
    draining: dict[str, Drain] = field(default_factory=dict)

    def work(self) -> bool:
        """Handle the next watch event; return False if there is none."""
        event = self.api.next_event(self.watch)
        if event is None:
            return False
        if isinstance(event.old, Pod) and event.new is None:
            for node in [node for node, drain in self.draining.items() if event.old.uid in drain.leaving]:
                del self.draining[node].leaving[event.old.uid]
                self._end_if_done(node)
        return True

    def start(self, node: str, flags: Flags) -> None:
        """Cordon and drain ``node``, replacing a running drain there. Raises ApiError when the node does not exist.

        If kubectl's filters stop the drain, the trace says that it failed, and the node stays cordoned.
        """
        self.api.patch("Node", node, {"spec": {"unschedulable": True}})
        self._forget(node)
        listing = list_pods(self.api, node, flags)
        leaving = () if listing.errors else _keys(listing.leaving)
        kept, names = _keys(listing.kept), tuple(name for name, on in asdict(flags).items() if on)
        self.api.recorder.add(DrainChanged(node, "started", leaving, kept, message=listing.warning, flags=names))
        if listing.errors:
            self._fail(node, listing.errors, _keys(listing.blocking), kept, listing.flags)
            return
        self.draining[node] = Drain({pod.key: pod.uid for pod in listing.leaving}, kept)
        self.ask(node)

    def stop(self, node: str) -> bool:
        """Stop, as if kubectl were interrupted. Return False if there is no drain."""
        under_way = node in self.draining
        self._forget(node)
        if under_way:
            self.api.recorder.add(DrainChanged(node, "stopped"))
        return under_way

    def ask(self, node: str) -> None:
        """Request the eviction of every pod without a final answer, and again later after a 429."""
        drain = self.draining[node]
        drain.timer = 0
        for key, uid in [*drain.asking.items()]:
            if self.api.pod(key) is None:
                del drain.asking[key]
                continue
            answer = evict(self.api, key, node)
            if answer.code == TRY_AGAIN:
                continue
            del drain.asking[key]
            if answer.code != ALLOWED:
                namespace, _, name = key.partition("/")
                drain.errors[key] = f'error when evicting pods/"{name}" -n "{namespace}": {answer.message}'
            elif (left := self.api.pod(key)) is not None and left.uid == uid:
                drain.leaving[uid] = key
        if drain.asking:
            next_us = self.timeline.now_us + RETRY_US
            drain.timer = self.timeline.after(RETRY_US, self.ask, node, housekeeping=True)
            self.api.recorder.add(DrainChanged(node, "waiting", tuple(drain.asking), drain.kept, next_us))
        elif drain.leaving:
            self.api.recorder.add(DrainChanged(node, "evicted", tuple(drain.leaving.values()), drain.kept))
        else:
            self._end_if_done(node)

    def _end_if_done(self, node: str) -> None:
        """End a drain once each of its pods has an outcome."""
        drain = self.draining[node]
        if drain.asking or drain.leaving:
            return
        del self.draining[node]
        if drain.errors:
            self._fail(node, drain.errors.values(), tuple(drain.errors), drain.kept)
        else:
            self.api.recorder.add(DrainChanged(node, "finished", kept=drain.kept))

    def _fail(
        self,
        node: str,
        errors: Iterable[str],
        pods: tuple[str, ...],
        kept: tuple[str, ...],
        flags: tuple[str, ...] = (),
    ) -> None:
        reason = aggregate([*errors])
        text = f'error: unable to drain node "{node}" due to error: {reason}, continuing command...'
        self.api.recorder.add(DrainChanged(node, "failed", pods, kept, message=text, flags=flags))

    def _forget(self, node: str) -> None:
        drain = self.draining.pop(node, None)
        if drain is not None:
            self.timeline.cancel(drain.timer)


def _keys(pods: Iterable[Pod]) -> tuple[str, ...]:
    return tuple(pod.key for pod in pods)
