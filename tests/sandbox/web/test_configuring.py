"""Each control of the configuration makes its change in a manifest, and no other."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import yaml

from sandbox.web.configuring.controls import controls
from sandbox.web.configuring.edits import edit as edit_under
from sandbox.web.configuring.edits import usual
from sandbox.web.presets.configurations import PRESETS
from sandbox.web.presets.preset import Preset
from sandbox.words.yaml_text import written
from scheduler_engine.config import Configuration, load_configuration
from scheduler_engine.errors import Rejected
from scheduler_engine.versions import DEFAULT_RULES

edit = partial(edit_under, rules=DEFAULT_RULES)
USUAL_POINTS = usual(DEFAULT_RULES).points
HEAD: dict[str, Any] = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
NAME = {"schedulerName": "default-scheduler"}
AFFINITY = {"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": 5}}
ALL_OFF = {"disabled": [{"name": "*"}]}
PACKED = {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated"}}}
RATIO = {
    "type": "RequestedToCapacityRatio",
    "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]},
}


def one(**profile: Any) -> dict[str, Any]:
    """Return a configuration with one profile."""
    return HEAD | {"profiles": [NAME | profile]}


def sets(**points: Any) -> dict[str, Any]:
    return one(plugins=points)


def strategy(**values: Any) -> dict[str, Any]:
    return one(pluginConfig=[{"name": "NodeResourcesFit", "args": {"scoringStrategy": values}}])


def enabled(name: str, weight: int) -> dict[str, Any]:
    return {"enabled": [{"name": name, "weight": weight}]}


def point(utilization: int, score: int) -> dict[str, int]:
    return {"utilization": utilization, "score": score}


def ratio(*points: dict[str, int]) -> dict[str, Any]:
    return strategy(**RATIO | {"requestedToCapacityRatio": {"shape": list(points)}})


@pytest.mark.parametrize(
    ("before", "control", "value", "after"),
    [
        pytest.param(
            one(), "percentageOfNodesToScore", "30", one() | {"percentageOfNodesToScore": 30}, id="add a setting"
        ),
        pytest.param(
            one() | {"podMaxBackoffSeconds": 20}, "podMaxBackoffSeconds", "", one(), id="remove an empty setting"
        ),
        pytest.param(
            one(), "profile-percentage", "40", one(percentageOfNodesToScore=40), id="the percentage of a profile"
        ),
        pytest.param(
            one(),
            "plugin:ImageLocality",
            "",
            sets(multiPoint={"disabled": [{"name": "ImageLocality"}]}),
            id="disable a plugin",
        ),
        pytest.param(
            sets(multiPoint={"disabled": [{"name": "ImageLocality"}]}),
            "plugin:ImageLocality",
            "1",
            one(),
            id="and enable it",
        ),
        pytest.param(
            sets(score=enabled("NodeAffinity", 7), multiPoint=enabled("ImageLocality", 3)),
            "plugin:NodeAffinity",
            "",
            sets(multiPoint=enabled("ImageLocality", 3) | {"disabled": [{"name": "NodeAffinity"}]}),
            id="disable a plugin named at a point",
        ),
        pytest.param(
            sets(score={"disabled": [{"name": "NodeAffinity"}, {"name": "ImageLocality"}]}),
            "plugin:NodeAffinity",
            "1",
            sets(score={"disabled": [{"name": "ImageLocality"}]}),
            id="enable a plugin again at one point",
        ),
        pytest.param(
            sets(score=ALL_OFF),
            "plugin:NodeAffinity",
            "1",
            sets(score=ALL_OFF | enabled("NodeAffinity", 2)),
            id="enable a plugin where all are disabled, with its default weight",
        ),
        pytest.param(
            one(),
            "weight:ImageLocality",
            "5",
            sets(multiPoint=enabled("ImageLocality", 5)),
            id="set a weight, keep the order",
        ),
        pytest.param(
            sets(score=enabled("ImageLocality", 2)),
            "weight:ImageLocality",
            "5",
            sets(score=enabled("ImageLocality", 5)),
            id="set a weight at score, where it wins",
        ),
        pytest.param(
            sets(multiPoint=enabled("ImageLocality", 5)),
            "weight:ImageLocality",
            "",
            one(),
            id="remove a weight: the default",
        ),
        pytest.param(
            sets(multiPoint=enabled("NodeAffinity", 5)),
            "weight:NodeAffinity",
            "2",
            one(),
            id="the default weight typed",
        ),
        pytest.param(
            sets(score=ALL_OFF | enabled("NodeAffinity", 5)),
            "weight:NodeAffinity",
            "",
            sets(score=ALL_OFF | enabled("NodeAffinity", 2)),
            id="the default weight is written where none would count 1",
        ),
        pytest.param(one(), "strategy", "MostAllocated", one(pluginConfig=[PACKED]), id="bin packing"),
        pytest.param(one(pluginConfig=[PACKED]), "strategy", "LeastAllocated", one(), id="spreading again"),
        pytest.param(one(), "strategy", "RequestedToCapacityRatio", strategy(**RATIO), id="start a shape"),
        pytest.param(
            strategy(**RATIO),
            "strategy",
            "MostAllocated",
            strategy(type="MostAllocated"),
            id="remove an unused shape",
        ),
        pytest.param(
            one(),
            "resource-weight:0",
            "3",
            strategy(type="LeastAllocated", resources=[{"name": "cpu", "weight": 3}, {"name": "memory", "weight": 1}]),
            id="the weight of a resource",
        ),
        pytest.param(
            one(),
            "resource-name:1",
            "gpu",
            strategy(type="LeastAllocated", resources=[{"name": "cpu", "weight": 1}, {"name": "gpu", "weight": 1}]),
            id="the name of a resource",
        ),
        pytest.param(
            one(),
            "remove-resource:1",
            "1",
            strategy(type="LeastAllocated", resources=[{"name": "cpu", "weight": 1}]),
            id="remove a resource",
        ),
        pytest.param(
            strategy(type="LeastAllocated", resources=[{"name": "cpu", "weight": 1}]),
            "add-resource",
            "memory",
            one(),
            id="add a resource, which gives the default",
        ),
        pytest.param(
            strategy(**RATIO),
            "add-point",
            "50",
            ratio(point(0, 0), point(50, 0), point(100, 10)),
            id="insert a point in order",
        ),
        pytest.param(
            strategy(**RATIO), "point-score:1", "4", ratio(point(0, 0), point(100, 4)), id="the score of a point"
        ),
        pytest.param(
            strategy(**RATIO),
            "point-utilization:1",
            "80",
            ratio(point(0, 0), point(80, 10)),
            id="the utilization of a point",
        ),
        pytest.param(strategy(**RATIO), "remove-point:0", "1", ratio(point(100, 10)), id="remove a point"),
        pytest.param(
            HEAD,
            "add-profile",
            "packer",
            HEAD | {"profiles": [NAME, {"schedulerName": "packer"}]},
            id="add a second profile, so that the first one needs its name",
        ),
        pytest.param(
            one(), "schedulerName", "packer", HEAD | {"profiles": [{"schedulerName": "packer"}]}, id="a new name"
        ),
        pytest.param(
            HEAD | {"profiles": [NAME, {"schedulerName": "packer"}]},
            "remove-profile",
            "1",
            HEAD | {"profiles": [{"schedulerName": "packer"}]},
            id="remove a profile",
        ),
        pytest.param(
            HEAD | {"profiles": None}, "weight:ImageLocality", "1", HEAD | {"profiles": None}, id="nothing to change"
        ),
        pytest.param(
            HEAD | {"profiles": [{**NAME, "plugins": {"score": None}, "pluginConfig": None}]},
            "strategy",
            "MostAllocated",
            HEAD | {"profiles": [{**NAME, "plugins": {"score": None}, "pluginConfig": [PACKED]}]},
            id="nulls",
        ),
    ],
)
def test_a_control_changes_its_own_part_alone(
    before: dict[str, Any], control: str, value: str, after: dict[str, Any]
) -> None:
    kept = {"parallelism": 4, "leaderElection": {"leaseDuration": "30s"}}
    was = written(kept | before)
    manifest = yaml.safe_load(was)
    load_configuration(manifest)
    patched = edit(manifest, 0, control, value)
    assert patched == kept | after
    load_configuration(patched)
    assert written(manifest) == was


def test_arguments_of_other_plugins_stay_and_so_does_the_other_profile() -> None:
    other = {"schedulerName": "other", "plugins": {"score": ALL_OFF}}
    before = HEAD | {"profiles": [other, {**NAME, "pluginConfig": [AFFINITY]}]}
    after = HEAD | {"profiles": [other, {**NAME, "pluginConfig": [AFFINITY, PACKED]}]}
    assert edit(before, 1, "strategy", "MostAllocated") == after
    assert edit(after, 1, "strategy", "LeastAllocated") == before


def test_a_new_setting_comes_before_the_profiles_and_the_name_comes_first_in_its_profile() -> None:
    patched = edit(HEAD | {"profiles": [{"pluginConfig": [AFFINITY]}]}, 0, "percentageOfNodesToScore", "30")
    assert list(patched) == ["apiVersion", "kind", "percentageOfNodesToScore", "profiles"]
    assert list(edit(patched, 0, "schedulerName", "mine")["profiles"][0]) == ["schedulerName", "pluginConfig"]


@pytest.mark.parametrize("plugin", USUAL_POINTS)
def test_off_and_on_again_is_the_default_for_every_plugin(plugin: str) -> None:
    off = edit(one(), 0, f"plugin:{plugin}", "")
    assert off != one()
    assert edit(off, 0, f"plugin:{plugin}", "1") == one()


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.slug)
@pytest.mark.parametrize("plugin", ["NodeAffinity", "ImageLocality", "NodeResourcesFit", "DefaultPreemption"])
def test_a_switch_does_in_every_configuration_what_it_shows(preset: Preset, plugin: str) -> None:
    def on(manifest: dict[str, Any]) -> bool:
        return next(bool(row["on"]) for row in shown(load_configuration(manifest))["plugins"] if row["name"] == plugin)

    manifest = yaml.safe_load(preset.text)
    off = edit(manifest, 0, f"plugin:{plugin}", "")
    assert not on(off)
    again = edit(off, 0, f"plugin:{plugin}", "1")
    points = load_configuration(again).profiles[0].plugins
    assert [point for point, running in points.items() if plugin in dict(running)] == list(USUAL_POINTS[plugin])


def shown(configuration: Configuration, index: int = 0) -> dict[str, Any]:
    return controls(configuration, index, {}, DEFAULT_RULES)


def test_the_controls_show_the_configuration_in_force() -> None:
    plugins = {"score": {"disabled": [{"name": "NodeResourcesFit"}]}, "multiPoint": enabled("ImageLocality", 9)}
    controls = shown(load_configuration(one(plugins=plugins) | {"podMaxBackoffSeconds": 20}))
    rows = {row["name"]: row for row in controls["plugins"]}
    assert (rows["ImageLocality"]["weight"], rows["ImageLocality"]["usual"]) == (9, 1)
    assert (rows["NodeResourcesFit"]["on"], rows["NodeResourcesFit"]["off"]) == (True, "not at Score")
    assert rows["NodeResourcesFit"]["weight"] is None
    assert [setting["value"] for setting in controls["settings"]] == [0, 1, 20]
    assert controls["strategy"]["type"] == "LeastAllocated"


def test_a_missing_profile_shows_the_last_one() -> None:
    assert shown(load_configuration(one()), 7)["index"] == 0


@pytest.mark.parametrize(
    ("profile", "control", "says"),
    [
        pytest.param(3, "strategy", "no such profile", id="a profile"),
        pytest.param(0, "extenders", "no such control", id="a control"),
        pytest.param(0, "plugin:Nobody", "no such control", id="a plugin"),
        pytest.param(0, "resource-weight:9", "no such row", id="a row"),
        pytest.param(0, "remove-resource:x", "no such row", id="a row that is not a number"),
        pytest.param(0, "remove-resource:-1", "no such row", id="a row before the first"),
    ],
)
def test_unknown_choices_are_refused(profile: int, control: str, says: str) -> None:
    with pytest.raises(Rejected, match=says):
        edit(one(), profile, control, "1")
