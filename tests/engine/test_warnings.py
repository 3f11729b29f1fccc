"""Warnings: what kubectl prints although it accepts the object."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from scheduler_engine.api.checking import check_text
from scheduler_engine.api.scheme import KINDS
from scheduler_engine.api.validation import validate
from scheduler_engine.api.warning_rules import WARNINGS, warnings_about
from scheduler_engine.testing import HOSTNAME, ZONE, make_node, make_pod
from tests.engine.test_validation import CLAIM, OWNER, TO_ITS_END, VALID, of_kind

Data = dict[str, Any]

OLD_OS = 'deprecated since v1.14; use "kubernetes.io/os" instead'
OLD_ZONE = 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'
NOTHING = "a null labelSelector results in matching no pod"
BROKEN_BYTES = 'fractional byte value "1500m" is invalid, must be an integer'
OLD_ZONE_KEY = "failure-domain.beta.kubernetes.io/zone"
AFFINITY = "spec.affinity.nodeAffinity"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def container(**fields: Any) -> Data:
    return {"name": "c", "image": "i", **fields}


def with_container(**fields: Any) -> Data:
    return make_pod("p").spec(containers=[container(**fields)]).obj()


def volume(**spec: Any) -> Data:
    plain = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}
    return of_kind("PersistentVolume", spec={**plain, **spec})


def template(**spec: Any) -> Data:
    return {**OWNER, "template": {**OWNER["template"], "spec": {"containers": [container()], **spec}}}


TERM = {"matchExpressions": [{"key": OLD_ZONE_KEY, "operator": "Exists"}]}
CASES: dict[str, tuple[Data, list[str]]] = {
    "a pod without any": (make_pod("p").obj(), []),
    "a pod's name with dots": (
        make_pod("p.q").obj(),
        [
            "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; "
            "a DNS label is recommended: [must not contain dots]"
        ],
    ),
    "an old label in a node selector": (
        make_pod("p").node_selector({"beta.kubernetes.io/os": "linux"}).obj(),
        [f"spec.nodeSelector[beta.kubernetes.io/os]: {OLD_OS}"],
    ),
    "an old label in node affinity": (
        make_pod("p").node_affinity(OLD_ZONE_KEY, ["a"]).obj(),
        [f"{AFFINITY}.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].key: {OLD_ZONE_KEY} is {OLD_ZONE}"],
    ),
    "an invalid label value, in a preference": (
        make_pod("p").node_affinity("a", ["b c"], weight=1).obj(),
        [
            f"{AFFINITY}.{PREFERRED}[0].preference.matchExpressions[0].values[0]: b c is invalid, "
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
            "and must start and end with an "
            "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
            "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
        ],
    ),
    "spreading without a selector, by an old label": (
        make_pod("p")
        .spec(
            topologySpreadConstraints=[
                {"maxSkew": 1, "topologyKey": OLD_ZONE_KEY, "whenUnsatisfiable": "ScheduleAnyway"}
            ]
        )
        .obj(),
        [
            f"spec.topologySpreadConstraints[0].topologyKey: {OLD_ZONE_KEY} is {OLD_ZONE}",
            f"spec.topologySpreadConstraints[0].labelSelector: {NOTHING}",
        ],
    ),
    "affinity without a selector": (
        make_pod("p")
        .spec(
            affinity={
                "podAffinity": {REQUIRED: [{"topologyKey": ZONE}]},
                "podAntiAffinity": {PREFERRED: [{"weight": 1, "podAffinityTerm": {"topologyKey": HOSTNAME}}]},
            }
        )
        .obj(),
        [
            f"spec.affinity.podAffinity.{REQUIRED}[0].labelSelector: {NOTHING}",
            f"spec.affinity.podAntiAffinity.{PREFERRED}[0].podAffinityTerm.labelSelector: {NOTHING}",
        ],
    ),
    "a fraction of a byte": (
        with_container(resources={"requests": {"memory": "1.5", "cpu": "1.5"}}),
        [f"spec.containers[0].resources.requests[memory]: {BROKEN_BYTES}"],
    ),
    "obsolete annotations": (
        make_pod("p")
        .annotation("scheduler.alpha.kubernetes.io/critical-pod", "")
        .annotation("container.apparmor.security.beta.kubernetes.io/main", "runtime/default")
        .obj(),
        [
            "metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: "
            'non-functional in v1.16+; use the "priorityClassName" field instead',
            "metadata.annotations[container.apparmor.security.beta.kubernetes.io/main]: "
            'deprecated since v1.30; use the "appArmorProfile" field instead',
        ],
    ),
    "a removed volume type": (
        make_pod("p").spec(volumes=[{"name": "v", "glusterfs": {"endpoints": "e", "path": "p"}}]).obj(),
        ["spec.volumes[0].glusterfs: deprecated in v1.25, non-functional in v1.26+"],
    ),
    "a repeated environment variable": (
        with_container(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]),
        ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
    ),
    "an environment variable that refers to itself": (
        with_container(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "$(A)2"}]),
        [],
    ),
    "a repeated port": (
        with_container(ports=[{"containerPort": 80, "name": "a"}, {"containerPort": 80, "name": "b"}]),
        ["spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]"],
    ),
    "a port with and without a host port": (
        with_container(ports=[{"containerPort": 80, "hostPort": 80}, {"containerPort": 80}]),
        ["spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]"],
    ),
    "a host port on one address and on all": (
        with_container(
            ports=[{"containerPort": 80, "hostPort": 80, "hostIP": "10.0.0.1"}, {"containerPort": 80, "hostPort": 80}]
        ),
        ["spec.containers[0].ports[1]: dangerously ambiguous port definition with spec.containers[0].ports[0]"],
    ),
    "a host address without a host port": (
        with_container(ports=[{"containerPort": 80, "hostIP": "10.0.0.1"}]),
        [
            "spec.containers[0].ports[0]: hostIP set without hostPort: "
            "{Name: HostPort:0 ContainerPort:80 Protocol:TCP HostIP:10.0.0.1}"
        ],
    ),
    "a repeated pull secret and one without a name": (
        make_pod("p").spec(imagePullSecrets=[{"name": "a"}, {"name": "a"}, {}]).obj(),
        [
            'spec.imagePullSecrets[1].name: duplicate name "a"',
            'spec.imagePullSecrets[2].name: invalid empty name ""',
        ],
    ),
    "a negative grace period": (
        make_pod("p").spec(terminationGracePeriodSeconds=-1).obj(),
        ["spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"],
    ),
    "a node's old field": (
        make_node("n").spec(externalID="x").obj(),
        ["spec.externalID: this field is deprecated, and is unused by Kubernetes"],
    ),
    "a volume that is recycled, by an old annotation and label": (
        {
            **volume(persistentVolumeReclaimPolicy="Recycle", nodeAffinity={"required": {"nodeSelectorTerms": [TERM]}}),
            "metadata": {"name": "x", "annotations": {"volume.beta.kubernetes.io/storage-class": "fast"}},
        },
        [
            "metadata.annotations[volume.beta.kubernetes.io/storage-class]: "
            'deprecated since v1.8; use "storageClassName" attribute instead',
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. "
            "Instead, the recommended approach is to use dynamic provisioning.",
            f"spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: {OLD_ZONE_KEY} is {OLD_ZONE}",
        ],
    ),
    "a claim of a fraction of a byte": (
        of_kind("PersistentVolumeClaim", spec={**CLAIM, "resources": {"requests": {"storage": "1.5"}}}),
        [f"spec.resources.requests[storage]: {BROKEN_BYTES}"],
    ),
    "an old label in a storage class": (
        of_kind(
            "StorageClass",
            provisioner="p",
            allowedTopologies=[{"matchLabelExpressions": [{"key": OLD_ZONE_KEY, "values": ["a"]}]}],
        ),
        [f"allowedTopologies[0].matchLabelExpressions[0].key: {OLD_ZONE}"],
    ),
    "an old label in a storage capacity": (
        of_kind("CSIStorageCapacity", storageClassName="c", nodeTopology={"matchLabels": {OLD_ZONE_KEY: "a"}}),
        [f"nodeTopology.matchLabels.{OLD_ZONE_KEY}: {OLD_ZONE}"],
    ),
    "an old label in a runtime class": (
        of_kind("RuntimeClass", handler="h", scheduling={"nodeSelector": {"beta.kubernetes.io/os": "linux"}}),
        [f"scheduling.nodeSelector: {OLD_OS}"],
    ),
    "a headless service with an address": (
        of_kind("Service", spec={"clusterIP": "None", "externalIPs": ["10.0.0.1"], "sessionAffinity": "ClientIP"}),
        [
            "spec.externalIPs is ignored for headless services",
            "spec.SessionAffinity is ignored for headless services",
        ],
    ),
    "addresses in obsolete forms": (
        of_kind("Service", spec={"ports": [{"port": 80}], "externalIPs": ["010.0.0.1", "2001:DB8::1"]}),
        [
            'spec.externalIPs[0]: non-standard IP address "010.0.0.1" will be considered invalid in a future '
            'Kubernetes release: use "10.0.0.1"',
            'spec.externalIPs[1]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
        ],
    ),
    "endpoints": (
        VALID["endpoints"],
        ["v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"],
    ),
    "a deployment's name with dots, and its template": (
        {
            **of_kind("Deployment", spec=template(nodeSelector={"beta.kubernetes.io/os": "linux"})),
            "metadata": {"name": "a.b"},
        },
        [
            "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; "
            "a DNS label is recommended: [must not contain dots]",
            f"spec.template.spec.nodeSelector[beta.kubernetes.io/os]: {OLD_OS}",
        ],
    ),
    "a stateful set that keeps every revision": (
        of_kind("StatefulSet", spec={**OWNER, "revisionHistoryLimit": -1}),
        ["spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"],
    ),
    "a very large indexed job": (
        of_kind(
            "Job",
            spec={"completions": 100_001, "parallelism": 10_001, "completionMode": "Indexed", "template": TO_ITS_END},
        ),
        [
            "spec: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, "
            "Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
        ],
    ),
}


@pytest.mark.parametrize("words", CASES)
def test_it_is_accepted_with_these_warnings(words: str) -> None:
    manifest, expected = CASES[words]
    before = deepcopy(manifest)
    assert validate(manifest) == []
    assert [str(warning) for warning in warnings_about(manifest)] == expected
    assert manifest == before


@pytest.mark.parametrize("words", [words for words in VALID if words != "endpoints"])
def test_a_plain_object_has_no_warnings(words: str) -> None:
    assert warnings_about(VALID[words]) == []


def test_every_rule_belongs_to_a_kind() -> None:
    assert set(WARNINGS) <= set(KINDS)


def test_a_warning_names_its_object_and_has_its_line() -> None:
    text = "kind: Node\napiVersion: v1\nmetadata: {name: node-1}\nspec:\n  externalID: x\n"
    checked = check_text("kind: Namespace\napiVersion: v1\nmetadata: {name: a}\n---\n" + text)
    [warning] = checked.warnings
    assert checked.errors == []
    assert (warning.object_name, warning.document, warning.line, warning.column) == ("Node node-1", 1, 9, 3)


def test_an_object_with_errors_is_not_asked_for_warnings() -> None:
    checked = check_text("kind: Node\napiVersion: v1\nmetadata: {name: N_}\nspec:\n  externalID: x\n")
    assert (len(checked.errors), checked.warnings) == (1, [])
