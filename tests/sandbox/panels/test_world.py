"""The World, folded from the trace."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.panels import World
from sandbox.panels.model.world import app_name
from scheduler_engine import commands
from scheduler_engine.api.objects import Pod
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.trace import events as ev
from tests.sandbox import traces


def test_folding_entry_by_entry_is_folding_all_at_once() -> None:
    entries = traces.web_at_filter().entries
    world = World()
    for entry in entries:
        world.apply(entry)
    whole = World.fold(entries)
    assert world.queue == whole.queue
    assert world.cycles == whole.cycles
    assert world.clock_us == whole.clock_us == max(entry.at_us for entry in entries)


def test_a_prefix_of_the_trace_is_the_past() -> None:
    entries = traces.api_scored().entries
    place = next(
        n
        for n, entry in enumerate(entries)
        if isinstance(entry.event, ev.HostSelected) and entry.event.how == "highest"
    )
    before = World.fold(entries[:place]).cycle
    assert before is not None
    assert before.last_stage == "NormalizeScore"
    assert before.selected is None


def test_a_pod_is_pending_then_assumed_then_bound_then_terminating_then_gone() -> None:
    story = traces.Story()
    story.add_node(traces.node("n"))
    manifest = traces.pod("p-1")
    key = story.add_pod(manifest)
    assert World.fold(story.entries).pods[key].state == "pending"
    story.cached(key, "n", "assumed")
    world = World.fold(story.entries)
    assert (world.pods[key].state, list(world.pods_on["n"])) == ("assumed", [key])
    bound = traces.pod("p-1", on="n")
    story.say(ev.ObjectModified("Pod", key, bound))
    story.cached(key, "n", "confirmed")
    assert World.fold(story.entries).pods[key].state == "bound"
    story.at(5).say(ev.ObjectModified("Pod", key, traces.pod("p-1", on="n", terminating=True)))
    world = World.fold(story.entries)
    assert (world.pods[key].state, world.pods[key].gone_at_us) == ("terminating", 35 * traces.SECOND)
    story.say(ev.ObjectDeleted("Pod", key))
    world = World.fold(story.entries)
    assert key not in world.pods
    assert not world.pods_on["n"]


def test_a_forgotten_pod_leaves_its_node() -> None:
    story = traces.Story()
    story.add_node(traces.node("n"))
    key = story.add_pod(traces.pod("p-1"))
    story.cached(key, "n", "assumed")
    story.cached(key, "n", "forgotten")
    world = World.fold(story.entries)
    assert world.pods[key].state == "pending"
    assert world.used("n") == {"pods": 0}


def test_a_node_with_pods_becomes_a_ghost_until_the_last_pod_is_gone() -> None:
    story = traces.Story()
    story.add_node(traces.node("n"))
    story.add_pod(traces.pod("p-1", on="n"))
    story.ghost("n")
    assert World.fold(story.entries).nodes["n"].ghost
    story.say(ev.ObjectDeleted("Pod", "default/p-1"))
    assert "n" not in World.fold(story.entries).nodes


def lost_in_mid_cycle(stages: int) -> Simulation:
    """Return a simulation that lost the only node after this number of stages, then finished the cycle of ``p``."""
    simulation = Simulation()
    simulation.execute(commands.Apply((make_node("n").capacity(cpu="8").zone("eu-a").obj(), make_pod("p").obj())))
    for stage in range(11):
        if stage == stages:
            simulation.execute(commands.Delete("Node", "n"))
        simulation.execute(commands.Stage())
    return simulation


@pytest.mark.parametrize("stages", [4, 6], ids=["before the pod is assumed", "after the pod was assumed"])
def test_a_node_lost_in_mid_cycle_stays_as_a_ghost_with_the_pod_bound_to_it(stages: int) -> None:
    world = World.fold(lost_in_mid_cycle(stages).recorder.entries)
    node = world.nodes["n"]
    assert (node.ghost, node.left_us, node.zone) == (True, 0, "eu-a")
    assert [pod.key for pod in world.pods_of("n")] == ["default/p"]
    assert world.existing_nodes() == []


def test_a_pod_created_on_a_node_that_does_not_exist_makes_a_ghost_until_it_is_gone() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((make_pod("lost").node("nowhere").obj(),)))
    node = World.fold(simulation.recorder.entries).nodes["nowhere"]
    assert (node.ghost, node.left_us) == (True, None)
    simulation.execute(commands.Advance(90))
    assert World.fold(simulation.recorder.entries).nodes == {}


def test_a_node_that_is_created_under_a_ghosts_name_takes_its_pods() -> None:
    simulation = lost_in_mid_cycle(6)
    simulation.execute(commands.Apply((make_node("n").obj(),)))
    world = World.fold(simulation.recorder.entries)
    assert (world.nodes["n"].ghost, world.used("n")["pods"], world.departed) == (False, 1, {})


def test_used_is_the_sum_of_what_the_pods_of_a_node_ask_for() -> None:
    story = traces.Story()
    story.add_node(traces.node("n"))
    story.add_pod(traces.pod("a-1", "250m", "1Gi", on="n"))
    story.add_pod(traces.pod("b-1", "1", "512Mi", on="n"))
    assert World.fold(story.entries).used("n") == {"pods": 2, "cpu": 1250, "memory": 3 * traces.GI // 2}


def test_the_cycle_in_focus_is_the_one_that_moved_last_and_another_can_be_asked_for() -> None:
    world = World.fold(traces.web_at_filter().entries)
    assert world.cycle is not None
    assert (world.cycle.pod, world.cycle.attempt) == ("default/web-4", 3)
    past = world.cycle_in_view(1)
    assert past is not None
    assert past.pod == "default/api-3"
    assert world.cycle_in_view(999) is world.cycle


def test_attempts_are_kept_per_pod_with_their_outcomes() -> None:
    world = World.fold(traces.web_at_filter().entries)
    assert [cycle.outcome for cycle in world.attempts["default/web-4"]] == ["unschedulable", "unschedulable", ""]


def test_equal_kubernetes_events_in_a_row_are_counted() -> None:
    story = traces.Story()
    event = ev.EventRecorded("Pod", "default/p", "Warning", "FailedScheduling", "no")
    story.at(1).say(event)
    story.at(2).say(event)
    recorded = World.fold(story.entries).kube_events
    assert [(one.count, one.at_us) for one in recorded] == [(2, 2 * traces.SECOND)]


def test_an_app_is_named_by_its_label_or_by_the_name_without_the_replica() -> None:
    def named(name: str, **labels: str) -> str:
        return app_name(Pod({"metadata": {"name": name, "labels": labels}}))

    assert named("web-7c9f8d6b5-abcde") == "web"
    assert named("web-12") == "web"
    assert named("solo") == "solo"
    assert named("x-1", app="shop") == "shop"


# --- several schedulers ----------------------------------------------------------------------------------------------


def changed(name: str, state: str = "leading", why: str = "became leader", **more: Any) -> ev.ReplicaChanged:
    about = {"schedules": state == "leading", "paused": False, "reachable": True, "own_us": 0, "rate": "1", **more}
    return ev.ReplicaChanged(name, state, why, **about)


def two_schedulers() -> traces.Story:
    """Return a story: both replicas have popped p-1; the first assumes it on node n, the second on node m."""
    story = traces.Story()
    story.say(ev.ReplicasConfigured(("a-1", "a-2"), False, "", "", 0, 0, 0, False))
    for name in ("a-1", "a-2"):
        story.say(changed(name))
    story.say(ev.ObjectAdded("Node", "n", traces.node("n")), ev.ObjectAdded("Node", "m", traces.node("m")))
    story.say(ev.ObjectAdded("Pod", "default/p-1", traces.pod("p-1")))
    for number, (name, node) in enumerate((("a-1", "n"), ("a-2", "m")), 7):
        story.recorder.replica = name
        story.say(ev.CacheNodeChanged(node, "added", number), ev.NodeTreeChanged((("", (node,)),), (node,)))
        story.move("default/p-1", "", "activeQ", "PodAdd")
        story.pop("default/p-1")
        story.cached("default/p-1", node, "assumed")
        story.stage("default/p-1", "Assume", node, "Reserve")
    story.recorder.replica = ""
    return story


def test_each_replica_has_its_own_queue_cache_and_cycle() -> None:
    story = two_schedulers()
    story.recorder.replica = "a-2"
    story.move("default/p-1", "inFlight", "backoffQ", "ScheduleAttemptFailure")
    story.say(ev.CycleFinished(story.cycle, "default/p-1", "error", "", "no"))
    world = World.fold(story.entries)
    observed = {}
    for name in ("a-1", "a-2"):
        world.look_at(name)
        assert world.cycle is not None
        lane, cycle, on = world.queue["default/p-1"].lane, world.cycle.number, world.pods["default/p-1"].assumed_on
        observed[name] = (lane, cycle, on, world.cache.order, [info.name for info in world.cache.recent()])
    assert observed == {"a-1": ("inFlight", 1, "n", ("n",), ["n"]), "a-2": ("backoffQ", 2, "m", ("m",), ["m"])}
    assert [(cycle.number, cycle.replica, cycle.before) for cycle in world.cycles] == [(1, "a-1", 0), (2, "a-2", 0)]
    assert [cycle.requeued is not None for cycle in world.cycles] == [False, True]


def test_a_pod_is_where_the_scheduler_in_focus_assumes_it() -> None:
    world = World.fold(two_schedulers().entries)
    world.look_at("a-1")
    assert (list(world.pods_on["n"]), list(world.pods_on["m"])) == (["default/p-1"], [])
    world.look_at("a-2")
    assert (list(world.pods_on["n"]), list(world.pods_on["m"])) == ([], ["default/p-1"])


def test_the_last_active_replica_is_in_focus_until_another_one_is_chosen() -> None:
    world = World.fold(two_schedulers().entries)
    assert world.scheduler.replica == "a-2"
    world.look_at("a-1")
    assert world.scheduler.replica == "a-1"
    world.look_at("nobody")
    assert world.scheduler.replica == "a-2"


def test_a_stopped_schedulers_assumptions_and_next_actions_are_lost() -> None:
    story = two_schedulers()
    story.say(changed("a-2", "stopped", "killed"))
    world = World.fold(story.entries)
    assert world.scheduler.replica == "a-1"
    assert [(cycle.number, cycle.outcome) for cycle in world.cycles] == [(1, ""), (2, "abandoned")]
    story.say(changed("a-1", "stopped", "killed"))
    world = World.fold(story.entries)
    assert (world.schedulers, world.queue, world.cycle, world.cache.order) == ({}, {}, None, ())
    assert world.pods["default/p-1"].state == "pending"
    assert not world.used("n")["pods"]


def test_a_restarted_scheduler_knows_nothing_of_before() -> None:
    story = two_schedulers()
    story.say(changed("a-2", "stopped", "killed"), changed("a-2", why="restarted"))
    world = World.fold(story.entries)
    world.look_at("a-2")
    assert (world.scheduler.replica, world.queue, world.cycle) == ("a-2", {}, None)


def test_other_replicas_replace_all_schedulers_before() -> None:
    story = two_schedulers()
    story.say(ev.ReplicasConfigured(("b-1",), False, "", "", 0, 0, 0, False), changed("b-1"))
    world = World.fold(story.entries)
    assert list(world.schedulers) == ["b-1"]
    assert [cycle.outcome for cycle in world.cycles] == ["abandoned", "abandoned"]


def test_a_scheduler_that_learns_late_of_a_nodes_end_does_not_end_its_successor() -> None:
    story = two_schedulers()
    story.say(ev.ObjectDeleted("Node", "n"), ev.ObjectAdded("Node", "n", traces.node("n")))
    story.recorder.replica = "a-1"
    story.say(ev.CacheNodeChanged("n", "removed", 9))
    world = World.fold(story.entries)
    assert not world.nodes["n"].ghost


def test_a_fault_belongs_to_one_scheduler_and_a_configuration_ends_it() -> None:
    story = two_schedulers()
    story.recorder.replica = "a-1"
    story.say(ev.FaultSet(3, "default-scheduler", "DefaultBinder", "bind", "error", 0))
    world = World.fold(story.entries)
    assert world.faults == {}
    world.look_at("a-1")
    assert list(world.faults) == [3]
    story.say(ev.Configured({}, ()))
    world = World.fold(story.entries)
    world.look_at("a-1")
    assert world.faults == {}


def test_a_pod_is_not_assumed_where_one_of_its_name_was_before_it() -> None:
    story = two_schedulers()
    story.add_node(traces.node("n"))
    key = story.add_pod(traces.pod("p-1"))
    story.recorder.replica = "a-1"
    story.cached(key, "n", "assumed")
    story.say(ev.ObjectDeleted("Pod", key))
    story.cached(key, "n", "forgotten")
    story.add_pod(traces.pod("p-1", uid="another"))
    world = World.fold(story.entries)
    for name in ("a-2", "a-1"):
        world.look_at(name)
        assert world.pods[key].state == "pending"
        assert not world.pods_on.get("n")
