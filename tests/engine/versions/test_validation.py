"""Manifests that the versions judge differently: fields, values, texts and warnings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scheduler_engine.api.checking import check_text
from scheduler_engine.api.defaults import with_defaults
from scheduler_engine.api.validation import check_update, validate
from scheduler_engine.errors import Rejected
from scheduler_engine.testing import make_node
from scheduler_engine.testing.cluster import Cluster
from scheduler_engine.versions import VERSIONS, rules_for

Data = dict[str, Any]
OLD, MIDDLE, NEW = VERSIONS


def of_kind(api: str, kind: str, name: str = "x", **parts: Any) -> Data:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name}, **parts}


def pod(*containers: Data, **spec: Any) -> Data:
    return of_kind("v1", "Pod", spec={"containers": [*containers] or [container()], **spec})


def container(**fields: Any) -> Data:
    return {"name": "c", "image": "i", **fields}


def rules(action: str = "Restart", count: int = 1, codes: int = 1) -> Data:
    rule = {"action": action, "exitCodes": {"operator": "In", "values": [1] * codes}}
    return {"restartPolicy": "Never", "restartPolicyRules": [rule] * count}


def service(name: str = "x", **spec: Any) -> Data:
    return of_kind("v1", "Service", name, spec={"ports": [{"port": 80}], **spec})


def node(*features: str, **spec: Any) -> Data:
    return of_kind("v1", "Node", spec=spec, status={"declaredFeatures": [*features]} if features else {})


def certificate(**fields: Any) -> Data:
    source = {"signerName": "acme.example/x", "keyType": "ED25519", "keyPath": "k", **fields}
    return pod(volumes=[{"name": "v", "projected": {"sources": [{"podCertificate": source}]}}])


def driver(**spec: Any) -> Data:
    return of_kind("storage.k8s.io/v1", "CSIDriver", "csi.acme.example", spec=spec)


RULES, FIRST = "spec.containers[0].restartPolicyRules", "spec.initContainers[0]"
TOKEN = {"tokenRequests": [{"audience": "a"}]}
IN_SECRETS = "serviceAccountTokenInSecrets"
CERTIFICATE = "spec.volumes[0].projected.sources[0].podCertificate"
LONG = "x" * 64
RESOURCE = "resource.k8s.io/v1"
TWICE = (
    'scheduling.tolerations[2]: Duplicate value: {"Key":"b","Operator":"","Value":"","Effect":"",'
    '"TolerationSeconds":null}'
)
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container()]}}
SUBDOMAIN = (
    'metadata.{}: Invalid value: "{}": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric '
    "characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    r"for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
NEITHER = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`"
TAKEN = "must not be set to 'RestartContainer' for non-sidecar initContainers"
NO_KEY = (
    "{} must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. "
    "'example.com/MyName')"
)


def unknown(path: str) -> str:
    return f'{path}: unknown field "{path}"'


def always(*errors: str) -> tuple[list[str], ...]:
    return ([*errors],) * len(VERSIONS)


CASES: dict[str, tuple[Data, tuple[list[str], ...]]] = {
    "a container with its own policy": (
        pod(container(restartPolicy="OnFailure")),
        ([], [], []),
    ),
    "an unknown policy of a container": (
        pod(container(restartPolicy="Sometimes")),
        (
            [],
            *[
                [
                    'spec.containers[0].restartPolicy: Unsupported value: "Sometimes": supported values: "Always", '
                    '"Never", "OnFailure"'
                ]
            ]
            * 2,
        ),
    ),
    "rules need a policy": (
        pod(container(restartPolicyRules=rules()["restartPolicyRules"])),
        (
            [],
            *[
                [
                    "spec.containers[0].restartPolicy: Required value: must specify restartPolicy when restart rules "
                    "are used"
                ]
            ]
            * 2,
        ),
    ),
    "rules of an init container need a policy before they are read": (
        pod(initContainers=[{**container(restartPolicyRules=[{"action": "Wait"}]), "name": "first"}]),
        ([], *[[f"{FIRST}.restartPolicy: Required value: must specify restartPolicy when restart rules are used"]] * 2),
    ),
    "tolerations of a runtime class": (
        of_kind(
            "node.k8s.io/v1",
            "RuntimeClass",
            handler="h",
            scheduling={"tolerations": [{"key": "a", "operator": "Lt"}, {"key": "b"}, {"key": "b"}]},
        ),
        (
            [
                'scheduling.tolerations.tolerations[0].operator: Unsupported value: "Lt": supported values: "Equal", '
                '"Exists"',
                TWICE,
            ],
            *[
                [
                    'scheduling.tolerations[0].operator: Unsupported value: "Lt": supported values: "Equal", '
                    '"Exists", "Lt", "Gt"',
                    TWICE,
                ]
            ]
            * 2,
        ),
    ),
    "a replication controller with a wrong start of its name": (
        {
            **of_kind("v1", "ReplicationController", spec={"selector": {"a": "b"}, "template": TEMPLATE}),
            "metadata": {"generateName": "Web-"},
        },
        (
            [SUBDOMAIN.format("generateName", "Web-"), SUBDOMAIN.format("name", "Web-xxxxx")],
            *[[SUBDOMAIN.format("name", "Web-xxxxx")]] * 2,
        ),
    ),
    "a rule that restarts all containers": (
        pod(initContainers=[{**container(**rules("RestartAllContainers")), "name": "first"}]),
        (
            [],
            [
                f'{FIRST}.restartPolicyRules[0].action: Unsupported value: "RestartAllContainers": supported values: '
                '"Restart"'
            ],
            [],
        ),
    ),
    "an unknown action": (
        pod(initContainers=[{**container(**rules("Wait")), "name": "first"}]),
        (
            [],
            [f'{FIRST}.restartPolicyRules[0].action: Unsupported value: "Wait": supported values: "Restart"'],
            [
                f'{FIRST}.restartPolicyRules[0].action: Unsupported value: "Wait": supported values: "Restart", '
                '"RestartAllContainers"'
            ],
        ),
    ),
    "a sidecar with rules": (
        pod(initContainers=[{**container(**{**rules(), "restartPolicy": "Always"}), "name": "first"}]),
        (
            [],
            [
                f"{FIRST}.restartPolicyRules: Forbidden: restartPolicyRules are not allowed for init containers with "
                "restart policy Always"
            ],
            [],
        ),
    ),
    "too many rules and exit codes, an unknown operator, and a rule without codes": (
        pod(
            container(
                restartPolicy="Never",
                restartPolicyRules=[
                    *rules(count=19)["restartPolicyRules"],
                    {"action": "Restart", "exitCodes": {"operator": "Is", "values": [1] * 256}},
                    {"action": "Restart"},
                ],
            )
        ),
        (
            [],
            [
                f"{RULES}: Too long: may not be more than 20 bytes",
                f'{RULES}[19].exitCodes.operator: Unsupported value: "Is": supported values: "In", "NotIn"',
                f"{RULES}[19].exitCodes.values: Too long: may not be more than 255 bytes",
                f"{RULES}[20].exitCodes: Required value: must be specified",
            ],
            [
                f"{RULES}: Too many: 21: must have at most 20 items",
                f'{RULES}[19].exitCodes.operator: Unsupported value: "Is": supported values: "In", "NotIn"',
                f"{RULES}[19].exitCodes.values: Too many: 256: must have at most 255 items",
                f"{RULES}[20].exitCodes: Required value: must be specified",
            ],
        ),
    ),
    "an init container that a resize restarts": (
        pod(
            initContainers=[
                {**container(), "name": "first", "resizePolicy": [{"resourceName": "cpu", "restartPolicy": restart}]}
                for restart in ("RestartContainer",)
            ]
        ),
        ([], [], [f'{FIRST}.resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": {TAKEN}']),
    ),
    "a container that a resize restarts in a pod that never does": (
        pod(
            container(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]),
            restartPolicy="Never",
        ),
        (
            *[
                [
                    "spec.containers[0].resizePolicy: Invalid value: \"RestartContainer\": must be 'NotRequired' when "
                    "`restartPolicy` is 'Never'"
                ]
            ]
            * 2,
            [
                "spec.containers[0].resizePolicy: Invalid value: \"RestartContainer\": must be 'NotRequired' when pod "
                "`restartPolicy` is 'Never'"
            ],
        ),
    ),
    "a variable from nowhere": (
        pod(container(env=[{"name": "A", "valueFrom": {}}])),
        (
            [f'spec.containers[0].env[0].valueFrom: Invalid value: "": {NEITHER} or `secretKeyRef`'],
            *[[f'spec.containers[0].env[0].valueFrom: Invalid value: "": {NEITHER}, `secretKeyRef` or `fileKeyRef`']]
            * 2,
        ),
    ),
    "a class whose selector sorts a list": (
        of_kind(RESOURCE, "DeviceClass", spec={"selectors": [{"cel": {"expression": "[1].sort()[0] == 1"}}]}),
        (
            [
                'spec.selectors[0].cel.expression: Invalid value: "[1].sort()[0] == 1": compilation failed: ERROR: '
                "<input>:1:9: undeclared reference to 'sort' (in container '')\n | [1].sort()[0] == 1\n | ........^"
            ],
            [],
            [],
        ),
    ),
    "a pod of a workload": (
        pod(workloadRef={"name": "w", "podGroup": "g"}),
        ([unknown("spec.workloadRef")], [], [unknown("spec.workloadRef")]),
    ),
    "a pod of a pod group": (
        pod(schedulingGroup={"podGroupName": "g"}),
        ([unknown("spec.schedulingGroup")], [unknown("spec.schedulingGroup")], []),
    ),
    "a certificate with annotations": (
        certificate(userAnnotations={"acme.example/a": "b", "Plain": "c", "": "d", "a/b/c": "e"}),
        (
            [unknown(f"{CERTIFICATE}.userAnnotations")],
            *[
                [
                    f'{CERTIFICATE}.userAnnotations: Invalid value: "plain": must be a domain-prefixed key (such as '
                    '"acme.io/foo")',
                    f"{CERTIFICATE}.userAnnotations: Required value",
                    f'{CERTIFICATE}.userAnnotations: Invalid value: "a/b/c": {NO_KEY.format("a valid label key")}',
                ]
            ]
            * 2,
        ),
    ),
    "a pod in the network of its node with its own users": (
        pod(hostNetwork=True, hostUsers=False),
        always("spec.hostNetwork: Forbidden: when `hostUsers` is false"),
    ),
    "a service whose name starts with a digit": (
        service("3d"),
        (
            *[
                [
                    'metadata.name: Invalid value: "3d": a DNS-1035 label must consist of lower case alphanumeric '
                    "characters or '-', start with an alphabetic character, and end with an alphanumeric character "
                    "(e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
                ]
            ]
            * 2,
            [],
        ),
    ),
    "addresses in odd forms": (
        service(
            type="LoadBalancer",
            externalIPs=["203.0.113.010", "::ffff:203.0.113.9", "127.0.0.01", "x"],
            loadBalancerSourceRanges=[" 203.0.113.0/024", "203.0.113.1/24", "::ffff:203.0.113.0/120", "203.0.113.0/24"],
        ),
        (
            *[
                [
                    'spec.externalIPs[2]: Invalid value: "127.0.0.01": may not be in the loopback range (127.0.0.0/8, '
                    "::1/128)",
                    'spec.externalIPs[3]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or '
                    "2001:db8::ffff)",
                ]
            ]
            * 2,
            [
                'spec.externalIPs[0]: Invalid value: "203.0.113.010": must not have leading 0s',
                'spec.externalIPs[1]: Invalid value: "::ffff:203.0.113.9": must not be an IPv4-mapped IPv6 address',
                'spec.externalIPs[2]: Invalid value: "127.0.0.01": must not have leading 0s',
                'spec.externalIPs[3]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or '
                "2001:db8::ffff)",
                'spec.LoadBalancerSourceRanges[0]: Invalid value: "203.0.113.0/024": must not have leading 0s in IP or '
                "prefix length",
                'spec.LoadBalancerSourceRanges[1]: Invalid value: "203.0.113.1/24": must not have bits set beyond the '
                "prefix length",
                'spec.LoadBalancerSourceRanges[2]: Invalid value: "::ffff:203.0.113.0/120": must not have an '
                "IPv4-mapped IPv6 address",
            ],
        ),
    ),
    "addresses of endpoints, nodes and pods, too": (
        pod(
            dnsConfig={"nameservers": ["203.0.113.010"]},
            hostAliases=[{"ip": "203.0.113.010"}],
        ),
        (
            [],
            [],
            [
                f'{place}: Invalid value: "203.0.113.010": must not have leading 0s'
                for place in ("spec.dnsConfig.nameservers[0]", "spec.hostAliases[0].ip")
            ],
        ),
    ),
    "a range of a node": (
        node(podCIDRs=["10.0.1.1/24"]),
        ([], [], ['spec.podCIDRs[0]: Invalid value: "10.0.1.1/24": must not have bits set beyond the prefix length']),
    ),
    "an address of endpoints": (
        of_kind("v1", "Endpoints", subsets=[{"addresses": [{"ip": "10.0.0.01"}]}]),
        ([], [], ['subsets[0].addresses[0].ip: Invalid value: "10.0.0.01": must not have leading 0s']),
    ),
    "features of a node that are not names": (
        node("b", "A", "A"),
        (
            [unknown("status.declaredFeatures")],
            [],
            [
                'status.declaredFeatures[0]: Invalid value: "b": invalid feature name "b": must start with an '
                "UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or "
                "MyFeature/mySubFeature), and contain only alphanumeric characters and slashes",
                'status.declaredFeatures[1]: Invalid value: "A": list must be sorted alphabetically',
                'status.declaredFeatures[2]: Duplicate value: "A"',
            ],
        ),
    ),
    "a long feature of a node": (
        node("A" * 254),
        (
            [unknown("status.declaredFeatures")],
            [],
            [
                f'status.declaredFeatures[0]: Invalid value: "{"A" * 254}": invalid feature name "{"A" * 254}": must '
                "be no more than 253 characters"
            ],
        ),
    ),
    "a driver whose tokens are in secrets, without tokens": (
        driver(serviceAccountTokenInSecrets=True),
        (
            [unknown(f"spec.{IN_SECRETS}")],
            *[[f"spec.{IN_SECRETS}: Invalid value: true: {IN_SECRETS} is set but no tokenRequests are specified"]] * 2,
        ),
    ),
    "a driver whose tokens are in secrets": (
        driver(serviceAccountTokenInSecrets=False, **TOKEN),
        ([unknown(f"spec.{IN_SECRETS}")], [], []),
    ),
    "a volume without a driver": (
        pod(volumes=[{"name": "v", "csi": {"driver": ""}}]),
        (
            [
                "spec.volumes[0].csi.driver: Required value",
                'spec.volumes[0].csi.driver: Invalid value: "": a lowercase RFC 1123 subdomain must consist of lower '
                "case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. "
                "'example.com', regex used for validation is "
                "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
            ],
            *[["spec.volumes[0].csi.driver: Required value"]] * 2,
        ),
    ),
    "a class without a handler": (
        of_kind("node.k8s.io/v1", "RuntimeClass", handler=""),
        (
            *[
                [
                    'handler: Invalid value: "": a lowercase RFC 1123 label must consist of lower case alphanumeric '
                    "characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or "
                    "'123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
                ]
            ]
            * 2,
            ["handler: Required value"],
        ),
    ),
    "labels that are too long or no keys": (
        {**pod(), "metadata": {"name": "x", "labels": {f"{'a' * 254}/{LONG}": LONG, "a/b/c": "d"}}},
        tuple(
            [
                f'metadata.labels: Invalid value: "{"a" * 254}/{LONG}": prefix part must be no more than 253 {unit}',
                f'metadata.labels: Invalid value: "{"a" * 254}/{LONG}": name part must be no more than 63 {unit}',
                f'metadata.labels: Invalid value: "{LONG}": must be no more than 63 {unit}',
                f'metadata.labels: Invalid value: "a/b/c": {NO_KEY.format(name)}',
            ]
            for unit, name in (("characters", "a qualified name"), *[("bytes", "a valid label key")] * 2)
        ),
    ),
    "a taint with a long value": (
        node(taints=[{"key": "a", "value": LONG, "effect": "NoSchedule"}]),
        tuple(
            [f'metadata.taints[0].value: Invalid value: "{LONG}": must be no more than 63 {unit}']
            for unit in ("characters", "bytes", "bytes")
        ),
    ),
}


@pytest.mark.parametrize("words", CASES)
def test_a_manifest_is_judged_by_its_version(words: str) -> None:
    manifest, expected = CASES[words]
    for version, errors in zip(VERSIONS, expected, strict=True):
        rules = rules_for(version, {"PodCertificateRequest": True})
        assert [str(error) for error in validate(manifest, rules=rules)] == errors, version


GATES: dict[str, tuple[str, bool, Data, str]] = {
    "restart rules can be switched off": ("ContainerRestartRules", False, pod(container(restartPolicy="No")), ""),
    "so can the action": (
        "RestartAllContainersOnContainerExits",
        False,
        pod(container(**rules("RestartAllContainers"))),
        'supported values: "Restart"',
    ),
    "user namespaces in the network of the node can be switched on": (
        "UserNamespacesHostNetworkSupport",
        True,
        pod(hostNetwork=True, hostUsers=False),
        "",
    ),
    "names of services": ("RelaxedServiceNameValidation", False, service("3d"), "a DNS-1035 label must"),
    "addresses": ("StrictIPCIDRValidation", False, service(externalIPs=["203.0.113.010"]), ""),
}


@pytest.mark.parametrize("words", GATES)
def test_a_gate_changes_what_is_accepted(words: str) -> None:
    gate, on, manifest, problem = GATES[words]
    errors = validate(manifest, rules=rules_for(NEW, {gate: on}))
    assert [problem in str(error) for error in errors] == ([True] if problem else [])
    assert bool(validate(manifest, rules=rules_for(NEW, {gate: not on}))) != bool(problem)


def test_v1_36_lets_stored_objects_keep_what_it_no_longer_accepts() -> None:
    addressed = service("web", externalIPs=["203.0.113.010"])
    resizing = {"resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]}
    first = pod(initContainers=[{**container(), "name": "first", **resizing}])
    cluster = Cluster(kubernetes=MIDDLE).apply(addressed, first)
    cluster.execute({"kind": "kubernetes", "version": NEW, "feature_gates": {}})
    labelled = [{**item, "metadata": {**item["metadata"], "labels": {"a": "b"}}} for item in (addressed, first)]
    cluster.apply(*labelled)
    for kind, name in (("Service", "web"), ("Pod", "x")):
        changes = {"metadata": {"labels": {"a": "c"}}}
        cluster.execute({"kind": "patch", "object_kind": kind, "key": f"default/{name}", "changes": changes})
        held = cluster.simulation.api.existing(kind, f"default/{name}")
        assert held.metadata["labels"] == {"a": "c"}
    with pytest.raises(Rejected, match="must not have leading 0s"):
        cluster.apply(service("other", externalIPs=["203.0.113.010"]))


def test_a_stored_service_gets_no_new_address_that_is_not_accepted() -> None:
    cluster = Cluster(kubernetes=MIDDLE).apply(service("web", externalIPs=["203.0.113.010"]))
    cluster.execute({"kind": "kubernetes", "version": NEW, "feature_gates": {}})
    with pytest.raises(Rejected) as refusal:
        cluster.apply(service("web", externalIPs=["203.0.113.010", "203.0.113.011"]))
    problem = 'spec.externalIPs[1]: Invalid value: "203.0.113.011": must not have leading 0s'
    assert [str(error) for error in refusal.value.errors] == [problem]


def annotated(ranges: str, **spec: Any) -> Data:
    written = service("web", type="LoadBalancer", **spec)
    annotations = {"service.beta.kubernetes.io/load-balancer-source-ranges": ranges}
    return {**written, "metadata": {"name": "web", "annotations": annotations}}


def test_ranges_in_the_annotation_of_a_service_are_checked_if_they_change() -> None:
    path = "metadata.annotations[service.beta.kubernetes.io/load-balancer-source-ranges]"
    strict = f'{path}: Invalid value: "203.0.113.1/24": must not have bits set beyond the prefix length'
    for version, expected in zip(VERSIONS, ([], [], [strict]), strict=True):
        errors = validate(annotated(" 203.0.113.0/24, 203.0.113.1/24 "), rules=rules_for(version))
        assert [str(error) for error in errors] == expected
    [error] = validate({**annotated("203.0.113.0/24"), "spec": service()["spec"]})
    assert str(error) == f"{path}: Forbidden: may only be used when `type` is 'LoadBalancer'"
    cluster = Cluster(kubernetes=MIDDLE).apply(annotated("203.0.113.1/24"))
    cluster.execute({"kind": "kubernetes", "version": NEW, "feature_gates": {}})
    cluster.apply(annotated("203.0.113.1/24", selector={"a": "b"}))
    with pytest.raises(Rejected, match="bits set beyond"):
        cluster.apply(annotated("203.0.113.2/24"))


def endpoints(address: str, label: str) -> Data:
    subsets = [{"addresses": [{"ip": address}], "ports": [{"port": 80}]}]
    written = of_kind("v1", "Endpoints", subsets=subsets)
    return {**written, "metadata": {**written["metadata"], "labels": {"a": label}}}


def test_stored_endpoints_stay_until_their_subsets_change() -> None:
    cluster = Cluster(kubernetes=MIDDLE).apply(endpoints("203.0.113.010", "b"))
    cluster.execute({"kind": "kubernetes", "version": NEW, "feature_gates": {}})
    cluster.apply(endpoints("203.0.113.010", "c"))
    assert cluster.simulation.api.existing("Endpoints", "default/x").metadata["labels"] == {"a": "c"}
    with pytest.raises(Rejected, match=r"subsets\[0\].*must not have leading 0s"):
        cluster.apply(endpoints("203.0.113.011", "c"))


def test_a_service_keeps_its_name_where_the_gate_is_off() -> None:
    cluster = Cluster(kubernetes=NEW).apply(service("3d"))
    cluster.execute({"kind": "kubernetes", "version": MIDDLE, "feature_gates": {}})
    cluster.apply(service("3d", selector={"a": "b"}))
    assert cluster.simulation.api.existing("Service", "default/3d").spec["selector"] == {"a": "b"}


@pytest.mark.parametrize(("version", "field"), [(MIDDLE, "workloadRef"), (NEW, "schedulingGroup")])
def test_fields_of_pod_groups_are_accepted_and_dropped(version: str, field: str) -> None:
    value = {"name": "w", "podGroup": "g"} if field == "workloadRef" else {"podGroupName": "g"}
    labels = {"app": "d"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container()], field: value}}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    cluster = Cluster(kubernetes=version).apply(pod(**{field: value}), of_kind("apps/v1", "Deployment", "d", spec=spec))
    assert field not in cluster.pod("x").spec
    assert field not in cluster.simulation.api.existing("Deployment", "default/d").spec["template"]["spec"]


@pytest.mark.parametrize(
    ("version", "gates", "kept"), [(MIDDLE, {}, False), (MIDDLE, {"NodeDeclaredFeatures": True}, True), (NEW, {}, True)]
)
def test_features_of_a_new_node_are_dropped_while_their_gate_is_off(
    version: str, gates: dict[str, bool], kept: bool
) -> None:
    declaring = make_node("n1").status(declaredFeatures=["A"])
    cluster = Cluster(kubernetes=version, feature_gates=gates).apply(declaring)
    held = cluster.simulation.api.existing("Node", "n1")
    assert ("declaredFeatures" in held.status) == kept
    cluster.execute({"kind": "kubernetes", "version": version, "feature_gates": {"NodeDeclaredFeatures": False}})
    cluster.apply(declaring.label("a", "b"))
    assert ("declaredFeatures" in cluster.simulation.api.existing("Node", "n1").status) == kept


def test_an_older_version_drops_fields_that_it_does_not_know_from_what_is_stored() -> None:
    token = {"signerName": "acme.example/x", "keyType": "ED25519", "keyPath": "k", "userAnnotations": {"a.b/c": "d"}}
    projected = {"sources": [{"podCertificate": token}]}
    declaring = of_kind("v1", "Node", "n1", status={"declaredFeatures": ["A"]})
    cluster = Cluster(kubernetes=NEW, feature_gates={"PodCertificateRequest": True})
    cluster.apply(declaring, pod(volumes=[{"name": "v", "projected": projected}]))
    assert "userAnnotations" in str(cluster.pod("x").manifest)
    cluster.execute({"kind": "kubernetes", "version": OLD, "feature_gates": {}})
    changes = {"metadata": {"labels": {"a": "b"}}}
    for kind, key in (("Pod", "default/x"), ("Node", "n1")):
        cluster.execute({"kind": "patch", "object_kind": kind, "key": key, "changes": changes})
        held = cluster.simulation.api.existing(kind, key).manifest
        assert "userAnnotations" not in str(held)
        assert "declaredFeatures" not in str(held)
        assert held["metadata"]["labels"]["a"] == "b"
    changes = {"status": {"declaredFeatures": ["B"]}}
    with pytest.raises(Rejected, match="unknown field"):
        cluster.execute({"kind": "patch", "object_kind": "Node", "key": "n1", "changes": changes})


def test_an_older_version_taints_a_node_with_features() -> None:
    cluster = Cluster(kubernetes=NEW).apply(make_node("n1").status(declaredFeatures=["A"]))
    cluster.execute({"kind": "kubernetes", "version": OLD, "feature_gates": {}})
    cluster.execute({"kind": "taint", "node": "n1", "key": "x", "effect": "NoSchedule", "on": True})
    assert cluster.simulation.api.existing("Node", "n1").spec["taints"] == [{"key": "x", "effect": "NoSchedule"}]


def volume(zone: str) -> Data:
    term = {"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]}]}
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"},
        "csi": {"driver": "csi.acme.example", "volumeHandle": "h"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
    }
    return of_kind("v1", "PersistentVolume", spec=spec)


def storage_class(reclaim: str) -> Data:
    return of_kind("storage.k8s.io/v1", "StorageClass", provisioner="csi.acme.example", reclaimPolicy=reclaim)


def claim(size: str) -> Data:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    return of_kind("v1", "PersistentVolumeClaim", spec=spec)


def test_a_volume_moves_if_the_gate_is_on() -> None:
    with pytest.raises(Rejected, match=r"nodeAffinity: Invalid value: .* field is immutable"):
        Cluster(kubernetes=NEW).apply(volume("a")).apply(volume("b"))
    cluster = Cluster(kubernetes=NEW, feature_gates={"MutablePVNodeAffinity": True}).apply(volume("a"))
    cluster.apply(volume("b"))
    assert "'b'" in str(cluster.simulation.api.existing("PersistentVolume", "x").spec["nodeAffinity"])


@pytest.mark.parametrize(
    ("version", "problem"),
    [
        (OLD, "reclaimPolicy: Forbidden: updates to reclaimPolicy are forbidden."),
        (NEW, 'reclaimPolicy: Invalid value: "Retain": field is immutable'),
    ],
)
def test_the_error_about_another_storage_class(version: str, problem: str) -> None:
    with pytest.raises(Rejected) as refusal:
        Cluster(kubernetes=version).apply(storage_class("Delete")).apply(storage_class("Retain"))
    assert str(refusal.value) == problem


@pytest.mark.parametrize(("version", "times"), [(OLD, 2), (MIDDLE, 1), (NEW, 1)])
def test_the_api_server_reports_a_wrong_claim_of_an_update_once_in_newer_versions(version: str, times: int) -> None:
    old, new = (with_defaults(claim(size)) for size in ("1Gi", "0"))
    for manifest in (old, new):
        manifest["metadata"]["resourceVersion"] = "1"
    with pytest.raises(Rejected) as refusal:
        check_update(old, new, rules=rules_for(version))
    problem = "must be greater than zero"
    assert [str(error) for error in refusal.value.errors if problem in error.message] == [
        f'spec.resources[storage]: Invalid value: "0": {problem}'
    ] * times


@pytest.mark.parametrize(("version", "paths"), [(OLD, ["name", ""]), (MIDDLE, [""]), (NEW, [""])])
def test_the_spec_of_a_stored_claim_is_judged_no_more_in_newer_versions(version: str, paths: list[str]) -> None:
    def wanting(name: str) -> Data:
        request = {"name": name, "exactly": {"deviceClassName": "gpu"}}
        held = with_defaults(of_kind(RESOURCE, "ResourceClaim", spec={"devices": {"requests": [request]}}))
        held["metadata"]["resourceVersion"] = "1"
        return held

    with pytest.raises(Rejected) as refusal:
        check_update(wanting("a"), wanting("A"), rules=rules_for(version))
    expected = [f"spec.devices.requests[0].{path}" if path else "spec" for path in paths]
    assert [error.path for error in refusal.value.errors] == expected


def job(suspend: bool, metadata: Data | None = None, cpu: str = "1", **spec: Any) -> Data:
    resources = {"requests": {"cpu": cpu}}
    inner = {"restartPolicy": "Never", "containers": [container(resources=resources)], **spec}
    template = {"metadata": metadata or {}, "spec": inner}
    return of_kind("batch/v1", "Job", "j", spec={"suspend": suspend, "template": template})


NEAR = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{}]}}}
APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "a", "labelSelector": {}}],
    }
}
RESOURCES, DIRECTIVES = "MutablePodResourcesForSuspendedJobs", "MutableSchedulingDirectivesForSuspendedJobs"


@pytest.mark.parametrize(
    ("version", "gates", "changed", "path"),
    [
        pytest.param(NEW, {}, job(True, cpu="2"), "", id="requests"),
        pytest.param(NEW, {RESOURCES: False}, job(True, cpu="2"), "spec.template", id="requests, gate off"),
        pytest.param(MIDDLE, {}, job(True, cpu="2"), "spec.template", id="requests in v1.35"),
        pytest.param(MIDDLE, {RESOURCES: True}, job(True, cpu="2"), "", id="requests in v1.35, gate on"),
        pytest.param(NEW, {}, job(True, nodeSelector={"a": "b"}), "", id="node selector"),
        pytest.param(NEW, {DIRECTIVES: False}, job(True, nodeSelector={"a": "b"}), "spec.template.spec", id="gate off"),
        pytest.param(
            NEW,
            {RESOURCES: False, DIRECTIVES: False},
            job(True, nodeSelector={"a": "b"}),
            "spec.template",
            id="both gates off",
        ),
        pytest.param(OLD, {}, job(True, nodeSelector={"a": "b"}), "spec.template", id="node selector in v1.34"),
        pytest.param(MIDDLE, {}, job(True, nodeSelector={"a": "b"}), "spec.template", id="node selector in v1.35"),
        pytest.param(MIDDLE, {DIRECTIVES: True}, job(True, nodeSelector={"a": "b"}), "", id="in v1.35, gate on"),
        pytest.param(NEW, {RESOURCES: False}, job(True, affinity=NEAR), "", id="node affinity"),
        pytest.param(NEW, {RESOURCES: False}, job(True, {"labels": {"a": "b"}}), "", id="labels"),
        pytest.param(NEW, {}, job(True, affinity=APART), "spec.template.spec", id="not the affinity to pods"),
        pytest.param(NEW, {}, job(True, hostNetwork=True), "spec.template.spec", id="nothing else"),
        pytest.param(NEW, {}, job(True, hostNetwork=True, cpu="2"), "spec.template.spec", id="nor with requests"),
    ],
)
def test_the_template_of_a_suspended_job_changes(
    version: str, gates: dict[str, bool], changed: Data, path: str
) -> None:
    cluster = Cluster(kubernetes=version, feature_gates=gates).apply(make_node("n1"), job(False)).settle()
    cluster.apply(job(True)).settle()
    if path:
        with pytest.raises(Rejected) as refusal:
            cluster.apply(changed)
        [error] = refusal.value.errors
        assert (error.path, error.message.endswith("field is immutable")) == (path, True)
    else:
        cluster.apply(changed)


@pytest.mark.parametrize("gates", [{}, {RESOURCES: False}, {DIRECTIVES: False}, {RESOURCES: False, DIRECTIVES: False}])
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("changed", "stays"),
    [
        pytest.param(job(True, nodeSelector={"a": "b"}), False, id="node selector"),
        pytest.param(job(True, tolerations=[{"key": "a", "operator": "Exists"}]), False, id="tolerations"),
        pytest.param(job(True, schedulingGates=[{"name": "a.b/c"}]), False, id="scheduling gates"),
        pytest.param(job(True, affinity=NEAR), False, id="node affinity"),
        pytest.param(job(True, {"labels": {"a": "b"}}), False, id="labels"),
        pytest.param(job(True, {"annotations": {"a": "b"}}), False, id="annotations"),
        pytest.param(job(True, affinity=APART), True, id="not the affinity to pods"),
        pytest.param(job(True, hostNetwork=True), True, id="not the network"),
    ],
)
def test_a_suspended_job_that_never_ran_can_be_directed(
    version: str, gates: dict[str, bool], changed: Data, stays: bool
) -> None:
    known = {} if version == OLD else gates
    cluster = Cluster(kubernetes=version, feature_gates=known).apply(make_node("n1"), job(True)).settle()
    if stays:
        with pytest.raises(Rejected, match="field is immutable"):
            cluster.apply(changed)
        return
    before = cluster.simulation.api.existing("Job", "default/j").spec["template"]
    cluster.apply(changed)
    after = cluster.simulation.api.existing("Job", "default/j").spec["template"]
    inner = [part for part in changed["spec"]["template"]["spec"] if part not in ("containers", "restartPolicy")]
    assert before != after
    assert [after["spec"][part] for part in inner] == [changed["spec"]["template"]["spec"][part] for part in inner]


def test_the_template_of_a_running_job_stays() -> None:
    cluster = Cluster(kubernetes=NEW).apply(make_node("n1"), job(False)).settle()
    with pytest.raises(Rejected, match=r"spec\.template: Invalid value"):
        cluster.apply(job(False, cpu="2"))


EXTERNAL = "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
ODD = 'spec.externalIPs[0]: non-standard IP address "203.0.113.010" {}: use "203.0.113.10"'
LONG_LABEL = {"matchExpressions": [{"key": "a", "operator": "In", "values": [LONG]}]}
PREFER = "preferredDuringSchedulingIgnoredDuringExecution"
PREFERRED = f"spec.affinity.nodeAffinity.{PREFER}[0].preference.matchExpressions[0].values[0]"
UNSET = (
    "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible "
    "logging of tokens in volume attributes"
)
WARNINGS: dict[str, tuple[Data, tuple[list[str], ...]]] = {
    "an external address": (service(externalIPs=["203.0.113.10"]), ([], [], [EXTERNAL])),
    "of a headless service": (
        service(externalIPs=["203.0.113.10"], clusterIP="None"),
        always("spec.externalIPs is ignored for headless services"),
    ),
    "an address with leading zeros": (
        service(externalIPs=["203.0.113.010"]),
        (*[[ODD.format("will be considered invalid in a future Kubernetes release")]] * 2, []),
    ),
    "traffic that prefers what is close": (
        service(trafficDistribution="PreferClose"),
        ([], *[['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"']] * 2),
    ),
    "a preferred node whose label is too long": (
        pod(affinity={"nodeAffinity": {PREFER: [{"weight": 1, "preference": LONG_LABEL}]}}),
        tuple(
            [f"{PREFERRED}: {LONG} is invalid, must be no more than 63 {unit}"]
            for unit in ("characters", "bytes", "bytes")
        ),
    ),
    "a driver with tokens": (driver(**TOKEN), ([], [UNSET], [UNSET])),
    "a driver with tokens in secrets": (driver(serviceAccountTokenInSecrets=True, **TOKEN), ([], [], [])),
}


@pytest.mark.parametrize("words", WARNINGS)
def test_warnings_are_those_of_the_version(words: str) -> None:
    manifest, expected = WARNINGS[words]
    for version, warnings in zip(VERSIONS, expected, strict=True):
        checked = check_text(json.dumps(manifest), rules=rules_for(version))
        assert [str(item) for item in checked.warnings] == warnings, version


def test_an_odd_address_that_is_still_allowed_is_called_invalid_in_v1_36() -> None:
    manifest, lenient = service(externalIPs=["203.0.113.010"]), rules_for(NEW, {"StrictIPCIDRValidation": False})
    checked = check_text(json.dumps(manifest), rules=lenient)
    assert [str(item) for item in checked.warnings] == [EXTERNAL, ODD.format("is invalid")]


def csi_node(count: int, node_id: str = "n1", *keys: str) -> Data:
    entry = {"name": "csi.acme.example", "nodeID": node_id, "topologyKeys": [*keys], "allocatable": {"count": count}}
    return of_kind("storage.k8s.io/v1", "CSINode", "n1", spec={"drivers": [entry]})


def attachment(**source: Any) -> Data:
    spec = {"attacher": "csi.acme.example", "nodeName": "n1", "source": source}
    return of_kind("storage.k8s.io/v1", "VolumeAttachment", spec=spec)


def capacity(**fields: Any) -> Data:
    return of_kind("storage.k8s.io/v1", "CSIStorageCapacity", storageClassName="fast", **fields)


def fixed(path: str, value: Any) -> str:
    return f"{path}: Invalid value: {json.dumps(value, separators=(',', ':'))}: field is immutable"


def fixed_driver(node_id: str, allocatable: Data | None) -> str:
    shown: Data = {"Name": "csi.acme.example", "NodeID": node_id, "TopologyKeys": [], "Allocatable": allocatable}
    return fixed("spec.drivers", shown)


ONE_SOURCE = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
PERIOD, LONG_ID = "nodeAllocatableUpdatePeriodSeconds", "x" * 257
CSI_CASES: dict[str, tuple[Data, tuple[list[str], ...]]] = {
    "a driver with unknown words": (
        driver(fsGroupPolicy="Some", volumeLifecycleModes=["Some"]),
        always(
            'spec.fsGroupPolicy: Unsupported value: "Some": supported values: "File", "None", '
            '"ReadWriteOnceWithFSType"',
            'spec.volumeLifecycleModes: Unsupported value: "Some": supported values: "Persistent", "Ephemeral"',
        ),
    ),
    "tokens that last too short or too long, or of the same audience": (
        driver(
            tokenRequests=[
                {"audience": "a", "expirationSeconds": 599},
                {"audience": "b", "expirationSeconds": 2**32 + 1},
                {"audience": "a"},
            ]
        ),
        always(
            "spec.tokenRequests[0].expirationSeconds: Invalid value: 599: may not specify a duration less than 10 "
            "minutes",
            "spec.tokenRequests[1].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger "
            "than 2^32 seconds",
            'spec.tokenRequests[2].audience: Duplicate value: "a"',
        ),
    ),
    "a driver that counts its volumes too often": (
        driver(**{PERIOD: 9}),
        ([], *[[f"spec.{PERIOD}: Invalid value: 9: must be greater than or equal to 10 seconds"]] * 2),
    ),
    "a node with a long ID and the same key twice": (
        csi_node(1, LONG_ID, "a", "a"),
        always(
            f'spec.drivers[0].nodeID: Invalid value: "{LONG_ID}": must be 256 characters or less',
            'spec.drivers[0]: Duplicate value: "a"',
        ),
    ),
    "an attachment of two volumes": (
        attachment(persistentVolumeName="v", inlineVolumeSpec={"accessModes": ["ReadWriteOnce"]}),
        always(f"spec.source: Forbidden: {ONE_SOURCE}"),
    ),
    "an attachment of none": (attachment(), always(f"spec.source: Required value: {ONE_SOURCE}")),
}
UPDATES: dict[str, tuple[Data, Data, tuple[str, ...]]] = {
    "the number of volumes": (
        csi_node(2),
        csi_node(1),
        (fixed_driver("n1", {"Count": 1}), "", ""),
    ),
    "the ID of a node": (
        csi_node(1),
        csi_node(1, "n2"),
        (fixed_driver("n2", {"Count": 1}), *[fixed_driver("n2", None)] * 2),
    ),
    "whether a driver attaches": (
        driver(),
        driver(attachRequired=False),
        (fixed("spec.attachedRequired", False),) * 3,
    ),
    "the class of a capacity": (
        capacity(),
        {**capacity(), "storageClassName": "slow"},
        (fixed("storageClassName", "slow"),) * 3,
    ),
    "the nodes of a capacity": (
        capacity(),
        capacity(nodeTopology={"matchLabels": {"a": "b"}}),
        (fixed("nodeTopology", {"matchLabels": {"a": "b"}}),) * 3,
    ),
}


@pytest.mark.parametrize("words", CSI_CASES)
def test_objects_of_csi_drivers_are_checked(words: str) -> None:
    manifest, expected = CSI_CASES[words]
    for version, errors in zip(VERSIONS, expected, strict=True):
        rules = rules_for(version, {"PodCertificateRequest": True})
        assert [str(error) for error in validate(manifest, rules=rules)] == errors, version


@pytest.mark.parametrize("words", UPDATES)
def test_what_an_update_of_a_csi_object_may_not_change(words: str) -> None:
    before, after, expected = UPDATES[words]
    for version, problem in zip(VERSIONS, expected, strict=True):
        cluster = Cluster(kubernetes=version).apply(make_node("n1"), before)
        cluster.apply(before)
        if problem:
            with pytest.raises(Rejected) as refusal:
                cluster.apply(after)
            assert [str(error) for error in refusal.value.errors] == [problem], version
        else:
            cluster.apply(after)


@pytest.mark.parametrize(
    ("version", "path"), [(OLD, "scheduling.tolerations.tolerations"), (NEW, "scheduling.tolerations")]
)
def test_the_error_about_a_class_points_to_its_line(version: str, path: str) -> None:
    lines = ["scheduling:", "  tolerations:", "  - key: a", "    operator: Some"]
    text = "\n".join(["apiVersion: node.k8s.io/v1", "kind: RuntimeClass", "metadata: {name: r}", "handler: h", *lines])
    [error] = check_text(text, rules=rules_for(version)).errors
    assert (error.path, error.line) == (f"{path}[0].operator", 8)


def test_an_attachment_stays() -> None:
    cluster = Cluster().apply(attachment(persistentVolumeName="v"))
    cluster.apply(attachment(persistentVolumeName="v"))
    with pytest.raises(Rejected, match=r"spec: Invalid value: .*field is immutable"):
        cluster.apply(attachment(persistentVolumeName="w"))
