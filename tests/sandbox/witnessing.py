"""Worlds of a simulation whose plugins can be asked: about attempts of long ago in one that is made anew."""

from __future__ import annotations

from dataclasses import dataclass, field

from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.worker.witness import Asks
from scheduler_engine.scheduler.scheduler import Scheduler
from scheduler_engine.simulation import Simulation


@dataclass
class Asked(Asks):
    """``made``: number of a cycle → the simulation made anew for it."""

    simulation: Simulation
    made: dict[int, Simulation] = field(default_factory=dict)

    def simulation_at_hand(self) -> Simulation:
        return self.simulation

    def scheduler(self, cycle: Cycle) -> Scheduler | None:
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
