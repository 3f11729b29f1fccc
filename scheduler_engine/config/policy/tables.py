"""Predicates and priorities of Scheduling Policies, and the plugins that replace them in v1.34.

Source: upstream v1.22 ``pkg/scheduler/framework/plugins/legacy_registry.go`` (names, plugins, what is implied);
kubernetes/kubernetes#84152, #105424, #105588, #105906, #105907, #117720 and #124003 (what is gone).
"""

from __future__ import annotations

from dataclasses import dataclass

POLICY_GONE = "v1.23"
"""The version that removed Scheduling Policies, and with them the names of all predicates and priorities."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """``plugins`` filter in its place today. ``default``: it ran if a policy had no list of predicates; ``always``:
    with every list. ``argument``: a predicate of any name with it is this one. ``gone``: the version in which it lost
    its effect. ``note`` explains it, ``changed``: it works differently today.
    """

    name: str
    plugins: tuple[str, ...]
    default: bool = False
    always: bool = False
    argument: str = ""
    gone: str = POLICY_GONE
    note: str = ""
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Priority:
    """``plugin`` scores in its place today ("" for none). ``weight``: its weight if a policy had no list of priorities,
    0 = it did not run. ``strategy``: its present scoring strategy of NodeResourcesFit. ``argument``, ``gone``, ``note``
    and ``changed`` as above.
    """

    name: str
    plugin: str
    weight: int = 0
    strategy: str = ""
    argument: str = ""
    gone: str = POLICY_GONE
    note: str = ""
    changed: bool = False


IN_TREE = (
    "The CSI driver handles volumes of this kind, and NodeVolumeLimits uses the limit that the driver reports. The "
    "separate plugin was removed in v1.32."
)
BY_TAINT = (
    "The node lifecycle controller gives a node a taint for this condition, and TaintToleration checks the taint. "
    "NodeUnschedulable checks for cordoned nodes."
)
NO_LABELS = (
    "The plugin NodeLabel is gone. Its argument labelsPresence required labels of every node. Today addedAffinity of "
    "NodeAffinity does so."
)
NO_SERVICES = (
    "The plugin ServiceAffinity is gone, and nothing replaces it. Pod affinity in the pods themselves is similar."
)

PREDICATES = (
    Predicate("CheckNodeUnschedulable", ("NodeUnschedulable",), default=True, always=True),
    Predicate(
        "GeneralPredicates",
        ("NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity"),
        default=True,
        note="It combined HostName, PodFitsHostPorts, MatchNodeSelector and PodFitsResources.",
    ),
    Predicate("HostName", ("NodeName",), note="The documentation called it PodFitsHost."),
    Predicate("PodFitsHostPorts", ("NodePorts",), note="PodFitsPorts was its older name."),
    Predicate("MatchNodeSelector", ("NodeAffinity",)),
    Predicate("PodFitsResources", ("NodeResourcesFit",)),
    Predicate("NoDiskConflict", ("VolumeRestrictions",), default=True),
    Predicate("PodToleratesNodeTaints", ("TaintToleration",), default=True, always=True),
    Predicate("CheckNodeLabelPresence", (), argument="labelsPresence", note=NO_LABELS, changed=True),
    Predicate("CheckServiceAffinity", (), argument="serviceAffinity", note=NO_SERVICES, changed=True),
    Predicate("MaxEBSVolumeCount", ("NodeVolumeLimits",), default=True, note=IN_TREE, changed=True),
    Predicate("MaxGCEPDVolumeCount", ("NodeVolumeLimits",), default=True, note=IN_TREE, changed=True),
    Predicate(
        "MaxCSIVolumeCountPred",
        ("NodeVolumeLimits",),
        default=True,
        note="The documentation called it MaxCSIVolumeCount.",
    ),
    Predicate("MaxAzureDiskVolumeCount", ("NodeVolumeLimits",), default=True, note=IN_TREE, changed=True),
    Predicate("MaxCinderVolumeCount", ("NodeVolumeLimits",), note=IN_TREE, changed=True),
    Predicate("CheckVolumeBinding", ("VolumeBinding",), default=True),
    Predicate("NoVolumeZoneConflict", ("VolumeZone",), default=True),
    Predicate("EvenPodsSpread", ("PodTopologySpread",), default=True),
    Predicate("MatchInterPodAffinity", ("InterPodAffinity",), default=True),
    Predicate(
        "CheckNodeCondition", ("NodeUnschedulable", "TaintToleration"), gone="v1.12", note=BY_TAINT, changed=True
    ),
    Predicate("CheckNodeMemoryPressure", ("TaintToleration",), gone="v1.12", note=BY_TAINT, changed=True),
    Predicate("CheckNodeDiskPressure", ("TaintToleration",), gone="v1.12", note=BY_TAINT, changed=True),
    Predicate("CheckNodePIDPressure", ("TaintToleration",), gone="v1.12", note=BY_TAINT, changed=True),
)
"""In the order in which they run, whatever the order in a policy. Those unknown to v1.22 are last."""

PRIORITIES = (
    Priority("BalancedResourceAllocation", "NodeResourcesBalancedAllocation", 1),
    Priority("EvenPodsSpreadPriority", "PodTopologySpread", 2),
    Priority("ImageLocalityPriority", "ImageLocality", 1),
    Priority("InterPodAffinityPriority", "InterPodAffinity", 1),
    Priority(
        "LeastRequestedPriority",
        "NodeResourcesFit",
        1,
        "LeastAllocated",
        note="One of three scoring strategies of one plugin.",
    ),
    Priority("MostRequestedPriority", "NodeResourcesFit", 0, "MostAllocated", note="The second strategy."),
    Priority("NodeAffinityPriority", "NodeAffinity", 1),
    Priority(
        "NodePreferAvoidPodsPriority",
        "",
        10_000,
        note="It read the annotation scheduler.alpha.kubernetes.io/preferAvoidPods of nodes. Taints with the effect "
        "PreferNoSchedule have the same meaning.",
        changed=True,
    ),
    Priority(
        "RequestedToCapacityRatio",
        "NodeResourcesFit",
        0,
        "RequestedToCapacityRatio",
        "requestedToCapacityRatioArguments",
        note="A priority of any name that has requestedToCapacityRatioArguments. The third strategy.",
    ),
    Priority(
        "SelectorSpreadPriority",
        "PodTopologySpread",
        1,
        note="The built-in default constraints of PodTopologySpread replaced it. ServiceSpreadingPriority was its "
        "older name. The plugin SelectorSpread was removed in v1.29.",
        changed=True,
    ),
    Priority("TaintTolerationPriority", "TaintToleration", 1),
    Priority(
        "EqualPriority", "", note="It gave every node the same score, so leaving it out changes nothing.", changed=True
    ),
    Priority(
        "NodeLabel",
        "",
        argument="labelPreference",
        note="A priority of any name that has a labelPreference. The plugin is gone. Preferred terms of addedAffinity "
        "of NodeAffinity are similar.",
        changed=True,
    ),
    Priority(
        "ServiceAffinity",
        "",
        argument="serviceAntiAffinity",
        note="A priority of any name that has a serviceAntiAffinity. The plugin is gone. Topology spread constraints "
        "in the pods themselves are similar.",
        changed=True,
    ),
)
"""Sorted by name, as v1.22 merged them. If two shared a plugin, the first decided."""

OTHER_NAMES = {
    "PodFitsPorts": "PodFitsHostPorts",
    "PodFitsHost": "HostName",
    "MaxCSIVolumeCount": "MaxCSIVolumeCountPred",
    "ServiceSpreadingPriority": "SelectorSpreadPriority",
}
ONLY_DOCUMENTED = ("PodFitsHost", "MaxCSIVolumeCount")
"""Names in the documentation that the scheduler itself refused."""
ALWAYS = ("SchedulingGates", "PrioritySort", "DefaultPreemption", "DynamicResources", "DefaultBinder")
"""Plugins without a predicate or priority: v1.22 added three of them to every policy."""
SINCE_THEN = ("SchedulingGates", "DynamicResources")
"""Those of them that are newer than policies."""
