"""Which cluster events may wake a pod that a plugin rejected.

Source: upstream plugins' ``EventsToRegister`` (v1.34.1); for the rules of the design document seed 000.
"""

from __future__ import annotations

NODE_TAINT = "Node/UpdateNodeTaint"
WAKES: dict[str, tuple[str, ...]] = {
    "NodeResourcesFit": ("Node/Add", "Pod/Delete", "Node/UpdateNodeAllocatable", "Pod/UpdatePodScaleDown", NODE_TAINT),
    "NodeAffinity": ("Node/Add", "Node/UpdateNodeLabel", NODE_TAINT),
    "NodeName": ("Node/Add", NODE_TAINT),
    "NodePorts": ("Pod/Delete", "Node/Add", NODE_TAINT),
    "NodeUnschedulable": ("Node/Add", NODE_TAINT, "Pod/UpdatePodToleration"),
    "TaintToleration": ("Node/Add", NODE_TAINT, "Pod/UpdatePodToleration"),
    "InterPodAffinity": ("Pod/Add", "Pod/Delete", "Pod/UpdatePodLabel", "Node/Add", "Node/UpdateNodeLabel", NODE_TAINT),
    "PodTopologySpread": (
        "Pod/Add",
        "Pod/Delete",
        "Node/Add",
        "Node/Delete",
        "Pod/UpdatePodLabel",
        "Pod/UpdatePodToleration",
        "Node/UpdateNodeLabel",
        NODE_TAINT,
    ),
    "VolumeRestrictions": ("Pod/Delete", "PVC/Add", "Node/Add", NODE_TAINT),
    "VolumeBinding": (
        "PVC/Add",
        "PV/Add",
        "PVC/Update",
        "PV/Update",
        "StorageClass/Add",
        "StorageClass/Update",
        "Node/Add",
        "Node/UpdateNodeLabel",
        "CSINode/Add",
        "CSINode/Update",
        NODE_TAINT,
    ),
    "VolumeZone": (
        "PVC/Add",
        "PV/Add",
        "PVC/Update",
        "PV/Update",
        "StorageClass/Add",
        "Node/Add",
        "Node/UpdateNodeLabel",
        NODE_TAINT,
    ),
    "NodeVolumeLimits": ("Pod/Delete", "CSINode/Add", "CSINode/Update", "PVC/Add", "VolumeAttachment/Delete"),
    "DynamicResources": (
        "ResourceClaim/Add",
        "ResourceClaim/Update",
        "ResourceSlice/Add",
        "Node/Add",
        "DeviceClass/Add",
        NODE_TAINT,
    ),
    "SchedulingGates": ("Pod/UpdatePodSchedulingGatesEliminated",),
}


MOVE_REQUESTS = ("Node/*", "Pod/Delete", "Service/*", "PV/*", "PVC/*", "StorageClass/*", "CSINode/*")
"""By the design document these wake every pod, whoever rejected it."""
AFFINITY = "Pod/* it needs"
"""A pod that gets a node, or changes there, wakes those with a required affinity term that it matches."""


def wakes(plugins: tuple[str, ...], rules: str, has_affinity: bool) -> list[str]:
    """The events of all these plugins, each once. ``has_affinity``: the pod has a required term of pod affinity."""
    if rules == "design-doc":
        return [*([AFFINITY] if has_affinity else []), *MOVE_REQUESTS]
    return list(dict.fromkeys(event for plugin in plugins for event in WAKES.get(plugin, ())))
