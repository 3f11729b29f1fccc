"""The table of what ``make bench`` measures. The engine's time is CPU time, without the preparation."""

from __future__ import annotations

from dataclasses import dataclass

from tests.bench import traces, work
from tests.bench.work import PODS, Pod, Prepare, Work, cluster, nodes

VIPS, CLAIMS = 30, 200
SHORT = 3
"""Rounds of short rows. The least counts: whatever disturbs a round makes it longer."""


@dataclass(frozen=True)
class Row:
    """``work`` works on what ``prepare`` returns, and says how many units (pods, cycles …) that was. ``unchanged``: it
    leaves the simulation as it was, so that all rounds use the same one.
    """

    name: str
    unit: str
    prepare: Prepare
    work: Work
    rounds: int = 1
    unchanged: bool = False


def _basic(name: str, pod: Pod, count: int, full: bool = False, all_nodes: bool = False) -> Row:
    configuration = work.ALL_NODES if all_nodes else None
    prepare = work.waiting(pod, PODS, lambda: cluster(nodes(count), full, configuration))
    return Row(f"{name}, {count:,} nodes", "cycle", prepare, work.run(PODS), SHORT)


def _arrive(name: str, count: int, pods: int, templates: int = 200, skew: float = 1.1) -> Row:
    arriving = work.arriving(lambda: traces.pods(pods, templates, skew=skew))
    return Row(f"{name}, {count:,} nodes", "pod", lambda: cluster(iter(traces.nodes(count))), arriving)


def _crowded(count: int) -> Prepare:
    """Return a cluster in which four pods fill each node."""
    return lambda: cluster(iter([*nodes(count), *work.bound(4 * count, count, cpu="8")]))


def _profiles(count: int) -> Prepare:
    return lambda: cluster(nodes(count), configuration=work.PROFILES)


def _populated(count: int, pods: int, configuration: work.Manifest | None = None) -> Prepare:
    return lambda: cluster(iter([*nodes(count), *work.bound(pods, count)]), configuration=configuration)


def _volumes(count: int) -> Prepare:
    return lambda: cluster(iter([*nodes(count), *work.volumes(count, CLAIMS)]))


def _owned(kind: str, pods: int, count: int) -> Row:
    prepare, working = work.owned(kind, pods, count)
    return Row(f"{kind} of {pods:,} pods, {count:,} nodes", "pod", prepare, working)


PLAIN = {
    "basic pods": work.basic,
    "zone spread, DoNotSchedule": work.zone_spread,
    "required anti-affinity by hostname": work.required_anti_affinity,
    "preferred affinity by zone": work.preferred_affinity,
}
BOTH = (1_000, 5_000)
LISTED = (
    *(_basic(name, pod, count) for name, pod in PLAIN.items() for count in (100, *BOTH)),
    *(_basic(f"{name}, all nodes evaluated", pod, 5_000, all_nodes=True) for name, pod in PLAIN.items()),
    _basic("basic pods, full trace", work.basic, 1_000, full=True),
    *(
        Row(f"one cycle after one bind, all nodes evaluated, {count:,} nodes", "cycle", prepare, work.one_by_one, SHORT)
        for count in (5_000, 15_000)
        for prepare in [work.waiting(work.basic, PODS, _populated(count, 2 * count, work.ALL_NODES))]
    ),
    *(_arrive("400 equally frequent shapes", count, 1_000, templates=400, skew=0) for count in BOTH),
    *(_basic("pods that fit nowhere", work.too_large, count) for count in BOTH),
    *(Row(f"churn, {count:,} nodes", "cycle", _populated(count, 2 * count), work.churn) for count in BOTH),
    *(
        Row(f"preemption in a full cluster, {count:,} nodes", "pod", prepare, work.all_placed("vip-", VIPS))
        for count in BOTH
        for prepare in [work.waiting(work.important, VIPS - work.WARM_UP, _crowded(count))]
    ),
    *(
        Row(f"four profiles, {count:,} nodes", "cycle", prepare, work.run(PODS), SHORT)
        for count in BOTH
        for prepare in [work.waiting(work.of_a_profile, PODS, _profiles(count))]
    ),
    *(
        Row(f"volumes, {count:,} nodes", "pod", prepare, work.all_placed("p", CLAIMS))
        for count in BOTH
        for prepare in [work.waiting(work.with_a_claim, CLAIMS - work.WARM_UP, _volumes(count))]
    ),
    _owned("Job", 2_000, 100),
    _owned("Indexed Job", 2_000, 100),
    _owned("ReplicaSet", 2_000, 100),
    _owned("Deployment", 2_000, 100),
    _owned("StatefulSet", 500, 100),
    _owned("DaemonSet", 300, 300),
    Row("a Job that is too large is refused, 1 node", "command", lambda: cluster(nodes(1)), work.refused),
    Row("a Job that spends the budget of a command, 1 node", "command", lambda: cluster(nodes(1)), work.spent),
    *(
        _arrive("production-like work", count, pods)
        for count, pods in ((100, 400), (1_000, 4_000), (5_000, 8_000), (15_000, 4_000))
    ),
    Row("a copy, 5,000 nodes and 20,000 pods", "copy", _populated(5_000, 20_000), work.copied, 20, True),
    Row(
        "a copy and a cycle in it, 5,000 nodes and 20,000 pods",
        "copy",
        work.waiting(work.basic, 1, _populated(5_000, 20_000)),
        work.copied_and_changed,
        20,
        True,
    ),
)
ROWS = {row.name: row for row in LISTED}
