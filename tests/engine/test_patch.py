"""``patch``: a JSON merge patch over an object, and the resize of a pod. A forbidden patch changes nothing."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace import events as ev
from tests.engine.cluster import GATES, node, pod

Manifest = dict[str, Any]


def cluster(*manifests: Manifest) -> Simulation:
    simulation = Simulation()
    simulation.execute(commands.Apply(manifests))
    simulation.execute(commands.Settle())
    return simulation


def resources(*amounts: Manifest) -> Manifest:
    """Return a patch of the requests of the containers main and side."""
    containers = [{"name": name, "resources": amount} for name, amount in zip(("main", "side"), amounts, strict=False)]
    return {"spec": {"containers": containers}}


def container(name: str, **asks: Any) -> Manifest:
    return {"name": name, "image": "app:1", "resources": asks}


def held(simulation: Simulation, kind: str, key: str) -> Manifest:
    stored = simulation.api.get(kind, key)
    assert stored is not None
    return stored.manifest


def refused(simulation: Simulation, command: commands.Patch) -> list[str]:
    before = held(simulation, command.object_kind, command.key)
    with pytest.raises(Rejected) as problem:
        simulation.execute(command)
    assert held(simulation, command.object_kind, command.key) == before, "nothing changes"
    return [str(error) for error in problem.value.errors]


def test_labels_come_and_go_and_the_rest_stays() -> None:
    simulation = cluster(node("n1"))
    simulation.execute(commands.Patch("Node", "n1", {"metadata": {"labels": {"disk": "ssd"}}}))
    assert held(simulation, "Node", "n1")["metadata"]["labels"]["topology.kubernetes.io/zone"] == "a"
    assert held(simulation, "Node", "n1")["metadata"]["labels"]["disk"] == "ssd"
    simulation.execute(commands.Patch("Node", "n1", {"metadata": {"labels": {"disk": None}}}))
    assert "disk" not in held(simulation, "Node", "n1")["metadata"]["labels"]


def test_a_label_that_a_pod_waits_for_wakes_it() -> None:
    simulation = cluster(node("n1"), pod("a", nodeSelector={"disk": "ssd"}))
    simulation.execute(commands.Patch("Node", "n1", {"metadata": {"labels": {"disk": "ssd"}}}))
    simulation.execute(commands.Advance(5))
    assert held(simulation, "Pod", "default/a")["spec"]["nodeName"] == "n1"


def test_the_removal_of_the_last_gate_lets_the_pod_in() -> None:
    simulation = cluster(node("n1"), pod("a", schedulingGates=GATES))
    assert "nodeName" not in held(simulation, "Pod", "default/a")["spec"]
    simulation.execute(commands.Patch("Pod", "default/a", {"spec": {"schedulingGates": None}}))
    simulation.execute(commands.Settle())
    assert held(simulation, "Pod", "default/a")["spec"]["nodeName"] == "n1"


def test_a_patch_stays_when_the_manifest_is_applied_again() -> None:
    manifest = node("n1")
    simulation = cluster(manifest)
    simulation.execute(commands.Patch("Node", "n1", {"metadata": {"labels": {"disk": "ssd"}}}))
    simulation.execute(commands.Apply((manifest,)))
    assert held(simulation, "Node", "n1")["metadata"]["labels"]["disk"] == "ssd"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"metadata": {"name": "b"}}, "the name of the object (b) does not match the name on the URL (a)"),
        (
            {"metadata": {"namespace": "other"}},
            "the namespace of the object (other) does not match the namespace on the request (default)",
        ),
        ({"metadata": None}, "the name of the object () does not match the name on the URL (a)"),
        ({"kind": "Node"}, 'Node in version "v1" cannot be handled as a Pod'),
        ({"spec": {"nodeNames": "n1"}}, 'unknown field "spec.nodeNames"'),
        (
            {"spec": {"tolerations": [{"key": "gpu", "operator": "Is"}]}},
            'spec.tolerations[0].operator: Unsupported value: "Is": supported values: "Equal", "Exists"',
        ),
        ({"spec": {"priority": 7}}, "spec: Forbidden: pod updates may not change fields other than"),
        (resources({"requests": {"cpu": "2"}}), "spec.containers[0].image: Required value"),
    ],
)
def test_kubernetes_refusals_have_its_words(changes: Manifest, said: str) -> None:
    message = refused(cluster(node("n1"), pod("a")), commands.Patch("Pod", "default/a", changes))
    assert any(said in error for error in message), message


KATA = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": "kata"},
    "handler": "kata",
    "overhead": {"podFixed": {"cpu": "250m"}},
}


@pytest.mark.parametrize(
    ("field", "value", "way"),
    [
        *((field, None, way) for field in ("nodeName", "overhead") for way in ("patched", "applied", "from the store")),
        *(("nodeName", "", way) for way in ("patched", "applied", "from the store")),
        ("overhead", {"cpu": None}, "patched"),
    ],
)
def test_fields_of_admission_and_the_scheduler_cannot_be_cleared(field: str, value: Any, way: str) -> None:
    simulation = cluster(node("n1"), KATA, pod("a", runtimeClassName="kata"))
    before = held(simulation, "Pod", "default/a")
    commanded = {
        "patched": commands.Patch("Pod", "default/a", {"spec": {field: value}}),
        "applied": commands.Apply((pod("a", runtimeClassName="kata", **{field: value}),)),
        "from the store": commands.Apply(({**before, "spec": {**before["spec"], field: value}},)),
    }[way]
    with pytest.raises(Rejected) as problem:
        simulation.execute(commanded)
    (error,) = problem.value.errors
    assert "spec: Forbidden: pod updates may not change fields other than" in str(error)
    assert str(error).endswith(f"changed: spec.{field}")
    assert held(simulation, "Pod", "default/a") == before


@pytest.mark.parametrize("field", ["priority", "preemptionPolicy"])
def test_admission_sets_the_priority_again(field: str) -> None:
    simulation = cluster(node("n1"), pod("a"))
    before = held(simulation, "Pod", "default/a")
    simulation.execute(commands.Patch("Pod", "default/a", {"spec": {field: None}}))
    assert held(simulation, "Pod", "default/a") == before


def test_null_says_nothing_of_a_new_pod_or_where_there_is_nothing() -> None:
    waits = pod("a", nodeName=None, overhead=None)
    simulation = cluster(waits)
    simulation.execute(commands.Patch("Pod", "default/a", {"spec": {"nodeName": None, "overhead": None}}))
    simulation.execute(commands.Apply((waits,)))
    assert not held(simulation, "Pod", "default/a")["spec"].keys() & {"nodeName", "overhead"}


def test_a_manifest_that_no_longer_gives_its_node_is_refused() -> None:
    simulation = cluster(node("n1"), pod("a", nodeName="n1"))
    with pytest.raises(Rejected, match=r"changed: spec\.nodeName"):
        simulation.execute(commands.Apply((pod("a"),)))


def test_the_class_of_a_pod_does_not_go() -> None:
    critical = pod("a")
    del critical["spec"]["priority"]
    critical["spec"]["priorityClassName"] = "system-node-critical"
    message = refused(cluster(critical), commands.Patch("Pod", "default/a", {"spec": {"priorityClassName": None}}))
    assert any("changed: spec.priorityClassName" in error for error in message), message


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (commands.Patch("Pod", "default/none", {}), 'pods "none" not found'),
        (commands.Patch("Gadget", "x", {}), 'no matches for kind "Gadget"'),
    ],
)
def test_a_missing_object_is_reported(command: commands.Patch, said: str) -> None:
    with pytest.raises(Rejected, match=said):
        cluster(node("n1")).execute(command)


def test_only_pods_are_resized() -> None:
    message = refused(cluster(node("n1")), commands.Patch("Node", "n1", {}, "resize"))
    assert message == ["the server could not find the requested resource"]


def test_a_command_of_another_subresource_is_invalid() -> None:
    with pytest.raises(Rejected, match="subresource"):
        commands.from_json(
            {"kind": "patch", "object_kind": "Pod", "key": "a", "changes": {}, "subresource": "ephemeralcontainers"}
        )


# --- resize ---


def test_a_pod_that_asks_for_less_is_woken_and_scheduled() -> None:
    simulation = cluster(node("n1", cpu="2"), pod("a", "4"))
    simulation.execute(commands.Patch("Pod", "default/a", resources({"requests": {"cpu": "500m"}}), "resize"))
    (hint,) = [entry.event for entry in simulation.recorder.entries if isinstance(entry.event, ev.HintAnswered)]
    assert (hint.plugin, hint.verdict, hint.cluster_event) == (
        "NodeResourcesFit",
        "Queue",
        "UnschedulablePodUpdatePodScaleDown",
    )
    simulation.execute(commands.Advance(5))
    assert held(simulation, "Pod", "default/a")["spec"]["nodeName"] == "n1"


def test_a_running_pod_that_shrinks_makes_room_for_the_one_that_waits() -> None:
    simulation = cluster(node("n1", cpu="4"), pod("a", "3"), pod("b", "2"))
    simulation.execute(commands.Patch("Pod", "default/a", resources({"requests": {"cpu": "1"}}), "resize"))
    simulation.execute(commands.Advance(5))
    assert held(simulation, "Pod", "default/b")["spec"]["nodeName"] == "n1"


@pytest.mark.parametrize("wrong", ["x", ["x"], [{"name": ["a"]}], [None]], ids=repr)
def test_a_resize_with_a_wrong_type_is_refused(wrong: Any) -> None:
    command = commands.Patch("Pod", "default/a", {"spec": {"containers": wrong}}, "resize")
    assert "spec.containers" in str(refused(cluster(node("n1"), pod("a")), command))


def test_nothing_but_resources_changes() -> None:
    simulation = cluster(node("n1"), pod("a"))
    patch = resources({"requests": {"cpu": "2"}})
    patch["spec"]["containers"][0]["image"] = "other"
    patch["metadata"] = {"labels": {"x": "y"}}
    simulation.execute(commands.Patch("Pod", "default/a", patch, "resize"))
    stored = held(simulation, "Pod", "default/a")
    assert stored["metadata"]["labels"] == {"app": "a"}
    (container,) = stored["spec"]["containers"]
    assert (container["image"], container["resources"]) == ("registry.example/app:1", {"requests": {"cpu": "2"}})


@pytest.mark.parametrize(
    ("spec", "changes", "said"),
    [
        pytest.param(
            {},
            resources({"requests": {"memory": "1Gi"}}),
            ["spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed"],
            id="a removed request",
        ),
        pytest.param(
            {"containers": [container("main", requests={"cpu": "1", "ephemeral-storage": "1Gi"})]},
            resources({"requests": {"cpu": "1", "ephemeral-storage": "2Gi"}}),
            ["spec: Forbidden: only cpu and memory resources are mutable"],
            id="other resources",
        ),
        pytest.param(
            {},
            resources({"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}}),
            ['spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing'],
            id="another class",
        ),
        pytest.param(
            {},
            {"spec": {"containers": [container("main", requests={"cpu": "1"}), container("side")]}},
            ["spec.containers: Forbidden: containers may not be added or removed on resize"],
            id="another container",
        ),
        pytest.param(
            {"containers": [container("main", requests={"cpu": "1"}), container("side")]},
            {"spec": {"containers": [{"name": "side"}, {"name": "main", "resources": {"requests": {"cpu": "1"}}}]}},
            [
                "spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize",
                "spec.containers[1].name: Forbidden: containers may not be renamed or reordered on resize",
            ],
            id="another order",
        ),
        pytest.param(
            {"initContainers": [container("init", requests={"cpu": "1"})]},
            {"spec": {"initContainers": [{"name": "init", "resources": {"requests": {"cpu": "2"}}}]}},
            ["spec: Forbidden: resources for non-sidecar init containers are immutable"],
            id="an init container",
        ),
        pytest.param(
            {"initContainers": [container("init", requests={"cpu": "1"})]},
            {
                "spec": {
                    "initContainers": [
                        {
                            "name": "init",
                            "resources": {"requests": {"cpu": "1"}},
                            "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}],
                        }
                    ]
                }
            },
            ["spec: Forbidden: resources for non-sidecar init containers are immutable"],
            id="the resize policy of an init container",
        ),
        pytest.param(
            {"resources": {"requests": {"cpu": "1"}}},
            resources({"requests": {"cpu": "1"}}),
            ["Forbidden: pods with pod-level resources cannot be resized"],
            id="pod-level resources",
        ),
        pytest.param(
            {"os": {"name": "windows"}},
            resources({"requests": {"cpu": "2"}}),
            ["Forbidden: windows pods cannot be resized"],
            id="windows",
        ),
    ],
)
def test_forbidden_resizes(spec: Manifest, changes: Manifest, said: list[str]) -> None:
    simulation = cluster(node("n1"), pod("a", **spec))
    message = refused(simulation, commands.Patch("Pod", "default/a", changes, "resize"))
    assert message == said


def test_a_node_without_resources_does_not_resize() -> None:
    running = {"containerStatuses": [{"name": "main", "image": "", "imageID": "", "ready": True, "restartCount": 0}]}
    running["containerStatuses"][0]["state"] = {"running": {}}
    simulation = cluster(node("n1"), pod("a") | {"status": running})
    message = refused(simulation, commands.Patch("Pod", "default/a", resources({"requests": {"cpu": "2"}}), "resize"))
    assert message == ["spec: Forbidden: Pod running on node without support for resize"]


def test_a_sidecar_may_be_resized() -> None:
    sidecar = container("proxy", requests={"cpu": "1"}) | {"restartPolicy": "Always"}
    simulation = cluster(node("n1"), pod("a", initContainers=[sidecar]))
    patch = {"spec": {"initContainers": [{"name": "proxy", "resources": {"requests": {"cpu": "2"}}}]}}
    simulation.execute(commands.Patch("Pod", "default/a", patch, "resize"))
    assert held(simulation, "Pod", "default/a")["spec"]["initContainers"][0]["resources"]["requests"]["cpu"] == "2"


MANAGED: Manifest = {"metadata": {"managedFields": [{"manager": "kubectl"}]}}


@pytest.mark.parametrize(
    ("command", "summary"),
    [
        (commands.Patch("Deployment", "default/web", {"spec": {"replicas": 3}}), "spec.replicas=3"),
        (commands.Patch("Deployment", "default/web", {"spec": {"paused": True}}), "spec.paused=true"),
        (commands.Patch("Deployment", "default/web", {"spec": {"paused": None}}), "no spec.paused"),
        (commands.Patch("Deployment", "default/web", {}), "nothing"),
        (commands.Patch("Deployment", "default/web", {**MANAGED, "spec": {"replicas": 3}}), "spec.replicas=3"),
        (commands.Patch("Deployment", "default/web", MANAGED), "metadata.managedFields"),
        (
            commands.Patch("Deployment", "default/web", {"spec": {name: {} for name in "abcd"}}),
            "spec.a, spec.b, spec.c and 1 more",
        ),
    ],
)
def test_the_log_has_the_changes(command: commands.Patch, summary: str) -> None:
    assert command.summary == f"edit Deployment default/web: {summary}"
    assert commands.from_json(commands.to_json(command)) == command
