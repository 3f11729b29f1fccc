"""The configuration panel."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.panels import View, World
from sandbox.panels.configuration import stats
from scheduler_engine import commands
from scheduler_engine.simulation import Simulation
from tests.engine.cluster import node, pod

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def panel(profiles: list[dict[str, Any]] | None = None, **settings: Any) -> dict[str, Any]:
    configuration = HEAD | settings | ({"profiles": profiles} if profiles else {})
    return stats(World.fold(Simulation(configuration=configuration).recorder.entries), View())


def cell(found: dict[str, Any], point: str, profile: int = 0) -> dict[str, Any]:
    cells: list[dict[str, Any]] = next(item for item in found["points"] if item["name"] == point)["cells"]
    return cells[profile]


def names(made: dict[str, Any]) -> list[str]:
    return [plugin["name"] for plugin in made["plugins"]]


def test_by_default_nothing_differs_and_the_plugins_stand_in_running_order() -> None:
    found = panel()
    assert found["profiles"] == ["default-scheduler"]
    assert found["differs"] == []
    assert [point["name"] for point in found["points"]][:4] == ["PreEnqueue", "QueueSort", "PreFilter", "Filter"]
    assert names(cell(found, "Filter"))[:3] == ["NodeUnschedulable", "NodeName", "TaintToleration"]
    weights = {plugin["name"]: plugin["weight"] for plugin in cell(found, "Score")["plugins"]}
    assert (weights["TaintToleration"], weights["NodeAffinity"], weights["ImageLocality"]) == (3, 2, 1)
    assert all(not cell(found, point["name"])["off"] for point in found["points"])


def test_a_plugin_that_is_off_is_named_where_it_would_run() -> None:
    found = panel([{"plugins": {"score": {"disabled": [{"name": "ImageLocality"}]}}}])
    assert cell(found, "Score")["off"] == ["ImageLocality"]
    assert "ImageLocality" not in names(cell(found, "Score"))


def test_another_weight_and_another_order_are_marked() -> None:
    plugins = {
        "score": {"enabled": [{"name": "NodeAffinity", "weight": 7}]},
        "filter": {"enabled": [{"name": "NodeResourcesFit"}]},
    }
    found = panel([{"plugins": plugins}])
    affinity = cell(found, "Score")["plugins"][0]
    assert (affinity["name"], affinity["weight"], affinity["other"], affinity["was"]) == ("NodeAffinity", 7, True, 2)
    assert names(cell(found, "Filter"))[0] == "NodeResourcesFit"
    assert cell(found, "Filter")["moved"]
    assert not cell(found, "PreScore")["moved"]


def test_arguments_and_settings_that_differ_are_told_beside_the_default() -> None:
    args = {"scoringStrategy": {"type": "MostAllocated"}}
    found = panel(
        [{"schedulerName": "packer", "pluginConfig": [{"name": "NodeResourcesFit", "args": args}]}],
        percentageOfNodesToScore=30,
    )
    assert {(item["profile"], item["path"], item["new"], item["old"]) for item in found["differs"]} == {
        ("", "percentageOfNodesToScore", "30", "0"),
        ("packer", "NodeResourcesFit.scoringStrategy.type", "MostAllocated", "LeastAllocated"),
    }


def test_profiles_stand_side_by_side_and_what_is_equal_is_said_once() -> None:
    quick = {"schedulerName": "quick", "plugins": {"score": {"disabled": [{"name": "*"}]}}}
    found = panel([{"schedulerName": "default-scheduler"}, quick])
    assert found["profiles"] == ["default-scheduler", "quick"]
    assert cell(found, "Filter", 1)["same"]
    assert not cell(found, "Score", 1)["same"]
    assert "ImageLocality" in cell(found, "Score", 1)["off"]


def test_the_yaml_has_every_default_and_begins_with_its_version_and_kind() -> None:
    text = panel()["yaml"]
    assert text.startswith("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
    assert "podMaxBackoffSeconds: 10" in text
    assert "hardPodAffinityWeight: 1" in text


@pytest.mark.parametrize(
    ("then", "expected"),
    [
        pytest.param([], {"number": 1, "pod": "web", "stage": "Snapshot"}, id="a cycle that stands keeps its own"),
        pytest.param([commands.PodCycle()], None, id="once it is over there is nothing to say"),
    ],
)
def test_while_a_cycle_stands_the_page_says_that_a_change_counts_later(then: list[Any], expected: Any) -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((node("n1"), node("n2"), pod("web"))))
    simulation.execute(commands.Stage())
    simulation.execute(commands.Stage())
    assert stats(World.fold(simulation.recorder.entries), View())["standing"] is None
    simulation.execute(commands.Configure(HEAD | {"percentageOfNodesToScore": 100}))
    for command in then:
        simulation.execute(command)
    assert stats(World.fold(simulation.recorder.entries), View())["standing"] == expected


def test_a_trace_without_a_configuration_says_so() -> None:
    assert stats(World(), View()) == {"has": False}
