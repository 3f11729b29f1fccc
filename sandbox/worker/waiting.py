"""Let simulated time pass until something holds: the commands for it, each chosen in the state after the last one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sandbox.storage.commands import to_text
from sandbox.worker.live import Live
from scheduler_engine.scenario import wrong_with
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.shapes import Data
from scheduler_engine.timeline import SECOND_US


@dataclass
class Wait:
    """``expectations`` must all hold, at the latest ``seconds`` of simulated time from now.

    They are judged now, and then whenever nothing more can happen at an instant. ``wrong``: for each, what differs.
    """

    live: Live
    expectations: Sequence[Data]
    seconds: float
    wrong: list[list[str]] = field(default_factory=list)
    run: RunView = field(init=False)
    entries: int = -1
    """Entries of the trace that ``run`` has read."""

    def commands(self) -> Iterator[str]:
        """Yield the texts of the commands. Each must be executed before the next one is asked for."""
        end_us = self.live.simulation.now_us + round(self.seconds * SECOND_US)
        if self._holds():
            return
        yield to_text({"kind": "settle"})
        while not self._holds() and (now_us := self.live.simulation.now_us) < end_us:
            due_us = self.live.simulation.timeline.next_us()
            until_us = end_us if due_us is None else min(due_us, end_us)
            # Ticks of playing merge, so the log gets few commands.
            yield to_text({"kind": "advance", "seconds": (until_us - now_us) / SECOND_US, "play": True})

    def _holds(self) -> bool:
        simulation = self.live.simulation
        if self.entries != len(simulation.recorder.entries):
            self.run, self.entries = RunView(simulation), len(simulation.recorder.entries)
        self.wrong = [wrong_with(self.run, expectation) for expectation in self.expectations]
        return not any(self.wrong)
