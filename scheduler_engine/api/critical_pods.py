"""Static pods, their mirrors, and critical pods: those that a kubelet always accepts and keeps.

Source: upstream ``pkg/kubelet/types/pod_update.go`` (IsMirrorPod, IsStaticPod, IsCriticalPod, Preemptable).
"""

from __future__ import annotations

from scheduler_engine.api.objects import Pod
from scheduler_engine.api.priorities import CRITICAL_PRIORITY

MIRROR = "kubernetes.io/config.mirror"
"""Marks the API server's copy of a static pod; its value is the hash of the manifest on the node."""

SOURCE = "kubernetes.io/config.source"
"""A kubelet's source of a pod: ``api``, or for a static pod ``file`` or ``http``."""


def is_mirror(pod: Pod) -> bool:
    return MIRROR in pod.annotations


def is_static(pod: Pod) -> bool:
    return pod.annotations.get(SOURCE, "api") != "api"


def is_critical(pod: Pod) -> bool:
    """Return True if no kubelet evicts it."""
    return is_static(pod) or is_mirror(pod) or pod.priority >= CRITICAL_PRIORITY


def preemptable(preemptor: Pod, pod: Pod) -> bool:
    """Return True if a kubelet may end ``pod`` to accept ``preemptor``."""
    return (is_critical(preemptor) and not is_critical(pod)) or preemptor.priority > pod.priority
