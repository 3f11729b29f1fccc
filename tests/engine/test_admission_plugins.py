"""Admission plugins that are off by default: what they refuse when enabled, and which objects they skip."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.wording.entries import line

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
PLUGIN = "LimitPodHardAntiAffinityTopology"
ON, OFF = commands.Admission(PLUGIN), commands.Admission(PLUGIN, enabled=False)
REFUSED = (
    'pods "apart" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey '
    "topology.kubernetes.io/zone but only key kubernetes.io/hostname is allowed"
)


def apart(key: str, name: str = "apart", weight: int | None = None) -> dict[str, Any]:
    return make_pod(name).label("app", "web").anti_affinity(key, {"app": "web"}, weight).obj()


def begun(*steps: commands.Command) -> Simulation:
    simulation = Simulation(seed=1)
    simulation.execute(commands.Apply((make_node("n1").zone("a").obj(),)))
    for command in steps:
        simulation.execute(command)
    return simulation


def refusal(simulation: Simulation, command: commands.Command) -> list[str]:
    with pytest.raises(Rejected) as rejected:
        simulation.execute(command)
    return [str(error) for error in rejected.value.errors]


def test_by_default_pods_may_keep_apart_by_zone() -> None:
    simulation = begun(commands.Apply((apart(ZONE),)))
    assert simulation.api.pod("default/apart") is not None


def test_switched_on_it_refuses_another_topology_key_in_kubernetes_words() -> None:
    simulation = begun(ON)
    before = len(simulation.recorder.entries)
    assert refusal(simulation, commands.Apply((apart(ZONE),))) == [REFUSED]
    assert len(simulation.recorder.entries) == before
    assert simulation.api.pod("default/apart") is None


@pytest.mark.parametrize(
    "pod",
    [
        pytest.param(apart(HOSTNAME), id="by node"),
        pytest.param(apart(ZONE, weight=10), id="when it is only preferred"),
        pytest.param(make_pod("apart").affinity(ZONE, {"app": "web"}).obj(), id="for affinity"),
        pytest.param(make_pod("apart").obj(), id="for a pod without affinity"),
    ],
)
def test_it_leaves_other_pods_alone(pod: dict[str, Any]) -> None:
    assert begun(ON, commands.Apply((pod,))).api.pod("default/apart") is not None


def test_switched_off_again_it_refuses_nothing() -> None:
    simulation = begun(ON, ON, OFF, commands.Apply((apart(ZONE),)))
    assert simulation.api.switched_on == ()
    assert simulation.api.pod("default/apart") is not None


def test_the_second_of_two_terms_counts_too() -> None:
    pod = make_pod("apart").anti_affinity(HOSTNAME, {"app": "web"}).anti_affinity(ZONE, {"app": "db"}).obj()
    assert refusal(begun(ON), commands.Apply((pod,))) == [REFUSED]


def test_existing_pods_stay_and_can_only_be_resized() -> None:
    pod = make_pod("apart").cpu("100m").label("app", "web").anti_affinity(ZONE, {"app": "web"}).obj()
    simulation = begun(commands.Apply((pod,)), commands.Run(), ON)
    label = {"metadata": {"labels": {"tier": "front"}}}
    assert refusal(simulation, commands.Patch("Pod", "default/apart", label)) == [REFUSED]
    container = simulation.api.pod("default/apart").spec["containers"][0]["name"]  # type: ignore[union-attr]
    resized = {"spec": {"containers": [{"name": container, "resources": {"requests": {"cpu": "50m"}}}]}}
    simulation.execute(commands.Patch("Pod", "default/apart", resized, subresource="resize"))
    simulation.execute(commands.Advance(20))
    assert simulation.api.pod("default/apart").node_name == "n1"  # type: ignore[union-attr]


def test_an_apply_of_several_objects_is_refused_as_a_whole() -> None:
    simulation = begun(ON)
    assert refusal(simulation, commands.Apply((make_pod("first").obj(), apart(ZONE)))) == [REFUSED]
    assert simulation.api.pods() == []


def test_a_controller_learns_of_the_refusal_and_tries_again_when_it_is_off() -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": apart(ZONE)["spec"]}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    workload = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web"}, "spec": spec}
    simulation = begun(ON, commands.Apply((workload,)), commands.Advance(5))
    assert simulation.api.pods() == []
    text = "\n".join(line(entry.event) for entry in simulation.recorder.entries)
    assert "FailedCreate" in text
    assert "but only key kubernetes.io/hostname is allowed" in text
    simulation.execute(OFF)
    simulation.execute(commands.Advance(600))
    assert [pod.node_name for pod in simulation.api.pods()] == ["n1"]


def test_the_switch_is_in_the_trace_and_in_copies() -> None:
    simulation = begun(ON)
    assert line(simulation.recorder.entries[-1].event).endswith(f"Admission plugin {PLUGIN} switched on")
    twin = copy.deepcopy(simulation)
    twin.execute(OFF)
    assert simulation.api.switched_on == (PLUGIN,)
    assert line(twin.recorder.entries[-1].event).endswith(f"Admission plugin {PLUGIN} switched off")


@pytest.mark.parametrize("plugin", ["", "NodeRestriction", "limitpodhardantiaffinitytopology"])
def test_another_plugin_cannot_be_switched(plugin: str) -> None:
    with pytest.raises(Rejected, match=f"plugin: must be {PLUGIN}"):
        commands.from_json({"kind": "admission", "plugin": plugin, "enabled": True})
    assert commands.from_json({"kind": "admission", "plugin": PLUGIN}) == ON
    assert OFF.summary == f"switch off admission plugin {PLUGIN}"
