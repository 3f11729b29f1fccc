"""The InterPodAffinity plugin."""

from scheduler_engine.plugins.inter_pod_affinity.plugin import InterPodAffinity

__all__ = ["InterPodAffinity"]
