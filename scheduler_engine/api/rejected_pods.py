"""Pods that a kubelet rejects: the start of the message in their status.

Source: upstream ``pkg/kubelet/kubelet.go`` (rejectPod).
"""

from __future__ import annotations

from scheduler_engine.api.objects import Pod

REJECTED = "Pod was rejected: "


def rejection(message: str) -> str:
    """Return the status message of a rejected pod; ``message`` says why."""
    return REJECTED + message


def is_rejected(pod: Pod) -> bool:
    """Return True if a kubelet rejected the pod."""
    return bool(pod.node_name) and str(pod.status.get("message") or "").startswith(REJECTED)
