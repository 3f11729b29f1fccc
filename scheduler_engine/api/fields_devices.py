"""The fields of dynamic resource allocation: claims, templates of claims, classes of devices, slices of resources.

One line per type, in the notation of ``api/fields.py``. ``versions/gates.py`` names the fields that a version drops.
Source: upstream ``api/resource/v1/types.go``.
"""

DEVICES = """
ResourceClaim = +Object spec!:ResourceClaimSpec status:ResourceClaimStatus
ResourceClaimTemplate = +Object spec!:ResourceClaimTemplateSpec
DeviceClass = +Object spec!:DeviceClassSpec
ResourceSlice = +Object spec!:ResourceSliceSpec
ResourceClaimSpec = devices:DeviceClaim
ResourceClaimTemplateSpec = metadata:ObjectMeta spec:ResourceClaimSpec
DeviceClaim = requests:[DeviceRequest] constraints:[DeviceConstraint] config:[DeviceClaimConfiguration]
DeviceRequest = name! exactly:ExactDeviceRequest? firstAvailable:[DeviceSubRequest]
ExactDeviceRequest = deviceClassName! selectors:[DeviceSelector] allocationMode count:int64 adminAccess:bool?
    tolerations:[DeviceToleration] capacity:CapacityRequirements?
DeviceSubRequest = name! deviceClassName! selectors:[DeviceSelector] allocationMode count:int64
    tolerations:[DeviceToleration] capacity:CapacityRequirements?
CapacityRequirements = requests:{quantity}
DeviceSelector = cel:CELDeviceSelector?
CELDeviceSelector = expression!
DeviceConstraint = requests:[string] matchAttribute:string? distinctAttribute:string?
DeviceClaimConfiguration = requests:[string] opaque:OpaqueDeviceConfiguration?
OpaqueDeviceConfiguration = driver! parameters:any
DeviceToleration = key operator value effect tolerationSeconds:int64?
ResourceClaimStatus = allocation:AllocationResult? reservedFor:[ResourceClaimConsumerReference]
    devices:[AllocatedDeviceStatus]
AllocationResult = devices:DeviceAllocationResult nodeSelector:NodeSelector? allocationTimestamp:time?
DeviceAllocationResult = results:[DeviceRequestAllocationResult] config:[DeviceAllocationConfiguration]
DeviceRequestAllocationResult = request! driver! pool! device! adminAccess:bool? tolerations:[DeviceToleration]
    bindingConditions:[string] bindingFailureConditions:[string] shareID:string? consumedCapacity:{quantity}
DeviceAllocationConfiguration = source! requests:[string] opaque:OpaqueDeviceConfiguration?
ResourceClaimConsumerReference = apiGroup resource! name! uid!
AllocatedDeviceStatus = driver! pool! device! shareID:string? conditions:[Condition] data:any
    networkData:NetworkDeviceData?
NetworkDeviceData = interfaceName ips:[string] hardwareAddress
DeviceClassSpec = selectors:[DeviceSelector] config:[DeviceClassConfiguration] extendedResourceName:string?
DeviceClassConfiguration = opaque:OpaqueDeviceConfiguration?
ResourceSliceSpec = driver! pool:ResourcePool nodeName:string? nodeSelector:NodeSelector? allNodes:bool?
    devices!:[Device] perDeviceNodeSelection:bool? sharedCounters:[CounterSet]
ResourcePool = name! generation!:int64 resourceSliceCount!:int64
Device = name! attributes:{DeviceAttribute} capacity:{DeviceCapacity} consumesCounters:[DeviceCounterConsumption]
    nodeName:string? nodeSelector:NodeSelector? allNodes:bool? taints:[DeviceTaint] bindsToNode:bool?
    bindingConditions:[string] bindingFailureConditions:[string] allowMultipleAllocations:bool?
    nodeAllocatableResourceMappings:{NodeAllocatableResourceMapping}
NodeAllocatableResourceMapping = capacityKey:string? allocationMultiplier:quantity?
DeviceAttribute = int:int64? bool:bool? string:string? version:string? ints:[int64] bools:[bool] strings:[string]
    versions:[string]
DeviceCapacity = value!:quantity requestPolicy:CapacityRequestPolicy?
CapacityRequestPolicy = default:quantity? validValues:[quantity] validRange:CapacityRequestPolicyRange?
CapacityRequestPolicyRange = min:quantity? max:quantity? step:quantity?
CounterSet = name! counters:{Counter}
Counter = value!:quantity
DeviceCounterConsumption = counterSet! counters:{Counter}
DeviceTaint = key! value effect! timeAdded:time?
"""
