"""One attempt to schedule one pod, with everything that a recording may contain.

The attempt goes through the scheduler's own stages; values only for recordings are looked up between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import PluginError
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.runtime import ACTIVE_FILTERS
from scheduler_engine.framework.status import Status, error
from scheduler_engine.plugins.default_preemption import DefaultPreemption
from scheduler_engine.plugins.volume_binding.plugin import STATE as VOLUME_BINDING_STATE
from scheduler_engine.plugins.volume_binding.plugin import BindingState
from scheduler_engine.preemption.preemption import Evaluation
from scheduler_engine.scheduler import stages
from scheduler_engine.scheduler.cycles import Cycle
from scheduler_engine.scheduler.parts import SchedulerParts
from scheduler_engine.scheduler.search import Search
from scheduler_engine.trace.events import CycleFinished, Recorder

FilterTable = dict[str, Status | None]

RESERVED = "Permit"
"""The stage at which a recorded attempt ends: the pod has its node."""


@dataclass(slots=True)
class Attempt:
    """The result: ``cycle`` and more findings. ``skipped``: why the pod was not attempted at all;
    ``error`` or ``message`` is its failure before a node was chosen. ``deallocated``: the claim that lost its devices.
    """

    cycle: Cycle
    nodes: Sequence[NodeInfo] = ()
    filters: FilterTable = field(default_factory=dict)
    filters_each: dict[str, dict[str, Status]] = field(default_factory=dict)
    best: list[str] = field(default_factory=list)
    skipped: str = ""
    error: str = ""
    message: str = ""
    evaluation: Evaluation | None = None
    volumes: dict[str, object] = field(default_factory=dict)
    deallocated: str = ""

    @property
    def pod(self) -> Pod:
        return self.cycle.pod

    @property
    def state(self) -> CycleState:
        return self.cycle.state

    @property
    def selected(self) -> str:
        """Return the smallest of the best, "" if nothing is feasible."""
        return self.best[0] if self.best else ""

    @property
    def search(self) -> Search | None:
        return self.cycle.search

    @property
    def searched(self) -> bool:
        """Return True if the search ended without an error."""
        return self.search is not None and not self.search.failure

    @property
    def feasible(self) -> Sequence[NodeInfo]:
        return self.search.feasible if self.search is not None and self.searched else ()

    @property
    def scores_enabled(self) -> bool:
        return bool(self.cycle.framework.points["score"])

    @property
    def totals(self) -> dict[str, int]:
        """Return node → total; without Score plugins every node has the same."""
        return dict(self.cycle.totals or ()) or {info.name: 0 if self.scores_enabled else 1 for info in self.feasible}


def attempt_pod(scheduler: SchedulerParts, cycle: Cycle, *, every_filter: bool) -> Attempt:
    """Run from the snapshot until the pod has its node, or has failed. ``every_filter``: also run all filters on all
    nodes.
    """
    attempt, held = Attempt(cycle), set[str]()
    while cycle.stage not in (stages.OVER, RESERVED):
        stage = cycle.stage
        if stage == "PostFilter":
            attempt.evaluation = _evaluation(attempt)
            held = _with_devices(scheduler)
        stages.run(scheduler, cycle)
        if stage == "PostFilter":
            attempt.deallocated = next(iter(sorted(held - _with_devices(scheduler))), "")
        if stage == "Snapshot":
            attempt.nodes = scheduler.snapshot.list()
        elif stage == "Filter" and attempt.search is not None:
            if every_filter:
                _ask_every_filter(attempt)
            if attempt.feasible and attempt.scores_enabled:
                # The scheduler does not score a single feasible node, but recordings contain its scores.
                cycle.stage = "PreScore"
        elif stage == "SelectHost":
            _select(attempt)
    if not attempt.best:
        _tell_failure(attempt, scheduler.recorder)
    return attempt


def _with_devices(scheduler: SchedulerParts) -> set[str]:
    """Return the keys of the claims that have devices."""
    claims = scheduler.api.list("ResourceClaim")
    return {claim.key for claim in claims if claim.status.get("allocation") is not None}


def _evaluation(attempt: Attempt) -> Evaluation | None:
    """Evaluate first, on the same state: later steps of preemption must not affect it."""
    plugin = attempt.cycle.framework.plugins.get("DefaultPreemption")
    statuses = attempt.cycle.diagnosis.node_to_status
    if not isinstance(plugin, DefaultPreemption) or plugin.evaluator.ineligible(attempt.pod, statuses) is not None:
        return None
    return plugin.evaluator.evaluate(attempt.state, attempt.pod, statuses, every_node=True)


def _ask_every_filter(attempt: Attempt) -> None:
    state, pod, framework = attempt.state, attempt.pod, attempt.cycle.framework
    for info in attempt.nodes:
        attempt.filters[info.name] = framework.run_filter_plugins_with_nominated_pods(state, pod, info)
        alone = {plugin.name: _asked_alone(plugin, state, pod, info) for plugin in state.data[ACTIVE_FILTERS]}
        failures = {name: status for name, status in alone.items() if status is not None}
        if failures:
            attempt.filters_each[info.name] = failures


def _asked_alone(plugin: Any, state: CycleState, pod: Pod, info: NodeInfo) -> Status | None:
    try:
        status: Status | None = plugin.filter(state, pod, info)
    except PluginError as problem:
        return error(str(problem))
    return status


def _select(attempt: Attempt) -> None:
    """Select the smallest name of the best, like recordings; the scheduler draws."""
    totals = attempt.totals
    highest = max(totals.values())
    attempt.best = sorted(name for name, total in totals.items() if total == highest)
    attempt.cycle.host = attempt.best[0]
    attempt.volumes = _volumes(attempt.state, attempt.selected)


def _volumes(state: CycleState, node: str) -> dict[str, object]:
    """Return what VolumeBinding would bind and provision on ``node``."""
    held = state.read(VOLUME_BINDING_STATE)
    chosen = held.pod_volumes.get(node) if isinstance(held, BindingState) else None
    if chosen is None:
        return {}
    bind = {binding.claim.key: binding.volume.name for binding in chosen.static_bindings}
    provision = sorted(claim.key for claim in chosen.provisions)
    return {name: volumes for name, volumes in (("bind", bind), ("provision", provision)) if volumes}


def _tell_failure(attempt: Attempt, recorder: Recorder) -> None:
    """Separate an error from a message that the pod is unschedulable."""
    end = recorder.entries[-1].event
    assert isinstance(end, CycleFinished), f"the attempt ended with {end}"
    if end.outcome == "error":
        attempt.error = end.message
    else:
        attempt.message = end.message
