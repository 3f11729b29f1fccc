"""The fields of the workloads, and of the objects that leaders hold.

One line per type, in the notation of ``api/fields.py``.
Source: upstream ``api/{core,apps,batch,coordination}/v1/types.go`` (v1.34.1).
"""

WORKLOADS = """
ReplicationController = +Object spec:ReplicationControllerSpec status:ReplicationControllerStatus
ReplicationControllerSpec = replicas:int32? minReadySeconds:int32 selector:{string} template:PodTemplateSpec?
ReplicationControllerStatus = replicas!:int32 fullyLabeledReplicas:int32 readyReplicas:int32 availableReplicas:int32
    observedGeneration:int64 conditions:[ReplicationControllerCondition]
ReplicationControllerCondition = type! status! lastTransitionTime:time reason message
PodTemplateSpec = metadata:ObjectMeta spec:PodSpec
ReplicaSet = +Object spec:ReplicaSetSpec status:ReplicaSetStatus
ReplicaSetSpec = replicas:int32? minReadySeconds:int32 selector!:LabelSelector? template:PodTemplateSpec
ReplicaSetStatus = +ReplicationControllerStatus terminatingReplicas:int32?
Deployment = +Object spec:DeploymentSpec status:DeploymentStatus
DeploymentSpec = replicas:int32? selector!:LabelSelector? template!:PodTemplateSpec strategy:DeploymentStrategy
    minReadySeconds:int32 revisionHistoryLimit:int32? paused:bool progressDeadlineSeconds:int32?
DeploymentStrategy = type rollingUpdate:RollingUpdateDeployment?
RollingUpdateDeployment = maxUnavailable:intstr? maxSurge:intstr?
DeploymentStatus = observedGeneration:int64 replicas:int32 updatedReplicas:int32 readyReplicas:int32
    availableReplicas:int32 unavailableReplicas:int32 terminatingReplicas:int32? conditions:[DeploymentCondition]
    collisionCount:int32?
DeploymentCondition = type! status! lastUpdateTime:time lastTransitionTime:time reason message
DaemonSet = +Object spec:DaemonSetSpec status:DaemonSetStatus
DaemonSetSpec = selector!:LabelSelector? template!:PodTemplateSpec updateStrategy:DaemonSetUpdateStrategy
    minReadySeconds:int32 revisionHistoryLimit:int32?
DaemonSetUpdateStrategy = type rollingUpdate:RollingUpdateDaemonSet?
RollingUpdateDaemonSet = +RollingUpdateDeployment
DaemonSetStatus = currentNumberScheduled!:int32 numberMisscheduled!:int32 desiredNumberScheduled!:int32
    numberReady!:int32 observedGeneration:int64 updatedNumberScheduled:int32 numberAvailable:int32
    numberUnavailable:int32 collisionCount:int32? conditions:[ReplicationControllerCondition]
StatefulSet = +Object spec:StatefulSetSpec status:StatefulSetStatus
StatefulSetSpec = replicas:int32? selector!:LabelSelector? template!:PodTemplateSpec
    volumeClaimTemplates:[PersistentVolumeClaim] serviceName! podManagementPolicy
    updateStrategy:StatefulSetUpdateStrategy revisionHistoryLimit:int32? minReadySeconds:int32
    persistentVolumeClaimRetentionPolicy:StatefulSetRetentionPolicy? ordinals:StatefulSetOrdinals?
StatefulSetUpdateStrategy = type rollingUpdate:StatefulSetRollingUpdate?
StatefulSetRollingUpdate = partition:int32? maxUnavailable:intstr?
StatefulSetRetentionPolicy = whenDeleted whenScaled
StatefulSetOrdinals = start!:int32
StatefulSetStatus = observedGeneration:int64 replicas!:int32 readyReplicas:int32 currentReplicas:int32
    updatedReplicas:int32 currentRevision updateRevision collisionCount:int32?
    conditions:[ReplicationControllerCondition] availableReplicas!:int32
Job = +Object spec:JobSpec status:JobStatus
JobSpec = parallelism:int32? completions:int32? activeDeadlineSeconds:int64? podFailurePolicy:PodFailurePolicy?
    successPolicy:SuccessPolicy? backoffLimit:int32? backoffLimitPerIndex:int32? maxFailedIndexes:int32?
    selector:LabelSelector? manualSelector:bool? template!:PodTemplateSpec ttlSecondsAfterFinished:int32?
    completionMode:string? suspend:bool? podReplacementPolicy:string? managedBy:string?
PodFailurePolicy = rules!:[PodFailurePolicyRule]
PodFailurePolicyRule = action! onExitCodes:PodFailurePolicyOnExitCodes? onPodConditions:[PodFailurePolicyOnCondition]
PodFailurePolicyOnExitCodes = containerName:string? operator! values!:[int32]
PodFailurePolicyOnCondition = type! status!
SuccessPolicy = rules!:[SuccessPolicyRule]
SuccessPolicyRule = succeededIndexes:string? succeededCount:int32?
JobStatus = conditions:[JobCondition] startTime:time? completionTime:time? active:int32 succeeded:int32 failed:int32
    terminating:int32? completedIndexes failedIndexes:string? uncountedTerminatedPods:UncountedTerminatedPods?
    ready:int32?
JobCondition = type! status! lastProbeTime:time lastTransitionTime:time reason message
UncountedTerminatedPods = succeeded:[string] failed:[string]
Lease = +Object spec:LeaseSpec
LeaseSpec = holderIdentity:string? leaseDurationSeconds:int32? acquireTime:microtime? renewTime:microtime?
    leaseTransitions:int32? strategy:string? preferredHolder:string?
ConfigMap = +Object immutable:bool? data:{string} binaryData:{string}
Endpoints = +Object subsets:[EndpointSubset]
EndpointSubset = addresses:[EndpointAddress] notReadyAddresses:[EndpointAddress] ports:[EndpointPort]
EndpointAddress = ip! hostname nodeName:string? targetRef:ObjectReference?
EndpointPort = name port!:int32 protocol appProtocol:string?
"""
