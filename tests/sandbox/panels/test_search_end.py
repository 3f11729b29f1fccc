"""What the panels say of an attempt without scores, without preemption or without a table: why the search ended."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.panels import PANELS, View
from sandbox.panels.facts.search_end import search_end
from sandbox.panels.model.world import World
from scheduler_engine import commands
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod, make_priority_class
from tests.sandbox.scenarios import panel_html, world_of


def configuration(**plugins: Any) -> dict[str, Any]:
    profile = {"schedulerName": "default-scheduler", "plugins": plugins}
    kind = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return {**kind, "profiles": [profile]}


def without(point: str, plugin: str = "*") -> dict[str, Any]:
    return configuration(**{point: {"disabled": [{"name": plugin}]}})


def world_after(
    stages: int, *objects: Any, of: dict[str, Any] | None = None, faults: tuple[commands.Fault, ...] = ()
) -> World:
    """Return the world after some stages of the attempt for the only pod without a node."""
    simulation = Simulation(configuration=of) if of else Simulation()
    for fault in faults:
        simulation.execute(fault)
    simulation.execute(commands.Apply(tuple(item.obj() if hasattr(item, "obj") else item for item in objects)))
    for _ in range(stages):
        simulation.execute(commands.Stage())
    return world_of(simulation)


def said(world: World) -> dict[str, str]:
    """Return what the panels say of the attempt: the sentence, what is next, and why there is nothing to show."""
    sentence = PANELS["sentence"].stats(world, View())
    preemption = PANELS["preemption"].stats(world, View())
    ribbon = {stop["name"]: stop["note"] for stop in PANELS["ribbon"].stats(world, View())["stages"]}
    return {
        "sentence": sentence["text"],
        "next": sentence["next"],
        "scores": PANELS["scores"].stats(world, View()).get("empty", ""),
        "preemption": preemption.get("empty") or preemption["summary"],
        "ribbon": ribbon["PostFilter"],
    }


FULL = (make_node("n1"), make_pod("low").cpu("3").node("n1"), make_pod("vip").cpu("3").priority(9))
THREE = tuple(make_node(f"n{number}") for number in (1, 2, 3))
SMALL = (make_node("n1").capacity(cpu="1"), make_node("n2"), make_node("n3"))
NARROWED = {
    "requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]}]
    }
}
FILTER_ERROR = commands.Fault("NodeResourcesFit", "filter", "error")
MAKE_ROOM = "PostFilter asks its plugins to make room"


@pytest.mark.parametrize(
    ("world", "end", "words"),
    [
        pytest.param(
            lambda: world_after(5, *FULL, of=without("postFilter", "DefaultPreemption")),
            "all",
            {
                "sentence": "nobody tried whether evicting pods makes room; "
                "DynamicResources says: no new claims to deallocate.",
                "preemption": "Nobody tried whether evicting pods makes room. "
                "DynamicResources says: no new claims to deallocate.",
                "ribbon": "no dry run",
            },
            id="PostFilter without preemption",
        ),
        pytest.param(
            lambda: world_after(4, *FULL, of=without("postFilter")),
            "all",
            {
                "sentence": "the only node does not fit, but evicting pods could change that. "
                "No PostFilter plugin is enabled, so nobody looks for room.",
                "preemption": "No node fits vip. No PostFilter plugin is enabled, so nobody looked for room.",
            },
            id="no PostFilter plugin",
        ),
        pytest.param(
            lambda: world_after(5, *FULL, faults=(commands.Fault("DefaultPreemption", "postFilter", "deny"),)),
            "all",
            {
                "sentence": "nobody tried whether evicting pods makes room; DefaultPreemption says: injected denial.",
                "ribbon": "no dry run",
            },
            id="a denial in place of preemption",
        ),
        pytest.param(
            lambda: world_after(5, *FULL, faults=(commands.Fault("DynamicResources", "postFilter", "error"),)),
            "all",
            {
                "sentence": "DynamicResources failed, so nobody looked for room: injected error.",
                "preemption": "DynamicResources failed, so nobody looked for room: injected error.",
                "ribbon": "DynamicResources failed",
            },
            id="an error before preemption",
        ),
        pytest.param(
            lambda: world_after(5, make_node("n1"), make_pod("vip").cpu("64")),
            "all",
            {"sentence": "no eviction would make room anywhere.", "ribbon": "cannot help"},
            id="preemption knows without a dry run",
        ),
        pytest.param(
            lambda: world_after(4, *THREE, make_pod("vip").cpu("1").nominated("n2")),
            "nominated",
            {
                "scores": "n2 is nominated and fits vip: no other node was visited, so it is not scored.",
                "preemption": "Not needed: the nominated node n2 can take vip as the cluster is. No other was visited.",
                "next": "Select takes the node that fits",
            },
            id="the nominated node fits",
        ),
        pytest.param(
            lambda: world_after(4, *SMALL, make_pod("vip").cpu("2"), of=without("score")),
            "enough",
            {
                "sentence": "n2 is the first node that fits, and one is enough, so there is nothing to score.",
                "scores": "n2 is the first node that fits vip. One is enough, so it is not scored.",
                "preemption": "Not needed: n2 can take vip as the cluster is, and one node is enough.",
                "next": "Select takes the node that fits",
            },
            id="one node is enough",
        ),
        pytest.param(
            lambda: world_after(4, *SMALL[:2], make_pod("vip").cpu("2")),
            "all",
            {
                "sentence": "only n2 of 2 nodes fits, so there is nothing to score.",
                "scores": "Only n2 fits vip: with one node left there is nothing to compare, so it is not scored.",
                "preemption": "Not needed: 1 node can take vip as the cluster is.",
                "next": "Select takes the node that fits",
            },
            id="only one fits",
        ),
        pytest.param(
            lambda: world_after(3, *THREE, make_pod("vip").claim("nope")),
            "refused",
            {
                "next": MAKE_ROOM,
                "scores": "PreFilter left no node for vip, so there is nothing to score.",
                "preemption": "PreFilter left no node for vip. "
                "PostFilter comes next: it asks its plugins to make room.",
            },
            id="PreFilter refuses",
        ),
        pytest.param(
            lambda: world_after(3, *THREE, make_pod("vip").claim("nope"), of=without("postFilter")),
            "refused",
            {
                "scores": "PreFilter left no node for vip, so there is nothing to score.",
                "preemption": "PreFilter left no node for vip. "
                "No PostFilter plugin is enabled, so nobody looked for room.",
            },
            id="PreFilter refuses, no PostFilter plugin",
        ),
        pytest.param(
            lambda: world_after(
                3, *THREE, make_pod("vip"), faults=(commands.Fault("NodeAffinity", "preFilter", "error"),)
            ),
            "stopped",
            {
                "sentence": "NodeAffinity failed: injected error.",
                "scores": "The attempt for vip ended before Score.",
                "preemption": "The attempt for vip ended before Filter. Preemption is tried when no node fits.",
            },
            id="an error in PreFilter",
        ),
        pytest.param(
            lambda: world_after(4, *THREE, make_pod("vip").cpu("1"), faults=(FILTER_ERROR,)),
            "failed",
            {
                "sentence": 'an error ended the search: running "NodeResourcesFit" filter plugin: injected error.',
                "scores": "The attempt for vip ended before Score.",
                "preemption": "The attempt for vip ended with an error in Filter. "
                "Preemption is tried when no node fits.",
            },
            id="an error in Filter",
        ),
        pytest.param(
            lambda: world_after(2, *THREE, make_pod("vip")),
            "",
            {
                "scores": "vip has not reached Score yet.",
                "preemption": "vip has not reached Filter yet. Preemption is tried when no node fits.",
            },
            id="not yet",
        ),
        pytest.param(
            lambda: world_after(
                4,
                make_priority_class("polite", 100, "Never"),
                *FULL[:2],
                make_pod("vip").cpu("3").priority_class("polite"),
            ),
            "all",
            {"sentence": "the only node does not fit, but evicting pods could change that.", "next": MAKE_ROOM},
            id="the policy is Never, at Filter",
        ),
        pytest.param(
            lambda: world_after(
                5,
                make_priority_class("polite", 100, "Never"),
                *FULL[:2],
                make_pod("vip").cpu("3").priority_class("polite"),
            ),
            "all",
            {"ribbon": "may not preempt"},
            id="the policy is Never, at PostFilter",
        ),
    ],
)
def test_the_panels_agree_on_why_the_search_ended(world: Any, end: str, words: dict[str, str]) -> None:
    shown = world()
    assert {key: text for key, text in said(shown).items() if key in words} == words
    assert shown.cycle is not None
    assert search_end(shown.cycle) == end


@pytest.mark.parametrize(
    ("fault", "stages", "words"),
    [
        (commands.Fault("TaintToleration", "preScore", "error"), 5, "TaintToleration failed: injected error."),
        (commands.Fault("TaintToleration", "score", "error"), 6, "no node got a raw score: "),
        (commands.Fault("VolumeBinding", "reserve", "error"), 10, "VolumeBinding failed: injected error. Unreserve"),
    ],
    ids=["PreScore", "Score", "Reserve"],
)
def test_an_error_is_not_said_to_be_a_no_or_a_success(fault: commands.Fault, stages: int, words: str) -> None:
    assert said(world_after(stages, *THREE, make_pod("vip"), faults=(fault,)))["sentence"].startswith(words)


def test_the_filter_panel_says_that_an_error_ended_the_search() -> None:
    no_pre_filter = without("preFilter")
    world = world_after(4, *THREE, make_pod("vip").cpu("1"), of=no_pre_filter, faults=(FILTER_ERROR,))
    assert PANELS["filter"].stats(world, View())["empty"] == "An error in Filter ended the attempt for vip."


def test_a_plugin_that_fails_at_pre_filter_does_not_say_no() -> None:
    fault = commands.Fault("NodeAffinity", "preFilter", "error")
    shown = panel_html("filter", world_after(3, *THREE, make_pod("vip"), faults=(fault,)))
    assert "failed at PreFilter: injected error." in shown
    assert "said no" not in shown


def test_a_search_of_no_node_divides_by_none() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((*(node.obj() for node in SMALL), make_pod("first").cpu("1").obj())))
    simulation.execute(commands.Fault("NodeResourcesFit", "filter", "deny"))
    pinned = make_pod("pinned").obj()
    pinned["spec"]["affinity"] = {"nodeAffinity": NARROWED}
    one = make_pod("one").obj()
    one["spec"]["affinity"] = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]
            }
        }
    }
    simulation.execute(commands.PodCycle())
    simulation.execute(commands.Apply((one,)))
    simulation.execute(commands.PodCycle())
    simulation.execute(commands.Apply((pinned,)))
    for _ in range(4):
        simulation.execute(commands.Stage())
    world = world_of(simulation)
    assert world.cycle is not None
    assert world.cycle.filter is not None
    assert (world.cycle.filter.searched, world.cycle.filter.start_index) == (0, 1)
    lines = {line.label: line.formula for line in PANELS["filter"].stats(world, View())["sums"]}
    assert lines["Start index"] == "1"
    assert lines["Next start index"] == "(1 + 0 + 0) mod 3 = 1"
