"""What a list of pods says about each. Source: upstream ``pkg/printers/internalversion/printers.go``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

ENDED = ("Succeeded", "Failed")
Manifest = Mapping[str, Any]


def ready(pod: Manifest) -> str:
    """Return how many containers are ready, of how many.

    The kubelet of a sandbox reports conditions, not containers: then all are ready, or none.
    """
    spec, found = pod.get("spec") or {}, pod.get("status") or {}
    sidecars = _sidecars(spec)
    total = len(spec.get("containers") or ()) + len(sidecars)
    if "containerStatuses" not in found:
        return f"{total if _is_true(found, 'Ready') else 0}/{total}"
    started = [one for one in found.get("initContainerStatuses") or () if one["name"] in sidecars and one.get("ready")]
    initializing = _initializing(spec, found) and not _is_true(found, "Initialized")
    running = [one for one in _containers(found) if one.get("ready") and _state(one, "running") is not None]
    return f"{len(started) + (0 if initializing else len(running))}/{total}"


def status(pod: Manifest) -> str:
    """Return the word in the column Status."""
    spec, found = pod.get("spec") or {}, pod.get("status") or {}
    phase = str(found.get("phase") or "")
    reason = found.get("reason") or phase
    if any(
        item.get("type") == "PodScheduled" and item.get("reason") == "SchedulingGated"
        for item in found.get("conditions") or ()
    ):
        reason = "SchedulingGated"
    waits = _initializing(spec, found)
    if waits:
        reason = waits
    if not waits or _is_true(found, "Initialized"):
        reason = _of_containers(found, reason)
    if (pod.get("metadata") or {}).get("deletionTimestamp"):
        if found.get("reason") == "NodeLost":
            return "Unknown"
        if phase not in ENDED:
            return "Terminating"
    return str(reason)


def restarts(pod: Manifest) -> int:
    """Return how often containers were started again."""
    spec, found = pod.get("spec") or {}, pod.get("status") or {}
    first = found.get("initContainerStatuses") or ()
    sidecars = _sidecars(spec)
    if _initializing(spec, found) and not _is_true(found, "Initialized"):
        return sum(item.get("restartCount", 0) for item in first)
    again = [item for item in first if item["name"] in sidecars]
    return sum(item.get("restartCount", 0) for item in (*again, *_containers(found)))


def readiness_gates(pod: Manifest) -> str:
    gates = (pod.get("spec") or {}).get("readinessGates") or ()
    if not gates:
        return "<none>"
    return f"{sum(_is_true(pod.get('status') or {}, gate['conditionType']) for gate in gates)}/{len(gates)}"


def _sidecars(spec: Manifest) -> Sequence[str]:
    return [item["name"] for item in spec.get("initContainers") or () if item.get("restartPolicy") == "Always"]


def _containers(status: Manifest) -> Sequence[Manifest]:
    return status.get("containerStatuses") or ()


def _state(container: Manifest, name: str) -> Manifest | None:
    return (container.get("state") or {}).get(name)


def _is_true(status: Manifest, condition: str) -> bool:
    return any(
        item.get("type") == condition and item.get("status") == "True" for item in status.get("conditions") or ()
    )


def _initializing(spec: Manifest, status: Manifest) -> str:
    """Return why init containers are not done, "" if they are."""
    sidecars = _sidecars(spec)
    for number, item in enumerate(status.get("initContainerStatuses") or ()):
        ended, waits = _state(item, "terminated"), _state(item, "waiting")
        if ended is not None and not ended.get("exitCode"):
            continue
        if item["name"] in sidecars and item.get("started"):
            continue
        if ended is not None:
            return f"Init:{_ended(ended)}"
        if waits is not None and waits.get("reason") not in (None, "", "PodInitializing"):
            return f"Init:{waits['reason']}"
        return f"Init:{number}/{len(spec.get('initContainers') or ())}"
    return ""


def _ended(state: Manifest) -> str:
    if state.get("reason"):
        return str(state["reason"])
    return f"Signal:{state['signal']}" if state.get("signal") else f"ExitCode:{state.get('exitCode', 0)}"


def _of_containers(status: Manifest, reason: str) -> str:
    runs = False
    for item in reversed(_containers(status)):
        waits, ended = _state(item, "waiting"), _state(item, "terminated")
        if waits is not None and waits.get("reason"):
            reason = waits["reason"]
        elif ended is not None:
            reason = _ended(ended)
        elif item.get("ready") and _state(item, "running") is not None:
            runs = True
    if reason == "Completed" and runs:
        return "Running" if _is_true(status, "Ready") else "NotReady"
    return reason
