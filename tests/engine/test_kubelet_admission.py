"""Admission by kubelets: which bound pods fail there, and which pods are evicted to admit others."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import NodeBuilder, PodBuilder, make_node, make_pod
from scheduler_engine.trace.events import EventRecorded, PodEvicted, PodRejected

CRITICAL = "system-node-critical"
MIRROR, SOURCE = "kubernetes.io/config.mirror", "kubernetes.io/config.source"


def machine(**capacity: str) -> NodeBuilder:
    return make_node("n1").label("disk", "ssd").capacity({"cpu": "2", "memory": "4Gi", "pods": "10", **capacity})


def cluster(node: NodeBuilder, *pods: PodBuilder) -> Simulation:
    """Bind every pod to the node by hand, in order, without a scheduler."""
    simulation = Simulation()
    simulation.execute(commands.Apply((node.obj(),)))
    for pod in pods:
        simulation.execute(commands.Apply((pod.node("n1").obj(),)))
    simulation.execute(commands.Settle())
    return simulation


def status(simulation: Simulation, name: str) -> dict[str, Any]:
    pod = simulation.api.pod(f"default/{name}")
    assert pod is not None
    return pod.status


def rejected(simulation: Simulation) -> list[tuple[str, str, str]]:
    events = (entry.event for entry in simulation.recorder.entries)
    return [(event.pod, event.reason, event.message) for event in events if isinstance(event, PodRejected)]


def condition(kind: str) -> dict[str, Any]:
    return {"type": kind, "status": "True"}


@pytest.mark.parametrize(
    ("conditions", "pod", "message"),
    [
        (["MemoryPressure"], make_pod("p"), "The node had condition: [MemoryPressure]. "),
        (["MemoryPressure"], make_pod("p").cpu("100m"), ""),
        (["MemoryPressure"], make_pod("p").toleration("node.kubernetes.io/memory-pressure"), ""),
        (["MemoryPressure"], make_pod("p").priority_class(CRITICAL), ""),
        (["DiskPressure"], make_pod("p").cpu("100m"), "The node had condition: [DiskPressure]. "),
        (["DiskPressure"], make_pod("p").toleration("node.kubernetes.io/disk-pressure"), "[DiskPressure]. "),
        (["DiskPressure"], make_pod("p").priority_class(CRITICAL), ""),
        (["PIDPressure"], make_pod("p").cpu("100m"), "The node had condition: [PIDPressure]. "),
        (["MemoryPressure", "DiskPressure"], make_pod("p").cpu("1"), "[DiskPressure MemoryPressure]. "),
        (["NetworkUnavailable"], make_pod("p"), ""),
    ],
)
def test_pressure_keeps_pods_away(conditions: list[str], pod: PodBuilder, message: str) -> None:
    simulation = cluster(machine().status(conditions=[condition(kind) for kind in conditions]), pod)
    if not message:
        assert (status(simulation, "p")["phase"], rejected(simulation)) == ("Running", [])
        return
    ((_, reason, expected_message),) = rejected(simulation)
    assert reason == "Evicted"
    assert expected_message.endswith(message)
    fields = status(simulation, "p")
    assert (fields["phase"], fields["reason"], fields["message"]) == (
        "Failed",
        "Evicted",
        f"Pod was rejected: {expected_message}",
    )
    assert "startTime" not in fields


@pytest.mark.parametrize(
    ("there", "pod", "reason", "message"),
    [
        (
            make_pod("a").cpu("1500m"),
            make_pod("p").cpu("600m"),
            "OutOfcpu",
            "Node didn't have enough resource: cpu, requested: 600, used: 1500, capacity: 2000",
        ),
        (
            make_pod("a").memory("3Gi"),
            make_pod("p").memory("2Gi").cpu("9"),
            "OutOfcpu",
            "Node didn't have enough resource: cpu, requested: 9000, used: 0, capacity: 2000",
        ),
        (
            make_pod("a").memory("3Gi"),
            make_pod("p").memory("2Gi"),
            "OutOfmemory",
            "Node didn't have enough resource: memory, requested: 2147483648, used: 3221225472, capacity: 4294967296",
        ),
        (
            make_pod("a"),
            make_pod("p").request({"ephemeral-storage": "2Gi"}),
            "OutOfephemeral-storage",
            "Node didn't have enough resource: ephemeral-storage, requested: 2147483648, used: 0, capacity: 1073741824",
        ),
        (
            make_pod("a").request({"example.com/gpu": "1"}).limit({"example.com/gpu": "1"}),
            make_pod("p").request({"example.com/gpu": "1"}).limit({"example.com/gpu": "1"}),
            "OutOfexample.com/gpu",
            "Node didn't have enough resource: example.com/gpu, requested: 1, used: 1, capacity: 1",
        ),
        (
            make_pod("a").host_port(80),
            make_pod("p").host_port(80),
            "NodePorts",
            "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
        ),
        (
            make_pod("a"),
            make_pod("p").node_selector({"disk": "hdd"}),
            "NodeAffinity",
            "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
        ),
        (
            make_pod("a"),
            make_pod("p").spec(os={"name": "windows"}),
            "PodOSNotSupported",
            "Failed to admit pod as the OS field doesn't match node OS",
        ),
        (
            make_pod("a"),
            make_pod("p").label("kubernetes.io/os", "windows"),
            "PodOSSelectorNodeLabelDoesNotMatch",
            "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
        ),
    ],
)
def test_a_pod_that_does_not_fit_fails(there: PodBuilder, pod: PodBuilder, reason: str, message: str) -> None:
    simulation = cluster(machine(**{"ephemeral-storage": "1Gi", "example.com/gpu": "1"}), there, pod)
    assert status(simulation, "a")["phase"] == "Running"
    assert rejected(simulation) == [("default/p", reason, message)]
    events = [entry.event for entry in simulation.recorder.entries if isinstance(entry.event, EventRecorded)]
    assert [(item.reason, item.message) for item in events if item.type == "Warning"] == [(reason, message)]


def test_extended_resources_unknown_to_the_node_are_ignored() -> None:
    simulation = cluster(machine(), make_pod("p").request({"example.com/gpu": "1"}).limit({"example.com/gpu": "1"}))
    assert status(simulation, "p")["phase"] == "Running"


def test_the_node_admits_at_most_its_number_of_pods() -> None:
    simulation = cluster(machine(pods="1"), make_pod("a"), make_pod("p"))
    assert rejected(simulation) == [
        ("default/p", "OutOfpods", "Node didn't have enough resource: pods, requested: 1, used: 1, capacity: 1")
    ]


@pytest.mark.parametrize(
    ("effect", "annotations", "refused"),
    [("NoExecute", {}, True), ("NoSchedule", {}, False), ("NoExecute", {SOURCE: "file"}, False)],
)
def test_only_no_execute_taints_count_and_not_for_static_pods(
    effect: str, annotations: dict[str, str], refused: bool
) -> None:
    pod = make_pod("p")
    for name, text in annotations.items():
        pod.annotation(name, text)
    simulation = cluster(machine().taint("gpu", "", effect), pod)
    text = "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate"
    assert rejected(simulation) == ([("default/p", "TaintToleration", text)] if refused else [])


def test_a_mirror_pod_is_never_refused() -> None:
    simulation = cluster(machine(), make_pod("a").cpu("2"), make_pod("p").cpu("2").annotation(MIRROR, "0a1b"))
    assert (status(simulation, "p")["phase"], rejected(simulation)) == ("Running", [])


def test_pods_that_have_ended_leave_their_room() -> None:
    done = make_pod("a").cpu("2").spec(restartPolicy="Never").annotation("sandbox/duration", "5")
    simulation = cluster(machine(), done)
    simulation.execute(commands.Advance(6))
    simulation.execute(commands.Apply((make_pod("p").cpu("2").node("n1").obj(),)))
    assert status(simulation, "p")["phase"] == "Running"


def test_an_admitted_pod_stays_when_the_node_shrinks() -> None:
    simulation = cluster(machine(), make_pod("a").cpu("2").annotation("sandbox/start-delay", "5"))
    simulation.execute(commands.Apply((machine(cpu="1").obj(),)))
    simulation.execute(commands.Advance(5))
    assert status(simulation, "a")["phase"] == "Running"


def ended(simulation: Simulation) -> list[str]:
    events = (entry.event for entry in simulation.recorder.entries)
    return [event.pod.removeprefix("default/") for event in events if isinstance(event, PodEvicted)]


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        ([make_pod("big").cpu("1500m"), make_pod("small").cpu("500m")], ["small"]),
        ([make_pod("one").cpu("1"), make_pod("two").cpu("900m")], ["two"]),
        ([make_pod(f"s{number}").cpu("400m") for number in range(5)], ["s0"]),
        (
            [
                make_pod("sure").request({"cpu": "1", "memory": "1Gi"}).limit({"cpu": "1", "memory": "1Gi"}),
                make_pod("loose").cpu("1"),
            ],
            ["loose"],
        ),
    ],
    ids=["the one nearest to the missing amount", "the smaller of two that suffice", "any pod", "Guaranteed last"],
)
def test_others_end_for_a_critical_pod(there: list[PodBuilder], expected: list[str]) -> None:
    simulation = cluster(
        machine(), *(pod.grace_period(3) for pod in there), make_pod("p").cpu("400m").priority_class(CRITICAL)
    )
    simulation.execute(commands.Patch("Pod", "default/p", {"metadata": {"labels": {"changed": "meanwhile"}}}))
    simulation.execute(commands.NodeCondition("n1", "Ready", "Unknown"))
    simulation.execute(commands.NodeCondition("n1", "Ready", "True"))
    assert ended(simulation) == expected, "once, whatever changes meanwhile"
    assert status(simulation, "p")["phase"] == "Pending"
    gone = status(simulation, expected[0])
    mark = next(item for item in gone["conditions"] if item["type"] == "DisruptionTarget")
    assert (mark["reason"], mark["message"]) == (
        "TerminationByKubelet",
        "Pod was preempted by Kubelet to accommodate a critical pod.",
    )
    simulation.execute(commands.Advance(3))
    gone = status(simulation, expected[0])
    assert (gone["phase"], gone["reason"], gone["message"]) == (
        "Failed",
        "Preempting",
        "Preempted in order to admit critical pod",
    )
    assert status(simulation, "p")["phase"] == "Running"


def test_a_critical_pod_fails_where_no_pod_may_be_evicted_for_it() -> None:
    simulation = cluster(
        machine(), make_pod("a").cpu("2").priority_class(CRITICAL), make_pod("p").cpu("1").priority_class(CRITICAL)
    )
    ((_, reason, message),) = rejected(simulation)
    assert reason == "UnexpectedAdmissionError"
    assert message.endswith("no set of running pods found to reclaim resources: [(res: cpu, q: 1000), ]")


def test_owners_replace_refused_pods() -> None:
    """A scheduler puts a pod on a node in the same second in which the node runs short."""
    simulation = cluster(machine())
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "a:1"}]}}
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }
    simulation.execute(commands.NodeCondition("n1", "DiskPressure", "True"))
    template["spec"]["nodeName"] = "n1"  # type: ignore[index]
    simulation.execute(commands.Apply((owner,)))
    simulation.execute(commands.Advance(3))
    assert len(rejected(simulation)) > 1


def critical(name: str, cpu: str) -> PodBuilder:
    return make_pod(name).cpu(cpu).priority_class(CRITICAL)


def phase_at(simulation: Simulation, name: str, seconds: float) -> str:
    simulation.execute(commands.Advance(seconds))
    return str(status(simulation, name)["phase"])


def test_others_end_one_after_the_other() -> None:
    there = [make_pod("v1").cpu("1").grace_period(30), make_pod("v2").cpu("1").grace_period(60)]
    simulation = cluster(machine(), *there, critical("p", "2"))
    assert len(ended(simulation)) == 1
    assert phase_at(simulation, "p", 89) == "Pending"
    assert sorted(ended(simulation)) == ["v1", "v2"]
    assert phase_at(simulation, "p", 1) == "Running"


def test_a_victim_that_ends_early_is_not_waited_for() -> None:
    simulation = cluster(machine(), make_pod("v").cpu("2").grace_period(300), critical("p", "1"))
    simulation.execute(commands.Advance(10))
    simulation.execute(commands.Replace("Pod", "default/v", make_pod("v").cpu("9").obj()))
    assert status(simulation, "p")["phase"] == "Running"


def test_pods_that_arrive_meanwhile_are_admitted_afterwards() -> None:
    simulation = cluster(machine(), make_pod("v").cpu("2").grace_period(30), critical("p", "2"))
    for late in (make_pod("x").cpu("1"), critical("q", "2")):
        simulation.execute(commands.Apply((late.node("n1").obj(),)))
    assert phase_at(simulation, "x", 29) == "Pending"
    assert ended(simulation) == ["v"]
    assert phase_at(simulation, "p", 1) == "Running"
    assert {pod: reason for pod, reason, _ in rejected(simulation)} == {
        "default/x": "OutOfcpu",
        "default/q": "UnexpectedAdmissionError",
    }


def test_while_a_kubelet_is_unreachable_its_actions_are_not_reported() -> None:
    simulation = cluster(machine(), make_pod("v").cpu("2").grace_period(30), critical("p", "2"))
    simulation.execute(commands.NodeCondition("n1", "Ready", "Unknown"))
    assert phase_at(simulation, "v", 60) == "Running"
    simulation.execute(commands.NodeCondition("n1", "Ready", "True"))
    assert (status(simulation, "v")["phase"], status(simulation, "p")["phase"]) == ("Failed", "Running")


def test_actions_due_while_a_kubelet_is_unreachable_happen_when_it_is_back() -> None:
    patient = make_pod("a").grace_period(30).toleration("node.kubernetes.io/unreachable", effect="NoExecute")
    slow = make_pod("b").annotation("sandbox/start-delay", "60")
    simulation = cluster(machine(), patient, slow)
    simulation.execute(commands.Delete("Pod", "default/a"))
    for _ in range(3):
        simulation.execute(commands.NodeCondition("n1", "Ready", "Unknown"))
        simulation.execute(commands.Advance(25))
        simulation.execute(commands.NodeCondition("n1", "Ready", "True"))
    assert simulation.api.pod("default/a") is None
    assert status(simulation, "b")["phase"] == "Running"


def test_a_pod_that_is_evicted_while_it_is_being_deleted_is_gone_at_once() -> None:
    simulation = cluster(machine(), make_pod("a").cpu("1").grace_period(600))
    simulation.execute(commands.KubeletConfigure("n1", {"evictionHard": {"memory.available": "1Gi"}}))
    simulation.execute(commands.Usage(pod="default/a", memory="3900Mi"))
    simulation.execute(commands.Delete("Pod", "default/a"))
    simulation.execute(commands.Advance(15))
    assert simulation.api.pod("default/a") is None


def test_others_end_for_a_critical_pod_that_is_older_than_the_node() -> None:
    simulation = Simulation()
    pods = [pod.node("n1").obj() for pod in (make_pod("v").cpu("2"), critical("p", "2"))]
    simulation.execute(commands.Apply((*pods, machine().obj())))
    assert ended(simulation) == ["v"]
    assert phase_at(simulation, "p", 30) == "Running"
