"""Comparisons of random clusters agree with what the traces and the API servers hold."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.answers.comparing import Comparison, Evicted, compare, evictions_in, figures_of
from scheduler_engine.answers.many_seeds import played
from scheduler_engine.api.pod_resources import pod_requests, resource_of
from scheduler_engine.cli.comparison import text_of
from scheduler_engine.replay import trace_digest
from scheduler_engine.scenario import FOLDER, load_scenario
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.trace import events as ev
from tests.engine.histories import some
from tests.engine.paths import HISTORIES, History
from tests.engine.random_clusters import CONFIGURATIONS, run

SEEDS = some(range(12), 5)
Told = dict[tuple[str, int, int], tuple[int, Any]]
"""Attempt → the number of its first trace entry, and what the trace tells of it."""


def history(number: int, steps: History, seed: int, configuration: int = 0) -> Simulation:
    simulation = Simulation(seed=seed, configuration=CONFIGURATIONS[configuration])
    run(simulation, steps(number))
    return simulation


def told(simulation: Simulation) -> Told:
    """Read each attempt of a trace, without the help of the code under test."""
    cycles: dict[int, tuple[tuple[str, int, int], int, dict[str, Any]]] = {}
    names: Counter[tuple[str, int]] = Counter()
    for entry in simulation.recorder.entries:
        event: Any = entry.event
        if isinstance(event, ev.CycleStarted):
            name = event.pod, event.attempt
            cycles[event.cycle] = (*name, names[name]), entry.n, {}
            names[name] += 1
            continue
        facts = cycles[event.cycle][2] if getattr(event, "cycle", 0) in cycles else {}
        match event:
            case ev.PreFilterRan():
                facts["refused"] = [item for item in event.verdicts if item[1] not in ("Success", "Skip")]
            case ev.FilterRan():
                facts["refused"] = {row[0]: row[1:4] for row in event.looked_at if row[1]}
                facts["feasible"] = sorted(event.feasible)
            case ev.NormalizeRan():
                scored = {plugin: dict(values) for plugin, values in event.weighted}
                facts["scores"] = {plugin: values for plugin, values in scored.items() if any(values.values())}
            case ev.HostSelected():
                facts["node"] = event.node
            case ev.PostFilterRan():
                facts["victims"] = event.nominated_node, event.victims
            case ev.CycleFinished():
                facts["end"] = event.outcome, event.message
    return {identity: (entry, facts) for identity, entry, facts in cycles.values()}


@pytest.mark.parametrize("steps", HISTORIES)
def test_a_run_equals_itself(steps: History) -> None:
    for number in SEEDS:
        one, other = history(number, steps, 1), history(number, steps, 1)
        comparison = compare(one, other)
        assert not comparison.differs
        assert comparison.parting is comparison.decisive is None
        assert comparison.placements == ()
        assert all(figure.first == figure.second for figure in comparison.figures)


@pytest.mark.parametrize("changed", ["seed", "configuration"])
def test_what_is_listed_is_what_differs(changed: str) -> None:
    parted: Counter[tuple[str, ...]] = Counter()
    for number, steps in product(SEEDS, HISTORIES):
        one = history(number, steps, 1)
        other = history(number, steps, 2) if changed == "seed" else history(number, steps, 1, 1 + number % 2)
        comparison = compare(one, other)
        _check_placements(comparison, one, other)
        _check_parting(comparison, one, other)
        if comparison.parting is not None:
            parted[comparison.parting.kinds] += 1
    assert parted[("node",) if changed == "seed" else ("score",)]


def _check_placements(comparison: Comparison, one: Simulation, other: Simulation) -> None:
    nodes = [{pod.key: pod.node_name for pod in simulation.api.pods()} for simulation in (one, other)]
    listed = {item.pod: (item.first, item.second) for item in comparison.placements}
    assert len(listed) == len(comparison.placements)
    for pod in {**nodes[0], **nodes[1]}:
        places = nodes[0].get(pod), nodes[1].get(pod)
        assert (places[0] != places[1]) == (pod in listed)
        assert pod not in listed or listed[pod] == places


def _check_parting(comparison: Comparison, one: Simulation, other: Simulation) -> None:
    """Check that the first difference is the first attempt that differs."""
    mine, theirs = told(one), told(other)
    firsts = [
        min(
            (entry for key, (entry, facts) in told_here.items() if told_there.get(key, (0, None))[1] != facts),
            default=0,
        )
        for told_here, told_there in ((mine, theirs), (theirs, mine))
    ]
    parting = comparison.parting
    if not any(firsts):
        assert parting is None or parting.kinds == ("order",)
        return
    assert parting is not None
    entries = [decision.entry if decision is not None else 0 for decision in (parting.first, parting.second)]
    # With another order of attempts, the first difference of one run need not be the first of the other.
    assert any(entry and entry == first for entry, first in zip(entries, firsts, strict=True))
    assert comparison.decisive is not None or not comparison.placements


@pytest.mark.parametrize("steps", HISTORIES)
def test_utilisation_is_the_sum_of_the_pods_requests(steps: History) -> None:
    for number in SEEDS:
        simulation = history(number, steps, 1)
        bound = [pod for pod in simulation.api.pods() if not pod.finished]
        for use in compare(simulation, simulation).first.balance.resources:
            for node in use.nodes:
                requests = [resource_of(pod_requests(pod)) for pod in bound if pod.node_name == node.name]
                wanted = len(requests) if use.resource == "pods" else sum(item.of(use.resource) for item in requests)
                assert node.requested == wanted
            assert use.whole.requested == sum(node.requested for node in use.nodes)


@pytest.mark.parametrize("steps", HISTORIES)
def test_two_positions_of_one_run_part_where_the_earlier_one_ends(steps: History) -> None:
    """Up to there, all attempts are the same: only unfinished ones and later ones differ."""
    parted = 0
    for number in SEEDS:
        whole, half = history(number, steps, 1), Simulation(seed=1)
        run(half, steps(number)[: len(steps(number)) * 2 // 3])
        comparison = compare(half, whole)
        assert [*text_of(comparison)]
        parting = comparison.parting
        attempts = RunView(half).attempts
        finished = sum(bool(attempt.outcome) for listed in attempts.values() for attempt in listed)
        if parting is not None:
            assert parting.second is not None
            assert parting.kinds == ("missing",) or (parting.first is not None and parting.first.outcome == "")
            assert parting.second.position > finished or parting.first is not None
            parted += 1
    assert parted


@pytest.mark.parametrize("steps", HISTORIES)
def test_comparing_changes_nothing(steps: History) -> None:
    one, other = history(3, steps, 1), history(3, steps, 2)
    before = [trace_digest(simulation) for simulation in (one, other)]
    compare(one, other)
    assert [trace_digest(simulation) for simulation in (one, other)] == before
    compare(one, other)
    again = history(3, steps, 1)
    for simulation in (one, again):
        run(simulation, steps(4))
    assert trace_digest(one) == trace_digest(again)


EVICTIONS = {
    "30-high-priority-preemption": [Evicted("default/idle-2", "preemption", "default/nginx")],
    "22-taint-no-execute": [
        Evicted("default/no-toleration", "taint", "node.kubernetes.io/unreachable:NoExecute"),
        Evicted("default/stays-an-hour", "taint", "key1=value1:NoExecute"),
        Evicted("default/waits-for-recovery", "taint", "node.kubernetes.io/unreachable:NoExecute"),
    ],
    "84-memory-pressure": [
        Evicted("default/greedy-low", "kubelet", "node1"),
        Evicted("default/greedy-high", "kubelet", "node1"),
    ],
    "89-eviction-answers": [Evicted("default/db-0", "eviction", ""), Evicted("default/db-1", "eviction", "")],
    "91-drain": [Evicted("default/db-0", "drain", "node1"), Evicted("default/db-1", "drain", "node1")],
    "81-taint-removed-in-time": [],
}


@pytest.mark.parametrize("scenario", EVICTIONS)
def test_evictions_name_who_evicts(scenario: str) -> None:
    for full in (True, False):
        simulation = played(load_scenario(FOLDER / f"{scenario}.yaml"), full=full)
        assert [*evictions_in(simulation.recorder.entries)] == EVICTIONS[scenario]


def test_the_order_of_objects_is_no_difference() -> None:
    nodes = [make_node(name).capacity(cpu=cpu, pods="9").obj() for name, cpu in (("large", "8"), ("small", "4"))]
    pods = [make_pod(name).cpu("99").obj() for name in ("huge", "vast")]
    runs = []
    for manifests in ([*nodes, *pods], [*reversed(nodes), *reversed(pods)]):
        simulation = Simulation(seed=1)
        simulation.execute(commands.Apply((*manifests, make_pod("web").cpu("1").obj())))
        runs.append(simulation)
    comparison = compare(*runs)
    assert comparison.first != comparison.second
    assert not comparison.differs
    runs[0].execute(commands.Run(9))
    assert compare(*runs).differs


def test_only_what_was_evicted_counts() -> None:
    """A victim that was terminating, a refused request, a late one, and a taint that no longer drives a pod away."""
    message = "Cancelling deletion of Pod default/b"
    events = (
        ev.CycleStarted(7, "default/vip", "default-scheduler", 1, ""),
        ev.PostFilterRan(7, (), "n1", ("default/a", "default/b"), (), (), (("default/a", "terminating"),)),
        ev.EvictionAnswered("default/c", 429, "", "budget", ("guard",), ""),
        ev.EvictionAnswered("default/a", 200, "", "", (), "n1", late=True),
        ev.EventRecorded("Pod", "default/b", "Normal", "TaintManagerEviction", message),
    )
    entries = [ev.Entry(number, 0, 1, event) for number, event in enumerate(events, 1)]
    assert [*evictions_in(entries)] == [Evicted("default/b", "preemption", "default/vip")]


def test_pods_wait_with_the_reason_of_their_condition() -> None:
    waiting = compare(*(played(load_scenario(FOLDER / "36-scheduling-gates.yaml")) for _ in "12")).first.pending
    simulation = played(load_scenario(FOLDER / "35-nothing-fits.yaml"))
    [item] = compare(simulation, simulation).first.pending
    assert item.reason == "Unschedulable"
    assert item.message.startswith("0/")
    assert [item.reason for item in waiting] == ["SchedulingGated"] * len(waiting)


@pytest.mark.parametrize("steps", HISTORIES)
def test_a_lean_run_has_the_same_side(steps: History) -> None:
    for number in SEEDS:
        full, lean = (Simulation(seed=1, full=each) for each in (True, False))
        for simulation in (full, lean):
            run(simulation, steps(number))
        comparison = compare(full, lean)
        assert comparison.first == comparison.second


def test_the_scenarios_of_replicas_can_be_compared() -> None:
    for name in ("93-leader-killed", "95-leader-stands-still", "96-two-leaders", "98-assumed-pod-expires"):
        one, other = (played(load_scenario(FOLDER / f"{name}.yaml")) for _ in "12")
        assert not compare(one, other).differs


def test_figures_of_one_side_alone_keep_their_places() -> None:
    one, other = (
        played(load_scenario(FOLDER / f"{name}.yaml"))
        for name in ("01-node-affinity-two-zones", "08-spread-one-constraint")
    )
    comparison = compare(one, other)
    sides = comparison.first, comparison.second
    for side, value in zip(sides, ("first", "second"), strict=True):
        own = {figure.identity: figure.value for figure in figures_of(side)}
        shown = {(pair.name, *pair.about): getattr(pair, value) for pair in comparison.figures}
        assert {key: number for key, number in shown.items() if key in own} == own
        assert all(number is None for key, number in shown.items() if key not in own)
        assert [key for key in shown if key in own] == [*own]
