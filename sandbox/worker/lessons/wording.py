"""Writes the reasons behind an answer as sentences, from the engine's data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from sandbox.words.amounts import short_name
from sandbox.words.phrases import listed
from sandbox.words.say import say
from scheduler_engine import wording
from scheduler_engine.framework.events import ACTION_NAMES
from scheduler_engine.lesson.ends import Why

FAILURE = "ScheduleAttemptFailure"
LANES = {
    "activeQ": "reveal.in-active",
    "backoffQ": "reveal.in-backoff",
    "errorBackoffQ": "reveal.in-error-backoff",
    "unschedulablePods": "reveal.in-unschedulable",
    "gated": "reveal.in-gated",
}
CAUSES = {
    "UnschedulablePodAdd": "reveal.came-new",
    "UnschedulablePodUpdate": "reveal.came-changed",
    "UnschedulablePodUpdatePodSchedulingGatesEliminated": "reveal.came-gate-opened",
    "BackoffComplete": "reveal.came-backoff-over",
    "UnschedulableTimeout": "reveal.came-too-long",
    "ForceActivate": "reveal.came-activated",
}
"""Cause of a move → key of its sentence, for causes that are not cluster events."""
OBJECTS = {
    "Node": "reveal.object-node",
    "AssignedPod": "reveal.object-pod-with-node",
    "UnschedulablePod": "reveal.object-pod-without-node",
    "Service": "reveal.object-service",
    "PersistentVolume": "reveal.object-volume",
    "PersistentVolumeClaim": "reveal.object-claim",
    "storage.k8s.io/StorageClass": "reveal.object-class",
    "storage.k8s.io/CSINode": "reveal.object-csi-node",
    "storage.k8s.io/CSIDriver": "reveal.object-csi-driver",
    "storage.k8s.io/CSIStorageCapacity": "reveal.object-csi-capacity",
    "storage.k8s.io/VolumeAttachment": "reveal.object-attachment",
    "resource.k8s.io/ResourceClaim": "reveal.object-resource-claim",
    "resource.k8s.io/ResourceSlice": "reveal.object-resource-slice",
    "resource.k8s.io/DeviceClass": "reveal.object-device-class",
    "podgroups.v1alpha1.scheduling.x-k8s.io": "reveal.object-pod-group",
}
"""Resource of a cluster event → key of its name."""
ACTIONS = {
    "Add": "reveal.did-add",
    "Delete": "reveal.did-delete",
    "Update": "reveal.did-update",
    "UpdateNodeAllocatable": "reveal.did-allocatable",
    "UpdateNodeLabel": "reveal.did-label",
    "UpdateNodeTaint": "reveal.did-taint",
    "UpdateNodeCondition": "reveal.did-condition",
    "UpdateNodeAnnotation": "reveal.did-annotation",
    "UpdatePodLabel": "reveal.did-label",
    "UpdatePodScaleDown": "reveal.did-scale-down",
    "UpdatePodToleration": "reveal.did-toleration",
    "UpdatePodSchedulingGatesEliminated": "reveal.did-gates",
    "UpdatePodGeneratedResourceClaim": "reveal.did-generated-claim",
    "All": "reveal.did-all",
}
"""Action at the end of a cluster event's label → key of the sentence for it."""


def event_text(event: str) -> str:
    """Return a sentence for a cluster event, from a label such as ``NodeAdd``. Raises ``KeyError`` if unknown."""
    action = max((name for name in ACTION_NAMES.values() if event.endswith(name)), key=len, default="")
    return say(ACTIONS[action], object=say(OBJECTS[event.removesuffix(action)]))


def cause_text(cause: str, plugin: str, plugins: tuple[str, ...], target: str) -> str:
    """Return why a pod came to a lane, from the cause of its last move. Raises ``KeyError`` for an unknown one."""
    if cause == FAILURE and target != "unschedulablePods":
        return say("reveal.came-noted", plugin=plugin) if plugin else say("reveal.came-noted-without")
    if cause == FAILURE:
        return say("reveal.came-failed", plugins=listed([*plugins])) if plugins else say("reveal.came-failed-without")
    if cause in CAUSES:
        return say(CAUSES[cause])
    if plugin:
        return say("reveal.came-by-event-hint", event=event_text(cause), plugin=plugin)
    return say("reveal.came-by-event", event=event_text(cause))


def _moved(values: Mapping[str, Any]) -> str:
    lane, cause, plugins = values["lane"], values["cause"], values["plugins"]
    why = cause_text(cause, values["plugin"], plugins, lane) if lane not in ("gated", "errorBackoffQ") else ""
    return say(LANES[lane], because=why, gate=values["gate"])


def _reasons(key: str, values: Mapping[str, Any]) -> str:
    return say(key, **{**values, "reasons": "; ".join(values["reasons"])})


def _refused(values: Mapping[str, Any]) -> str:
    """Add the explanation by facts, unless it only repeats the plugin's message."""
    text, facts = _reasons("reveal.refused", values), values["facts"]
    said = "" if facts is None else wording.sentence(facts)
    if not said or any(reason in said for reason in values["reasons"]):
        return text
    total = wording.excess(facts)
    return say("reveal.because-sum", text=text, because=said, sum=total) if total else f"{text} {said}"


def _no_node(values: Mapping[str, Any]) -> str:
    pod, message, node = short_name(values["pod"]), values["message"], values["nominated"]
    if node:
        return say("reveal.no-node-yet", pod=pod, message=message, node=node)
    return say("reveal.no-node", pod=pod, message=message).rstrip()


def _about(key: str, values: Mapping[str, Any]) -> str:
    """Return a sentence with the short name of a pod."""
    return say(key, **{**values, "pod": short_name(values["pod"])})


WORDED: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "abandoned": lambda values: say("reveal.abandoned", pod=short_name(values["pod"])),
    "bound": lambda values: say("reveal.bound", node=values["node"]),
    "drawn": lambda values: say("reveal.drawn", total=values["total"], count=values["count"]),
    "error": lambda values: say("reveal.error", pod=short_name(values["pod"]), message=values["message"].rstrip(".")),
    "first": lambda values: say("reveal.first", total=values["total"], count=values["count"]),
    "gone": lambda values: say("reveal.gone", pod=short_name(values["pod"])),
    "in-flight": lambda values: say("reveal.in-flight", pod=short_name(values["pod"])),
    "leaves-already": lambda values: say("reveal.leaves-already", node=values["node"]),
    "leaves": lambda values: (
        say("reveal.leaves-by", node=values["node"], rung=values["rung"])
        if values["rung"]
        else say("reveal.leaves", node=values["node"])
    ),
    "moved": _moved,
    "narrowed": lambda values: say("reveal.narrowed"),
    "no-attempt": lambda values: say("reveal.no-attempt", pod=short_name(values["pod"])),
    "no-node": _no_node,
    "nominated-first": lambda values: say("reveal.nominated-first", node=values["node"]),
    "nobody-asked": lambda values: say("reveal.nobody-asked"),
    "nobody-fits": lambda values: say("reveal.nobody-fits"),
    "nobody-helps": partial(_about, "reveal.nobody-helps"),
    "nobody-never": partial(_about, "reveal.nobody-never"),
    "nobody-waits": partial(_about, "reveal.nobody-waits"),
    "none-holds": lambda values: say("reveal.none-holds"),
    "not-in-snapshot": lambda values: say("reveal.not-in-snapshot"),
    "not-refused": lambda values: say(
        "reveal.not-refused", pod=short_name(values["pod"]), node=values["node"], why=reason_text(values["why"])
    ),
    "nowhere": lambda values: say("reveal.nowhere", pod=short_name(values["pod"])),
    "only": lambda values: say("reveal.only"),
    "passes": lambda values: say("reveal.passes"),
    "refused": _refused,
    "says": lambda values: _reasons("reveal.says", values),
    "search-ended": lambda values: say("reveal.search-ended"),
    "stays-beside": partial(_about, "reveal.stays-beside"),
    "stays-for-better": lambda values: (
        say("reveal.stays-for-better-by", node=values["node"], rung=values["rung"])
        if values["rung"]
        else say("reveal.stays-for-better", node=values["node"])
    ),
    "stays-important": partial(_about, "reveal.stays-important"),
    "stays-in-vain": partial(_about, "reveal.stays-in-vain"),
    "stays-narrowed": partial(_about, "reveal.stays-narrowed"),
    "stays-refused": partial(_reasons, "reveal.stays-refused"),
    "stays-untried": partial(_about, "reveal.stays-untried"),
    "total": lambda values: say("reveal.total", total=values["total"]),
}
"""Key of a reason → its sentence."""


def reason_text(why: Why) -> str:
    """Return a reason in one or two sentences. Raises ``KeyError`` for an unknown reason."""
    return WORDED[why.key]({**why.values, "facts": why.facts})
