"""Which cluster events may wake a pod that plugins rejected: the events that these plugins registered.

Source: seed 000 for the rules of the design document.
"""

from __future__ import annotations

from sandbox.panels.model.world import World
from sandbox.words.say import say

SHORT = {"PersistentVolumeClaim": "PVC", "PersistentVolume": "PV"}
FIRST = ("Add", "Delete")
"""Events that people can cause come before those that merely change something."""
MOVE_REQUESTS = ("Node/*", "Pod/Delete", "Service/*", "PV/*", "PVC/*", "StorageClass/*", "CSINode/*")
"""By the design document these wake every pod, whichever plugin rejected it."""
AFFINITY = "queues.pod-that-it-needs"
"""A pod that gets a node, or changes there, wakes pods with a required affinity term that it matches."""


def wakes(world: World, profile: str, plugins: tuple[str, ...], has_affinity: bool) -> list[str]:
    """Return the events of all these plugins, each once. ``has_affinity``: the pod requires pod affinity."""
    configured = world.configured
    if configured is None:
        return []
    if configured.queue_rules == "design-doc":
        return [*([say(AFFINITY)] if has_affinity else []), *MOVE_REQUESTS]
    registered = dict(dict(configured.registered).get(profile, ()))
    events = dict.fromkeys(_short(event) for plugin in plugins for event in registered.get(plugin, ()))
    return sorted(events, key=_rank)


def _rank(event: str) -> int:
    what = event.partition("/")[2]
    return FIRST.index(what) if what in FIRST else len(FIRST)


def _short(event: str) -> str:
    resource, _, what = event.partition("/")
    return f"{SHORT.get(resource, resource)}/{what}"
