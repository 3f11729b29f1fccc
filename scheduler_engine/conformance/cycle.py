"""Runs recorded scheduling cycles: every attempt of a scenario, compared field by field with what was recorded."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

from scheduler_engine.api.objects import Node, Pod, timestamp
from scheduler_engine.cache.cache import Cache
from scheduler_engine.cache.snapshot import Snapshot
from scheduler_engine.config import Configuration, Profile, load_configuration
from scheduler_engine.conformance.compare import differences
from scheduler_engine.conformance.cycle_attempt import Attempt, attempt_pod
from scheduler_engine.conformance.cycle_records import RECORDS, Scene
from scheduler_engine.conformance.cycle_world import WaitingPods, World
from scheduler_engine.framework.interface import Handle, PostFilterResult
from scheduler_engine.framework.runtime import Framework
from scheduler_engine.plugins.registry import REGISTRY
from scheduler_engine.preemption.preemption import Evaluator
from scheduler_engine.queue.nominator import Nominator
from scheduler_engine.trace.events import Recorder

SECOND_US = 1_000_000
TRIES = 3
"""A pod that preempts is attempted at most so often."""


def run(case: dict[str, Any]) -> list[str]:
    """Differences of one recorded scenario, [] when it passes."""
    scenario = Run(case)
    got = scenario.attempts()
    lines: list[str] = []
    for index, (expected, actual) in enumerate(zip(case["expect"], got, strict=False)):
        place = f"attempt {index} {expected['pod']}"
        lines += [f"{place}: {line}" for line in differences(_comparable(expected), actual)]
    if len(got) != len(case["expect"]):
        lines.append(f"attempts: expected {len(case['expect'])}, got {len(got)}")
    if "final" in case:
        final, unplaced = scenario.outcome()
        lines += differences(case["final"], final, "final")
        lines += differences(case.get("unplaced", []), unplaced, "unplaced")
    return lines


def _comparable(expected: dict[str, Any]) -> dict[str, Any]:
    """The format does not tell in which order ``clearedNominations`` come: by name on both sides."""
    post_filter = expected.get("postFilter") or {}
    if "clearedNominations" not in post_filter:
        return expected
    cleared = sorted(post_filter["clearedNominations"])
    return {**expected, "postFilter": {**post_filter, "clearedNominations": cleared}}


class Run:
    """One scenario: cache, nominator and a framework per profile over its objects."""

    def __init__(self, case: Mapping[str, Any]) -> None:
        self.record = RECORDS[case.get("record")]
        self.defer_retry = bool(case.get("deferRetry"))
        self.graceful_victims = bool(case.get("gracefulVictims"))
        self.configuration: Configuration = load_configuration(case["config"])
        self.world = World(case)
        self.recorder = Recorder(full=False)
        self.cache = Cache()
        self.snapshot = Snapshot()
        self.nominator = Nominator(self.recorder, None, (WaitingPods(self.world),))
        self.frameworks: dict[str, Framework] = {}
        self.limits: dict[str, Evaluator] = {}
        for profile in self.configuration.profiles:
            self._add_profile(profile)
        self.start_index = 0
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

    def _add_profile(self, profile: Profile) -> None:
        """Preemption looks at every node, as the recordings do; the configured limit is kept beside."""
        handle = Handle(self.snapshot, self.world, self.world, self.nominator, self.recorder, Random(0))
        args = profile.args.get("DefaultPreemption")
        if args is not None:
            limit = Evaluator(handle, args["minCandidateNodesPercentage"], args["minCandidateNodesAbsolute"])
            self.limits[profile.scheduler_name] = limit
            unlimited = {**args, "minCandidateNodesPercentage": 100}
            profile = replace(profile, args={**profile.args, "DefaultPreemption": unlimited})
        self.frameworks[profile.scheduler_name] = Framework(profile, REGISTRY, handle)

    def attempts(self) -> list[dict[str, Any]]:
        """All attempts in the form of the recording."""
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
        """One attempt and what follows from it; ``again`` tells afterwards whether the pod has a nomination to try."""
        self.again = False
        scene = Scene(len(self.frameworks) > 1, self.start_index, self.limits.get(pod.scheduler_name))
        framework = self.frameworks.get(pod.scheduler_name)
        if framework is None or pod.terminating:
            why = (
                f'profile not found for scheduler name "{pod.scheduler_name}"'
                if framework is None
                else f"skip schedule deleting pod: {pod.key}"
            )
            return self.record.describe(Attempt(pod, skipped=why), None, scene)
        self.cache.update_snapshot(self.snapshot)
        attempt = attempt_pod(
            framework,
            self.snapshot,
            pod,
            self.start_index,
            self.configuration.percentage_of_nodes_to_score or 0,
            every_filter=self.record.every_filter,
        )
        order = [info.name for info in attempt.nodes]
        scene.order_changed = order != self.node_order
        self.node_order = order
        if attempt.search is not None:
            self.start_index = attempt.search.next_start_index
        if attempt.best:
            self._place(framework, attempt)
        elif attempt.post_filter is not None:
            lower = attempt.evaluation.lower_nominations if attempt.evaluation is not None else ()
            self._after_post_filter(pod, attempt.post_filter[0], lower)
        return self.record.describe(attempt, framework, scene)

    def _place(self, framework: Framework, attempt: Attempt) -> None:
        """Assume and reserve on the smallest of the best nodes; the pod then runs there."""
        assumed = attempt.pod.evolve({"spec": {"nodeName": attempt.selected}})
        self.cache.assume_pod(assumed)
        attempt.reserve_failure = framework.run_reserve_plugins(attempt.state, assumed, attempt.selected)
        if attempt.reserve_failure is not None:
            framework.run_unreserve_plugins(attempt.state, assumed, attempt.selected)
            self.cache.forget_pod(assumed)
            return
        self.nominator.delete_nominated_pod_if_exists(assumed)
        start = timestamp(self.placed * SECOND_US)
        placed = assumed.evolve({"status": {"startTime": start, "nominatedNodeName": None}})
        self.placed += 1
        self.cache.add_pod(placed)
        self.world.put(placed)

    def _after_post_filter(self, pod: Pod, result: PostFilterResult | None, lower_nominations: tuple[str, ...]) -> None:
        """Lower nominations go here even where all victims are leaving already: the recordings' own rule."""
        if result is None or result.nominated_node is None:
            return
        for key in lower_nominations:
            self.nominator.delete_nominated_pod_if_exists(self.world.pod(key))
            self.world.patch("Pod", key, {"status": {"nominatedNodeName": None}})
        node = result.nominated_node
        for victim in result.victims:
            self._evict(victim)
        nominated = pod.evolve({"status": {"nominatedNodeName": node or None}})
        self.world.put(nominated)
        self.nominator.delete_nominated_pod_if_exists(pod)
        self.nominator.add_nominated_pod(nominated)
        self.again = bool(node)

    def _evict(self, victim: Pod) -> None:
        """At once, or with a grace period: then it stays, marked as terminating."""
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
        """Where every pod is at the end, and the pods that are nowhere; those evicted are in neither."""
        pods = [pod for pod in self.world.list("Pod") if isinstance(pod, Pod)]
        final = {pod.key: pod.node_name for pod in pods if pod.node_name}
        return final, sorted(pod.key for pod in pods if not pod.node_name)
