"""A pod's state for controllers: is it active, ready, available, and which of several goes first.

Source: upstream ``pkg/controller/controller_utils.go`` (IsPodActive, ActivePodsWithRanks) and
``pkg/api/v1/pod/util.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256

from scheduler_engine.api.conditions import is_ready
from scheduler_engine.api.objects import Pod, time_us
from scheduler_engine.api.validation.annotations import DELETION_COST, deletion_cost
from scheduler_engine.apiserver.pod_index import restarts
from scheduler_engine.timeline import SECOND_US

PHASE_ORDER = {"": 0, "Pending": 0, "Unknown": 1, "Running": 2}


def digest(text: str) -> int:
    """Return a 64-bit number that is the same in every run."""
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big")


def is_active(pod: Pod) -> bool:
    """Return True if it is neither finished nor being deleted."""
    return not pod.finished and not pod.terminating


def same_for_owner(old: Pod, new: Pod) -> bool:
    """Return True if nothing that an owner checks has changed."""
    return (
        old.phase == new.phase
        and old.terminating == new.terminating
        and old.labels == new.labels
        and old.metadata.get("ownerReferences") == new.metadata.get("ownerReferences")
        and old.status.get("containerStatuses") == new.status.get("containerStatuses")
        and is_ready(old) == is_ready(new)
    )


def ready_since_us(pod: Pod) -> int:
    """Return when a ready pod became ready, in simulated microseconds."""
    since_us = time_us((pod.condition("Ready") or {}).get("lastTransitionTime"))
    return (pod.start_time_us or 0) if since_us is None else since_us


def available_at_us(pod: Pod, min_ready_seconds: int) -> int | None:
    """Return when the pod is (or was) ready for long enough; None if it is not ready."""
    return ready_since_us(pod) + min_ready_seconds * SECOND_US if is_ready(pod) else None


def is_available(pod: Pod, min_ready_seconds: int, now_us: int) -> bool:
    """Return True if it is ready for long enough, or at all if no time is set."""
    if not min_ready_seconds:
        return is_ready(pod)
    at_us = available_at_us(pod, min_ready_seconds)
    return at_us is not None and at_us <= now_us


def deletion_order(pods: Iterable[Pod], related: Iterable[Pod], now_us: int) -> list[Pod]:
    """Sort pods by which goes first: without a node, not running, not ready, cheap by its annotation, beside more of
    the ``related`` pods, ready for less long, restarted more often, younger.

    Ages compare by their order of magnitude (powers of two). Among equals a cluster compares the random uid, this a
    hash of the name.
    """
    beside: dict[str, int] = {}
    for pod in related:
        if is_active(pod):
            beside[pod.node_name] = beside.get(pod.node_name, 0) + 1
    return sorted(pods, key=lambda pod: _rank(pod, beside, now_us))


def _rank(pod: Pod, beside: Mapping[str, int], now_us: int) -> tuple[int, ...]:
    ready = is_ready(pod)
    created = time_us(pod.metadata.get("creationTimestamp")) or 0
    return (
        bool(pod.node_name),
        PHASE_ORDER.get(pod.phase, 2),
        ready,
        deletion_cost(pod.annotations.get(DELETION_COST, "0")) or 0,
        -beside.get(pod.node_name, 0),
        _magnitude(now_us - ready_since_us(pod)) if ready else 0,
        -restarts(pod),
        _magnitude(now_us - created),
        digest(pod.key),
    )


def _magnitude(age_us: int) -> int:
    return age_us.bit_length() if age_us > 0 else -1
