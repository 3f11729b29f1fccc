"""The part of a kubelet that manages its node: it measures every 10 s, reports pressure, reclaims and evicts.

Source: seed 002 §10 (Eviction monitoring interval, Node conditions, Reclaiming node level resources). A kubelet only
looks if there is something to see: simulated usage on its node, or its own configuration.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

from scheduler_engine.api.conditions import Condition, condition_set
from scheduler_engine.api.node_stats import Stats, image_bytes, reclaims, says_usage, usage
from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.api.simulated import HARD_EVICTION_GRACE, KUBELET_CONFIGURATION, seconds_us
from scheduler_engine.apiserver.store import DEFAULT_GRACE_SECONDS, ApiServer
from scheduler_engine.config.kubelet import (
    HOUSEKEEPING_US,
    EvictionConfiguration,
    Threshold,
    default_configuration,
    load_kubelet_configuration,
)
from scheduler_engine.errors import Rejected
from scheduler_engine.kubelet.admission import PREEMPTED, PREEMPTED_CONDITION, PREEMPTING
from scheduler_engine.kubelet.eviction import (
    CLEANUP_POLL_US,
    CLEANUP_TIMEOUT_US,
    EvictionManager,
    Look,
    eviction_message,
    ranked,
)
from scheduler_engine.timeline import SECOND_US, Timeline
from scheduler_engine.trace.events import (
    EventRecorded,
    EvictionRanked,
    NodeResourcesReclaimed,
    PodEvicted,
    PressureObserved,
)

CONDITION_TEXTS: dict[str, tuple[tuple[str, str], tuple[str, str]]] = {
    "MemoryPressure": (
        ("KubeletHasInsufficientMemory", "kubelet has insufficient memory available"),
        ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ),
    "DiskPressure": (
        ("KubeletHasDiskPressure", "kubelet has disk pressure"),
        ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ),
    "PIDPressure": (
        ("KubeletHasInsufficientPID", "kubelet has insufficient PID available"),
        ("KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ),
}
"""Node condition → (reason, message) if it is True, and if it is False."""

TERMINATED_BY_KUBELET = "TerminationByKubelet"
EVICTED = "Evicted"


@dataclass(slots=True)
class NodeAgent:
    """``written``: the kubelet's values from the node's annotations: its configuration, and the grace of hard
    evictions; ``collected``: uids of finished pods whose containers are removed; ``leaving``: key of the pod being
    evicted, its uid and when the wait for it ends; ``timer``: the next check, 0 = none; ``last_report``: the last one
    recorded; ``late``: arguments of ``kill`` for pods that ended while the kubelet was silent.
    """

    api: ApiServer
    timeline: Timeline
    name: str
    manager: EvictionManager
    written: tuple[str | None, str | None] = (None, None)
    collected: dict[str, None] = field(default_factory=dict)
    leaving: tuple[str, str, int] | None = None
    timer: int = 0
    last_report: PressureObserved | None = None
    late: list[tuple[str, str, str, str]] = field(default_factory=list)

    def node_changed(self, node: Node) -> None:
        """Apply the node's configuration if it has changed."""
        written = node.annotations.get(KUBELET_CONFIGURATION), node.annotations.get(HARD_EVICTION_GRACE)
        if written != self.written:
            self.written = written
            configuration = self._configuration(written[0])
            if written[1] is not None:
                grace_seconds = seconds_us(node.annotations, HARD_EVICTION_GRACE, 0) // SECOND_US
                configuration = replace(configuration, hard_grace_seconds=grace_seconds)
            self.manager = EvictionManager(configuration, last_observed=self.manager.last_observed)
            self.last_report = None
        if self.late and not is_silent(node):
            late, self.late = self.late, []
            for arguments in late:
                self.kill(*arguments)
        self.wake(node)

    def _configuration(self, written: str | None) -> EvictionConfiguration:
        if written is None:
            return default_configuration()
        try:
            data = json.loads(written)
            return load_kubelet_configuration(data if isinstance(data, dict) else {"configuration": data})
        except (ValueError, Rejected) as problem:
            text = f"failed to load kubelet config, using the default one: {problem}"
            self._tell("Node", self.name, "Warning", "InvalidKubeletConfiguration", text)
            return default_configuration()

    def wake(self, item: Node | Pod) -> None:
        """Start looking, at the next full 10 s, if ``item`` gives a reason to."""
        if not self.timer and (
            says_usage(item.annotations) or (isinstance(item, Node) and self.written[0] is not None)
        ):
            self._look_at_next_interval()

    def _look_at_next_interval(self) -> None:
        self._look_after(HOUSEKEEPING_US - self.timeline.now_us % HOUSEKEEPING_US)

    def _look_after(self, delay_us: int) -> None:
        self.timer = self.timeline.after(delay_us, self.look, housekeeping=True)

    def stop(self) -> None:
        """Stop: the node is gone."""
        self.timeline.cancel(self.timer)
        self.timer = 0

    # --- one look ---

    def look(self) -> None:
        """Measure and act; then sleep until the next check, or stop if there is nothing to see."""
        self.timer = 0
        node = self.api.get("Node", self.name)
        if not isinstance(node, Node):
            return
        if is_silent(node):
            self._look_at_next_interval()
            return
        if self.leaving is not None and self._still_leaving():
            self._look_after(CLEANUP_POLL_US)
            return
        self.leaving = None
        stats = self._stats(node)
        look = self.manager.look(stats, self.timeline.now_us)
        self._report(node, look)
        threshold = self.manager.most_urgent(look)
        evicted = threshold is not None and self._reclaim(threshold, stats, look)
        if evicted:
            self._look_after(CLEANUP_POLL_US)
        elif self._has_something_to_see(stats):
            self._look_at_next_interval()

    def _has_something_to_see(self, stats: Stats) -> bool:
        items = (stats.node, *stats.running, *stats.dead)
        return (
            not self.manager.idle or self.written[0] is not None or any(says_usage(item.annotations) for item in items)
        )

    def _stats(self, node: Node) -> Stats:
        there = self.api.pods_on(self.name)
        finished = {pod.uid: None for pod in there if pod.finished}
        self.collected = {uid: None for uid in self.collected if uid in finished}
        dead = tuple(pod for pod in there if pod.finished and pod.uid not in self.collected)
        return Stats(node, tuple(pod for pod in there if pod.phase == "Running"), dead)

    def _still_leaving(self) -> bool:
        assert self.leaving is not None
        key, uid, until_us = self.leaving
        pod = self.api.pod(key)
        there = pod is not None and pod.uid == uid and not pod.finished
        return there and self.timeline.now_us < until_us

    def _report(self, node: Node, look: Look) -> None:
        """Report the findings in the trace and in the node's conditions."""
        conditions = node.status.get("conditions") or []
        for kind, (pressure, relief) in CONDITION_TEXTS.items():
            status = "True" if kind in self.manager.conditions else "False"
            if (node.condition_status(kind) or "False") == status:
                continue
            reason, message = pressure if status == "True" else relief
            conditions = condition_set(conditions, self.timeline.now_us, kind, status, reason, message)
            reason = f"Node{reason.removeprefix('Kubelet')}"
            self._tell("Node", self.name, "Normal", reason, f"Node {self.name} status is now: {reason}")
        self._record(look)
        self.api.patch("Node", self.name, {"status": {"conditions": conditions or None}})

    def _record(self, look: Look) -> None:
        now_us, last_observed = self.timeline.now_us, self.manager.last_observed
        rows: list[tuple[str, str, int, bool, str]] = []
        for item in self.manager.configuration.thresholds:
            if item.signal in look.observations:
                amount = item.amount.of(look.observations[item.signal].capacity)
                rows.append((str(item), item.signal, amount, item.hard, look.states.get(item, "quiet")))
        event = PressureObserved(
            self.name,
            look.signals,
            tuple(rows),
            tuple((str(item), at_us) for item, at_us in look.until.items()),
            tuple(
                (kind, None if last_observed[kind] == now_us else last_observed[kind])
                for kind in self.manager.conditions
            ),
        )
        if event != self.last_report:
            self.last_report = event
            self.api.recorder.add(event)

    # --- reclaiming ---

    def _reclaim(self, threshold: Threshold, stats: Stats, look: Look) -> bool:
        """Free what no pod owns; if that is not enough, evict one pod. Return True if a pod is evicted."""
        resource = threshold.resource
        self._tell("Node", self.name, "Warning", "EvictionThresholdMet", f"Attempting to reclaim {resource}")
        if reclaims(threshold.signal, stats.dedicated_imagefs):
            stats = self._reclaim_node_level(threshold, stats)
            if self.manager.resolved(stats):
                return False
        rows = ranked(stats, threshold)
        table = tuple(row.row() for row in rows)
        self.api.recorder.add(EvictionRanked(self.name, threshold.signal, resource, str(threshold), table))
        victim = next((row for row in rows if not row.critical), None)
        if victim is None:
            return False
        message = eviction_message(threshold, victim, look.observations[threshold.signal])
        self._evict(victim.pod, threshold, message)
        return True

    def _reclaim_node_level(self, threshold: Threshold, stats: Stats) -> Stats:
        for what in reclaims(threshold.signal, stats.dedicated_imagefs):
            if what == "dead containers":
                freed = sum(usage(pod, "writable_layer") for pod in stats.dead)
                names = tuple(pod.key for pod in stats.dead)
                self.collected.update({pod.uid: None for pod in stats.dead})
            else:
                unused = stats.unused_images()
                images = [item for item in stats.node.status.get("images") or () if item not in unused]
                names = tuple(item["names"][0] for item in unused if item.get("names"))
                before = image_bytes(stats.node)
                self.api.patch("Node", self.name, {"status": {"images": images or None}})
                current = self.api.get("Node", self.name)
                assert isinstance(current, Node)
                freed = before - image_bytes(current)
            if names:
                self.api.recorder.add(NodeResourcesReclaimed(self.name, what, names, freed, str(threshold)))
            node = self.api.get("Node", self.name)
            assert isinstance(node, Node)
            stats = self._stats(node)
        return stats

    def _evict(self, pod: Pod, threshold: Threshold, message: str) -> None:
        seconds = self.manager.grace_seconds(threshold, pod)
        self.leaving = (pod.key, pod.uid, self.timeline.now_us + CLEANUP_TIMEOUT_US)
        self.api.recorder.add(PodEvicted(self.name, pod.key, threshold.signal, seconds, message))
        self._end(pod, seconds, EVICTED, message, message)

    def preempt(self, pod: Pod) -> None:
        """End a pod to make room for a critical one."""
        seconds = int(pod.spec.get("terminationGracePeriodSeconds", DEFAULT_GRACE_SECONDS))
        self.api.recorder.add(PodEvicted(self.name, pod.key, "", seconds, PREEMPTED))
        self._end(pod, seconds, PREEMPTING, PREEMPTED, PREEMPTED_CONDITION)

    def _end(self, pod: Pod, seconds: int, reason: str, message: str, why: str) -> None:
        """Announce at once that the pod must go, and fail it when its time is over."""
        self._tell("Pod", pod.key, "Warning", reason, message)
        target = ("DisruptionTarget", "True", TERMINATED_BY_KUBELET, why)
        conditions = condition_set(pod.conditions, self.timeline.now_us, *target)
        self.api.patch("Pod", pod.key, {"status": {"conditions": conditions}})
        if seconds > 0:
            self.timeline.after(seconds * SECOND_US, self.kill, pod.key, pod.uid, reason, message)
        else:
            self.kill(pod.key, pod.uid, reason, message)

    def kill(self, pod_key: str, uid: str, reason: str, message: str) -> None:
        """Fail the pod that had to go; while the kubelet is silent, this has to wait."""
        pod, node = self.api.pod(pod_key), self.api.get("Node", self.name)
        if not isinstance(node, Node) or is_silent(node):
            self.late.append((pod_key, uid, reason, message))
        elif pod is not None and pod.uid == uid and not pod.finished:
            conditions = ended_conditions(pod, self.timeline.now_us)
            status = {"phase": "Failed", "reason": reason, "message": message, "conditions": conditions}
            self.api.patch("Pod", pod_key, {"status": status})

    def _tell(self, kind: str, key: str, level: str, reason: str, text: str) -> None:
        self.api.recorder.add(EventRecorded(kind, key, level, reason, text))


def concerns_agent(item: Node | Pod) -> bool:
    """Return True if an agent without any memory would do something about ``item``."""
    return says_usage(item.annotations) or any(
        name in item.annotations for name in (KUBELET_CONFIGURATION, HARD_EVICTION_GRACE)
    )


def is_silent(node: Node) -> bool:
    """Return True if the kubelet is unreachable: its node's condition Ready is Unknown."""
    return node.ready_status == "Unknown"


def ended_conditions(pod: Pod, now_us: int, reason: str = "") -> list[Condition]:
    """Return the conditions with Ready set to False: the pod's containers have ended."""
    return condition_set(pod.conditions, now_us, "Ready", "False", reason)
