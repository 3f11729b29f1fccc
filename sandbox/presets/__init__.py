"""What people start from: configurations, manifests, whole clusters, and forms that are filled in."""

from sandbox.presets.clusters import CLUSTERS
from sandbox.presets.configurations import DEFAULT, PRESETS
from sandbox.presets.fields import BUDGETS, CLAIMS, NODES, PODS, PRIORITY_CLASSES, WORKLOADS
from sandbox.presets.manifests import MANIFESTS
from sandbox.presets.preset import FilledIn, Preset

__all__ = [
    "BUDGETS",
    "CLAIMS",
    "CLUSTERS",
    "DEFAULT",
    "MANIFESTS",
    "NODES",
    "PODS",
    "PRESETS",
    "PRIORITY_CLASSES",
    "WORKLOADS",
    "FilledIn",
    "Preset",
]
