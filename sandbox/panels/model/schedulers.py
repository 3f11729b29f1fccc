"""What belongs to one scheduler alone: its queue, its cache and its cycles under way, as the trace tells them.

Replicas share the API server and nothing else, so a World holds one of these for each that schedules.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar, overload

from sandbox.panels.model.cache import CacheState
from sandbox.panels.model.requeuing import Left, Requeuing
from sandbox.panels.model.state import Cycle, Fault, Queued
from scheduler_engine.trace import events as ev

T = TypeVar("T")


@dataclass
class SchedulerState:
    """``replica`` is its name, "" for the one scheduler of a sandbox without replicas.

    ``cycle``: the one that moved last, ``started`` the number of the one that it began last; ``binding``: binding
    cycles under way, oldest first. ``stayed``: pod → the last QueueSkip since it came where it is.
    ``requeuing``: what just happened to the pods that waited. ``replaced``: uid → place in flight of a deleted pod
    whose name another one has; it stays when the attempt fails, as upstream.
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

    def abandon(self, why: str, at_us: int) -> None:
        """It is gone, and with it what it was about to do."""
        under_way = [*self.binding.values(), *([self.cycle] if self.cycle is not None else [])]
        for cycle in under_way:
            if not cycle.outcome:
                cycle.outcome, cycle.message, cycle.ended_us = "abandoned", why, at_us


class Focused(Protocol):
    """Whatever looks at one scheduler."""

    scheduler: SchedulerState


class InFocus(Generic[T]):
    """A field of the scheduler that a World shows."""

    def __set_name__(self, owner: type[Focused], name: str) -> None:
        self.name = name

    @overload
    def __get__(self, world: None, owner: type[Focused]) -> InFocus[T]: ...
    @overload
    def __get__(self, world: Focused, owner: type[Focused]) -> T: ...
    def __get__(self, world: Focused | None, owner: type[Focused]) -> InFocus[T] | T:
        if world is None:
            return self
        value: T = getattr(world.scheduler, self.name)
        return value
