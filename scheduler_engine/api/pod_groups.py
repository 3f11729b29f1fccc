"""Pod groups of Coscheduling: pods that join one by a label, and what the group asks for.

Source: kubernetes-sigs/scheduler-plugins ``apis/scheduling/v1alpha1/types.go`` and ``pkg/util/podgroup.go``. These are
not the pod groups of Kubernetes' own ``scheduling.k8s.io``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scheduler_engine.api.objects import KubeObject, Pod

POD_GROUP = "PodGroup"
LABEL = "scheduling.x-k8s.io/pod-group"


def group_of(pod: Pod) -> str:
    """Return the key of the pod's group, ``namespace/name``; "" without the label. The group may not exist."""
    name = pod.labels.get(LABEL)
    return f"{pod.namespace}/{name}" if name else ""


def members(group: str, pods: Iterable[KubeObject]) -> list[Pod]:
    """Return those of ``pods`` that are in the group and not finished."""
    return [pod for pod in pods if isinstance(pod, Pod) and not pod.finished and group_of(pod) == group]


def min_member(group: KubeObject) -> int:
    """Return how many pods must have a node before one of them is bound; 0 if the group does not say."""
    return int(group.spec.get("minMember") or 0)


def min_resources(group: KubeObject) -> Mapping[str, str | int] | None:
    """Return what the group needs in the whole cluster, as quantities; None if it does not say."""
    found: Mapping[str, str | int] | None = group.spec.get("minResources")
    return found


def timeout_seconds(group: KubeObject) -> int | None:
    """Return how long its pods wait for each other; None if the group does not say."""
    found: int | None = group.spec.get("scheduleTimeoutSeconds")
    return found
