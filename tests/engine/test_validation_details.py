"""Validation in the corners: volumes, mounts, security, addresses, and fields that an update may not change."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from scheduler_engine.api.defaults import with_defaults
from scheduler_engine.api.scheme import KINDS
from scheduler_engine.api.validation import UPDATE_RULES, check_rules
from scheduler_engine.testing import make_node, make_pod

Data = dict[str, Any]

CONTAINER: Data = {"name": "c", "image": "i"}
WINDOWS: Data = {"os": {"name": "windows"}}
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
SIZES = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei"


def of_kind(kind: str, spec: Data) -> Data:
    return {"apiVersion": KINDS[kind].api_versions[0], "kind": kind, "metadata": {"name": "x"}, "spec": spec}


def pod(**spec: Any) -> Data:
    return make_pod("p").spec(containers=[CONTAINER], **spec).obj()


def pod_with(**container: Any) -> Data:
    return make_pod("p").spec(containers=[{**CONTAINER, **container}]).obj()


def volume(**source: Any) -> Data:
    return pod(volumes=[{"name": "v", **source}])


def mounting(mounts: list[Data], devices: list[Data] | None = None) -> Data:
    volumes = [{"name": "v", "emptyDir": {}}, {"name": "w", "persistentVolumeClaim": {"claimName": "w"}}]
    container = {**CONTAINER, "volumeMounts": mounts, "volumeDevices": devices or []}
    return make_pod("p").spec(containers=[container], volumes=volumes).obj()


def persistent(**spec: Any) -> Data:
    return of_kind("PersistentVolume", {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, **spec})


def service(**spec: Any) -> Data:
    return of_kind("Service", {"ports": [{"port": 80}], **spec})


ENV = "spec.containers[0].env[0].valueFrom"
MOUNTS, DEVICES = "spec.containers[0].volumeMounts", "spec.containers[0].volumeDevices"
VOLUME = "spec.volumes[0]"
WRONG: dict[str, tuple[Data, list[str]]] = {
    "A key reference without a name is told what a name looks like": (
        pod_with(env=[{"name": "A", "valueFrom": {"configMapKeyRef": {"key": "k"}}}]),
        [f'{ENV}.configMapKeyRef.name: Invalid value: "": {SUBDOMAIN}'],
    ),
    "A key reference's name must not end in a dash": (
        pod_with(env=[{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s-", "key": "k"}}}]),
        [f'{ENV}.secretKeyRef.name: Invalid value: "s-": {SUBDOMAIN}'],
    ),
    "Only labels and annotations have keys in a field path": (
        pod_with(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeSelector['a']"}}}]),
        [
            f"{ENV}.fieldRef.fieldPath: Invalid value: \"spec.nodeSelector['a']\": error converting fieldPath: "
            "field label does not support subscript: spec.nodeSelector['a']"
        ],
    ),
    "The old name of the node's field still works": (
        pod_with(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.host"}}}]),
        [],
    ),
    "Memory is divided by a unit": (
        pod_with(env=[{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.memory", "divisor": "2"}}}]),
        [
            f'{ENV}.resourceFieldRef.divisor: Invalid value: "limits.memory": '
            f"only divisor's values {SIZES} are supported with the memory resource"
        ],
    ),
    "CPU is divided by a core or a thousandth": (
        pod_with(env=[{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1m"}}}]),
        [],
    ),
    "A mount's sub path stays inside the volume, and the list is named": (
        mounting([{"name": "v", "mountPath": "/a", "subPath": "/b/../c"}]),
        [
            f'{MOUNTS}.subPath: Invalid value: "/b/../c": must be a relative path',
            f"{MOUNTS}.subPath: Invalid value: \"/b/../c\": must not contain '..'",
        ],
    ),
    "A mount has a sub path or an expression": (
        mounting([{"name": "v", "mountPath": "/a", "subPath": "b", "subPathExpr": "$(C)"}]),
        [f'{MOUNTS}[0].subPathExpr: Invalid value: "$(C)": subPathExpr and subPath are mutually exclusive'],
    ),
    "Only privileged containers propagate mounts both ways": (
        mounting([{"name": "v", "mountPath": "/a", "mountPropagation": "Bidirectional"}]),
        [
            f"{MOUNTS}.mountPropagation: Forbidden: "
            "Bidirectional mount propagation is available only to privileged containers"
        ],
    ),
    "What is recursively read-only is read-only": (
        mounting([{"name": "v", "mountPath": "/a", "recursiveReadOnly": "Enabled"}]),
        [f"{MOUNTS}.recursiveReadOnly: Forbidden: may only be specified when readOnly is true"],
    ),
    "Block devices have names and paths of their own": (
        mounting([], [{"name": "w", "devicePath": "/d"}, {"name": "w", "devicePath": "/d"}]),
        [
            f'{DEVICES}[1].name: Invalid value: "w": must be unique',
            f'{DEVICES}[1].devicePath: Invalid value: "/d": must be unique',
        ],
    ),
    "A volume is mounted or a block device": (
        mounting([{"name": "w", "mountPath": "/a"}], [{"name": "w", "devicePath": "/../d"}]),
        [
            f'{MOUNTS}[0].name: Invalid value: "w": must not already exist in volumeDevices',
            f"{DEVICES}[0].devicePath: Invalid value: \"/../d\": can not contain backsteps ('..')",
            f'{DEVICES}[0].name: Invalid value: "w": must not already exist in volumeMounts',
        ],
    ),
    "A downward file's error names the volume, not the file": (
        volume(downwardAPI={"items": [{"path": "", "fieldRef": {"fieldPath": "metadata.name"}}]}),
        [f"{VOLUME}.downwardAPI.path: Required value"],
    ),
    "A downward file of a resource names the container": (
        volume(downwardAPI={"items": [{"path": "f", "resourceFieldRef": {"resource": "limits.cpu"}}]}),
        [f"{VOLUME}.downwardAPI.resourceFieldRef.containerName: Required value"],
    ),
    "A second source that is a downward API volume is misspelt as in Kubernetes": (
        volume(emptyDir={}, downwardAPI={}),
        [f"{VOLUME}.downwarAPI: Forbidden: may not specify more than 1 volume type"],
    ),
    "A GCE disk's errors have another path": (
        volume(gcePersistentDisk={"pdName": "", "partition": 256}),
        [
            f"{VOLUME}.persistentDisk.pdName: Required value",
            f"{VOLUME}.persistentDisk.partition: Invalid value: 256: must be between 1 and 255, inclusive",
        ],
    ),
    "Projected files have different paths": (
        volume(
            projected={
                "sources": [
                    {"secret": {"name": "s", "items": [{"key": "k", "path": "f"}]}},
                    {"configMap": {"name": "m", "items": [{"key": "k", "path": "f"}]}},
                ]
            }
        ),
        [f'{VOLUME}.projected: Invalid value: "m": conflicting duplicate paths'],
    ),
    "A projected source is one thing, with a name": (
        volume(projected={"sources": [{"secret": {}, "configMap": {"name": "m"}}]}),
        [
            f"{VOLUME}.projected.sources[0].secret.name: Required value",
            f"{VOLUME}.projected.sources[0]: Forbidden: may not specify more than 1 volume type per source",
        ],
    ),
    "A projected token lasts ten minutes and belongs to a named account": (
        volume(projected={"sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 599}}]}),
        [
            f"{VOLUME}.projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 599: "
            "may not specify a duration less than 10 minutes",
            f"{VOLUME}.projected.sources[0].serviceAccountToken: Forbidden: "
            "must not be specified when serviceAccountName is not set",
        ],
    ),
    "A repository is cloned into the volume": (
        volume(gitRepo={"repository": "r", "directory": "/d"}),
        [f'{VOLUME}.gitRepo.directory: Invalid value: "/d": must be a relative path'],
    ),
    "An iSCSI name says more than its naming authority": (
        volume(iscsi={"targetPortal": "p", "iqn": "iqn.2001-04.com.example", "lun": 0, "chapAuthSession": True}),
        [
            f'{VOLUME}.iscsi.iqn: Invalid value: "iqn.2001-04.com.example": must be valid format',
            f"{VOLUME}.iscsi.secretRef: Required value",
        ],
    ),
    "A fibre channel volume has targets or ids": (
        volume(fc={"targetWWNs": ["a"]}),
        [f"{VOLUME}.fc.lun: Required value: lun is required if targetWWNs is specified"],
    ),
    "An image volume needs a reference": (volume(image={}), [f"{VOLUME}.image.reference: Required value"]),
    "A claim template's annotations are checked, and its forbidden fields named as in Go": (
        volume(
            ephemeral={
                "volumeClaimTemplate": {
                    "metadata": {"uid": "u", "name": "n", "annotations": {"a b": "c"}},
                    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
                }
            }
        ),
        [
            f'{VOLUME}.ephemeral.volumeClaimTemplate.metadata.annotations: Invalid value: "a b": name part must '
            "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
            "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
            "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
            f"{VOLUME}.ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set",
            f"{VOLUME}.ephemeral.volumeClaimTemplate.metadata.uID: Forbidden: cannot be set",
        ],
    ),
    "A profile of the node is named": (
        pod_with(securityContext={"seccompProfile": {"type": "Localhost"}, "appArmorProfile": {"type": "x"}}),
        [
            "spec.containers[0].securityContext.seccompProfile.localhostProfile: Required value: "
            "must be set when seccomp type is Localhost",
            'spec.containers[0].securityContext.appArmorProfile.type: Unsupported value: "x": '
            'supported values: "Localhost", "RuntimeDefault", "Unconfined"',
        ],
    ),
    "A contradictory context is shown as Go prints it": (
        pod_with(securityContext={"allowPrivilegeEscalation": False, "capabilities": {"add": ["CAP_SYS_ADMIN"]}}),
        [
            'spec.containers[0].securityContext: Invalid value: {"Capabilities":{"Add":["CAP_SYS_ADMIN"],"Drop":null},'
            '"Privileged":null,"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,'
            '"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,'
            '"SeccompProfile":null,"AppArmorProfile":null}: '
            "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
        ],
    ),
    "A pod's groups are numbers of 31 bits": (
        pod(securityContext={"fsGroup": -1, "supplementalGroups": [1, -2]}),
        [
            "spec.securityContext.fsGroup: Invalid value: -1: must be between 0 and 2147483647, inclusive",
            "spec.securityContext.supplementalGroups[1]: Invalid value: -2: "
            "must be between 0 and 2147483647, inclusive",
        ],
    ),
    "A pod with a user namespace has no block devices": (
        make_pod("p")
        .spec(
            containers=[{**CONTAINER, "volumeDevices": [{"name": "w", "devicePath": "/d"}]}],
            volumes=[{"name": "w", "persistentVolumeClaim": {"claimName": "w"}}],
            hostUsers=False,
        )
        .obj(),
        ["spec.containers[0].volumeDevices: Forbidden: when `hostUsers` is false"],
    ),
    "A pod for Windows has no Linux fields": (
        {**pod(hostPID=True, securityContext={"runAsUser": 0}, **WINDOWS)},
        [
            "spec.hostPID: Forbidden: cannot be set for a windows pod",
            "spec.securityContext.runAsUser: Forbidden: cannot be set for a windows pod",
        ],
    ),
    "A container for Windows is not privileged, and one for Linux has no options of Windows": (
        make_pod("p")
        .spec(containers=[{**CONTAINER, "securityContext": {"windowsOptions": {}}}], os={"name": "linux"})
        .obj(),
        ["spec.containers[0].securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod"],
    ),
    "An ephemeral container is checked before it is refused": (
        pod(ephemeralContainers=[{"name": "c", "image": " i", "targetContainerName": "x", "lifecycle": {}}]),
        [
            'spec.ephemeralContainers[0].image: Invalid value: " i": must not have leading or trailing whitespace',
            'spec.ephemeralContainers[0].name: Duplicate value: "c"',
            'spec.ephemeralContainers[0].targetContainerName: Not found: "x"',
            "spec.ephemeralContainers[0].lifecycle: Forbidden: cannot be set for an Ephemeral Container",
            "spec.ephemeralContainers: Forbidden: cannot be set on create",
        ],
    ),
    "A template leaves host ports and images to its pods": (
        of_kind(
            "Deployment",
            {
                "selector": {"matchLabels": {"a": "b"}},
                "template": {
                    "metadata": {"labels": {"a": "b"}},
                    "spec": {
                        "hostNetwork": True,
                        "containers": [{**CONTAINER, "ports": [{"containerPort": 80}]}],
                        "volumes": [{"name": "v", "image": {"pullPolicy": "Never"}}],
                    },
                },
            },
        ),
        [],
    ),
    "A template's host port is the container's in the network of the host": (
        of_kind(
            "Deployment",
            {
                "selector": {"matchLabels": {"a": "b"}},
                "template": {
                    "metadata": {"labels": {"a": "b"}},
                    "spec": {
                        "hostNetwork": True,
                        "containers": [{**CONTAINER, "ports": [{"containerPort": 80, "hostPort": 81}]}],
                    },
                },
            },
        ),
        [
            "spec.template.spec.containers[0].ports[0].hostPort: Invalid value: 81: "
            "must match `containerPort` when `hostNetwork` is true"
        ],
    ),
    "A volume's capacity is shown in the order of its names": (
        persistent(capacity={"storage": "1Gi", "cpu": "1"}, hostPath={"path": "/a"}),
        ['spec.capacity: Unsupported value: {"cpu":"1","storage":"1Gi"}: supported values: "storage"'],
    ),
    "A local volume's node affinity is missed before what comes after it": (
        persistent(local={"path": "/a"}, csi={"driver": "d", "volumeHandle": "h"}),
        [
            "spec.nodeAffinity: Required value: Local volume requires node affinity",
            "spec.csi: Forbidden: may not specify more than 1 volume type",
        ],
    ),
    "The root directory is not recycled in any spelling": (
        persistent(hostPath={"path": "//."}, persistentVolumeReclaimPolicy="Recycle"),
        ["spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"],
    ),
    "A CSI volume's secrets have names and namespaces": (
        persistent(csi={"driver": "d", "volumeHandle": "h", "nodePublishSecretRef": {"name": "s"}}),
        ["spec.csi.nodePublishSecretRef.namespace: Required value"],
    ),
    "A node's older range wins over newer ones that differ": (
        make_node("n").spec(podCIDR="bad", podCIDRs=["10.0.0.0/24"]).obj(),
        ['spec.podCIDRs[0]: Invalid value: "bad": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'],
    ),
    "Ranges that cannot be read cannot be compared": (
        make_node("n").spec(podCIDRs=["10.0.0.0/24", "bad"]).obj(),
        [
            'spec.podCIDRs[1]: Invalid value: "bad": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
            "spec.podCIDRs: Internal error: invalid PodCIDRs. failed to check with dual stack with error:"
            "invalid CIDR[1]: <nil> (invalid CIDR address: bad)",
            'spec.podCIDRs: Invalid value: ["10.0.0.0/24","bad"]: may specify no more than one CIDR for each IP family',
        ],
    ),
    "A service's two addresses have two families": (
        service(clusterIP="10.0.0.1", clusterIPs=["10.0.0.1", "10.0.0.2"], ipFamilies=["IPv4", "IPv6"]),
        [
            'spec.clusterIPs: Invalid value: ["10.0.0.1","10.0.0.2"]: '
            "may specify no more than one IP for each IP family",
            'spec.clusterIPs[1]: Invalid value: "10.0.0.2": expected an IPv6 value as indicated by `ipFamilies[1]`',
        ],
    ),
    "A headless service has no second address": (
        service(ports=[], clusterIP="None", clusterIPs=["None", "10.0.0.1"]),
        [
            "spec.ports: Required value",
            'spec.clusterIPs: Invalid value: ["None","10.0.0.1"]: \'None\' must be the first and only value',
        ],
    ),
    "An external address can be reached from outside": (
        service(externalIPs=["127.0.0.1", "169.254.0.1", "0.0.0.0", "ff12::1", "::ffff:127.0.0.1", "x"]),
        [
            'spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
            'spec.externalIPs[1]: Invalid value: "169.254.0.1": '
            "may not be in the link-local range (169.254.0.0/16, fe80::/10)",
            'spec.externalIPs[2]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
            'spec.externalIPs[3]: Invalid value: "ff12::1": '
            "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
            'spec.externalIPs[4]: Invalid value: "::ffff:127.0.0.1": '
            "may not be in the loopback range (127.0.0.0/8, ::1/128)",
            'spec.externalIPs[5]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
        ],
    ),
    "An endpoint's address can be reached from outside, too": (
        {**of_kind("Endpoints", {}), "subsets": [{"addresses": [{"ip": "224.0.0.5"}, {"ip": "x"}]}]},
        [
            'subsets[0].addresses[0].ip: Invalid value: "224.0.0.5": '
            "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
            'subsets[0].addresses[1].ip: Invalid value: "x": '
            "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
            'subsets[0].addresses[1].ip: Invalid value: "x": must be a valid IP address',
        ],
    ),
    "A template's labels and an owner's selector are shown in the order of their names": (
        of_kind(
            "StatefulSet",
            {
                "serviceName": "s",
                "selector": {
                    "matchExpressions": [{"operator": "In", "key": "c", "values": []}],
                    "matchLabels": {"b": "1", "a": "1"},
                },
                "template": {"metadata": {"labels": {"z": "1", "a": "1"}}, "spec": {"containers": [CONTAINER]}},
            },
        ),
        [
            "spec.selector.matchExpressions[0].values: Required value: "
            "must be specified when `operator` is 'In' or 'NotIn'",
            'spec.selector: Invalid value: {"matchLabels":{"a":"1","b":"1"},'
            '"matchExpressions":[{"key":"c","operator":"In"}]}',
        ],
    ),
    "A template's labels are shown in the order of their names": (
        of_kind(
            "ReplicaSet",
            {
                "selector": {"matchLabels": {"b": "1"}},
                "template": {"metadata": {"labels": {"z": "1", "a": "1"}}, "spec": {"containers": [CONTAINER]}},
            },
        ),
        [
            'spec.template.metadata.labels: Invalid value: {"a":"1","z":"1"}: '
            "`selector` does not match template `labels`"
        ],
    ),
}


@pytest.mark.parametrize("words", WRONG)
def test_errors_have_kubernetes_words(words: str) -> None:
    manifest, expected = WRONG[words]
    assert [str(error) for error in check_rules(with_defaults(manifest))] == expected


# --- updates ----------------------------------------------------------------------------------------------------------

TERMS = "requiredDuringSchedulingIgnoredDuringExecution"
IN_A: Data = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}


def gated(**spec: Any) -> Data:
    return make_pod("p").spec(containers=[CONTAINER], schedulingGates=[{"name": "g"}], **spec).obj()


def node_affinity(terms: list[Data]) -> Data:
    return {"affinity": {"nodeAffinity": {TERMS: {"nodeSelectorTerms": terms}}}}


def claiming(**template: Any) -> Data:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {**template, "spec": spec}}}]}


UPDATES: dict[str, tuple[Data, Data, list[str]]] = {
    "An empty node selector equals none": (pod(), pod(nodeSelector={}), []),
    "Empty resources equal none": (pod(), pod_with(resources={}), []),
    "Empty metadata of a claim template equal none": (pod(**claiming()), pod(**claiming(metadata={})), []),
    "An empty security context is not the same as none": (pod(), pod_with(securityContext={}), ["spec"]),
    "An empty affinity is not the same as none": (pod(), pod(affinity={}), ["spec"]),
    "A gated pod may not lose an affinity, even an empty one": (gated(affinity={}), gated(), ["spec"]),
    "A gated pod may get a node affinity": (gated(), gated(**node_affinity([IN_A])), []),
}


@pytest.mark.parametrize("words", UPDATES)
def test_immutable_fields_of_an_update(words: str) -> None:
    old, new, expected = (with_defaults(item) if isinstance(item, dict) else item for item in UPDATES[words])
    for manifest in (old, new):
        manifest["metadata"]["resourceVersion"] = "1"
    assert [error.path for error in UPDATE_RULES["Pod"](deepcopy(old), deepcopy(new))] == expected


def test_removed_terms_are_shown_as_the_remaining_ones() -> None:
    shown = []
    for changed in (gated(), gated(**node_affinity([]))):
        old, new = with_defaults(gated(**node_affinity([IN_A]))), with_defaults(changed)
        for manifest in (old, new):
            manifest["metadata"]["resourceVersion"] = "1"
        errors = list(UPDATE_RULES["Pod"](old, new))
        shown.append([error.message.split(": ")[1] for error in errors if "no additions/deletions" in error.message])
    assert shown == [["null"], ["[]"]]
