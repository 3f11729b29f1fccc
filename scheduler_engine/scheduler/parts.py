"""The parts of a scheduler, and the operations for its stages and event handlers.

Source: upstream ``scheduler.go`` (the struct).
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from random import Random
from typing import Protocol

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.apiserver.watching import Wants, Watch, WatchEvent, all_of
from scheduler_engine.cache.cache import Cache
from scheduler_engine.cache.snapshot import Snapshot
from scheduler_engine.config.types import Configuration
from scheduler_engine.framework.events_registry import QueueingHintMap, queueing_hint_map, registered_events
from scheduler_engine.framework.extender import EXTENDER
from scheduler_engine.framework.interface import ApiWriter, Handle, NoNominations, ObjectReader
from scheduler_engine.framework.runtime import Framework
from scheduler_engine.queue.design_doc import QUEUES
from scheduler_engine.queue.scheduling_queue import SchedulingQueue
from scheduler_engine.scheduler.cycles import Cycle
from scheduler_engine.scheduler.ranking import Batch
from scheduler_engine.sharing import Table
from scheduler_engine.timeline import SECOND_US, Timers
from scheduler_engine.trace.events import (
    Configured,
    FaultStruck,
    PermitWait,
    Recorder,
)
from scheduler_engine.versions import DEFAULT_RULES, Rules

LEFTOVER_FLUSH_US = 30 * SECOND_US

RESOURCES = {
    "Service": "Service",
    "PersistentVolume": "PersistentVolume",
    "PersistentVolumeClaim": "PersistentVolumeClaim",
    "StorageClass": "storage.k8s.io/StorageClass",
    "CSINode": "storage.k8s.io/CSINode",
    "CSIDriver": "storage.k8s.io/CSIDriver",
    "CSIStorageCapacity": "storage.k8s.io/CSIStorageCapacity",
    "VolumeAttachment": "storage.k8s.io/VolumeAttachment",
    "ResourceClaim": "resource.k8s.io/ResourceClaim",
    "DeviceClass": "resource.k8s.io/DeviceClass",
    "ResourceSlice": "resource.k8s.io/ResourceSlice",
}
"""Kinds other than pods and nodes that can make pods schedulable → the resource name in cluster events."""


class Api(ObjectReader, ApiWriter, Protocol):
    """The API server, or a connection to it."""

    def pod(self, key: str) -> Pod | None: ...

    def watch(self, wants: Wants) -> Watch: ...

    def next_event(self, watch: Watch) -> WatchEvent | None: ...


@dataclass(slots=True)
class CycleNumbers:
    """Number the scheduling cycles. Several schedulers may share one, to keep the numbers unique."""

    count: int = 0


def _registered(hints: QueueingHintMap) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((plugin, tuple(events)) for plugin, events in registered_events(hints).items())


class SchedulerParts:
    """The state of one scheduler. ``cycle`` is the running scheduling cycle, ``bindings`` the binding cycles beside it,
    oldest first. ``latest`` is the cycle that began last: until the next begins, the snapshot is unchanged.
    ``ended`` is the cycle that ended last, for facts. ``replica`` is its name in the trace, where it begins at entry
    number ``first_entry``. ``unheard``: uid → delayed watch events of a pod; ``heard``: those whose time has come.
    ``pending_claims`` as in ``SchedulerServices``. ``counted``: name and labels of a metric that no trace shows → its
    value.
    """

    def __init__(
        self,
        api: Api,
        timeline: Timers,
        recorder: Recorder,
        random: Random,
        configuration: Configuration,
        queue_rules: str = "v1.34",
        numbers: CycleNumbers | None = None,
        rules: Rules = DEFAULT_RULES,
    ) -> None:
        self.api = api
        self.numbers = numbers or CycleNumbers()
        self.replica, self.first_entry = recorder.replica, len(recorder.entries) + 1
        self.timeline = timeline
        self.recorder = recorder
        self.random = random
        self.configuration = configuration
        self.queue_rules, self.rules = queue_rules, rules
        self.watch = api.watch(all_of("Pod", "Node", *RESOURCES))
        self.cache = Cache(recorder)
        self.snapshot = Snapshot()
        self.profiles = self._build_profiles()
        self.queue = self._build_queue()
        self.batches: dict[str, Batch] = {}
        self.counted: Table[tuple[str, ...], int] = Table()
        self.next_start_node_index = 0
        self.cycle: Cycle | None = None
        self.latest: Cycle | None = None
        self.ended: Cycle | None = None
        self.bindings: list[Cycle] = []
        self.unheard: dict[str, list[WatchEvent]] = {}
        self.heard: list[WatchEvent] = []
        self.pending_claims: Table[str, KubeObject] = Table()
        self._wait_for_next_second()
        timeline.after(LEFTOVER_FLUSH_US, self.flush_leftover, housekeeping=True)

    @property
    def cycle_count(self) -> int:
        """Return the number of the latest cycle."""
        return self.numbers.count

    def count(self, name: str, *labels: str) -> None:
        """Count one more for a metric."""
        self.counted[name, *labels] = self.counted.get((name, *labels), 0) + 1

    def cycle_numbered(self, number: int) -> Cycle | None:
        """Return this cycle if it is the latest one, still binds, or ended last; else None."""
        known = (self.latest, *self.bindings, self.ended)
        return next((item for item in known if item is not None and item.number == number), None)

    def _build_profiles(self) -> dict[str, Framework]:
        profiles = {}
        for profile in self.configuration.profiles:
            handle = Handle(self.snapshot, self.api, self.api, NoNominations(), self.recorder, self.random)
            handle.scheduler, handle.rules = self, self.rules
            handle.extenders = self.configuration.extenders
            profiles[profile.scheduler_name] = Framework(profile, profile.registry, handle)
        effective = tuple((item.scheduler_name, tuple(item.plugins.items())) for item in self.configuration.profiles)
        scoring = (plugin for framework in profiles.values() for plugin in framework.points["score"])
        normalizing = dict.fromkeys(plugin.name for plugin in scoring if hasattr(plugin, "normalize_score"))
        others = (EXTENDER,) if self.configuration.extenders else ()
        self.hints = {
            name: queueing_hint_map(framework.plugins.values(), others) for name, framework in profiles.items()
        }
        registered = tuple((name, _registered(hints)) for name, hints in self.hints.items())
        self.recorder.add(
            Configured(
                self.configuration.defaulted,
                effective,
                self.queue_rules,
                tuple(normalizing),
                registered,
                self.rules.kubernetes,
                self.rules.feature_gates,
            )
        )
        return profiles

    def _build_queue(self) -> SchedulingQueue:
        """Build the queue that all profiles share, with one QueueSort (configuration ensures that)."""
        first = next(iter(self.profiles.values()))
        frameworks = self.profiles.items()
        queue = QUEUES[self.queue_rules](
            first.points["queueSort"][0].less,
            self.recorder,
            queueing_hints=self.hints,
            pre_enqueue_plugins={name: framework.points["preEnqueue"] for name, framework in frameworks},
            objects=self.api,
            rules=self.rules,
            pod_initial_backoff_us=self.configuration.pod_initial_backoff_seconds * SECOND_US,
            pod_max_backoff_us=self.configuration.pod_max_backoff_seconds * SECOND_US,
        )
        for framework in self.profiles.values():
            framework.handle.nominator = queue.nominator
        return queue

    def configure(self, configuration: Configuration, rules: Rules) -> None:
        """Use another configuration and other rules. Running cycles keep theirs, all else changes at once."""
        under_way = [cycle.framework for cycle in (self.cycle, *self.bindings) if cycle is not None]
        self.configuration, self.rules = configuration, rules
        self.batches = {}
        self.profiles = self._build_profiles()
        before, self.queue = self.queue, self._build_queue()
        self.queue.take_over(before)
        for framework in under_way:
            framework.handle.nominator = self.queue.nominator
        self._sort_out_pods({cycle.pod.uid for cycle in (self.cycle, *self.bindings) if cycle is not None})

    def _sort_out_pods(self, under_way: Set[str]) -> None:
        """Queue the pods that a profile now serves for the first time; drop those that none serves any more."""
        for pod in self.api.list("Pod"):
            if not isinstance(pod, Pod) or pod.node_name or pod.finished or pod.uid in under_way:
                continue
            served, queued = pod.scheduler_name in self.profiles, bool(self.queue.lane_of(pod.key))
            if served and not queued:
                self.queue.add(pod)
            elif queued and not served:
                self.queue.delete(pod)

    def each_second(self) -> None:
        self.queue.flush_backoff_q_completed()
        self.cache.cleanup_assumed_pods(self.timeline.now_us)
        self._wait_for_next_second()

    def _wait_for_next_second(self) -> None:
        """Align with the windows of backoffQ, as upstream does (``waitUntilAlignedWithOrderingWindow``)."""
        self.timeline.after(SECOND_US - self.timeline.now_us % SECOND_US, self.each_second, housekeeping=True)

    def flush_leftover(self) -> None:
        self.queue.flush_unschedulable_pods_leftover()
        self.timeline.after(LEFTOVER_FLUSH_US, self.flush_leftover, housekeeping=True)

    def wait(self, cycle: Cycle, duration_us: int) -> None:
        """Let ``cycle`` wait; a timer makes sure that time stops there."""
        cycle.wait_until_us = self.timeline.now_us + duration_us
        self.timeline.after(duration_us, self.wake)

    def wake(self) -> None:
        """Do nothing: the wait is over, and whoever moved the clock settles next."""

    def hear_late_of(self, pod: Pod, duration_us: int, fault: int) -> None:
        """Delay the watch events of ``pod`` for this time, because of ``fault``."""
        self.unheard.setdefault(pod.uid, [])
        self.recorder.add(FaultStruck(fault, pod.key, self.timeline.now_us + duration_us))
        self.timeline.after(duration_us, self.hear_now_of, pod, fault)

    def hear_now_of(self, pod: Pod, fault: int) -> None:
        self.recorder.add(FaultStruck(fault, pod.key, None))
        self.heard.extend(self.unheard.pop(pod.uid, ()))

    def reject_waiting_pod(self, uid: str, plugin: str, reason: str) -> bool:
        """End the wait of a pod on Permit. The first reason counts. Return False if it is not waiting.

        ``plugin`` rejects the pod; it is "" if the pod is deleted.
        """
        for binding in self.bindings:
            if binding.waits and binding.placed.uid == uid:
                if not binding.rejected_because:
                    binding.rejected_because, binding.rejected_by = reason, plugin
                self.recorder.add(PermitWait(binding.number, binding.pod.key, (), binding.rejected_because))
                binding.wait_until_us = self.timeline.now_us
                return True
        return False

    def waiting_for(self, plugin: str, framework: object) -> list[tuple[Pod, str]]:
        """Return the pods of a profile in use that wait on Permit for ``plugin``, oldest first, with their nodes."""
        return [
            (binding.placed, binding.host)
            for binding in self.bindings
            if plugin in binding.waits and not binding.rejected_because and binding.framework is framework
        ]

    def allow_by(self, plugin: str, uid: str) -> None:
        """Let one plugin allow a pod that waits for it. The pod waits on if others have not allowed it."""
        now_us = self.timeline.now_us
        for binding in self.bindings:
            if binding.placed.uid != uid or plugin not in binding.waits or binding.wait_until_us is None:
                continue
            began_us = binding.wait_until_us - min(binding.waits.values())
            binding.waits = {name: held for name, held in binding.waits.items() if name != plugin}
            ends = tuple((name, began_us + held_us) for name, held_us in binding.waits.items())
            self.recorder.add(PermitWait(binding.number, binding.pod.key, ends))
            binding.wait_until_us = None
            if ends:
                self.wait(binding, began_us + min(binding.waits.values()) - now_us)

    def preempt_binding_pod(self, uid: str, plugin: str) -> bool:
        """End the binding cycle of a pod that waits on Permit or in PreBind, so that it is tried again after its
        backoff. Return False if it does neither.
        """
        for binding in self.bindings:
            if binding.placed.uid != uid or binding.stage not in ("WaitOnPermit", "PreBind"):
                continue
            if binding.waits and not binding.rejected_because:
                binding.preempted = self.reject_waiting_pod(uid, plugin, "preempted")
                return True
            if binding.stage == "PreBind" and binding.works_in_pre_bind and binding.rules.preempts_in_pre_bind:
                binding.preempted, binding.rejected_by = True, plugin
                binding.wait_until_us = self.timeline.now_us
                return True
        return False

    def allow_waiting_pod(self, pod_key: str) -> bool:
        """Let every plugin allow the waiting pod; return False if it is not waiting."""
        for binding in self.bindings:
            if binding.waits and not binding.rejected_because and binding.pod.key == pod_key:
                binding.waits = {}
                self.recorder.add(PermitWait(binding.number, pod_key, ()))
                binding.wait_until_us = None
                return True
        return False
