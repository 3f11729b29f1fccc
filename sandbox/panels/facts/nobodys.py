"""Pods that wait for a scheduler which does not run here: no profile of the configuration has its name."""

from __future__ import annotations

from sandbox.panels.model.state import PodState
from sandbox.panels.model.world import World


def served(world: World) -> tuple[str, ...]:
    """Names of the profiles."""
    given = world.configured.configuration if world.configured else {}
    return tuple(profile.get("schedulerName") or "" for profile in given.get("profiles") or ())


def is_nobodys(world: World, pod: PodState) -> bool:
    """Nobody will ever give it a node."""
    return _nobodys(pod, served(world))


def nobodys(world: World) -> list[PodState]:
    """In order of creation."""
    profiles = served(world)
    return [pod for pod in world.pods.values() if _nobodys(pod, profiles)]


def _nobodys(pod: PodState, profiles: tuple[str, ...]) -> bool:
    """Before the scheduler is configured there are no ``profiles``, and nothing is said of anybody."""
    if pod.pod.node_name or not profiles or pod.pod.scheduler_name in profiles:
        return False
    return not (pod.pod.finished or pod.pod.terminating)
