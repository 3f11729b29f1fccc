"""How far a learner has come with the steps of a part, whichever way they took.

A step is done when its command was given. Steps that only let the sandbox continue (``stage``, ``pod``, ``settle``,
``advance``, ``run``) are also done when others of these have led as far: a pod stage by stage, a minute second by
second. To decide "as far", the step is played on a copy, and all events of the copy must have happened.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from scheduler_engine import commands
from scheduler_engine.lesson.model import Steps
from scheduler_engine.scenario.steps import command_of
from scheduler_engine.shapes import Data
from scheduler_engine.simulation import Simulation
from scheduler_engine.timeline import SECOND_US
from scheduler_engine.trace import events as ev

Ahead = Callable[[int, Steps], Simulation | None]
"""Return the simulation at a number of trace entries, where a command ended, plus these steps; None: one of them is
refused. It is only read.
"""


def command_in(step: Data) -> commands.Command:
    """Return the command of a step, in its normal form."""
    return commands.from_json(command_of(step))


@dataclass
class Walk:
    """``taken``: number of finished steps. ``other``: number of unrelated commands. ``begun``: the first step is done
    or running. ``place``: the number of entries when the last step was done, or at the start. ``read``: the number of
    entries that have been looked at, up to the end of a command.

    From entry ``base`` on, where a command ended, ``base_step`` and the following steps were done by other commands.
    """

    steps: Steps
    recorder: ev.Recorder
    base: int
    ahead: Ahead
    pressed: bool = False
    """Its button was pressed: the only sign of steps that are all refused."""
    taken: int = field(default=0, init=False)
    other: int = field(default=0, init=False)
    begun: bool = field(default=False, init=False)
    place: int = field(default=0, init=False)
    base_step: int = field(default=0, init=False)
    due_us: int | None = field(default=None, init=False)
    read: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.place = self.read = self.base
        self._go_on()

    def continued(self, recorder: ev.Recorder, ahead: Ahead) -> Walk:
        """Return this walk after the commands that the trace has got since."""
        walk = copy.copy(self)
        walk.recorder, walk.ahead = recorder, ahead
        walk._go_on()
        return walk

    def _go_on(self) -> None:
        for command, last, now_us in self._commands():
            self._skip_refused()
            if self.taken < len(self.steps):
                self._take(command, last, now_us)
            self.read = last

    @property
    def over(self) -> bool:
        """Return True if all steps are done. Refused steps at the end are done with the step before them."""
        begun = self.taken > 0 or self.pressed or not self.steps
        return begun and all("refused" in step for step in self.steps[self.taken :])

    def simulation(self) -> Simulation | None:
        """Return its state when the last step was done."""
        return self.ahead(self.base, self.steps[self.base_step : self.taken])

    def left(self) -> list[Data]:
        """Return the remaining steps; of a time that has passed in part, the rest."""
        steps = [] if self.over else [*self.steps[self.taken :]]
        if self.due_us is not None and steps and steps[0]["kind"] == "advance":
            rest_us = self.due_us - self.recorder.now_us
            steps[0] = {**steps[0], "seconds": rest_us / SECOND_US}
        return steps

    def _commands(self) -> Iterator[tuple[ev.CommandGiven, int, int]]:
        """Yield each command that is not read yet, the number of entries at its end, and the time then."""
        entries = self.recorder.entries
        starts = [
            place for place in range(self.read, len(entries)) if isinstance(entries[place].event, ev.CommandGiven)
        ]
        for start, end in pairwise([*starts, len(entries)]):
            command = entries[start].event
            assert isinstance(command, ev.CommandGiven)
            yield command, end, entries[end].at_us if end < len(entries) else self.recorder.now_us

    def _skip_refused(self) -> None:
        """Skip steps that must be refused: no trace shows them, so they are done with the one before."""
        while self.taken < len(self.steps) and "refused" in self.steps[self.taken]:
            self._finish_step(self.place)

    def _take(self, command: ev.CommandGiven, last: int, now_us: int) -> None:
        step = self.steps[self.taken]
        wanted = command_in(step)
        if command.command == wanted.recorded():
            self._finish_step(last)
            self._stand(last)
        elif command.command.steps and wanted.steps:
            self._follow(last, now_us)
        else:
            self.other += 1
            self._stand(last)

    def _finish_step(self, place: int) -> None:
        self.taken, self.place, self.begun = self.taken + 1, place, True

    def _stand(self, last: int) -> None:
        """Compare later events with what would follow from here."""
        self.base, self.base_step, self.due_us = last, self.taken, None

    def _follow(self, last: int, now_us: int) -> None:
        """Take every step that the events up to ``last`` account for."""
        self.begun = True
        while self.taken < len(self.steps) and command_in(self.steps[self.taken]).steps:
            played = self.ahead(self.base, self.steps[self.base_step : self.taken + 1])
            if played is None:
                return
            own = self.recorder.entries[self.base : last]
            covered = _covered(played.recorder.entries[self.base :], own)
            self.due_us = played.now_us
            if covered is None or now_us < played.now_us:
                return
            self._finish_step(max(self.place, self.base + covered))
            self.due_us = None


def _covered(wanted: Sequence[ev.Entry], own: Sequence[ev.Entry]) -> int | None:
    """Return how many of ``own`` entries contain all events of ``wanted``; None: they do not contain all."""
    left = [entry for entry in wanted if not isinstance(entry.event, ev.CommandGiven)]
    place = 0
    for entry in left:
        while place < len(own) and isinstance(own[place].event, ev.CommandGiven):
            place += 1
        if place == len(own) or own[place].at_us != entry.at_us or own[place].event != entry.event:
            return None
        place += 1
    return place
