"""The fields of a pod.

One line per type, in the notation of ``api/fields.py``. Source: upstream ``api/core/v1/types.go`` (v1.34.1 to v1.36.2).
"""

POD_PARTS = """
PodSpec = volumes:[Volume] initContainers:[Container] containers!:[Container] ephemeralContainers:[EphemeralContainer]
    restartPolicy terminationGracePeriodSeconds:int64? activeDeadlineSeconds:int64? dnsPolicy nodeSelector:{string}
    serviceAccountName serviceAccount automountServiceAccountToken:bool? nodeName hostNetwork:bool hostPID:bool
    hostIPC:bool shareProcessNamespace:bool? securityContext:PodSecurityContext?
    imagePullSecrets:[LocalObjectReference] hostname subdomain affinity:Affinity? schedulerName
    tolerations:[Toleration] hostAliases:[HostAlias] priorityClassName priority:int32? dnsConfig:PodDNSConfig?
    readinessGates:[PodReadinessGate] runtimeClassName:string? enableServiceLinks:bool? preemptionPolicy:string?
    overhead:{quantity} topologySpreadConstraints:[TopologySpreadConstraint] setHostnameAsFQDN:bool? os:PodOS?
    hostUsers:bool? schedulingGates:[PodSchedulingGate] resourceClaims:[PodResourceClaim]
    resources:ResourceRequirements? hostnameOverride:string? workloadRef:WorkloadReference?
    schedulingGroup:PodSchedulingGroup?
PodStatus = observedGeneration:int64 phase conditions:[PodCondition] message reason nominatedNodeName hostIP
    hostIPs:[HostIP] podIP podIPs:[PodIP] startTime:time? initContainerStatuses:[ContainerStatus]
    containerStatuses:[ContainerStatus] qosClass ephemeralContainerStatuses:[ContainerStatus] resize
    resourceClaimStatuses:[PodResourceClaimStatus] extendedResourceClaimStatus:PodExtendedResourceClaimStatus?
    resources:ResourceRequirements? allocatedResources:{quantity}
    nodeAllocatableResourceClaimStatuses:[NodeAllocatableResourceClaimStatus]
Volume = name! hostPath:HostPathVolumeSource? emptyDir:EmptyDirVolumeSource?
    gcePersistentDisk:GCEPersistentDiskVolumeSource? awsElasticBlockStore:AWSElasticBlockStoreVolumeSource?
    gitRepo:GitRepoVolumeSource? secret:SecretVolumeSource? nfs:NFSVolumeSource? iscsi:ISCSIVolumeSource?
    glusterfs:GlusterfsVolumeSource? persistentVolumeClaim:PersistentVolumeClaimVolumeSource? rbd:RBDVolumeSource?
    flexVolume:FlexVolumeSource? cinder:CinderVolumeSource? cephfs:CephFSVolumeSource? flocker:FlockerVolumeSource?
    downwardAPI:DownwardAPIVolumeSource? fc:FCVolumeSource? azureFile:AzureFileVolumeSource?
    configMap:ConfigMapVolumeSource? vsphereVolume:VsphereVirtualDiskVolumeSource? quobyte:QuobyteVolumeSource?
    azureDisk:AzureDiskVolumeSource? photonPersistentDisk:PhotonPersistentDiskVolumeSource?
    projected:ProjectedVolumeSource? portworxVolume:PortworxVolumeSource? scaleIO:ScaleIOVolumeSource?
    storageos:StorageOSVolumeSource? csi:CSIVolumeSource? ephemeral:EphemeralVolumeSource? image:ImageVolumeSource?
Container = name! image command:[string] args:[string] workingDir ports:[ContainerPort] envFrom:[EnvFromSource]
    env:[EnvVar] resources:ResourceRequirements resizePolicy:[ContainerResizePolicy] restartPolicy:string?
    restartPolicyRules:[ContainerRestartRule] volumeMounts:[VolumeMount] volumeDevices:[VolumeDevice]
    livenessProbe:Probe? readinessProbe:Probe? startupProbe:Probe? lifecycle:Lifecycle? terminationMessagePath
    terminationMessagePolicy imagePullPolicy securityContext:SecurityContext? stdin:bool stdinOnce:bool tty:bool
EphemeralContainer = +Container targetContainerName
PodSecurityContext = seLinuxOptions:SELinuxOptions? windowsOptions:WindowsSecurityContextOptions? runAsUser:int64?
    runAsGroup:int64? runAsNonRoot:bool? supplementalGroups:[int64] supplementalGroupsPolicy:string? fsGroup:int64?
    sysctls:[Sysctl] fsGroupChangePolicy:string? seccompProfile:SeccompProfile? appArmorProfile:AppArmorProfile?
    seLinuxChangePolicy:string?
Affinity = nodeAffinity:NodeAffinity? podAffinity:PodAffinity? podAntiAffinity:PodAntiAffinity?
Toleration = key operator value effect tolerationSeconds:int64?
HostAlias = ip! hostnames:[string]
PodDNSConfig = nameservers:[string] searches:[string] options:[PodDNSConfigOption]
PodReadinessGate = conditionType!
TopologySpreadConstraint = maxSkew!:int32 topologyKey! whenUnsatisfiable! labelSelector:LabelSelector?
    minDomains:int32? nodeAffinityPolicy:string? nodeTaintsPolicy:string? matchLabelKeys:[string]
PodOS = name!
PodSchedulingGate = name!
WorkloadReference = name! podGroup! podGroupReplicaKey
PodSchedulingGroup = podGroupName:string?
PodResourceClaim = name! resourceClaimName:string? resourceClaimTemplateName:string?
ResourceRequirements = limits:{quantity} requests:{quantity} claims:[ContainerClaim]
PodCondition = type! observedGeneration:int64 status! lastProbeTime:time lastTransitionTime:time reason message
HostIP = ip!
PodIP = ip!
ContainerStatus = name! state:ContainerState lastState:ContainerState ready!:bool restartCount!:int32 image! imageID!
    containerID started:bool? allocatedResources:{quantity} resources:ResourceRequirements?
    volumeMounts:[VolumeMountStatus] user:ContainerUser? allocatedResourcesStatus:[ResourceStatus] stopSignal:string?
PodResourceClaimStatus = name! resourceClaimName:string?
PodExtendedResourceClaimStatus = requestMappings!:[ContainerExtendedResourceRequest] resourceClaimName!
ContainerPort = name hostPort:int32 containerPort!:int32 protocol hostIP
EnvFromSource = prefix configMapRef:ConfigMapEnvSource? secretRef:SecretEnvSource?
EnvVar = name! value valueFrom:EnvVarSource?
ContainerResizePolicy = resourceName! restartPolicy!
ContainerRestartRule = action exitCodes:ContainerRestartRuleOnExitCodes?
VolumeMount = name! readOnly:bool recursiveReadOnly:string? mountPath! subPath mountPropagation:string? subPathExpr
VolumeDevice = name! devicePath!
Probe = exec:ExecAction? httpGet:HTTPGetAction? tcpSocket:TCPSocketAction? grpc:GRPCAction? initialDelaySeconds:int32
    timeoutSeconds:int32 periodSeconds:int32 successThreshold:int32 failureThreshold:int32
    terminationGracePeriodSeconds:int64?
Lifecycle = postStart:LifecycleHandler? preStop:LifecycleHandler? stopSignal:string?
SecurityContext = capabilities:Capabilities? privileged:bool? seLinuxOptions:SELinuxOptions?
    windowsOptions:WindowsSecurityContextOptions? runAsUser:int64? runAsGroup:int64? runAsNonRoot:bool?
    readOnlyRootFilesystem:bool? allowPrivilegeEscalation:bool? procMount:string? seccompProfile:SeccompProfile?
    appArmorProfile:AppArmorProfile?
SELinuxOptions = user role type level
WindowsSecurityContextOptions = gmsaCredentialSpecName:string? gmsaCredentialSpec:string? runAsUserName:string?
    hostProcess:bool?
Sysctl = name! value!
SeccompProfile = type! localhostProfile:string?
AppArmorProfile = type! localhostProfile:string?
NodeAffinity = requiredDuringSchedulingIgnoredDuringExecution:NodeSelector?
    preferredDuringSchedulingIgnoredDuringExecution:[PreferredSchedulingTerm]
PodAffinity = requiredDuringSchedulingIgnoredDuringExecution:[PodAffinityTerm]
    preferredDuringSchedulingIgnoredDuringExecution:[WeightedPodAffinityTerm]
PodAntiAffinity = +PodAffinity
PodDNSConfigOption = name value:string?
ContainerClaim = name! request
ContainerState = waiting:ContainerStateWaiting? running:ContainerStateRunning? terminated:ContainerStateTerminated?
VolumeMountStatus = name! mountPath! readOnly:bool recursiveReadOnly:string? volumeStatus:VolumeStatus?
ContainerUser = linux:LinuxContainerUser?
ResourceStatus = name! resources:[ResourceHealth]
ContainerExtendedResourceRequest = containerName! resourceName! requestName!
NodeSelector = nodeSelectorTerms!:[NodeSelectorTerm]
ConfigMapEnvSource = name optional:bool?
SecretEnvSource = name optional:bool?
EnvVarSource = fieldRef:ObjectFieldSelector? resourceFieldRef:ResourceFieldSelector?
    configMapKeyRef:ConfigMapKeySelector? secretKeyRef:SecretKeySelector? fileKeyRef:FileKeySelector?
ContainerRestartRuleOnExitCodes = operator values:[int32]
ExecAction = command:[string]
HTTPGetAction = path port!:intstr host scheme httpHeaders:[HTTPHeader]
TCPSocketAction = port!:intstr host
GRPCAction = port!:int32 service!:string?
LifecycleHandler = exec:ExecAction? httpGet:HTTPGetAction? tcpSocket:TCPSocketAction? sleep:SleepAction?
Capabilities = add:[string] drop:[string]
PreferredSchedulingTerm = weight!:int32 preference!:NodeSelectorTerm
PodAffinityTerm = labelSelector:LabelSelector? namespaces:[string] topologyKey! namespaceSelector:LabelSelector?
    matchLabelKeys:[string] mismatchLabelKeys:[string]
WeightedPodAffinityTerm = weight!:int32 podAffinityTerm!:PodAffinityTerm
ContainerStateWaiting = reason message
ContainerStateRunning = startedAt:time
ContainerStateTerminated = exitCode!:int32 signal:int32 reason message startedAt:time finishedAt:time containerID
LinuxContainerUser = uid!:int64 gid!:int64 supplementalGroups:[int64]
ResourceHealth = resourceID! health message:string?
NodeSelectorTerm = matchExpressions:[NodeSelectorRequirement] matchFields:[NodeSelectorRequirement]
ConfigMapKeySelector = name key! optional:bool?
SecretKeySelector = name key! optional:bool?
FileKeySelector = volumeName! path! key! optional:bool?
HTTPHeader = name! value!
SleepAction = seconds!:int64
NodeAllocatableResourceClaimStatus = resourceClaimName! containers:[string] resources!:{quantity}
VolumeStatus = image:ImageVolumeStatus?
ImageVolumeStatus = imageRef
NodeSelectorRequirement = key! operator! values:[string]
"""
