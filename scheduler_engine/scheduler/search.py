"""The search for feasible nodes: how many it needs, where it starts, which nodes it visits.

Source: seed 002 §1 and §7 (percentageOfNodesToScore); upstream ``schedule_one.go`` (``findNodesThatFitPod``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.facts import Fact, cut, fact
from scheduler_engine.framework.interface import NodeInfoLister
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.runtime import Framework
from scheduler_engine.framework.status import Code, Status, unresolvable
from scheduler_engine.scheduler.fit_error import Diagnosis

MIN_FEASIBLE_NODES_TO_FIND = 100
MIN_FEASIBLE_NODES_PERCENTAGE = 5
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
    tried first; ``fails_again``: it also failed in the main search.
    """

    diagnosis: Diagnosis
    start_index: int
    next_start_index: int
    nodes: Sequence[NodeInfo] = ()
    enough: Enough = Enough(0, 0, "few")
    feasible: Sequence[NodeInfo] = ()
    order: Sequence[NodeInfo] = ()
    nominated_node: str = ""
    nominated_status: Status | None = None
    fails_again: bool = False
    failure: str = ""

    @property
    def nodes_to_find(self) -> int:
        return self.enough.needed

    @property
    def visited(self) -> list[tuple[NodeInfo, Status | None]]:
        """Return the visited nodes, each with its status; None = passes."""
        statuses = self.diagnosis.node_to_status.statuses
        passes = "" if self.fails_again else self.nominated_node
        return [(info, None if info.name == passes else statuses.get(info.name)) for info in self.order]

    @property
    def processed(self) -> int:
        return len(self.feasible) + len(self.diagnosis.node_to_status.statuses)


def search_nodes(
    framework: Framework,
    snapshot: NodeInfoLister,
    state: CycleState,
    pod: Pod,
    diagnosis: Diagnosis,
    narrowed_to: tuple[str, ...] | None,
    start_index: int,
    global_percentage: int,
) -> Search:
    """Filter the nominated node first, then from ``start_index`` on until enough nodes are found.

    A plugin's internal error ends the search with ``failure``; on the nominated node it only means that the search
    continues. ``diagnosis`` names the plugins that narrowed the search. A plugin that rejects the nominated node joins
    them before the excluded nodes get their status: upstream keeps both in one set, and so names it there, too.
    """
    all_nodes = snapshot.list()
    search = Search(diagnosis, start_index, start_index)
    if pod.nominated_node_name and _nominated_node_fits(framework, snapshot, state, pod, search, global_percentage):
        return search
    search.nodes = all_nodes
    if narrowed_to is not None:
        infos = (snapshot.get(name) for name in narrowed_to)
        search.nodes = [info for info in infos if info is not None]
        listed = " ".join(sorted(diagnosis.unschedulable_plugins))
        diagnosis.node_to_status.absent = unresolvable(f"node(s) didn't satisfy plugin(s) [{listed}]")
    search.enough = _enough(framework, global_percentage, len(search.nodes))
    statuses = diagnosis.node_to_status.statuses
    refused_first = statuses.pop(search.nominated_node, None)
    _visit(framework, state, pod, search, search.nodes, start_index)
    search.fails_again = search.nominated_node in statuses
    if refused_first is not None:
        statuses.setdefault(search.nominated_node, refused_first)
    search.next_start_index = (start_index + search.processed) % len(all_nodes)
    return search


def _enough(framework: Framework, global_percentage: int, count: int) -> Enough:
    if not framework.points["score"]:
        return Enough(count, 1, "no-score")
    return enough_of(framework.percentage_of_nodes_to_score, global_percentage, count)


def _nominated_node_fits(
    framework: Framework,
    snapshot: NodeInfoLister,
    state: CycleState,
    pod: Pod,
    search: Search,
    global_percentage: int,
) -> bool:
    info = snapshot.get(pod.nominated_node_name)
    if info is None:
        return False
    search.nominated_node = pod.nominated_node_name
    search.enough = _enough(framework, global_percentage, 1)
    status = framework.run_filter_plugins_with_nominated_pods(state, pod, info)
    search.nominated_status = status
    search.nodes = search.order = (info,)
    if status is None:
        search.feasible = (info,)
    elif status.code is not Code.ERROR:
        _note_failure(search, info, status)
    return status is None


def _visit(
    framework: Framework, state: CycleState, pod: Pod, search: Search, nodes: Sequence[NodeInfo], start_index: int
) -> None:
    first = start_index % len(nodes) if nodes else 0
    order = [*nodes[first:], *nodes[:first]]
    if not framework.points["filter"]:
        search.order = search.feasible = order[: search.nodes_to_find]
        return
    node_filter = framework.node_filter(state, pod)
    if search.nodes_to_find >= len(order) and node_filter.knows_all(order):
        search.order, search.feasible = order, node_filter.passing(order)
        for info in node_filter.failing(order):
            _note_failure(search, info, node_filter.known[info.name][1])
        return
    feasible: list[NodeInfo] = []
    search.order, search.feasible = order, feasible
    for visited, info in enumerate(order, 1):
        status = node_filter.verdict(info)
        if status is None:
            if len(feasible) == search.nodes_to_find:
                search.order = order[:visited]
                return
            feasible.append(info)
        elif status.code is Code.ERROR:
            search.failure, search.order = status.message, order[: visited - 1]
            return
        else:
            _note_failure(search, info, status)


def _note_failure(search: Search, info: NodeInfo, status: Status | None) -> None:
    assert status is not None
    search.diagnosis.node_to_status.statuses[info.name] = status
    search.diagnosis.add_plugin_status(status)
