"""Explain a plugin's decision in the latest cycle by asking the plugin again with the same data.

Until the next cycle begins, the snapshot is unchanged, and the cycle holds what PreFilter and PreScore wrote.
Asking changes nothing and writes nothing to the trace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.boards import AffinityBoard, SpreadBoard
from scheduler_engine.framework.extender import EXTENDER
from scheduler_engine.framework.facts import DryRunFacts, DryRunRoom, Fact, Facts, Keys, RungFacts, SearchFacts, fact
from scheduler_engine.framework.interface import PluginError
from scheduler_engine.framework.node_info import NodeInfo, PodInfo
from scheduler_engine.framework.runtime import ACTIVE_FILTERS
from scheduler_engine.scheduler.cycles import Cycle
from scheduler_engine.scheduler.extending import extender_score, extender_verdict
from scheduler_engine.scheduler.parts import SchedulerParts
from scheduler_engine.scheduler.search import enough_facts

BOARDS = "boards"
"""Topic of the notes of a cycle that hold them."""


def filter_facts(scheduler: SchedulerParts, number: int, node: str, plugin: str) -> Facts | None:
    """Return what ``plugin`` looked at, or would have looked at, to judge ``node`` in cycle ``number``.

    For ``Extender``, the extenders answer. Return None if another cycle has begun, the node did not exist, or the
    plugin gives no facts.
    """
    cycle, info = _searched(scheduler, number), scheduler.snapshot.get(node)
    if cycle is None or info is None:
        return None
    if plugin == EXTENDER:
        status = cycle.diagnosis.node_to_status.statuses.get(node)
        given = status if status is not None and status.plugin == EXTENDER else None
        return extender_verdict(cycle.framework.handle, cycle.pod, node, given)
    active = [item.name for item in cycle.state.data[ACTIVE_FILTERS]]
    asked = cycle.framework.plugins.get(plugin)
    if plugin not in active or not hasattr(asked, "explain_filter"):
        return None
    status = cycle.diagnosis.node_to_status.statuses.get(node)
    what_if = status is not None and status.plugin in active[: active.index(plugin)]
    nominated = () if what_if else cycle.nominated.get(node, ())
    try:
        return _both_runs(cycle, asked, info, nominated)
    except PluginError:
        return None


def search_for_devices(scheduler: SchedulerParts, number: int, node: str) -> SearchFacts | None:
    """Return how the search for devices went on ``node`` in cycle ``number``; None if there was none."""
    cycle, info = _searched(scheduler, number), scheduler.snapshot.get(node)
    if cycle is None or info is None:
        return None
    asked = (cycle.framework.plugins.get(item.name) for item in cycle.state.data[ACTIVE_FILTERS])
    plugin: Any = next((item for item in asked if hasattr(item, "explain_search")), None)
    try:
        facts: SearchFacts | None = plugin and plugin.explain_search(cycle.state, cycle.pod, info)
    except PluginError:
        return None
    return facts


def pre_filter_facts(scheduler: SchedulerParts, number: int, plugin: str) -> Facts | None:
    """Explain why ``plugin`` refused the pod of cycle ``number`` in PreFilter, or return None."""
    cycle = _latest(scheduler, number)
    if cycle is None:
        return None
    asked: Any = cycle.framework.plugins.get(plugin)
    if not hasattr(asked, "explain_pre_filter"):
        return None
    try:
        facts: Facts = asked.explain_pre_filter(cycle.state, cycle.pod, scheduler.snapshot.list())
    except PluginError:
        return None
    return facts


def _both_runs(cycle: Cycle, plugin: Any, info: NodeInfo, nominated: tuple[PodInfo, ...]) -> Facts | None:
    """Explain the first refusal: filters must pass both with and without the nominated pods on the node."""
    alone: Facts = plugin.explain_filter(cycle.state, cycle.pod, info)
    if not nominated:
        return alone
    state, there, problem = cycle.framework.with_pods(cycle.state, cycle.pod, info, nominated)
    if problem is not None:
        return None
    facts: Facts = plugin.explain_filter(state, cycle.pod, there)
    key = "nominated.passes-both-ways"
    if facts.status is not None:
        key = "nominated.counted"
    elif alone.status is not None:
        facts, key = alone, "nominated.must-pass-without"
    return replace(facts, shown=(*facts.shown, fact(key, pods=Keys(item.pod.key for item in nominated))))


def score_facts(scheduler: SchedulerParts, number: int, node: str, plugin: str) -> Facts | None:
    """Explain the score of ``plugin``, or of the extender of this name, for ``node`` in cycle ``number``; None as for
    ``filter_facts``.
    """
    cycle, info = _latest(scheduler, number), scheduler.snapshot.get(node)
    if cycle is not None and cycle.search is not None and cycle.framework.handle.extenders:
        # Extenders may have replaced it by a NodeInfo without pods.
        info = next((scored for scored in cycle.search.feasible if scored.name == node), info)
    if cycle is not None and plugin not in cycle.framework.plugins:
        return extender_score(cycle.framework.handle, cycle.pod, node, plugin)
    if cycle is None or info is None or node not in cycle.raw.get(plugin, {}):
        return None
    asked = cycle.framework.plugins[plugin]
    if not hasattr(asked, "explain_score"):
        return None
    facts: Facts = asked.explain_score(cycle.state, cycle.pod, info, cycle.raw[plugin])
    return facts


def reserve_facts(scheduler: SchedulerParts, number: int, plugin: str) -> Facts | None:
    """Explain what ``plugin`` reserved in cycle ``number``; None if it reserved nothing, gives no facts, or is gone."""
    return _ask_about_host(scheduler, number, plugin, "explain_reserve")


def pre_bind_facts(scheduler: SchedulerParts, number: int, plugin: str) -> Facts | None:
    """Explain the last call of ``plugin`` in PreBind of cycle ``number``; None as for ``reserve_facts``."""
    return _ask_about_host(scheduler, number, plugin, "explain_pre_bind")


def _ask_about_host(scheduler: SchedulerParts, number: int, plugin: str, method: str) -> Facts | None:
    """Ask about the chosen node. A binding cycle can be asked while later cycles run."""
    cycle = scheduler.cycle_numbered(number)
    asked: Any = cycle.framework.plugins.get(plugin) if cycle is not None else None
    if cycle is None or cycle.assumed is None or not hasattr(asked, method):
        return None
    try:
        facts: Facts = getattr(asked, method)(cycle.state, cycle.pod, cycle.host)
    except PluginError:
        return None
    return facts


def dry_run_facts(scheduler: SchedulerParts, number: int, node: str) -> DryRunFacts | None:
    """Explain the dry run of preemption on ``node`` in cycle ``number``.

    Return None if another cycle has begun, no dry run took place there, or the plugin gives no facts.
    """
    facts: DryRunFacts | None = _ask_about_node(scheduler, number, node, "explain_dry_run")
    return facts


def ineligible_facts(scheduler: SchedulerParts, number: int) -> Facts | None:
    """Explain why the pod of cycle ``number`` may not preempt; None if it may, or if this is unknown."""
    facts: Facts | None = _ask_post_filter(_latest(scheduler, number), "explain_ineligible")
    return facts


def violated_budgets(scheduler: SchedulerParts, number: int, node: str) -> Mapping[str, tuple[str, ...]]:
    """Return pod on ``node`` → the budgets that its eviction would violate in cycle ``number``; none if unknown."""
    budgets: Mapping[str, tuple[str, ...]] | None = _ask_about_node(scheduler, number, node, "explain_violations")
    return budgets or {}


def _ask_about_node(scheduler: SchedulerParts, number: int, node: str, method: str) -> Any:
    info = scheduler.snapshot.get(node)
    return None if info is None else _ask_post_filter(_latest(scheduler, number), method, info)


def choice_facts(scheduler: SchedulerParts, number: int) -> tuple[RungFacts, ...]:
    """Explain why one candidate for preemption won in cycle ``number``; empty if nothing was compared."""
    rungs: tuple[RungFacts, ...] | None = _ask_post_filter(_latest(scheduler, number), "explain_choice")
    return rungs or ()


def _ask_post_filter(cycle: Cycle | None, method: str, *about: Any) -> Any:
    """Ask the PostFilter plugins that have the method, and return the first answer, or None."""
    if cycle is None:
        return None
    for item in cycle.framework.points["postFilter"]:
        plugin = cycle.framework.plugins[item.name]
        if not hasattr(plugin, method):
            continue
        try:
            return getattr(plugin, method)(cycle.state, *about)
        except PluginError:
            continue
    return None


def standing_facts(scheduler: SchedulerParts, pod: Pod, plugin: str) -> tuple[Fact, ...]:
    """Return how ``plugin`` rates the current or possible place of ``pod`` among the cached pods. Empty if no profile
    serves the pod.
    """
    framework = scheduler.profiles.get(pod.scheduler_name)
    asked: Any = framework.plugins.get(plugin) if framework is not None else None
    if not hasattr(asked, "explain_standing"):
        return ()
    facts: tuple[Fact, ...] = asked.explain_standing(pod, [*scheduler.cache.nodes.values()])
    return facts


def spread_boards(
    scheduler: SchedulerParts, pod: Pod, plugin: str, number: int | None = None
) -> tuple[SpreadBoard, ...] | None:
    """Return what ``plugin`` counts for each constraint in cycle ``number``; None: at rest, for the pod's next cycle.

    Return None if another cycle has begun, no profile serves the pod, or the plugin gives no boards.
    """
    boards: tuple[SpreadBoard, ...] | None = _ask_about_all(scheduler, pod, plugin, number, "explain_spread")
    return boards


def affinity_board(scheduler: SchedulerParts, pod: Pod, plugin: str, number: int | None = None) -> AffinityBoard | None:
    """Return the rules of pod affinity that concern the pod; arguments and None as for ``spread_boards``."""
    board: AffinityBoard | None = _ask_about_all(scheduler, pod, plugin, number, "explain_affinity")
    return board


def _ask_about_all(scheduler: SchedulerParts, pod: Pod, plugin: str, number: int | None, method: str) -> Any:
    cycle = None if number is None else _latest(scheduler, number)
    if cycle is not None:
        asked: Any = cycle.framework.plugins.get(plugin)
        if not hasattr(asked, method):
            return None
        answer = partial(getattr(asked, method), cycle.state, cycle.pod, scheduler.snapshot.list())
        # In large clusters this takes long. Only the snapshot, and what PreFilter and PreScore write, can change it.
        return cycle.state.note_once(BOARDS, (method, scheduler.snapshot.generation, *cycle.state.data), answer)
    if number is None and pod.scheduler_name in scheduler.profiles:
        nodes = [info for info in scheduler.cache.nodes.values() if info.node is not None]
        asked = scheduler.profiles[pod.scheduler_name].plugins.get(plugin)
        return getattr(asked, method)(None, pod, nodes) if hasattr(asked, method) else None
    return None


def room_on(scheduler: SchedulerParts, number: int, node: str, resource: str) -> DryRunRoom | None:
    """Return what the dry runs of cycle ``number`` saw on ``node``; None as for ``dry_run_facts``."""
    cycle, info = _latest(scheduler, number), scheduler.snapshot.get(node)
    if cycle is None or info is None:
        return None
    room: DryRunRoom | None = _ask_post_filter(cycle, "explain_room", cycle.pod, info, resource)
    return room


def search_facts(scheduler: SchedulerParts, number: int) -> tuple[Fact, ...]:
    """Explain the number of feasible nodes that ended the search; empty if another cycle has begun."""
    cycle = _latest(scheduler, number)
    if cycle is None or cycle.search is None:
        return ()
    return enough_facts(cycle.search.enough, cycle.framework.profile_name)


def _latest(scheduler: SchedulerParts, number: int) -> Cycle | None:
    """Return cycle ``number``, unless another one has begun."""
    cycle = scheduler.latest
    return cycle if cycle is not None and cycle.number == number else None


def _searched(scheduler: SchedulerParts, number: int) -> Cycle | None:
    """Return cycle ``number`` if its search has begun: the snapshot is then its own."""
    cycle = _latest(scheduler, number)
    return cycle if cycle is not None and cycle.search is not None else None
