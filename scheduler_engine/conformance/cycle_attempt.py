"""One attempt to schedule one pod, with everything that a recording may ask about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import NodeInfoLister, PluginError, PostFilterResult, PreFilterResult
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.runtime import ACTIVE_FILTERS, Framework, Scores
from scheduler_engine.framework.status import Status, error
from scheduler_engine.plugins.default_preemption import DefaultPreemption
from scheduler_engine.plugins.volume_binding.plugin import STATE as VOLUME_BINDING_STATE
from scheduler_engine.plugins.volume_binding.plugin import BindingState
from scheduler_engine.preemption.preemption import Evaluation
from scheduler_engine.scheduler.fit_error import NO_NODES_AVAILABLE, Diagnosis, fit_message
from scheduler_engine.scheduler.search import Search, search_nodes

FilterTable = dict[str, Status | None]


@dataclass(slots=True)
class Attempt:
    """What happened. ``post_filter`` is None when no PostFilter plugin ran; ``reserve_failure`` when Reserve passed."""

    pod: Pod
    nodes: Sequence[NodeInfo] = ()
    state: CycleState = field(default_factory=CycleState)
    skipped: str = ""
    error: str = ""
    pre_filter: Status | None = None
    pre_filter_ran: bool = False
    narrowed: PreFilterResult | None = None
    diagnosis: Diagnosis = field(default_factory=Diagnosis)
    search: Search | None = None
    filters: FilterTable = field(default_factory=dict)
    filters_each: dict[str, dict[str, Status]] = field(default_factory=dict)
    raw: Scores = field(default_factory=dict)
    normalized: Scores = field(default_factory=dict)
    totals: dict[str, int] = field(default_factory=dict)
    best: list[str] = field(default_factory=list)
    scores_enabled: bool = True
    message: str = ""
    post_filter: tuple[PostFilterResult | None, Status] | None = None
    evaluation: Evaluation | None = None
    reserve_failure: Status | None = None
    volumes: dict[str, object] = field(default_factory=dict)

    @property
    def selected(self) -> str:
        """The smallest of the best, "" when nothing is feasible."""
        return self.best[0] if self.best else ""

    @property
    def feasible(self) -> Sequence[NodeInfo]:
        return self.search.feasible if self.search is not None else []


def attempt_pod(
    framework: Framework,
    snapshot: NodeInfoLister,
    pod: Pod,
    start_index: int,
    global_percentage: int,
    *,
    every_filter: bool,
) -> Attempt:
    """PreFilter to Score, or to PostFilter. ``every_filter``: ask all filters about all nodes as well."""
    attempt = Attempt(pod, snapshot.list(), scores_enabled=bool(framework.points["score"]))
    if not attempt.nodes:
        attempt.message = NO_NODES_AVAILABLE
        return attempt
    try:
        _run(framework, snapshot, attempt, start_index, global_percentage, every_filter)
    except PluginError as problem:
        attempt.error = str(problem)
    return attempt


def _run(
    framework: Framework,
    snapshot: NodeInfoLister,
    attempt: Attempt,
    start_index: int,
    global_percentage: int,
    every_filter: bool,
) -> None:
    pod, state, diagnosis = attempt.pod, attempt.state, attempt.diagnosis
    attempt.pre_filter_ran = True
    attempt.narrowed, attempt.pre_filter, narrowing = framework.run_pre_filter_plugins(state, pod, attempt.nodes)
    diagnosis.unschedulable_plugins = dict.fromkeys(narrowing)
    if attempt.pre_filter is None:
        names = None if attempt.narrowed is None else attempt.narrowed.node_names
        attempt.search = search_nodes(framework, snapshot, state, pod, diagnosis, names, start_index, global_percentage)
        if attempt.search.failure:
            attempt.search.feasible = ()
            raise PluginError(attempt.search.failure)
        if every_filter:
            _ask_every_filter(framework, attempt)
        if attempt.feasible:
            _score(framework, attempt)
            return
    else:
        if not attempt.pre_filter.is_rejected:
            raise PluginError(attempt.pre_filter.message)
        diagnosis.node_to_status.absent = attempt.pre_filter
        diagnosis.pre_filter_message = attempt.pre_filter.message
        diagnosis.add_plugin_status(attempt.pre_filter)
    if framework.points["postFilter"]:
        _post_filter(framework, attempt)
    attempt.message = fit_message(len(attempt.nodes), diagnosis)


def _ask_every_filter(framework: Framework, attempt: Attempt) -> None:
    state, pod = attempt.state, attempt.pod
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


def _score(framework: Framework, attempt: Attempt) -> None:
    state, pod, feasible = attempt.state, attempt.pod, attempt.feasible
    attempt.totals = {info.name: 0 if attempt.scores_enabled else 1 for info in feasible}
    if attempt.scores_enabled:
        failure = framework.run_pre_score_plugins(state, pod, feasible)
        if failure is not None:
            raise PluginError(failure.message)
        attempt.raw = framework.run_score_plugins(state, pod, feasible)
        attempt.normalized, totals = framework.run_normalize_score(state, pod, attempt.raw)
        attempt.totals |= totals
    highest = max(attempt.totals.values())
    attempt.best = sorted(name for name, total in attempt.totals.items() if total == highest)
    attempt.volumes = _volumes(state, attempt.selected)


def _volumes(state: CycleState, node: str) -> dict[str, object]:
    """What VolumeBinding would bind and provision on ``node``."""
    held = state.read(VOLUME_BINDING_STATE)
    chosen = held.pod_volumes.get(node) if isinstance(held, BindingState) else None
    if chosen is None:
        return {}
    bind = {binding.claim.key: binding.volume.name for binding in chosen.static_bindings}
    provision = sorted(claim.key for claim in chosen.provisions)
    return {name: found for name, found in (("bind", bind), ("provision", provision)) if found}


def _post_filter(framework: Framework, attempt: Attempt) -> None:
    """The evaluation is made beforehand, on the same state: what preemption does afterwards must not colour it."""
    statuses = attempt.diagnosis.node_to_status
    evaluation = None
    plugin = framework.plugins.get("DefaultPreemption")
    if isinstance(plugin, DefaultPreemption) and not plugin.evaluator.ineligible(attempt.pod, statuses):
        evaluation = plugin.evaluator.evaluate(attempt.state, attempt.pod, statuses, every_node=True)
    result, status = framework.run_post_filter_plugins(attempt.state, attempt.pod, statuses)
    attempt.post_filter = (result, status)
    attempt.diagnosis.post_filter_message = status.message
    if result is not None:
        attempt.evaluation = evaluation
