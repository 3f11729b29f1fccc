"""The framework runtime: it runs one profile's plugins in order. Only it records plugin calls.

Source: seed 002 §6 and 004; upstream ``framework/runtime/framework.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from numpy.typing import NDArray

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.columns import Columns
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.extension_points import EXTENSION_POINTS
from scheduler_engine.framework.filter_run import FilterRun
from scheduler_engine.framework.interface import (
    Handle,
    NodeToStatus,
    Plugin,
    PluginError,
    PostFilterResult,
    PreFilterResult,
)
from scheduler_engine.framework.node_info import NodeInfo, PodInfo
from scheduler_engine.framework.nodes import NodeScores, Slots, nodes_of
from scheduler_engine.framework.permit import QUORUM
from scheduler_engine.framework.score_run import check_range, normalized_scores, raw_scores
from scheduler_engine.framework.state_text import state_text
from scheduler_engine.framework.status import SUCCESS, Code, Status, error, unresolvable, unschedulable
from scheduler_engine.trace.events import (
    CycleStateWritten,
    NormalizeRan,
    PluginsRan,
    PodGroupCounted,
    PostFilterRan,
    PreFilterRan,
    PreScoreRan,
    ScoreRan,
)
from scheduler_engine.trace.events.pairs import NONE, Pairs, Tables

MAX_PERMIT_TIMEOUT_US = 15 * 60 * 1_000_000
"""The longest time a plugin can make a pod wait on Permit."""

ACTIVE_FILTERS = "framework/active-filters"
Scores = dict[str, NodeScores]
"""plugin → node → score"""


class ProfileLike(Protocol):
    """The fields of a profile that the runtime reads (``config.types.Profile``)."""

    @property
    def scheduler_name(self) -> str: ...

    @property
    def plugins(self) -> Mapping[str, Sequence[tuple[str, int]]]: ...

    @property
    def args(self) -> Mapping[str, Mapping[str, Any]]: ...

    @property
    def percentage_of_nodes_to_score(self) -> int | None: ...


def _verdict(plugin: str, status: Status | None) -> tuple[str, str, tuple[str, ...]]:
    return (plugin, "Success", ()) if status is None else (plugin, status.code.value, status.reasons)


class Framework:
    """A profile in use.

    ``plugins``: name → instance; ``points``: extension point → instances in running order; ``weights``: score plugin →
    weight.
    """

    def __init__(self, profile: ProfileLike, registry: Mapping[str, type[Plugin]], handle: Handle) -> None:
        self.profile_name = profile.scheduler_name
        self.percentage_of_nodes_to_score = profile.percentage_of_nodes_to_score
        self.handle = handle
        handle.framework = self
        self.plugins: dict[str, Plugin] = {}
        self.points: dict[str, list[Any]] = {}
        for point in EXTENSION_POINTS:
            self.points[point] = [self._instance(name, profile, registry) for name, _ in profile.plugins.get(point, ())]
        self.weights = dict(profile.plugins.get("score", ()))
        self.columns = Columns()

    def _instance(self, name: str, profile: ProfileLike, registry: Mapping[str, type[Plugin]]) -> Plugin:
        if name not in self.plugins:
            try:
                self.plugins[name] = registry[name](profile.args.get(name, {}), self.handle)
            except PluginError as problem:
                raise PluginError(f'initializing plugin "{name}": {problem}') from problem
        return self.plugins[name]

    # --- PreFilter and Filter ----------------------------------------------------------------------------------------

    def run_pre_filter_plugins(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None, list[str]]:
        """Run all PreFilter plugins. Return the merged narrowing, the status, and the narrowing plugins (sorted)."""
        verdicts: list[tuple[str, str, tuple[str, ...]]] = []
        outcome = self._pre_filter(state, pod, nodes, verdicts)
        active = tuple(plugin for plugin in self.points["filter"] if plugin.name not in state.skip_filter_plugins)
        state.write(ACTIVE_FILTERS, active)
        names = None if outcome[0] is None else outcome[0].node_names
        self.handle.recorder.add(PreFilterRan(self.handle.cycle, tuple(verdicts), names))
        self._tell_state("PreFilter", state, {ACTIVE_FILTERS: None})
        return outcome

    def _pre_filter(
        self,
        state: CycleState,
        pod: Pod,
        nodes: Sequence[NodeInfo],
        verdicts: list[tuple[str, str, tuple[str, ...]]],
    ) -> tuple[PreFilterResult | None, Status | None, list[str]]:
        result: PreFilterResult | None = None
        narrowing: list[str] = []
        held: Status | None = None
        for plugin in self.points["preFilter"]:
            try:
                narrowed, status = plugin.pre_filter(state, pod, nodes)
            except PluginError as problem:
                narrowed, status = None, error(str(problem))
            verdicts.append(_verdict(plugin.name, status))
            if status is not None and status.is_skip:
                state.skip_filter_plugins[plugin.name] = None
                continue
            if status is not None and not status.is_success:
                if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                    return None, status.by(plugin.name), []
                if status.code is Code.UNSCHEDULABLE:
                    held = status.by(plugin.name)
                    continue
                text = f'running PreFilter plugin "{plugin.name}": {status.message}'
                return None, error(text).by(plugin.name), []
            if narrowed is not None:
                narrowing.append(plugin.name)
                result = _merge(result, narrowed)
                if not result.node_names:
                    narrowing.sort()
                    text = (
                        f"node(s) didn't satisfy plugin {narrowing[0]}"
                        if len(narrowing) == 1
                        else f"node(s) didn't satisfy plugin(s) [{' '.join(narrowing)}] simultaneously"
                    )
                    return result, unresolvable(text), narrowing
        return result, held, sorted(narrowing)

    def run_add_pod(self, state: CycleState, pod: Pod, added: PodInfo, node_info: NodeInfo) -> Status | None:
        """Tell the plugins that ``added`` is on the node now; return an error status if one fails."""
        return self._extension("add_pod", "AddPod", state, pod, added, node_info)

    def run_remove_pod(self, state: CycleState, pod: Pod, removed: PodInfo, node_info: NodeInfo) -> Status | None:
        """Tell the plugins that ``removed`` has left the node."""
        return self._extension("remove_pod", "RemovePod", state, pod, removed, node_info)

    def _extension(
        self, method: str, title: str, state: CycleState, pod: Pod, info: PodInfo, node_info: NodeInfo
    ) -> Status | None:
        for plugin in self.points["preFilter"]:
            if plugin.name in state.skip_filter_plugins or not hasattr(plugin, method):
                continue
            try:
                getattr(plugin, method)(state, pod, info, node_info)
            except PluginError as problem:
                return error(f'running {title} on PreFilter plugin "{plugin.name}": {problem}')
        return None

    def active_filters(self, state: CycleState) -> Sequence[Any]:
        """Return the filters that PreFilter has not skipped."""
        plugins: Sequence[Any] = state.data[ACTIVE_FILTERS]
        return plugins

    def updated_by_pods(self, state: CycleState) -> bool:
        """Return True if a plugin keeps data in ``state`` that changes with the pods of a node."""
        return any(
            hasattr(plugin, "add_pod") and plugin.name not in state.skip_filter_plugins
            for plugin in self.points["preFilter"]
        )

    def run_filter_plugins(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        """Return the first failing plugin's status, None if all pass."""
        return self.ask(self.active_filters(state), state, pod, node_info)

    def ask(self, plugins: Sequence[Any], state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        """Return the status of the first of ``plugins`` that fails on the node."""
        for plugin in plugins:
            try:
                status: Status | None = plugin.filter(state, pod, node_info)
            except PluginError as problem:
                status = error(str(problem))
            if status is not None:
                return refusal_by(plugin.name, status)
        return None

    def run_filter_plugins_with_nominated_pods(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        """Run the filters with the nominated pods of equal or higher priority, and without: both must pass."""
        nominated = self.nominated_for(pod, node_info.name)
        if nominated:
            with_state, with_info, status = self.with_pods(state, pod, node_info, nominated)
            status = status or self.run_filter_plugins(with_state, pod, with_info)
            if status is not None:
                return status
        return self.run_filter_plugins(state, pod, node_info)

    def with_pods(
        self, state: CycleState, pod: Pod, node_info: NodeInfo, more: Sequence[PodInfo]
    ) -> tuple[CycleState, NodeInfo, Status | None]:
        """Return copies in which ``more`` pods count on the node, and an error status if a plugin fails."""
        with_state, with_info = state.clone(), node_info.clone()
        for info in more:
            with_info.add_pod_info(info)
            problem = self.run_add_pod(with_state, pod, info, with_info)
            if problem is not None:
                return with_state, with_info, problem
        return with_state, with_info, None

    def other_failing_filters(
        self, state: CycleState, pod: Pod, node_info: NodeInfo, first: str
    ) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
        """Return, for teaching, the verdicts of the filters after ``first`` that fail too, each run alone.

        A lean trace does without, so what they cost does not count.
        """
        verdicts, effort = [], self.handle.recorder.effort
        cost = effort.cost
        plugins = iter(self.active_filters(state))
        for plugin in plugins:
            if plugin.name == first:
                break
        for plugin in plugins:
            try:
                status: Status | None = plugin.filter(state, pod, node_info)
            except PluginError as problem:
                status = error(str(problem))
            if status is not None:
                verdicts.append(_verdict(plugin.name, status))
        effort.cost = cost
        return tuple(verdicts)

    def filter_run(self, state: CycleState, pod: Pod, slots: Slots) -> FilterRun:
        """Return the filters for the search over the nodes of the snapshot with these ``slots``."""
        return FilterRun(self, state, pod, slots, self.active_filters(state))

    def nominated_for(self, pod: Pod, node_name: str) -> list[PodInfo]:
        """Return nominated pods that count against ``pod`` there: others of equal or higher priority."""
        return [
            info
            for info in self.handle.nominator.nominated_pods_for_node(node_name)
            if info.pod.priority >= pod.priority and info.pod.uid != pod.uid
        ]

    # --- PostFilter ---

    def run_post_filter_plugins(
        self, state: CycleState, pod: Pod, statuses: NodeToStatus
    ) -> tuple[PostFilterResult | None, Status]:
        """Run until the first Success, Error or UnschedulableAndUnresolvable; the last result with content counts."""
        verdicts: list[tuple[str, str, tuple[str, ...]]] = []
        result, status = self._post_filter(state, pod, statuses, verdicts)
        outcome = result or PostFilterResult(None)
        self.handle.recorder.add(
            PostFilterRan(
                self.handle.cycle,
                tuple(verdicts),
                outcome.nominated_node or "",
                tuple(victim.key for victim in outcome.victims),
                outcome.best_nodes,
                outcome.cleared_nominations,
                outcome.not_deleted,
                outcome.ineligible,
                outcome.waits_for,
            )
        )
        return result, status

    def _post_filter(
        self,
        state: CycleState,
        pod: Pod,
        statuses: NodeToStatus,
        verdicts: list[tuple[str, str, tuple[str, ...]]],
    ) -> tuple[PostFilterResult | None, Status]:
        result: PostFilterResult | None = None
        reasons: list[str] = []
        rejector = ""
        for plugin in self.points["postFilter"]:
            try:
                answer, status = plugin.post_filter(state, pod, statuses)
            except PluginError as problem:
                answer, status = None, error(str(problem))
            verdicts.append(_verdict(plugin.name, status))
            if status.is_success:
                return answer, status
            if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                return answer, status.by(plugin.name)
            if not status.is_rejected:
                return None, error(status.message).by(plugin.name)
            if answer is not None and answer.ineligible:
                result = replace(result or answer, ineligible=answer.ineligible, waits_for=answer.waits_for)
            elif answer is not None and answer.nominated_node is not None:
                result = answer
            reasons += status.reasons
            rejector = rejector or plugin.name
        return result, unschedulable(*reasons).by(rejector)

    # --- scoring ---

    def run_pre_score_plugins(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Return an error status if a plugin fails; Skip removes the plugin from Score."""
        verdicts: list[tuple[str, str, tuple[str, ...]]] = []
        failure: Status | None = None
        known = dict.fromkeys(state.data)
        for plugin in self.points["preScore"]:
            try:
                status = plugin.pre_score(state, pod, nodes)
            except PluginError as problem:
                status = error(str(problem))
            verdicts.append(_verdict(plugin.name, status))
            if status is not None and status.is_skip:
                state.skip_score_plugins[plugin.name] = None
            elif status is not None and not status.is_success:
                failure = error(f'running PreScore plugin "{plugin.name}": {status.message}')
                break
        self.handle.recorder.add(PreScoreRan(self.handle.cycle, tuple(verdicts)))
        self._tell_state("PreScore", state, known)
        return failure

    def _tell_state(self, point: str, state: CycleState, known: Container[str]) -> None:
        """Record the values in ``state`` whose keys are not in ``known``."""
        if self.handle.recorder.full:
            values = tuple((key, state_text(value)) for key, value in state.data.items() if key not in known)
            self.handle.recorder.add(CycleStateWritten(self.handle.cycle, point, values))

    def run_score_plugins(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Scores:
        """Return raw scores. Raises PluginError for the first plugin that fails, in the order of the profile."""
        scored, slots = nodes_of(nodes), self.handle.snapshot.slots
        plugins = [plugin for plugin in self.points["score"] if plugin.name not in state.skip_score_plugins]
        numbers: dict[str, NDArray[Any]] = {}
        for plugin in plugins:
            try:
                numbers[plugin.name] = raw_scores(plugin, plugin.sign(pod), state, pod, scored, self.columns, slots)
            except PluginError as problem:
                text = f'running Score plugins: plugin "{plugin.name}" failed with: {problem}'
                raise PluginError(text) from problem
        raw = {plugin.name: NodeScores(scored, numbers[plugin.name]) for plugin in plugins}
        weights = tuple((name, self.weights[name]) for name in raw)
        self.handle.recorder.add(ScoreRan(self.handle.cycle, weights, self._tables(raw)))
        return raw

    def run_normalize_score(
        self, state: CycleState, pod: Pod, raw: Scores, ask_for_points: Callable[[], Scores] = dict
    ) -> tuple[Scores, NodeScores | None]:
        """Return normalized scores and the weighted total per node (None without plugins and points). Raises
        PluginError when a plugin fails, and for a score outside 0–100.

        ``ask_for_points``: returns extender → what it adds to the total of each node.
        """
        normalized: Scores = {}
        totals: NodeScores | None = None
        plugins = {plugin.name: plugin for plugin in self.points["score"]}
        for name, scores in raw.items():
            normalized[name] = NodeScores(scores.nodes, normalized_scores(plugins[name], state, pod, scores))
            check_range(name, normalized[name].numbers)
            weighted = normalized[name].numbers * self.weights[name]
            totals = NodeScores(scores.nodes, weighted if totals is None else totals.numbers + weighted)
        points = ask_for_points()
        for added in points.values():
            totals = NodeScores(added.nodes, added.numbers if totals is None else totals.numbers + added.numbers)
        tables = self._tables(normalized)
        weights = self.weights
        weighted_tables = (
            *(
                (name, Pairs(pairs.names, tuple(value * weights[name] for value in pairs.numbers)))
                for name, pairs in tables
            ),
            *self._tables(points),
        )
        summed = NONE
        if self.handle.recorder.full and totals is not None:
            summed = Pairs(tuple(totals), tuple(totals.numbers.tolist()))
        self.handle.recorder.add(NormalizeRan(self.handle.cycle, tables, weighted_tables, summed))
        return normalized, totals

    def _tables(self, scores: Scores) -> Tables:
        """Convert to the trace's tables: all cover the same nodes and share their names."""
        if not self.handle.recorder.full:
            return ()
        nodes = tuple(next(iter(scores.values()), ()))
        return tuple((name, Pairs(nodes, tuple(values.numbers.tolist()))) for name, values in scores.items())

    # --- from Reserve to PostBind ---

    def run_reserve_plugins(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return self._run("Reserve", "reserve", state, pod, node_name)

    def run_unreserve_plugins(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Call every plugin, in reverse order. A failure does not keep the others from undoing theirs."""
        verdicts = []
        for plugin in reversed(self.points["reserve"]):
            status: Status | None = None
            try:
                plugin.unreserve(state, pod, node_name)
            except PluginError as problem:
                status = error(str(problem))
            verdicts.append(_verdict(plugin.name, status))
        self.handle.recorder.add(PluginsRan(self.handle.cycle, "Unreserve", node_name, tuple(verdicts)))
        self._tell_quorum(state)

    def run_permit_plugins(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, dict[str, int]]:
        """Return the status (Wait if a plugin wants to wait) and the timeouts in microseconds of those that wait."""
        verdicts: list[tuple[str, str, tuple[str, ...]]] = []
        waits: dict[str, int] = {}
        outcome: Status | None = None
        for plugin in tuple(self.points["permit"]):
            try:
                status, timeout_us = plugin.permit(state, pod, node_name)
            except PluginError as problem:
                status, timeout_us = error(str(problem)), 0
            verdicts.append(_verdict(plugin.name, status))
            if status is None or status.is_success:
                continue
            if status.code is Code.WAIT:
                waits[plugin.name] = min(timeout_us, MAX_PERMIT_TIMEOUT_US)
                outcome = Status(Code.WAIT)
                continue
            outcome = status.by(plugin.name)
            if not status.is_rejected:
                outcome = error(f'running Permit plugin "{plugin.name}": {status.message}').by(plugin.name)
            waits = {}
            break
        self.handle.recorder.add(PluginsRan(self.handle.cycle, "Permit", node_name, tuple(verdicts)))
        self._tell_quorum(state)
        return outcome, waits

    def _tell_quorum(self, state: CycleState) -> None:
        """Record how many pods of a group have a node, if a plugin has just counted them."""
        quorum = state.data.pop(QUORUM, None)
        if quorum is not None:
            self.handle.recorder.add(PodGroupCounted(self.handle.cycle, *quorum))

    def works_in_pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> bool:
        """Return True if a PreBind plugin has anything to do for ``pod`` (upstream ``PreBindPreFlight``). Raises
        PluginError if one cannot say.
        """
        works = False
        for plugin in self.points["preBind"]:
            try:
                works = plugin.works_in_pre_bind(state, pod, node_name) or works
            except PluginError as problem:
                raise PluginError(f'running PreBindPreFlight "{plugin.name}": {problem}') from problem
        return works

    def run_pre_bind_plugins(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return self._run("PreBind", "pre_bind", state, pod, node_name)

    def run_bind_plugins(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Bind with the first plugin that does not skip. Return Skip if none did."""
        verdicts: list[tuple[str, str, tuple[str, ...]]] = []
        outcome: Status | None = Status(Code.SKIP)
        for plugin in self.points["bind"]:
            try:
                status = plugin.bind(state, pod, node_name)
            except PluginError as problem:
                status = error(str(problem))
            verdicts.append(_verdict(plugin.name, status))
            if status is not None and status.is_skip:
                continue
            outcome = status
            if status is not None and status.code is Code.ERROR:
                outcome = error(f'running Bind plugin "{plugin.name}": {status.message}').by(plugin.name)
            break
        self.handle.recorder.add(PluginsRan(self.handle.cycle, "Bind", node_name, tuple(verdicts)))
        return outcome

    def run_post_bind_plugins(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Call all plugins. A failure has no effect here: the pod is bound."""
        verdicts = []
        for plugin in tuple(self.points["postBind"]):
            status = SUCCESS
            try:
                plugin.post_bind(state, pod, node_name)
            except PluginError as problem:
                status = error(str(problem))
            verdicts.append(_verdict(plugin.name, status))
        self.handle.recorder.add(PluginsRan(self.handle.cycle, "PostBind", node_name, tuple(verdicts)))

    def _run(self, point: str, method: str, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Run Reserve or PreBind until the first failure. A rejection keeps its code, a PreBind plugin may ask to wait,
        anything else becomes an error.
        """
        verdicts: list[tuple[str, str, tuple[str, ...]]] = []
        outcome: Status | None = None
        for plugin in self.points[point[0].lower() + point[1:]]:
            try:
                status = getattr(plugin, method)(state, pod, node_name)
            except PluginError as problem:
                status = error(str(problem))
            verdicts.append(_verdict(plugin.name, status))
            if status is not None and not status.is_success and not status.is_skip:
                outcome = status.by(plugin.name)
                if not status.is_rejected and not (point == "PreBind" and status.code is Code.WAIT):
                    outcome = error(f'running {point} plugin "{plugin.name}": {status.message}').by(plugin.name)
                break
        self.handle.recorder.add(PluginsRan(self.handle.cycle, point, node_name, tuple(verdicts)))
        return outcome


def refusal_by(plugin: str, status: Status) -> Status:
    """Return the status with which a filter stops the check of a node: anything but a rejection is an error."""
    if not status.is_rejected:
        status = error(f'running "{plugin}" filter plugin: {status.message}')
    return status.by(plugin)


def _merge(left: PreFilterResult | None, right: PreFilterResult) -> PreFilterResult:
    """Intersect both narrowings (upstream ``PreFilterResult.Merge``)."""
    if left is None:
        return right
    wanted = dict.fromkeys(right.node_names)
    return PreFilterResult(tuple(name for name in left.node_names if name in wanted))
