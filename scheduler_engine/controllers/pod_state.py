"""A pod's state for controllers: is it active, ready, available, and which of several goes first.

Source: upstream ``pkg/controller/controller_utils.go`` (IsPodActive, ActivePodsWithRanks, ActivePods) and
``pkg/api/v1/pod/util.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cmp_to_key
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
        and old.status.get("initContainerStatuses") == new.status.get("initContainerStatuses")
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
    """Sort the pods of a ReplicaSet by which goes first: without a node, not running, not ready, cheap by its
    annotation, beside more of the ``related`` pods, ready for less long, restarted more often, younger.

    Ages compare by their order of magnitude, in powers of two of nanoseconds. If times differ within one magnitude, a
    cluster compares the random uid, this a hash of the name; nothing else counts then.
    """
    beside: dict[str, int] = {}
    for pod in related:
        if is_active(pod):
            beside[pod.node_name] = beside.get(pod.node_name, 0) + 1

    def compared(one: Pod, other: Pod) -> int:
        places = _place(one, beside), _place(other, beside)
        if places[0] != places[1]:
            return -1 if places[0] < places[1] else 1
        if is_ready(one) and ready_since_us(one) != ready_since_us(other):
            return _by_magnitude(one, other, ready_since_us, now_us)
        if restarts(one) != restarts(other):
            return restarts(other) - restarts(one)
        return 0 if _created_us(one) == _created_us(other) else _by_magnitude(one, other, _created_us, now_us)

    return sorted(sorted(pods, key=_by_hash), key=cmp_to_key(compared))


def removal_order(pods: Iterable[Pod]) -> list[Pod]:
    """Sort the pods of a Job by which goes first: without a node, not running, not ready, ready for less long,
    restarted more often, younger. Among equals a hash of the name decides.
    """
    return sorted(pods, key=lambda pod: (*_state(pod), *_youth(pod), _by_hash(pod)))


def _state(pod: Pod) -> tuple[int, ...]:
    return bool(pod.node_name), PHASE_ORDER.get(pod.phase, 2), is_ready(pod)


def _place(pod: Pod, beside: Mapping[str, int]) -> tuple[int, ...]:
    cost = deletion_cost(pod.annotations.get(DELETION_COST, "0")) or 0
    return *_state(pod), cost, -beside.get(pod.node_name, 0)


def _youth(pod: Pod) -> tuple[int, ...]:
    return -ready_since_us(pod) if is_ready(pod) else 0, -restarts(pod), -_created_us(pod)


def _by_hash(pod: Pod) -> int:
    return digest(pod.key)


def _by_magnitude(one: Pod, other: Pod, since_us: Callable[[Pod], int], now_us: int) -> int:
    """Return a number below 0 if the first pod's time is more recent by magnitude or, if not, its hash is less."""
    differ = _magnitude(now_us - since_us(one)) - _magnitude(now_us - since_us(other))
    return differ or (-1 if _by_hash(one) < _by_hash(other) else 1)


def _magnitude(age_us: int) -> int:
    """Return the whole power of two in an age in nanoseconds."""
    return (age_us * 1_000).bit_length() - 1 if age_us > 0 else -1


def _created_us(pod: Pod) -> int:
    return time_us(pod.metadata.get("creationTimestamp")) or 0
