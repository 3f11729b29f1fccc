"""The film of a search for devices, in the Filter tab."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.panels import PANELS, View
from scheduler_engine import commands
from scheduler_engine.simulation import Simulation
from tests.sandbox.panels.test_devices import NODE, of_kind, pod
from tests.sandbox.scenarios import panel_html
from tests.sandbox.witnessing import witnessed

CLASS = of_kind("DeviceClass", "any", {})


def offered(*models: str) -> dict[str, Any]:
    """Return a slice of the node with a device of each model."""
    devices = [{"name": f"d{number}", "attributes": {"model": {"string": each}}} for number, each in enumerate(models)]
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    return of_kind("ResourceSlice", "s", {"driver": "d.example", "nodeName": "n", "pool": pool, "devices": devices})


def claim(name: str, constraint: str = "", **wanted: Any) -> dict[str, Any]:
    constraints = [{"matchAttribute": constraint}] if constraint else []
    requests = [{"name": "r", "exactly": {"deviceClassName": "any", **wanted}}]
    return of_kind("ResourceClaim", name, {"devices": {"requests": requests, "constraints": constraints}})


def after(*manifests: dict[str, Any], pods: int = 1) -> Any:
    """Return the world after these pods were scheduled."""
    simulation = Simulation(seed=1)
    simulation.execute(commands.Apply((NODE, CLASS, *manifests)))
    for _ in range(pods):
        simulation.execute(commands.PodCycle())
    return witnessed(simulation)


def using(name: str, claim_name: str) -> dict[str, Any]:
    return pod(name, {"name": "c", "resourceClaimName": claim_name})


def row(world: Any, **view: Any) -> dict[str, Any]:
    (found,) = PANELS["filter"].stats(world, View(node="n", plugin="DynamicResources", **view))["rows"]
    return dict(found)


def told(world: Any) -> list[tuple[str, str]]:
    return [(frame["title"], frame["said"]) for frame in row(world)["film"]["frames"]]


def states(frame: dict[str, Any]) -> list[str]:
    """Return the classes of the boxes of devices."""
    return [shape.classes for shape in frame["drawing"].shapes if shape.classes.startswith("dev ")]


PAIR = claim("pair", "d.example/model", count=2)


def test_a_search_that_goes_back_is_told_step_by_step() -> None:
    world = after(offered("a", "b", "b"), PAIR, using("p", "pair"))
    assert told(world) == [
        ("as it is", ""),
        ("takes d0", "yes"),
        ("has d0 already", "no"),
        ("d1 does not match", "no"),
        ("d2 does not match", "no"),
        ("gives d0 back", "back"),
        ("takes d1", "yes"),
        ("d0 does not match", "no"),
        ("has d1 already", "no"),
        ("takes d2", "yes"),
        ("found", "yes"),
    ]
    frames = row(world)["film"]["frames"]
    assert states(frames[3]) == ["dev has", "dev free is-tried", "dev free"]
    assert states(frames[-1]) == ["dev free", "dev has", "dev has"]
    assert [line.formula for line in frames[0]["lines"]] == ["needs 2 devices of class any"]
    assert (frames[3]["lines"][0].formula, frames[3]["lines"][0].note) == (
        "not p/d1: d.example/model must be equal",
        "b and a",
    )
    assert frames[-1]["note"] == "n has the devices that p claims."


def test_a_search_that_fails_names_false_expressions_and_devices_of_others() -> None:
    expression = 'device.attributes["d.example"].model == "b"'
    wanted = claim("want", selectors=[{"cel": {"expression": expression}}])
    world = after(offered("b", "a"), claim("first"), wanted, using("p1", "first"), using("p2", "want"), pods=2)
    assert told(world) == [
        ("as it is", ""),
        ("d0 is in use", "no"),
        ("d1: expression is false", "no"),
        ("not enough", "no"),
    ]
    frames = row(world)["film"]["frames"]
    assert states(frames[2]) == ["dev used", "dev free is-tried"]
    line = frames[2]["lines"][0]
    assert (line.formula, line.note) == (f"not p/d1: {expression}", "is false: model = a")


def test_a_long_search_says_how_many_steps_are_left_out() -> None:
    titles = [title for title, _ in told(after(offered(*map(str, range(20))), PAIR, using("p", "pair")))]
    assert titles[-2:] == ["380 more steps", "not enough"]


@pytest.mark.parametrize("plugin", ["DynamicResources", "NodeResourcesFit"])
def test_there_is_no_film_without_a_search(plugin: str) -> None:
    world = after(offered("a"), pod("p"))
    (found,) = PANELS["filter"].stats(world, View(node="n", plugin=plugin))["rows"]
    assert found["film"] is None


def test_many_nodes_by_reason_have_the_film_too() -> None:
    world = after(offered("a"), PAIR, using("p", "pair"))
    view = View(node="n", plugin="DynamicResources", group="reason")
    (group,) = PANELS["filter"].stats(world, view)["groups"]
    assert group["film"]["frames"][-1]["title"] == "not enough"
    assert 'data-film-of="1 n"' in panel_html("filter", world, node="n", plugin="DynamicResources", group="reason")


def test_many_devices_share_boxes_unless_one_differs() -> None:
    parts = [offered(*"a" * 128), offered(*"b" * 122)]
    for number, part in enumerate(parts):
        part["metadata"]["name"] = f"s{number}"
        part["spec"]["pool"]["resourceSliceCount"] = len(parts)
        for device in part["spec"]["devices"]:
            device["name"] = f"{device['name']}-{number}"
    chosen = [{"cel": {"expression": "device.attributes['d.example'].model == 'b'"}}]
    world = after(*parts, claim("one", selectors=chosen), using("p", "one"))
    frames = row(world)["film"]["frames"]
    assert [(shape.width, shape.title) for shape in frames[0]["drawing"].shapes] == [
        ("99.90%", "p/d0-0 to p/d121-1: free")
    ]
    assert [(shape.classes, shape.width) for shape in frames[2]["drawing"].shapes] == [
        ("dev free", "0.30%"),
        ("dev free is-tried", "0.30%"),
        ("dev free", "99.10%"),
    ]
    assert states(frames[-1]) == ["dev free", "dev has", "dev free"]
