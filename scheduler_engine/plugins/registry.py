"""The plugins by name: those of Kubernetes, and those of its projects that a configuration may enable.

Source: upstream ``framework/plugins/registry.go``.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_engine.framework.interface import Plugin
from scheduler_engine.plugins.coscheduling import Coscheduling
from scheduler_engine.plugins.default_binder import DefaultBinder
from scheduler_engine.plugins.default_preemption import DefaultPreemption
from scheduler_engine.plugins.dynamic_resources import DynamicResources, ScoringDynamicResources
from scheduler_engine.plugins.image_locality import ImageLocality
from scheduler_engine.plugins.inter_pod_affinity import InterPodAffinity
from scheduler_engine.plugins.node_affinity import NodeAffinity
from scheduler_engine.plugins.node_declared_features import NodeDeclaredFeatures
from scheduler_engine.plugins.node_name import NodeName
from scheduler_engine.plugins.node_ports import NodePorts
from scheduler_engine.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from scheduler_engine.plugins.node_resources_fit import NodeResourcesFit
from scheduler_engine.plugins.node_unschedulable import NodeUnschedulable
from scheduler_engine.plugins.node_volume_limits import NodeVolumeLimits
from scheduler_engine.plugins.pod_topology_spread import PodTopologySpread
from scheduler_engine.plugins.priority_sort import PrioritySort
from scheduler_engine.plugins.scheduling_gates import SchedulingGates
from scheduler_engine.plugins.taint_toleration import TaintToleration
from scheduler_engine.plugins.volume_binding import VolumeBinding
from scheduler_engine.plugins.volume_restrictions import VolumeRestrictions
from scheduler_engine.plugins.volume_zone import VolumeZone
from scheduler_engine.versions import DEFAULT_RULES, Rules

REGISTRY: dict[str, type[Plugin]] = {
    plugin.name: plugin
    for plugin in (
        DynamicResources,
        ImageLocality,
        TaintToleration,
        NodeName,
        NodePorts,
        NodeAffinity,
        PodTopologySpread,
        NodeUnschedulable,
        NodeResourcesFit,
        NodeResourcesBalancedAllocation,
        VolumeBinding,
        VolumeRestrictions,
        VolumeZone,
        NodeVolumeLimits,
        InterPodAffinity,
        PrioritySort,
        DefaultBinder,
        DefaultPreemption,
        SchedulingGates,
    )
}
"""Those of the default version."""
OUT_OF_TREE: dict[str, type[Plugin]] = {Coscheduling.name: Coscheduling}
"""Plugins of kubernetes-sigs/scheduler-plugins. No default configuration names one."""


def registry_for(rules: Rules = DEFAULT_RULES, own: Sequence[type[Plugin]] = ()) -> dict[str, type[Plugin]]:
    """Return the plugins that exist under these rules, and somebody's ``own``."""
    plugins = REGISTRY | OUT_OF_TREE
    if rules.dynamic_resources_weight:
        plugins[ScoringDynamicResources.name] = ScoringDynamicResources
    if rules.knows_declared_features:
        plugins[NodeDeclaredFeatures.name] = NodeDeclaredFeatures
    return plugins | {plugin.name: plugin for plugin in own}
