"""The figures of small clusters, counted by hand."""

from __future__ import annotations

from math import sqrt
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.answers.balance import (
    Balance,
    ResourceUse,
    Use,
    Waits,
    balance_of,
    copies_left,
    frequent_shape,
    node_infos,
    skews_of,
    uses_of,
    waits_of,
)
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import ZONE, make_node, make_pod
from scheduler_engine.timeline import SECOND_US
from scheduler_engine.trace.events import Entry, ObjectAdded, ObjectModified
from tests.engine.random_clusters import configuration

Data = dict[str, Any]
GIB = 1 << 30


def simulated(*manifests: Data, configuration: Data | None = None) -> Simulation:
    simulation = Simulation(seed=1, configuration=configuration)
    simulation.execute(commands.Apply(manifests))
    simulation.execute(commands.Run(50))
    return simulation


def balanced(*manifests: Data, configuration: Data | None = None) -> Balance:
    simulation = simulated(*manifests, configuration=configuration)
    return balance_of(simulation, frequent_shape(simulation))


def uses(*manifests: Data) -> dict[str, ResourceUse]:
    return {use.resource: use for use in uses_of(node_infos(simulated(*manifests)))}


def node(name: str, cpu: str = "4", zone: str = "", pods: str = "10", memory: str = "8Gi") -> Data:
    builder = make_node(name).capacity(cpu=cpu, memory=memory, pods=pods)
    return (builder.zone(zone) if zone else builder).obj()


def bound(name: str, on: str, cpu: str = "1") -> Data:
    return make_pod(name).cpu(cpu).node(on).obj()


THREE = (
    *(node("n1", "4", "a"), node("n2", "4", "a"), node("n3", "8", "b")),
    *(bound("p1", "n1", "3"), bound("p2", "n2", "1"), bound("p3", "n3", "2")),
)
"""Shares of cpu: 3/4, 1/4, 1/4; free: 1, 3 and 6 cores."""


def test_the_use_of_a_resource_is_that_of_all_nodes_and_of_each_zone() -> None:
    cpu = uses(*THREE)["cpu"]
    assert cpu.whole == Use("", 6000, 16000, 10000)
    assert cpu.whole.share == 6 / 16
    assert cpu.zones == (Use("a", 4000, 8000, 4000), Use("b", 2000, 8000, 6000))
    assert cpu.nodes == (Use("n1", 3000, 4000, 1000), Use("n2", 1000, 4000, 3000), Use("n3", 2000, 8000, 6000))


def test_the_nodes_with_the_extreme_shares_and_the_deviation() -> None:
    cpu = uses(*THREE)["cpu"]
    assert (cpu.fullest.name, cpu.emptiest.name) == ("n1", "n2")
    # The mean of 75%, 25% and 25% is 5/12; the squares of the distances are 16/144, 4/144 and 4/144.
    assert cpu.deviation == pytest.approx(sqrt((16 + 4 + 4) / 144 / 3))


def test_the_largest_piece_is_the_largest_free_amount_on_one_node() -> None:
    assert uses(*THREE)["cpu"].largest_piece == 6 / 10
    assert uses(node("n1", "2"), bound("p1", "n1", "2"))["cpu"].largest_piece is None


def test_a_node_with_too_many_requests_has_nothing_free() -> None:
    simulation = simulated(node("n1", "4"), node("n2", "4"), bound("p1", "n1", "3"))
    simulation.execute(commands.Apply((node("n1", "2"),)))
    [cpu] = [use for use in uses_of(node_infos(simulation)) if use.resource == "cpu"]
    assert cpu.whole == Use("", 3000, 6000, 4000)
    assert cpu.fullest.share == 1.5
    assert cpu.largest_piece == 1


def test_places_for_pods_are_a_resource_too() -> None:
    assert uses(*THREE)["pods"].whole == Use("", 3, 30, 27)


def test_only_resources_that_a_node_has_are_listed() -> None:
    gpu = make_node("n2").capacity({"example.com/gpu": "4"}, cpu="1", memory="8Gi", pods="5").obj()
    pod = make_pod("p").request({"example.com/gpu": "1"}).limit({"example.com/gpu": "1"}).obj()
    listed = uses(node("n1"), gpu, pod)
    assert [*listed] == ["cpu", "memory", "example.com/gpu", "pods"]
    assert listed["example.com/gpu"].nodes == (Use("n2", 1, 4, 3),)
    assert listed["memory"].whole == Use("", 0, 16 * GIB, 16 * GIB)


def test_zones_of_two_regions_are_separate_and_nodes_without_one_together() -> None:
    manifests = [make_node(f"n-{region}").region(region).zone("1").capacity(cpu="1").obj() for region in ("x", "y")]
    assert [zone.name for zone in uses(*manifests, node("n3"))["cpu"].zones] == ["", "x/1", "y/1"]


def test_finished_pods_and_pods_without_a_node_request_nothing() -> None:
    simulation = simulated(node("n1"), bound("rejected", "n1", "5"), make_pod("huge").cpu("9").obj())
    rejected = simulation.api.pod("default/rejected")
    assert rejected is not None
    assert (rejected.phase, rejected.node_name) == ("Failed", "n1")
    [cpu] = [use for use in uses_of(node_infos(simulation)) if use.resource == "cpu"]
    assert cpu.whole.requested == 0


# --- room -------------------------------------------------------------------------------------------------------------


def test_the_frequent_shape_is_by_requests_alone() -> None:
    pods = [make_pod("a").cpu("2").obj(), make_pod("b").cpu("1").obj(), make_pod("c").cpu("1000m").priority(5).obj()]
    shape = frequent_shape(simulated(*pods))
    assert shape is not None
    assert shape.key == "default/b"
    first = frequent_shape(simulated(*pods[:2]))
    assert first is not None
    assert first.key == "default/a", "of equally frequent ones, the first"
    assert frequent_shape(Simulation()) is None


ROOMS = {
    # Free: 1, 3 and 6 cores; most pods ask for one.
    "cpu decides": ((*THREE, bound("p4", "n1", "0"), bound("p5", "n3", "0")), "0", 30 - 5),
    "the most frequent requests count": ((*THREE, bound("p4", "n3"), bound("p5", "n3")), "1", 1 + 3 + 4),
    "places run out": ((node("n1", "64", pods="3"), bound("p1", "n1"), bound("p2", "n1")), "1", 1),
    "nothing fits on a full node": ((node("n1", "2"), bound("p1", "n1"), bound("p2", "n1")), "1", 0),
    "each resource counts": (
        (node("n1", memory="5Gi"), make_pod("p1").cpu("1").memory("2Gi").node("n1").obj()),
        "1",
        1,
    ),
}


@pytest.mark.parametrize("case", ROOMS)
def test_copies_that_fit(case: str) -> None:
    manifests, cpu, copies = ROOMS[case]
    room = balanced(*manifests).copies_left
    assert room is not None
    assert dict(room.requests).get("cpu", 0) == int(cpu) * 1000
    assert room.copies == copies


def test_copies_follow_what_the_profile_ignores() -> None:
    manifests = make_node("n1").capacity({"example.com/gpu": "1"}, cpu="4", pods="10").obj(), _gpu_pod()
    ignoring = configuration(NodeResourcesFit={"ignoredResources": ["example.com/gpu"]})
    rooms = [balanced(*manifests, configuration=config).copies_left for config in (None, ignoring)]
    assert [room.copies for room in rooms if room is not None] == [0, 3]


def _gpu_pod() -> Data:
    return make_pod("p").cpu("1").request({"example.com/gpu": "1"}).limit({"example.com/gpu": "1"}).obj()


def test_there_is_no_room_to_count_without_the_plugin_or_the_profile() -> None:
    without = configuration()
    without["profiles"][0]["plugins"] = {"multiPoint": {"disabled": [{"name": "NodeResourcesFit"}]}}
    assert balanced(node("n1"), bound("p1", "n1"), configuration=without).copies_left is None
    assert balanced(node("n1"), make_pod("p").scheduler("other").obj()).copies_left is None
    assert balanced(node("n1")).copies_left is None


@pytest.mark.parametrize("cpu", ["1", "3", "700m"])
def test_copies_can_be_bound_one_by_one(cpu: str) -> None:
    simulation = simulated(*THREE, make_pod("shape").cpu(cpu).obj())
    shape = simulation.api.pod("default/shape")
    assert shape is not None
    room = copies_left(simulation, shape, node_infos(simulation))
    assert room is not None
    more = tuple(make_pod(f"copy-{number}").cpu(cpu).obj() for number in range(room.copies + 1))
    simulation.execute(commands.Apply(more))
    simulation.execute(commands.Run(100))
    waiting = [pod for pod in simulation.api.pods() if not pod.node_name]
    assert len(waiting) == 1


# --- skew -------------------------------------------------------------------------------------------------------------


def spread(name: str, on: str, when: str = "DoNotSchedule", app: str = "web", **more: Any) -> Data:
    pod = make_pod(name).label("app", app).label("tier", name[-1]).spread(ZONE, {"app": "web"}, 1, when, **more)
    return pod.node(on).obj()


ZONES = (node("n1", zone="a"), node("n2", zone="b"), node("n3", zone="c"), node("n4"))


def skews(*pods: Data, configuration: Data | None = None) -> dict[tuple[str, ...], Any]:
    simulation = simulated(*ZONES, *pods, configuration=configuration)
    return {skew.identity: skew for skew in skews_of(simulation, node_infos(simulation))}


def test_a_skew_is_the_largest_count_minus_the_smallest() -> None:
    [skew] = skews(spread("p1", "n1"), spread("p2", "n1"), spread("p3", "n1"), spread("p4", "n2")).values()
    assert skew.identity == ("default", ZONE, "app=web", "DoNotSchedule", "1")
    assert skew.counts == (("a", 3), ("b", 1), ("c", 0))
    assert skew.skew == 3


@pytest.mark.parametrize("first", [True, False])
def test_of_pods_that_count_other_nodes_the_largest_skew_remains(first: bool) -> None:
    """Two pods count all zones. One counts only zone a, where all are: for it, nothing is skewed."""
    near = make_pod("p9").label("app", "web").spread(ZONE, {"app": "web"}, 1).node_selector({ZONE: "a"}).node("n1")
    others = spread("p1", "n1"), spread("p2", "n1")
    [skew] = skews(*([near.obj(), *others] if first else [*others, near.obj()])).values()
    assert skew.counts == (("a", 3), ("b", 0), ("c", 0))


def test_label_keys_separate_the_pods() -> None:
    keyed = {"matchLabelKeys": ["tier"]}
    found = skews(spread("p-1", "n1", **keyed), spread("q-1", "n1", **keyed), spread("p-2", "n2", **keyed))
    assert {identity[2]: skew.skew for identity, skew in found.items()} == {
        "tier in (1),app=web": 2,
        "tier in (2),app=web": 1,
    }


def test_both_kinds_of_constraints_count_and_pods_of_others_do_not() -> None:
    found = skews(spread("p1", "n1", "ScheduleAnyway"), spread("p2", "n2", app="db"))
    assert {identity[3]: skew.skew for identity, skew in found.items()} == {"ScheduleAnyway": 1, "DoNotSchedule": 1}


def test_defaults_of_a_profile_count_but_not_the_built_in_ones() -> None:
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
    }
    pods = [make_pod(f"p{number}").label("app", "web").node("n1").obj() for number in (1, 2)]
    listed = [{"maxSkew": 2, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway"}]
    profile = configuration(PodTopologySpread={"defaultingType": "List", "defaultConstraints": listed})
    assert skews(service, *pods) == {}
    [skew] = skews(service, *pods, configuration=profile).values()
    assert (skew.max_skew, skew.skew) == (2, 2)


# --- waiting ----------------------------------------------------------------------------------------------------------


def test_waits_are_from_creation_to_binding() -> None:
    """Three pods wait for a larger node. One comes with it, one has its node from the beginning, and one never fits."""
    simulation = Simulation()
    waiting = (make_pod(f"p{number}").cpu("1").obj() for number in range(1, 4))
    simulation.execute(commands.Apply((node("n0", "500m"), bound("placed", "n0", "0"), *waiting)))
    simulation.execute(commands.Advance(7.0))
    simulation.execute(commands.Apply((make_pod("late").obj(), make_pod("never").cpu("99").obj(), node("n1"))))
    simulation.execute(commands.Settle())
    assert balance_of(simulation, None).waits == Waits(4, 7_000_000, 7_000_000, 7_000_000)


def test_a_new_pod_with_the_name_waits_from_its_own_creation() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((make_pod("p").obj(),)))
    simulation.execute(commands.Advance(5.0))
    simulation.execute(commands.Delete("Pod", "default/p"))
    simulation.execute(commands.Advance(60.0))
    assert simulation.api.pod("default/p") is None
    simulation.execute(commands.Apply((make_pod("p").obj(), node("n1"))))
    simulation.execute(commands.Settle())
    assert balance_of(simulation, None).waits == Waits(1, 0, 0, 0)


PERCENTILES = {1: (1, 1), 2: (1, 2), 3: (2, 3), 20: (10, 19), 21: (11, 20), 100: (50, 95)}


@pytest.mark.parametrize("number", PERCENTILES)
def test_percentiles_are_waits_that_occurred(number: int) -> None:
    """Pods that waited 1, 2, 3, … seconds."""
    entries = []
    for second in range(1, number + 1):
        key, pod = f"default/p{second}", make_pod(f"p{second}")
        entries.append(Entry(0, 0, 1, ObjectAdded("Pod", key, pod.obj())))
        entries.append(Entry(0, second * SECOND_US, 1, ObjectModified("Pod", key, pod.node("n1").obj())))
    median, p95 = PERCENTILES[number]
    assert waits_of(entries) == Waits(number, median * SECOND_US, p95 * SECOND_US, number * SECOND_US)


def test_nobody_was_bound() -> None:
    assert balanced(make_pod("p").obj()).waits is None
