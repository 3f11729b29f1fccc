"""Pods that no scheduler here takes: no profile of the configuration has the name of their scheduler."""

from __future__ import annotations

from sandbox.panels.model.state import PodState
from sandbox.panels.model.world import World


def profile_names(world: World) -> tuple[str, ...]:
    """Return the names of the profiles."""
    configuration = world.configured.configuration if world.configured else {}
    return tuple(profile.get("schedulerName") or "" for profile in configuration.get("profiles") or ())


def has_no_scheduler(world: World, pod: PodState) -> bool:
    """Return True if no scheduler here will ever give the pod a node."""
    return lacks_scheduler(pod, profile_names(world))


def pods_without_scheduler(world: World) -> list[PodState]:
    """Return these pods in order of creation."""
    profiles = profile_names(world)
    return [pod for pod in world.pods.values() if lacks_scheduler(pod, profiles)]


def lacks_scheduler(pod: PodState, profiles: tuple[str, ...]) -> bool:
    """Return True if no profile takes the pod; False before the scheduler is configured (no ``profiles``)."""
    if pod.pod.node_name or not profiles or pod.pod.scheduler_name in profiles:
        return False
    return not (pod.pod.finished or pod.pod.terminating)
