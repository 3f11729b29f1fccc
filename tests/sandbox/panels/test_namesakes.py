"""A pod that reuses the name of one in flight, a withdrawn nomination, and victims that cannot be evicted."""

from __future__ import annotations

from typing import Any

from sandbox.panels import View, World
from sandbox.panels.drawing.blocks import gone_block
from sandbox.panels.events import stats as events
from sandbox.panels.facts.finding import find
from sandbox.panels.inspector.panel import stats as inspector
from sandbox.panels.preemption.film import film
from sandbox.panels.preemption.panel import stats as preemption
from sandbox.panels.queues.panel import stats as queues
from sandbox.panels.sentence.panel import stats as sentence
from sandbox.panels.tables import queue as table
from scheduler_engine import commands
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import PodBuilder, make_node, make_pod
from tests.sandbox.panels.test_workloads import workload
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
    assert (said["after"], said["next"]) == ("This pod was deleted.", "Pop takes another pod")
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


def overtaken() -> Simulation:
    """Return a simulation: web's binding fails while a new pod of its name waits on Permit, in cycle 2."""
    simulation = cluster(make_pod("web").cpu("1"))
    simulation.execute(commands.Fault("DefaultBinder", "bind", "wait", 5))
    simulation.execute(commands.Settle())
    simulation.execute(commands.Delete("Pod", KEY))
    simulation.execute(commands.Apply((make_pod("web").cpu("1").obj(),)))
    simulation.execute(commands.Fault("NodeResourcesFit", "permit", "wait", 60))
    simulation.execute(commands.Settle())
    simulation.execute(commands.Advance(6))
    return simulation


def test_a_binding_that_fails_after_the_new_pod_was_tried_is_still_the_old_pods() -> None:
    world = world_of(overtaken())
    old, new = world.attempts[KEY]
    assert (old.outcome, new.outcome) == ("error", "")
    (failed,) = (recorded for recorded in world.kube_events if recorded.event.reason == "FailedScheduling")
    assert (failed.uid, world.regards_namesake(failed)) == (old.uid, True)
    shown = inspector(world, View(pod=KEY))
    assert shown["events"] == []
    assert shown["message"].startswith('running Bind plugin "DefaultBinder"')
    assert shown["message_of"] == (
        "This message belongs to a deleted pod with the same name. "
        "Its attempt, cycle 1, failed after this pod was created."
    )
    assert (old.requeued, new.requeued) == (None, None), "the move to a queue was neither the old pod's, nor a failure"


def test_an_earlier_attempt_of_a_deleted_pod_has_no_message_for_the_new_one() -> None:
    simulation = cluster(make_pod("web").cpu("64"))
    simulation.execute(commands.Settle())
    simulation.execute(commands.Delete("Pod", KEY))
    simulation.execute(commands.Apply((make_pod("web").cpu("1").obj(),)))
    shown = inspector(world_of(simulation), View(pod=KEY, cycle=1))
    assert (shown["message"], shown["message_of"]) == ("", "")


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


def recreated(cpu: str = "64") -> Simulation:
    """Return a world: web fails, a new node does not help it; then it is deleted, and a new pod gets its name."""
    simulation = cluster(make_pod("web").cpu("64"))
    simulation.execute(commands.Settle())
    simulation.execute(commands.Apply((make_node("n2").capacity(cpu="2").obj(),)))
    simulation.execute(commands.Settle())
    assert inspector(world_of(simulation), View(pod=KEY))["hints"]
    simulation.execute(commands.Delete("Pod", KEY))
    simulation.execute(commands.Apply((make_pod("web").cpu(cpu).obj(),)))
    return simulation


def test_a_new_pod_has_neither_hints_nor_moves_nor_events_of_the_deleted_one() -> None:
    simulation = recreated()
    new = inspector(world_of(simulation), View(pod=KEY))
    assert (new["hints"], new["events"], new["woken"]) == ([], [], None)
    assert [move["target"] for move in new["moves"]] == ["activeQ"]
    simulation.execute(commands.Settle())
    simulation.execute(commands.Apply((make_node("n3").capacity(cpu="2").obj(),)))
    simulation.execute(commands.Settle())
    new = inspector(world_of(simulation), View(pod=KEY))
    assert [hint["event"] for hint in new["hints"]] == ["NodeAdd n3"]
    assert [event["reason"] for event in new["events"]] == ["FailedScheduling"]
    assert [move["target"] for move in new["moves"]] == ["unschedulablePods", "inFlight", "activeQ"]


def test_a_failure_of_the_deleted_pod_is_no_event_of_the_new_one() -> None:
    simulation = replaced()
    stages(simulation, 1)
    world = as_the_engine(simulation)
    assert [event.event.reason for event in world.kube_events] == ["FailedScheduling"]
    assert inspector(world, View(pod=KEY))["events"] == []
    simulation.execute(commands.Run())
    new = inspector(as_the_engine(simulation), View(pod=KEY))
    assert [event["reason"] for event in new["events"]] == ["Scheduled"]


def test_events_and_search_say_which_events_are_of_a_deleted_pod() -> None:
    simulation = recreated("1")
    simulation.execute(commands.Settle())
    world = world_of(simulation)
    by_reason = {row["reason"]: row["earlier"] for row in events(world, View())["kube"]}
    assert by_reason == {"Scheduled": False, "FailedScheduling": True}
    assert "of a deleted pod with this name" in panel_html("events", world)
    notes = {hit.text: hit.note for hit in find(world, "sched")[0] if hit.kind == "event"}
    assert " web (deleted): " in notes["FailedScheduling"]
    assert " web: " in notes["Scheduled"]


def test_tabs_do_not_show_the_attempt_of_the_deleted_pod_as_that_of_the_new_one() -> None:
    simulation = cluster(make_pod("web").cpu("64"), make_pod("other"))
    stages(simulation, 6)
    simulation.execute(commands.Settle())
    simulation.execute(commands.Delete("Pod", KEY))
    assert shown_attempt(simulation) == KEY, "without a pod of that name, the tabs show its last attempt"
    simulation.execute(commands.Apply((make_pod("web").obj(),)))
    assert shown_attempt(simulation) == "default/other", "the new pod has none"
    simulation.execute(commands.Settle())
    assert shown_attempt(simulation) == KEY


def shown_attempt(simulation: Simulation) -> str:
    cycle = world_of(simulation).cycle_of_choice(0, KEY)
    assert cycle is not None
    return cycle.pod


def test_a_chosen_attempt_of_the_deleted_pod_does_not_explain_where_the_new_one_is() -> None:
    simulation = cluster(make_pod("web"))
    simulation.execute(commands.Settle())
    (first,) = world_of(simulation).attempts[KEY]
    simulation.execute(commands.Delete("Pod", KEY))
    simulation.execute(commands.Advance(31))
    simulation.execute(commands.Apply((make_node("n2").obj(), make_pod("web").node("n2").obj())))
    world = world_of(simulation)
    assert inspector(world, View(pod=KEY, cycle=first.number))["here"] is None
    assert inspector(world, View(pod=KEY))["here"]["node"] == "n2"


def test_the_film_draws_a_victim_that_has_left_as_gone_though_a_new_pod_has_its_name() -> None:
    simulation = cluster(make_pod("low").cpu("2").priority(1).grace_period(0).node("n1"))
    simulation.execute(commands.Apply((make_pod("top").cpu("2").priority(1000).obj(),)))
    simulation.execute(commands.Settle())
    simulation.execute(commands.Apply((make_pod("low").label("app", "new").cpu("64").priority(7).obj(),)))
    world = world_of(simulation)
    cycle = next(cycle for cycle in world.cycles if cycle.tried)
    assert world.pods["default/low"].pod.priority == 7
    (tried,) = cycle.tried
    blocks = [frame["pod"] for frame in film(world, cycle, tried)["frames"] if frame["pod"]]
    assert blocks
    assert all(block == gone_block("default/low") for block in blocks)


def test_the_deletion_of_a_pod_that_its_stateful_set_replaces_at_once_says_that_it_was_deleted() -> None:
    simulation = cluster()
    owner = workload("StatefulSet", "db", {"terminationGracePeriodSeconds": 0}, replicas=1)
    simulation.execute(commands.Apply((owner,)))
    simulation.execute(commands.Settle())
    old = world_of(simulation).pods["default/db-0"].pod.uid
    simulation.execute(commands.Delete("Pod", "default/db-0"))
    world = world_of(simulation)
    assert world.pods["default/db-0"].pod.uid != old
    said = sentence(world, View())
    assert "was deleted: no budget is checked for that." in f"{said['text']}{said}"
