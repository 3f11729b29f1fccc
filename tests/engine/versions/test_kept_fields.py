"""Fields whose feature gate is off: dropped before an object is checked, unless the stored object uses them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from scheduler_engine.api.checking import check_text
from scheduler_engine.api.fields import TYPES
from scheduler_engine.api.gated_fields import uses
from scheduler_engine.api.validation import validate
from scheduler_engine.errors import Rejected
from scheduler_engine.testing.cluster import Cluster
from scheduler_engine.versions import GATED_FIELDS, GATES, NOT_SIMULATED, UNSIMULATED, VERSIONS, release_of, rules_for

Data = dict[str, Any]
OLD, MIDDLE, NEW = VERSIONS
RULES = [{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}]
FILES = [{"name": "A", "valueFrom": {"fileKeyRef": {"volumeName": "v", "path": "p", "key": "K"}}}]
CERTIFICATE = {"podCertificate": {"signerName": "a.b/c", "keyType": "ED25519", "keyPath": "k"}}
BUNDLE = {"clusterTrustBundle": {"name": "b", "path": "p"}}
IMAGE = {"name": "v", "image": {"reference": "r.example/data:1"}}


def of_kind(api: str, kind: str, **parts: Any) -> Data:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "x"}, **parts}


def container(**fields: Any) -> Data:
    return {"name": "c", "image": "i", **fields}


def spec(*containers: Data, **fields: Any) -> Data:
    return {"containers": [*containers] or [container()], **fields}


def projected(source: Data) -> Data:
    return spec(volumes=[{"name": "v", "projected": {"sources": [source]}}])


def pod(spec: Data, **status: Any) -> Data:
    return of_kind("v1", "Pod", spec=spec, **({"status": status} if status else {}))


def driver(**fields: Any) -> Data:
    return of_kind("storage.k8s.io/v1", "CSIDriver", spec=fields)


def lease(**fields: Any) -> Data:
    return of_kind(
        "coordination.k8s.io/v1", "Lease", spec={"holderIdentity": "a", "leaseDurationSeconds": 15, **fields}
    )


def device_claim(request: Data, **devices: Any) -> Data:
    return of_kind("resource.k8s.io/v1", "ResourceClaim", spec={"devices": {"requests": [request], **devices}})


def exactly(**fields: Any) -> Data:
    return {"name": "r", "exactly": {"deviceClassName": "gpu", **fields}}


def device_slice(**fields: Any) -> Data:
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    whole = {"driver": "d.example", "pool": pool, "allNodes": True, "devices": [{"name": "d", **fields}]}
    return of_kind("resource.k8s.io/v1", "ResourceSlice", spec=whole)


def claim(reference: Data) -> Data:
    claimed = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return of_kind("v1", "PersistentVolumeClaim", spec={**claimed, "dataSourceRef": reference})


def stateful_set(**rolling: Any) -> Data:
    labels = {"a": "b"}
    spec_of_set = {
        "selector": {"matchLabels": labels},
        "serviceName": "s",
        "template": {"metadata": {"labels": labels}, "spec": spec()},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
    }
    return of_kind("apps/v1", "StatefulSet", spec=spec_of_set)


IN_PODS: dict[str, tuple[Data, tuple[str, ...]]] = {
    "Container.restartPolicy": (spec(container(restartPolicy="Never")), (MIDDLE, NEW)),
    "Container.restartPolicyRules": (
        spec(container(restartPolicy="Never", restartPolicyRules=RULES)),
        (MIDDLE, NEW),
    ),
    "Lifecycle.stopSignal": (spec(container(lifecycle={"stopSignal": "SIGTERM"}), os={"name": "linux"}), ()),
    "PodSpec.hostnameOverride": (spec(hostnameOverride="h"), (MIDDLE, NEW)),
    "Volume.image": (
        spec(
            container(volumeMounts=[{"name": "v", "mountPath": "/v"}, {"name": "w", "mountPath": "/w"}]),
            volumes=[IMAGE, {"name": "w", "emptyDir": {}}],
        ),
        (MIDDLE, NEW),
    ),
    "VolumeProjection.clusterTrustBundle": (projected(BUNDLE), ()),
    "VolumeProjection.podCertificate": (projected(CERTIFICATE), ()),
    "EnvVarSource.fileKeyRef": (
        spec(container(env=FILES), volumes=[{"name": "v", "emptyDir": {}}]),
        (MIDDLE, NEW),
    ),
}
"""Place → the spec of a pod with that field, and the versions that keep it by default."""
OTHERS: dict[str, tuple[Data, tuple[str, ...]]] = {
    "ContainerStatus.allocatedResourcesStatus": (
        pod(
            spec(),
            containerStatuses=[
                {
                    **dict.fromkeys(("image", "imageID"), ""),
                    "name": "c",
                    "ready": True,
                    "restartCount": 0,
                    "allocatedResourcesStatus": [{"name": "cpu"}],
                }
            ],
        ),
        (NEW,),
    ),
    "PodStatus.extendedResourceClaimStatus": (
        pod(spec(), extendedResourceClaimStatus={"requestMappings": [], "resourceClaimName": "r"}),
        (NEW,),
    ),
    "StatefulSetRollingUpdate.maxUnavailable": (stateful_set(maxUnavailable=2), ()),
    "CSIDriverSpec.nodeAllocatableUpdatePeriodSeconds": (driver(nodeAllocatableUpdatePeriodSeconds=60), (MIDDLE, NEW)),
    "LeaseSpec.strategy": (lease(strategy="OldestEmulationVersion"), ()),
    "PersistentVolumeClaimSpec.dataSourceRef": (
        claim({"apiGroup": "a.example", "kind": "K", "name": "n", "namespace": "other"}),
        (),
    ),
    "ExactDeviceRequest.tolerations": (device_claim(exactly(tolerations=[{"operator": "Exists"}])), ()),
    "ExactDeviceRequest.capacity": (device_claim(exactly(capacity={"requests": {"memory": "1Gi"}})), ()),
    "DeviceRequest.firstAvailable": (
        device_claim({"name": "r", "firstAvailable": [{"name": "s", "deviceClassName": "gpu"}]}),
        VERSIONS,
    ),
    "ExactDeviceRequest.adminAccess": (device_claim(exactly(adminAccess=False)), VERSIONS),
    "Device.taints": (device_slice(taints=[{"key": "a", "effect": "NoSchedule"}]), ()),
    "Device.nodeName": (device_slice(nodeName="n1"), ()),
    "DeviceCapacity.requestPolicy": (
        device_slice(capacity={"memory": {"value": "1Gi", "requestPolicy": {"default": "1Gi"}}}),
        (),
    ),
    "DeviceClassSpec.extendedResourceName": (
        of_kind("resource.k8s.io/v1", "DeviceClass", spec={"extendedResourceName": "example.com/gpu"}),
        (),
    ),
}
"""The same for whole objects."""
WITHOUT_NAMESPACE = ("CSIDriver", "DeviceClass", "ResourceSlice")


def deployment(spec: Data) -> Data:
    labels = {"a": "b"}
    template = {"metadata": {"labels": labels}, "spec": spec}
    return of_kind("apps/v1", "Deployment", spec={"selector": {"matchLabels": labels}, "template": template})


CASES = {
    **{f"{place}: in a pod": (place, pod(written), kept) for place, (written, kept) in IN_PODS.items()},
    **{f"{place}: in a template": (place, deployment(written), kept) for place, (written, kept) in IN_PODS.items()},
    **{place: (place, manifest, kept) for place, (manifest, kept) in OTHERS.items()},
}


def held(cluster: Cluster, manifest: Data) -> Data:
    kind = manifest["kind"]
    key = "x" if kind in WITHOUT_NAMESPACE else "default/x"
    return dict(cluster.simulation.api.existing(kind, key).manifest)


def places(manifest: Data) -> set[str]:
    return {use.place for use in uses(manifest, frozenset(GATED_FIELDS))}


@pytest.mark.parametrize("words", CASES)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_field_is_kept_while_its_gate_is_on(words: str, version: str) -> None:
    place, manifest, kept = CASES[words]
    assert place in places(manifest)
    cluster = Cluster(kubernetes=version)
    if place == "EnvVarSource.fileKeyRef" and version not in kept:
        with pytest.raises(Rejected, match="must specify one of"):
            cluster.apply(manifest)
        return
    cluster.apply(manifest)
    assert (place in places(held(cluster, manifest))) == (version in kept)


def test_an_image_volume_goes_with_its_mounts() -> None:
    written, _ = IN_PODS["Volume.image"]
    cluster = Cluster(kubernetes=OLD).apply(pod(written))
    stored = held(cluster, pod(written))["spec"]
    assert [volume["name"] for volume in stored["volumes"]] == ["w"]
    assert [mount["name"] for mount in stored["containers"][0]["volumeMounts"]] == ["w"]


def test_no_empty_list_is_left_of_image_volumes() -> None:
    alone = pod(spec(container(volumeMounts=[{"name": "v", "mountPath": "/v"}]), volumes=[IMAGE]))
    stored = held(Cluster(kubernetes=OLD).apply(alone), alone)["spec"]
    assert "volumes" not in stored
    assert "volumeMounts" not in stored["containers"][0]


def test_a_container_without_its_stop_signal_has_no_lifecycle() -> None:
    written, _ = IN_PODS["Lifecycle.stopSignal"]
    assert "lifecycle" not in held(Cluster(kubernetes=NEW).apply(pod(written)), pod(written))["spec"]["containers"][0]


def test_a_sidecar_keeps_its_policy_in_every_version() -> None:
    manifest = pod(spec(initContainers=[container(name="first", restartPolicy="Always", restartPolicyRules=RULES)]))
    stored = held(Cluster(kubernetes=OLD).apply(manifest), manifest)["spec"]["initContainers"][0]
    assert (stored["restartPolicy"], stored.get("restartPolicyRules")) == ("Always", None)


def test_a_claim_within_its_namespace_keeps_its_source() -> None:
    manifest = claim({"apiGroup": "a.example", "kind": "K", "name": "n"})
    assert "dataSourceRef" in held(Cluster(kubernetes=OLD).apply(manifest), manifest)["spec"]


def labelled(manifest: Data) -> Data:
    return {**manifest, "metadata": {**manifest["metadata"], "labels": {"new": "label"}}}


def by_patch(cluster: Cluster, manifest: Data) -> None:
    changes = {"metadata": {"labels": {"new": "label"}}}
    cluster.execute({"kind": "patch", "object_kind": manifest["kind"], "key": "default/x", "changes": changes})


CHANGES: dict[str, Callable[[Cluster, Data], Any]] = {
    "apply": lambda cluster, manifest: cluster.apply(labelled(manifest)),
    "patch": by_patch,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    "words",
    [words for words, (_, it, kept) in CASES.items() if kept in ((MIDDLE, NEW), (NEW,)) and it["kind"] != "CSIDriver"],
)
def test_a_stored_object_keeps_what_it_uses(words: str, change: str) -> None:
    """Also if the version becomes one that drops it."""
    place, manifest, _ = CASES[words]
    cluster = Cluster(kubernetes=NEW).apply(manifest)
    cluster.execute({"kind": "kubernetes", "version": OLD, "feature_gates": {}})
    CHANGES[change](cluster, manifest)
    stored = held(cluster, manifest)
    assert stored["metadata"]["labels"]["new"] == "label"
    assert place in places(stored)


def test_a_new_pod_of_a_stored_template_loses_what_the_template_keeps() -> None:
    written, _ = IN_PODS["PodSpec.hostnameOverride"]
    cluster = Cluster(kubernetes=NEW).apply({**deployment(written)})
    cluster.execute({"kind": "kubernetes", "version": OLD, "feature_gates": {}})
    cluster.execute({"kind": "scale", "object_kind": "Deployment", "key": "default/x", "replicas": 2}).settle()
    pods = cluster.simulation.api.pods("default")
    assert ["hostnameOverride" in item.spec for item in pods] == [True, False]


def test_each_field_of_a_lease_is_kept_alone() -> None:
    cluster = Cluster(kubernetes=NEW)
    cluster.simulation.api.put(
        {**lease(strategy="OldestEmulationVersion"), "metadata": {"name": "x", "namespace": "default"}}
    )
    wanted = lease(strategy="OldestEmulationVersion", preferredHolder="b")
    cluster.apply(wanted)
    assert places(held(cluster, wanted)) == {"LeaseSpec.strategy"}


@pytest.mark.parametrize("version", VERSIONS)
def test_every_field_exists_in_some_type_and_its_gate_can_be_off(version: str) -> None:
    kept = rules_for(version).kept_fields
    assert {*kept} <= {*GATED_FIELDS}
    for place in GATED_FIELDS:
        owner, _, name = place.partition(".")
        assert name in TYPES[owner], place
        words = (GATES | UNSIMULATED)[GATED_FIELDS[place]].defaults
        assert {*words} - {"locked", "on"} or GATED_FIELDS[place] in GATES, place


@pytest.mark.parametrize(
    "gate", dict.fromkeys(gate for place, gate in GATED_FIELDS.items() if gate in GATES and place not in NOT_SIMULATED)
)
def test_a_gate_switches_its_fields(gate: str) -> None:
    mine = {place for place, name in GATED_FIELDS.items() if name == gate} - NOT_SIMULATED
    for version in VERSIONS:
        words = GATES[gate].defaults[VERSIONS.index(version)]
        for on in {"absent": (), "locked": (True,)}.get(words, (False, True)):
            assert (
                mine <= {*rules_for(version, {gate: on}).kept_fields}
                if on
                else mine.isdisjoint(rules_for(version, {gate: on}).kept_fields)
            )


def test_a_person_is_told_which_fields_are_dropped() -> None:
    text = """apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  hostnameOverride: h
  volumes:
  - {name: v, image: {reference: "r.example/data:1"}}
  containers:
  - name: c
    image: i
    env:
    - name: A
      valueFrom:
        fileKeyRef: {volumeName: v, path: p, key: K}
"""
    checked = check_text(text, rules=rules_for(OLD))
    assert [str(error).partition(":")[0] for error in checked.errors] == ["spec.containers[0].env[0].valueFrom"]
    told = f"{release_of(OLD)} drops this {{}} while the feature gate {{}} is off".format
    variable = "spec.containers[0].env[0].valueFrom.fileKeyRef"
    assert [(item.line, item.object_name, str(item)) for item in checked.warnings] == [
        (5, "Pod web", f"spec.hostnameOverride: {told('field', 'HostnameOverride')}"),
        (7, "Pod web", f"spec.volumes[0].image: {told('volume and its mounts', 'ImageVolume')}"),
        (14, "Pod web", f"{variable}: {told('field', 'EnvFiles')}"),
    ]
    assert [str(item) for item in check_text(text, rules=rules_for(NEW)).warnings] == []


def test_a_field_that_the_version_does_not_know_is_an_error_and_no_warning() -> None:
    text = "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  schedulingGroup: {podGroupName: g}\n" + (
        "  containers: [{name: c, image: i}]\n"
    )
    older, newer = (check_text(text, rules=rules_for(version)) for version in (OLD, NEW))
    assert ([error.path for error in older.errors], older.warnings) == (["spec.schedulingGroup"], [])
    assert (newer.errors, [warning.path for warning in newer.warnings]) == ([], ["spec.schedulingGroup"])


def test_a_person_is_told_that_a_field_is_dropped_although_its_gate_is_on() -> None:
    manifest = device_slice(taints=[{"key": "a", "effect": "NoSchedule"}])
    for version, said in ((OLD, "while the feature gate DRADeviceTaints is off"), (NEW, "does not simulate")):
        [warning] = check_text(json.dumps(manifest), rules=rules_for(version)).warnings
        assert (warning.path, said in warning.message) == ("spec.devices[0].taints", True)


def test_a_wrong_value_is_not_checked_where_it_is_dropped() -> None:
    wrong = pod(spec(hostnameOverride="Not a name"))
    assert validate(wrong, rules=rules_for(OLD)) == []
    assert [error.path for error in validate(wrong, rules=rules_for(MIDDLE))] == ["spec.hostnameOverride"]
