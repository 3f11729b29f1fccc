"""The fields of volume sources.

One line per type, in the notation of ``api/fields.py``. Source: upstream ``api/core/v1/types.go`` (v1.34.1 to v1.36.2).
"""

VOLUME_SOURCES = """
GCEPersistentDiskVolumeSource = pdName! fsType partition:int32 readOnly:bool
AWSElasticBlockStoreVolumeSource = volumeID! fsType partition:int32 readOnly:bool
HostPathVolumeSource = path! type:string?
GlusterfsPersistentVolumeSource = endpoints! path! readOnly:bool endpointsNamespace:string?
NFSVolumeSource = server! path! readOnly:bool
RBDPersistentVolumeSource = monitors!:[string] image! fsType pool user keyring secretRef:SecretReference?
    readOnly:bool
ISCSIPersistentVolumeSource = targetPortal! iqn! lun!:int32 iscsiInterface fsType readOnly:bool portals:[string]
    chapAuthDiscovery:bool chapAuthSession:bool secretRef:SecretReference? initiatorName:string?
CinderPersistentVolumeSource = volumeID! fsType readOnly:bool secretRef:SecretReference?
CephFSPersistentVolumeSource = monitors!:[string] path user secretFile secretRef:SecretReference? readOnly:bool
FCVolumeSource = targetWWNs:[string] lun:int32? fsType readOnly:bool wwids:[string]
FlockerVolumeSource = datasetName datasetUUID
FlexPersistentVolumeSource = driver! fsType secretRef:SecretReference? readOnly:bool options:{string}
AzureFilePersistentVolumeSource = secretName! shareName! readOnly:bool secretNamespace!:string?
VsphereVirtualDiskVolumeSource = volumePath! fsType storagePolicyName storagePolicyID
QuobyteVolumeSource = registry! volume! readOnly:bool user group tenant
AzureDiskVolumeSource = diskName! diskURI! cachingMode:string? fsType:string? readOnly:bool? kind:string?
PhotonPersistentDiskVolumeSource = pdID! fsType
PortworxVolumeSource = volumeID! fsType readOnly:bool
ScaleIOPersistentVolumeSource = gateway! system! secretRef!:SecretReference? sslEnabled:bool protectionDomain
    storagePool storageMode volumeName fsType readOnly:bool
LocalVolumeSource = path! fsType:string?
StorageOSPersistentVolumeSource = volumeName volumeNamespace fsType readOnly:bool secretRef:ObjectReference?
CSIPersistentVolumeSource = driver! volumeHandle! readOnly:bool fsType volumeAttributes:{string}
    controllerPublishSecretRef:SecretReference? nodeStageSecretRef:SecretReference?
    nodePublishSecretRef:SecretReference? controllerExpandSecretRef:SecretReference?
    nodeExpandSecretRef:SecretReference?
EmptyDirVolumeSource = medium sizeLimit:quantity?
GitRepoVolumeSource = repository! revision directory
SecretVolumeSource = secretName items:[KeyToPath] defaultMode:int32? optional:bool?
ISCSIVolumeSource = targetPortal! iqn! lun!:int32 iscsiInterface fsType readOnly:bool portals:[string]
    chapAuthDiscovery:bool chapAuthSession:bool secretRef:LocalObjectReference? initiatorName:string?
GlusterfsVolumeSource = endpoints! path! readOnly:bool
PersistentVolumeClaimVolumeSource = claimName! readOnly:bool
RBDVolumeSource = monitors!:[string] image! fsType pool user keyring secretRef:LocalObjectReference? readOnly:bool
FlexVolumeSource = driver! fsType secretRef:LocalObjectReference? readOnly:bool options:{string}
CinderVolumeSource = volumeID! fsType readOnly:bool secretRef:LocalObjectReference?
CephFSVolumeSource = monitors!:[string] path user secretFile secretRef:LocalObjectReference? readOnly:bool
DownwardAPIVolumeSource = items:[DownwardAPIVolumeFile] defaultMode:int32?
AzureFileVolumeSource = secretName! shareName! readOnly:bool
ConfigMapVolumeSource = name items:[KeyToPath] defaultMode:int32? optional:bool?
ProjectedVolumeSource = sources!:[VolumeProjection] defaultMode:int32?
ScaleIOVolumeSource = gateway! system! secretRef!:LocalObjectReference? sslEnabled:bool protectionDomain storagePool
    storageMode volumeName fsType readOnly:bool
StorageOSVolumeSource = volumeName volumeNamespace fsType readOnly:bool secretRef:LocalObjectReference?
CSIVolumeSource = driver! readOnly:bool? fsType:string? volumeAttributes:{string}
    nodePublishSecretRef:LocalObjectReference?
EphemeralVolumeSource = volumeClaimTemplate:PersistentVolumeClaimTemplate?
ImageVolumeSource = reference pullPolicy
KeyToPath = key! path! mode:int32?
DownwardAPIVolumeFile = path! fieldRef:ObjectFieldSelector? resourceFieldRef:ResourceFieldSelector? mode:int32?
VolumeProjection = secret:SecretProjection? downwardAPI:DownwardAPIProjection? configMap:ConfigMapProjection?
    serviceAccountToken:ServiceAccountTokenProjection? clusterTrustBundle:ClusterTrustBundleProjection?
    podCertificate:PodCertificateProjection?
PersistentVolumeClaimTemplate = metadata:ObjectMeta spec!:PersistentVolumeClaimSpec
ObjectFieldSelector = apiVersion fieldPath!
ResourceFieldSelector = containerName resource! divisor!:quantity
SecretProjection = name items:[KeyToPath] optional:bool?
DownwardAPIProjection = items:[DownwardAPIVolumeFile]
ConfigMapProjection = name items:[KeyToPath] optional:bool?
ServiceAccountTokenProjection = audience expirationSeconds:int64? path!
ClusterTrustBundleProjection = name:string? signerName:string? labelSelector:LabelSelector? optional:bool? path!
PodCertificateProjection = signerName keyType maxExpirationSeconds:int32? credentialBundlePath keyPath
    certificateChainPath userAnnotations:{string}
"""
