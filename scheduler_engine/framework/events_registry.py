"""Which plugins register for which cluster events, and which hints decide if an event may help a rejected pod.

Source: upstream ``scheduler.go`` (buildQueueingHintMap) and ``framework/runtime/framework.go`` (fillEnqueueExtensions).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.framework.events import NODE, ActionType, ClusterEvent, spelled_out
from scheduler_engine.framework.interface import EventRegistration, Hint, HintFunction, Plugin

REJECTING_METHODS = ("pre_enqueue", "pre_filter", "filter", "reserve", "permit")
"""Only plugins with one of these can reject a pod, so only they may register for events."""

UNROLLED_RESOURCES = (
    "Pod",
    "Node",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "storage.k8s.io/CSINode",
    "storage.k8s.io/CSIDriver",
    "storage.k8s.io/CSIStorageCapacity",
    "storage.k8s.io/StorageClass",
    "resource.k8s.io/ResourceClaim",
    "resource.k8s.io/DeviceClass",
)
"""The default for a plugin without registrations: everything about these."""

NODE_TAINT_UPDATED = ClusterEvent(NODE, ActionType.UPDATE_NODE_TAINT)


@dataclass(frozen=True, slots=True)
class QueueingHint:
    """The hint function of one plugin for one event."""

    plugin: str
    function: HintFunction


QueueingHintMap = dict[ClusterEvent, list[QueueingHint]]
"""Registered event → hints to ask, in the order of the plugins."""


def always_queue(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
    """Always queue: the hint of a plugin that registers without one."""
    return Hint.QUEUE, "hints.always"


def queueing_hint_map(plugins: Iterable[Plugin], others: Iterable[str] = ()) -> QueueingHintMap:
    """Return the events of one profile's plugins. ``others``: names that stand for everything else that can reject a
    pod; any event may help those pods.

    A plugin that registers for new nodes but not for taints gets UpdateNodeTaint too, always to queue: a node may be
    ready for pods only once its taints are gone.
    """
    hints: QueueingHintMap = {}
    for name in others:
        for resource in UNROLLED_RESOURCES:
            hints.setdefault(ClusterEvent(resource, ActionType.ALL), []).append(QueueingHint(name, always_queue))
    for plugin in plugins:
        if not any(hasattr(plugin, method) for method in REJECTING_METHODS):
            continue
        registrations = registrations_of(plugin)
        for registration in registrations:
            function = registration.hint or always_queue
            hints.setdefault(registration.event, []).append(QueueingHint(plugin.name, function))
        if _registers(registrations, ActionType.ADD) and not _registers(registrations, ActionType.UPDATE_NODE_TAINT):
            hints.setdefault(NODE_TAINT_UPDATED, []).append(QueueingHint(plugin.name, always_queue))
    return hints


def registered_events(hints: QueueingHintMap) -> dict[str, dict[str, None]]:
    """Map each plugin to its events (``Node/Add``), in order of registration."""
    by_plugin: dict[str, dict[str, None]] = {}
    for event, asked in hints.items():
        for hint in asked:
            by_plugin.setdefault(hint.plugin, {}).update(dict.fromkeys(spelled_out(event)))
    return by_plugin


def registrations_of(plugin: Plugin) -> tuple[EventRegistration, ...]:
    """Return what ``plugin`` registers for; everything if it does not say."""
    register = getattr(plugin, "events_to_register", None)
    if register is None:
        return tuple(EventRegistration(ClusterEvent(resource, ActionType.ALL)) for resource in UNROLLED_RESOURCES)
    registrations: tuple[EventRegistration, ...] = register()
    return registrations


def _registers(registrations: Iterable[EventRegistration], action: ActionType) -> bool:
    """Return True if a node registration includes ``action``."""
    return any(item.event.resource == NODE and item.event.action & action for item in registrations)
