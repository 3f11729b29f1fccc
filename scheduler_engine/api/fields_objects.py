"""The fields of every kind, except workloads and the parts of pods and volumes.

One line per type, in the notation of ``api/fields.py``. Source: upstream ``api/*/types.go`` (v1.34.1 to v1.36.2).
"""

OBJECTS = """
Pod = +Object spec:PodSpec status:PodStatus
Node = +Object spec:NodeSpec status:NodeStatus
Namespace = +Object spec:NamespaceSpec status:NamespaceStatus
Object = apiVersion kind metadata:ObjectMeta
ObjectMeta = name generateName namespace selfLink uid resourceVersion generation:int64 creationTimestamp:time
    deletionTimestamp:time? deletionGracePeriodSeconds:int64? labels:{string} annotations:{string}
    ownerReferences:[OwnerReference] finalizers:[string] managedFields:[ManagedFieldsEntry]
Service = +Object spec:ServiceSpec status:ServiceStatus
PersistentVolume = +Object spec:PersistentVolumeSpec status:PersistentVolumeStatus
PersistentVolumeClaim = +Object spec:PersistentVolumeClaimSpec status:PersistentVolumeClaimStatus
NodeSpec = podCIDR podCIDRs:[string] providerID unschedulable:bool taints:[Taint] configSource:NodeConfigSource?
    externalID
NodeStatus = capacity:{quantity} allocatable:{quantity} phase conditions:[NodeCondition] addresses:[NodeAddress]
    daemonEndpoints:NodeDaemonEndpoints nodeInfo:NodeSystemInfo images:[ContainerImage] volumesInUse:[string]
    volumesAttached:[AttachedVolume] config:NodeConfigStatus? runtimeHandlers:[NodeRuntimeHandler]
    features:NodeFeatures? declaredFeatures:[string]
NamespaceSpec = finalizers:[string]
NamespaceStatus = phase conditions:[NamespaceCondition]
ServiceSpec = ports:[ServicePort] selector:{string} clusterIP clusterIPs:[string] type externalIPs:[string]
    sessionAffinity loadBalancerIP loadBalancerSourceRanges:[string] externalName externalTrafficPolicy
    healthCheckNodePort:int32 publishNotReadyAddresses:bool sessionAffinityConfig:SessionAffinityConfig?
    ipFamilies:[string] ipFamilyPolicy:string? allocateLoadBalancerNodePorts:bool? loadBalancerClass:string?
    internalTrafficPolicy:string? trafficDistribution:string?
ServiceStatus = loadBalancer:LoadBalancerStatus conditions:[Condition]
PersistentVolumeSpec = capacity:{quantity} gcePersistentDisk:GCEPersistentDiskVolumeSource?
    awsElasticBlockStore:AWSElasticBlockStoreVolumeSource? hostPath:HostPathVolumeSource?
    glusterfs:GlusterfsPersistentVolumeSource? nfs:NFSVolumeSource? rbd:RBDPersistentVolumeSource?
    iscsi:ISCSIPersistentVolumeSource? cinder:CinderPersistentVolumeSource? cephfs:CephFSPersistentVolumeSource?
    fc:FCVolumeSource? flocker:FlockerVolumeSource? flexVolume:FlexPersistentVolumeSource?
    azureFile:AzureFilePersistentVolumeSource? vsphereVolume:VsphereVirtualDiskVolumeSource?
    quobyte:QuobyteVolumeSource? azureDisk:AzureDiskVolumeSource?
    photonPersistentDisk:PhotonPersistentDiskVolumeSource? portworxVolume:PortworxVolumeSource?
    scaleIO:ScaleIOPersistentVolumeSource? local:LocalVolumeSource? storageos:StorageOSPersistentVolumeSource?
    csi:CSIPersistentVolumeSource? accessModes:[string] claimRef:ObjectReference? persistentVolumeReclaimPolicy
    storageClassName mountOptions:[string] volumeMode:string? nodeAffinity:VolumeNodeAffinity?
    volumeAttributesClassName:string?
PersistentVolumeStatus = phase message reason lastPhaseTransitionTime:time?
PersistentVolumeClaimSpec = accessModes:[string] selector:LabelSelector? resources:VolumeResourceRequirements
    volumeName storageClassName:string? volumeMode:string? dataSource:TypedLocalObjectReference?
    dataSourceRef:TypedObjectReference? volumeAttributesClassName:string?
PersistentVolumeClaimStatus = phase accessModes:[string] capacity:{quantity}
    conditions:[PersistentVolumeClaimCondition] allocatedResources:{quantity} allocatedResourceStatuses:{string}
    currentVolumeAttributesClassName:string? modifyVolumeStatus:ModifyVolumeStatus?
OwnerReference = apiVersion! kind! name! uid! controller:bool? blockOwnerDeletion:bool?
ManagedFieldsEntry = manager operation apiVersion time:time? fieldsType fieldsV1:any subresource
LocalObjectReference = name
Taint = key! value effect! timeAdded:time?
NodeConfigSource = configMap:ConfigMapNodeConfigSource?
NodeCondition = type! status! lastHeartbeatTime:time lastTransitionTime:time reason message
NodeAddress = type! address!
NodeDaemonEndpoints = kubeletEndpoint:DaemonEndpoint
NodeSystemInfo = machineID! systemUUID! bootID! kernelVersion! osImage! containerRuntimeVersion! kubeletVersion!
    kubeProxyVersion! operatingSystem! architecture! swap:NodeSwapStatus?
ContainerImage = names!:[string] sizeBytes:int64
AttachedVolume = name! devicePath!
NodeConfigStatus = assigned:NodeConfigSource? active:NodeConfigSource? lastKnownGood:NodeConfigSource? error
NodeRuntimeHandler = name! features:NodeRuntimeHandlerFeatures?
NodeFeatures = supplementalGroupsPolicy:bool?
NamespaceCondition = type! status! lastTransitionTime:time reason message
ServicePort = name protocol appProtocol:string? port!:int32 targetPort:intstr nodePort:int32
SessionAffinityConfig = clientIP:ClientIPConfig?
LoadBalancerStatus = ingress:[LoadBalancerIngress]
Condition = type! status! observedGeneration:int64 lastTransitionTime!:time reason! message!
ObjectReference = kind namespace name uid apiVersion resourceVersion fieldPath
VolumeNodeAffinity = required:NodeSelector?
LabelSelector = matchLabels:{string} matchExpressions:[LabelSelectorRequirement]
VolumeResourceRequirements = limits:{quantity} requests:{quantity}
TypedLocalObjectReference = apiGroup!:string? kind! name!
TypedObjectReference = apiGroup!:string? kind! name! namespace:string?
PersistentVolumeClaimCondition = type! status! lastProbeTime:time lastTransitionTime:time reason message
ModifyVolumeStatus = targetVolumeAttributesClassName status!
ConfigMapNodeConfigSource = namespace! name! uid resourceVersion kubeletConfigKey!
DaemonEndpoint = Port!:int32
NodeSwapStatus = capacity:int64?
NodeRuntimeHandlerFeatures = recursiveReadOnlyMounts:bool? userNamespaces:bool?
ClientIPConfig = timeoutSeconds:int32?
LoadBalancerIngress = ip hostname ipMode:string? ports:[PortStatus]
SecretReference = name namespace
LabelSelectorRequirement = key! operator! values:[string]
PortStatus = port!:int32 protocol! error:string?
StorageClass = +Object provisioner! parameters:{string} reclaimPolicy:string? mountOptions:[string]
    allowVolumeExpansion:bool? volumeBindingMode:string? allowedTopologies:[TopologySelectorTerm]
TopologySelectorTerm = matchLabelExpressions:[TopologySelectorLabelRequirement]
TopologySelectorLabelRequirement = key! values!:[string]
CSINode = +Object spec!:CSINodeSpec
CSINodeSpec = drivers!:[CSINodeDriver]
CSINodeDriver = name! nodeID! topologyKeys!:[string] allocatable:VolumeNodeResources?
VolumeNodeResources = count:int32?
CSIDriver = +Object spec!:CSIDriverSpec
CSIDriverSpec = attachRequired:bool? podInfoOnMount:bool? volumeLifecycleModes:[string] storageCapacity:bool?
    fsGroupPolicy:string? tokenRequests:[TokenRequest] requiresRepublish:bool? seLinuxMount:bool?
    nodeAllocatableUpdatePeriodSeconds:int64? serviceAccountTokenInSecrets:bool? preventPodSchedulingIfMissing:bool?
TokenRequest = audience! expirationSeconds:int64?
CSIStorageCapacity = +Object nodeTopology:LabelSelector? storageClassName! capacity:quantity?
    maximumVolumeSize:quantity?
VolumeAttachment = +Object spec!:VolumeAttachmentSpec status:VolumeAttachmentStatus
VolumeAttachmentSpec = attacher! source!:VolumeAttachmentSource nodeName!
VolumeAttachmentSource = persistentVolumeName:string? inlineVolumeSpec:PersistentVolumeSpec?
VolumeAttachmentStatus = attached!:bool attachmentMetadata:{string} attachError:VolumeError? detachError:VolumeError?
VolumeError = time:time message errorCode:int32?
PriorityClass = +Object value!:int32 globalDefault:bool description preemptionPolicy:string?
RuntimeClass = +Object handler! overhead:RuntimeClassOverhead? scheduling:RuntimeClassScheduling?
RuntimeClassOverhead = podFixed:{quantity}
RuntimeClassScheduling = nodeSelector:{string} tolerations:[Toleration]
PodGroup = +Object spec:PodGroupSpec status:PodGroupStatus
PodGroupSpec = minMember:int32? minResources:{quantity} scheduleTimeoutSeconds:int32?
PodGroupStatus = phase occupiedBy running:int32 succeeded:int32 failed:int32 scheduleStartTime:time
PodDisruptionBudget = +Object spec:PodDisruptionBudgetSpec status:PodDisruptionBudgetStatus
PodDisruptionBudgetSpec = minAvailable:intstr? selector:LabelSelector? maxUnavailable:intstr?
    unhealthyPodEvictionPolicy:string?
PodDisruptionBudgetStatus = observedGeneration:int64 disruptedPods:{time} disruptionsAllowed!:int32
    currentHealthy!:int32 desiredHealthy!:int32 expectedPods!:int32 conditions:[Condition]
"""
