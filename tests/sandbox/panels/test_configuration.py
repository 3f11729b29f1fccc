"""The configuration panel."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.panels import View, World
from sandbox.panels.configuration.panel import stats
from scheduler_engine import commands
from scheduler_engine.simulation import Simulation
from tests.engine.cluster import node, pod
from tests.engine.expression_plugin import declaring

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def panel(profiles: list[dict[str, Any]] | None = None, **settings: Any) -> dict[str, Any]:
    configuration = HEAD | settings | ({"profiles": profiles} if profiles else {})
    return stats(World.fold(Simulation(configuration=configuration).recorder.entries), View())


def cell(data: dict[str, Any], point: str, profile: int = 0) -> dict[str, Any]:
    cells: list[dict[str, Any]] = next(item for item in data["points"] if item["name"] == point)["cells"]
    return cells[profile]


def names(data: dict[str, Any]) -> list[str]:
    return [plugin["name"] for plugin in data["plugins"]]


def test_by_default_nothing_differs_and_the_plugins_are_in_running_order() -> None:
    data = panel()
    assert data["profiles"] == ["default-scheduler"]
    assert data["differs"] == []
    assert [point["name"] for point in data["points"]][:4] == ["PreEnqueue", "QueueSort", "PreFilter", "Filter"]
    assert names(cell(data, "Filter"))[:3] == ["NodeUnschedulable", "NodeName", "TaintToleration"]
    weights = {plugin["name"]: plugin["weight"] for plugin in cell(data, "Score")["plugins"]}
    assert (weights["TaintToleration"], weights["NodeAffinity"], weights["ImageLocality"]) == (3, 2, 1)
    assert all(not cell(data, point["name"])["off"] for point in data["points"])


def test_a_plugin_that_is_off_is_named_where_it_would_run() -> None:
    data = panel([{"plugins": {"score": {"disabled": [{"name": "ImageLocality"}]}}}])
    assert cell(data, "Score")["off"] == ["ImageLocality"]
    assert "ImageLocality" not in names(cell(data, "Score"))


def test_another_weight_and_another_order_are_marked() -> None:
    plugins = {
        "score": {"enabled": [{"name": "NodeAffinity", "weight": 7}]},
        "filter": {"enabled": [{"name": "NodeResourcesFit"}]},
    }
    data = panel([{"plugins": plugins}])
    affinity = cell(data, "Score")["plugins"][0]
    assert (affinity["name"], affinity["weight"], affinity["other"], affinity["was"]) == ("NodeAffinity", 7, True, 2)
    assert names(cell(data, "Filter"))[0] == "NodeResourcesFit"
    assert cell(data, "Filter")["moved"]
    assert not cell(data, "PreScore")["moved"]


def differs(profiles: list[dict[str, Any]] | None = None, **settings: Any) -> dict[str, list[str]]:
    """Return heading → its sentences."""
    return {part.called: list(part.says) for part in panel(profiles, **settings)["differs"]}


def args(plugin: str, **values: Any) -> dict[str, Any]:
    return {"pluginConfig": [{"name": plugin, "args": values}]}


def sets(**points: Any) -> dict[str, Any]:
    return {"plugins": points}


MINE = "Profile default-scheduler"
ALL = "For all profiles"
OFF = {"name": "ImageLocality"}
SHAPE = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        pytest.param(
            {"percentageOfNodesToScore": 30},
            ["percentageOfNodesToScore is 30; by default it is 0."],
            id="how many nodes are scored",
        ),
        pytest.param(
            {"podInitialBackoffSeconds": 2, "podMaxBackoffSeconds": 20},
            ["podInitialBackoffSeconds is 2; by default it is 1.", "podMaxBackoffSeconds is 20; by default it is 10."],
            id="both backoffs",
        ),
        pytest.param({"parallelism": 4}, ["parallelism is 4; by default it is 16."], id="parallelism"),
        pytest.param(
            {"leaderElection": {"leaderElect": False, "leaseDuration": "30s"}},
            [
                "leaderElection.leaderElect is false; by default it is true.",
                "leaderElection.leaseDuration is 30s; by default it is 15s.",
            ],
            id="leader election",
        ),
        pytest.param(
            {"clientConnection": {"qps": 7}}, ["clientConnection.qps is 7; by default it is 50."], id="a nested setting"
        ),
        pytest.param(
            {"delayCacheUntilActive": True},
            ["delayCacheUntilActive is true; by default it is not set."],
            id="a setting without a default",
        ),
    ],
)
def test_every_setting_that_differs_is_shown_beside_its_default(settings: dict[str, Any], says: list[str]) -> None:
    assert differs(**settings) == {ALL: says}


@pytest.mark.parametrize(
    ("profile", "says"),
    [
        pytest.param(
            sets(score={"disabled": [OFF]}), ["ImageLocality is off."], id="a plugin disabled at its only point"
        ),
        pytest.param(
            sets(multiPoint={"disabled": [OFF]}), ["ImageLocality is off."], id="a plugin disabled by multiPoint"
        ),
        pytest.param(
            sets(score={"disabled": [{"name": "NodeResourcesFit"}]}),
            ["NodeResourcesFit is off at Score."],
            id="a plugin disabled at one point of several",
        ),
        pytest.param(
            sets(preScore={"disabled": [{"name": "*"}]}, score={"disabled": [{"name": "*"}]}),
            [
                "TaintToleration is off at PreScore and Score.",
                "NodeAffinity is off at PreScore and Score.",
                "NodeResourcesFit is off at PreScore and Score.",
                "VolumeBinding is off at PreScore and Score.",
                "PodTopologySpread is off at PreScore and Score.",
                "InterPodAffinity is off at PreScore and Score.",
                "NodeResourcesBalancedAllocation is off.",
                "ImageLocality is off.",
            ],
            id="all plugins disabled at two points",
        ),
        pytest.param(
            sets(multiPoint={"enabled": [{"name": "ImageLocality", "weight": 20}]}),
            ["ImageLocality has weight 20 at Score; by default it is 1."],
            id="a weight by multiPoint",
        ),
        pytest.param(
            sets(score={"enabled": [{"name": "NodeAffinity", "weight": 20}]}),
            [
                "NodeAffinity has weight 20 at Score; by default it is 2.",
                "NodeAffinity runs in a different position at Score.",
            ],
            id="a weight at score, which also moves the plugin to the front",
        ),
        pytest.param(
            sets(multiPoint={"enabled": [{"name": "PodTopologySpread"}]}),
            ["PodTopologySpread has weight 1 at Score; by default it is 2."],
            id="a plugin named without its weight",
        ),
        pytest.param(
            sets(filter={"enabled": [{"name": "NodeResourcesFit"}]}, score={"enabled": [OFF]}),
            [
                "NodeResourcesFit runs in a different position at Filter.",
                "ImageLocality runs in a different position at Score.",
            ],
            id="another order",
        ),
        pytest.param(
            {"percentageOfNodesToScore": 40},
            ["percentageOfNodesToScore is 40; by default it is not set."],
            id="how many nodes this profile scores",
        ),
        pytest.param(
            args("NodeResourcesFit", scoringStrategy={"type": "MostAllocated"}),
            ["NodeResourcesFit.scoringStrategy.type is MostAllocated; by default it is LeastAllocated."],
            id="the scoring strategy",
        ),
        pytest.param(
            args(
                "NodeResourcesFit",
                scoringStrategy={
                    "type": "RequestedToCapacityRatio",
                    "resources": [{"name": "cpu", "weight": 3}],
                    "requestedToCapacityRatio": {"shape": SHAPE},
                },
            ),
            [
                "NodeResourcesFit.scoringStrategy.type is RequestedToCapacityRatio; by default it is LeastAllocated.",
                "NodeResourcesFit.scoringStrategy.resources is [{name: cpu, weight: 3}]; "
                "by default it is [{name: cpu, weight: 1}, {name: memory, weight: 1}].",
                "NodeResourcesFit.scoringStrategy.requestedToCapacityRatio.shape is "
                "[{utilization: 0, score: 0}, {utilization: 100, score: 10}]; by default it is not set.",
            ],
            id="its resources and its shape",
        ),
        pytest.param(
            args("InterPodAffinity", hardPodAffinityWeight=5),
            ["InterPodAffinity.hardPodAffinityWeight is 5; by default it is 1."],
            id="hardPodAffinityWeight",
        ),
        pytest.param(
            args(
                "PodTopologySpread",
                defaultingType="List",
                defaultConstraints=[{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}],
            ),
            [
                "PodTopologySpread.defaultConstraints is "
                "[{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]; by default it is not set.",
                "PodTopologySpread.defaultingType is List; by default it is System.",
            ],
            id="defaultConstraints",
        ),
        pytest.param(
            args(
                "NodeAffinity",
                addedAffinity={
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [{"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}]
                    }
                },
            ),
            [
                "NodeAffinity.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms is "
                "[{matchExpressions: [{key: gpu, operator: Exists}]}]; by default it is not set."
            ],
            id="addedAffinity",
        ),
    ],
)
def test_every_difference_in_a_profile_is_shown(profile: dict[str, Any], says: list[str]) -> None:
    differences = differs([profile])
    assert set(differences) == {MINE}
    assert sorted(differences[MINE]) == sorted(says)


@pytest.mark.parametrize(
    "profile",
    [
        pytest.param(sets(multiPoint={"enabled": [{"name": "NodeAffinity", "weight": 2}]}), id="the default weight"),
        pytest.param(sets(bind={"enabled": [{"name": "DefaultBinder"}]}), id="the only binder, named again"),
        pytest.param(args("InterPodAffinity", hardPodAffinityWeight=1), id="the default argument"),
        pytest.param(args("NodeAffinity", addedAffinity={}), id="an affinity that adds nothing"),
    ],
)
def test_another_spelling_of_the_default_does_not_differ(profile: dict[str, Any]) -> None:
    assert differs([profile]) == {}


def test_a_plugin_that_is_disabled_everywhere_is_listed_once_without_its_arguments() -> None:
    differences = differs([sets(multiPoint={"disabled": [{"name": "DefaultPreemption"}]})])
    assert differences == {MINE: ["DefaultPreemption is off."]}


def test_added_and_renamed_profiles_are_listed() -> None:
    other = "This profile does not exist by default."
    assert differs([{"schedulerName": "default-scheduler"}, {"schedulerName": "packer"}]) == {"Profile packer": [other]}
    assert differs([{"schedulerName": "packer"}]) == {
        ALL: [
            "There is no profile default-scheduler: the scheduler ignores pods that name no scheduler.",
        ],
        "Profile packer": [other],
    }


def test_profiles_are_side_by_side_and_common_settings_are_listed_once() -> None:
    quick = {"schedulerName": "quick", "plugins": {"score": {"disabled": [{"name": "*"}]}}}
    data = panel([{"schedulerName": "default-scheduler"}, quick])
    assert data["profiles"] == ["default-scheduler", "quick"]
    assert cell(data, "Filter", 1)["same"]
    assert not cell(data, "Score", 1)["same"]
    assert "ImageLocality" in cell(data, "Score", 1)["off"]


def test_the_yaml_has_every_default_and_begins_with_its_version_and_kind() -> None:
    text = panel()["yaml"]
    assert text.startswith("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
    assert "podMaxBackoffSeconds: 10" in text
    assert "hardPodAffinityWeight: 1" in text


@pytest.mark.parametrize(
    ("then", "expected"),
    [
        pytest.param([], {"number": 1, "pod": "web", "stage": "Snapshot"}, id="a paused cycle keeps its configuration"),
        pytest.param([commands.PodCycle()], None, id="after it there is no note"),
    ],
)
def test_during_a_paused_cycle_the_page_says_that_a_change_applies_later(then: list[Any], expected: Any) -> None:
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


def test_admission_plugins_are_shown_as_they_are_switched() -> None:
    simulation = Simulation()
    shown = []
    for on in (None, True, True, False):
        if on is not None:
            simulation.execute(commands.Admission("LimitPodHardAntiAffinityTopology", on))
        [row] = stats(World.fold(simulation.recorder.entries), View())["admission"]
        shown.append((row["plugin"], row["enabled"]))
    assert shown == [("LimitPodHardAntiAffinityTopology", on) for on in (False, True, True, False)]


def test_a_text_in_another_script_is_shown_as_it_was_written() -> None:
    [profile] = declaring(filter="true", message="ノード is “full”")["profiles"]
    assert "Own.message is ノード is “full”; by default it is not set." in differs([profile])[MINE]
