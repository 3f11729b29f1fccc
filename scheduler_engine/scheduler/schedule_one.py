"""The scheduling cycle, stage by stage.

Each stage is a function ``(scheduler, cycle) → name of the next stage`` ("" = the cycle is over); ``stages.py`` lists
the allowed successors. Source: seed 002 §6, 004; upstream ``schedule_one.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial

import numpy as np

from scheduler_engine.api.objects import Pod
from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.cache.cache import CacheError
from scheduler_engine.framework.extender import EXTENDER
from scheduler_engine.framework.interface import PluginError
from scheduler_engine.framework.node_info import NodeInfo, PodInfo
from scheduler_engine.framework.nodes import Nodes
from scheduler_engine.framework.permit import PODS_TO_ACTIVATE
from scheduler_engine.framework.status import Code, Status, error, unresolvable
from scheduler_engine.scheduler.batching import ask_for_hint, remember
from scheduler_engine.scheduler.cycles import Cycle
from scheduler_engine.scheduler.extending import filters, points
from scheduler_engine.scheduler.failure import cycle_failed, fit_failed, nomination_after_failure
from scheduler_engine.scheduler.fit_error import NO_NODES_AVAILABLE, Diagnosis, fit_message
from scheduler_engine.scheduler.parts import SchedulerParts
from scheduler_engine.scheduler.ranking import place_in_heap
from scheduler_engine.scheduler.search import Search, search_nodes
from scheduler_engine.trace.events import FilterRan, HostSelected, PermitWait, PodUnschedulable, Verdict
from scheduler_engine.trace.events.cycle import FilterRow
from scheduler_engine.words import say

MOST_ROWS = 20_000


def take_snapshot(scheduler: SchedulerParts, cycle: Cycle) -> str:
    try:
        cloned = scheduler.cache.update_snapshot(scheduler.snapshot, cycle.number)
    except CacheError as problem:
        return cycle_failed(scheduler, cycle, error(str(problem)), str(problem))
    cycle.note = say("notes.cloned", count=len(cloned))
    if not scheduler.snapshot.list():
        return cycle_failed(scheduler, cycle, unresolvable(NO_NODES_AVAILABLE), NO_NODES_AVAILABLE)
    return "PreFilter"


def pre_filter(scheduler: SchedulerParts, cycle: Cycle) -> str:
    nodes = scheduler.snapshot.list()
    result, status, narrowing = cycle.framework.run_pre_filter_plugins(cycle.state, cycle.pod, nodes)
    cycle.pre_filter = status
    cycle.note = _skipping(len(cycle.state.skip_filter_plugins), "Filter")
    cycle.diagnosis.unschedulable_plugins = dict.fromkeys(narrowing)
    cycle.narrowed_to = None if result is None else result.node_names
    if status is None:
        return "Filter"
    cycle.note = say("notes.no-node-left") if status.is_rejected and not status.plugin else _objection(status)
    if not status.is_rejected:
        return cycle_failed(scheduler, cycle, status, status.message)
    cycle.diagnosis.node_to_status.absent = status
    cycle.diagnosis.pre_filter_message = status.message
    cycle.diagnosis.add_plugin_status(status)
    return _nothing_fits(scheduler, cycle)


def filter_nodes(scheduler: SchedulerParts, cycle: Cycle) -> str:
    ask_for_hint(scheduler, cycle)
    search = search_nodes(
        cycle.framework,
        scheduler.snapshot,
        cycle.state,
        cycle.pod,
        cycle.diagnosis,
        cycle.narrowed_to,
        scheduler.next_start_node_index,
        cycle.percentage_of_nodes_to_score,
        cycle.hint,
    )
    cycle.search = search
    scheduler.next_start_node_index = search.next_start_index
    if search.failure:
        return cycle_failed(scheduler, cycle, error(search.failure), search.failure)
    _record_filter(scheduler, cycle, search)
    cycle.note = say("notes.fit", count=len(search.feasible), nodes=len(scheduler.snapshot.list()))
    if not search.feasible:
        return _nothing_fits(scheduler, cycle)
    if len(search.feasible) == 1:
        cycle.host = search.feasible[0].name
        return "SelectHost"
    return "PreScore" if _ranks(cycle) else "SelectHost"


def _ranks(cycle: Cycle) -> bool:
    """Return True if plugins or extenders may score nodes."""
    return bool(cycle.framework.points["score"] or cycle.framework.handle.extenders)


@lru_cache(MOST_ROWS)
def _passed(node: str) -> FilterRow:
    """Return the shared row of a node that passed: these rows far outnumber all others."""
    return node, "", "Success", (), ()


def _record_filter(scheduler: SchedulerParts, cycle: Cycle, search: Search) -> None:
    framework = cycle.framework
    first = scheduler.snapshot.get(search.nominated_node) if search.nominated_status is not None else None
    tried = search.order if first is None or first in search.order else (first, *search.order)
    if framework.handle.nominator.has_nominations():
        cycle.nominated = _nominated(cycle, tried)
    asked = (EXTENDER,) if filters(framework.handle, cycle.pod) else ()
    rows: list[FilterRow] = []
    also: list[tuple[str, tuple[Verdict, ...]]] = []
    refused_first: FilterRow | None = None
    if scheduler.recorder.full:
        if first is not None:
            refused_first = _row(cycle, first, search.nominated_status)
        if first is not None and tried is not search.order:
            also += _others(cycle, first, search.nominated_status)
        for info, status in search.visited:
            if status is None and info.name not in cycle.nominated:
                rows.append(_passed(info.name))
                continue
            rows.append(_row(cycle, info, status))
            also += _others(cycle, info, status)
    scheduler.recorder.add(
        FilterRan(
            cycle.number,
            (*(plugin.name for plugin in framework.points["filter"]), *asked),
            tuple(cycle.state.skip_filter_plugins),
            tuple(rows),
            tuple(info.name for info in search.feasible) if scheduler.recorder.full else (),
            len(scheduler.snapshot.list()),
            len(search.nodes),
            search.nodes_to_find,
            search.start_index,
            search.next_start_index,
            search.nominated_node,
            tuple(also),
            len(search.feasible),
            refused_first,
        )
    )


def _nominated(cycle: Cycle, tried: Sequence[NodeInfo]) -> dict[str, tuple[PodInfo, ...]]:
    """Return the nodes tried on which nominated pods count, each with these pods."""
    handle = cycle.framework.handle
    named = dict.fromkeys(handle.nominator.nominated_nodes())
    if isinstance(tried, Nodes):
        known = (handle.snapshot.get(name) for name in named)
        slots = [info.slot for info in known if info is not None]
        tried = Nodes(tried.infos, tried.slots[np.isin(tried.slots, slots)])
    counted = ((info.name, cycle.framework.nominated_for(cycle.pod, info.name)) for info in tried if info.name in named)
    return {node: tuple(infos) for node, infos in counted if infos}


def _row(cycle: Cycle, info: NodeInfo, status: Status | None) -> FilterRow:
    nominated = tuple(item.pod.key for item in cycle.nominated.get(info.name, ()))
    if status is None:
        return (info.name, "", "Success", (), nominated) if nominated else _passed(info.name)
    return info.name, status.plugin, status.code.value, status.reasons, nominated


def _others(cycle: Cycle, info: NodeInfo, status: Status | None) -> list[tuple[str, tuple[Verdict, ...]]]:
    """Return the verdicts of the filters that fail after the first failing one."""
    if status is None:
        return []
    if status.plugin == EXTENDER:
        return []
    others = cycle.framework.other_failing_filters(cycle.state, cycle.pod, info, status.plugin)
    return [(info.name, others)] if others else []


def _nothing_fits(scheduler: SchedulerParts, cycle: Cycle) -> str:
    message = fit_message(len(scheduler.snapshot.list()), cycle.diagnosis)
    plugins = tuple(sorted(cycle.diagnosis.unschedulable_plugins))
    scheduler.recorder.add(PodUnschedulable(cycle.number, cycle.pod.key, message, plugins))
    if not cycle.framework.points["postFilter"]:
        kept = "" if cycle.rules.clears_nomination_without_post_filter else None
        return fit_failed(scheduler, cycle, cycle.diagnosis, len(scheduler.snapshot.list()), kept)
    return "PostFilter"


def post_filter(scheduler: SchedulerParts, cycle: Cycle) -> str:
    statuses = cycle.diagnosis.node_to_status
    result, status = cycle.framework.run_post_filter_plugins(cycle.state, cycle.pod, statuses)
    cycle.post_filter = result, status
    cycle.diagnosis.post_filter_message = status.message
    nominated = result.nominated_node if result is not None else None
    popped = cycle.pod
    following = fit_failed(scheduler, cycle, cycle.diagnosis, len(scheduler.snapshot.list()), nominated)
    kept = scheduler.queue.nominator.nodes.get(popped.uid, "") if nominated is None else ""
    cycle.note = _nomination(nominated or "", kept)
    return following


def _nomination(node: str, kept: str) -> str:
    if kept:
        return say("notes.stays-nominated", node=kept)
    return say("notes.nominated", node=node) if node else say("notes.not-nominated")


def pre_score(scheduler: SchedulerParts, cycle: Cycle) -> str:
    assert cycle.search is not None
    status = cycle.framework.run_pre_score_plugins(cycle.state, cycle.pod, cycle.search.feasible)
    cycle.note = _skipping(len(cycle.state.skip_score_plugins), "Score")
    if status is not None:
        cycle.note = _objection(status)
        return cycle_failed(scheduler, cycle, status, status.message)
    return "Score"


def score(scheduler: SchedulerParts, cycle: Cycle) -> str:
    assert cycle.search is not None
    try:
        cycle.raw = cycle.framework.run_score_plugins(cycle.state, cycle.pod, cycle.search.feasible)
    except PluginError as problem:
        return cycle_failed(scheduler, cycle, error(str(problem)), str(problem))
    cycle.note = say("notes.scored", count=len(cycle.raw))
    return "NormalizeScore"


def normalize_score(scheduler: SchedulerParts, cycle: Cycle) -> str:
    assert cycle.search is not None
    ask = partial(points, cycle.framework.handle, cycle.pod, cycle.search.feasible)
    try:
        cycle.normalized, cycle.totals = cycle.framework.run_normalize_score(cycle.state, cycle.pod, cycle.raw, ask)
    except PluginError as problem:
        return cycle_failed(scheduler, cycle, error(str(problem)), str(problem))
    cycle.note = say("notes.normalized")
    return "SelectHost"


def select_host(scheduler: SchedulerParts, cycle: Cycle) -> str:
    """Select the node with the highest total. Among equals the seed draws, as the real scheduler does, or it is the
    first in the heap of the ranking.
    """
    assert cycle.search is not None
    feasible = cycle.search.feasible
    best, how, total = feasible, "only", None
    if len(feasible) > 1:
        if cycle.totals is None:
            total = 0 if _ranks(cycle) else 1
        else:
            total = int(cycle.totals.numbers.max())
            best = Nodes(feasible.infos, feasible.slots[cycle.totals.numbers == total])
        how = "highest" if len(best) == 1 else "draw" if cycle.rules.draws_among_equals else "first"
    cycle.host = best[_choice(scheduler, cycle, len(best), how)].name
    ties = tuple(info.name for info in best) if scheduler.recorder.full else ()
    scheduler.recorder.add(HostSelected(cycle.number, cycle.pod.key, cycle.host, how, ties, total))
    cycle.note = say("notes.selected", node=cycle.host)
    if how == "first":
        cycle.note = say("notes.selected-first", node=cycle.host, count=len(best))
    elif cycle.host == cycle.hint:
        cycle.note = say("notes.selected-from-ranking", node=cycle.host)
    remember(scheduler, cycle)
    return "Assume"


def _choice(scheduler: SchedulerParts, cycle: Cycle, count: int, how: str) -> int:
    """Return which of the ``count`` best nodes is chosen."""
    if how == "draw":
        return scheduler.random.randrange(count)
    if how == "first" and cycle.totals is not None:
        places = np.flatnonzero(cycle.totals.numbers == cycle.totals.numbers.max()).tolist()
        return int(places.index(min(places, key=place_in_heap)))
    return 0


def assume(scheduler: SchedulerParts, cycle: Cycle) -> str:
    assumed = cycle.pod.evolve({"spec": {"nodeName": cycle.host}})
    try:
        scheduler.cache.assume_pod(assumed)
    except CacheError as problem:
        return cycle_failed(scheduler, cycle, error(str(problem)), str(problem))
    cycle.assumed = assumed
    scheduler.queue.nominator.delete_nominated_pod_if_exists(assumed)
    cycle.note = say("notes.assumed")
    return "Reserve"


def reserve(scheduler: SchedulerParts, cycle: Cycle) -> str:
    status = cycle.framework.run_reserve_plugins(cycle.state, cycle.placed, cycle.host)
    cycle.reserve = status
    cycle.note = say("notes.reserved")
    if status is not None:
        return _give_back(scheduler, cycle, status)
    return "Permit"


def permit(scheduler: SchedulerParts, cycle: Cycle) -> str:
    status, waits = cycle.framework.run_permit_plugins(cycle.state, cycle.placed, cycle.host)
    cycle.note = say("notes.may-be-bound")
    if status is not None and status.code is not Code.WAIT:
        return _give_back(scheduler, cycle, status)
    _ask_about_pre_bind(scheduler, cycle)
    if cycle.cannot_bind:
        return "PreBind"
    if waits:
        cycle.note = say("notes.must-wait")
        cycle.waits = waits
        ends = tuple((plugin, scheduler.timeline.now_us + timeout_us) for plugin, timeout_us in waits.items())
        scheduler.recorder.add(PermitWait(cycle.number, cycle.pod.key, ends))
        scheduler.wait(cycle, min(waits.values()))
    scheduler.activations.activate(scheduler, cycle.state.data.pop(PODS_TO_ACTIVATE, ()))
    _nominate_before_binding(scheduler, cycle)
    return "WaitOnPermit" if waits else "PreBind"


def _ask_about_pre_bind(scheduler: SchedulerParts, cycle: Cycle) -> None:
    """Find out whether a plugin has work in PreBind. If one cannot say, the pod is not bound."""
    # Upstream asks the plugins only with this rule. Without it, a pod counts as busy in PreBind.
    cycle.works_in_pre_bind = True
    if not cycle.rules.nominates_before_binding:
        return
    try:
        cycle.works_in_pre_bind = cycle.framework.works_in_pre_bind(cycle.state, cycle.placed, cycle.host)
    except PluginError as problem:
        cycle.cannot_bind = str(problem)


def _nominate_before_binding(scheduler: SchedulerParts, cycle: Cycle) -> None:
    """Nominate a pod to its node if it has to wait on Permit, or a plugin has work in PreBind: others then see early
    where it will run. By the rule ``nominates_before_binding``.
    """
    pod = cycle.placed
    if not cycle.rules.nominates_before_binding or pod.nominated_node_name == cycle.host:
        return
    if not (cycle.waits or cycle.works_in_pre_bind):
        return
    try:
        scheduler.api.patch("Pod", pod.key, {"status": {"nominatedNodeName": cycle.host}})
    except ApiError:
        # Upstream only logs this: the pod is bound all the same, or binding fails for the same reason.
        return


def _skipping(count: int, point: str) -> str:
    return say("notes.skip", count=count, point=point)


def _objection(status: Status) -> str:
    if status.is_rejected:
        return say("notes.rejected", who=status.plugin)
    return say("notes.broke", who=status.plugin or say("notes.a-plugin"))


def _give_back(scheduler: SchedulerParts, cycle: Cycle, status: Status) -> str:
    """Handle a no from Reserve or Permit: undo, forget, fail."""
    cycle.note = _objection(status)
    unreserve_and_forget(scheduler, cycle)
    if not status.is_rejected:
        return cycle_failed(scheduler, cycle, status, status.message)
    return fit_failed(scheduler, cycle, rejection_on(cycle.host, status), 1, nomination_after_failure(cycle))


def unreserve_and_forget(scheduler: SchedulerParts, cycle: Cycle) -> bool:
    """Unreserve in reverse order and forget the pod. Return False if another scheduler has bound it meanwhile: it is no
    longer assumed, and its place is not free. A pod that has left the cache counts as forgotten, by the rule
    ``forgets_deleted_assumed_pods``.
    """
    cycle.framework.run_unreserve_plugins(cycle.state, cycle.placed, cycle.host)
    assumed = scheduler.cache.is_assumed_pod(cycle.placed)
    if assumed:
        scheduler.cache.forget_pod(cycle.placed)
    left = cycle.rules.forgets_deleted_assumed_pods and not scheduler.cache.has_pod(cycle.placed)
    return assumed or left


def rejection_on(host: str, status: Status) -> Diagnosis:
    """Return the diagnosis for a pod that a plugin rejected after its node was chosen."""
    diagnosis = Diagnosis()
    diagnosis.node_to_status.statuses = {host: status}
    diagnosis.add_plugin_status(status)
    return diagnosis


def pod_is_skipped(scheduler: SchedulerParts, pod: Pod) -> str:
    """Return why a popped pod is skipped, "" if it is not (upstream ``skipPodSchedule``)."""
    if pod.scheduler_name not in scheduler.profiles:
        return f'profile not found for scheduler name "{pod.scheduler_name}"'
    if pod.terminating:
        return f"skip schedule deleting pod: {pod.key}"
    if scheduler.cache.is_assumed_pod(pod):
        return f"pod {pod.key} is assumed already"
    return ""
