"""A log becomes a scenario with the same trace; a cluster becomes manifests that another cluster accepts."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_engine import commands
from scheduler_engine.api.loading import load_manifests
from scheduler_engine.api.validation import validate
from scheduler_engine.commands import Command
from scheduler_engine.errors import Rejected
from scheduler_engine.replay import make_log, replay, trace_digest
from scheduler_engine.scenario import Scenario, play, read_scenario
from scheduler_engine.scenario.exporting import from_log
from scheduler_engine.scenario.manifests import manifests, manifests_text, simulator_snapshot
from scheduler_engine.scenario.writing import dump
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import Builder, make_node, make_pod, make_priority_class
from tests.engine import histories
from tests.engine.gangs import make_group, member
from tests.installed import SCENARIOS

COMMANDS = st.one_of(
    histories.NEW_PODS,
    histories.VIPS,
    histories.WRITES,
    histories.AROUND,
    histories.TROUBLE,
    histories.STEPS,
    histories.LONGER,
    histories.REPLICAS,
    histories.MISHAPS,
    histories.faults(),
    histories.MISTAKES,
    st.builds(commands.Configure, histories.CONFIGURATIONS),
    st.builds(
        lambda named: commands.Delete(*named),
        st.sampled_from(
            [("PriorityClass", "high"), ("PriorityClass", "usual"), ("RuntimeClass", "boxed"), ("Namespace", "other")]
        ),
    ),
    st.builds(commands.Run, until=st.integers(1, 30)),
    st.builds(commands.Advance, st.sampled_from([0.5, 1, 2.0]), st.just(True)),
)
LOGS = st.lists(COMMANDS, max_size=14)
RULES = st.sampled_from(["v1.34", "design-doc"])


def executed(seed: int, configuration: Any, rules: str, wanted: list[Command]) -> Simulation:
    """Execute the commands. Skip refused ones, as a log does."""
    simulation = Simulation(seed, configuration, True, rules)
    for command in [histories.START, *wanted]:
        try:
            simulation.execute(command)
        except Rejected:
            continue
    return simulation


def log_of(simulation: Simulation) -> list[Command]:
    assert simulation.history is not None
    return simulation.history.commands


def played(scenario: Scenario) -> Simulation:
    simulation = scenario.open()
    play(simulation, scenario.then)
    return simulation


# --- logs ------------------------------------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 3), configuration=histories.CONFIGURATIONS, rules=RULES, wanted=LOGS, share=st.integers(0, 9)
)
def test_a_scenario_of_a_log_plays_to_the_same_trace(
    seed: int, configuration: Any, rules: str, wanted: list[Command], share: int
) -> None:
    simulation = executed(seed, configuration, rules, wanted)
    log = json.loads(json.dumps(make_log(seed, configuration, log_of(simulation), rules)))
    cut = len(log["commands"]) * share // 9
    scenario = from_log(seed, configuration, rules, log["commands"], setup=cut)
    assert (len(scenario.setup), len(scenario.then)) == (cut, len(log["commands"]) - cut)
    again = read_scenario(dump(scenario), "sandbox.yaml")
    assert again == scenario
    assert trace_digest(played(again)) == trace_digest(replay(log)) == trace_digest(simulation)


@pytest.mark.parametrize("slug", [*SCENARIOS][::9])
def test_an_installed_scenario_equals_the_one_from_its_own_log(slug: str) -> None:
    simulation = played(SCENARIOS[slug])
    installed = SCENARIOS[slug]
    log = make_log(installed.seed, installed.configuration, log_of(simulation), installed.queue_rules)
    scenario = from_log(
        installed.seed, installed.configuration, installed.queue_rules, log["commands"], setup=len(installed.setup)
    )
    assert trace_digest(played(read_scenario(dump(scenario)))) == trace_digest(simulation)


def test_default_arguments_of_a_command_are_left_out_and_the_rest_stays() -> None:
    log: list[Any] = [
        {"kind": "run", "cycles": 1000},
        commands.Run(2),
        commands.Advance(3.0),
        commands.Advance(1.5, play=True),
        commands.Replica("kube-scheduler-1", "rate", rate=2.0),
        commands.Cordon("n1", on=True),
        commands.PodCycle(until=7),
    ]
    scenario = from_log(1, None, "v1.34", log, title="My own", about="What I saw", expect=[{"clock": 3}])
    assert scenario.then == ()
    assert scenario.setup == (
        {"kind": "run"},
        {"kind": "run", "cycles": 2},
        {"kind": "advance", "seconds": 3},
        {"kind": "advance", "seconds": 1.5, "play": True},
        {"kind": "replica", "replica": "kube-scheduler-1", "action": "rate", "rate": "2.0"},
        {"kind": "cordon", "node": "n1"},
        {"kind": "pod", "until": 7},
    )
    assert (scenario.title, scenario.about, scenario.expect) == ("My own", "What I saw", ({"clock": 3},))
    assert 'rate: "2.0"' in dump(scenario)


@pytest.mark.parametrize("log", [[{"kind": "jump"}], [{}], [{"kind": "run", "cycles": 0}]])
def test_an_invalid_log_is_refused(log: list[Any]) -> None:
    with pytest.raises(Rejected):
        from_log(1, None, "v1.34", log)


def test_numbers_of_a_manifest_come_through_as_they_were_written() -> None:
    """JSON distinguishes 1.0 from 1, and so does the trace; YAML does not."""
    node = make_node("n1").capacity(cpu="2").obj()
    node["status"]["capacity"]["example.com/gpu"] = 2.0
    log = [commands.Apply((node,)), commands.Run()]
    scenario = from_log(1, None, "v1.34", log)
    simulation = Simulation(1)
    for command in log:
        simulation.execute(command)
    assert trace_digest(played(read_scenario(dump(scenario)))) == trace_digest(simulation)


# --- manifests -------------------------------------------------------------------------------------------------------


def in_another_cluster(exported: list[Any]) -> Simulation:
    """Apply these manifests to a new cluster, from their text."""
    simulation = Simulation()
    parsed = [manifest.data for manifest in load_manifests(manifests_text(exported, simulation.rules))]
    assert parsed == exported
    if exported:
        simulation.execute(commands.Apply(tuple(parsed)))
    return simulation


def settled(simulation: Simulation) -> bool:
    """Return True if nothing is terminating: an export leaves terminating objects and their dependents out."""
    return not any(item.terminating for kind in simulation.api.objects for item in simulation.api.list(kind))


@given(wanted=LOGS)
def test_manifests_of_any_cluster_are_accepted_by_another_one(wanted: list[Command]) -> None:
    simulation = executed(1, None, "v1.34", wanted)
    before = copy.deepcopy(simulation.api.objects)
    exported = manifests(simulation)
    assert [error for manifest in exported for error in validate(manifest)] == []
    assert manifests(in_another_cluster(exported)) == exported
    kwok = manifests(simulation, kwok=True, taint=True)
    assert [error for manifest in kwok for error in validate(manifest)] == []
    assert {kind: {key: item.manifest for key, item in held.items()} for kind, held in before.items()} == {
        kind: {key: item.manifest for key, item in held.items()} for kind, held in simulation.api.objects.items()
    }


def run_with(*objects: Any) -> Simulation:
    simulation = Simulation()
    simulation.execute(commands.Apply(objects))
    simulation.execute(commands.Run())
    return simulation


def test_a_persons_manifest_comes_back_without_the_clusters_additions() -> None:
    node = make_node("n1").obj()
    pod = {**make_pod("web").cpu("500m").obj(), "metadata": {"name": "web"}}
    simulation = run_with(node, pod)
    assert simulation.api.pod("default/web").node_name == "n1"  # type: ignore[union-attr]
    assert manifests(simulation) == [node, pod]


def test_a_pod_group_comes_back_without_its_status() -> None:
    group, pods = make_group("train", 2), [member("train", number).obj() for number in range(2)]
    simulation = run_with(make_node("n1").obj(), group, *pods)
    held = simulation.api.get("PodGroup", "default/train")
    assert held is not None
    assert held.status
    (exported,) = [item for item in manifests(simulation) if item["kind"] == "PodGroup"]
    assert exported["spec"] == group["spec"]
    assert "status" not in exported


def test_with_all_additions_manifests_equal_the_stored_objects() -> None:
    simulation = run_with(make_node("n1").obj(), make_pod("web").obj())
    by_name = {(item["kind"], item["metadata"]["name"]): item for item in manifests(simulation, added=True)}
    web = by_name["Pod", "web"]
    assert web["spec"]["nodeName"] == "n1"
    assert web["status"]["phase"] == "Running"
    assert web["metadata"]["uid"]
    assert ("Namespace", "kube-system") in by_name


def test_later_changes_are_included() -> None:
    simulation = run_with(make_node("n1").obj(), make_node("n2").obj(), histories.workload("Deployment", 1))
    for command in (
        commands.Scale("Deployment", "default/web", 3),
        commands.Cordon("n1"),
        commands.Taint("n2", "dedicated", "NoSchedule", "db"),
        commands.Patch("Node", "n2", {"metadata": {"labels": {"disk": "ssd"}}}),
        commands.NodeCondition("n2", "Ready", "False"),
        commands.Run(),
    ):
        simulation.execute(command)
    assert "node.kubernetes.io/not-ready" in str(manifests(simulation, added=True))
    one, two, web = manifests(simulation)
    assert one["spec"] == {"unschedulable": True}
    assert two["spec"] == {"taints": [{"key": "dedicated", "value": "db", "effect": "NoSchedule"}]}
    assert two["metadata"]["labels"]["disk"] == "ssd"
    assert (web["kind"], web["spec"]["replicas"]) == ("Deployment", 3)
    assert "strategy" not in web["spec"]


def test_a_node_name_that_a_person_gave_stays() -> None:
    simulation = run_with(make_node("n1").obj(), make_pod("web").node("n1").obj())
    assert manifests(simulation)[-1]["spec"]["nodeName"] == "n1"


def test_dependents_and_terminating_objects_are_left_out() -> None:
    simulation = run_with(make_node("n1").obj(), histories.workload("Deployment", 2), make_pod("web").obj())
    simulation.execute(commands.Delete("Pod", "default/web"))
    assert [item["kind"] for item in manifests(simulation)] == ["Node", "Deployment"]


def test_an_orphan_is_exported_without_its_defaults() -> None:
    simulation = run_with(make_node("n1").obj(), histories.workload("ReplicaSet", 1))
    simulation.execute(commands.Delete("ReplicaSet", "default/web", "Orphan"))
    simulation.execute(commands.Run())
    _, left = manifests(simulation)
    assert left["kind"] == "Pod"
    assert left["metadata"]["labels"] == {"app": "web"}
    assert {*left["metadata"]} == {"name", "namespace", "labels"}
    (container,) = left["spec"]["containers"]
    assert {*container} == {"name", "image", "resources"}
    assert not {"restartPolicy", "schedulerName", "nodeName", "priority"} & {*left["spec"]}


def test_a_priority_that_is_only_a_number_becomes_a_class() -> None:
    simulation = run_with(
        make_node("n1").obj(),
        make_priority_class("high", 1000),
        make_pod("a").priority(7).obj(),
        make_pod("b").priority(7).obj(),
        make_pod("c").priority(-5).obj(),
        make_pod("d").priority(1000).obj(),
        make_pod("e").priority(0).obj(),
        make_pod("f").priority_class("high").obj(),
        make_pod("g").priority(2_000_000_000).obj(),
    )
    exported = manifests(simulation)
    classes = {item["metadata"]["name"]: item["value"] for item in exported if item["kind"] == "PriorityClass"}
    assert classes == {"priority-7": 7, "priority-minus-5": -5, "high": 1000}
    names = [item["spec"].get("priorityClassName") for item in exported if item["kind"] == "Pod"]
    assert names == [
        "priority-7", "priority-7", "priority-minus-5", "high", None, "high", "system-cluster-critical",
    ]  # fmt: skip
    assert not [item for item in exported if "priority" in item.get("spec", {})]
    before = {pod.name: pod.priority for pod in simulation.api.pods()}
    assert {pod.name: pod.priority for pod in in_another_cluster(exported).api.pods()} == before


def test_nodes_can_be_those_that_kwok_plays() -> None:
    simulation = run_with(make_node("n1").obj(), histories.workload("DaemonSet", 0), make_pod("web").obj())
    node, daemons, pod = manifests(simulation, kwok=True)
    assert node["metadata"]["annotations"] == {"kwok.x-k8s.io/node": "fake"}
    assert "taints" not in node.get("spec", {})
    assert "tolerations" not in pod["spec"]
    node, daemons, pod = manifests(simulation, kwok=True, taint=True)
    toleration = {"key": "kwok.x-k8s.io/node", "operator": "Exists", "effect": "NoSchedule"}
    assert node["spec"]["taints"] == [{"key": "kwok.x-k8s.io/node", "value": "fake", "effect": "NoSchedule"}]
    assert pod["spec"]["tolerations"] == daemons["spec"]["template"]["spec"]["tolerations"] == [toleration]


def test_a_snapshot_for_the_simulator_has_its_lists_and_the_configuration() -> None:
    volume = histories.volume("v1", "local", "n1")
    simulation = run_with(
        make_node("n1").obj(),
        make_priority_class("high", 1000),
        histories.storage_class("local", "WaitForFirstConsumer", "kubernetes.io/no-provisioner"),
        volume,
        histories.claim("late", "local"),
        make_pod("web").claim("late").priority(5).obj(),
        Builder("v1", "Namespace", "other").obj(),
        histories.workload("Deployment", 1),
    )
    snapshot = json.loads(json.dumps(simulator_snapshot(simulation)))
    names = {key: [item["metadata"]["name"] for item in snapshot[key]] for key in snapshot if key != "schedulerConfig"}
    (stand_in,) = [name for name in names["pods"] if name != "web"]
    assert names == {
        "pods": ["web", stand_in],
        "nodes": ["n1"],
        "pvs": ["v1"],
        "pvcs": ["late"],
        "storageClasses": ["local"],
        "priorityClasses": ["priority-5", "high"],
        "namespaces": ["other"],
    }
    assert snapshot["schedulerConfig"]["kind"] == "KubeSchedulerConfiguration"
    assert [pod["spec"]["nodeName"] for pod in snapshot["pods"]] == ["n1", "n1"]
    assert snapshot["pvs"][0]["spec"]["claimRef"]["name"] == "late"
    items = [item for key in names for item in snapshot[key]]
    assert not [item for item in items if {"uid", "resourceVersion", "ownerReferences"} & {*item["metadata"]}]


def test_deleted_objects_that_pods_name_are_created_again() -> None:
    boxed = histories.runtime_class()
    simulation = run_with(
        make_node("n1").obj(),
        make_priority_class("high", 1000),
        make_priority_class("usual", 5, default=True),
        boxed,
        Builder("v1", "Namespace", "other").obj(),
        make_pod("a", "other").priority_class("high").obj(),
        make_pod("b").spec(runtimeClassName="boxed").obj(),
    )
    for kind, name in (("PriorityClass", "high"), ("PriorityClass", "usual"), ("RuntimeClass", "boxed")):
        simulation.execute(commands.Delete(kind, name))
    simulation.api.objects["Namespace"].pop("other")
    exported = manifests(simulation)
    created = [{name: value for name, value in item.items() if name != "apiVersion"} for item in exported[:4]]
    assert created == [
        {"kind": "Namespace", "metadata": {"name": "other"}},
        {"kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000},
        {
            "kind": "RuntimeClass",
            "metadata": {"name": "boxed"},
            "handler": "boxed",
            "overhead": {"podFixed": {"cpu": "250m"}},
        },
        {"kind": "PriorityClass", "metadata": {"name": "usual"}, "value": 5},
    ]
    assert [error for manifest in exported for error in validate(manifest)] == []
    assert {pod.key: pod.priority for pod in in_another_cluster(exported).api.pods()} == {
        "other/a": 1000,
        "default/b": 5,
    }


def test_a_class_whose_pods_do_not_preempt_does_not_fit_pods_that_do() -> None:
    quiet = make_priority_class("quiet", 7, "Never")
    simulation = run_with(quiet, make_priority_class("priority-7", 8), make_pod("a").priority(7).obj())
    assert manifests(simulation)[-1]["spec"]["priorityClassName"] == "priority-7-x"
