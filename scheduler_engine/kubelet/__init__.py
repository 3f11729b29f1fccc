"""The kubelets of all nodes: they run pods, and evict them if their node runs short of a resource."""

from scheduler_engine.kubelet.kubelet import Kubelet

__all__ = ["Kubelet"]
