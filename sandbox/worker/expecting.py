"""Expectations: those that people have collected, and those of the scenario, as the exported test judges them.

Each is judged at its own moment, by a simulation of that moment, so that everything can be asked that a scenario can
ask. What differs at the moment that is looked at is known beside.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sandbox.library.scenarios import story
from sandbox.panels.model import steps
from sandbox.panels.model.expected import AHEAD, BEHIND, HERE, UNDONE, Outcome
from sandbox.panels.model.moment import Moment
from sandbox.panels.model.world import World
from sandbox.storage.records import Expected
from sandbox.worker import earlier
from sandbox.worker.live import Live
from scheduler_engine.errors import Rejected
from scheduler_engine.scenario import wrong_with
from scheduler_engine.scenario.attempts import Seen
from scheduler_engine.scenario.facts import expectation_of
from scheduler_engine.scenario.yaml_text import Where, emit, plain
from scheduler_engine.shapes import Data

CHEAP = 600
"""Nodes and pods of a cluster whose past is looked into without being asked to."""


def fact(live: Live, at: Moment | None, name: str, about: dict[str, Any]) -> tuple[Data | None, int, int, int]:
    """A fact as an expectation, None where there is none; and where it stands: key of the record, its number, entries.

    Raises ``Rejected``, or ``StateGone``.
    """
    world = live.at(at)
    found = expectation_of(earlier.simulation_at(live, at), name, **about)
    here = world.moment_of(len(world.entries))
    n = here.command
    return found, live.records.keys(live.plan.sandbox_id, [n]).get(n, 0), n, here.entries


def in_log(live: Live, rows: Sequence[Expected]) -> dict[int, bool]:
    """Key of an expectation → whether its moment is part of the log, even if that was gone back behind."""
    if not rows:
        return {}  # The log is asked for over the line to the web process, at every step.
    kept = live.records.keys(live.plan.sandbox_id, sorted({row.n for row in rows}))
    return {row.key: kept.get(row.n, 0) == row.state for row in rows}


@dataclass(frozen=True)
class Look:
    """Expectations of a sandbox as ``world`` lets them stand, which is that of the moment ``at`` (None: the present).

    It is a ``Watch``: it looks into the simulation when it is asked, once.
    """

    live: Live
    world: World
    at: Moment | None
    rows: tuple[Expected, ...]

    def outcomes(self) -> list[Outcome]:
        return self._outcomes

    @cached_property
    def _outcomes(self) -> list[Outcome]:
        found = [*self._own, *self._judged]
        return [replace(outcome, text=written(data), differs=self._differs(data)) for data, outcome in found]

    def red(self) -> int:
        if self.live.size > CHEAP and any(not self._is_cheap(outcome) for _, outcome in self._scenarios):
            return 0
        return sum(outcome.red for _, outcome in self._judged)

    def exported(self) -> tuple[dict[int, list[Data]], int]:
        """After how many commands → what an export of this moment expects there; how many collected ones it leaves out:
        what is undone or comes later, and what does not hold any more where its command ends.
        """
        found: dict[int, list[Data]] = {}
        for data, outcome in (*self._scenarios, *self._own):
            if outcome.counts:
                found.setdefault(outcome.n, []).append(data)
        return found, sum(not outcome.counts for _, outcome in self._own)

    @cached_property
    def _seen(self) -> Seen | None:
        """None where no command can end, so that nothing can be asked."""
        try:
            return Seen(earlier.simulation_at(self.live, self.at))
        except Rejected:
            return None

    def _differs(self, expectation: Data) -> tuple[str, ...] | None:
        return None if self._seen is None else tuple(wrong_with(self._seen, expectation))

    @cached_property
    def _own(self) -> list[tuple[Data, Outcome]]:
        """What was collected was a fact, so that it holds wherever it still stands."""
        known, found = in_log(self.live, self.rows), list[tuple[Data, Outcome]]()
        for row in self.rows:
            moment = Moment(row.n, row.entries)
            place = self._place(moment) if known[row.key] else UNDONE
            data = json.loads(row.text)
            leads = str(moment) if place != UNDONE and row.n <= self.live.world.head else ""
            counts = place in (HERE, BEHIND) and self._holds_at_end(moment, data)
            found.append((data, Outcome(row.key, "", "", row.n, leads, place, (), row.who, counts)))
        return found

    def _holds_at_end(self, moment: Moment, data: Data) -> bool:
        """Whether it holds where its command ends in a file: at the moment that is looked at, if that lies in it."""
        present, here = self.live.world, len(self.world.entries)
        end = min(present.end_of(moment.command), here)
        # A tick of playing may go on without an entry, and the clock with it. Nothing was done before command 1.
        kind = present.commands[moment.command - 1].kind if moment.command else ""
        if present.entry_of(moment) == end and kind != "advance":
            return True
        at = self.at if end == here else Moment(moment.command, end - present.starts[moment.command])
        return not wrong_with(earlier.simulation_at(self.live, at), data)

    def _place(self, moment: Moment) -> str:
        if moment.command > self.live.world.head:
            return AHEAD
        here, there = len(self.world.entries), self.live.world.entry_of(moment)
        return HERE if here == there else AHEAD if there > here else BEHIND

    @cached_property
    def _scenarios(self) -> list[tuple[Data, Outcome]]:
        """Those of the scenario count once their step was made. They have not been judged."""
        found, present = [], self.live.world
        for path, data, n in self._told():
            moment = None if n is None else Moment(n, present.end_of(n) - present.starts[n])
            place = AHEAD if moment is None else self._place(moment)
            leads = str(moment) if moment else ""
            found.append((data, Outcome(0, path, "", n or 0, leads, place, (), "", place != AHEAD)))
        return found

    @cached_property
    def _judged(self) -> list[tuple[Data, Outcome]]:
        """In the order of their moments, as each replay of the past goes on from the one before."""
        order = sorted(range(len(self._scenarios)), key=lambda place: self._scenarios[place][1].n)
        wrong = {place: self._wrong(*self._scenarios[place]) for place in order}
        return [(data, replace(outcome, wrong=wrong[place])) for place, (data, outcome) in enumerate(self._scenarios)]

    def _wrong(self, data: Data, outcome: Outcome) -> tuple[str, ...]:
        if not outcome.counts:
            return ()
        key, judged = (outcome.n, outcome.path), self.live.judged
        if key not in judged:
            judged[key] = tuple(wrong_with(earlier.simulation_at(self.live, Moment.read(outcome.moment)), data))
        return judged[key]

    def _is_cheap(self, outcome: Outcome) -> bool:
        """Nothing has to be replayed to judge it."""
        here = self.at is None and outcome.place == HERE
        return not outcome.counts or here or (outcome.n, outcome.path) in self.live.judged

    def _told(self) -> Iterator[tuple[str, Data, int | None]]:
        """Path in the scenario, expectation, and number of the command after which it stands, if it was given."""
        scenario = story(self.live.plan.scenario, self.live.plan.story)
        if scenario is None:
            return
        opened = scenario.setup if self.world.head >= scenario.setup else None
        made = steps.step_commands(self.world)
        for number, data in enumerate(scenario.opened):
            yield f"opened[{number}]", data, opened
        for place, step in enumerate(scenario.then):
            after = made[place] if place < len(made) else None
            for number, data in enumerate(step.get("expect", ())):
                yield f"then[{place}].expect[{number}]", data, after
        over = steps.last_step(self.world)
        for number, data in enumerate(scenario.expect):
            yield f"expect[{number}]", data, over


def written(expectation: Data) -> str:
    """As in a file, without the last end of line."""
    return emit(plain(expectation, Where())).rstrip("\n")
