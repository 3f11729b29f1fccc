"""Simulated machines and programs in a sandbox: annotations ``sandbox/…`` on pods and nodes.

They replace a kubelet's measurements. A template may have them, so that all pods of an owner behave alike.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from scheduler_engine.api.quantity import NANO, parse_quantity
from scheduler_engine.shapes import did_you_mean
from scheduler_engine.words import say

DURATION = "sandbox/duration"
"""Seconds that a pod with restartPolicy Never or OnFailure runs before it succeeds."""

START_DELAY = "sandbox/start-delay"
"""Seconds from a pod's binding to the start of its containers."""

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
"""The usage of a pod; on a node: of its system daemons. ``ephemeral_storage``: local volumes and logs."""

IMAGEFS = "sandbox/imagefs"
"""Bytes of a node's second filesystem, for images and writable layers; without it the first has these."""

MAX_PIDS = "sandbox/max-pids"
"""The maximum number of processes on a node."""

KUBELET_CONFIGURATION = "sandbox/kubelet-configuration"
"""A node's KubeletConfiguration as JSON."""

HARD_EVICTION_GRACE = "sandbox/hard-eviction-grace"
"""Seconds of grace that a node's kubelet gives a pod at a hard threshold, if not those of v1.34.1."""

EARLIER = "sandbox/earlier-revision"
"""Marks templates that have become equal as different: an import writes it."""

PREFIX = "sandbox/"
AMOUNTS = (DURATION, START_DELAY, IMAGEFS, MAX_PIDS, HARD_EVICTION_GRACE, *USAGE.values())
SECONDS = (DURATION, START_DELAY, HARD_EVICTION_GRACE)
FLAGS = (READY, EARLIER)
LONGEST_SECONDS = 366 * 86_400

IN_PODS = (DURATION, START_DELAY, READY, EARLIER, *USAGE.values())
IN_NODES = (IMAGEFS, MAX_PIDS, KUBELET_CONFIGURATION, HARD_EVICTION_GRACE, *USAGE.values())
KNOWN: Mapping[str, tuple[str, ...]] = {"Pod": IN_PODS, "Node": IN_NODES}
"""Kind → the annotations that something here reads. Templates have those of pods. docs/manifests.md lists them all."""


def wrong_annotations(annotations: Mapping[str, str], kind: str) -> Iterator[tuple[str, str]]:
    """Yield (annotation, problem) for those of the sandbox that nothing reads on this kind, and for bad values.

    Other annotations may have any name and value.
    """
    known = KNOWN.get(kind, ())
    for name, value in annotations.items():
        if name.startswith(PREFIX) and (problem := _problem(name, value, known)):
            yield name, problem


def _problem(name: str, value: str, known: tuple[str, ...]) -> str:
    if name not in known:
        owners = [kind for kind, names in KNOWN.items() if name in names]
        if owners:
            return say("manifest-errors.annotation-elsewhere", kinds=say(f"manifest-errors.annotated-{owners[0]}"))
        return say("manifest-errors.unknown-annotation") + did_you_mean(name, known or (*IN_PODS, *IN_NODES))
    if name in FLAGS:
        return "" if value in ("true", "false") else say("manifest-errors.flag-annotation")
    if name == KUBELET_CONFIGURATION:
        return "" if _is_object(value) else say("manifest-errors.json-annotation")
    problem = amount_problem(value)
    if not problem and name in SECONDS and seconds_us({name: value}, name, 0) > LONGEST_SECONDS * 10**6:
        return say("manifest-errors.too-many-seconds", most=LONGEST_SECONDS)
    return problem


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def amount_problem(text: str) -> str:
    """Return why ``text`` is not a quantity of at least 0; "" if it is one."""
    try:
        quantity = parse_quantity(text)
    except ValueError as problem:
        return str(problem)
    return "must be greater than or equal to 0" if quantity.nano < 0 else ""


def amount_of(annotations: Mapping[str, str], name: str) -> int | None:
    """Return whole units (millicores for cpu), None if not set."""
    if name not in annotations:
        return None
    quantity = parse_quantity(annotations[name])
    return quantity.milli_value() if name == USAGE["cpu"] else quantity.value()


def seconds_us(annotations: Mapping[str, str], name: str, default_us: int) -> int:
    """Convert a number of seconds to microseconds."""
    return parse_quantity(annotations[name]).nano * 10**6 // NANO if name in annotations else default_us
