"""The number of copies that fit is the number that a cluster really holds when they are applied one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from random import Random
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.answers.copies import pod_of
from scheduler_engine.answers.looking import look, scratch
from scheduler_engine.answers.room import Room, place_copies, room, room_by_node
from scheduler_engine.api.defaults import set_defaults
from scheduler_engine.api.objects import Pod
from scheduler_engine.errors import Rejected
from scheduler_engine.replay import trace_digest
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import HOSTNAME, ZONE, make_node, make_pod
from tests.engine.device_histories import devices
from tests.engine.histories import some
from tests.engine.paths import History, played
from tests.engine.random_clusters import cluster, crowded, pods
from tests.engine.volume_histories import volumes

MOST = 12


class KubeletRefuses(Exception):
    """A profile ignores a resource that kubelets count: no kubelet takes part in the answer."""


def calm(seed: int, history: History) -> Simulation:
    """Play a random history to its end, and delete the pods that still wait."""
    simulation = played(seed, full=False, history=history)
    for pod in simulation.api.pods():
        if not pod.node_name:
            simulation.execute(commands.Delete("Pod", pod.key))
    simulation.execute(commands.Run())
    return simulation


def applied(simulation: Simulation, manifest: Mapping[str, Any], number: int, node: str = "") -> str:
    """Apply one more pod, and run unless its first attempt fails. Return its node."""
    copied = pod_of(manifest)
    metadata = {**copied["metadata"], "name": f"more-{number}"}
    spec = {**copied["spec"], **({"nodeName": node} if node else {})}
    simulation.execute(commands.Apply(({**copied, "metadata": metadata, "spec": spec},)))
    key = f"{metadata.get('namespace', 'default')}/more-{number}"
    if not node:
        simulation.execute(commands.PodCycle())
        waiting = simulation.api.pod(key)
        if waiting is None or any(item.get("reason") == "Unschedulable" for item in waiting.conditions):
            return ""
    simulation.execute(commands.Run())
    pod = simulation.api.pod(key)
    if pod is not None and pod.phase == "Failed":
        raise KubeletRefuses
    return pod.node_name if pod is not None else ""


def one_by_one(simulation: Simulation, manifest: Mapping[str, Any]) -> Iterator[str]:
    """Yield the nodes of at most MOST pods that are really applied."""
    twin = scratch(simulation)
    for number in range(MOST):
        node = applied(twin, manifest, number)
        if not node:
            return
        yield node


@pytest.mark.parametrize("history", [cluster, crowded, volumes, devices])
@pytest.mark.parametrize("tens", range(2))
def test_as_many_copies_fit_as_can_be_applied_one_by_one(history: History, tens: int) -> None:
    totals, checked = Counter[str](), 0
    for seed in some(range(10 * tens, 10 * tens + 10), 5):
        simulation = calm(seed, history)
        before = trace_digest(simulation)
        pick = Random(seed)
        existing = [pod.manifest for pod in simulation.api.pods()]
        for manifest in [pods(pick, bound=10**9), *pick.sample(existing, min(2, len(existing)))]:
            try:
                found = room(simulation, manifest, MOST)
            except Rejected:
                with pytest.raises(Rejected):
                    list(one_by_one(simulation, manifest))
                continue
            try:
                placed = Counter(one_by_one(simulation, manifest))
            except KubeletRefuses:
                continue
            assert found.placed == placed, (seed, manifest)
            assert (found.stopped is None) == (placed.total() == MOST)
            totals["none" if not placed else "limit" if found.stopped is None else "some"] += 1
            checked += 1
        assert trace_digest(simulation) == before
    assert checked
    assert len(totals) == 3, totals


@pytest.mark.parametrize("tens", range(2))
def test_a_node_alone_holds_as_many_copies_as_can_be_put_there_one_by_one(tens: int) -> None:
    stopped = Counter[str]()
    for seed in range(10 * tens, 10 * tens + 10):
        simulation = calm(seed, cluster)
        manifest = pods(Random(seed), bound=10**9)
        try:
            found = dict(room_by_node(simulation, manifest, MOST))
        except Rejected:
            continue
        assert list(found) == [node.name for node in simulation.api.list("Node")]
        for name, alone in found.items():
            try:
                assert alone.total == len(list(put_on(simulation, manifest, name))), (seed, name)
            except KubeletRefuses:
                continue
            assert set(alone.placed) <= {name}
            if alone.stopped is not None and alone.stopped.statuses:
                assert set(alone.stopped.statuses) == {name}
                stopped[alone.stopped.statuses[name][0]] += 1
    assert len(stopped) > 3, stopped


def put_on(simulation: Simulation, manifest: Mapping[str, Any], node: str) -> Iterator[str]:
    """Put pods on a node, at most MOST, while its filters let one more pass."""
    twin = scratch(simulation)
    for number in range(MOST):
        looked = look(scratch(twin), Pod(set_defaults(pod_of(manifest))))
        if looked is None or node not in looked.feasible:
            return
        yield applied(twin, manifest, number, node)


def small(cpu: str = "150m", memory: str = "100Mi") -> dict[str, Any]:
    return make_pod("small-pod").cpu(cpu).memory(memory).obj()


DEMONSTRATION = Simulation(full=False)
DEMONSTRATION.execute(
    commands.Apply(
        tuple(make_node(f"kube-node-{n}").capacity(cpu="2", memory="4Gi", pods="110").obj() for n in (1, 2, 3, 4))
    )
)
REPLICATED = scratch(DEMONSTRATION)
for number in range(6):
    pod = small()
    pod["metadata"]["name"] = f"rc-{number}"
    REPLICATED.execute(commands.Apply((pod,)))
REPLICATED.execute(commands.Run())

EXAMPLES = {
    "four nodes of 2 CPUs hold 52 pods of 150m": (DEMONSTRATION, 10_000, 52, [13, 13, 13, 13]),
    "six replicas later there is room for 46": (REPLICATED, 10_000, 46, [11, 11, 12, 12]),
    "a limit ends the analysis": (DEMONSTRATION, 5, 5, [1, 1, 1, 2]),
}
"""The demonstrations in cluster-capacity's README, and its option ``max-limit``: simulation, limit, total, per node."""


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_answer_is_that_of_cluster_capacity(example: str) -> None:
    simulation, most, total, per_node = EXAMPLES[example]
    found = room(simulation, small(), most)
    assert (found.total, sorted(found.placed.values())) == (total, per_node)
    if found.total < most:
        assert found.stopped is not None
        assert found.stopped.message == "0/4 nodes are available: 4 Insufficient cpu."
        reasons = {status: len(nodes) for status, nodes in found.reasons().items()}
        assert reasons == {("NodeResourcesFit", ("Insufficient cpu",)): 4}
    else:
        assert found.stopped is None


def test_a_caller_may_stop_at_any_copy() -> None:
    before = trace_digest(DEMONSTRATION)
    assert len(list(islice(place_copies(DEMONSTRATION, small()), 3))) == 3
    assert trace_digest(DEMONSTRATION) == before


def test_other_pending_pods_do_not_compete_and_nominated_ones_keep_their_room() -> None:
    one = make_node("n1").capacity(cpu="4", pods="110").obj()
    for nominated, expected in (("", 4), ("n1", 2)):
        simulation = Simulation(full=False)
        large = make_pod("large").cpu("2").priority(9).gate("later")
        simulation.execute(commands.Apply((one, (large.nominated(nominated) if nominated else large).obj())))
        waiting = make_pod("large-2").cpu("9").priority(9).obj()
        simulation.execute(commands.Apply((waiting,)))
        if nominated:
            pod = simulation.api.pod("default/large")
            assert pod is not None
            simulation.scheduler.queue.nominator.add_nominated_pod(pod, "n1")
        assert room(simulation, make_pod("p").cpu("1").obj()).total == expected


def test_a_node_alone_stops_where_spreading_stops_it() -> None:
    nodes = [make_node(f"n{zone}").zone(zone).capacity(cpu="9", pods="110").obj() for zone in "ab"]
    simulation = Simulation(full=False)
    simulation.execute(commands.Apply(tuple(nodes)))
    spread = make_pod("p").label("app", "web").spread(ZONE, {"app": "web"}, 2, "DoNotSchedule").cpu("1").obj()
    assert room(simulation, spread).total == 18
    assert [(name, alone.total) for name, alone in room_by_node(simulation, spread)] == [("na", 2), ("nb", 2)]


def test_a_template_counts_like_its_pods_and_copies_repel_each_other() -> None:
    simulation = scratch(DEMONSTRATION)
    pod = make_pod("p").label("app", "db").anti_affinity(HOSTNAME, {"app": "db"}).obj()
    template = {"metadata": {"labels": {"app": "db"}}, "spec": pod["spec"]}
    owner = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "db", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "db"}}, "template": template},
    }
    assert room(simulation, owner) == room(simulation, pod)
    assert room(simulation, owner).total == 4


def test_nobody_schedules_a_copy_for_an_unknown_scheduler() -> None:
    with pytest.raises(Rejected, match="no profile serves"):
        room(DEMONSTRATION, make_pod("p").scheduler("other").obj())


def test_a_cluster_without_nodes_holds_nothing() -> None:
    found = room(Simulation(), small())
    assert found.stopped is not None
    assert (found.total, found.stopped.message) == (0, "no nodes available to schedule pods")
    assert isinstance(found, Room)
