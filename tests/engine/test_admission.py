"""Defaults that admission adds to a new object, and reasons why it refuses one."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.api.objects import Pod
from scheduler_engine.errors import Rejected
from scheduler_engine.replay import make_log, replay
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import Builder, PodBuilder, make_node, make_pod, make_priority_class
from scheduler_engine.trace.events import EventRecorded

Manifest = dict[str, Any]
NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
MEMORY = "node.kubernetes.io/memory-pressure"
STAY = [(NOT_READY, "NoExecute", 300), (UNREACHABLE, "NoExecute", 300)]


def admitted(builder: PodBuilder, *others: Manifest) -> Pod:
    simulation = Simulation()
    simulation.execute(commands.Apply((*others, builder.obj())))
    pod = simulation.api.pod("default/p")
    assert pod is not None
    return pod


def refusal(*manifests: Manifest) -> str:
    simulation = Simulation()
    with pytest.raises(Rejected) as rejected:
        simulation.execute(commands.Apply(manifests))
    return str(rejected.value)


def tolerations(pod: Pod) -> list[tuple[str, str, int | None]]:
    return [(item.key, item.effect, item.seconds) for item in pod.tolerations]


@pytest.mark.parametrize(
    ("builder", "expected"),
    [
        (make_pod("p"), STAY),
        (make_pod("p").toleration(NOT_READY, None, "NoExecute", 5), [(NOT_READY, "NoExecute", 5), STAY[1]]),
        (make_pod("p").toleration(UNREACHABLE, None), [(UNREACHABLE, "", None), STAY[0]]),
        (make_pod("p").toleration("", None), [("", "", None)]),
        (make_pod("p").toleration("", None, "NoSchedule"), [("", "NoSchedule", None), *STAY]),
        (make_pod("p").toleration(NOT_READY, None, "NoSchedule"), [(NOT_READY, "NoSchedule", None), *STAY]),
        (make_pod("p").cpu("1"), [*STAY, (MEMORY, "NoSchedule", None)]),
        (make_pod("p").limit(cpu="1", memory="1Gi"), [*STAY, (MEMORY, "NoSchedule", None)]),
        (
            make_pod("p").cpu("1").toleration(MEMORY, None, "NoSchedule"),
            [(MEMORY, "NoSchedule", None), *STAY],
        ),
    ],
    ids=[
        "every pod tolerates a not-ready or unreachable node for 300 s",
        "the pod's own tolerationSeconds stay",
        "a toleration of every effect includes NoExecute",
        "a pod that tolerates everything gets none",
        "a toleration of another effect does not count",
        "nor does one with the same key",
        "a Burstable pod tolerates memory pressure",
        "a Guaranteed pod tolerates memory pressure",
        "an existing toleration is not added twice",
    ],
)
def test_default_tolerations(builder: PodBuilder, expected: list[tuple[str, str, int | None]]) -> None:
    assert tolerations(admitted(builder)) == expected


def test_a_pod_applied_again_keeps_its_default_tolerations() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((make_pod("p").cpu("1").obj(),)))
    simulation.execute(commands.Apply((make_pod("p").cpu("1").label("app", "web").obj(),)))
    pod = simulation.api.pod("default/p")
    assert pod is not None
    assert pod.labels == {"app": "web"}
    assert tolerations(pod) == [*STAY, (MEMORY, "NoSchedule", None)]


@pytest.mark.parametrize(
    ("builder", "priority", "policy"),
    [
        (make_pod("p"), 0, "PreemptLowerPriority"),
        (make_pod("p").priority_class("high"), 1000, "PreemptLowerPriority"),
        (make_pod("p").priority_class("polite"), 1000, "Never"),
        (make_pod("p").priority_class("system-node-critical"), 2_000_001_000, "PreemptLowerPriority"),
        (make_pod("p").priority_class("system-cluster-critical"), 2_000_000_000, "PreemptLowerPriority"),
        (make_pod("p").priority_class("high").priority(1000), 1000, "PreemptLowerPriority"),
        (make_pod("p").priority_class("polite").never_preempts(), 1000, "Never"),
        (make_pod("p").spec(preemptionPolicy="PreemptLowerPriority"), 0, "PreemptLowerPriority"),
        (make_pod("p").priority(5), 5, "PreemptLowerPriority"),
    ],
    ids=[
        "without a class a pod gets 0 and may preempt",
        "a class may let its pods preempt",
        "a class may forbid its pods to preempt",
        "system-node-critical is known",
        "system-cluster-critical is known",
        "the number of the class may be set",
        "the policy of the class may be set",
        "the policy may be set without a class",
        "a number without a class may preempt",
    ],
)
def test_a_pod_holds_the_priority_and_policy_of_its_class(builder: PodBuilder, priority: int, policy: str) -> None:
    pod = admitted(builder, make_priority_class("high", 1000), make_priority_class("polite", 1000, "Never"))
    assert (pod.spec["priority"], pod.spec["preemptionPolicy"]) == (priority, policy)


@pytest.mark.parametrize(
    ("builder", "held"),
    [
        (make_pod("p"), (7, "Never", "usual")),
        (make_pod("p").priority(7), (7, "Never", "usual")),
        (make_pod("p").priority(8), (8, "PreemptLowerPriority", None)),
    ],
    ids=["without a number", "with its number", "with another number the pod has no class"],
)
def test_the_policy_of_the_default_class(builder: PodBuilder, held: tuple[int, str, str | None]) -> None:
    spec = admitted(builder, make_priority_class("usual", 7, "Never", default=True)).spec
    assert (spec["priority"], spec["preemptionPolicy"], spec.get("priorityClassName")) == held


def test_the_default_class_serves_pods_that_name_none_and_later_ones_only() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((make_pod("early").obj(), make_priority_class("usual", 7, default=True))))
    simulation.execute(commands.Apply((make_pod("p").obj(),)))
    early, late = simulation.api.pod("default/early"), simulation.api.pod("default/p")
    assert early is not None
    assert late is not None
    assert (early.priority, late.priority, late.spec["priorityClassName"]) == (0, 7, "usual")


def test_pods_keep_their_priority_when_their_class_is_deleted() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((make_priority_class("high", 1000), make_pod("p").priority_class("high").obj())))
    simulation.execute(commands.Delete("PriorityClass", "high"))
    pod = simulation.api.pod("default/p")
    assert pod is not None
    assert pod.priority == 1000
    with pytest.raises(Rejected, match="no PriorityClass with name high was found"):
        simulation.execute(commands.Apply((make_pod("late").priority_class("high").obj(),)))


USUAL = make_priority_class("usual", 7, default=True)
HIGH = make_priority_class("high", 1000)


@pytest.mark.parametrize(
    ("manifests", "text"),
    [
        (
            (make_pod("p").priority_class("nobody").obj(),),
            'pods "p" is forbidden: no PriorityClass with name nobody was found',
        ),
        (
            (HIGH, make_pod("p").priority_class("high").priority(5).obj()),
            'pods "p" is forbidden: the integer value of priority (5) must not be provided in pod spec; '
            "priority admission controller computed 1000 from the given PriorityClass name",
        ),
        (
            (HIGH, make_pod("p").priority_class("high").never_preempts().obj()),
            'pods "p" is forbidden: the string value of PreemptionPolicy (Never) must not be provided in pod spec; '
            "priority admission controller computed PreemptLowerPriority from the given PriorityClass name",
        ),
        (
            (make_pod("p").never_preempts().obj(),),
            'pods "p" is forbidden: the string value of PreemptionPolicy (Never) must not be provided in pod spec; '
            "priority admission controller computed PreemptLowerPriority from the given PriorityClass name",
        ),
        (
            (make_pod("p").priority(5).never_preempts().obj(),),
            'pods "p" is forbidden: the string value of PreemptionPolicy (Never) must not be provided in pod spec; '
            "priority admission controller computed PreemptLowerPriority from the given PriorityClass name",
        ),
        (
            (
                make_priority_class("polite", 5, "Never", default=True),
                make_pod("p").spec(preemptionPolicy="PreemptLowerPriority").obj(),
            ),
            'pods "p" is forbidden: the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided '
            "in pod spec; priority admission controller computed Never from the given PriorityClass name",
        ),
        (
            (USUAL, make_priority_class("other", 8, default=True)),
            'priorityclasses.scheduling.k8s.io "other" is forbidden: PriorityClass usual is already marked as default. '
            "Only one default can exist",
        ),
        (
            (make_priority_class("system-mine", 5),),
            "priority class names with 'system-' prefix are reserved for system use only. "
            "error: system-mine is not a known system priority class",
        ),
        (
            (make_priority_class("huge", 1_000_000_001),),
            "maximum allowed value of a user defined priority is 1000000000",
        ),
    ],
    ids=[
        "a class that does not exist",
        "a class and another number",
        "a class and another policy",
        "a policy without a class",
        "a policy beside a number without a class",
        "a policy other than that of the default class",
        "a second default class",
        "a reserved name",
        "a number for the system only",
    ],
)
def test_priorities_that_are_refused(manifests: tuple[Manifest, ...], text: str) -> None:
    assert text in refusal(*manifests)


def test_an_update_makes_no_second_default_class_either() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((USUAL, HIGH)))
    with pytest.raises(Rejected, match="already marked as default"):
        simulation.execute(commands.Apply(({**HIGH, "globalDefault": True},)))
    simulation.execute(commands.Apply(({**USUAL, "globalDefault": False}, {**HIGH, "globalDefault": True})))


def kata(**fields: Any) -> Manifest:
    return {**Builder("node.k8s.io/v1", "RuntimeClass", "kata-fc").obj(), "handler": "kata-fc", **fields}


OVERHEAD = {"overhead": {"podFixed": {"memory": "120Mi", "cpu": "250m"}}}


def test_the_overhead_of_kata_fc_counts_for_the_scheduler() -> None:
    builder = make_pod("p").request(cpu="500m", memory="100Mi").limit(cpu="500m", memory="100Mi")
    builder.container("second", resources={"limits": {"cpu": "1500m", "memory": "100Mi"}})
    simulation = Simulation()
    simulation.execute(commands.Apply((make_node("n1").obj(), kata(**OVERHEAD))))
    simulation.execute(commands.Apply((builder.spec(runtimeClassName="kata-fc").obj(),)))
    simulation.execute(commands.Settle())
    requested = simulation.scheduler.cache.nodes["n1"].requested
    assert (requested.milli_cpu, requested.memory) == (2250, 320 * 1024**2)


@pytest.mark.parametrize(
    ("builder", "text"),
    [
        (
            make_pod("p").spec(runtimeClassName="gvisor"),
            'pods "p" is forbidden: pod rejected: RuntimeClass "gvisor" not found',
        ),
        (
            make_pod("p").spec(overhead={"cpu": "1"}),
            "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
        ),
        (
            make_pod("p").spec(runtimeClassName="kata-fc", overhead={"cpu": "1"}),
            "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
        ),
    ],
    ids=["a class that does not exist", "an overhead without a class", "another overhead than that of the class"],
)
def test_overheads_that_are_refused(builder: PodBuilder, text: str) -> None:
    assert text in refusal(kata(**OVERHEAD), builder.obj())


@pytest.mark.parametrize(
    ("builder", "selector"),
    [
        (make_pod("p"), {"disk": "ssd"}),
        (make_pod("p").node_selector({"zone": "a"}), {"zone": "a", "disk": "ssd"}),
        (make_pod("p").node_selector({"disk": "ssd"}), {"disk": "ssd"}),
    ],
    ids=["alone", "beside the pod's own", "when the pod has the same"],
)
def test_the_node_selector_of_a_runtime_class_holds_for_its_pods(builder: PodBuilder, selector: dict[str, str]) -> None:
    runtime_class = kata(scheduling={"nodeSelector": {"disk": "ssd"}})
    assert admitted(builder.spec(runtimeClassName="kata-fc"), runtime_class).spec["nodeSelector"] == selector


def test_a_node_selector_against_that_of_the_runtime_class_is_refused() -> None:
    builder = make_pod("p").spec(runtimeClassName="kata-fc").node_selector({"disk": "hdd"})
    assert refusal(kata(scheduling={"nodeSelector": {"disk": "ssd"}}), builder.obj()).endswith(
        'pods "p" is forbidden: '
        "conflict: runtimeClass.scheduling.nodeSelector[disk] = ssd; pod.spec.nodeSelector[disk] = hdd"
    )


def scheduled(pod: Pod | None) -> list[tuple[str, str, str, str]]:
    """Return type, status, reason and message of the conditions."""
    fields = ("type", "status", "reason", "message")
    return [tuple(item.get(name, "") for name in fields) for item in pod.conditions] if pod else []


GATED = ("PodScheduled", "False", "SchedulingGated", "Scheduling is blocked due to non-empty scheduling gates")
SAID = {"type": "PodScheduled", "status": "False", "reason": "Mine"}


@pytest.mark.parametrize(
    ("builder", "conditions"),
    [
        (make_pod("p").gate("example.com/quota"), [GATED]),
        (make_pod("p").gate("a").status(conditions=[{"type": "x", "status": "True"}]), [("x", "True", "", ""), GATED]),
        (make_pod("p").gate("a").status(conditions=[SAID]), [("PodScheduled", "False", "Mine", "")]),
        (make_pod("p"), []),
    ],
    ids=[
        "a gated pod says so in its status",
        "beside the existing conditions of its status",
        "unless its status has PodScheduled",
        "a pod without gates does not",
    ],
)
def test_the_condition_of_a_gated_pod(builder: PodBuilder, conditions: list[tuple[str, str, str, str]]) -> None:
    assert scheduled(admitted(builder)) == conditions


def test_a_pod_stays_gated_in_its_status_until_the_scheduler_has_tried_it() -> None:
    simulation = Simulation()
    for builder in (make_pod("p").gate("a"), make_pod("p")):
        simulation.execute(commands.Apply((builder.obj(),)))
        assert scheduled(simulation.api.pod("default/p")) == [GATED]
    simulation.execute(commands.Settle())
    assert [item[:3] for item in scheduled(simulation.api.pod("default/p"))] == [
        ("PodScheduled", "False", "Unschedulable")
    ]


@pytest.mark.parametrize(
    ("builder", "computed"),
    [(make_pod("p").priority(5), 0), (make_pod("p").priority(-1), 0)],
)
def test_a_number_alone_is_refused_as_in_a_cluster(builder: PodBuilder, computed: int) -> None:
    simulation = Simulation(priority_numbers=False)
    number = builder.obj()["spec"]["priority"]
    with pytest.raises(Rejected) as refusal:
        simulation.execute(commands.Apply((builder.obj(),)))
    assert str(refusal.value).endswith(
        f'pods "p" is forbidden: the integer value of priority ({number}) must not be provided in pod spec; '
        f"priority admission controller computed {computed} from the given PriorityClass name"
    )
    assert simulation.api.pods() == []
    log = make_log(42, None, simulation.history.commands if simulation.history else [], priority_numbers=False)
    assert replay(log).history == simulation.history


def test_the_default_class_is_that_with_the_smallest_number() -> None:
    """Two default classes occur only by a race, or by hand in an import."""
    simulation = Simulation(priority_numbers=False)
    for name, value in (("more", 9), ("less", 7)):
        manifest = {**make_priority_class(name, value, default=True), "metadata": {"name": name, "uid": name}}
        simulation.api.put(manifest)
    simulation.execute(commands.Apply((make_pod("p").obj(),)))
    pod = simulation.api.pod("default/p")
    assert pod is not None
    assert (pod.priority, pod.spec["priorityClassName"]) == (7, "less")


def test_the_system_classes_exist_and_stay() -> None:
    simulation = Simulation()
    classes = {item.name: item for item in simulation.api.list("PriorityClass")}
    assert {name: item.manifest["value"] for name, item in classes.items()} == {
        "system-node-critical": 2_000_001_000,
        "system-cluster-critical": 2_000_000_000,
    }
    priority_class = make_priority_class("system-node-critical", 2_000_001_000)
    refused = (
        commands.Delete("PriorityClass", "system-node-critical"),
        commands.Replace("PriorityClass", "system-node-critical", priority_class),
    )
    for command in refused:
        with pytest.raises(Rejected, match="this is a system priority class and cannot be deleted"):
            simulation.execute(command)
    simulation.execute(commands.Apply((priority_class,)))
    assert len(list(simulation.api.list("PriorityClass"))) == 2


def test_templates_with_a_number_get_no_pods() -> None:
    simulation = Simulation(priority_numbers=False)
    spec = make_pod("p").priority(5).obj()["spec"]
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": spec},
        },
    }
    simulation.execute(commands.Apply((owner,)))
    simulation.execute(commands.Advance(1))
    assert simulation.api.pods() == []
    messages = [entry.event.message for entry in simulation.recorder.entries if isinstance(entry.event, EventRecorded)]
    assert any("must not be provided in pod spec" in text for text in messages)
