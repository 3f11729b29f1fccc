"""Pods that a kubelet does not take: how the message of their status begins.

Source: upstream ``pkg/kubelet/kubelet.go`` (rejectPod).
"""

from __future__ import annotations

from scheduler_engine.api.objects import Pod

REJECTED = "Pod was rejected: "


def rejection(message: str) -> str:
    """The message of the status of a pod that is not taken; ``message`` says why."""
    return REJECTED + message


def is_rejected(pod: Pod) -> bool:
    """Whether a kubelet did not take the pod."""
    return bool(pod.node_name) and str(pod.status.get("message") or "").startswith(REJECTED)
