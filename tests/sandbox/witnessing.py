"""Worlds of a simulation whose plugins can be asked: about attempts of long ago in one that is made anew."""

from __future__ import annotations

from dataclasses import dataclass, field

from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.facts import Fact, Facts, Room
from scheduler_engine.scheduler.explaining import (
    filter_facts,
    pre_filter_facts,
    room_on,
    score_facts,
    search_facts,
    standing_facts,
)
from scheduler_engine.scheduler.scheduler import Scheduler
from scheduler_engine.simulation import Simulation


@dataclass
class Asked:
    """``made``: number of a cycle → the simulation made anew for it."""

    simulation: Simulation
    made: dict[int, Simulation] = field(default_factory=dict)

    def at_hand(self, cycle: Cycle) -> bool:
        return True

    def pre_filter(self, cycle: Cycle, plugin: str) -> Facts | None:
        scheduler = self._scheduler(cycle)
        return None if scheduler is None else pre_filter_facts(scheduler, cycle.number, plugin)

    def filter(self, cycle: Cycle, node: str, plugin: str) -> Facts | None:
        scheduler = self._scheduler(cycle)
        return None if scheduler is None else filter_facts(scheduler, cycle.number, node, plugin)

    def score(self, cycle: Cycle, node: str, plugin: str) -> Facts | None:
        scheduler = self._scheduler(cycle)
        return None if scheduler is None else score_facts(scheduler, cycle.number, node, plugin)

    def room(self, cycle: Cycle, node: str, resource: str) -> Room | None:
        scheduler = self._scheduler(cycle)
        return None if scheduler is None else room_on(scheduler, cycle.number, node, resource)

    def search(self, cycle: Cycle) -> tuple[Fact, ...]:
        scheduler = self._scheduler(cycle)
        return () if scheduler is None else search_facts(scheduler, cycle.number)

    def standing(self, pod: Pod, plugin: str) -> tuple[Fact, ...]:
        return standing_facts(self.simulation.scheduler, pod, plugin)

    def is_replaced_later(self, pod: str) -> bool:
        return self.simulation.is_replaced_later(pod)

    def _scheduler(self, cycle: Cycle) -> Scheduler | None:
        found = self.simulation.replicas.scheduler_of(cycle.number)
        if found is not None or cycle.last_scheduling is None:
            return found
        if cycle.number not in self.made:
            self.made[cycle.number] = self.simulation.as_of(cycle.last_scheduling.entry)
        return self.made[cycle.number].replicas.scheduler_of(cycle.number)


def witnessed(simulation: Simulation) -> World:
    world = World.fold(simulation.recorder.entries)
    world.clock_us = simulation.now_us
    world.witness = Asked(simulation)
    return world
