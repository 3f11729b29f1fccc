"""What a sandbox is told about machines and programs that do not exist: annotations ``sandbox/…`` on pods and nodes.

They stand for what a kubelet would measure. A template may carry them, so that every pod of an owner behaves alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scheduler_engine.api.quantity import NANO, parse_quantity

DURATION = "sandbox/duration"
"""Seconds that a pod with restartPolicy Never or OnFailure runs until it has succeeded."""

START_DELAY = "sandbox/start-delay"
"""Seconds from the binding of a pod until its containers run."""

READY = "sandbox/ready"
"""``false``: the pod runs, but never becomes ready."""

USAGE = {
    "cpu": "sandbox/usage-cpu",
    "memory": "sandbox/usage-memory",
    "ephemeral_storage": "sandbox/usage-ephemeral-storage",
    "writable_layer": "sandbox/usage-writable-layer",
    "inodes": "sandbox/usage-inodes",
    "pids": "sandbox/usage-pids",
}
"""What a pod uses; on a node: what its system daemons use. ``ephemeral_storage``: local volumes and logs."""

IMAGEFS = "sandbox/imagefs"
"""Bytes of a node's second filesystem, for images and writable layers; without it these lie on the first."""

MAX_PIDS = "sandbox/max-pids"
"""How many processes a node can have."""

KUBELET_CONFIGURATION = "sandbox/kubelet-configuration"
"""A node's KubeletConfiguration as JSON."""

HARD_EVICTION_GRACE = "sandbox/hard-eviction-grace"
"""Seconds that a node's kubelet gives a pod to end when a hard threshold is met, if not those of v1.34.1."""

AMOUNTS = (DURATION, START_DELAY, IMAGEFS, MAX_PIDS, HARD_EVICTION_GRACE, *USAGE.values())
SECONDS = (DURATION, START_DELAY, HARD_EVICTION_GRACE)
LONGEST_SECONDS = 366 * 86_400


def wrong_annotations(annotations: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """(annotation, what is wrong with it) of those that are no amounts."""
    for name in AMOUNTS:
        if name in annotations:
            problem = amount_problem(annotations[name])
            if not problem and name in SECONDS and seconds_us(annotations, name, 0) > LONGEST_SECONDS * 10**6:
                problem = f"must be at most {LONGEST_SECONDS} seconds"
            if problem:
                yield name, problem


def amount_problem(text: str) -> str:
    """Why ``text`` is no quantity of at least 0; "" when it is one."""
    try:
        quantity = parse_quantity(text)
    except ValueError as problem:
        return str(problem)
    return "must be greater than or equal to 0" if quantity.nano < 0 else ""


def amount_of(annotations: Mapping[str, str], name: str) -> int | None:
    """Whole units (millicores for cpu), None when nothing is said."""
    if name not in annotations:
        return None
    quantity = parse_quantity(annotations[name])
    return quantity.milli_value() if name == USAGE["cpu"] else quantity.value()


def seconds_us(annotations: Mapping[str, str], name: str, default_us: int) -> int:
    """A number of seconds as microseconds."""
    return parse_quantity(annotations[name]).nano * 10**6 // NANO if name in annotations else default_us
