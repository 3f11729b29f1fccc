"""One pod, one stage, one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.panels import PANELS, View, World
from sandbox.panels.sentence.panel import stats
from scheduler_engine import commands
from scheduler_engine.scenario import play
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.trace import events as ev
from tests.sandbox import traces
from tests.sandbox.panels.test_world import lost_in_mid_cycle
from tests.sandbox.scenarios import delete, looking_back, panel_html, world_of

SNAPSHOT = (
    "2 of 8 NodeInfos changed since the last cycle, so only node-b1 and node-a1 were cloned; "
    "the walk stopped at node-b3."
)


def until(story: traces.Story, stage: str) -> World:
    """Return the world just after the last event of ``stage``."""
    places = [
        n
        for n, entry in enumerate(story.entries, 1)
        if isinstance(entry.event, ev.StageFinished) and entry.event.stage == stage
    ]
    return World.fold(story.entries[: places[-1]])


@pytest.mark.parametrize(
    ("story", "stage", "words"),
    [
        pytest.param(traces.web_at_filter, "Pop", "it left the queue for attempt 3; the other pods wait.", id="Pop"),
        pytest.param(traces.web_at_filter, "Snapshot", SNAPSHOT, id="Snapshot"),
        pytest.param(
            traces.web_at_filter,
            "PreFilter",
            "10 plugins looked at the pod; 6 have nothing to check and skip Filter.",
            id="PreFilter",
        ),
        pytest.param(
            traces.web_at_filter,
            "Filter",
            "none of 8 nodes fits. 3 can never take it as they are; on 5, evicting pods could change that.",
            id="Filter, nothing fits",
        ),
        pytest.param(
            traces.api_scored,
            "Filter",
            "5 of 8 nodes fit. Refused: 1 for cpu + mem, 1 for cordoned and 1 for dedicated taint.",
            id="Filter",
        ),
        pytest.param(
            traces.payments_preempts,
            "PostFilter",
            "evicting api-2 and batch-7 makes room on node-b1. 5 nodes could do it; node-b1 hurts least.",
            id="PostFilter",
        ),
        pytest.param(
            traces.api_scored,
            "SelectHost",
            "node-b3 wins with 843, 7 ahead of node-c1. One node has the top total, so nothing was drawn.",
            id="Select",
        ),
        pytest.param(
            traces.tied,
            "SelectHost",
            "2 nodes share the top total 480; the seeded draw picked twin-2.",
            id="Select by a draw",
        ),
        pytest.param(traces.three_zones, "PostBind", "it is bound to node-b3; this attempt is over.", id="PostBind"),
    ],
)
def test_each_stage_has_its_plain_sentence(story: object, stage: str, words: str) -> None:
    assert callable(story)
    assert stats(until(story(), stage), View())["text"] == words


def test_the_precise_words_are_kubernetes_own() -> None:
    precise = stats(World.fold(traces.web_at_filter().entries), View())["precise"]
    assert precise.startswith("0/8 nodes are available: 1 Insufficient memory, ")


def test_looking_at_a_past_cycle_is_marked() -> None:
    world = World.fold(traces.web_at_filter().entries)
    panel = stats(looking_back(world, world.by_number[1].last_entry), View())
    assert (panel["past"], panel["name"], panel["when"]) == (True, "api-3", "00:00.5")


def test_an_empty_sandbox_says_what_to_do() -> None:
    panel = stats(World(), View())
    assert (panel["pod"], panel["text"]) == ("", "Nothing is here yet.")
    assert panel["how"].startswith("Add nodes and pods")


def test_before_the_first_step_the_first_pod_of_active_q_is_named() -> None:
    story = traces.Story()
    story.add_pod(traces.pod("low-1"))
    story.add_pod(traces.pod("high-1", priority=5))
    panel = stats(World.fold(story.entries), View())
    assert (panel["text"], panel["how"], panel["next"]) == (
        "2 pods wait in activeQ.",
        "Press Stage to take the first one out.",
        "Pop takes high-1",
    )


def test_a_failed_plugin_is_named() -> None:
    story = traces.tied()
    key = "default/lone"
    story.say(ev.PluginsRan(1, "PreBind", "twin-2", (("VolumeBinding", "Error", ("timed out",)),)))
    story.stage(key, "PreBind", "failed", "")
    assert stats(World.fold(story.entries), View())["text"] == "VolumeBinding failed: timed out."


def test_a_cluster_of_one_node_is_not_counted() -> None:
    big, small = make_pod("big").cpu("64").obj(), make_pod("small").cpu("1").obj()
    simulation = Simulation()
    simulation.execute(commands.Apply((make_node("n1").capacity(cpu="4").obj(), big)))
    said = dict(_said(simulation, 5))
    assert said["Snapshot"] == "the only NodeInfo changed since the last snapshot, so it was cloned."
    never = "it can never take the pod as it is, and evicting pods would not change that."
    assert said["Filter"] == f"the only node does not fit: {never}"
    simulation.execute(commands.Apply((small,)))
    assert dict(_said(simulation, 4))["Filter"] == "the only node fits, so there is nothing to score."


def _said(simulation: Simulation, stages: int) -> Iterator[tuple[str, str]]:
    """Yield each of the next stages and its sentence."""
    for _ in range(stages):
        simulation.execute(commands.Stage())
        panel = stats(world_of(simulation), View())
        yield panel["stage"], str(panel["text"])


def test_an_attempt_without_any_node_says_so_in_every_panel() -> None:
    simulation = Simulation(seed=1)
    shop = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    play(simulation, [{"kind": "apply", "manifests": [shop, make_pod("alone", "shop").obj()]}, {"kind": "pod"}])
    world = world_of(simulation)
    said = stats(world, View())
    assert (said["stage"], said["text"]) == ("Snapshot", "there is no node, so the attempt ends here.")
    assert said["precise"] == "no nodes available to schedule pods"
    ended = "The attempt for shop/alone ended before {}."
    for panel, words in (
        ("filter", "FailedScheduling</span> no nodes available to schedule pods"),
        ("filter", ended.format("Filter")),
        ("scores", ended.format("Score")),
        ("preemption", ended.format("Filter")),
    ):
        assert words in panel_html(panel, world), panel


def _after_a_node_left(*manifests: dict[str, Any]) -> str:
    """Return Snapshot's sentence on the first attempt after n2 was deleted. ``manifests`` existed before that."""
    simulation = Simulation()
    nodes = [make_node(name).capacity(cpu="4").obj() for name in ("n1", "n2")]
    simulation.execute(commands.Apply((*nodes, *manifests, make_pod("too-large").cpu("64").obj())))
    simulation.execute(commands.Settle())
    simulation.execute(commands.Delete("Node", "n2"))
    if manifests:
        simulation.execute(commands.Delete("Pod", "default/there-2"))
    simulation.execute(commands.Apply((make_pod("next").cpu("1").obj(),)))
    while world_of(simulation).cycle.pod != "default/next":
        simulation.execute(commands.Stage())
    return dict(_said(simulation, 1))["Snapshot"]


def test_a_node_that_left_is_named_though_no_node_info_was_cloned() -> None:
    assert _after_a_node_left() == (
        "no NodeInfo of a node changed since the last cycle, so none was cloned. "
        "The snapshot dropped its copy of n2, because the node has left."
    )


def test_a_deleted_node_that_still_has_pods_is_dropped_once() -> None:
    pods = [make_pod(f"there-{number}").node("n2").spec(terminationGracePeriodSeconds=30).obj() for number in (1, 2)]
    assert _after_a_node_left(*pods).endswith("The snapshot dropped its copy of n2, because the node has left.")


def test_a_change_of_a_ghost_is_not_called_nothing() -> None:
    simulation = Simulation()
    nodes = [make_node(name).capacity(cpu="4").obj() for name in ("n1", "n2")]
    pods = [make_pod(f"there-{number}").node("n2").spec(terminationGracePeriodSeconds=30).obj() for number in (1, 2)]
    simulation.execute(commands.Apply((*nodes, *pods)))
    simulation.execute(commands.Delete("Node", "n2"))
    for name in ("first", "second"):
        simulation.execute(commands.Apply((make_pod(name).cpu("64").obj(),)))
        if name == "second":
            simulation.execute(commands.Delete("Pod", "default/there-2"))
        while (cycle := world_of(simulation).cycle) is None or cycle.pod != f"default/{name}":
            simulation.execute(commands.Stage())
        said = dict(_said(simulation, 1))["Snapshot"]
        simulation.execute(commands.Settle())
    assert said == (
        "no NodeInfo of a node changed since the last cycle, so none was cloned. "
        "The change of n2 was passed over, because the node does not exist."
    )
    note = PANELS["cache"].stats(world_of(simulation), View())["note"]
    assert note == "UpdateSnapshot copied nothing: the only newer NodeInfos belong to nodes that do not exist (n2)."


def test_the_only_node_of_a_cluster_is_called_so() -> None:
    simulation = Simulation(seed=1)
    manifests = [make_node("n1").obj(), make_pod("p").obj()]
    play(simulation, [{"kind": "apply", "manifests": manifests}, {"kind": "pod"}])
    assert "There was no other node." in panel_html("inspector", world_of(simulation), pod="default/p")


def test_an_attempt_that_ended_by_an_error_is_not_said_to_go_on() -> None:
    simulation = Simulation(seed=1)
    nodes = [make_node(name).obj() for name in ("n1", "n2")]
    fault = {"kind": "fault", "plugin": "NodeResourcesFit", "point": "preScore"}
    play(simulation, [{"kind": "apply", "manifests": [*nodes, make_pod("p").cpu("1").obj()]}, fault, {"kind": "pod"}])
    assert "The attempt for p ended before Score." in panel_html("scores", world_of(simulation))


def test_a_pod_bound_to_a_node_that_is_gone_does_not_run() -> None:
    world = World.fold(lost_in_mid_cycle(6).recorder.entries)
    assert stats(world, View())["after"].startswith("No kubelet runs it, because its node does not exist.")


@pytest.mark.parametrize(
    ("cpu", "stages"), [pytest.param("1", stages, id=f"{stages} stages") for stages in (1, 3, 5, 7, 9)] + [("9", 3)]
)
def test_a_pod_deleted_during_its_attempt_did_not_go_back_to_the_queue(cpu: str, stages: int) -> None:
    """It is deleted after these stages of an attempt that binds it, or does not."""
    simulation = Simulation(seed=1)
    manifests = [make_node("n1").capacity(cpu="4", pods="9").obj(), make_pod("p").cpu(cpu).obj()]
    stage = {"kind": "stage"}
    play(simulation, [{"kind": "apply", "manifests": manifests}, *[stage] * stages, delete("Pod", "p")])
    while not ((world := world_of(simulation)).cycle and world.cycle.outcome):
        simulation.execute(commands.Stage())
    assert not any(world.lane(name) for name in ("activeQ", "backoffQ", "unschedulable"))
    assert stats(world, View())["after"] == "This pod was deleted. Nothing waits in activeQ."


def test_a_pod_that_the_other_replica_bound_did_not_go_back_to_the_queue() -> None:
    simulation = Simulation(seed=1)
    manifests = [make_node("n1").capacity(cpu="4", pods="9").obj(), make_pod("p").cpu("3").obj()]
    stage = {"kind": "stage"}
    two = {"kind": "replicas", "count": 2, "leader_elect": False}
    pause, resume = ({"kind": "replica", "replica": "kube-scheduler-2", "action": what} for what in ("pause", "resume"))
    play(simulation, [{"kind": "apply", "manifests": manifests}, two, stage, stage, pause, {"kind": "pod"}, resume])
    play(simulation, [stage] * 4)
    world = world_of(simulation)
    assert world.cycle
    assert (world.cycle.replica, world.cycle.outcome) == ("kube-scheduler-2", "unschedulable")
    assert stats(world, View())["after"] == "It runs. Nothing waits in activeQ."
