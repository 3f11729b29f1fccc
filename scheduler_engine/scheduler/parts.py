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
from scheduler_engine.scheduler.activating import Activations
from scheduler_engine.scheduler.cycles import Cycle
from scheduler_engine.scheduler.permit_waits import PermitWaits
from scheduler_engine.scheduler.ranking import Batch
from scheduler_engine.sharing import Table
from scheduler_engine.timeline import SECOND_US, Timers
from scheduler_engine.trace.events import (
    Configured,
    FaultStruck,
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
    "PodGroup": "podgroups.v1alpha1.scheduling.x-k8s.io",
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


class SchedulerParts(PermitWaits):
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
        self.activations = Activations(timeline)
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
            order_us=getattr(first.points["queueSort"][0], "order_us", None),
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

    def hear_late_of(self, pod: Pod, duration_us: int, fault: int) -> None:
        """Delay the watch events of ``pod`` for this time, because of ``fault``."""
        self.unheard.setdefault(pod.uid, [])
        self.recorder.add(FaultStruck(fault, pod.key, self.timeline.now_us + duration_us))
        self.timeline.after(duration_us, self.hear_now_of, pod, fault)

    def hear_now_of(self, pod: Pod, fault: int) -> None:
        self.recorder.add(FaultStruck(fault, pod.key, None))
        self.heard.extend(self.unheard.pop(pod.uid, ()))

    def has_place(self, pod: Pod) -> bool:
        """Return True if the cache counts the pod on a node, bound or assumed."""
        return self.cache.has_pod(pod)
