"""Expectations at the moment that is looked at: those that people have collected, and those of the scenario.

What is looked at is a simulation of that moment, so that everything is asked of it that a scenario can ask.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sandbox import earlier
from sandbox.guide import story
from sandbox.live import Live
from sandbox.panels.model import steps
from sandbox.panels.model.expected import AHEAD, BEHIND, HERE, UNDONE, Outcome
from sandbox.panels.model.moment import Moment
from sandbox.panels.model.world import World
from sandbox.records import Expected
from scheduler_engine.errors import Rejected
from scheduler_engine.scenario import wrong_with
from scheduler_engine.scenario.attempts import Seen
from scheduler_engine.scenario.facts import expectation_of
from scheduler_engine.scenario.shapes import Data
from scheduler_engine.scenario.yaml_text import Where, emit, plain

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
        found = [*self._own, *self._scenarios]
        return [self._looked(data, replace(outcome, text=written(data))) for data, outcome in found]

    def red(self) -> int:
        counting = [(data, outcome) for data, outcome in (*self._own, *self._scenarios) if outcome.counts]
        if not counting or (self.at is not None and self.live.size > CHEAP):
            return 0
        return sum(self._looked(data, outcome).red for data, outcome in counting)

    @cached_property
    def _seen(self) -> Seen | None:
        """None where no command can end, so that nothing can be asked."""
        try:
            return Seen(earlier.simulation_at(self.live, self.at))
        except Rejected:
            return None

    def _looked(self, expectation: Data, outcome: Outcome) -> Outcome:
        wrong = None if self._seen is None else tuple(wrong_with(self._seen, expectation))
        return replace(outcome, wrong=wrong)

    @cached_property
    def _own(self) -> list[tuple[Data, Outcome]]:
        known, found = in_log(self.live, self.rows), list[tuple[Data, Outcome]]()
        for row in self.rows:
            moment = Moment(row.n, row.entries)
            place = self._place(moment) if known[row.key] else UNDONE
            data = json.loads(row.text)
            leads = str(moment) if place != UNDONE and row.n <= self.live.world.head else ""
            counts = place != AHEAD
            found.append((data, Outcome(row.key, "", "", row.n, leads, place, None, row.who, counts)))
        return found

    def _place(self, moment: Moment) -> str:
        if moment.command > self.live.world.head:
            return AHEAD
        here, there = len(self.world.entries), self.live.world.entry_of(moment)
        return HERE if here == there else AHEAD if there > here else BEHIND

    @cached_property
    def _scenarios(self) -> list[tuple[Data, Outcome]]:
        """Those within a scenario are about their moments, and count there only."""
        found, present = [], self.live.world
        for path, data, n, last in self._told():
            moment = None if n is None else Moment(n, present.end_of(n) - present.starts[n])
            place = AHEAD if moment is None else self._place(moment)
            counts = place == HERE or (last and place == BEHIND)
            leads = str(moment) if moment else ""
            found.append((data, Outcome(0, path, "", n or 0, leads, place, None, "", counts)))
        return found

    def _told(self) -> Iterator[tuple[str, Data, int | None, bool]]:
        """Path in the scenario, expectation, number of the command after which it stands if it was given, and whether
        it is about the end.
        """
        scenario = story(self.live.plan.scenario, self.live.plan.story)
        if scenario is None:
            return
        opened = scenario.setup if self.world.head >= scenario.setup else None
        made = steps.places(self.world)
        for number, data in enumerate(scenario.opened):
            yield f"opened[{number}]", data, opened, False
        for place, step in enumerate(scenario.then):
            after = made[place] if place < len(made) else None
            for number, data in enumerate(step.get("expect", ())):
                yield f"then[{place}].expect[{number}]", data, after, False
        over = steps.over(self.world)
        for number, data in enumerate(scenario.expect):
            yield f"expect[{number}]", data, over, True


def written(expectation: Data) -> str:
    """As in a file, without the last end of line."""
    return emit(plain(expectation, Where())).rstrip("\n")
