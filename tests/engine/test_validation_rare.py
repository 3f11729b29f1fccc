"""Validation of rare fields: annotations, Windows, kernel parameters, certificates, vendors' volumes."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine.api.defaults import with_defaults
from scheduler_engine.api.validation import UPDATE_RULES, check_rules
from scheduler_engine.api.validation.problems import in_version
from scheduler_engine.versions import DEFAULT_RULES

Data = dict[str, Any]

CONTAINER: Data = {"name": "c", "image": "i:1"}
IN_DAYS = "kubernetes.io/kube-apiserver-client"


def pod(metadata: Data | None = None, **spec: Any) -> Data:
    return of_kind("Pod", metadata, **{"containers": [CONTAINER], **spec})


def of_kind(kind: str, metadata: Data | None = None, **spec: Any) -> Data:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": "x", **(metadata or {})}, "spec": spec}


def annotated(key: str, value: str, **spec: Any) -> Data:
    return pod({"annotations": {key: value}}, **spec)


def windows(**options: Any) -> Data:
    return pod(securityContext={"windowsOptions": options})


def projected(**source: Any) -> Data:
    return pod(volumes=[{"name": "v", "projected": {"sources": [source]}}])


def volume(**source: Any) -> Data:
    return pod(volumes=[{"name": "v", **source}])


def persistent(**spec: Any) -> Data:
    return of_kind("PersistentVolume", accessModes=["ReadWriteOnce"], capacity={"storage": "1Gi"}, **spec)


def sysctls(*names: str, **spec: Any) -> Data:
    return pod(securityContext={"sysctls": [{"name": name, "value": "1"} for name in names]}, **spec)


def claim(size: str = "1Gi", **spec: Any) -> Data:
    resources = {"requests": {"storage": size}}
    return of_kind("PersistentVolumeClaim", accessModes=["ReadWriteOnce"], resources=resources, **spec)


def bound(owner: Data, size: str = "1Gi") -> Data:
    return {**owner, "status": {"phase": "Bound", "capacity": {"storage": size}}}


def on(label: str) -> Data:
    terms = [{"matchExpressions": [{"key": label, "operator": "In", "values": ["x"]}]}]
    return {"required": {"nodeSelectorTerms": terms}}


CSI: Data = {"driver": "d", "volumeHandle": "h"}
SECCOMP = "container.seccomp.security.alpha.kubernetes.io/c"
APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/c"

WRONG: dict[str, tuple[Data, list[str]]] = {
    "A seccomp annotation names a known profile": (
        annotated(SECCOMP, "fast"),
        [
            "metadata.annotations.container.seccomp.security.alpha.kubernetes.io/c: Invalid value: "
            '"fast": must be a valid seccomp profile'
        ],
    ),
    "A local seccomp profile lies below the kubelet's directory": (
        annotated(SECCOMP, "localhost/../etc"),
        [
            "metadata.annotations.container.seccomp.security.alpha.kubernetes.io/c: Invalid value: "
            "\"../etc\": must not contain '..'"
        ],
    ),
    "An AppArmor annotation names a container and a known profile": (
        annotated("container.apparmor.security.beta.kubernetes.io/d", "strict"),
        [
            "metadata.annotations[container.apparmor.security.beta.kubernetes.io/d]: Invalid value: "
            '"d": container not found',
            "metadata.annotations[container.apparmor.security.beta.kubernetes.io/d]: Invalid value: "
            '"strict": invalid AppArmor profile name: "strict"',
        ],
    ),
    "A seccomp profile is the same as annotation and as field": (
        annotated(
            SECCOMP,
            "unconfined",
            containers=[{**CONTAINER, "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}}],
        ),
        [
            "spec.containers[0].securityContext.seccompProfile.type: Forbidden: seccomp type in "
            "annotation and field must match"
        ],
    ),
    "A local AppArmor profile is the same as annotation and as field": (
        annotated(
            APP_ARMOR,
            "localhost/a",
            securityContext={"appArmorProfile": {"type": "Localhost", "localhostProfile": "b"}},
        ),
        [
            "spec.containers[0].securityContext.appArmorProfile.localhostProfile: Forbidden: "
            "apparmor profile in annotation and field must match"
        ],
    ),
    "A static pod has no resource claims": (
        annotated("kubernetes.io/config.mirror", "a", nodeName="n", resourceClaims=[{"name": "c"}]),
        ["[]: Forbidden: static pods do not support resource claims"],
    ),
    "The older name of the service account is checked like the newer one": (
        pod(serviceAccount="Bad_"),
        [
            'spec.serviceAccountName: Invalid value: "Bad_": a lowercase RFC 1123 subdomain must '
            "consist of lower case alphanumeric characters, '-' or '.', and must start and end with "
            "an alphanumeric character (e.g. 'example.com', regex used for validation is "
            "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
        ],
    ),
    "A negative grace period becomes a second": (
        pod(
            terminationGracePeriodSeconds=-3,
            containers=[{**CONTAINER, "lifecycle": {"preStop": {"sleep": {"seconds": 2}}}}],
        ),
        [
            "spec.containers[0].lifecycle.preStop.sleep: Invalid value: 2: must be non-negative and "
            "less than terminationGracePeriodSeconds (1)"
        ],
    ),
    "A Windows user is not empty": (
        windows(runAsUserName=""),
        [
            'spec.securityContext.windowsOptions.runAsUserName: Invalid value: "": runAsUserName '
            "cannot be an empty string"
        ],
    ),
    "A Windows user is not made of dots": (
        windows(runAsUserName=".."),
        [
            'spec.securityContext.windowsOptions.runAsUserName: Invalid value: "..": '
            "runAsUserName's User cannot contain only periods or spaces"
        ],
    ),
    "A Windows domain has the form of one and a user has no angle brackets": (
        windows(runAsUserName=".d\\<u>"),
        [
            "spec.securityContext.windowsOptions.runAsUserName: Invalid value: "
            "\".d\\\\\\u003cu\\u003e\": runAsUserName's Domain doesn't match the NetBios nor the "
            "DNS format",
            "spec.securityContext.windowsOptions.runAsUserName: Invalid value: "
            '".d\\\\\\u003cu\\u003e": runAsUserName\'s User cannot contain the following '
            'characters: "/\\:;|=,+*?<>@[]',
        ],
    ),
    "A Windows user has one backslash at the most": (
        windows(runAsUserName="a\\b\\c"),
        [
            'spec.securityContext.windowsOptions.runAsUserName: Invalid value: "a\\\\b\\\\c": '
            "runAsUserName cannot contain more than one backslash"
        ],
    ),
    "A Windows user has no control characters, which are shown as in JSON": (
        windows(runAsUserName="a\u0001"),
        [
            'spec.securityContext.windowsOptions.runAsUserName: Invalid value: "a\\u0001": '
            "runAsUserName cannot contain control characters"
        ],
    ),
    "A credential spec is named like an object and not empty": (
        windows(gmsaCredentialSpecName="A", gmsaCredentialSpec=""),
        [
            'spec.securityContext.windowsOptions.gmsaCredentialSpecName: Invalid value: "A": a '
            "lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "
            "or '.', and must start and end with an alphanumeric character (e.g. 'example.com', "
            "regex used for validation is "
            "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
            'spec.securityContext.windowsOptions.gmsaCredentialSpec: Invalid value: "": '
            "gmsaCredentialSpec cannot be an empty string",
        ],
    ),
    "Processes of the host need the host's network and a policy that allows them": (
        windows(hostProcess=True),
        [
            "spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any "
            "hostProcess containers",
            "spec: Forbidden: hostProcess containers are disallowed by cluster policy",
        ],
    ),
    "Either all containers are processes of the host or none": (
        pod(
            hostNetwork=True,
            containers=[
                CONTAINER,
                {"name": "d", "image": "i:1", "securityContext": {"windowsOptions": {"hostProcess": True}}},
            ],
        ),
        [
            'spec: Invalid value: "": If pod contains any hostProcess containers then all '
            "containers must be HostProcess containers",
            "spec: Forbidden: hostProcess containers are disallowed by cluster policy",
        ],
    ),
    "A container does not contradict its pod": (
        pod(
            hostNetwork=True,
            securityContext={"windowsOptions": {"hostProcess": False}},
            containers=[{**CONTAINER, "securityContext": {"windowsOptions": {"hostProcess": True}}}],
        ),
        [
            "spec.containers[0].securityContext.windowsOptions.hostProcess: Invalid value: true: "
            "pod hostProcess value must be identical if both are specified, was false",
            "spec: Forbidden: hostProcess containers are disallowed by cluster policy",
        ],
    ),
    "A kernel parameter has a name of lower case, once": (
        sysctls("A", "kernel.sem", "kernel.sem"),
        [
            'spec.securityContext.sysctls[0].name: Invalid value: "A": must have at most 253 '
            "characters and match regex "
            "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$",
            'spec.securityContext.sysctls[2].name: Duplicate value: "kernel.sem"',
        ],
    ),
    "A kernel parameter without a name": (sysctls(""), ["spec.securityContext.sysctls[0].name: Required value"]),
    "Kernel parameters of namespaces shared with the host stay as they are": (
        sysctls("net/ipv4/tcp", "kernel.msgmax", hostNetwork=True, hostIPC=True),
        [
            'spec.securityContext.sysctls[0].name: Invalid value: "net/ipv4/tcp": may not be '
            "specified when 'hostNetwork' is true",
            'spec.securityContext.sysctls[1].name: Invalid value: "kernel.msgmax": may not be '
            "specified when 'hostIPC' is true",
        ],
    ),
    "A trust bundle is named either by itself or by its signer": (
        projected(clusterTrustBundle={"path": "p"}),
        [
            "spec.volumes[0].projected.sources[0].clusterTrustBundle: Required value: either name "
            "or signerName must be specified"
        ],
    ),
    "A trust bundle is not named in two ways": (
        projected(clusterTrustBundle={"name": "a", "signerName": "a.b/c", "path": "p"}),
        [
            "spec.volumes[0].projected.sources[0].clusterTrustBundle: Invalid value: "
            '{"Name":"a","SignerName":"a.b/c","LabelSelector":null,"Optional":null,"Path":"p"}: '
            "only one of name and signerName may be used"
        ],
    ),
    "A trust bundle's name and its path are well formed, and a name needs no selector": (
        projected(
            clusterTrustBundle={"name": "A", "labelSelector": {"matchLabels": {"b": "1", "a": "2"}}, "path": "../p"}
        ),
        [
            'spec.volumes[0].projected.sources[0].clusterTrustBundle.name: Invalid value: "A": not '
            "a valid clustertrustbundlename: a lowercase RFC 1123 subdomain must consist of lower "
            "case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric "
            "character (e.g. 'example.com', regex used for validation is "
            "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
            "spec.volumes[0].projected.sources[0].clusterTrustBundle.labelSelector: Invalid value: "
            '{"matchLabels":{"a":"2","b":"1"}}: labelSelector must be unset if name is specified',
            'spec.volumes[0].projected.sources[0].clusterTrustBundle.path: Invalid value: "../p": '
            "must not contain '..'",
        ],
    ),
    "A signer has a domain and a path": (
        projected(clusterTrustBundle={"signerName": "signer", "path": ""}),
        [
            "spec.volumes[0].projected.sources[0].clusterTrustBundle.signerName: Invalid value: "
            '"signer": must be a fully qualified domain and path of the form '
            "'example.com/signer-name'",
            "spec.volumes[0].projected.sources[0].clusterTrustBundle.path: Required value",
        ],
    ),
    "A signer's domain has two parts and its path is lower case": (
        projected(clusterTrustBundle={"signerName": "com/Signer", "path": "p"}),
        [
            "spec.volumes[0].projected.sources[0].clusterTrustBundle.signerName: Invalid value: "
            '"com": should be a domain with at least two segments separated by dots',
            "spec.volumes[0].projected.sources[0].clusterTrustBundle.signerName: Invalid value: "
            '"Signer": validating label "Signer": a lowercase RFC 1123 subdomain must consist of '
            "lower case alphanumeric characters, '-' or '.', and must start and end with an "
            "alphanumeric character (e.g. 'example.com', regex used for validation is "
            "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        ],
    ),
    "A certificate has a known key, a life of an hour or more, and a file to go to": (
        projected(podCertificate={"signerName": "a.b/c", "keyType": "RSA", "maxExpirationSeconds": 5}),
        [
            'spec.volumes[0].projected.sources[0].podCertificate.keyType: Unsupported value: "RSA": '
            'supported values: "RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", '
            '"ED25519"',
            "spec.volumes[0].projected.sources[0].podCertificate.maxExpirationSeconds: Invalid "
            "value: 5: if provided, maxExpirationSeconds must be >= 3600",
            "spec.volumes[0].projected.sources[0].podCertificate: Required value: specify at least "
            "one of credentialBundlePath, keyPath, and certificateChainPath",
        ],
    ),
    "A certificate of Kubernetes' own signers lives a day at the most": (
        projected(
            podCertificate={"signerName": IN_DAYS, "keyType": "ED25519", "maxExpirationSeconds": 86401, "keyPath": "k"}
        ),
        [
            "spec.volumes[0].projected.sources[0].podCertificate.maxExpirationSeconds: Invalid "
            "value: 86401: if provided, maxExpirationSeconds must be <= 86400"
        ],
    ),
    "No two files of a certificate have the same path": (
        projected(
            podCertificate={"signerName": "a.b/c", "keyType": "ED25519", "keyPath": "k", "certificateChainPath": "k"}
        ),
        ['spec.volumes[0].projected: Invalid value: "k": conflicting duplicate paths'],
    ),
    "An Azure disk's address fits its kind": (
        volume(azureDisk={"diskName": "d", "diskURI": "x", "kind": "Managed", "cachingMode": "Some"}),
        [
            'spec.volumes[0].azureDisk.cachingMode: Unsupported value: "Some": supported values: '
            '"None", "ReadOnly", "ReadWrite"',
            'spec.volumes[0].azureDisk.diskURI: Unsupported value: "x": supported values: '
            '"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"',
        ],
    ),
    "A Quobyte registry is a list of hosts and ports": (
        volume(quobyte={"registry": "a:1,b", "volume": "v"}),
        [
            'spec.volumes[0].quobyte.registry: Invalid value: "a:1,b": must be a host:port pair or '
            "multiple pairs separated by commas"
        ],
    ),
    "A Quobyte volume needs a registry": (
        volume(quobyte={"registry": "", "volume": ""}),
        [
            "spec.volumes[0].quobyte.registry: Required value: must be a host:port pair or multiple "
            "pairs separated by commas",
            "spec.volumes[0].quobyte.volume: Required value",
        ],
    ),
    "The namespace of an option of a flex volume is not Kubernetes' own": (
        volume(flexVolume={"driver": "d", "options": {"a.k8s.io/x": "1"}}),
        [
            'spec.volumes[0].flexVolume.options[a.k8s.io/x]: Invalid value: "a.k8s.io/x": '
            "kubernetes.io and k8s.io namespaces are reserved"
        ],
    ),
    "A StorageOS volume of a pod has a named secret": (
        volume(storageos={"volumeName": "A", "secretRef": {}}),
        [
            'spec.volumes[0].storageos.volumeName: Invalid value: "A": a lowercase RFC 1123 label '
            "must consist of lower case alphanumeric characters or '-', and must start and end with "
            "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
            "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
            "spec.volumes[0].storageos.secretRef.name: Required value",
        ],
    ),
    "A partition is between 1 and 255 in words, though 0 is allowed": (
        volume(awsElasticBlockStore={"volumeID": "v", "partition": -1}),
        ["spec.volumes[0].awsElasticBlockStore.partition: Invalid value: -1: must be between 1 and 255, inclusive"],
    ),
    "A secret of a PersistentVolume has a namespace": (
        persistent(cinder={"volumeID": "v", "secretRef": {"name": "s"}}),
        ["spec.cinder.secretRef.namespace: Required value"],
    ),
    "An iSCSI name of unknown type has a shorter message in a PersistentVolume": (
        persistent(iscsi={"targetPortal": "p", "iqn": "x", "lun": 0, "secretRef": {}}),
        ['spec.iscsi.iqn: Invalid value: "x": must be valid format', "spec.iscsi.secretRef.name: Required value"],
    ),
    "The endpoints of a Gluster volume are in a namespace": (
        persistent(glusterfs={"endpoints": "e", "path": "p", "endpointsNamespace": ""}),
        [
            'spec.glusterfs.endpointsNamespace: Invalid value: "": if the endpointnamespace is set, '
            "it must be a valid namespace name"
        ],
    ),
    "The secret of an Azure file is in a namespace": (
        persistent(azureFile={"secretName": "s", "shareName": "t", "secretNamespace": ""}),
        ["spec.azureFile.secretNamespace: Required value"],
    ),
    "A flex volume beside another source of a PersistentVolume is not noticed": (
        persistent(hostPath={"path": "/p"}, flexVolume={"driver": ""}),
        ["spec.flexVolume.driver: Required value"],
    ),
    "An empty volume mode is not a missing one": (
        of_kind(
            "PersistentVolumeClaim",
            accessModes=["ReadWriteOnce"],
            resources={"requests": {"storage": "1Gi"}},
            volumeMode="",
        ),
        ['spec.volumeMode: Unsupported value: "": supported values: "Block", "Filesystem"'],
    ),
    "A managed field is applied or updated, in a known form": (
        pod({"managedFields": [{"operation": "Delete", "fieldsType": "V2", "manager": "m" * 129}]}),
        [
            'metadata.managedFields[0].operation: Invalid value: "Delete": must be `Apply` or `Update`',
            'metadata.managedFields[0].fieldsType: Invalid value: "V2": must be `FieldsV1`',
            "metadata.managedFields[0].manager: Too long: may not be more than 128 bytes",
        ],
    ),
    "An owner's version has one slash at the most": (
        pod({"ownerReferences": [{"apiVersion": "a/b/c", "kind": "K", "name": "n", "uid": "u"}]}),
        ['metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty'],
    ),
    "An operator is shown as in JSON, where angle brackets are escaped": (
        pod(
            tolerations=[{"operator": ">"}],
            affinity={
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": ">=", "values": ["1"]}]}]
                    }
                }
            },
        ),
        [
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
            "nodeSelectorTerms[0].matchExpressions[0].operator: "
            'Invalid value: "\\u003e=": not a valid selector operator',
            'spec.tolerations[0].operator: Invalid value: "\\u003e": operator must be Exists when '
            '`key` is empty, which means "match all values and all keys"',
            'spec.tolerations[0].operator: Unsupported value: "\\u003e": supported values: "Equal", "Exists"',
        ],
    ),
    "A plain text is shown with angle brackets": (
        of_kind("Service", ports=[{"port": 80}], trafficDistribution="<near>"),
        [
            'spec.trafficDistribution: Unsupported value: "<near>": supported values: '
            '"PreferClose", "PreferSameZone", "PreferSameNode"'
        ],
    ),
    "A claim repeated with the same request counts once": (
        pod(
            containers=[
                {
                    **CONTAINER,
                    "resources": {
                        "claims": [{"name": "a", "request": "r"}, {"name": "a", "request": "r"}, {"name": "a"}]
                    },
                }
            ],
            resourceClaims=[{"name": "a", "resourceClaimName": "a"}],
        ),
        [
            'spec.containers[0].resources.claims[1]: Duplicate value: "a/r"',
            'spec.containers[0].resources.claims[2]: Duplicate value: "a"',
        ],
    ),
    "Forbidden fields of a claim template are reported even if zero": (
        volume(
            ephemeral={
                "volumeClaimTemplate": {
                    "metadata": {"deletionGracePeriodSeconds": 0},
                    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
                }
            }
        ),
        ["spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.deletionGracePeriodSeconds: Forbidden: cannot be set"],
    ),
    "A file with a variable is named in full": (
        pod(
            containers=[
                {
                    **CONTAINER,
                    "env": [{"name": "A", "valueFrom": {"fileKeyRef": {"key": "", "path": "", "volumeName": ""}}}],
                }
            ]
        ),
        [
            "spec.containers[0].env[0].valueFrom.fileKeyRef.key: Required value",
            "spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Required value",
            "spec.containers[0].env[0].valueFrom.fileKeyRef.path: Required value",
            'spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Not found: ""',
        ],
    ),
    "A file with a variable is in a directory that starts empty": (
        pod(
            containers=[
                {
                    **CONTAINER,
                    "env": [{"name": "A", "valueFrom": {"fileKeyRef": {"key": "k", "path": "p", "volumeName": "v"}}}],
                }
            ],
            volumes=[{"name": "v", "hostPath": {"path": "/p"}}],
        ),
        [
            'spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Invalid value: "v": '
            "referenced volume must be of type emptyDir"
        ],
    ),
    "An amount of huge pages is a multiple of a page even below zero": (
        pod(containers=[{**CONTAINER, "resources": {"limits": {"cpu": "1", "hugepages-2": "-1Gi"}}}]),
        [
            'spec.containers[0].resources.limits[hugepages-2]: Invalid value: "-1Gi": must be '
            "greater than or equal to 0",
            'spec.containers[0].resources.requests[hugepages-2]: Invalid value: "-1Gi": must be '
            "greater than or equal to 0",
        ],
    ),
    "Of two devices of one name only the last one's path counts": (
        pod(
            containers=[
                {
                    **CONTAINER,
                    "volumeMounts": [{"name": "w", "mountPath": "/a"}],
                    "volumeDevices": [{"name": "v", "devicePath": "/a"}, {"name": "v", "devicePath": "/b"}],
                }
            ],
            volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "v"}}, {"name": "w", "emptyDir": {}}],
        ),
        [
            'spec.containers[0].volumeDevices[0].devicePath: Invalid value: "/a": must not already '
            "exist as a path in volumeMounts",
            'spec.containers[0].volumeDevices[1].name: Invalid value: "v": must be unique',
        ],
    ),
    "Files without a path do not conflict": (
        pod(
            volumes=[
                {
                    "name": "v",
                    "projected": {
                        "sources": [
                            {"secret": {"name": "s", "items": [{"key": "k", "path": ""}]}},
                            {"clusterTrustBundle": {"name": "a", "path": ""}},
                        ]
                    },
                }
            ]
        ),
        [
            "spec.volumes[0].projected.sources[0].secret.items[0].path: Required value",
            "spec.volumes[0].projected.sources[1].clusterTrustBundle.path: Required value",
        ],
    ),
    "An amount beyond 64 bits in thousandths is not whole": (
        pod(overhead={"a.b/c": "1Ei"}),
        ['spec.overhead.limits[a.b/c]: Invalid value: "1Ei": must be an integer'],
    ),
    "A node's swap is positive": (
        {**of_kind("Node"), "status": {"nodeInfo": {"swap": {"capacity": 0}}}},
        ["metadata.nodeSwapStatus.capacity: Invalid value: 0: must be greater than zero"],
    ),
}


@pytest.mark.parametrize("words", WRONG)
def test_errors_have_kubernetes_words(words: str) -> None:
    manifest, expected = WRONG[words]
    assert [str(error) for error in check_rules(with_defaults(manifest), allow_privileged=False)] == expected


UPDATES: dict[str, tuple[Data, Data, list[str]]] = {
    "A volume's source, mode and nodes do not change, and its class is not removed": (
        persistent(hostPath={"path": "/a"}, nodeAffinity=on("a"), volumeAttributesClassName="x", csi=CSI),
        persistent(hostPath={"path": "/b"}, nodeAffinity=on("b"), volumeMode="Block", csi=CSI),
        [
            "spec.csi: Forbidden: may not specify more than 1 volume type",
            "spec.csi: Forbidden: may not specify more than 1 volume type",
            "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation",
            'volumeMode: Invalid value: "Block": field is immutable',
            "nodeAffinity: Invalid value: "
            '{"Required":{"NodeSelectorTerms":[{'
            '"MatchExpressions":[{"Key":"b","Operator":"In","Values":["x"]}],"MatchFields":null}]}}: '
            "field is immutable, except for updating from beta label to GA",
            "spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden",
        ],
    ),
    "A CSI volume may get a secret for growing later": (
        persistent(csi=CSI),
        persistent(csi={**CSI, "controllerExpandSecretRef": {"name": "s", "namespace": "n"}}),
        [],
    ),
    "A volume's nodes may be named by a label that left beta": (
        persistent(csi=CSI, nodeAffinity=on("beta.kubernetes.io/os")),
        persistent(csi=CSI, nodeAffinity=on("kubernetes.io/os")),
        [],
    ),
    "A claim may get a volume and a class once": (claim(), claim(volumeName="v", storageClassName="fast"), []),
    "A claim that is not bound keeps its size": (
        claim("2Gi"),
        claim("1Gi"),
        [
            "spec: Forbidden: spec is immutable after creation except resources.requests and "
            "volumeAttributesClassName for bound claims"
        ],
    ),
    "A bound claim may grow": (bound(claim("1Gi")), bound(claim("2Gi")), []),
    "A bound claim may shrink, though not to what it has": (
        bound(claim("3Gi"), "1Gi"),
        bound(claim("1Gi"), "1Gi"),
        ["spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"],
    ),
    "A bound claim may shrink to more than what it has": (bound(claim("3Gi"), "1Gi"), bound(claim("2Gi"), "1Gi"), []),
    "A claim keeps its mode": (
        claim(),
        claim(volumeMode="Block"),
        [
            "spec: Forbidden: spec is immutable after creation except resources.requests and "
            "volumeAttributesClassName for bound claims",
            'volumeMode: Invalid value: "Block": field is immutable',
        ],
    ),
    "AppArmor annotations do not change": (
        annotated(APP_ARMOR, "unconfined"),
        annotated(APP_ARMOR, "runtime/default"),
        [
            "metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: Forbidden: may "
            "not remove or update AppArmor annotations"
        ],
    ),
    "AppArmor annotations are not added": (
        pod(),
        annotated(APP_ARMOR, "unconfined"),
        [
            "metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: Forbidden: may "
            "not add AppArmor annotations"
        ],
    ),
    "A mirror annotation is not removed": (
        annotated("kubernetes.io/config.mirror", "a", nodeName="n"),
        pod(nodeName="n"),
        [
            "metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not remove or update "
            "mirror pod annotation"
        ],
    ),
    "The older name of the service account is the newer one's": (
        pod(serviceAccount="a"),
        pod(serviceAccountName="a", serviceAccount="b"),
        [],
    ),
    "A negative grace period equals one of a second": (
        pod(terminationGracePeriodSeconds=-3),
        pod(terminationGracePeriodSeconds=1),
        [],
    ),
    "No list of init containers is the same as an empty one": (pod(), pod(initContainers=[]), []),
    "A removed node selector is shown as null": (
        pod(schedulingGates=[{"name": "g"}], nodeSelector={"a": "b"}),
        pod(schedulingGates=[{"name": "g"}]),
        [
            "spec.nodeSelector: Invalid value: null: only additions to spec.nodeSelector are "
            "allowed (no mutations or deletions)"
        ],
    ),
    "A node's configuration is a config map that is named in full, without what only a status holds": (
        of_kind("Node"),
        of_kind("Node", configSource={"configMap": {"name": "A", "uid": "u"}}),
        [
            "spec.configSource.configMap.uid: Forbidden: uid must not be set in spec",
            "spec.configSource.configMap.namespace: Required value",
            'spec.configSource.configMap.name: Invalid value: "A": a lowercase RFC 1123 subdomain '
            "must consist of lower case alphanumeric characters, '-' or '.', and must start and end "
            "with an alphanumeric character (e.g. 'example.com', regex used for validation is "
            "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
            "spec.configSource.configMap.kubeletConfigKey: Required value",
        ],
    ),
    "A node's configuration needs a source": (
        of_kind("Node"),
        of_kind("Node", configSource={}),
        ['spec.configSource: Invalid value: {"ConfigMap":null}: exactly one reference subfield must be non-nil'],
    ),
    "A node's status names its configuration in full": (
        of_kind("Node"),
        {
            **of_kind("Node"),
            "status": {"config": {"active": {"configMap": {"name": "a", "namespace": "b", "kubeletConfigKey": "k"}}}},
        },
        [
            "status.config.active.configMap.uid: Required value",
            "status.config.active.configMap.resourceVersion: Required value",
        ],
    ),
}


@pytest.mark.parametrize("words", UPDATES)
def test_errors_of_an_update_have_kubernetes_words(words: str) -> None:
    old, new, expected = UPDATES[words]
    before, after = with_defaults(old), with_defaults(new)
    for manifest in (before, after):
        manifest["metadata"]["resourceVersion"] = "1"
    errors = in_version(UPDATE_RULES[old["kind"]](before, after), DEFAULT_RULES)
    assert [str(error).partition("\n")[0] for error in errors] == expected
