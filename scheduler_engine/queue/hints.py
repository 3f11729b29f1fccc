"""Decide if an event may help a rejected pod, by asking the plugins that rejected it.

Source: upstream ``backend/queue/scheduling_queue.go`` (isPodWorthRequeuing, isEventOfInterest).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.framework.events import ClusterEvent, is_wildcard, matches, matches_any
from scheduler_engine.framework.events_registry import QueueingHint, QueueingHintMap
from scheduler_engine.framework.interface import Hint, PluginError, QueuedPodInfo
from scheduler_engine.trace.events import HintAnswered, Recorder


class Strategy(Enum):
    """The queue that a pod goes to."""

    SKIP = "stay"
    AFTER_BACKOFF = "to backoffQ, or to activeQ when the backoff is over"
    IMMEDIATELY = "straight to activeQ"


@dataclass(frozen=True, slots=True)
class Decision:
    """``plugin`` and ``hint`` name the answer that decided; "" if no plugin was asked."""

    strategy: Strategy
    plugin: str = ""
    hint: str = ""


STAY = Decision(Strategy.SKIP)
RETRY = Decision(Strategy.AFTER_BACKOFF)


class QueueingHints:
    """``by_profile``: scheduler name → hint map. ``recorder`` takes the answers if the trace is full."""

    def __init__(self, by_profile: Mapping[str, QueueingHintMap], recorder: Recorder) -> None:
        self.by_profile = dict(by_profile)
        self.recorder = recorder
        self.registered: dict[str, tuple[ClusterEvent, ...]] = _events_by_plugin(self.by_profile)
        self._asked: dict[tuple[str, ClusterEvent], tuple[QueueingHint, ...]] = {}

    def of_interest(self, event: ClusterEvent) -> bool:
        """Return True if any plugin of any profile registered for ``event``; the wildcard always counts."""
        return is_wildcard(event) or any(self._hints_for(profile, event) for profile in self.by_profile)

    def gate_may_open(self, info: QueuedPodInfo, event: ClusterEvent) -> bool:
        """Return True if the plugin that gates the pod registered for ``event``."""
        return matches_any(self.registered.get(info.gating_plugin, ()), event)

    def decide(
        self, info: QueuedPodInfo, event: ClusterEvent, old: KubeObject | None, new: KubeObject | None
    ) -> Decision:
        """Retry a pod that no plugin rejected; on a wildcard, retry any pod unless it names another pod."""
        if not info.unschedulable_plugins and not info.pending_plugins:
            return RETRY
        if is_wildcard(event):
            meant = new is None or (isinstance(new, Pod) and new.uid == info.pod.uid)
            return RETRY if meant else STAY
        if info.pod.scheduler_name not in self.by_profile:
            return RETRY
        return self._ask(info, event, old, new)

    def _ask(
        self, info: QueuedPodInfo, event: ClusterEvent, old: KubeObject | None, new: KubeObject | None
    ) -> Decision:
        """Ask until no answer can be better: Queue from a pending plugin beats Queue from an unschedulable one."""
        decision = STAY
        for hint in self._hints_for(info.pod.scheduler_name, event):
            pending = hint.plugin in info.pending_plugins
            if not pending and hint.plugin not in info.unschedulable_plugins:
                continue
            answer = self._answer(hint, info.pod, event, old, new)
            if answer is Hint.SKIP:
                if decision.strategy is Strategy.SKIP:
                    decision = Decision(Strategy.SKIP, hint.plugin, answer.value)
                continue
            if pending:
                return Decision(Strategy.IMMEDIATELY, hint.plugin, answer.value)
            if decision.strategy is Strategy.SKIP:
                decision = Decision(Strategy.AFTER_BACKOFF, hint.plugin, answer.value)
            if not info.pending_plugins:
                return decision
        return decision

    def _answer(
        self, hint: QueueingHint, pod: Pod, event: ClusterEvent, old: KubeObject | None, new: KubeObject | None
    ) -> Hint:
        """Return the answer. A hint that fails counts as Queue, so that the pod is not stuck."""
        try:
            answer, why = hint.function(pod, old, new)
        except PluginError as error:
            answer, why = Hint.QUEUE, f"the hint failed: {error}"
        if self.recorder.full:
            about = new or old
            key = about.key if about is not None else ""
            self.recorder.add(HintAnswered(pod.key, hint.plugin, str(event), key, answer.value, why))
        return answer

    def _hints_for(self, profile: str, event: ClusterEvent) -> tuple[QueueingHint, ...]:
        asked = self._asked.get((profile, event))
        if asked is None:
            registered = self.by_profile[profile].items()
            asked = tuple(hint for own, hints in registered if matches(own, event) for hint in hints)
            self._asked[profile, event] = asked
        return asked


def _events_by_plugin(by_profile: Mapping[str, QueueingHintMap]) -> dict[str, tuple[ClusterEvent, ...]]:
    by_plugin: dict[str, dict[ClusterEvent, None]] = {}
    for hints in by_profile.values():
        for event, functions in hints.items():
            for hint in functions:
                by_plugin.setdefault(hint.plugin, {})[event] = None
    return {plugin: tuple(events) for plugin, events in by_plugin.items()}
