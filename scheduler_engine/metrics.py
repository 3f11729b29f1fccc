"""A simulation's metrics in the Prometheus text format 0.0.4, under Kubernetes' names, labels and buckets.

They show only simulated state: gauges are read off the queue and the cache, counters folded from the trace or kept by
the scheduler. Durations are simulated time, in which computing takes none, so metrics about computing are left out. The
gauges are exact where the real scheduler's drift: ``unschedulable_pods`` does not remember deleted pods, and
``cache_size`` is not a second old.
Source: feature Q8; upstream ``metrics/metrics.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from scheduler_engine.queue.in_flight import InFlightEvent
from scheduler_engine.scheduler.counted import AFTER_FLUSH, BATCH_ATTEMPTS, BATCH_FLUSHED
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace.counters import Counters, Histogram
from scheduler_engine.versions import Rules

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECOND_US = 1_000_000

Labels = dict[str, str]
Sample = tuple[str, Labels, int | float]
"""(ending of the name, or the whole name; labels; value)"""


@dataclass(frozen=True, slots=True)
class Family:
    """``help`` starts with Kubernetes' promise of stability, as upstream; ``beta``: a metric that was alpha is beta by
    the rule ``beta_metrics``. ``rule``: the rule by which the metric exists, "" if it always does.
    """

    name: str
    type: str
    help: str
    samples: Callable[[Simulation, Counters], Iterable[Sample]]
    beta: bool = False
    rule: str = ""

    def help_in(self, rules: Rules) -> str:
        return self.help.replace("[ALPHA]", "[BETA]") if self.beta and rules.beta_metrics else self.help


def families_in(rules: Rules) -> list[Family]:
    """Return the metrics that a version has, sorted by name."""
    return [family for family in FAMILIES if not family.rule or getattr(rules, family.rule)]


def render(simulation: Simulation) -> str:
    """Return all metrics of ``simulation``. Nothing changes, and the same state gives the same text.

    With replicas, they are those of the leading process, which began to count when it began to lead.
    """
    counters = _counters(simulation)
    lines = []
    for family in families_in(simulation.rules):
        lines.append(f"# HELP {family.name} {family.help_in(simulation.rules)}")
        lines.append(f"# TYPE {family.name} {family.type}")
        for ending, labels, value in family.samples(simulation, counters):
            lines.append(f"{family.name}{ending}{_label_text(labels)} {_number(value)}")
    return "\n".join(lines) + "\n"


def samples(simulation: Simulation) -> Iterator[Sample]:
    """Yield (whole name, labels, value) of everything in ``render``."""
    counters = _counters(simulation)
    for family in families_in(simulation.rules):
        for ending, labels, value in family.samples(simulation, counters):
            yield f"{family.name}{ending}", labels, value


def _counters(simulation: Simulation) -> Counters:
    leader = simulation.scheduler
    entries = simulation.recorder.entries[leader.first_entry - 1 :]
    return Counters.fold(entry for entry in entries if entry.replica == leader.replica)


def _label_text(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _number(value: int | float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


# --- samples ----------------------------------------------------------------------------------------------------------


def _one(value: int) -> list[Sample]:
    return [("", {}, value)]


def _by(names: tuple[str, ...], values: Iterable[tuple[tuple[str, ...], int]]) -> list[Sample]:
    """Return a sample per label set, sorted; ``names`` name the parts of the keys."""
    labelled = [(dict(sorted(zip(names, key, strict=True))), value) for key, value in values]
    return [("", labels, value) for labels, value in sorted(labelled, key=lambda item: tuple(item[0].values()))]


def _by_one(name: str, values: Mapping[str, int]) -> list[Sample]:
    return _by((name,), (((key,), value) for key, value in values.items()))


def _histogram(histogram: Histogram, unit: int = 1, labels: Labels | None = None) -> list[Sample]:
    """Return samples. ``unit``: what a 1 is in the histogram's own unit; 1000000 turns microseconds into seconds."""
    labels = labels or {}
    samples: list[Sample] = []
    below = 0
    for bound, count in zip(histogram.bounds, histogram.counts, strict=False):
        below += count
        samples.append(("_bucket", {**labels, "le": _number(bound / unit)}, below))
    samples.append(("_bucket", {**labels, "le": "+Inf"}, histogram.count))
    samples.append(("_sum", labels, histogram.total / unit))
    samples.append(("_count", labels, histogram.count))
    return samples


def _histograms(name: str, histograms: Mapping[str, Histogram]) -> list[Sample]:
    return [
        sample for label in sorted(histograms) for sample in _histogram(histograms[label], SECOND_US, {name: label})
    ]


def _unschedulable_pods(simulation: Simulation, counters: Counters) -> list[Sample]:
    """Count waiting pods per plugin that rejected them or holds them back."""
    counts: dict[tuple[str, ...], int] = {}
    for lane in simulation.scheduler.queue.lanes().values():
        for info in lane:
            for plugin in {**info.unschedulable_plugins, **info.pending_plugins}:
                key = (plugin, info.pod.scheduler_name)
                counts[key] = counts.get(key, 0) + 1
    return _by(("plugin", "profile"), counts.items())


def _inflight_events(simulation: Simulation, counters: Counters) -> list[Sample]:
    counts: dict[str, int] = {}
    for entry in simulation.scheduler.queue.active_q.in_flight.entries.values():
        label = str(entry.event) if isinstance(entry, InFlightEvent) else "PodPopped"
        counts[label] = counts.get(label, 0) + 1
    return _by_one("event", counts)


def _cache_size(simulation: Simulation, counters: Counters) -> list[Sample]:
    cache = simulation.scheduler.cache
    sizes = {"assumed_pods": len(cache.assumed_pods), "nodes": len(cache.nodes), "pods": len(cache.pod_states)}
    return _by_one("type", sizes)


def _counted(name: str, *labels: str) -> Callable[[Simulation, Counters], list[Sample]]:
    """Return the samples of what the scheduler counts itself. Without labels, there is always one."""

    def samples(simulation: Simulation, counters: Counters) -> list[Sample]:
        counted = simulation.scheduler.counted
        if not labels:
            return _one(counted.get((name,), 0))
        return _by(labels, ((key[1:], value) for key, value in counted.items() if key[0] == name))

    return samples


FAMILIES = (
    Family(
        f"scheduler_{BATCH_ATTEMPTS}",
        "counter",
        "[ALPHA] Pods that might have taken the next node of an earlier ranking, by what came of it.",
        _counted(BATCH_ATTEMPTS, "profile", "result"),
        rule="reuses_rankings",
    ),
    Family(
        f"scheduler_{BATCH_FLUSHED}",
        "counter",
        "[ALPHA] Rankings that could not serve another pod, by reason.",
        _counted(BATCH_FLUSHED, "profile", "reason"),
        rule="reuses_rankings",
    ),
    Family(
        "scheduler_cache_size",
        "gauge",
        "[ALPHA] What the scheduler's cache holds: nodes, pods on them, and pods only assumed to be on them.",
        _cache_size,
    ),
    Family(
        "scheduler_inflight_events",
        "gauge",
        "[ALPHA] Entries that the queue keeps for pods being scheduled: the pods and the cluster events since.",
        _inflight_events,
    ),
    Family(
        "scheduler_pending_pods",
        "gauge",
        "[STABLE] Pods that wait, by queue: ready (active), in backoff, unschedulable after an attempt, or gated.",
        lambda simulation, counters: _by_one("queue", simulation.scheduler.queue.pending_pods()),
    ),
    Family(
        "scheduler_permit_wait_duration_seconds",
        "histogram",
        "[ALPHA] Simulated seconds that pods waited on Permit, by how the wait ended.",
        lambda simulation, counters: _histograms("result", counters.permit_wait_us),
        beta=True,
    ),
    Family(
        f"scheduler_{AFTER_FLUSH}",
        "counter",
        "[ALPHA] Pods bound after they left unschedulablePods only because they had waited there too long.",
        _counted(AFTER_FLUSH),
        rule="counts_flushed_pods",
    ),
    Family(
        "scheduler_pod_scheduling_attempts",
        "histogram",
        "[STABLE] How many attempts it took until a pod was bound.",
        lambda simulation, counters: _histogram(counters.attempts_per_pod),
    ),
    Family(
        "scheduler_pod_scheduling_sli_duration_seconds",
        "histogram",
        "[BETA] Simulated seconds from a pod's first arrival in the active queue to its binding, by attempts.",
        lambda simulation, counters: _histograms("attempts", counters.sli_us),
    ),
    Family(
        "scheduler_preemption_attempts_total",
        "counter",
        "[STABLE] How often the scheduler looked for pods to evict in favour of another.",
        lambda simulation, counters: _one(counters.preemption_attempts),
    ),
    Family(
        "scheduler_preemption_victims",
        "histogram",
        "[STABLE] How many pods each successful preemption chose to evict.",
        lambda simulation, counters: _histogram(counters.victims),
    ),
    Family(
        "scheduler_queue_incoming_pods_total",
        "counter",
        "[STABLE] Pods that came into a queue, by queue and by the event that brought them.",
        lambda simulation, counters: _by(("queue", "event"), counters.incoming.items()),
    ),
    Family(
        "scheduler_schedule_attempts_total",
        "counter",
        "[STABLE] Attempts to schedule a pod, by result; an error is a fault of the scheduler, not a lack of room.",
        lambda simulation, counters: _by(("result", "profile"), counters.attempts.items()),
    ),
    Family(
        "scheduler_unschedulable_pods",
        "gauge",
        "[ALPHA] Waiting pods per plugin that rejected them; a pod counts for each of its plugins.",
        _unschedulable_pods,
        beta=True,
    ),
)
"""Sorted by name."""
