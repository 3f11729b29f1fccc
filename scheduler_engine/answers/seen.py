"""One node as a look saw it, for those who search what keeps a pod off it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from scheduler_engine.answers.changes import Edit
from scheduler_engine.answers.looking import Look
from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.node_info import NodeInfo, PodInfo
from scheduler_engine.framework.status import Status
from scheduler_engine.simulation import Simulation


@dataclass(frozen=True, slots=True)
class Seen:
    """``state`` and ``info`` include the pods nominated to the node, as Filter counts them.

    ``notes``: findings about the whole look, which all nodes share.
    """

    simulation: Simulation
    looked: Look
    state: CycleState
    info: NodeInfo
    node: Node
    notes: dict[object, Any]

    @property
    def pod(self) -> Pod:
        return self.looked.pod

    def failing(self) -> dict[str, Status]:
        """Return plugin → status of the filters that fail on the node, each run alone, in their order."""
        framework = self.looked.framework
        answers = (
            (plugin.name, framework.ask((plugin,), self.state, self.pod, self.info))
            for plugin in framework.active_filters(self.state)
        )
        return {name: status for name, status in answers if status is not None}

    def edit(self, action: str, path: tuple[str, ...], value: Any = None) -> Edit:
        """Return an edit of the pod itself."""
        return Edit("Pod", self.pod.key, action, path, value)

    def residents(self) -> list[PodInfo]:
        """Return the pods on the node that somebody could delete, the least important first."""
        return deletable(self.info.pods)

    def neighbours(self, key: str) -> list[PodInfo]:
        """Return the same for the node's domain of a topology key; none if the node lacks the label."""
        if key not in self.notes:
            domains: dict[str, list[PodInfo]] = {}
            for info in self.simulation.scheduler.snapshot.list():
                if info.node is not None and key in info.node.labels:
                    domains.setdefault(info.node.labels[key], []).extend(info.pods)
            self.notes[key] = {value: deletable(infos) for value, infos in domains.items()}
        found: list[PodInfo] = self.notes[key].get(self.node.labels.get(key), [])
        return found


def deletable(infos: Iterable[PodInfo]) -> list[PodInfo]:
    """Return the pods that somebody could delete, the least important first.

    A DaemonSet would start its pod again here, and a static pod cannot be deleted.
    """
    there = [info for info in infos if info.pod.node_name]
    free = [info for info in there if (info.pod.controller_ref or {}).get("kind") not in ("DaemonSet", "Node")]
    return sorted(free, key=lambda info: (info.pod.priority, info.pod.key))


def seen_on(simulation: Simulation, looked: Look, name: str, notes: dict[object, Any]) -> Seen | None:
    """Return the node as the look saw it, in its snapshot; None if a plugin fails on a nominated pod."""
    info = simulation.scheduler.snapshot.get(name)
    if info is None or info.node is None:
        return None
    state, nominated = looked.state, looked.framework.nominated_for(looked.pod, name)
    if nominated:
        state, info, problem = looked.framework.with_pods(state, looked.pod, info, nominated)
        if problem is not None:
            return None
    assert info.node is not None
    return Seen(simulation, looked, state, info, info.node, notes)
