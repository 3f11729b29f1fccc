"""The values that a field may have, and the tables of the cluster that it refers to.

Keys are ``Type.field``. The engine's validation refuses every other value; tests compare the two.
"""

from __future__ import annotations

from typing import NamedTuple

from scheduler_engine.api.validation.claims import ACCESS_MODES
from scheduler_engine.api.validation.containers import PROTOCOLS
from scheduler_engine.api.validation.jobs import MODES
from scheduler_engine.api.validation.selector_text import LABEL_OPERATORS, NODE_OPERATORS
from scheduler_engine.api.validation.selectors import TAINT_EFFECTS
from scheduler_engine.api.validation.service import TYPES as SERVICE_TYPES
from scheduler_engine.config.schema import EXPRESSION_API, EXPRESSION_ARGS, PLUGIN_ARGS
from scheduler_engine.config.validation_pluginargs import SCORING_STRATEGIES

_MODES = ("ExactCount", "All")
_POLICIES = ("Honor", "Ignore")
_PREEMPTION = ("PreemptLowerPriority", "Never")
_RECLAIM = ("Delete", "Retain")
_VOLUME_MODES = ("Filesystem", "Block")

VALUES: dict[str, tuple[str, ...]] = {
    "Container.imagePullPolicy": ("Always", "IfNotPresent", "Never"),
    "ContainerPort.protocol": PROTOCOLS,
    "DaemonSetUpdateStrategy.type": ("RollingUpdate", "OnDelete"),
    "DeploymentStrategy.type": ("RollingUpdate", "Recreate"),
    "DeviceSubRequest.allocationMode": _MODES,
    "ExactDeviceRequest.allocationMode": _MODES,
    "ExpressionArgs.apiVersion": (EXPRESSION_API,),
    "ExpressionArgs.kind": (EXPRESSION_ARGS.name,),
    "JobSpec.completionMode": MODES,
    "LabelSelectorRequirement.operator": LABEL_OPERATORS,
    "NodeSelectorRequirement.operator": NODE_OPERATORS,
    "PersistentVolumeClaimSpec.accessModes": ACCESS_MODES,
    "PersistentVolumeClaimSpec.volumeMode": _VOLUME_MODES,
    "PersistentVolumeSpec.accessModes": ACCESS_MODES,
    "PersistentVolumeSpec.persistentVolumeReclaimPolicy": (*_RECLAIM, "Recycle"),
    "PersistentVolumeSpec.volumeMode": _VOLUME_MODES,
    "PluginConfig.name": tuple(PLUGIN_ARGS),
    "PodDisruptionBudgetSpec.unhealthyPodEvictionPolicy": ("IfHealthyBudget", "AlwaysAllow"),
    "PodOS.name": ("linux", "windows"),
    "PodSpec.dnsPolicy": ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
    "PodSpec.preemptionPolicy": _PREEMPTION,
    "PodSpec.restartPolicy": ("Always", "OnFailure", "Never"),
    "PodTopologySpreadArgs.defaultingType": ("System", "List"),
    "PriorityClass.preemptionPolicy": _PREEMPTION,
    "ScoringStrategy.type": SCORING_STRATEGIES,
    "ServicePort.protocol": PROTOCOLS,
    "ServiceSpec.externalTrafficPolicy": ("Cluster", "Local"),
    "ServiceSpec.sessionAffinity": ("ClientIP", "None"),
    "ServiceSpec.type": SERVICE_TYPES,
    "StatefulSetSpec.podManagementPolicy": ("OrderedReady", "Parallel"),
    "StatefulSetUpdateStrategy.type": ("RollingUpdate", "OnDelete"),
    "StorageClass.reclaimPolicy": _RECLAIM,
    "StorageClass.volumeBindingMode": ("Immediate", "WaitForFirstConsumer"),
    "Taint.effect": TAINT_EFFECTS,
    "Toleration.effect": TAINT_EFFECTS,
    "Toleration.operator": ("Equal", "Exists"),
    "TopologySpreadConstraint.nodeAffinityPolicy": _POLICIES,
    "TopologySpreadConstraint.nodeTaintsPolicy": _POLICIES,
    "TopologySpreadConstraint.whenUnsatisfiable": ("DoNotSchedule", "ScheduleAnyway"),
}


class Source(NamedTuple):
    """``table`` is one of ``sandbox/panels/facts/offering.py``: a list of names, or keys with their values.

    ``part``: the field is a ``key``, or a ``value`` of the key that the field ``key`` beside it names. It is empty for
    a mapping, which has both, and for a list.
    """

    table: str
    part: str = ""


SOURCES: dict[str, Source] = {
    "CELDeviceSelector.expression": Source("deviceExpressions"),
    "DeviceConstraint.matchAttribute": Source("deviceAttributes"),
    "DeviceSubRequest.deviceClassName": Source("deviceClasses"),
    "ExactDeviceRequest.deviceClassName": Source("deviceClasses"),
    "KubeSchedulerProfile.schedulerName": Source("schedulers"),
    "LabelSelector.matchLabels": Source("podLabels"),
    "LabelSelectorRequirement.key": Source("podLabels", "key"),
    "LabelSelectorRequirement.values": Source("podLabels", "value"),
    "NodeSelectorRequirement.key": Source("nodeLabels", "key"),
    "NodeSelectorRequirement.values": Source("nodeLabels", "value"),
    "NodeStatus.allocatable": Source("resources"),
    "NodeStatus.capacity": Source("resources"),
    "ObjectMeta.namespace": Source("namespaces"),
    "PersistentVolumeClaimSpec.storageClassName": Source("storageClasses"),
    "PersistentVolumeClaimSpec.volumeName": Source("volumes"),
    "PersistentVolumeClaimVolumeSource.claimName": Source("claims"),
    "PersistentVolumeSpec.storageClassName": Source("storageClasses"),
    "PodAffinityTerm.matchLabelKeys": Source("podLabels", "key"),
    "PodAffinityTerm.mismatchLabelKeys": Source("podLabels", "key"),
    "PodAffinityTerm.namespaces": Source("namespaces"),
    "PodAffinityTerm.topologyKey": Source("nodeLabels", "key"),
    "PodResourceClaim.resourceClaimName": Source("deviceClaims"),
    "PodResourceClaim.resourceClaimTemplateName": Source("claimTemplates"),
    "PodSpec.nodeName": Source("nodes"),
    "PodSpec.nodeSelector": Source("nodeLabels"),
    "PodSpec.priorityClassName": Source("priorityClasses"),
    "PodSpec.runtimeClassName": Source("runtimeClasses"),
    "PodSpec.schedulerName": Source("schedulers"),
    "ReplicationControllerSpec.selector": Source("podLabels"),
    "ResourceRequirements.limits": Source("resources"),
    "ResourceRequirements.requests": Source("resources"),
    "ResourceSliceSpec.nodeName": Source("nodes"),
    "ResourceSpec.name": Source("resources", "key"),
    "ServiceSpec.selector": Source("podLabels"),
    "Taint.key": Source("taints", "key"),
    "Taint.value": Source("taints", "value"),
    "Toleration.key": Source("taints", "key"),
    "Toleration.value": Source("taints", "value"),
    "TopologySpreadConstraint.matchLabelKeys": Source("podLabels", "key"),
    "TopologySpreadConstraint.topologyKey": Source("nodeLabels", "key"),
}

SELECTS: dict[str, str] = {
    "CSIStorageCapacity.nodeTopology": "nodeLabels",
    "NodeSelectorTerm.matchFields": "nodeFields",
    "PersistentVolumeClaimSpec.selector": "volumeLabels",
    "PodAffinityTerm.namespaceSelector": "namespaceLabels",
}
"""Fields in which a selector refers to another table than elsewhere."""
