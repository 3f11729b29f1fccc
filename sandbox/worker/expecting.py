"""The expectations that people collected and those of the scenario, judged as an exported test judges them.

Each is judged at its own moment by a simulation of that moment, so everything that a scenario can check works here.
The difference to the moment in view is reported with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sandbox.content.scenarios import story
from sandbox.panels.model import steps
from sandbox.panels.model.expected import AHEAD, BEHIND, HERE, UNDONE, Outcome
from sandbox.panels.model.moment import Moment
from sandbox.panels.model.world import World
from sandbox.storage.records import Expected
from sandbox.worker import earlier
from sandbox.worker.live import Live
from scheduler_engine.errors import Rejected
from scheduler_engine.scenario import wrong_with
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.scenario.facts import expectation_of
from scheduler_engine.scenario.yaml_text import Where, emit, plain
from scheduler_engine.shapes import Data

CHEAP = 600
"""Nodes and pods up to which the past is replayed without anybody asking for it."""


def fact(live: Live, at: Moment | None, name: str, about: dict[str, Any]) -> tuple[Data | None, int, int, int]:
    """Return a fact of a moment as an expectation, or None if there is no such fact, and the moment.

    The moment is the key of a record, its number, and the entries of its trace up to there. Raises ``Rejected`` or
    ``StateGone``.
    """
    world = live.at(at)
    expectation = expectation_of(earlier.simulation_at(live, at), name, **about)
    here = world.moment_of(len(world.entries))
    n = here.command
    return expectation, live.records.keys(live.plan.sandbox_id, [n]).get(n, 0), n, here.entries


def in_log(live: Live, rows: Sequence[Expected]) -> dict[int, bool]:
    """Return key of an expectation → True if its moment is part of the log, even ahead of the head."""
    if not rows:
        return {}  # Avoids a question to the web process at every step.
    keys = live.records.keys(live.plan.sandbox_id, sorted({row.n for row in rows}))
    return {row.key: keys.get(row.n, 0) == row.state for row in rows}


@dataclass(frozen=True)
class JudgedExpectations:
    """A ``Watch``: the expectations of a sandbox with their outcomes in ``world``, the world of ``at`` (None: now).

    It asks the simulation on first use, and keeps the answers.
    """

    live: Live
    world: World
    at: Moment | None
    rows: tuple[Expected, ...]

    def outcomes(self) -> list[Outcome]:
        return self._outcomes

    @cached_property
    def _outcomes(self) -> list[Outcome]:
        return [replace(outcome, text=written(data)) for data, outcome in self.in_full()]

    def in_full(self) -> list[tuple[Data, Outcome]]:
        """Return each expectation as data, with its outcome."""
        judged = [*self._own, *self._judged]
        return [(data, replace(outcome, differs=self._differs(data))) for data, outcome in judged]

    def red(self) -> int:
        if self.live.size > CHEAP and any(not self._is_cheap(outcome) for _, outcome in self._scenarios):
            return 0
        return sum(outcome.red for _, outcome in self._judged)

    def exported(self) -> tuple[dict[int, list[Data]], int]:
        """Return the expectations for an export of this moment, and how many collected ones it leaves out.

        The keys are the numbers of the commands they follow. Left out are those that are undone or later, and those
        that do not hold at the end of their command.
        """
        expectations: dict[int, list[Data]] = {}
        for data, outcome in (*self._scenarios, *self._own):
            if outcome.counts:
                expectations.setdefault(outcome.n, []).append(data)
        return expectations, sum(not outcome.counts for _, outcome in self._own)

    @cached_property
    def _run(self) -> RunView | None:
        """The run at the moment in view; None if no command can end there, so that nothing can be checked."""
        try:
            return RunView(earlier.simulation_at(self.live, self.at))
        except Rejected:
            return None

    def _differs(self, expectation: Data) -> tuple[str, ...] | None:
        return None if self._run is None else tuple(wrong_with(self._run, expectation))

    @cached_property
    def _own(self) -> list[tuple[Data, Outcome]]:
        """The collected expectations. Each was a fact at its moment, so it holds while that is part of the log."""
        is_in_log, outcomes = in_log(self.live, self.rows), list[tuple[Data, Outcome]]()
        for row in self.rows:
            moment = Moment(row.n, row.entries)
            place = self._place(moment) if is_in_log[row.key] else UNDONE
            data = json.loads(row.text)
            leads = str(moment) if place != UNDONE and row.n <= self.live.world.head else ""
            counts = place in (HERE, BEHIND) and self._holds_at_end(moment, data)
            outcomes.append((data, Outcome(row.key, "", "", row.n, leads, place, (), row.who, counts)))
        return outcomes

    def _holds_at_end(self, moment: Moment, data: Data) -> bool:
        """Return True if an expectation holds at the end of its command, or in view if that is within the command."""
        present, here = self.live.world, len(self.world.entries)
        end = min(present.end_of(moment.command), here)
        # A tick of playing may move the clock on without an entry. Before command 1 there is none.
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
        """The scenario's expectations, not judged yet. One counts once its step was taken."""
        outcomes, present = [], self.live.world
        for path, data, n in self._scenario_rows():
            moment = None if n is None else Moment(n, present.end_of(n) - present.starts[n])
            place = AHEAD if moment is None else self._place(moment)
            leads = str(moment) if moment else ""
            outcomes.append((data, Outcome(0, path, "", n or 0, leads, place, (), "", place != AHEAD)))
        return outcomes

    @cached_property
    def _judged(self) -> list[tuple[Data, Outcome]]:
        """The scenario's expectations, judged in the order of their moments: each replay continues the last one."""
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
        """Return True if judging needs no replay."""
        here = self.at is None and outcome.place == HERE
        return not outcome.counts or here or (outcome.n, outcome.path) in self.live.judged

    def _scenario_rows(self) -> Iterator[tuple[str, Data, int | None]]:
        """Yield path in the scenario, expectation, and number of the command it follows, None = not reached yet."""
        scenario = story(self.live.plan.scenario, self.live.plan.story)
        if scenario is None:
            return
        opened = scenario.setup if self.world.head >= scenario.setup else None
        taken = steps.step_commands(self.world)
        for number, data in enumerate(scenario.opened):
            yield f"opened[{number}]", data, opened
        for place, step in enumerate(scenario.then):
            after = taken[place] if place < len(taken) else None
            for number, data in enumerate(step.get("expect", ())):
                yield f"then[{place}].expect[{number}]", data, after
        over = steps.last_step(self.world)
        for number, data in enumerate(scenario.expect):
            yield f"expect[{number}]", data, over


def written(expectation: Data) -> str:
    """Return an expectation as YAML of a scenario file, without the last line break."""
    return emit(plain(expectation, Where())).rstrip("\n")
