"""Dumps become sandboxes: bound pods are bound there, and stay so. Nothing secret comes through."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
import yaml

from scheduler_engine import commands
from scheduler_engine.api.pod_groups import LABEL
from scheduler_engine.errors import Rejected
from scheduler_engine.importing import Choices, Gathered, Import, gather, prepare
from scheduler_engine.simulation import Simulation
from tests.engine import dumps
from tests.engine.gangs import make_group, member

Manifest = dict[str, Any]


def simulated(result: Import) -> Simulation:
    simulation = Simulation(configuration=result.configuration)
    for command in result.commands():
        simulation.execute(commands.from_json(command))
    return simulation


def placements(simulation: Simulation) -> dict[str, str]:
    return {pod.key: pod.node_name for pod in simulation.api.pods()}


def expected(objects: list[Manifest]) -> dict[str, str]:
    """Return the nodes of the imported pods of a dump."""
    nodes = {item["metadata"]["name"] for item in objects if item["kind"] == "Node"}
    results: dict[str, str] = {}
    for item in objects:
        if item["kind"] == "Pod" and item.get("status", {}).get("phase") not in ("Succeeded", "Failed"):
            node = item["spec"].get("nodeName", "")
            if not node or node in nodes:
                results[f"{item['metadata']['namespace']}/{item['metadata']['name']}"] = node
    return results


def keys(result: Import) -> dict[str, int]:
    return {notice.key: notice.count for notice in result.notices}


@pytest.mark.parametrize("seed", range(6))
def test_bound_pods_stay_bound_and_running_does_not_move_them(seed: int) -> None:
    cluster = dumps.cluster(seed, nodes=9, pods=70)
    result = prepare(gather(dumps.as_json(cluster.objects)))
    simulation = simulated(result)
    before = placements(simulation)
    assert before == expected(cluster.objects)
    simulation.execute(commands.Run())
    after = placements(simulation)
    stays = {key: node for key, node in before.items() if node and key not in result.terminating}
    assert {key: after.get(key) for key in stays} == stays
    assert after.keys() <= before.keys(), "no pods beyond those of the cluster"


@pytest.mark.parametrize("seed", range(3))
def test_pods_keep_phase_readiness_and_their_way_out(seed: int) -> None:
    cluster = dumps.cluster(seed, nodes=9, pods=120)
    result = prepare(gather(dumps.as_json(cluster.objects)))
    simulation = simulated(result)
    simulation.execute(commands.Advance(20))
    for item in cluster.objects:
        key = f"{item['metadata'].get('namespace')}/{item['metadata']['name']}"
        pod = simulation.api.pod(key) if item["kind"] == "Pod" else None
        if pod is None or not item["spec"].get("nodeName"):
            continue
        assert pod.phase == item["status"]["phase"], key
        assert pod.terminating == ("deletionTimestamp" in item["metadata"]), key
        if pod.phase == "Running":
            assert pod.condition_status("Ready") == item["status"]["conditions"][2]["status"], key


FORMS = {
    "YAML of kubectl": dumps.as_yaml,
    "many documents": dumps.as_documents,
    "JSON, packed": lambda objects: gzip.compress(dumps.as_json(objects)),
    "JSON in one line after another": lambda objects: "\n".join(map(json.dumps, objects)).encode(),
    "JSON with a byte order mark": lambda objects: b"\xef\xbb\xbf" + dumps.as_json(objects),
    "a list in JSON": lambda objects: json.dumps(objects).encode(),
    "a list in a list": lambda objects: json.dumps(dumps.as_list([dumps.as_list(objects)])).encode(),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_dump_gives_the_same_import(form: str) -> None:
    objects = dumps.cluster(4, nodes=5, pods=30).objects
    plain, other = prepare(gather(dumps.as_json(objects))), prepare(gather(FORMS[form](objects)))
    assert other.objects == plain.objects
    assert other.notices == plain.notices
    assert other.summary == plain.summary


def test_the_folder_of_cluster_info_dump_is_read_and_its_logs_are_not() -> None:
    objects = dumps.cluster(5, nodes=6, pods=40).objects
    result = prepare(gather(dumps.as_zip(objects)))
    bound = {key: node for key, node in expected(objects).items() if node}
    assert {key: node for key, node in placements(simulated(result)).items() if node} == bound
    assert dumps.SECRET not in json.dumps(result.commands())
    assert [item.kind for item in result.skipped] == ["Event"]
    assert result.skipped[0].place.startswith("dump/team-1/events.json, items[")


def test_an_import_can_be_stored_as_json() -> None:
    read = gather(dumps.as_yaml(dumps.cluster(2, nodes=4, pods=20).objects))
    kept = Gathered.from_json(json.loads(json.dumps(read.as_json())))
    assert prepare(kept) == prepare(read)


def test_an_import_does_not_change_its_input() -> None:
    read = gather(dumps.as_json(dumps.cluster(2, nodes=4, pods=40).objects))
    before = json.dumps(read.as_json())
    for choices in (Choices(), Choices(anonymous=True)):
        first, second = prepare(read, choices), prepare(read, choices)
        assert first == second
    assert json.dumps(read.as_json()) == before


# --- secrets and names ------------------------------------------------------------------------------------------------


def test_nothing_secret_comes_along() -> None:
    read = gather(dumps.as_yaml(dumps.cluster(1, nodes=5, pods=40).objects))
    assert dumps.SECRET not in json.dumps(read.as_json())
    result = prepare(read)
    assert {"environment", "commands", "annotations", "secret-data"} <= keys(result).keys()
    assert [item for item in result.objects if item["kind"] in ("Secret", "ConfigMap")] == []


@pytest.mark.parametrize("seed", range(4))
def test_invented_names_change_no_placement(seed: int) -> None:
    objects = dumps.cluster(seed, nodes=9, pods=80).objects
    for number, item in enumerate(objects):
        # Some pending pods, so that there is something to decide.
        if item["kind"] == "Pod" and number % 3 == 0 and item["metadata"]["namespace"].startswith("team"):
            item["spec"].pop("nodeName", None)
            item["status"] = {"phase": "Pending"} if item["status"].get("phase") == "Running" else item["status"]
    read = gather(dumps.as_json(objects))
    decided = []
    for choices in (Choices(), Choices(anonymous=True)):
        simulation = simulated(prepare(read, choices))
        simulation.execute(commands.Run())
        nodes = {node.name: index for index, node in enumerate(simulation.api.list("Node"))}
        decided.append([nodes.get(pod.node_name) for pod in simulation.api.pods()])
    assert decided[0] == decided[1]
    assert sum(node is not None for node in decided[0]) > 40


def test_invented_names_leave_none_of_the_real_ones() -> None:
    objects = dumps.cluster(3, nodes=6, pods=60).objects
    result = prepare(gather(dumps.as_json(objects)), Choices(anonymous=True))
    # Scheduler names stay: they select the profiles.
    text = json.dumps(result.commands()).replace("acme-scheduler", "")
    for word in ("acme", "ip-10-0", "team-", "compute.internal", "eu-west", "registry", "not-in-the-dump", "bbbb"):
        assert word not in text, word
    for app in dumps.APPS:
        assert f'"{app}' not in text, app
    for kept in ("topology.kubernetes.io/zone", "kubernetes.io/hostname", "system-node-critical", "ebs.csi.aws.com"):
        assert kept in text, kept


def test_invented_names_are_the_same_each_time_and_follow_the_order_of_the_real_ones() -> None:
    read = gather(dumps.as_json(dumps.cluster(3, nodes=12, pods=20).objects))
    result = prepare(read, Choices(anonymous=True))
    names = [item["metadata"]["name"] for item in result.objects if item["kind"] == "Node"]
    real = [item["metadata"]["name"] for item in read.objects if item["kind"] == "Node"]
    assert [name for _, name in sorted(zip(real, names, strict=True))] == sorted(names)
    assert names[0] == "node-01"


# --- reports ----------------------------------------------------------------------------------------------------------


def manifest(kind: str, name: str, **parts: Any) -> Manifest:
    metadata = {"name": name, **parts.pop("metadata", {})}
    return {"apiVersion": parts.pop("version", "v1"), "kind": kind, "metadata": metadata, **parts}


def pod(name: str, node: str = "", **more: Any) -> Manifest:
    spec = {
        "containers": [{"name": "c", "image": "x:1"}],
        **more.pop("spec", {}),
        **({"nodeName": node} if node else {}),
    }
    return manifest("Pod", name, spec=spec, **more)


NODE = manifest("Node", "n1", status={"capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"}})


def imported(*objects: Manifest, **choices: Any) -> Import:
    return prepare(gather(json.dumps(dumps.as_list(list(objects))).encode()), Choices(**choices))


@pytest.mark.parametrize("anonymous", [False, True], ids=["real names", "made-up names"])
def test_pods_stay_in_their_group(anonymous: bool) -> None:
    pods = [member("acme", number).obj() for number in range(2)]
    result = imported(make_group("acme", 2), *pods, anonymous=anonymous)
    groups = [item for item in result.objects if item["kind"] == "PodGroup"]
    names = {item["metadata"]["labels"][LABEL] for item in result.objects if item["kind"] == "Pod"}
    assert [item["spec"] for item in groups] == [{"minMember": 2}]
    assert [item["metadata"]["name"] for item in groups] == [*names] == ["podgroup-1" if anonymous else "acme"]


def test_a_pod_keeps_its_priority_whatever_became_of_its_class() -> None:
    classes = [
        manifest("PriorityClass", "now", version="scheduling.k8s.io/v1", value=5),
        manifest("PriorityClass", "usual", version="scheduling.k8s.io/v1", value=7, globalDefault=True),
    ]
    specs = {
        "as-now": {"priorityClassName": "now", "priority": 5},
        "as-before": {"priorityClassName": "now", "priority": 9},
        "older-than-the-default": {"priority": 0},
        "never": {"priority": 0, "preemptionPolicy": "Never"},
        "unknown": {"priorityClassName": "gone", "priority": -3, "preemptionPolicy": "Never"},
        "critical": {"priorityClassName": "system-cluster-critical", "priority": 2_000_000_000},
    }
    result = imported(NODE, *classes, *(pod(name, spec=spec) for name, spec in specs.items()))
    simulation = simulated(result)
    for name, spec in specs.items():
        held = simulation.api.pod(f"default/{name}")
        assert held is not None
        assert (held.priority, held.preemption_policy) == (
            spec["priority"],
            spec.get("preemptionPolicy", "PreemptLowerPriority"),
        )
    assert keys(result) == {"priority-classes": 1, "priority-numbers": 3}


def test_a_pod_keeps_its_overhead_without_its_runtime_class() -> None:
    overheads = ({"cpu": "250m"}, {"cpu": "1"}, {})
    pods = [
        pod(f"p{number}", spec={"runtimeClassName": "kata", **({"overhead": amount} if amount else {})})
        for number, amount in enumerate(overheads)
    ]
    result = imported(NODE, *pods)
    held = [simulated(result).api.pod(f"default/p{number}") for number in range(3)]
    assert [stored and stored.spec.get("overhead") for stored in held] == [
        {"cpu": "250m"},
        {"cpu": "1"},
        {"cpu": "250m"},
    ]
    assert keys(result) == {"runtime-classes": 2}


GOING = {"deletionTimestamp": "2025-03-04T05:06:07Z", "deletionGracePeriodSeconds": 30}
AUDIT = "audit.example/keep"


@pytest.mark.parametrize("phase", ["Running", "Succeeded", "Failed", "Pending"])
@pytest.mark.parametrize("anonymous", [False, True], ids=["real names", "made-up names"])
def test_a_pod_with_a_finalizer_stays_terminating_until_it_is_removed(phase: str, anonymous: bool) -> None:
    node = "" if phase == "Pending" else "n1"
    web = pod("web", node, metadata={**GOING, "finalizers": [AUDIT]}, status={"phase": phase})
    result = imported(NODE, web, anonymous=anonymous)
    assert result.summary.waiting == ()
    simulation = simulated(result)
    simulation.execute(commands.Advance(3600))
    (held,) = simulation.api.pods()
    assert held.terminating
    assert held.node_name == ("" if not node else "node-1" if anonymous else node)
    assert held.metadata["finalizers"] == ["example.com/finalizer-1" if anonymous else AUDIT]
    assert keys(result) == {"held": 1}
    simulation.execute(commands.Patch("Pod", held.key, {"metadata": {"finalizers": None}}))
    assert simulation.api.pods() == []


def test_a_pod_that_only_an_absent_controller_holds_goes() -> None:
    names = ["batch.kubernetes.io/job-tracking", "foregroundDeletion"]
    going, ended = (
        pod(name, "n1", metadata={**GOING, "finalizers": names}, status={"phase": phase})
        for name, phase in (("going", "Running"), ("ended", "Succeeded"))
    )
    result = imported(NODE, going, ended)
    assert keys(result) == {"finished": 1, "terminating": 1, "finalizers": 4}
    simulation = simulated(result)
    simulation.execute(commands.Advance(31))
    assert simulation.api.pods() == []


UNHELD = {
    "Namespace": ("v1", {}, ["kubernetes.io/pvc-protection"]),
    "Service": ("v1", {"spec": {"ports": [{"port": 80}]}}, ["service.kubernetes.io/load-balancer-cleanup"]),
    "PersistentVolumeClaim": (
        "v1",
        {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}},
        [
            *("kubernetes.io/pvc-protection", "provisioner.storage.kubernetes.io/cloning-protection"),
            "snapshot.storage.kubernetes.io/pvc-as-source-protection",
        ],
    ),
    "PersistentVolume": (
        "v1",
        {"spec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/a"}}},
        [
            *("kubernetes.io/pv-protection", "kubernetes.io/pv-controller", "external-attacher/ebs-csi-aws-com"),
            "external-provisioner.volume.kubernetes.io/finalizer",
        ],
    ),
    "ReplicaSet": (
        "apps/v1",
        {
            "spec": {
                "replicas": 0,
                "selector": {"matchLabels": {"a": "b"}},
                "template": {
                    "metadata": {"labels": {"a": "b"}},
                    "spec": {"containers": [{"name": "c", "image": "x"}]},
                },
            }
        },
        ["foregroundDeletion", "orphan"],
    ),
}
"""Kind → its version, the rest of an object, and finalizers that a cluster's controllers remove."""


@pytest.mark.parametrize("kind", UNHELD)
def test_finalizers_that_controllers_take_off_hold_nothing_forever(kind: str) -> None:
    version, parts, names = UNHELD[kind]
    item = manifest(kind, "thing", version=version, metadata={"finalizers": names, **GOING}, **parts)
    result = imported(NODE, item)
    assert keys(result).items() >= {"finalizers": len(names), "deleting": 1}.items()
    simulation = simulated(result)
    key = "thing" if kind in ("Namespace", "PersistentVolume") else "default/thing"
    simulation.execute(commands.Delete(kind, key))
    simulation.execute(commands.Advance(1))
    assert simulation.api.get(kind, key) is None


def test_other_finalizers_stay_on_objects_and_in_templates() -> None:
    version, parts, _ = UNHELD["ReplicaSet"]
    template = parts["spec"]["template"]
    kept = {**template, "metadata": {**template["metadata"], "finalizers": [AUDIT, "orphan"]}}
    spec = {**parts["spec"], "replicas": 1, "template": kept}
    web = manifest("ReplicaSet", "web", version=version, metadata={"finalizers": [AUDIT]}, spec=spec)
    simulation = simulated(imported(NODE, web))
    simulation.execute(commands.Run())
    (pod,) = simulation.api.pods()
    assert pod.metadata["finalizers"] == [AUDIT]
    simulation.execute(commands.Delete("ReplicaSet", "default/web"))
    simulation.execute(commands.Advance(60))
    assert [item.terminating for item in simulation.api.list("ReplicaSet")] == [True]
    simulation.execute(commands.Patch("ReplicaSet", "default/web", {"metadata": {"finalizers": None}}))
    simulation.execute(commands.Advance(60))
    assert [item.terminating for item in simulation.api.pods()] == [True]


def test_an_ephemeral_volume_keeps_its_claim() -> None:
    template = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "web", "uid": "u-1", "controller": True}
    claim = manifest("PersistentVolumeClaim", "web-cache", metadata={"ownerReferences": [owner]}, **template)
    volumes = [{"name": "cache", "ephemeral": {"volumeClaimTemplate": template}}]
    result = imported(NODE, claim, pod("web", "n1", spec={"volumes": volumes}, metadata={"uid": "u-1"}))
    held = simulated(result).api.pod("default/web")
    assert held is not None
    assert held.claim_names == ("web-cache",)
    assert keys(result)["ephemeral"] == 1


def test_merged_selectors_are_not_merged_twice() -> None:
    merged = {"key": "v", "operator": "In", "values": ["1"]}
    selector = {"matchLabels": {"app": "a"}, "matchExpressions": [merged]}
    term = {"topologyKey": "zone", "labelSelector": selector, "matchLabelKeys": ["v"]}
    spread = {**term, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    spec = {"affinity": affinity, "topologySpreadConstraints": [spread]}
    result = imported(NODE, pod("web", spec=spec, metadata={"labels": {"app": "a", "v": "1"}}))
    held = simulated(result).api.pod("default/web")
    assert result.skipped == ()
    assert held is not None
    assert held.topology_spread_constraints[0]["labelSelector"]["matchExpressions"] == [merged]


def test_of_several_default_classes_the_lowest_stays_default() -> None:
    classes = [
        manifest("PriorityClass", f"c{value}", version="scheduling.k8s.io/v1", value=value, globalDefault=True)
        for value in (5, 1, 9)
    ]
    result = imported(NODE, *classes, pod("web"))
    held = simulated(result).api.pod("default/web")
    assert held is not None
    assert held.priority == 1
    assert keys(result) == {"default-classes": 2}


def test_volumes_and_claims_without_each_other_are_reported() -> None:
    common = {"accessModes": ["ReadWriteOnce"]}
    claim = manifest("PersistentVolumeClaim", "lost", spec={**common, "volumeName": "gone"}, metadata={"uid": "c-1"})
    claim["spec"]["resources"] = {"requests": {"storage": "1Gi"}}
    volumes = [
        manifest(
            "PersistentVolume",
            policy.lower(),
            spec={
                **common,
                "capacity": {"storage": "1Gi"},
                "hostPath": {"path": "/a"},
                "claimRef": {"namespace": "default", "name": "gone", "uid": "c-9"},
                "persistentVolumeReclaimPolicy": policy,
            },
        )
        for policy in ("Delete", "Retain")
    ]
    result = imported(NODE, claim, *volumes)
    assert keys(result) == {"volumes-released": 1, "claims-lost": 1, "volume-places": 2}
    assert [item.name for item in simulated(result).api.list("PersistentVolume")] == ["retain"]


def test_a_deployment_without_its_replica_sets_does_not_make_its_pods_again() -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
    spec = {"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    live = manifest("Deployment", "live", version="apps/v1", spec=spec, metadata={"uid": "d-1"})
    written = manifest("Deployment", "written", version="apps/v1", spec=spec)
    result = imported(NODE, live, written)
    assert keys(result) == {"deployment-alone": 1}
    assert len(simulated(result).api.pods()) == 2


def test_excluded_objects_stay_out() -> None:
    read = gather(dumps.as_json(dumps.cluster(1, nodes=5, pods=60).objects))
    result = prepare(read, Choices(namespaces=("team-1", "kube-system"), kinds=("PodDisruptionBudget",)))
    assert {item["metadata"].get("namespace") for item in result.objects}.isdisjoint({"team-1", "kube-system"})
    assert "PodDisruptionBudget" not in result.summary.kinds
    assert result.summary.offered["PodDisruptionBudget"] > 0
    assert result.summary.namespaces["team-1"] > 0
    with pytest.raises(Rejected, match="Nothing is left to import"):
        imported(pod("web"), kinds=("Pod",), namespaces=("default",))


def test_the_chosen_pod_comes_first_of_the_pending_ones() -> None:
    objects = dumps.cluster(1, nodes=5, pods=90).objects
    read = gather(dumps.as_json(objects))
    chosen = next(item.key for item in reversed(prepare(read).summary.waiting) if item.schedules)
    for anonymous in (False, True):
        result = prepare(read, Choices(pod=chosen, anonymous=anonymous))
        assert result.summary.waiting[0].key == result.pod
        assert (result.pod == chosen) is not anonymous
    with pytest.raises(Rejected, match="this is not one of the imported pods without a node"):
        prepare(read, Choices(pod="default/nobody"))


def test_unusable_objects_are_listed_with_reason_and_place() -> None:
    text = """apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: n1}
- apiVersion: v1
  kind: Pod
  metadata: {name: Bad_Name}
  spec: {containers: [{name: c, image: x}]}
- apiVersion: policy/v1beta1
  kind: PodDisruptionBudget
  metadata: {name: old}
- apiVersion: v1
  kind: Pod
  metadata: {generateName: later-}
"""
    result = prepare(gather(text.encode()))
    skipped = [(item.kind, item.name, item.place) for item in result.skipped]
    assert skipped == [("Pod", "", "line 14"), ("Pod", "Bad_Name", "line 7"), ("PodDisruptionBudget", "old", "line 11")]
    reasons = [item.reason for item in result.skipped]
    assert "needs a name" in reasons[0]
    assert "a lowercase RFC 1123 subdomain" in reasons[1]
    assert "Kubernetes no longer serves it" in reasons[2]


def test_fields_of_a_later_version_are_left_out() -> None:
    result = imported(NODE, pod("web", spec={"brandNew": {"a": 1}, "nodeName": "n1"}))
    assert keys(result) == {"unknown-fields": 1}
    assert placements(simulated(result)) == {"default/web": "n1"}


# --- snapshots and scenarios ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("write", [json.dumps, yaml.safe_dump], ids=["JSON", "YAML"])
def test_a_snapshot_of_the_simulator_is_read_with_its_configuration(write: Any) -> None:
    objects = dumps.cluster(1, nodes=6, pods=20).objects
    profile = {"schedulerName": "acme-scheduler", "plugins": {"score": {"disabled": [{"name": "*"}]}}}
    snapshot = dumps.as_snapshot(objects, {"profiles": [profile], "leaderElection": {"leaderElect": False}})
    snapshot |= {"namespaces": None, "pods": [*snapshot["pods"], None]}
    del snapshot["pvs"]
    result = prepare(gather(write(snapshot).encode()))
    assert result.configuration is not None
    assert result.configuration["profiles"] == [profile]
    assert [item.key for item in result.summary.waiting if item.schedules] == ["team-1/elsewhere"]
    assert simulated(result).scheduler.profiles.keys() == {"acme-scheduler"}


def test_a_configuration_that_the_scheduler_refuses_is_skipped_with_the_reason() -> None:
    snapshot = {"nodes": [{"metadata": {"name": "n1"}}], "schedulerConfig": {"percentageOfNodesToScore": 101}}
    result = prepare(gather(json.dumps(snapshot).encode()))
    assert result.configuration is None
    assert result.skipped[0].kind == "KubeSchedulerConfiguration"
    assert "percentageOfNodesToScore" in result.skipped[0].reason


def test_a_scenario_is_known_as_one() -> None:
    assert gather(b"title: t\ngroup: x\nabout: a\noutcome: o\nsource: s\nsetup:\n- run: {}\n").scenario
    assert gather(b"apiVersion: scheduler-sandbox/v1\nkind: Scenario\ntitle: t\n").scenario
    assert not gather(json.dumps(NODE).encode()).scenario


DECLARING = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n"},
    "status": {"declaredFeatures": ["OfAcme", "UserNamespacesHostNetworkSupport"], "capacity": {"pods": "9"}},
}
IMAGE_VOLUME = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "default"},
    "spec": {
        "containers": [{"name": "c", "image": "x"}],
        "volumes": [{"name": "model", "image": {"reference": "registry.acme.example/model:1", "pullPolicy": "Never"}}],
    },
}


@pytest.mark.parametrize(("version", "kept"), [("v1.34", False), ("v1.35", True), ("v1.36", True)])
def test_fields_that_the_version_does_not_know_are_left_out(version: str, kept: bool) -> None:
    result = prepare(gather(dumps.as_json([DECLARING])), Choices(kubernetes=version))
    assert ("declaredFeatures" in result.objects[0]["status"]) == kept
    notice = next((item for item in result.notices if item.key == "unknown-fields"), None)
    assert (notice is None) == kept
    if notice is not None:
        assert notice.text == "1 object has fields that v1.34 does not know. They were left out."
        assert notice.examples == ("Node: status.declaredFeatures",)


HAS = {"resources": {"requests": {"cpu": "3"}}, "allocatedResources": {"cpu": "2"}}
RESIZED = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "default"},
    "spec": {"resources": {"requests": {"cpu": "1"}}, "containers": [{"name": "c", "image": "x"}]},
    "status": {"phase": "Pending", **HAS},
}
NEEDED = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "CSIDriver",
    "metadata": {"name": "csi.example.com"},
    "spec": {"attachRequired": True, "preventPodSchedulingIfMissing": True},
}


@pytest.mark.parametrize(
    ("version", "has", "needed"), [("v1.34", {}, False), ("v1.35", HAS, False), ("v1.36", HAS, True)]
)
def test_what_resized_pods_have_and_which_drivers_pods_need_is_imported(version: str, has: Any, needed: bool) -> None:
    result = prepare(gather(dumps.as_json([NEEDED, RESIZED])), Choices(kubernetes=version))
    pod, driver = (next(item for item in result.objects if item["kind"] == kind) for kind in ("Pod", "CSIDriver"))
    assert {name: pod["status"][name] for name in HAS if name in pod["status"]} == has
    assert driver["spec"].get("preventPodSchedulingIfMissing", False) == needed


def test_what_only_later_versions_read_is_imported_too() -> None:
    result = prepare(gather(dumps.as_json([DECLARING, IMAGE_VOLUME])), Choices(kubernetes="v1.36"))
    pod = next(item for item in result.objects if item["kind"] == "Pod")
    assert pod["spec"]["volumes"] == [IMAGE_VOLUME["spec"]["volumes"][0]]


def test_made_up_names_replace_image_volumes_and_unknown_features() -> None:
    choices = Choices(kubernetes="v1.36", anonymous=True)
    result = prepare(gather(dumps.as_json([DECLARING, IMAGE_VOLUME])), choices)
    assert "acme" not in json.dumps(result.objects).lower()
    node, pod = (next(item for item in result.objects if item["kind"] == kind) for kind in ("Node", "Pod"))
    assert node["status"]["declaredFeatures"] == ["UserNamespacesHostNetworkSupport"]
    assert pod["spec"]["volumes"][0]["image"]["reference"].startswith("example/image-")


NEEDLESS_SHAPE = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "pluginConfig": [
                {
                    "name": "NodeResourcesFit",
                    "args": {
                        "scoringStrategy": {
                            "type": "MostAllocated",
                            "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 0}]},
                        }
                    },
                }
            ]
        }
    ],
}


@pytest.mark.parametrize(("version", "accepted"), [("v1.34", True), ("v1.36", False)])
def test_a_configuration_is_judged_by_the_version(version: str, accepted: bool) -> None:
    gathered = gather(dumps.as_json([DECLARING, NEEDLESS_SHAPE]))
    result = prepare(gathered, Choices(kubernetes=version))
    assert (result.configuration is not None) == accepted


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises(Rejected, match="unknown Kubernetes version"):
        prepare(gather(dumps.as_json([DECLARING])), Choices(kubernetes="v1.33"))
