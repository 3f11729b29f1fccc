"""Strict decoding and validation: Kubernetes' paths, types and messages, all errors at once, never a crash."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_engine import commands
from scheduler_engine.api.defaults import set_defaults
from scheduler_engine.api.scheme import KINDS
from scheduler_engine.api.validation import check_update, validate
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import HOSTNAME, ZONE, make_budget, make_node, make_pod, make_priority_class

Data = dict[str, Any]


def texts(manifest: Data) -> list[str]:
    return [str(error) for error in validate(manifest)]


def of_kind(kind: str, **fields: Any) -> Data:
    return {"apiVersion": KINDS[kind].api_versions[0], "kind": kind, "metadata": {"name": "x"}, **fields}


CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
CONTAINER = {"name": "c", "image": "i"}
MOUNT = {"name": "data", "mountPath": "/data"}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [CONTAINER]}}
TO_ITS_END = {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}}
OWNER = {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE}
VALID: dict[str, Data] = {
    "a small pod": make_pod("p").obj(),
    "a pod with everything": make_pod("p")
    .labels({"app": "web", "example.com/tier": ""})
    .annotation("controller.kubernetes.io/pod-deletion-cost", "-1")
    .cpu("500m")
    .limit({"nvidia.com/gpu": "1"}, memory="1Gi")
    .host_port(8080)
    .init_container("side", {"cpu": "1"}, sidecar=True)
    .toleration("k", "v", "NoExecute", seconds=5)
    .toleration("")
    .spread(ZONE, {"app": "web"}, minDomains=2, nodeAffinityPolicy="Honor", matchLabelKeys=["version"])
    .affinity(ZONE, {"app": "db"})
    .anti_affinity(HOSTNAME, {"app": "web"}, weight=100)
    .node_affinity(ZONE, ["a", "b"])
    .node_affinity("gen", ["3"], "Gt", weight=1)
    .node_selector({"disk": "ssd"})
    .gate("example.com/quota")
    .claim("data")
    .priority_class("high")
    .never_preempts()
    .obj(),
    "a node": make_node("n").zone("a").region("r").taint("k", "v").taint("k", "v", "NoExecute").cordoned().obj(),
    "a node with an image": make_node("n").image("nginx:1", 100).capacity({"nvidia.com/gpu": "2"}).obj(),
    "a namespace": of_kind("Namespace"),
    "a headless service": of_kind("Service", spec={"clusterIP": "None", "selector": {"app": "web"}}),
    "a service": of_kind("Service", spec={"ports": [{"port": 80, "targetPort": "http"}]}),
    "a load balancer whose health check port the API server chooses": of_kind(
        "Service", spec={"type": "LoadBalancer", "externalTrafficPolicy": "Local", "ports": [{"port": 80}]}
    ),
    "a claim": of_kind("PersistentVolumeClaim", spec=CLAIM),
    "a volume": of_kind(
        "PersistentVolume",
        spec={"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}},
    ),
    "a storage class": of_kind("StorageClass", provisioner="example.com/p", volumeBindingMode="WaitForFirstConsumer"),
    "a CSI node": of_kind("CSINode", spec={"drivers": [{"name": "d", "nodeID": "n", "topologyKeys": None}]}),
    "a CSI driver": of_kind("CSIDriver", spec={"storageCapacity": True}),
    "a storage capacity": of_kind("CSIStorageCapacity", storageClassName="c", capacity="1Gi"),
    "a resource claim": of_kind(
        "ResourceClaim", spec={"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpus"}}]}}
    ),
    "a resource claim template": of_kind("ResourceClaimTemplate", spec={"spec": {"devices": {"requests": []}}}),
    "a device class": of_kind("DeviceClass", spec={"selectors": [{"cel": {"expression": 'device.driver == "d"'}}]}),
    "a resource slice": of_kind(
        "ResourceSlice",
        spec={"driver": "d", "pool": {"name": "n", "resourceSliceCount": 1}, "allNodes": True, "devices": []},
    ),
    "an attachment": of_kind(
        "VolumeAttachment", spec={"attacher": "d", "nodeName": "n", "source": {"persistentVolumeName": "v"}}
    ),
    "a priority class": make_priority_class("high", 1000),
    "a system priority class": make_priority_class("system-node-critical", 2000001000),
    "a runtime class": of_kind("RuntimeClass", handler="kata-fc", overhead={"podFixed": {"cpu": "250m"}}),
    "a pod group": of_kind("PodGroup", spec={"minMember": 3, "minResources": {"cpu": 3}, "scheduleTimeoutSeconds": 10}),
    "a budget": make_budget("b", {"app": "web"}, maxUnavailable="50%"),
    "a replica set": of_kind("ReplicaSet", spec=OWNER),
    "a stateful set": of_kind("StatefulSet", spec={**OWNER, "serviceName": "s"}),
    "a stateful set that mounts its claims": of_kind(
        "StatefulSet",
        spec={
            **OWNER,
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": CLAIM}],
            "template": {**TEMPLATE, "spec": {"containers": [{**CONTAINER, "volumeMounts": [MOUNT]}]}},
        },
    ),
    "a replication controller": of_kind("ReplicationController", spec={"template": TEMPLATE}),
    "a deployment": of_kind("Deployment", spec={**OWNER, "strategy": {"rollingUpdate": {"maxSurge": "50%"}}}),
    "a daemon set": of_kind("DaemonSet", spec={name: OWNER[name] for name in ("selector", "template")}),
    "a job": of_kind("Job", spec={"template": TO_ITS_END}),
    "an indexed job": of_kind(
        "Job",
        spec={
            "completions": 3,
            "completionMode": "Indexed",
            "backoffLimitPerIndex": 1,
            "podFailurePolicy": {"rules": [{"action": "FailIndex", "onPodConditions": [{"type": "DisruptionTarget"}]}]},
            "template": TO_ITS_END,
        },
    ),
    "a lease": of_kind(
        "Lease",
        spec={"holderIdentity": "a", "leaseDurationSeconds": 15, "renewTime": "2026-01-01T00:00:00.000000Z"},
    ),
    "a config map": of_kind("ConfigMap", data={"key.name": "value"}, immutable=True),
    "endpoints": of_kind("Endpoints", subsets=[{"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 80}]}]),
}


@pytest.mark.parametrize("words", VALID)
def test_a_good_manifest_has_no_errors(words: str) -> None:
    assert texts(VALID[words]) == []


def test_there_is_a_good_manifest_of_every_kind() -> None:
    assert {manifest["kind"] for manifest in VALID.values()} == set(KINDS)


STRICT: dict[str, tuple[Data, list[tuple[str, str]]]] = {
    "an unknown field": (
        make_pod("p").spec(tolerationz=[]).obj(),
        [("spec.tolerationz", 'unknown field "spec.tolerationz" (did you mean "tolerations"?)')],
    ),
    "a field with capitals": (
        make_pod("p").spec(nodename="n").obj(),
        [("spec.nodename", 'unknown field "spec.nodename" (did you mean "nodeName"?)')],
    ),
    "an unknown field deep inside": (
        make_pod("p").spec(affinity={"nodeAffinity": {"required": []}}).obj(),
        [("spec.affinity.nodeAffinity.required", 'unknown field "spec.affinity.nodeAffinity.required"')],
    ),
    "a text for a number": (
        make_pod("p").spec(priority="high").obj(),
        [("spec.priority", "must be a whole number of 32 bits, not a text ('high')")],
    ),
    "a number for a text": (
        make_pod("p").metadata(labels={"app": 8080}).obj(),
        [("metadata.labels.app", 'must be a text, not a number (8080); write it in quotes: "8080"')],
    ),
    "a boolean for a text": (
        make_pod("p").metadata(labels={"app": True}).obj(),
        [("metadata.labels.app", 'must be a text, not true or false; write it in quotes: "true"')],
    ),
    "a number that is too large": (
        make_pod("p").spec(priority=2**31).obj(),
        [("spec.priority", "must be a whole number of 32 bits, not a number (2147483648)")],
    ),
    "a mapping for a list": (
        make_pod("p").spec(containers={}).obj(),
        [("spec.containers", "must be a list, not a mapping")],
    ),
    "a list for a mapping": (
        make_pod("p").spec(nodeSelector=[]).obj(),
        [("spec.nodeSelector", "must be a mapping, not a list")],
    ),
    "a text for a struct": (
        make_pod("p").spec(affinity="x").obj(),
        [("spec.affinity", "must be a mapping, not a text ('x')")],
    ),
    "an invalid quantity": (
        make_pod("p").cpu("1 core").obj(),
        [
            (
                "spec.containers[0].resources.requests[cpu]",
                "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$' "
                "(such as 500m, 2 or 1Gi)",
            )
        ],
    ),
    "an invalid time": (
        make_pod("p").metadata(deletionTimestamp="soon").obj(),
        [("metadata.deletionTimestamp", "must be a time such as \"2026-01-01T00:00:00Z\", not a text ('soon')")],
    ),
    "several at once": (
        make_pod("p").spec(a=1, priority="x").metadata(b=2).obj(),
        [
            ("metadata.b", 'unknown field "metadata.b"'),
            ("spec.a", 'unknown field "spec.a"'),
            ("spec.priority", "must be a whole number of 32 bits, not a text ('x')"),
        ],
    ),
}


@pytest.mark.parametrize("words", STRICT)
def test_strict_decoding(words: str) -> None:
    manifest, expected = STRICT[words]
    assert [(error.path, error.message) for error in validate(manifest)] == expected


RFC_1123 = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
LABEL = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
TERMS = "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution"
NODE_TERMS = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
WRONG: dict[str, tuple[Data, list[str]]] = {
    "a name with capitals": (make_pod("Web").obj(), [f'metadata.name: Invalid value: "Web": {RFC_1123}']),
    "no name": (make_pod("").obj(), ["metadata.name: Required value: name or generateName is required"]),
    "a namespace on a node": (
        make_node("n").metadata(namespace="x").obj(),
        ["metadata.namespace: Forbidden: not allowed on this type"],
    ),
    "a label value with a blank": (
        make_pod("p").label("a", "b c").obj(),
        [f'metadata.labels: Invalid value: "b c": {LABEL}'],
    ),
    "no containers": (make_pod("p").spec(containers=[]).obj(), ["spec.containers: Required value"]),
    "a container without name and image": (
        make_pod("p").spec(containers=[{}]).obj(),
        ["spec.containers[0].name: Required value", "spec.containers[0].image: Required value"],
    ),
    "a request above the limit": (
        make_pod("p").cpu("2").limit(cpu="1").obj(),
        ['spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
    ),
    "a negative amount": (
        make_pod("p").cpu("-100m").obj(),
        ['spec.containers[0].resources.requests[cpu]: Invalid value: "-100m": must be greater than or equal to 0'],
    ),
    "half a GPU": (
        make_pod("p").limit({"nvidia.com/gpu": "500m"}).obj(),
        [
            'spec.containers[0].resources.limits[nvidia.com/gpu]: Invalid value: "500m": must be an integer',
            'spec.containers[0].resources.requests[nvidia.com/gpu]: Invalid value: "500m": must be an integer',
        ],
    ),
    "a misspelt resource": (
        make_pod("p").request({"memroy": "1Gi"}).obj(),
        [
            'spec.containers[0].resources.requests[memroy]: Invalid value: "memroy": '
            "must be a standard resource type or fully qualified",
            'spec.containers[0].resources.requests[memroy]: Invalid value: "memroy": '
            "must be a standard resource for containers",
        ],
    ),
    "a toleration with an unknown operator, reported under the operator": (
        make_pod("p").spec(tolerations=[{"key": "k", "operator": "Is"}]).obj(),
        ['spec.tolerations[0].operator: Unsupported value: "Is": supported values: "Equal", "Exists"'],
    ),
    "a toleration's bad value, reported under the operator": (
        make_pod("p").toleration("k", "a b").obj(),
        [f'spec.tolerations[0].operator: Invalid value: "a b": {LABEL}'],
    ),
    "seconds on another effect than NoExecute": (
        make_pod("p").toleration("k", "v", "NoSchedule", seconds=3).obj(),
        [
            'spec.tolerations[0].effect: Invalid value: "NoSchedule": '
            "effect must be 'NoExecute' when `tolerationSeconds` is set"
        ],
    ),
    "taints under metadata, as Kubernetes has it": (
        make_node("n").taint("k", "a", "Evict").taint("k", "b").taint("k", "c").obj(),
        [
            'metadata.taints[0].effect: Unsupported value: "Evict": '
            'supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
            'metadata.taints[2]: Duplicate value: {"Key":"k","Value":"c","Effect":"NoSchedule","TimeAdded":null}: '
            "taints must be unique by key and effect pair",
        ],
    ),
    "a bad capacity, at both paths": (
        make_node("n").capacity(cpu="-1").obj(),
        [
            'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
            'status.allocatable.cpu: Invalid value: "-1": must be greater than or equal to 0',
        ],
    ),
    "a node selector without terms": (
        make_pod("p").spec(affinity={"nodeAffinity": {NODE_TERMS.split(".")[3]: {"nodeSelectorTerms": []}}}).obj(),
        [f"{NODE_TERMS}: Required value: must have at least one node selector term"],
    ),
    "Gt with two values": (
        make_pod("p").node_affinity("gen", ["1", "2"], "Gt").obj(),
        [
            f"{NODE_TERMS}[0].matchExpressions[0].values: Required value: "
            "must be specified single value when `operator` is 'Lt' or 'Gt'"
        ],
    ),
    "an empty topology key of an affinity term, three times": (
        make_pod("p").affinity("", {"a": "b"}).obj(),
        [
            f"{TERMS}[0].topologyKey: Required value: can not be empty",
            f'{TERMS}[0].topologyKey: Invalid value: "": name part must be non-empty',
            f'{TERMS}[0].topologyKey: Invalid value: "": name part must consist of alphanumeric characters, '
            "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  "
            "or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        ],
    ),
    "a weight of 101": (
        make_pod("p").affinity(ZONE, {"a": "b"}, weight=101).obj(),
        [
            "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: "
            "Invalid value: 101: must be in the range 1-100"
        ],
    ),
    "a spread constraint with everything wrong": (
        make_pod("p").spread("", {}, 0, "Sometimes", minDomains=0, nodeTaintsPolicy="Maybe").obj(),
        [
            "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
            "spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty",
            'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "Sometimes": '
            'supported values: "DoNotSchedule", "ScheduleAnyway"',
            "spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: must be greater than zero",
            "spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: "
            "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not Sometimes",
            'spec.topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported value: "Maybe": '
            'supported values: "Honor", "Ignore"',
        ],
    ),
    "the same spread constraint twice": (
        make_pod("p").spread(ZONE, {"a": "b"}).spread(ZONE, {"c": "d"}).obj(),
        [
            "spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: "
            f'Duplicate value: "{{{ZONE}, DoNotSchedule}}"'
        ],
    ),
    "the same host port twice": (
        make_pod("p").host_port(80).container("b").host_port(80).obj(),
        ['spec.containers[1].ports[0].hostPort: Duplicate value: "TCP//80"'],
    ),
    "a gated pod with a node": (
        make_pod("p").gate("g").node("n").obj(),
        ["spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"],
    ),
    "the same gate twice": (
        make_pod("p").gate("g").gate("g").obj(),
        ['spec.schedulingGates[1]: Duplicate value: "g"'],
    ),
    "a priority above a billion": (
        make_priority_class("high", 1_000_000_001),
        ["value: Forbidden: maximum allowed value of a user defined priority is 1000000000"],
    ),
    "a priority class with the system's prefix": (
        make_priority_class("system-mine", 5),
        [
            "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. "
            "error: system-mine is not a known system priority class"
        ],
    ),
    "a policy that does not exist": (
        make_priority_class("high", 5, "Maybe"),
        ['preemptionPolicy: Unsupported value: "Maybe": supported values: "PreemptLowerPriority", "Never"'],
    ),
    "a budget with both limits": (
        make_budget("b", {"a": "b"}, minAvailable=1, maxUnavailable="200%"),
        [
            'spec: Invalid value: {"selector":{"matchLabels":{"a":"b"}},"minAvailable":1,"maxUnavailable":"200%"}: '
            "minAvailable and maxUnavailable cannot be both set",
            'spec.maxUnavailable: Invalid value: "200%": must not be greater than 100%',
        ],
    ),
    "a mount of a missing volume": (
        make_pod("p")
        .spec(containers=[{"name": "c", "image": "i", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}])
        .obj(),
        ['spec.containers[0].volumeMounts[0].name: Not found: "v"'],
    ),
    "a selector that does not match its template": (
        of_kind("ReplicaSet", spec={**OWNER, "selector": {"matchLabels": {"a": "c"}}}),
        ['spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`'],
    ),
    "a storage class without a provisioner": (
        of_kind("StorageClass", volumeBindingMode="Later"),
        [
            "provisioner: Required value",
            'volumeBindingMode: Unsupported value: "Later": supported values: "Immediate", "WaitForFirstConsumer"',
        ],
    ),
}


@pytest.mark.parametrize("words", WRONG)
def test_errors_have_kubernetes_words(words: str) -> None:
    manifest, expected = WRONG[words]
    assert texts(manifest) == expected


def test_errors_carry_their_document_and_the_objects_name() -> None:
    [error] = validate(make_pod("p").gate("g").node("n").obj(), 3)
    assert (error.document, error.object_name) == (3, "Pod p")


ANY_DOCUMENT = {"an unknown kind": {"kind": "Gizmo", "apiVersion": "v1"}, "a list": [], "a text": "x", "nothing": None}


@pytest.mark.parametrize("words", ANY_DOCUMENT)
def test_an_object_of_unknown_kind_is_one_error(words: str) -> None:
    document: Any = ANY_DOCUMENT[words]
    assert len(validate(document)) == 1


# --- updates ----------------------------------------------------------------------------------------------------------


def stored(manifest: Data) -> Data:
    """Return a manifest as the API server stores it."""
    data = set_defaults(manifest)
    data["metadata"] |= {"uid": "u", "resourceVersion": "7", "creationTimestamp": "2026-01-01T00:00:00Z"}
    return data


def with_spec(**changes: Any) -> Callable[[Data], None]:
    return lambda manifest: manifest["spec"].update(changes)


GATED = make_pod("p").gate("a").gate("b").node_selector({"x": "y"}).toleration("k").obj()
OPEN = make_pod("p").toleration("k").obj()
UPDATES: dict[str, tuple[Data, Callable[[Data], Any], list[str]]] = {
    "nothing": (OPEN, lambda pod: None, []),
    "a label": (OPEN, lambda pod: pod["metadata"].update(labels={"a": "b"}), []),
    "an image": (OPEN, lambda pod: pod["spec"]["containers"][0].update(image="other:1"), []),
    "one more toleration": (
        OPEN,
        with_spec(tolerations=[{"operator": "Exists"}, {"key": "k", "operator": "Exists"}]),
        [],
    ),
    "one toleration less": (
        OPEN,
        with_spec(tolerations=[]),
        ["spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"],
    ),
    "one gate less": (GATED, with_spec(schedulingGates=[{"name": "b"}]), []),
    "all gates gone": (GATED, with_spec(schedulingGates=[]), []),
    "another gate": (
        GATED,
        with_spec(schedulingGates=[{"name": "c"}]),
        ["spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'c'"],
    ),
    "a gated pod's narrower node selector": (GATED, with_spec(nodeSelector={"x": "y", "z": "1"}), []),
    "a gated pod's wider node selector": (
        GATED,
        with_spec(nodeSelector=None),
        [
            "spec.nodeSelector: Invalid value: null: "
            "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        ],
    ),
    "the node selector of a pod without gates": (
        OPEN,
        with_spec(nodeSelector={"x": "y"}),
        [
            "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
            "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to "
            "existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously "
            "negative)\nchanged: spec.nodeSelector"
        ],
    ),
    "one container more": (
        OPEN,
        lambda pod: pod["spec"]["containers"].append({"name": "b", "image": "i"}),
        ["spec.containers: Forbidden: pod updates may not add or remove containers"],
    ),
    "a cordon and a taint": (make_node("n").obj(), lambda node: node.update(spec={"unschedulable": True}), []),
    "a node's provider": (
        make_node("n").spec(providerID="a").obj(),
        with_spec(providerID="b"),
        ['spec.providerID: Forbidden: node updates may not change providerID except from "" to valid'],
    ),
    "a class's value": (
        make_priority_class("high", 5),
        lambda priority_class: priority_class.update(value=6),
        ["value: Forbidden: may not be changed in an update."],
    ),
    "a kind without rules for updates": (
        VALID["a service"],
        with_spec(selector={"a": "b"}),
        [],
    ),
}


@pytest.mark.parametrize("words", UPDATES)
def test_updates(words: str) -> None:
    manifest, change, expected = UPDATES[words]
    changed = deepcopy(manifest)
    change(changed)
    old = stored(manifest)
    try:
        check_update(old, set_defaults(changed))
        results = []
    except Rejected as problem:
        results = [str(error) for error in problem.errors]
    assert results == expected
    assert old == stored(manifest)


def test_a_refused_update_names_its_document() -> None:
    with pytest.raises(Rejected) as caught:
        check_update(stored(make_priority_class("high", 5)), set_defaults(make_priority_class("high", 6)), 2)
    assert [error.document for error in caught.value.errors] == [2]


def test_fields_set_by_the_api_server_do_not_count_as_changed() -> None:
    old = stored(make_pod("p").priority_class("high").obj())
    old["spec"] |= {"nodeName": "n", "priority": 1000, "preemptionPolicy": "PreemptLowerPriority"}
    check_update(old, set_defaults(make_pod("p").priority_class("high").label("a", "b").obj()))


# --- never a crash ----------------------------------------------------------------------------------------------------

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 2**33)
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "a", "A b", "1Gi", "-1"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "key", "cpu", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of everything inside a manifest."""
    paths = [path] if path else []
    if isinstance(value, dict):
        for key, item in value.items():
            paths += places(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            paths += places(item, (*path, index))
    return paths


@st.composite
def mutated(draw: st.DrawFn) -> Data:
    """Draw a valid manifest with up to three values replaced or removed."""
    manifest = deepcopy(draw(st.sampled_from(list(VALID.values()))))
    for _ in range(draw(st.integers(1, 3))):
        target: Any = manifest
        *parents, last = draw(st.sampled_from(places(manifest)))
        for part in parents:
            target = target[part]
        if draw(st.booleans()) and isinstance(target, dict):
            del target[last]
        else:
            target[last] = draw(VALUES)
        if not places(manifest):
            break
    return manifest


@given(mutated())
def test_a_mutated_manifest_is_judged_and_never_changed(manifest: Data) -> None:
    before = json.dumps(manifest, sort_keys=True)
    for error in validate(manifest):
        assert error.kind
        assert error.message
    assert json.dumps(manifest, sort_keys=True) == before


@given(st.sampled_from(list(KINDS)), st.dictionaries(st.sampled_from(["metadata", "spec", "status", "value"]), VALUES))
def test_any_json_of_a_known_kind_is_judged(kind: str, fields: Data) -> None:
    validate({**of_kind(kind), **fields})


@settings(max_examples=60)
@given(st.lists(mutated(), min_size=1, max_size=4))
def test_every_accepted_object_can_be_scheduled(manifests: list[Data]) -> None:
    simulation = Simulation()
    apply = commands.Apply((make_node("n1").zone("a").obj(), make_priority_class("high", 1000)))
    for command in (apply, *(commands.Apply((manifest,)) for manifest in manifests), commands.Run()):
        with suppress(Rejected):
            simulation.execute(command)
    assert simulation.api.get("Node", "n1") is not None


@given(mutated(), mutated())
def test_a_mutated_update_is_judged(manifest: Data, other: Data) -> None:
    if validate(manifest) or validate(other) or manifest["kind"] != other["kind"]:
        return
    with suppress(Rejected):
        check_update(set_defaults(manifest), set_defaults(other))
