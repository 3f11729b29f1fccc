"""The allow-list of an import: the fields that affect decisions here, or that the page shows.

All other fields are dropped while a file is read, before any of it is written anywhere.
"""

from __future__ import annotations

from scheduler_engine.api import simulated
from scheduler_engine.api.critical_pods import MIRROR, SOURCE
from scheduler_engine.api.validation.annotations import DELETION_COST
from scheduler_engine.apiserver.lifecycle import NOT_HELD, POLICIES
from scheduler_engine.apiserver.pod_index import JOB_INDEX
from scheduler_engine.controllers.deployment_revisions import DESIRED_REPLICAS, MAX_REPLICAS, REVISION
from scheduler_engine.controllers.persistent_volume import DEFAULT_CLASS, PROVISIONED_BY, STORAGE_PROVISIONER
from scheduler_engine.plugins.volume_binding.binder import BOUND_BY_CONTROLLER, SELECTED_NODE
from scheduler_engine.plugins.volume_references import BETA_STORAGE_CLASS, BIND_COMPLETED, MIGRATED_PLUGINS

ANNOTATIONS = (
    *dict.fromkeys((*simulated.IN_PODS, *simulated.IN_NODES)),
    *(MIRROR, SOURCE, DELETION_COST),
    *(REVISION, DESIRED_REPLICAS, MAX_REPLICAS, JOB_INDEX, DEFAULT_CLASS, PROVISIONED_BY, STORAGE_PROVISIONER),
    *(BOUND_BY_CONTROLLER, SELECTED_NODE, BIND_COMPLETED, BETA_STORAGE_CLASS, MIGRATED_PLUGINS),
)
"""Those that the scheduler, a controller or a kubelet reads."""

FINALIZERS_NOT_KEPT = (
    *(*NOT_HELD, *filter(None, POLICIES.values())),
    *("kubernetes.io/pv-controller", "external-provisioner.volume.kubernetes.io/finalizer"),
    *("provisioner.storage.kubernetes.io/cloning-protection", "service.kubernetes.io/load-balancer-cleanup"),
)
"""Those that a cluster removes automatically but no sandbox does: its controller is not here, or a running deletion
(``POLICIES``) starts again. All others stay, for people to remove.
"""
FINALIZER_BEGINNINGS_NOT_KEPT = ("external-attacher/", "snapshot.storage.kubernetes.io/")

TABLE = """
Pod = apiVersion kind metadata spec status
Node = apiVersion kind metadata spec status
Namespace = apiVersion kind metadata
Service = apiVersion kind metadata spec
PersistentVolume = apiVersion kind metadata spec status
PersistentVolumeClaim = apiVersion kind metadata spec status
StorageClass = apiVersion kind metadata provisioner reclaimPolicy allowVolumeExpansion volumeBindingMode
    allowedTopologies
CSINode = apiVersion kind metadata spec
CSIDriver = apiVersion kind metadata spec
CSIStorageCapacity = apiVersion kind metadata nodeTopology storageClassName capacity maximumVolumeSize
VolumeAttachment = apiVersion kind metadata spec status
PriorityClass = apiVersion kind metadata value globalDefault preemptionPolicy
RuntimeClass = apiVersion kind metadata overhead scheduling
PodDisruptionBudget = apiVersion kind metadata spec
PodGroup = apiVersion kind metadata spec
Deployment = apiVersion kind metadata spec status
ReplicaSet = apiVersion kind metadata spec status
ReplicationController = apiVersion kind metadata spec status
StatefulSet = apiVersion kind metadata spec status
DaemonSet = apiVersion kind metadata spec
Job = apiVersion kind metadata spec status
DeviceClass = apiVersion kind metadata spec
ResourceSlice = apiVersion kind metadata spec
ResourceClaimTemplate = apiVersion kind metadata spec
ResourceClaim = apiVersion kind metadata spec status

ObjectMeta = name namespace uid labels annotations ownerReferences finalizers
OwnerReference = apiVersion kind name uid controller blockOwnerDeletion
LabelSelector = matchLabels matchExpressions
LabelSelectorRequirement = key operator values

PodSpec = volumes initContainers containers restartPolicy terminationGracePeriodSeconds nodeSelector nodeName
    hostNetwork affinity schedulerName tolerations priorityClassName priority runtimeClassName preemptionPolicy overhead
    topologySpreadConstraints os schedulingGates resourceClaims resources
Container = name image ports resources resizePolicy restartPolicy restartPolicyRules
ContainerRestartRule = action exitCodes
ContainerRestartRuleOnExitCodes = operator values
ContainerPort = hostPort containerPort protocol hostIP
ContainerResizePolicy = resourceName restartPolicy
ResourceRequirements = limits requests
Affinity = nodeAffinity podAffinity podAntiAffinity
NodeAffinity = requiredDuringSchedulingIgnoredDuringExecution preferredDuringSchedulingIgnoredDuringExecution
NodeSelector = nodeSelectorTerms
NodeSelectorTerm = matchExpressions matchFields
NodeSelectorRequirement = key operator values
PreferredSchedulingTerm = weight preference
PodAffinity = requiredDuringSchedulingIgnoredDuringExecution preferredDuringSchedulingIgnoredDuringExecution
PodAntiAffinity = requiredDuringSchedulingIgnoredDuringExecution preferredDuringSchedulingIgnoredDuringExecution
PodAffinityTerm = labelSelector namespaces topologyKey namespaceSelector matchLabelKeys mismatchLabelKeys
WeightedPodAffinityTerm = weight podAffinityTerm
Toleration = key operator value effect tolerationSeconds
TopologySpreadConstraint = maxSkew topologyKey whenUnsatisfiable labelSelector minDomains nodeAffinityPolicy
    nodeTaintsPolicy matchLabelKeys
PodOS = name
PodSchedulingGate = name
PodResourceClaim = name resourceClaimName resourceClaimTemplateName
PodStatus = phase conditions nominatedNodeName startTime containerStatuses resources allocatedResources
    resourceClaimStatuses
PodResourceClaimStatus = name resourceClaimName
PodCondition = type status reason message lastTransitionTime
ContainerStatus = name ready restartCount allocatedResources resources

Volume = name persistentVolumeClaim ephemeral csi gcePersistentDisk awsElasticBlockStore iscsi rbd azureDisk cinder
    portworxVolume image
ImageVolumeSource = reference pullPolicy
PersistentVolumeClaimVolumeSource = claimName readOnly
EphemeralVolumeSource = volumeClaimTemplate
PersistentVolumeClaimTemplate = metadata spec
CSIVolumeSource = driver
GCEPersistentDiskVolumeSource = pdName readOnly
AWSElasticBlockStoreVolumeSource = volumeID readOnly
ISCSIVolumeSource = iqn readOnly
RBDVolumeSource = monitors image pool readOnly
AzureDiskVolumeSource = diskName diskURI kind readOnly
CinderVolumeSource = volumeID readOnly
CinderPersistentVolumeSource = volumeID readOnly
PortworxVolumeSource = volumeID readOnly

NodeSpec = unschedulable taints
Taint = key value effect timeAdded
NodeStatus = capacity allocatable conditions images declaredFeatures
NodeCondition = type status lastTransitionTime
ContainerImage = names sizeBytes

ServiceSpec = selector
PersistentVolumeSpec = capacity accessModes claimRef persistentVolumeReclaimPolicy storageClassName volumeMode
    nodeAffinity volumeAttributesClassName csi local gcePersistentDisk awsElasticBlockStore azureDisk cinder
    portworxVolume
ObjectReference = kind namespace name uid apiVersion
VolumeNodeAffinity = required
CSIPersistentVolumeSource = driver volumeHandle
LocalVolumeSource =
PersistentVolumeStatus = phase
PersistentVolumeClaimSpec = accessModes selector resources volumeName storageClassName volumeMode
    volumeAttributesClassName
VolumeResourceRequirements = limits requests
PersistentVolumeClaimStatus = phase accessModes capacity
TopologySelectorTerm = matchLabelExpressions
TopologySelectorLabelRequirement = key values
CSINodeSpec = drivers
CSINodeDriver = name nodeID topologyKeys allocatable
VolumeNodeResources = count
CSIDriverSpec = attachRequired storageCapacity preventPodSchedulingIfMissing
VolumeAttachmentSpec = attacher source nodeName
VolumeAttachmentSource = persistentVolumeName inlineVolumeSpec
VolumeAttachmentStatus = attached
RuntimeClassOverhead = podFixed
RuntimeClassScheduling = nodeSelector tolerations
PodDisruptionBudgetSpec = minAvailable selector maxUnavailable unhealthyPodEvictionPolicy
PodGroupSpec = minMember minResources scheduleTimeoutSeconds

PodTemplateSpec = metadata spec
DeploymentSpec = replicas selector template strategy minReadySeconds revisionHistoryLimit paused progressDeadlineSeconds
DeploymentStrategy = type rollingUpdate
RollingUpdateDeployment = maxUnavailable maxSurge
DeploymentStatus = replicas updatedReplicas readyReplicas availableReplicas conditions
DeploymentCondition = type status lastUpdateTime lastTransitionTime reason
ReplicaSetSpec = replicas minReadySeconds selector template
ReplicaSetStatus = replicas fullyLabeledReplicas readyReplicas availableReplicas
ReplicationControllerSpec = replicas minReadySeconds selector template
ReplicationControllerStatus = replicas fullyLabeledReplicas readyReplicas availableReplicas
DaemonSetSpec = selector template updateStrategy minReadySeconds revisionHistoryLimit
DaemonSetUpdateStrategy = type rollingUpdate
RollingUpdateDaemonSet = maxUnavailable maxSurge
StatefulSetSpec = replicas selector template volumeClaimTemplates serviceName podManagementPolicy updateStrategy
    revisionHistoryLimit minReadySeconds persistentVolumeClaimRetentionPolicy ordinals
StatefulSetUpdateStrategy = type rollingUpdate
StatefulSetRollingUpdate = partition maxUnavailable
StatefulSetRetentionPolicy = whenDeleted whenScaled
StatefulSetOrdinals = start
StatefulSetStatus = replicas readyReplicas availableReplicas
JobSpec = parallelism completions activeDeadlineSeconds backoffLimit selector manualSelector template
    ttlSecondsAfterFinished completionMode suspend podReplacementPolicy managedBy
JobStatus = conditions startTime active ready
JobCondition = type status

DeviceClassSpec = selectors
DeviceSelector = cel
CELDeviceSelector = expression
ResourceSliceSpec = driver pool nodeName nodeSelector allNodes devices
ResourcePool = name generation resourceSliceCount
Device = name attributes capacity
DeviceAttribute = int bool string version
DeviceCapacity = value
ResourceClaimTemplateSpec = metadata spec
ResourceClaimSpec = devices
DeviceClaim = requests constraints
DeviceRequest = name exactly firstAvailable
ExactDeviceRequest = deviceClassName selectors allocationMode count adminAccess
DeviceSubRequest = name deviceClassName selectors allocationMode count
DeviceConstraint = requests matchAttribute
ResourceClaimStatus = allocation
AllocationResult = devices nodeSelector
DeviceAllocationResult = results
DeviceRequestAllocationResult = request driver pool device adminAccess
"""
"""One line per type of ``api/fields_*.py``: its kept fields. ``PodCondition.message`` is kept only for PodScheduled,
and for the page before the import; no sandbox gets it.
"""


def _read(table: str) -> dict[str, tuple[str, ...]]:
    lines: list[str] = []
    for line in table.strip().splitlines():
        if line.startswith(" "):
            lines[-1] += line
        elif line:
            lines.append(line)
    return {name.strip(): tuple(fields.split()) for name, _, fields in (line.partition("=") for line in lines)}


KEPT: dict[str, tuple[str, ...]] = _read(TABLE)

STAND_INS: dict[tuple[str, str], str] = {
    ("GCEPersistentDiskVolumeSource", "pdName"): "vol-{}",
    ("AWSElasticBlockStoreVolumeSource", "volumeID"): "vol-{}",
    ("ISCSIVolumeSource", "iqn"): "iqn.2000-01.example:vol-{}",
    ("RBDVolumeSource", "monitors"): "vol-{}",
    ("RBDVolumeSource", "image"): "vol-{}",
    ("RBDVolumeSource", "pool"): "vol-{}",
    ("AzureDiskVolumeSource", "diskName"): "vol-{}",
    ("AzureDiskVolumeSource", "diskURI"): "vol-{}",
    ("CinderVolumeSource", "volumeID"): "vol-{}",
    ("CinderPersistentVolumeSource", "volumeID"): "vol-{}",
    ("PortworxVolumeSource", "volumeID"): "vol-{}",
    ("CSIPersistentVolumeSource", "volumeHandle"): "vol-{}",
    ("CSINodeDriver", "nodeID"): "node-{}",
}
"""Type and field → the form of the names that replace the real ones; equal names stay equal."""

MEANINGFUL = ("/subscriptions/", "https://", "aws://")
"""Prefixes of identifiers that decide how they are read, so they stay."""
DEFAULTS = ("rbd",)
"""Names that mean the same as no name, so they stay."""

REQUIRED_FIELDS: dict[str, dict[str, object]] = {
    "ServiceSpec": {"ports": [{"port": 80}]},
    "RuntimeClass": {"handler": "runc"},
    "LocalVolumeSource": {"path": "/volume"},
    "ISCSIVolumeSource": {"targetPortal": "portal", "lun": 0},
}
"""Type → fields that an API server requires but nobody reads, and the value they all get."""
STAND_IN_SOURCE = {"hostPath": {"path": "/volume"}}
"""For a PersistentVolume whose location decides nothing."""
