"""The search for feasible nodes: how many it needs, where it starts, which nodes it visits.

Source: seed 002 §1 and §7 (percentageOfNodesToScore); upstream ``schedule_one.go`` (``findNodesThatFitPod``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from scheduler_engine.api.objects import Pod
from scheduler_engine.cache.snapshot import Snapshot
from scheduler_engine.framework.amounts import Mask
from scheduler_engine.framework.columns import CODE_MASK, PASSED, UNKNOWN, Codes
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.extender import EXTENDER
from scheduler_engine.framework.extender_answers import ExtenderError
from scheduler_engine.framework.facts import Fact, cut, fact
from scheduler_engine.framework.filter_run import FilterRun, Rejections
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.nodes import Nodes, SlotArray, nodes_of
from scheduler_engine.framework.runtime import Framework
from scheduler_engine.framework.status import Code, Status, unresolvable
from scheduler_engine.scheduler.extending import Exclusion, exclude
from scheduler_engine.scheduler.fit_error import Diagnosis
from scheduler_engine.words import say

MIN_FEASIBLE_NODES_TO_FIND = 100
MIN_FEASIBLE_NODES_PERCENTAGE = 5
FIRST_PART = 2
"""So many times the feasible nodes wanted are judged first; each further part is twice as large."""
NODES_PER_PERCENT = 125
"""Each further 125 nodes lower the adaptive percentage by one."""


@dataclass(frozen=True, slots=True)
class Enough:
    """The number of feasible nodes (``needed``) that ends a search among ``nodes`` nodes.

    ``because``: the percentage is set by the ``profile`` or by the ``general`` configuration, or is ``adaptive``; the
    nodes are ``few``; or there is ``no-score`` plugin.
    """

    nodes: int
    needed: int
    because: str
    percentage: int = 100

    @property
    def share(self) -> int:
        return self.nodes * self.percentage // 100


def enough_of(profile_percentage: int | None, global_percentage: int, nodes: int) -> Enough:
    """Prefer the profile percentage to the general one; 0 means adaptive (upstream ``numFeasibleNodesToFind``)."""
    if nodes < MIN_FEASIBLE_NODES_TO_FIND:
        return Enough(nodes, nodes, "few")
    percentage, because = profile_percentage, "profile"
    if percentage is None:
        percentage, because = global_percentage, "general"
    if percentage == 0:
        percentage, because = max(adaptive_percentage(nodes), MIN_FEASIBLE_NODES_PERCENTAGE), "adaptive"
    return Enough(nodes, max(nodes * percentage // 100, MIN_FEASIBLE_NODES_TO_FIND), because, percentage)


def adaptive_percentage(nodes: int) -> int:
    """Return the percentage before the minimum applies; negative for very many nodes."""
    return 50 - nodes // NODES_PER_PERCENT


def enough_facts(enough: Enough, profile: str) -> tuple[Fact, ...]:
    """Explain the number of nodes that ended a search."""
    if enough.because == "no-score":
        return (fact("search.no-score-plugin", needed=enough.needed),)
    least = MIN_FEASIBLE_NODES_TO_FIND
    if enough.because == "few":
        return (fact("search.few-nodes", nodes=enough.nodes, least=least),)
    low = enough.share < least
    of_percentage = enough.nodes % NODES_PER_PERCENT if enough.because == "adaptive" else 0
    remarks = cut(of_percentage, enough.nodes * enough.percentage % 100)
    return (
        _percentage(enough, profile, remarks[0]),
        fact(
            "search.enough-at-least" if low else "search.enough",
            nodes=enough.nodes,
            percentage=enough.percentage,
            share=enough.share,
            least=least,
            cut=remarks[1],
        ),
    )


def _percentage(enough: Enough, profile: str, remark: Fact | str) -> Fact:
    if enough.because != "adaptive":
        return fact(f"search.{enough.because}-percentage", percentage=enough.percentage, profile=profile)
    raw, least = adaptive_percentage(enough.nodes), MIN_FEASIBLE_NODES_PERCENTAGE
    key = "search.least-percentage" if raw < least else "search.adaptive-percentage"
    return fact(key, nodes=enough.nodes, percentage=raw, least=least, cut=remark)


@dataclass(slots=True)
class Search:
    """The result of one Filter stage.

    ``nodes``: the list searched (narrowed by PreFilter or all); ``order``: the nodes in the order visited, including
    the one feasible node too many that ended the search; statuses of failed nodes are in ``diagnosis``.
    ``enough``: the origin of ``nodes_to_find``. ``nominated_status``: why the nominated node did not fit when it was
    tried first; ``fails_again``: it also failed in the main search. ``silent``: nodes that extenders excluded without
    a message; these have no status. ``spared``: nodes that pass although an extender complained; these have one.
    """

    diagnosis: Diagnosis
    start_index: int
    next_start_index: int
    nodes: Sequence[NodeInfo] = ()
    enough: Enough = Enough(0, 0, "few")
    feasible: Nodes = field(default_factory=lambda: nodes_of(()))
    order: Sequence[NodeInfo] = ()
    nominated_node: str = ""
    nominated_status: Status | None = None
    fails_again: bool = False
    failure: str = ""
    silent: tuple[str, ...] = ()
    spared: tuple[str, ...] = ()

    @property
    def nodes_to_find(self) -> int:
        return self.enough.needed

    @property
    def visited(self) -> list[tuple[NodeInfo, Status | None]]:
        """Return the visited nodes, each with its status; None = passes."""
        statuses = self.diagnosis.node_to_status.statuses
        passes = "" if self.fails_again else self.nominated_node
        if self.silent:
            # The trace needs a reason; the message of the pod does not count these nodes.
            given = unresolvable(say("notes.no-reason-given")).by(EXTENDER)
            statuses = {**statuses, **dict.fromkeys(self.silent, given)}
        passing = (passes, *self.spared)
        return [(info, None if info.name in passing else statuses.get(info.name)) for info in self.order]

    @property
    def processed(self) -> int:
        return len(self.feasible) + len(self.diagnosis.node_to_status.statuses)


def search_nodes(
    framework: Framework,
    snapshot: Snapshot,
    state: CycleState,
    pod: Pod,
    diagnosis: Diagnosis,
    narrowed_to: tuple[str, ...] | None,
    start_index: int,
    global_percentage: int,
    hint: str = "",
) -> Search:
    """Filter the nominated node first, or else the node ``hint``, then from ``start_index`` on until enough nodes are
    found.

    A plugin's internal error ends the search with ``failure``; on the nominated node it only means that the search
    continues. ``diagnosis`` names the plugins that narrowed the search. A plugin that rejects the nominated node joins
    them before the excluded nodes get their status: upstream keeps both in one set, and so names it there, too.
    """
    all_nodes = snapshot.list()
    search = Search(diagnosis, start_index, start_index)
    first = pod.nominated_node_name or hint
    if first and _nominated_node_fits(framework, snapshot, state, pod, search, global_percentage, first):
        return search
    slots = _narrow(search, snapshot, narrowed_to)
    search.enough = _enough(framework, global_percentage, len(search.nodes))
    refused_first = search.nominated_status
    _visit(framework, snapshot, state, pod, search, slots, start_index)
    if refused_first is not None and refused_first.code is not Code.ERROR:
        statuses = {**diagnosis.node_to_status.statuses}
        search.fails_again = search.nominated_node in statuses
        statuses.setdefault(search.nominated_node, refused_first)
        diagnosis.node_to_status.statuses = statuses
    search.next_start_index = (start_index + search.processed) % len(all_nodes)
    ask_extenders(framework, pod, search)
    return search


def ask_extenders(framework: Framework, pod: Pod, search: Search) -> None:
    """Let the extenders exclude feasible nodes, unless the search has failed. An error ends it with ``failure``."""
    if search.failure or not framework.handle.extenders:
        return
    try:
        result = exclude(framework.handle, pod, search.feasible)
    except ExtenderError as problem:
        search.failure = str(problem)
        return
    if len(result.passing) != len(search.feasible):
        search.diagnosis.unschedulable_plugins[EXTENDER] = None
    search.fails_again |= search.nominated_node in (*result.statuses, *result.silent)
    search.silent = result.silent
    _exclude(search, result)


def _exclude(search: Search, result: Exclusion) -> None:
    search.feasible = result.passing
    if result.statuses:
        search.diagnosis.node_to_status.statuses = {**search.diagnosis.node_to_status.statuses, **result.statuses}
        search.spared = tuple(info.name for info in result.passing if info.name in result.statuses)


def search_everywhere(
    framework: Framework,
    snapshot: Snapshot,
    state: CycleState,
    pod: Pod,
    diagnosis: Diagnosis,
    narrowed_to: tuple[str, ...] | None,
) -> Search:
    """Filter all nodes from the first one on, however many are feasible. The nominated node is one of them."""
    search = Search(diagnosis, 0, 0)
    slots = _narrow(search, snapshot, narrowed_to)
    search.enough = Enough(len(search.nodes), len(search.nodes), "few")
    _visit(framework, snapshot, state, pod, search, slots, 0)
    return search


def _narrow(search: Search, snapshot: Snapshot, narrowed_to: tuple[str, ...] | None) -> SlotArray:
    """Set the nodes to search, and return their slots. ``narrowed_to``: names from PreFilter; None: all nodes."""
    search.nodes = snapshot.list()
    if narrowed_to is None:
        return snapshot.order
    infos = (snapshot.get(name) for name in narrowed_to)
    search.nodes = [info for info in infos if info is not None]
    listed = " ".join(sorted(search.diagnosis.unschedulable_plugins))
    search.diagnosis.node_to_status.absent = unresolvable(f"node(s) didn't satisfy plugin(s) [{listed}]")
    return np.array([info.slot for info in search.nodes], dtype=np.intp)


def _enough(framework: Framework, global_percentage: int, count: int) -> Enough:
    extenders = framework.handle.extenders
    if not framework.points["score"] and not any(item.filter_verb or item.prioritize_verb for item in extenders):
        return Enough(count, 1, "no-score")
    return enough_of(framework.percentage_of_nodes_to_score, global_percentage, count)


def _nominated_node_fits(
    framework: Framework,
    snapshot: Snapshot,
    state: CycleState,
    pod: Pod,
    search: Search,
    global_percentage: int,
    name: str,
) -> bool:
    info = snapshot.get(name)
    if info is None:
        return False
    search.nominated_node = name
    search.enough = _enough(framework, global_percentage, 1)
    status = framework.run_filter_plugins_with_nominated_pods(state, pod, info)
    search.nominated_status = status
    search.nodes = search.order = (info,)
    if status is None:
        search.feasible = Nodes(snapshot.slots.infos, np.array([info.slot], dtype=np.intp))
        return not framework.handle.extenders or _passes_extenders(framework, pod, search)
    if status.code is not Code.ERROR:
        search.diagnosis.add_plugin_status(status)
    return False


def _passes_extenders(framework: Framework, pod: Pod, search: Search) -> bool:
    """Ask the extenders about the nominated node. An error only means that the search continues."""
    try:
        result = exclude(framework.handle, pod, search.feasible)
    except ExtenderError:
        return False
    _exclude(search, result)
    if len(search.feasible):
        return True
    search.nominated_status = result.statuses.get(search.nominated_node)
    return False


def _visit(
    framework: Framework,
    snapshot: Snapshot,
    state: CycleState,
    pod: Pod,
    search: Search,
    slots: SlotArray,
    start_index: int,
) -> None:
    infos = snapshot.slots.infos
    first = start_index % len(slots) if len(slots) else 0
    order = np.concatenate((slots[first:], slots[:first])) if first else slots
    if not framework.points["filter"]:
        search.order = search.feasible = Nodes(infos, order[: search.nodes_to_find])
        return
    run = framework.filter_run(state, pod, snapshot.slots)
    passed, codes = _ask_in_parts(run, infos, order, search)
    end, places = len(passed), passed.nonzero()[0]
    if len(places) > search.nodes_to_find:
        end = int(places[search.nodes_to_find]) + 1
        places = places[: search.nodes_to_find]
    rejected = (~passed[:end]).nonzero()[0]
    search.order, search.feasible = Nodes(infos, order[:end]), Nodes(infos, order[places])
    rejections = Rejections(Nodes(infos, order[rejected]), codes[rejected], run.tables)
    search.diagnosis.node_to_status.statuses = rejections
    for status in rejections.distinct():
        search.diagnosis.add_plugin_status(status)


def _ask_in_parts(run: FilterRun, infos: Sequence[NodeInfo], order: SlotArray, search: Search) -> tuple[Mask, Codes]:
    """Return which nodes pass, and their codes, as far as the search needs or gets."""
    parts: list[tuple[Mask, Codes]] = []
    start, size, found = 0, FIRST_PART * (search.nodes_to_find + 1), 0
    while start < len(order) and found <= search.nodes_to_find and not search.failure:
        part = order[start : start + size]
        codes = run.known(part, infos)
        passed, end = _ask_unknown(run, infos, part, codes, search, search.nodes_to_find - found)
        parts.append((passed[:end], codes[:end]))
        start, size, found = start + size, 2 * size, found + int(np.count_nonzero(passed[:end]))
    if len(parts) == 1:
        return parts[0]
    nothing: Codes = np.zeros(0, dtype=np.int32)
    passes = np.concatenate([passed for passed, _ in parts] or [nothing > 0])
    return passes, np.concatenate([codes for _, codes in parts] or [nothing])


def _ask_unknown(
    run: FilterRun, infos: Sequence[NodeInfo], order: SlotArray, codes: Codes, search: Search, more_to_find: int
) -> tuple[Mask, int]:
    """Ask about the nodes without a kept verdict, up to the one that ends the search, and write their ``codes``.

    Return which nodes pass, and the number of those before an error (all, if there is none).
    """
    passed = codes & CODE_MASK == PASSED
    unknown = (codes & CODE_MASK == UNKNOWN).nonzero()[0]
    passes_before, more = np.cumsum(passed)[unknown].tolist() if len(unknown) else [], 0
    for place, before in zip(unknown.tolist(), passes_before, strict=True):
        if before + more > more_to_find:
            break
        status = run.verdict(infos[order[place]])
        if status is None:
            passed[place] = True
            more += 1
        elif status.code is Code.ERROR:
            search.failure = status.message
            return passed, place
        else:
            codes[place] = run.code_of(status)
    return passed, len(order)
