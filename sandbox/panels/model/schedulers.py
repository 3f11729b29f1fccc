"""The state of one scheduler: its queue, its cache and its running cycles, folded from the trace.

Replicas share only the API server, so a World has one of these for each replica that schedules.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from sandbox.panels.model.cache import CacheState
from sandbox.panels.model.requeuing import Left, Requeuing
from sandbox.panels.model.state import Cycle, Fault, Queued
from scheduler_engine.trace import events as ev

T = TypeVar("T")


@dataclass
class SchedulerState:
    """``replica``: its name, "" for the one scheduler of a sandbox without replicas.

    ``cycle``: the one that moved last; ``started``: number of the one that began last; ``binding``: running binding
    cycles, the oldest first. ``hints``: uid of a pod → all answers about it. ``stayed``: pod → the last QueueSkip
    since its last move. ``requeuing``: what just happened to waiting pods. ``replaced``: uid → place in
    flight of a deleted pod whose name another pod now has; as upstream, it stays when the attempt fails. ``requeued``:
    the move that requeued a pod, until the entry on the end of the attempt that failed. ``groups``: key of a PodGroup →
    the last count of its pods.
    """

    replica: str = ""
    queue: dict[str, Queued] = field(default_factory=dict)
    replaced: dict[str, Queued] = field(default_factory=dict)
    hints: dict[str, list[ev.HintAnswered]] = field(default_factory=dict)
    stayed: dict[str, Left] = field(default_factory=dict)
    moves: dict[str, list[Queued]] = field(default_factory=dict)
    noted: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    requeuing: Requeuing = field(default_factory=Requeuing)
    nominations: dict[str, str] = field(default_factory=dict)
    cache: CacheState = field(default_factory=CacheState)
    next_start: int = 0
    cycle: Cycle | None = None
    started: int = 0
    binding: dict[int, Cycle] = field(default_factory=dict)
    faults: dict[int, Fault] = field(default_factory=dict)
    groups: dict[str, ev.PodGroupCounted] = field(default_factory=dict)
    requeued: ev.PodMoved | None = None

    def abandon(self, why: str, at_us: int) -> None:
        """End its running cycles with the outcome ``abandoned``; times in simulated microseconds."""
        under_way = [*self.binding.values(), *([self.cycle] if self.cycle is not None else [])]
        for cycle in under_way:
            if not cycle.outcome:
                cycle.outcome, cycle.message, cycle.ended_us = "abandoned", why, at_us


class InFocus(Generic[T]):
    """A field of the scheduler in focus, as an attribute of the World."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, world: Any, owner: type) -> T:
        value: T = getattr(world.scheduler, self.name)
        return value
