"""The World: what is folded from the trace."""

from __future__ import annotations

from sandbox.panels import World
from sandbox.panels.world import app_name
from scheduler_engine.api.objects import Pod
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
    story.say(ev.CachePodChanged(key, "n", "assumed"))
    world = World.fold(story.entries)
    assert (world.pods[key].state, list(world.pods_on["n"])) == ("assumed", [key])
    bound = traces.pod("p-1", on="n")
    story.say(ev.ObjectModified("Pod", key, bound), ev.CachePodChanged(key, "n", "confirmed"))
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
    story.say(ev.CachePodChanged(key, "n", "assumed"), ev.CachePodChanged(key, "n", "forgotten"))
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


def test_an_app_is_told_by_its_label_or_by_the_name_without_the_replica() -> None:
    def named(name: str, **labels: str) -> str:
        return app_name(Pod({"metadata": {"name": name, "labels": labels}}))

    assert named("web-7c9f8d6b5-abcde") == "web"
    assert named("web-12") == "web"
    assert named("solo") == "solo"
    assert named("x-1", app="shop") == "shop"
