"""The kubelets of all nodes: they run pods, and evict them when their node runs short of something."""

from scheduler_engine.kubelet.kubelet import Kubelet

__all__ = ["Kubelet"]
