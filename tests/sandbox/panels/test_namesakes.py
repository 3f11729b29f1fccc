"""A pod that reuses the name of one in flight, a withdrawn nomination, and victims that cannot be evicted."""

from __future__ import annotations

from typing import Any

from sandbox.panels import View, World
from sandbox.panels.inspector.panel import stats as inspector
from sandbox.panels.preemption.panel import stats as preemption
from sandbox.panels.queues.panel import stats as queues
from sandbox.panels.sentence.panel import stats as sentence
from sandbox.panels.tables import queue as table
from scheduler_engine import commands
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import PodBuilder, make_node, make_pod
from tests.sandbox.scenarios import panel_html, world_of

KEY = "default/web"


def cluster(*builders: PodBuilder) -> Simulation:
    simulation = Simulation(priority_numbers=True)
    objects = (make_node("n1").capacity(cpu="2").obj(), *(builder.obj() for builder in builders))
    simulation.execute(commands.Apply(objects))
    return simulation


def stages(simulation: Simulation, count: int) -> None:
    for _ in range(count):
        simulation.execute(commands.Stage())


def replaced() -> Simulation:
    """Return a world: web fits nowhere; after Filter it is deleted, and a smaller pod gets its name."""
    simulation = cluster(make_pod("web").cpu("64"))
    stages(simulation, 4)
    simulation.execute(commands.Delete("Pod", KEY))
    simulation.execute(commands.Apply((make_pod("web").cpu("1").obj(),)))
    return simulation


def in_flight(world: World) -> list[dict[str, Any]]:
    return [card for lane in queues(world, View())["lanes"] if lane["id"] == "inFlight" for card in lane["cards"]]


def as_the_engine(simulation: Simulation) -> World:
    """Return the world, with the engine's own set of pods in flight."""
    world = world_of(simulation)
    uids = {queued.move.uid for queued in world.in_lane("inFlight")}
    assert uids == set(simulation.scheduler.queue.active_q.in_flight.pods)
    return world


def test_a_deleted_pod_stays_in_flight_beside_the_new_one_of_its_name() -> None:
    world = as_the_engine(replaced())
    (card,) = in_flight(world)
    assert (card["age"], card["detail"]) == ("attempt 1", "deleted, and another pod has its name")
    assert card["now"]
    by_lane = {lane["id"]: lane for lane in queues(world, View())["lanes"]}
    (new,) = by_lane["activeQ"]["cards"]
    assert not new["now"], "the attempt belongs to another pod"
    assert queues(world, View())["pending"] == 1
    shown = panel_html("queues", world)
    assert shown.count('id="q:default/web"') == 1, "ids are unique"
    assert [row[0] for row in table(world, View())] == ["lane", "inFlight", "activeQ"]


def test_a_deleted_pod_in_flight_is_not_pending() -> None:
    simulation = cluster(make_pod("web").cpu("64"), make_pod("other"))
    stages(simulation, 4)
    assert queues(world_of(simulation), View())["pending"] == 2
    simulation.execute(commands.Delete("Pod", KEY))
    world = as_the_engine(simulation)
    assert [card["pod"] for card in in_flight(world)] == [KEY]
    assert queues(world, View())["pending"] == 1


def test_the_failed_attempt_of_a_deleted_pod_says_which_pod_gets_its_message_and_what_stays() -> None:
    simulation = replaced()
    stages(simulation, 1)
    world = as_the_engine(simulation)
    said = sentence(world, View())
    assert said["text"].endswith(
        "It was deleted, and the new pod web gets its message. "
        "The old one stays in flight until the scheduler restarts, as in Kubernetes v1.34."
    )
    assert said["next"] == "this pod was deleted; the next pod is popped"
    assert said["precise"].endswith("; Pod default/web is already present in the active queue")
    shown = panel_html("filter", world)
    assert "Only in the scheduler&#39;s log: Pod default/web is already present in the active queue" in shown
    assert "scheduling.; Pod" not in shown, "the event is not about this"
    (card,) = in_flight(world)
    assert (card["age"], card["now"]) == ("attempt over", False)
    assert "stays here until the scheduler restarts" in card["detail"]
    assert queues(world, View())["pending"] == 1
    new = inspector(world, View(pod=KEY))
    assert new["message"].startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert new["message_of"] == (
        "This message belongs to a deleted pod with the same name. "
        "Its attempt, cycle 1, failed after this pod was created."
    )
    assert new["not_there"] == [], "the old pod's error does not apply to the new one"
    assert [attempt["earlier"] for attempt in new["attempts"]] == [True]
    shown = panel_html("inspector", world, pod=KEY)
    assert "of a deleted pod with this name" in shown
    assert "insp-namesake" in shown


def test_the_new_pod_is_bound_while_the_old_one_stays_in_flight() -> None:
    simulation = replaced()
    simulation.execute(commands.Run())
    world = as_the_engine(simulation)
    assert len(in_flight(world)) == 1
    new = inspector(world, View(pod=KEY))
    assert new["state"] == "bound to n1"
    assert new["message_of"] == ""
    assert [attempt["earlier"] for attempt in new["attempts"]] == [False, True]


def test_a_deleted_pod_leaves_the_flight_if_no_pod_took_its_name() -> None:
    simulation = cluster(make_pod("web").cpu("64"))
    stages(simulation, 4)
    simulation.execute(commands.Delete("Pod", KEY))
    assert len(in_flight(as_the_engine(simulation))) == 1
    stages(simulation, 1)
    assert in_flight(as_the_engine(simulation)) == []


def robbed() -> Simulation:
    """Return a world: mid preempts low and is nominated; then top preempts on the same node."""
    low = make_pod("low").cpu("1500m").priority(1).node("n1")
    other = make_pod("other").cpu("500m").priority(1).node("n1")
    simulation = cluster(low, other, make_pod("mid").cpu("1").priority(500))
    stages(simulation, 5)
    simulation.execute(commands.Apply((make_pod("top").cpu("2").priority(1000).obj(),)))
    stages(simulation, 5)
    return simulation


def test_a_lower_nomination_is_withdrawn_before_the_victims_are_deleted() -> None:
    simulation = robbed()
    world = world_of(simulation)
    nominated = simulation.scheduler.queue.nominator.nominated_pods_for_node("n1")
    assert [info.pod.name for info in nominated] == ["top"]
    assert "First mid lost its nomination there." in sentence(world, View())["text"]
    data = preemption(world, View())
    assert data["cleared"] == (
        "First mid lost its nomination there, because its priority is lower. Then the victims were deleted."
    )
    shown = panel_html("preemption", world)
    assert "Kubernetes v1.34 does this in the background" in shown
    assert inspector(world, View(pod="default/mid"))["withdrawn"] == (
        "Its nomination to n1 was withdrawn: top has a higher priority and preempts there."
    )
    assert inspector(world, View(pod="default/top"))["withdrawn"] == ""
    assert "insp-withdrawn" in panel_html("inspector", world, pod="default/mid")


def test_a_preemption_whose_evictions_fail_says_that_room_was_found() -> None:
    simulation = cluster(make_pod("low").cpu("2").priority(1).node("n1"))
    simulation.execute(commands.Replicas(2))
    simulation.execute(commands.Advance(3))
    simulation.execute(commands.Apply((make_pod("top").cpu("2").priority(1000).obj(),)))
    stages(simulation, 4)
    simulation.execute(commands.Replica("kube-scheduler-1", "partition"))
    stages(simulation, 1)
    world = world_of(simulation)
    assert sentence(world, View())["text"].startswith(
        "DefaultPreemption found where to make room, but it could not evict: preemption: connection refused."
    )
    data = preemption(world, View())
    assert data["summary"] == (
        "Room for top was found, but the victims could not be evicted: preemption: connection refused. "
        "top is not nominated, and waits in the queue."
    )
    shown = panel_html("preemption", world)
    assert "Only one candidate: nothing to compare." in shown
    assert "No candidate was left" not in shown
