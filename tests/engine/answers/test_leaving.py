"""What becomes of pods is what becomes of them when the nodes really leave."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.answers import leaving_phrases
from scheduler_engine.answers.leaving import Departure, drain, lose, removable, removable_together
from scheduler_engine.answers.looking import scratch
from scheduler_engine.errors import Rejected
from scheduler_engine.replay import trace_digest
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import ZONE, make_budget, make_node, make_pod

BUDGET = make_budget("web", {"app": "web"}, maxUnavailable=0)


def deployment(name: str, replicas: int, pod: Any) -> dict[str, Any]:
    template = pod.label("app", name).obj()
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": template["spec"]},
        },
    }


def running(*manifests: dict[str, Any]) -> Simulation:
    simulation = Simulation(full=False)
    simulation.execute(commands.Apply(manifests))
    simulation.execute(commands.Run())
    return simulation


def two_nodes(cpu: str = "4") -> tuple[dict[str, Any], ...]:
    return tuple(make_node(f"n{zone}").zone(zone).capacity(cpu=cpu, pods="20").obj() for zone in "ab")


ALONE = make_pod("alone").cpu("1").node("na").obj()
CASES: dict[str, tuple[tuple[dict[str, Any], ...], Counter[str]]] = {
    "replacements find places": ((deployment("web", 4, make_pod("p").cpu("1")),), Counter(moved=2)),
    "replacements find none": ((deployment("web", 4, make_pod("p").cpu("2")),), Counter(waits=2)),
    "nobody replaces a pod without a controller": ((ALONE,), Counter(lost=1)),
    "a budget is in the way": ((deployment("web", 2, make_pod("p").cpu("1")), BUDGET), Counter(blocked=1)),
}


@pytest.mark.parametrize("case", CASES)
def test_the_pods_of_a_drained_node(case: str) -> None:
    objects, expected = CASES[case]
    simulation = running(*two_nodes(), *objects)
    before = trace_digest(simulation)
    left = drain(simulation, "na")
    assert Counter(leaver.outcome for leaver in left.leavers) == expected
    for leaver in left.leavers:
        assert leaver.node == ("nb" if leaver.outcome == "moved" else "")
        assert leaver.budgets == (("default/web",) if leaver.outcome == "blocked" else ())
        assert ("Insufficient cpu" in leaver.message) == (leaver.outcome == "waits")
    assert left.is_fine == (set(expected) == {"moved"})
    assert trace_digest(simulation) == before


def test_a_lost_zone_asks_no_budget() -> None:
    simulation = running(*two_nodes(), deployment("web", 2, make_pod("p").cpu("1")), BUDGET)
    left = lose(simulation, [node.name for node in simulation.api.list("Node") if node.labels[ZONE] == "a"])
    assert [(leaver.outcome, leaver.node) for leaver in left.leavers] == [("moved", "nb")]
    with pytest.raises(Rejected):
        lose(simulation, ["nowhere"])


LOW = make_pod("low").cpu("3").node("nb").priority(-5)
DISPLACED = {
    "alone": ((LOW.obj(),), "no controller replaces it", False),
    "owned, and there is no other place": (
        (deployment("low", 1, make_pod("p").cpu("3").priority(-5).node_selector({ZONE: "b"})),),
        "has no place: 0/2 nodes are available:",
        False,
    ),
    "owned, and there is another place": (
        (
            deployment(
                "low", 1, make_pod("p").cpu("3").priority(-5).toleration("low").node_affinity(ZONE, ["b"], weight=9)
            ),
            make_node("nc").capacity(cpu="4", pods="20").taint("low").obj(),
        ),
        "takes its place on nc",
        True,
    ),
}


@pytest.mark.parametrize("case", DISPLACED)
def test_a_pod_that_is_preempted_for_a_replacement_is_displaced(case: str) -> None:
    objects, then, have_places = DISPLACED[case]
    web = deployment("web", 1, make_pod("p").cpu("3").node_affinity(ZONE, ["a"], weight=9))
    simulation = running(*two_nodes("4"), web, *objects)
    left = drain(simulation, "na")
    (moved,), (item,) = left.leavers, left.displaced
    assert (item.cause, item.node, item.by, moved.node) == ("preempted", "nb", moved.replacement, "nb")
    assert (left.is_fine, left.have_places) == (False, have_places)
    words = leaving_phrases.displaced(item)
    assert f"{item.left.pod}: evicted from nb to make room for {moved.replacement}; " in words
    assert then in words
    whether = "All pods have a place." if have_places else "Not all pods have a place."
    assert leaving_phrases.verdicts(left) == [whether, "1 pod on another node had to go."]


def test_a_pod_that_its_kubelet_evicts_is_displaced() -> None:
    """The replacement uses so much memory that the kubelet of its new node evicts another pod."""
    modest = make_pod("modest").cpu("1").memory("100Mi").node("nb").priority(-5).obj()
    modest["metadata"]["annotations"] = {"sandbox/usage-memory": "1Gi"}
    greedy = deployment("greedy", 1, make_pod("p").cpu("1").memory("6Gi"))
    greedy["spec"]["template"]["metadata"]["annotations"] = {"sandbox/usage-memory": "6Gi"}
    nodes = [make_node(f"n{zone}").zone(zone).capacity(cpu="4", memory="7Gi", pods="20").obj() for zone in "ab"]
    simulation = running(*nodes, greedy, modest)
    left = drain(simulation, "na")
    (item,) = left.displaced
    assert (item.left.pod, item.cause, item.node, left.is_fine) == ("default/modest", "evicted", "nb", False)
    assert leaving_phrases.displaced(item).startswith("default/modest: evicted by the kubelet of nb (The node was low")


def test_a_pod_that_a_rollout_replaces_did_not_have_to_go() -> None:
    pod = make_pod("p").cpu("500m").node_selector({ZONE: "b"})
    web = {**deployment("web", 2, pod), "kind": "Deployment"}
    web["spec"]["template"]["metadata"]["annotations"] = {"sandbox/start-delay": "60"}
    simulation = running(*two_nodes(), web)
    simulation.execute(commands.RolloutRestart("Deployment", "default/web"))
    simulation.execute(commands.Settle())
    old = [pod.uid for pod in simulation.api.pods() if pod.ready]
    left = drain(simulation, "na")
    assert (len(old), left.displaced, left.is_fine) == (2, (), True)


def daemons(name: str, pod: Any) -> dict[str, Any]:
    owner = deployment(name, 1, pod)
    del owner["spec"]["replicas"]
    return {**owner, "kind": "DaemonSet"}


def test_daemons_stay_on_a_drained_node_but_not_on_a_lost_one() -> None:
    simulation = running(*two_nodes(), daemons("d", make_pod("p").cpu("1")))
    for left, outcome, words in (
        (drain(simulation, "na"), "kept", "stays, because drains leave pods of DaemonSets"),
        (lose(simulation, ["na"]), "unneeded", "gone with its node, for which the DaemonSet needs no pod now"),
    ):
        (leaver,) = left.leavers
        assert (leaver.outcome, left.is_fine) == (outcome, True)
        assert leaving_phrases.outcome(leaver) == f"{leaver.pod}: {words}"


def test_a_displaced_pod_may_take_long_to_go_or_be_a_daemon() -> None:
    slow = make_pod("slow").cpu("2").node("nb").priority(-5).grace_period(3600).obj()
    daemon = daemons("d", make_pod("p").cpu("1").priority(-9).node_selector({ZONE: "b"}))
    web = deployment("web", 1, make_pod("p").cpu("4").node_affinity(ZONE, ["a"], weight=9))
    left = drain(running(*two_nodes("4"), web, slow, daemon), "na")
    assert [(item.cause, item.node, item.left.outcome) for item in left.displaced] == [
        ("preempted", "nb", "lost"),
        ("preempted", "nb", "waits"),
    ]
    assert all(map(leaving_phrases.displaced, left.displaced))


def random_cluster(seed: int) -> Simulation:
    pick = Random(seed)
    nodes = [
        make_node(f"n{n}").zone(pick.choice("ab")).capacity(cpu=pick.choice(["2", "4"]), pods="20").obj()
        for n in range(pick.randint(2, 5))
    ]
    owners = []
    for number in range(3):
        pod = make_pod("p").cpu(pick.choice(["500m", "1", "2"]))
        if pick.random() < 0.3:
            pod.spread(ZONE, {"app": f"w{number}"}, 1, "DoNotSchedule")
        owners.append(deployment(f"w{number}", pick.randint(0, 3), pod))
    budget = make_budget("w0", {"app": "w0"}, maxUnavailable=pick.randint(0, 1))
    return running(*nodes, *owners, budget)


def waiting(simulation: Simulation) -> int:
    return sum(not pod.node_name for pod in simulation.api.pods())


@pytest.mark.parametrize("tens", range(2))
def test_a_removable_node_really_can_be_drained(tens: int) -> None:
    kinds = Counter[bool]()
    for seed in range(6 * tens, 6 * tens + 6):
        simulation = random_cluster(seed)
        for node, left in removable(simulation):
            twin = scratch(simulation)
            twin.execute(commands.Drain(node))
            twin.execute(commands.Advance(900))
            drained = not twin.api.unfinished_on(node) and waiting(twin) <= waiting(simulation)
            assert left.is_fine == drained, (seed, node)
            kinds[left.is_fine] += 1
        twin = scratch(simulation)
        for node, can_go in removable_together(simulation):
            if not can_go:
                continue
            twin.execute(commands.Drain(node))
            twin.execute(commands.Advance(900))
            assert not twin.api.unfinished_on(node)
            twin.execute(commands.Delete("Node", node))
        assert waiting(twin) <= waiting(simulation)
        assert list(twin.api.list("Node"))
    assert kinds[True], kinds
    assert kinds[False], kinds


def test_whoever_watches_a_departure_sees_how_many_pods_have_left() -> None:
    simulation = running(*two_nodes(), deployment("web", 4, make_pod("p").cpu("1")), ALONE)
    begun: list[tuple[Departure, int]] = []
    left = drain(simulation, "na", lambda departure: begun.append((departure, departure.gone)))
    ((departure, gone),) = begun
    assert (gone, departure.gone, len(departure.uids)) == (0, len(left.leavers), len(left.leavers))
    begun.clear()
    for nodes in (removable, removable_together):
        assert len(list(nodes(simulation, lambda departure: begun.append((departure, departure.gone))))) == 2
    assert [gone for _, gone in begun] == [0] * 4


@pytest.mark.parametrize(("plugin", "point"), [("VolumeBinding", "preBind"), ("DefaultBinder", "bind")])
def test_a_pod_whose_binding_waits_is_on_the_node_before_that_is_drained(plugin: str, point: str) -> None:
    simulation = running(*two_nodes(), make_pod("p").cpu("1").node("na").obj())
    simulation.execute(commands.Fault(plugin, point, "wait", seconds=60))
    simulation.execute(commands.Apply((make_pod("late").cpu("1").node_selector({ZONE: "a"}).obj(),)))
    simulation.execute(commands.Settle())
    late = simulation.api.pod("default/late")
    assert late is not None
    assert not late.node_name
    left = drain(simulation, "na")
    assert [(item.pod, item.outcome) for item in left.leavers] == [("default/p", "lost"), ("default/late", "lost")]
    simulation.execute(commands.Advance(61))
    assert drain(simulation, "na") == left
