"""The feature gates that rules depend on, with their default in each version.

Source: upstream ``pkg/features/kube_features.go`` and ``component-base/featuregate/feature_gate.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_engine.errors import Rejected
from scheduler_engine.records import record
from scheduler_engine.versions.names import column
from scheduler_engine.words import say

ABSENT, OFF, ON, LOCKED = "absent", "off", "on", "locked"
"""A gate does not exist in a version (or changes nothing there that the engine does), is off or on by default, or is on
for good.
"""


@record(frozen=True, slots=True)
class Gate:
    """``defaults``: one of the four words per version."""

    name: str
    defaults: tuple[str, ...]


def _by_name(*gates: Gate) -> dict[str, Gate]:
    return {gate.name: gate for gate in gates}


GATES = _by_name(
    Gate("ClearingNominatedNodeNameAfterBinding", (OFF, ON, ON)),
    Gate("ClusterTrustBundle", (OFF, OFF, OFF)),
    Gate("ClusterTrustBundleProjection", (OFF, OFF, OFF)),
    Gate("ContainerRestartRules", (ABSENT, ON, ON)),
    Gate("ContainerStopSignals", (OFF, OFF, OFF)),
    Gate("CrossNamespaceVolumeDataSource", (OFF, OFF, OFF)),
    Gate("DRAAdminAccess", (ON, ON, LOCKED)),
    Gate("DRADeviceBindingConditions", (ABSENT, OFF, ON)),
    Gate("DRAExtendedResource", (ABSENT, OFF, ON)),
    Gate("DRAPrioritizedList", (ON, ON, ON)),
    Gate("DRAResourceClaimDeviceStatus", (ON, ON, ON)),
    Gate("DRAResourceClaimGranularStatusAuthorization", (ABSENT, ABSENT, ON)),
    Gate("DRASchedulerFilterTimeout", (ON, ON, ON)),
    Gate("DeploymentReplicaSetTerminatingReplicas", (OFF, ON, ON)),
    Gate("EnvFiles", (OFF, ON, ON)),
    Gate("ExtendWebSocketsToKubelet", (ABSENT, ABSENT, ON)),
    Gate("HostnameOverride", (OFF, ON, ON)),
    Gate("ImageVolume", (OFF, ON, LOCKED)),
    Gate("InPlacePodLevelResourcesVerticalScaling", (ABSENT, OFF, ON)),
    Gate("InPlacePodVerticalScalingInitContainers", (ABSENT, ABSENT, ON)),
    Gate("MutableCSINodeAllocatableCount", (OFF, ON, LOCKED)),
    Gate("MutablePVNodeAffinity", (ABSENT, OFF, OFF)),
    Gate("MutablePodResourcesForSuspendedJobs", (ABSENT, OFF, ON)),
    Gate("MutableSchedulingDirectivesForSuspendedJobs", (ABSENT, OFF, ON)),
    Gate("NodeDeclaredFeatures", (ABSENT, OFF, ON)),
    Gate("NominatedNodeNameForExpectation", (OFF, ON, ON)),
    Gate("OpportunisticBatching", (ABSENT, ON, ON)),
    Gate("PodCertificateRequest", (OFF, OFF, OFF)),
    Gate("PodTopologyLabelsAdmission", (OFF, ON, ON)),
    Gate("RelaxedServiceNameValidation", (OFF, OFF, ON)),
    Gate("ResourceHealthStatus", (OFF, OFF, ON)),
    Gate("ResourceHealthStatusMessage", (ABSENT, ABSENT, ON)),
    Gate("RestartAllContainersOnContainerExits", (ABSENT, OFF, ON)),
    Gate("SchedulerQueueingHints", (LOCKED, LOCKED, LOCKED)),
    Gate("StrictIPCIDRValidation", (OFF, OFF, ON)),
    Gate("TaintTolerationComparisonOperators", (ABSENT, OFF, OFF)),
    Gate("UserNamespacesHostNetworkSupport", (ABSENT, OFF, OFF)),
    Gate("VolumeLimitScaling", (ABSENT, OFF, OFF)),
)

UNSIMULATED = _by_name(
    Gate("AllAlpha", (OFF, OFF, OFF)),
    Gate("AllBeta", (OFF, OFF, OFF)),
    Gate("CSIMigrationPortworx", (LOCKED, LOCKED, ABSENT)),
    Gate("ContainerRestartRules", (OFF, ABSENT, ABSENT)),
    Gate("CoordinatedLeaderElection", (OFF, OFF, OFF)),
    Gate("DRAConsumableCapacity", (OFF, OFF, ON)),
    Gate("DRADeviceBindingConditions", (OFF, ABSENT, ABSENT)),
    Gate("DRADeviceTaintRules", (ABSENT, OFF, OFF)),
    Gate("DRADeviceTaints", (OFF, OFF, ON)),
    Gate("DRAExtendedResource", (OFF, ABSENT, ABSENT)),
    Gate("DRAListTypeAttributes", (ABSENT, ABSENT, OFF)),
    Gate("DRANodeAllocatableResources", (ABSENT, ABSENT, OFF)),
    Gate("DRAPartitionableDevices", (OFF, OFF, ON)),
    Gate("DRAWorkloadResourceClaims", (ABSENT, ABSENT, OFF)),
    Gate("GangScheduling", (ABSENT, OFF, OFF)),
    Gate("GenericWorkload", (ABSENT, OFF, OFF)),
    Gate("ImageVolumeWithDigest", (ABSENT, ABSENT, OFF)),
    Gate("InPlacePodVerticalScaling", (ON, LOCKED, LOCKED)),
    Gate("MatchLabelKeysInPodTopologySpread", (ON, ON, ON)),
    Gate("MaxUnavailableStatefulSet", (OFF, OFF, OFF)),
    Gate("NodeInclusionPolicyInPodTopologySpread", (LOCKED, LOCKED, LOCKED)),
    Gate("PodLevelResources", (ON, ON, ON)),
    Gate("SchedulerAsyncAPICalls", (ON, OFF, OFF)),
    Gate("SchedulerAsyncPreemption", (ON, ON, ON)),
    Gate("SchedulerPopFromBackoffQ", (ON, ON, ON)),
    Gate("SidecarContainers", (LOCKED, LOCKED, LOCKED)),
    Gate("StorageCapacityScoring", (OFF, OFF, OFF)),
    Gate("TopologyAwareWorkloadScheduling", (ABSENT, ABSENT, OFF)),
    Gate("VolumeAttributesClass", (ON, ON, LOCKED)),
    Gate("WorkloadAwarePreemption", (ABSENT, ABSENT, OFF)),
)
"""The other gates that kube-scheduler, the API server or a controller reads: the engine knows only what they do with
their defaults.
"""

BUNDLES, DECLARED, RULES = ("ClusterTrustBundle",), ("NodeDeclaredFeatures",), ("ContainerRestartRules",)
DEVICE_STATUS = ("DRAResourceClaimDeviceStatus",)
NEEDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "ClusterTrustBundleProjection": ((), BUNDLES, BUNDLES),
    "DRADeviceBindingConditions": ((), DEVICE_STATUS, DEVICE_STATUS),
    "DRAResourceClaimGranularStatusAuthorization": ((), (), DEVICE_STATUS),
    "ExtendWebSocketsToKubelet": ((), (), DECLARED),
    "InPlacePodLevelResourcesVerticalScaling": ((), DECLARED, DECLARED),
    "InPlacePodVerticalScalingInitContainers": ((), (), DECLARED),
    "ResourceHealthStatusMessage": ((), (), ("ResourceHealthStatus",)),
    "RestartAllContainersOnContainerExits": ((), (*RULES, *DECLARED), (*RULES, *DECLARED)),
    "UserNamespacesHostNetworkSupport": ((), (), DECLARED),
}
"""Gate → the gates that it needs in each version, without those that are always on here."""

GATED_FIELDS = {
    "Container.restartPolicy": "ContainerRestartRules",
    "Container.restartPolicyRules": "ContainerRestartRules",
    "Lifecycle.stopSignal": "ContainerStopSignals",
    "EnvVarSource.fileKeyRef": "EnvFiles",
    "PodSpec.hostnameOverride": "HostnameOverride",
    "Volume.image": "ImageVolume",
    "VolumeProjection.clusterTrustBundle": "ClusterTrustBundleProjection",
    "VolumeProjection.podCertificate": "PodCertificateRequest",
    "PodSpec.workloadRef": "GenericWorkload",
    "PodSpec.schedulingGroup": "GenericWorkload",
    "PodStatus.resources": "InPlacePodLevelResourcesVerticalScaling",
    "PodStatus.allocatedResources": "InPlacePodLevelResourcesVerticalScaling",
    "PodStatus.extendedResourceClaimStatus": "DRAExtendedResource",
    "PodStatus.nodeAllocatableResourceClaimStatuses": "DRANodeAllocatableResources",
    "ContainerStatus.allocatedResourcesStatus": "ResourceHealthStatus",
    "ResourceHealth.message": "ResourceHealthStatusMessage",
    "VolumeMountStatus.volumeStatus": "ImageVolumeWithDigest",
    "NodeStatus.declaredFeatures": "NodeDeclaredFeatures",
    "ReplicaSetStatus.terminatingReplicas": "DeploymentReplicaSetTerminatingReplicas",
    "DeploymentStatus.terminatingReplicas": "DeploymentReplicaSetTerminatingReplicas",
    "StatefulSetRollingUpdate.maxUnavailable": "MaxUnavailableStatefulSet",
    "PersistentVolumeClaimSpec.dataSourceRef": "CrossNamespaceVolumeDataSource",
    "CSIDriverSpec.nodeAllocatableUpdatePeriodSeconds": "MutableCSINodeAllocatableCount",
    "CSIDriverSpec.preventPodSchedulingIfMissing": "VolumeLimitScaling",
    "VolumeError.errorCode": "MutableCSINodeAllocatableCount",
    "LeaseSpec.strategy": "CoordinatedLeaderElection",
    "LeaseSpec.preferredHolder": "CoordinatedLeaderElection",
    **dict.fromkeys(
        ("ExactDeviceRequest.tolerations", "DeviceSubRequest.tolerations", "Device.taints"), "DRADeviceTaints"
    ),
    **dict.fromkeys(
        (
            *("ExactDeviceRequest.capacity", "DeviceSubRequest.capacity", "DeviceConstraint.distinctAttribute"),
            *("DeviceRequestAllocationResult.shareID", "DeviceRequestAllocationResult.consumedCapacity"),
            *("AllocatedDeviceStatus.shareID", "Device.allowMultipleAllocations", "DeviceCapacity.requestPolicy"),
        ),
        "DRAConsumableCapacity",
    ),
    **dict.fromkeys(
        (
            *("ResourceSliceSpec.sharedCounters", "ResourceSliceSpec.perDeviceNodeSelection"),
            *("Device.consumesCounters", "Device.nodeName", "Device.nodeSelector", "Device.allNodes"),
        ),
        "DRAPartitionableDevices",
    ),
    **dict.fromkeys(
        (
            *("Device.bindingConditions", "Device.bindingFailureConditions", "Device.bindsToNode"),
            "DeviceRequestAllocationResult.bindingConditions",
            "DeviceRequestAllocationResult.bindingFailureConditions",
        ),
        "DRADeviceBindingConditions",
    ),
    "DeviceRequest.firstAvailable": "DRAPrioritizedList",
    "ExactDeviceRequest.adminAccess": "DRAAdminAccess",
    "DeviceRequestAllocationResult.adminAccess": "DRAAdminAccess",
    "ResourceClaimStatus.devices": "DRAResourceClaimDeviceStatus",
    "DeviceClassSpec.extendedResourceName": "DRAExtendedResource",
    "Device.nodeAllocatableResourceMappings": "DRANodeAllocatableResources",
    **dict.fromkeys(
        (f"DeviceAttribute.{name}s" for name in ("int", "bool", "string", "version")), "DRAListTypeAttributes"
    ),
}
"""``Type.field`` → the gate without which the API server drops the field: all whose gate is not on in every version or
can be switched off here."""

NOT_SIMULATED = frozenset(
    place
    for place, gate in GATED_FIELDS.items()
    if gate in ("DRADeviceTaints", "DRAConsumableCapacity", "DRAPartitionableDevices", "DRADeviceBindingConditions")
    or place == "DeviceClassSpec.extendedResourceName"
)
"""Fields that are dropped whatever their gate: the scheduler here does not follow them."""


def default_of(name: str, kubernetes: str) -> bool:
    """Return whether a gate is on by default. One that the version does not have is off."""
    return _found(name, kubernetes)[0] in (ON, LOCKED)


def keeps(place: str, kubernetes: str, feature_gates: Mapping[str, bool]) -> bool:
    """Return whether a field of ``GATED_FIELDS`` is stored."""
    return place not in NOT_SIMULATED and is_on(GATED_FIELDS[place], kubernetes, feature_gates)


def check_needs(kubernetes: str, feature_gates: Mapping[str, bool]) -> None:
    """Raise Rejected, with Kubernetes' words, if a gate is on without another one that it needs.

    Only for gates that somebody chooses now: earlier versions of the engine allowed any.
    """
    problems = []
    for gate, needed in NEEDS.items():
        on = [name for name in (gate, *needed[column(kubernetes)]) if is_on(name, kubernetes, feature_gates)]
        off = [name for name in needed[column(kubernetes)] if name not in on]
        if gate in on and off:
            problems.append(f"{gate} is enabled, but depends on features that are disabled: [{' '.join(off)}]")
    if problems:
        raise Rejected(problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")


def is_on(gate: str, kubernetes: str, feature_gates: Mapping[str, bool]) -> bool:
    """Return whether a gate is on. ``feature_gates``: those that differ from the defaults of the version."""
    return feature_gates.get(gate, default_of(gate, kubernetes))


TRUTHS = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}
"""What a program in Go reads as true or false."""


def known_gates(kubernetes: str) -> dict[str, tuple[bool, bool]]:
    """Return gate → (on by default, locked), for the gates that a version has."""
    words = {name: gate.defaults[column(kubernetes)] for name, gate in GATES.items()}
    return {name: (word in (ON, LOCKED), word == LOCKED) for name, word in words.items() if word != ABSENT}


def read_gates(text: str) -> dict[str, bool]:
    """Read gates as in kube-scheduler's ``--feature-gates``: ``NAME=true,OTHER=false``.

    Raises Rejected with Kubernetes' words. ``checked`` judges names.
    """
    gates: dict[str, bool] = {}
    for part in filter(None, text.split(",")):
        name, equals, value = (item.strip() for item in part.partition("="))
        if not equals:
            raise Rejected(f"missing bool value for {name}")
        if value not in TRUTHS:
            problem = f'strconv.ParseBool: parsing "{value}": invalid syntax'
            raise Rejected(f"invalid value of {name}={value}, err: {problem}")
        gates[name] = TRUTHS[value]
    return gates


def gates_text(feature_gates: Mapping[str, bool]) -> str:
    """Return gates as text; the inverse of ``read_gates``."""
    return ",".join(f"{name}={str(on).lower()}" for name, on in sorted(feature_gates.items()))


def _found(name: str, kubernetes: str) -> tuple[str, bool]:
    """Return the default of a gate in a version, and whether the engine simulates both of its settings there."""
    for gates in (GATES, UNSIMULATED):
        default = gates[name].defaults[column(kubernetes)] if name in gates else ABSENT
        if default != ABSENT:
            return default, gates is GATES
    return ABSENT, False


def checked(kubernetes: str, feature_gates: Any) -> dict[str, bool]:
    """Return the gates that differ from their default, by name. Raises Rejected: with Kubernetes' words for a gate that
    the version does not have and for one that is locked, and for a change that nothing simulates.
    """
    if not isinstance(feature_gates, Mapping) or not all(isinstance(on, bool) for on in feature_gates.values()):
        raise Rejected(say("refusals.not-gates"))
    changed: dict[str, bool] = {}
    for name in sorted(feature_gates):
        wanted, default, simulated = feature_gates[name], *_found(name, kubernetes)
        if default == ABSENT:
            raise Rejected(f"unrecognized feature gate: {name}")
        if default == LOCKED and not wanted:
            raise Rejected(f"cannot set feature gate {name} to false, feature is locked to true")
        if wanted == (default != OFF):
            continue
        if not simulated:
            raise Rejected(say("refusals.gate-on" if wanted else "refusals.gate-off", gate=name))
        changed[name] = wanted
    return changed
