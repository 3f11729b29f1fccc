"""Worlds whose plugins can be asked: about past attempts, on a replayed simulation."""

from __future__ import annotations

from dataclasses import dataclass, field

from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.worker.witness import BaseWitness
from scheduler_engine.scheduler.scheduler import Scheduler
from scheduler_engine.simulation import Simulation


@dataclass
class TestedWitness(BaseWitness):
    """``replayed``: number of a cycle → the simulation replayed for it."""

    simulation: Simulation
    replayed: dict[int, Simulation] = field(default_factory=dict)

    def simulation_at_hand(self) -> Simulation:
        return self.simulation

    def binder(self, cycle: Cycle) -> Scheduler | None:
        running, mark = self.simulation.replicas.binder_of(cycle.number), cycle.last_finished
        if running is not None or mark is None:
            return running
        return self.simulation.as_of(mark.entry).replicas.binder_of(cycle.number)

    def scheduler(self, cycle: Cycle) -> Scheduler | None:
        running = self.simulation.replicas.scheduler_of(cycle.number)
        if running is not None or cycle.last_scheduling is None:
            return running
        if cycle.number not in self.replayed:
            self.replayed[cycle.number] = self.simulation.as_of(cycle.last_scheduling.entry)
        return self.replayed[cycle.number].replicas.scheduler_of(cycle.number)


def witnessed(simulation: Simulation) -> World:
    world = World.fold(simulation.recorder.entries)
    world.clock_us = simulation.now_us
    world.witness = TestedWitness(simulation)
    return world
