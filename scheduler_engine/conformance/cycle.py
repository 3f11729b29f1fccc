"""Run recorded scheduling cycles: compare every attempt of a scenario with the recording, field by field."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

from scheduler_engine.api.objects import Node, Pod, timestamp
from scheduler_engine.config import Configuration, Profile, load_configuration
from scheduler_engine.conformance.compare import differences
from scheduler_engine.conformance.cycle_attempt import Attempt, attempt_pod
from scheduler_engine.conformance.cycle_records import RECORDS, Scene
from scheduler_engine.conformance.cycle_world import WaitingPods, World
from scheduler_engine.conformance.versions import rules_of
from scheduler_engine.framework.interface import PostFilterResult, QueuedPodInfo
from scheduler_engine.framework.node_info import PodInfo
from scheduler_engine.plugins.dynamic_resources import DynamicResources
from scheduler_engine.preemption.preemption import Evaluator
from scheduler_engine.queue.nominator import Nominator
from scheduler_engine.queue.scheduling_queue import SchedulingQueue
from scheduler_engine.scheduler.cycles import Cycle
from scheduler_engine.scheduler.parts import SchedulerParts
from scheduler_engine.scheduler.schedule_one import pod_is_skipped
from scheduler_engine.timeline import Timeline
from scheduler_engine.trace.events import Recorder

SECOND_US = 1_000_000
PREEMPTION = "DefaultPreemption"
TRIES = 3
"""The most attempts for a pod that preempts."""


def run(case: dict[str, Any], *, full: bool = False) -> list[str]:
    """Return differences of one recorded scenario, [] if it passes. ``full``: with tables in the trace."""
    scenario = Run(case, full=full)
    got = scenario.attempts()
    lines: list[str] = []
    for index, (expected, actual) in enumerate(zip(case["expect"], got, strict=False)):
        place = f"attempt {index} {expected['pod']}"
        lines += [f"{place}: {line}" for line in differences(_comparable(expected), actual)]
    if len(got) != len(case["expect"]) and "orderDependentNodes" not in case["expect"][-1]:
        lines.append(f"attempts: expected {len(case['expect'])}, got {len(got)}")
    if "final" in case:
        final, unplaced = scenario.outcome()
        lines += differences(case["final"], final, "final")
        lines += differences(case.get("unplaced", []), unplaced, "unplaced")
    return lines


OTHER_OUTCOMES = ("allocationAlternatives", "errorAlternatives", "orderDependentNodes")
"""Fields of an attempt that list what other orders of slices would give. Here slices have the recorded order."""


def _comparable(expected: dict[str, Any]) -> dict[str, Any]:
    """Sort ``clearedNominations`` by name on both sides, because the format sets no order. Drop other outcomes."""
    expected = {name: value for name, value in expected.items() if name not in OTHER_OUTCOMES}
    post_filter = {name: value for name, value in (expected.get("postFilter") or {}).items() if name != "deallocatable"}
    if "clearedNominations" in post_filter:
        post_filter["clearedNominations"] = sorted(post_filter["clearedNominations"])
    return expected | ({"postFilter": post_filter} if post_filter else {})


def looks_at_every_node(configuration: Configuration) -> Configuration:
    """Make preemption look at every node, as in the recordings."""
    return replace(configuration, profiles=tuple(map(_unlimited, configuration.profiles)))


def _unlimited(profile: Profile) -> Profile:
    args = profile.args.get(PREEMPTION)
    if args is None:
        return profile
    return replace(profile, args={**profile.args, PREEMPTION: {**args, "minCandidateNodesPercentage": 100}})


class Turns(SchedulingQueue):
    """A stub: nobody waits here, because the recording decides who is next."""

    def done(self, uid: str, cause: str = "") -> None:
        pass

    def add_unschedulable_if_not_present(self, info: QueuedPodInfo, scheduling_cycle: int) -> None:
        pass


class Run:
    """One scenario: a scheduler without a queue over its objects. ``full``: with tables in its trace."""

    def __init__(self, case: Mapping[str, Any], *, full: bool = False) -> None:
        self.record = RECORDS[case.get("record")]
        self.defer_retry = bool(case.get("deferRetry"))
        self.graceful_victims = bool(case.get("gracefulVictims"))
        self.world = World(case)
        self.recorder = Recorder(full=full)
        rules = rules_of(case)
        configuration = load_configuration(case["config"], rules)
        self.scheduler = SchedulerParts(
            self.world,
            Timeline(self.recorder),
            self.recorder,
            Random(0),
            looks_at_every_node(configuration),
            rules=rules,
        )
        self.cache = self.scheduler.cache
        self.nominator = Nominator(self.recorder, None, (WaitingPods(self.world),))
        self._give_turns()
        self.limits = {profile.scheduler_name: self._limit(profile) for profile in configuration.profiles}
        self.node_order: list[str] | None = None
        self.again = False
        self.placed = 0
        for item in self.world.order:
            if isinstance(item, Node):
                self.cache.add_node(item)
            elif isinstance(item, Pod) and item.node_name:
                self.cache.add_pod(item)
        for pod in self.world.pending:
            self.nominator.add_nominated_pod(pod)

    def _give_turns(self) -> None:
        first = next(iter(self.scheduler.profiles.values()))
        self.scheduler.queue = Turns(first.points["queueSort"][0].less, self.recorder, queueing_hints={})
        self.scheduler.queue.nominator = self.nominator
        for framework in self.scheduler.profiles.values():
            framework.handle.nominator = self.nominator

    def _limit(self, profile: Profile) -> Evaluator | None:
        """Return the profile's limit on preemption candidates; None without preemption."""
        args = profile.args.get(PREEMPTION)
        if args is None:
            return None
        handle = self.scheduler.profiles[profile.scheduler_name].handle
        return Evaluator(handle, args["minCandidateNodesPercentage"], args["minCandidateNodesAbsolute"])

    def attempts(self) -> list[dict[str, Any]]:
        """Return all attempts in the form of the recording."""
        waiting = deque(pod.key for pod in self.world.pending)
        tries: dict[str, int] = {}
        described: list[dict[str, Any]] = []
        while waiting:
            key = waiting.popleft()
            tries[key] = tries.get(key, 0) + 1
            self.recorder.entries.clear()
            described.append(self.attempt(self.world.pod(key)))
            if self.again and tries[key] < TRIES:
                if self.defer_retry:
                    waiting.append(key)
                else:
                    waiting.appendleft(key)
        return described

    def attempt(self, pod: Pod) -> dict[str, Any]:
        """Run one attempt and its effects; ``again`` says afterwards whether the pod has a nomination to try."""
        self.again = False
        scheduler = self.scheduler
        profiles = scheduler.profiles
        scene = Scene(len(profiles) > 1, scheduler.next_start_node_index, self.limits.get(pod.scheduler_name))
        framework = profiles.get(pod.scheduler_name, next(iter(profiles.values())))
        scheduler.numbers.count += 1
        percentage = scheduler.configuration.percentage_of_nodes_to_score or 0
        cycle = Cycle(scheduler.cycle_count, QueuedPodInfo(PodInfo(pod)), framework, "Snapshot", percentage)
        skipped = pod_is_skipped(scheduler, pod)
        if skipped:
            return self.record.describe(Attempt(cycle, skipped=skipped), scene)
        attempt = attempt_pod(scheduler, cycle, every_filter=self.record.every_filter)
        order = [info.name for info in attempt.nodes]
        scene.order_changed = order != self.node_order
        self.node_order = order
        if attempt.best:
            self._place(attempt)
        elif cycle.post_filter is not None:
            lower = attempt.evaluation.lower_nominations if attempt.evaluation is not None else ()
            self._after_post_filter(pod, cycle.post_filter[0], lower)
            self.again |= bool(attempt.deallocated)
        return self.record.describe(attempt, scene)

    def _place(self, attempt: Attempt) -> None:
        """Start the pod at once on its reserved node. Its claims get their devices at once, too."""
        if attempt.cycle.reserve is not None:
            return
        devices = attempt.cycle.framework.plugins.get("DynamicResources")
        if isinstance(devices, DynamicResources):
            devices.pre_bind(attempt.state, attempt.pod, attempt.selected)
        start = timestamp(self.placed * SECOND_US)
        placed = attempt.cycle.placed.evolve({"status": {"startTime": start, "nominatedNodeName": None}})
        self.placed += 1
        self.cache.add_pod(placed)
        self.world.put(placed)

    def _after_post_filter(self, pod: Pod, result: PostFilterResult | None, lower_nominations: tuple[str, ...]) -> None:
        """Clear lower nominations even if all victims are already leaving: the recordings' own rule."""
        if result is None or result.nominated_node is None:
            return
        for key in lower_nominations:
            self.nominator.delete_nominated_pod_if_exists(self.world.pod(key))
            self.world.patch("Pod", key, {"status": {"nominatedNodeName": None}})
        for victim in result.victims:
            self._evict(victim)
        self.again = bool(result.nominated_node)

    def _evict(self, victim: Pod) -> None:
        """Delete at once, or with a grace period: then it stays, marked as terminating."""
        if not self.graceful_victims:
            self.cache.remove_pod(victim)
            del self.world.objects["Pod"][victim.key]
            return
        condition = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
        metadata = {"deletionTimestamp": timestamp(self.placed * SECOND_US)}
        leaving = victim.evolve({"metadata": metadata, "status": {"conditions": [*victim.conditions, condition]}})
        self.cache.update_pod(victim, leaving)
        self.world.put(leaving)

    def outcome(self) -> tuple[dict[str, str], list[str]]:
        """Return the final place of every pod, and the pods without a place; evicted ones are in neither."""
        pods = [pod for pod in self.world.list("Pod") if isinstance(pod, Pod)]
        final = {pod.key: pod.node_name for pod in pods if pod.node_name}
        return final, sorted(pod.key for pod in pods if not pod.node_name)
