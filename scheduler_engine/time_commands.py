"""Commands that let the sandbox continue: a stage, a pod, all of an instant, or time.

Source: design of the sandbox.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scheduler_engine import commands
from scheduler_engine.cluster import Cluster
from scheduler_engine.errors import NothingToDo
from scheduler_engine.timeline import SECOND_US
from scheduler_engine.trace.events import RunEnded
from scheduler_engine.words import say

MOST_ROUNDS = 500
"""Instants in a row, beyond those that are expected, after which a run ends: nothing is scheduled, and loops among
controllers and kubelets may repeat forever. A second or two of computing.
"""
STEPS_PER_TIMER = 4
"""The most instants that one timer leads to without a loop: a pod starts, is ready, is done, is gone."""

MOST_VAIN_ATTEMPTS = 10
"""Attempts of each waiting pod that change nothing, after which a run ends, if nothing else is due.

After an error a pod is retried forever, every 10 s by default. The real scheduler does so, too, for example while there
is no node.
"""


def stage(cluster: Cluster, command: commands.Stage) -> None:
    _first_stage(cluster)


def _first_stage(cluster: Cluster) -> None:
    if not cluster.step():
        raise NothingToDo(say("refusals.nothing-to-step" if cluster.replicas.works() else "refusals.nobody-leads"))


def pod_cycle(cluster: Cluster, command: commands.PodCycle) -> None:
    _first_stage(cluster)
    while cluster.step(only_busy=True):
        pass


def settle(cluster: Cluster, command: commands.Settle) -> None:
    cluster.settle(commands.MAX_CYCLES)


def advance(cluster: Cluster, command: commands.Advance) -> None:
    cluster.settle()
    cluster.fire_timers(cluster.now_us + commands.time_us(command))


def run(cluster: Cluster, command: commands.Run) -> None:
    """Run until idle, or until only time could change something.

    Do not wait for work due in over a day, or for endless loops without the scheduler.
    """
    limit = cluster.scheduler.cycle_count + command.cycles
    until_us = cluster.now_us + cluster.patience_us()
    tomorrow_us = cluster.now_us + commands.MAX_ADVANCE_SECONDS * SECOND_US
    scheduled, rounds, counted_us = -1, 0, cluster.now_us
    vain = _VainAttempts(cluster.api.resource_version, cluster.scheduler.cycle_count)
    while cluster.settle(limit - cluster.scheduler.cycle_count):
        if cluster.scheduler.cycle_count > scheduled:
            scheduled = cluster.scheduler.cycle_count
            rounds = MOST_ROUNDS + STEPS_PER_TIMER * len(cluster.timeline.timers)
        works = cluster.timeline.has_work(tomorrow_us)
        if not works and not cluster.replicas.waits_for_time():
            return
        if vain.are_too_many(cluster, works):
            return
        due = cluster.timeline.next_us()
        assert due is not None
        if due > until_us:
            return
        if due > counted_us and not cluster.timeline.timers[0].housekeeping:
            counted_us = due
            rounds -= 1
            if rounds < 0:
                return
        cluster.fire_next()
        if cluster.scheduler.cycle_count >= limit:
            return


@dataclass(slots=True)
class _VainAttempts:
    """Counts the attempts since the API server last changed. ``version`` and ``cycles``: what they were then."""

    version: int
    cycles: int

    def are_too_many(self, cluster: Cluster, works: bool) -> bool:
        """Return True, and say so in the trace, if only pods that failed by an error wait, all of them in vain.

        ``works``: something else is due.
        """
        pods = cluster.replicas.pods_after_errors()
        if works or not pods or cluster.api.resource_version != self.version:
            self.version, self.cycles = cluster.api.resource_version, cluster.scheduler.cycle_count
            return False
        if cluster.scheduler.cycle_count - self.cycles < MOST_VAIN_ATTEMPTS * pods:
            return False
        cluster.recorder.add(RunEnded(pods))
        return True


HANDLERS: dict[str, Callable[[Cluster, Any], None]] = {
    "stage": stage,
    "pod": pod_cycle,
    "settle": settle,
    "advance": advance,
    "run": run,
}
