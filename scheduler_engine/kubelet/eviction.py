"""Node-pressure eviction: the loop in which a node's kubelet prevents it from running out of resources.

Source: seed 002 §10; upstream ``pkg/kubelet/eviction/eviction_manager.go`` (synchronize). A check: measure, compare
with the thresholds, report node conditions, free what no pod owns, and only then evict one pod. Not here: limits of
emptyDir volumes and ephemeral storage, the allocatable cgroup's own threshold, notification by the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler_engine.api.eviction_order import Ranked, rank
from scheduler_engine.api.node_stats import Observation, Stats
from scheduler_engine.api.objects import Pod
from scheduler_engine.api.quantity import NANO, Quantity, canonical
from scheduler_engine.config.kubelet import EvictionConfiguration, Threshold

Observations = dict[str, Observation]

CLEANUP_POLL_US = 1_000_000
CLEANUP_TIMEOUT_US = 30_000_000
OF_CONTAINERS = ("memory", "ephemeral-storage")
"""Resources for which an eviction's message says what a container used."""


@dataclass(frozen=True, slots=True)
class Look:
    """The result of one look. ``met``: thresholds that may evict; ``states`` as in ``PressureObserved``."""

    observations: Observations
    states: dict[Threshold, str]
    until: dict[Threshold, int]
    met: tuple[Threshold, ...]

    @property
    def signals(self) -> tuple[tuple[str, int, int], ...]:
        return tuple((name, item.available, item.capacity) for name, item in self.observations.items())


@dataclass(slots=True)
class EvictionManager:
    """One kubelet's memory, with times in simulated microseconds.

    ``first_observed``: threshold → since when it has been below without a break; ``last_observed``: node condition →
    when a threshold last implied it; ``met``: thresholds that evicted last time, and must regain their minimum reclaim;
    ``conditions``: those it reports.
    """

    configuration: EvictionConfiguration
    first_observed: dict[Threshold, int] = field(default_factory=dict)
    last_observed: dict[str, int] = field(default_factory=dict)
    met: tuple[Threshold, ...] = ()
    conditions: tuple[str, ...] = ()

    def look(self, stats: Stats, now_us: int) -> Look:
        """Compare the measurements with the thresholds, and remember the result."""
        observations = stats.observations()
        states: dict[Threshold, str] = {}
        for threshold in self.configuration.thresholds:
            if _below(threshold, observations):
                states[threshold] = "met"
            elif threshold in self.met and _below(threshold, observations, with_reclaim=True):
                states[threshold] = "reclaiming"
        self.first_observed = {threshold: self.first_observed.get(threshold, now_us) for threshold in states}
        for threshold in states:
            self.last_observed[threshold.condition] = now_us
        period_us = self.configuration.transition_us
        self.last_observed = {name: at_us for name, at_us in self.last_observed.items() if now_us - at_us < period_us}
        self.conditions = tuple(sorted(self.last_observed))
        until = {
            threshold: since_us + threshold.grace_us
            for threshold, since_us in self.first_observed.items()
            if now_us - since_us < threshold.grace_us
        }
        states.update(dict.fromkeys(until, "waits"))
        self.met = tuple(threshold for threshold in states if threshold not in until)
        return Look(observations, states, until, self.met)

    def most_urgent(self, look: Look) -> Threshold | None:
        """Return the most urgent one: memory comes first."""
        return min(look.met, key=lambda threshold: threshold.resource != "memory", default=None)

    def resolved(self, stats: Stats) -> bool:
        """After freeing node-level resources, return True if every threshold is cleared, with minimum reclaim."""
        observations = stats.observations()
        return not any(
            _below(threshold, observations, with_reclaim=True) for threshold in self.configuration.thresholds
        )

    def grace_seconds(self, threshold: Threshold, pod: Pod) -> int:
        """Return the short grace of a hard threshold; for a soft one the lesser of the pod's and the configured one."""
        if threshold.hard:
            return self.configuration.hard_grace_seconds
        own = pod.spec.get("terminationGracePeriodSeconds")
        most = self.configuration.max_pod_grace_seconds
        return most if own is None else min(most, int(own))

    @property
    def idle(self) -> bool:
        """Return True if there is nothing to remember or report."""
        return not self.first_observed and not self.last_observed


def ranked(stats: Stats, threshold: Threshold) -> list[Ranked]:
    return rank(stats.running, threshold.signal, stats.dedicated_imagefs)


def eviction_message(threshold: Threshold, row: Ranked, observation: Observation) -> str:
    """Return the text for the pod's status, in Kubernetes' words; it names the container of a pod with just one.

    Kubernetes knows a container's use of memory and disk, not of process numbers and inodes.
    """
    resource = threshold.resource
    limit = _written(resource, threshold.amount.of(observation.capacity))
    left = _written(resource, observation.available)
    text = f"The node was low on resource: {resource}. Threshold quantity: {limit}, available: {left}. "
    if resource in OF_CONTAINERS and len(row.pod.containers) == 1 and row.usage > row.request:
        name, used, request = row.pod.containers[0].get("name"), row.usage, row.request
        text += (
            f"Container {name} was using {_written(resource, used)}, request is {_written(resource, request)}, "
            f"has larger consumption of {resource}. "
        )
    return text.rstrip()


def _below(threshold: Threshold, observations: Observations, with_reclaim: bool = False) -> bool:
    observation = observations.get(threshold.signal)
    if observation is None:
        return False
    amount = threshold.amount.of(observation.capacity)
    if with_reclaim:
        amount += threshold.min_reclaim.of(observation.capacity)
    return observation.available < amount


def _written(resource: str, amount: int) -> str:
    """Format bytes with a binary suffix; upstream writes them as measured, in Ki."""
    notation = "DecimalSI" if resource in ("inodes", "pids") else "BinarySI"
    return canonical(Quantity(amount * NANO, notation))
