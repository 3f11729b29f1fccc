"""The editors' schema agrees with the engine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from sandbox.panels.facts.offering import KEYS, NAMES, TABLES
from sandbox.web.schema.document import document
from sandbox.web.schema.help import FROM_FORMS, HELP
from sandbox.web.schema.lessons import LessonTypes, with_lessons
from sandbox.web.schema.values import SELECTS, SOURCES, VALUES
from scheduler_engine.api.checking import check_text
from scheduler_engine.api.fields import TYPES, absent_fields
from scheduler_engine.api.scheme import KINDS
from scheduler_engine.config import schema as config
from scheduler_engine.config.load import load_configuration
from scheduler_engine.errors import Rejected
from scheduler_engine.lesson.schema import lesson_schema
from scheduler_engine.scenario.expectations import ASSERTIONS
from scheduler_engine.scenario.steps import COMMANDS
from scheduler_engine.shapes import EMBEDDED, Data
from scheduler_engine.versions import NOT_SIMULATED, VERSIONS, known_gates, rules_for

DOCUMENT = document()
OF_VERSIONS = {version: document(rules_for(version)) for version in VERSIONS}


WITH_LESSONS = with_lessons(DOCUMENT)


def missing(schema: Data, entry: dict[str, Any], path: str) -> Iterator[str]:
    """Yield the paths of a JSON Schema whose keys the editors' schema does not have."""
    schema = LessonTypes().resolved(schema)
    if schema.get(EMBEDDED):
        yield from [] if entry.get("embeds") else [path]
    elif schema.get("type") == "array":
        yield from missing(schema["items"], entry.get("item", entry), f"{path}[]")
    elif properties := schema.get("properties"):
        fields = WITH_LESSONS["types"][entry["type"]]
        for key, each in properties.items():
            yield from missing(each, fields[key], f"{path}.{key}") if key in fields else [f"{path}.{key}"]


def test_the_editor_of_lessons_has_each_key_of_the_published_schema() -> None:
    kind = WITH_LESSONS["kinds"]["Lesson"]
    assert [*missing(lesson_schema(), kind, "")] == []
    choices = WITH_LESSONS["choices"]
    assert all(key in WITH_LESSONS["types"][name] for name, of in choices.items() for key in of)
    assert {len(of) for of in choices.values()} >= {len(ASSERTIONS), len(COMMANDS)}


def test_lessons_change_no_kind_and_no_type_of_kubernetes() -> None:
    for part in ("kinds", "types"):
        assert WITH_LESSONS[part].items() >= DOCUMENT[part].items()


@pytest.mark.parametrize("table", [HELP, VALUES, SOURCES, SELECTS], ids=["help", "values", "sources", "selects"])
def test_every_row_is_of_a_field_that_exists(table: dict[str, Any]) -> None:
    known = {f"{name}.{field}" for name, fields in DOCUMENT["types"].items() for field in fields}
    assert set(table) - known - set(DOCUMENT["kinds"]) == set()


def test_every_source_is_a_table_of_the_cluster() -> None:
    assert {source.table for source in SOURCES.values()} | set(SELECTS.values()) <= set(TABLES)
    parts = {key: source.part for key, source in SOURCES.items() if source.table in NAMES}
    assert not any(parts.values())
    assert {source.table for source in SOURCES.values() if source.part} <= set(KEYS)


def test_every_kind_and_every_field_that_is_ever_kept_is_in_it() -> None:
    assert set(DOCUMENT["kinds"]) == {*KINDS, config.KIND}
    for name, fields in TYPES.items():
        kept = [field for field in fields if f"{name}.{field}" not in NOT_SIMULATED]
        absent = {field for owner, field in absent_fields(rules_for(VERSIONS[-1])) if owner == name}
        assert list(OF_VERSIONS[VERSIONS[-1]]["types"][name]) == [field for field in kept if field not in absent]
        assert {field for version in VERSIONS for field in OF_VERSIONS[version]["types"][name]} == {*kept}
    for plugin, struct in config.PLUGIN_ARGS.items():
        assert DOCUMENT["types"]["PluginConfig"]["args"]["by"][plugin] == struct.name
        assert list(DOCUMENT["types"][struct.name]) == list(struct.fields)


@pytest.mark.parametrize(("version", "there"), [*zip(VERSIONS, (False, True, True), strict=True)])
def test_fields_of_later_versions_are_only_in_their_schemas(version: str, there: bool) -> None:
    types = OF_VERSIONS[version]["types"]
    assert ("declaredFeatures" in types["NodeStatus"]) == there
    assert ("bindingTimeout" in types["DynamicResourcesArgs"]) == there
    assert ("NodeDeclaredFeatures" in types["Plugin"]["name"]["values"]) == there
    assert ("userAnnotations" in types["PodCertificateProjection"]) == there
    assert ("workloadRef" in types["PodSpec"]) == (version == VERSIONS[1])
    assert ("schedulingGroup" in types["PodSpec"]) == (version == VERSIONS[-1])
    assert ("placementScore" in types["Plugins"]) == (version == VERSIONS[-1])


@pytest.mark.parametrize("version", VERSIONS)
def test_no_feature_gate_changes_a_field(version: str) -> None:
    for name, (_, locked) in known_gates(version).items():
        for on in (True,) if locked else (False, True):
            assert document(rules_for(version, {name: on})) == OF_VERSIONS[version], name


def test_types_that_the_configuration_shares_with_pods_have_the_same_fields() -> None:
    shared = (config.NODE_AFFINITY, config.NODE_SELECTOR, config.NODE_TERM, config.NODE_REQUIREMENT)
    for struct in (*shared, config.PREFERRED_TERM, config.LABEL_SELECTOR, config.SPREAD_CONSTRAINT):
        assert set(struct.fields) == set(TYPES[struct.name])


def test_types_have_descriptions() -> None:
    spec = DOCUMENT["types"]["PodSpec"]
    shown = {name: spec[name]["shown"] for name in ("nodeName", "tolerations", "nodeSelector", "hostNetwork")}
    assert shown == {
        "nodeName": "string",
        "tolerations": "list of Toleration",
        "nodeSelector": "map of string",
        "hostNetwork": "boolean",
    }
    assert [name for name, field in spec.items() if field.get("required")] == ["containers"]
    assert DOCUMENT["types"]["Toleration"]["effect"]["values"] == ("NoSchedule", "PreferNoSchedule", "NoExecute")


def test_a_form_and_the_schema_use_the_same_words() -> None:
    assert DOCUMENT["types"]["PodSpec"]["nodeSelector"]["says"] == FROM_FORMS["PodSpec.nodeSelector"]
    assert DOCUMENT["types"]["Toleration"]["operator"]["says"].startswith("Equal, the default")


NOT_JUDGED = {
    "ExpressionArgs.apiVersion",  # Arguments of another version declare nothing.
    "ExpressionArgs.kind",
    "PluginConfig.name",  # Arguments of other plugins are not checked.
}
"""Fields whose other values are refused with other messages, or not at all."""

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
MAIN = {"name": "main", "image": "x"}
LABELS = {"matchLabels": {"a": "b"}}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [MAIN]}}


def pod(**spec: Any) -> dict[str, Any]:
    return POD | {"spec": {"containers": [MAIN], **spec}}


def owner(kind: str, **spec: Any) -> dict[str, Any]:
    workload_spec = {"selector": LABELS, "template": TEMPLATE, **spec}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "a"}, "spec": workload_spec}


def other(version: str, kind: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "a"}, **fields}


def arguments(plugin: str, **args: Any) -> dict[str, Any]:
    profiles = [{"pluginConfig": [{"name": plugin, "args": args}]}]
    return {"apiVersion": config.API_VERSION, "kind": config.KIND, "profiles": profiles}


def device_claim(**wanted: Any) -> dict[str, Any]:
    return other("resource.k8s.io/v1", "ResourceClaim", spec={"devices": {"requests": [{"name": "a", **wanted}]}})


def spread(**fields: Any) -> dict[str, Any]:
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", **fields}
    return pod(topologySpreadConstraints=[constraint])


REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
WRONG = "Wrong"
EXPRESSION = {"matchExpressions": [{"key": "a", "operator": WRONG, "values": ["b"]}]}
CLAIM = {"resources": {"requests": {"storage": "1Gi"}}, "accessModes": ["ReadWriteOnce"]}
VOLUME = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/a"}}
PORT = {"port": 80, "protocol": "TCP"}

CASES: dict[str, dict[str, Any]] = {
    "Container.imagePullPolicy": pod(containers=[MAIN | {"imagePullPolicy": WRONG}]),
    "ContainerPort.protocol": pod(containers=[MAIN | {"ports": [{"containerPort": 80, "protocol": WRONG}]}]),
    "DaemonSetUpdateStrategy.type": owner("DaemonSet", updateStrategy={"type": WRONG}),
    "DeploymentStrategy.type": owner("Deployment", strategy={"type": WRONG}),
    "DeviceSubRequest.allocationMode": device_claim(
        firstAvailable=[{"name": "b", "deviceClassName": "gpu", "allocationMode": WRONG}]
    ),
    "ExactDeviceRequest.allocationMode": device_claim(exactly={"deviceClassName": "gpu", "allocationMode": WRONG}),
    "JobSpec.completionMode": other("batch/v1", "Job", spec={"template": TEMPLATE, "completionMode": WRONG}),
    "LabelSelectorRequirement.operator": owner("Deployment", selector=LABELS | EXPRESSION),
    "NodeSelectorRequirement.operator": pod(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [EXPRESSION]}}}),
    "PersistentVolumeClaimSpec.accessModes": other(
        "v1", "PersistentVolumeClaim", spec=CLAIM | {"accessModes": [WRONG]}
    ),
    "PersistentVolumeClaimSpec.volumeMode": other("v1", "PersistentVolumeClaim", spec=CLAIM | {"volumeMode": WRONG}),
    "PersistentVolumeSpec.accessModes": other("v1", "PersistentVolume", spec=VOLUME | {"accessModes": [WRONG]}),
    "PersistentVolumeSpec.persistentVolumeReclaimPolicy": other(
        "v1", "PersistentVolume", spec=VOLUME | {"persistentVolumeReclaimPolicy": WRONG}
    ),
    "PersistentVolumeSpec.volumeMode": other("v1", "PersistentVolume", spec=VOLUME | {"volumeMode": WRONG}),
    "PodDisruptionBudgetSpec.unhealthyPodEvictionPolicy": other(
        "policy/v1", "PodDisruptionBudget", spec={"selector": LABELS, "unhealthyPodEvictionPolicy": WRONG}
    ),
    "PodOS.name": pod(os={"name": WRONG}),
    "PodSpec.dnsPolicy": pod(dnsPolicy=WRONG),
    "PodSpec.preemptionPolicy": pod(preemptionPolicy=WRONG),
    "PodSpec.restartPolicy": pod(restartPolicy=WRONG),
    "PodTopologySpreadArgs.defaultingType": arguments("PodTopologySpread", defaultingType=WRONG),
    "PriorityClass.preemptionPolicy": other("scheduling.k8s.io/v1", "PriorityClass", value=1, preemptionPolicy=WRONG),
    "ScoringStrategy.type": arguments("NodeResourcesFit", scoringStrategy={"type": WRONG}),
    "ServicePort.protocol": other("v1", "Service", spec={"ports": [PORT | {"protocol": WRONG}]}),
    "ServiceSpec.externalTrafficPolicy": other(
        "v1", "Service", spec={"ports": [PORT], "type": "NodePort", "externalTrafficPolicy": WRONG}
    ),
    "ServiceSpec.sessionAffinity": other("v1", "Service", spec={"ports": [PORT], "sessionAffinity": WRONG}),
    "ServiceSpec.type": other("v1", "Service", spec={"ports": [PORT], "type": WRONG}),
    "StatefulSetSpec.podManagementPolicy": owner("StatefulSet", podManagementPolicy=WRONG),
    "StatefulSetUpdateStrategy.type": owner("StatefulSet", updateStrategy={"type": WRONG}),
    "StorageClass.reclaimPolicy": other("storage.k8s.io/v1", "StorageClass", provisioner="a", reclaimPolicy=WRONG),
    "StorageClass.volumeBindingMode": other(
        "storage.k8s.io/v1", "StorageClass", provisioner="a", volumeBindingMode=WRONG
    ),
    "Taint.effect": other("v1", "Node", spec={"taints": [{"key": "a", "effect": WRONG}]}),
    "Toleration.effect": pod(tolerations=[{"key": "a", "operator": "Exists", "effect": WRONG}]),
    "Toleration.operator": pod(tolerations=[{"key": "a", "operator": WRONG}]),
    "TopologySpreadConstraint.nodeAffinityPolicy": spread(nodeAffinityPolicy=WRONG),
    "TopologySpreadConstraint.nodeTaintsPolicy": spread(nodeTaintsPolicy=WRONG),
    "TopologySpreadConstraint.whenUnsatisfiable": spread(whenUnsatisfiable=WRONG),
}


def test_every_field_with_values_is_compared() -> None:
    assert set(VALUES) - NOT_JUDGED == set(CASES)


def refusals(manifest: dict[str, Any]) -> list[str]:
    if manifest["kind"] != config.KIND:
        return [error.message for error in check_text(yaml.safe_dump(manifest)).errors]
    try:
        load_configuration(manifest)
    except Rejected as refused:
        return [error.message for error in refused.errors]
    return []


@pytest.mark.parametrize("key", CASES)
def test_the_values_are_those_that_the_engine_takes(key: str) -> None:
    refusal = min((message for message in refusals(CASES[key]) if WRONG in message), key=len)
    listed = re.search(r"supported values: (.*)", refusal)
    if listed:
        assert set(re.findall(r'"(\w+)"', listed[1])) == set(VALUES[key])
    for value in VALUES[key]:
        accepted = yaml.safe_load(yaml.safe_dump(CASES[key]).replace(WRONG, f'"{value}"'))
        assert refusal.replace(WRONG, value) not in refusals(accepted)
