"""The number of nodes that copies need is enough, and one fewer is not."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from random import Random

import pytest

from scheduler_engine import commands
from scheduler_engine.answers.nodes_needed import nodes_needed, with_nodes
from scheduler_engine.errors import Rejected
from scheduler_engine.replay import trace_digest
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import HOSTNAME, ZONE, make_node, make_pod
from tests.engine.answers.test_room import KubeletRefuses, applied, calm
from tests.engine.random_clusters import cluster, nodes, pods

WANTED = 6


def held(simulation: Simulation, manifest: dict[str, object]) -> int:
    """Return how many pods, at most WANTED, are really bound when they are applied one by one."""
    nodes = (applied(simulation, manifest, number) for number in range(WANTED))
    return sum(1 for _ in islice(iter(nodes.__next__, ""), WANTED))


@pytest.mark.parametrize("tens", range(2))
def test_copies_run_with_that_number_of_nodes_and_not_with_one_fewer(tens: int) -> None:
    answers = Counter[str]()
    for seed in range(10 * tens, 10 * tens + 10):
        simulation, pick = calm(seed, cluster), Random(seed)
        before = trace_digest(simulation)
        manifest, shape = pods(pick, bound=10**9), nodes(pick, "shape")
        try:
            found = nodes_needed(simulation, manifest, WANTED, shape)
        except Rejected:
            continue
        try:
            if found.nodes is None:
                assert held(with_nodes(simulation, shape, WANTED), manifest) < WANTED
                assert found.room.stopped is not None
                answers["none"] += 1
                continue
            assert held(with_nodes(simulation, shape, found.nodes), manifest) == WANTED
            if found.nodes:
                assert held(with_nodes(simulation, shape, found.nodes - 1), manifest) < WANTED
            answers["some" if found.nodes else "enough"] += 1
        except KubeletRefuses:
            continue
        assert trace_digest(simulation) == before
    assert answers["none"], answers
    assert answers["some"], answers


EMPTY = Simulation(full=False)
SHAPE = make_node("m").zone("a").capacity(cpu="4", memory="8Gi", pods="9").cordoned().obj()
APART = make_pod("p").label("app", "db").cpu("1")
CASES = {
    "four pods fit on a node": (make_pod("p").cpu("1").obj(), 10, 3),
    "a new node has its own hostname": (APART.anti_affinity(HOSTNAME, {"app": "db"}).obj(), 5, 5),
    "no number helps if one pod is too large": (make_pod("p").cpu("5").obj(), 3, None),
    "no number helps if all new nodes are in one zone": (
        make_pod("p").label("app", "z").anti_affinity(ZONE, {"app": "z"}).obj(),
        2,
        None,
    ),
    "nothing is needed for nothing": (make_pod("p").cpu("5").obj(), 0, 0),
}


@pytest.mark.parametrize("case", CASES)
def test_the_number_of_nodes(case: str) -> None:
    pod, copies, expected = CASES[case]
    found = nodes_needed(EMPTY, pod, copies, SHAPE)
    assert found.nodes == expected
    assert (found.room.stopped is None) == (expected is not None)


def test_daemons_take_their_room_on_new_nodes_first() -> None:
    simulation = Simulation(full=False)
    daemon = make_pod("d").label("app", "d").cpu("2").obj()
    template = {"metadata": daemon["metadata"], "spec": daemon["spec"]}
    owner = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "d", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "d"}}, "template": template},
    }
    simulation.execute(commands.Apply((owner,)))
    simulation.execute(commands.Run())
    assert nodes_needed(simulation, make_pod("p").cpu("1").obj(), 10, SHAPE).nodes == 5


def test_an_invalid_shape_is_refused() -> None:
    with pytest.raises(Rejected):
        nodes_needed(EMPTY, make_pod("p").obj(), 1, {"metadata": {"name": "_"}})


def test_a_new_node_gets_a_name_that_fits_into_its_hostname_label() -> None:
    long_name = "n" * 60
    node = make_node(long_name).label(HOSTNAME, long_name).capacity(cpu="2", pods="9")
    simulation = Simulation()
    simulation.execute(commands.Apply((node.obj(),)))
    assert nodes_needed(simulation, make_pod("p").cpu("2").obj(), 3, node.obj()).nodes == 2


def test_each_number_of_new_nodes_is_told_before_it_is_tried() -> None:
    simulation = Simulation(full=False)
    shape, pod = make_node("n").capacity(cpu="2", pods="9").obj(), make_pod("p").cpu("1").obj()
    simulation.execute(commands.Apply((shape,)))
    tried: list[int] = []
    assert nodes_needed(simulation, pod, 9, shape, tried.append).nodes == 4
    assert tried[0] == 0
    assert {3, 4} <= {*tried}
