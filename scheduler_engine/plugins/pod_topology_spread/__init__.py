"""The PodTopologySpread plugin."""

from scheduler_engine.plugins.pod_topology_spread.plugin import PodTopologySpread

__all__ = ["PodTopologySpread"]
