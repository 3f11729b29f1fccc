"""Presets to start from: configurations, manifests, whole clusters, and filled-in forms."""

from sandbox.web.presets.clusters import CLUSTERS
from sandbox.web.presets.configurations import DEFAULT, PRESETS
from sandbox.web.presets.fields import BUDGETS, CLAIMS, NODES, PODS, PRIORITY_CLASSES, WORKLOADS
from sandbox.web.presets.manifests import MANIFESTS
from sandbox.web.presets.preset import FilledIn, Preset

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
