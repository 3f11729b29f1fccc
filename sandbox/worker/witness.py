"""Asks the plugins of a live sandbox for the facts behind what they said, in its simulation or in a replay."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sandbox.panels.model.moment import Moment
from sandbox.panels.model.state import Cycle, StageMark
from sandbox.panels.model.world import World
from sandbox.worker import earlier
from sandbox.worker.live import Live
from scheduler_engine.api.objects import Pod
from scheduler_engine.errors import Rejected
from scheduler_engine.framework.boards import AffinityBoard, SpreadBoard
from scheduler_engine.framework.facts import DryRunFacts, DryRunRoom, Fact, Facts, RungFacts, SearchFacts
from scheduler_engine.replicas import Replicas
from scheduler_engine.scheduler import explaining
from scheduler_engine.scheduler.scheduler import Scheduler
from scheduler_engine.simulation import Simulation

Answer = TypeVar("Answer")
MOST_BOARDS = 4
"""Answers about all nodes that are kept: two plugins, for two pods in view."""
CHEAP = 600
"""Nodes and pods up to which the past is replayed without anybody asking for it."""


class BaseWitness:
    """A ``Witness`` whose subclass knows the scheduler of an attempt and the simulation at the moment in view."""

    def scheduler(self, cycle: Cycle) -> Scheduler | None:
        """Return the scheduler of an attempt, before it began another one. None if it cannot be replayed."""
        raise NotImplementedError

    def binder(self, cycle: Cycle) -> Scheduler | None:
        """Return the scheduler that still has the attempt, after its last stage. None if it cannot be replayed."""
        raise NotImplementedError

    def simulation_at_hand(self) -> Simulation | None:
        """Return the simulation at the moment in view. None if it cannot be replayed, or only at a high cost."""
        raise NotImplementedError

    def at_hand(self, cycle: Cycle) -> bool:
        return True

    def pre_filter(self, cycle: Cycle, plugin: str) -> Facts | None:
        return self.facts(explaining.pre_filter_facts, cycle, plugin)

    def filter(self, cycle: Cycle, node: str, plugin: str) -> Facts | None:
        return self.facts(explaining.filter_facts, cycle, node, plugin)

    def score(self, cycle: Cycle, node: str, plugin: str) -> Facts | None:
        return self.facts(explaining.score_facts, cycle, node, plugin)

    def facts(self, ask: Any, cycle: Cycle, *about: str) -> Facts | None:
        scheduler = self.scheduler(cycle)
        return None if scheduler is None else ask(scheduler, cycle.number, *about)

    def room(self, cycle: Cycle, node: str, resource: str) -> DryRunRoom | None:
        scheduler = self.scheduler(cycle)
        return None if scheduler is None else explaining.room_on(scheduler, cycle.number, node, resource)

    def reserve(self, cycle: Cycle, plugin: str) -> Facts | None:
        scheduler = self.binder(cycle)
        return None if scheduler is None else explaining.reserve_facts(scheduler, cycle.number, plugin)

    def pre_bind(self, cycle: Cycle, plugin: str) -> Facts | None:
        scheduler = self.binder(cycle)
        return None if scheduler is None else explaining.pre_bind_facts(scheduler, cycle.number, plugin)

    def dry_run(self, cycle: Cycle, node: str) -> DryRunFacts | None:
        scheduler = self.scheduler(cycle)
        return None if scheduler is None else explaining.dry_run_facts(scheduler, cycle.number, node)

    def devices(self, cycle: Cycle, node: str) -> SearchFacts | None:
        scheduler = self.scheduler(cycle)
        return None if scheduler is None else explaining.search_for_devices(scheduler, cycle.number, node)

    def violated(self, cycle: Cycle, node: str) -> Mapping[str, tuple[str, ...]]:
        scheduler = self.scheduler(cycle)
        return {} if scheduler is None else explaining.violated_budgets(scheduler, cycle.number, node)

    def choice(self, cycle: Cycle) -> tuple[RungFacts, ...]:
        scheduler = self.scheduler(cycle)
        return () if scheduler is None else explaining.choice_facts(scheduler, cycle.number)

    def search(self, cycle: Cycle) -> tuple[Fact, ...]:
        scheduler = self.scheduler(cycle)
        return () if scheduler is None else explaining.search_facts(scheduler, cycle.number)

    def standing(self, pod: Pod, plugin: str) -> tuple[Fact, ...]:
        simulation = self.simulation_at_hand()
        return () if simulation is None else explaining.standing_facts(simulation.scheduler, pod, plugin)

    def spread(self, pod: Pod, cycle: Cycle | None) -> tuple[SpreadBoard, ...] | None:
        return self._about_all(explaining.spread_boards, pod, "PodTopologySpread", cycle)

    def affinity(self, pod: Pod, cycle: Cycle | None) -> AffinityBoard | None:
        return self._about_all(explaining.affinity_board, pod, "InterPodAffinity", cycle)

    def _about_all(
        self, ask: Callable[..., Answer | None], pod: Pod, plugin: str, cycle: Cycle | None
    ) -> Answer | None:
        if cycle is not None:
            scheduler = self.scheduler(cycle)
            return None if scheduler is None else ask(scheduler, pod, plugin, cycle.number)
        simulation = self.simulation_at_hand()
        return None if simulation is None else ask(simulation.scheduler, pod, plugin)

    def is_replaced_later(self, pod: str) -> bool:
        simulation = self.simulation_at_hand()
        return simulation is not None and simulation.is_replaced_later(pod)


@dataclass
class LiveWitness(BaseWitness):
    """The ``Witness`` of ``world``, the world of the moment ``at`` (None: the present). It asks each question once."""

    live: Live
    world: World
    at: Moment | None
    known: dict[tuple[Any, ...], Facts | None] = field(default_factory=dict)

    def at_hand(self, cycle: Cycle) -> bool:
        newest = self.at is None and self.live.simulation.replicas.scheduler_of(cycle.number) is not None
        return newest or self.live.size <= CHEAP

    def simulation_at_hand(self) -> Simulation | None:
        if self.at is not None and self.live.size > CHEAP:
            return None
        try:
            return earlier.simulation_at(self.live, self.at)
        except Rejected:
            return None

    def facts(self, ask: Any, cycle: Cycle, *about: str) -> Facts | None:
        key = (ask, cycle.number, *about)
        if key not in self.known:
            self.known[key] = super().facts(ask, cycle, *about)
        return self.known[key]

    def _about_all(
        self, ask: Callable[..., Answer | None], pod: Pod, plugin: str, cycle: Cycle | None
    ) -> Answer | None:
        if cycle is not None or self.at is not None:
            return super()._about_all(ask, pod, plugin, cycle)
        simulation, boards = self.live.simulation, self.live.boards
        # The cache has assumed pods, which the API server does not know yet.
        key = (plugin, pod.uid, simulation.api.resource_version, simulation.scheduler.cache.generation)
        if key not in boards:
            if len(boards) >= MOST_BOARDS:
                boards.clear()
            boards[key] = super()._about_all(ask, pod, plugin, None)
        answer: Answer | None = boards[key]
        return answer

    def scheduler(self, cycle: Cycle) -> Scheduler | None:
        schedulers = (replicas.scheduler_of(cycle.number) for replicas in self._replicas(cycle.last_scheduling))
        return next((item for item in schedulers if item is not None), None)

    def binder(self, cycle: Cycle) -> Scheduler | None:
        schedulers = (replicas.binder_of(cycle.number) for replicas in self._replicas(cycle.last_finished))
        return next((item for item in schedulers if item is not None), None)

    def _replicas(self, mark: StageMark | None) -> Iterator[Replicas]:
        """Yield the schedulers at the moment in view, then at the end of a stage."""
        for moment in self._moments(mark):
            try:
                yield earlier.simulation_at(self.live, moment).replicas
            except Rejected:
                continue  # No command can end at this moment.

    def _moments(self, mark: StageMark | None) -> Iterator[Moment | None]:
        yield self.at
        present = self.live.world
        if mark is not None:
            yield present.moment_of(present.rest_at(mark.entry))
