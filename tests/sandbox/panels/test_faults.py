"""Faults: the pending ones, who set them, their effects, and what can be broken."""

from __future__ import annotations

import pytest

from sandbox.panels import View, World
from sandbox.panels.bindings import stats as bindings
from sandbox.panels.faults import choices, stats
from sandbox.panels.ribbon import stats as ribbon
from sandbox.panels.sentence.panel import stats as sentence
from scheduler_engine import commands
from scheduler_engine.framework.faults import ANSWERS
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from tests.sandbox.panels.test_bindings import cluster
from tests.sandbox.scenarios import panel_html, world_of

REFUSED = commands.Fault("DefaultBinder", "bind")


def texts(world: World) -> list[str]:
    return [fault["text"] for fault in stats(world, View())["faults"]]


def test_a_pending_fault_names_its_author_until_it_strikes() -> None:
    simulation = cluster(REFUSED)
    world = world_of(simulation)
    world.people = {2: "Ada"}
    (fault,) = stats(world, View())["faults"]
    assert (fault["text"], fault["number"]) == ("Next call of DefaultBinder at Bind: fails with an error", 2)
    assert fault["who"] == "Ada"
    simulation.execute(commands.PodCycle())
    assert texts(world_of(simulation)) == []


def test_a_delay_says_what_it_holds_up_and_for_how_long() -> None:
    simulation = cluster(commands.Fault("DefaultBinder", "bind", "wait", 5))
    simulation.execute(commands.Settle())
    simulation.execute(commands.Advance(2))
    (fault,) = stats(world_of(simulation), View())["faults"]
    assert fault["held"] == "holds web-1 up, 3 s left"
    simulation.execute(commands.Advance(3))
    assert texts(world_of(simulation)) == []


def test_another_configuration_comes_without_faults() -> None:
    simulation = cluster(REFUSED)
    simulation.execute(commands.Configure())
    assert texts(world_of(simulation)) == []


def test_a_failed_bind_shows_its_undo_in_order() -> None:
    simulation = cluster(REFUSED)
    simulation.execute(commands.PodCycle())
    world = world_of(simulation)
    stops = [(stop["name"], stop["note"]) for stop in ribbon(world, View())["stages"]]
    assert stops[-4:] == [
        ("Bind", "DefaultBinder failed"),
        ("Unreserve", "DynamicResources, VolumeBinding"),
        ("ForgetPod", "n1"),
        ("Requeue", "errorBackoffQ"),
    ]
    assert sentence(world, View())["text"] == (
        "DefaultBinder failed: injected error. Unreserve runs in reverse order (DynamicResources and "
        "VolumeBinding), ForgetPod takes it off n1, and it returns to errorBackoffQ."
    )


def test_a_denial_before_the_binding_cycle_is_undone_too() -> None:
    simulation = cluster(commands.Fault("VolumeBinding", "reserve", "deny"))
    simulation.execute(commands.PodCycle())
    stops = [stop["name"] for stop in ribbon(world_of(simulation), View())["stages"]]
    assert stops[-4:] == ["Reserve", "Unreserve", "ForgetPod", "Requeue"]


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (commands.Fault("NodeName", "postBind"), "it is bound to n1, although NodeName failed: injected error."),
        (
            commands.Fault("TaintToleration", "normalizeScore"),
            "no node got a total: running Normalize on Score plugins: "
            'plugin "TaintToleration" failed with: injected error.',
        ),
        (
            commands.Fault("DefaultPreemption", "postFilter"),
            "DefaultPreemption failed, so nobody looked for room: injected error.",
        ),
    ],
    ids=["after the bind", "while scores are normalized", "during PostFilter"],
)
def test_a_fault_is_in_the_sentence_of_its_stage(fault: commands.Fault, text: str) -> None:
    simulation = Simulation()
    nodes = [make_node("n1").obj()] + ([make_node("n2").obj()] if fault.point == "normalizeScore" else [])
    cpu = "5" if fault.point == "postFilter" else "1"
    for command in (commands.Apply((*nodes, make_pod("web").cpu(cpu).obj())), fault, commands.PodCycle()):
        simulation.execute(command)
    assert sentence(world_of(simulation), View())["text"] == text


def test_a_wait_on_permit_that_times_out_says_so() -> None:
    simulation = cluster(commands.Fault("NodeResourcesFit", "permit", "wait", 15))
    simulation.execute(commands.Settle())
    simulation.execute(commands.Advance(15))
    text = sentence(world_of(simulation), View(cycle=1))["text"]
    assert text.startswith("nobody allowed it in time, so it is rejected. Unreserve runs in reverse")


@pytest.mark.parametrize(
    ("before", "text"),
    [
        (
            (commands.Apply((make_pod("vip").cpu("2").priority(9).obj(),)), *[commands.Stage()] * 5),
            "a pod with higher priority preempted it while it waited, so it is rejected. Unreserve runs in reverse",
        ),
        (
            (commands.Delete("Pod", "default/web"),),
            "it was deleted while it waited, so it is rejected. Unreserve runs in reverse",
        ),
    ],
    ids=["preempted", "deleted"],
)
def test_a_wait_on_permit_that_ends_before_its_timeout_says_why(
    before: tuple[commands.Command, ...], text: str
) -> None:
    simulation = Simulation(priority_numbers=True)
    node, pod = make_node("n1").capacity(cpu="2").obj(), make_pod("web").cpu("1").obj()
    fault = commands.Fault("NodeResourcesFit", "permit", "wait", 60)
    for command in (commands.Apply((node, pod)), fault, commands.Settle(), *before):
        simulation.execute(command)
    (row,) = bindings(world_of(simulation), View())["rows"]
    assert (row["text"], row["waits"]) == ("rejected: WaitOnPermit is next", False)
    simulation.execute(commands.Stage())
    assert sentence(world_of(simulation), View(cycle=1))["text"].startswith(text)


def test_every_choice_of_the_form_is_one_that_the_engine_takes() -> None:
    world = world_of(Simulation())
    for point in ANSWERS:
        offered = choices(world, point, "")
        assert offered["point"] == point
        for plugin in offered["plugins"]:
            for answer, _ in offered["answers"]:
                Simulation().execute(commands.Fault(plugin, point, answer, 5, offered["profile"]))
        assert offered["plugins"]
        assert point in dict(offered["points"])


def test_only_plugins_that_normalize_are_offered_at_normalize_score() -> None:
    offered = choices(world_of(Simulation()), "normalizeScore", "")
    assert offered["plugins"] == ["TaintToleration", "NodeAffinity", "PodTopologySpread", "InterPodAffinity"]


def test_unknown_choices_become_the_most_wanted_ones() -> None:
    offered = choices(world_of(Simulation()), "queueSort", "nobody")
    assert (offered["point"], offered["profile"], offered["plugins"]) == (
        "bind",
        "default-scheduler",
        ["DefaultBinder"],
    )


def test_a_watcher_cannot_break_anything() -> None:
    world = world_of(cluster(REFUSED))
    assert ["Break something" in panel_html("faults", world, can_edit) for can_edit in (True, False)] == [True, False]
