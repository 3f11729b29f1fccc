"""The ladder of criteria: what each compared, and which candidates it dropped.

The engine says which numbers it compared. Without its facts, as for a trace alone, the recorded values are shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.words.say import say
from scheduler_engine import wording
from scheduler_engine.framework.facts import RungFacts
from scheduler_engine.trace.events import PreemptionCriterionApplied


@dataclass(frozen=True, slots=True)
class _Rung:
    """One rung; ``values``: (node, text). No values: the criterion was not needed."""

    title: str
    values: tuple[tuple[str, str], ...]
    survivors: tuple[str, ...]
    note: str = ""


def ladder(world: World, cycle: Cycle, chosen: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the rungs, and the titles of the criteria that were not needed."""
    rungs = _rungs(world, cycle)
    used = [rung for rung in rungs if rung.values]
    drawn = [_drawn(rung, number, chosen) for number, rung in enumerate(used, 1)]
    return drawn, [rung.title for rung in rungs if not rung.values]


def _rungs(world: World, cycle: Cycle) -> list[_Rung]:
    if not cycle.ladder:
        return []
    facts = world.witness.choice(cycle)
    outcomes = [(rung.survivors, rung.fallen) for rung in facts[: len(cycle.ladder)]]
    if outcomes == [(applied.survivors, applied.fallen) for applied in cycle.ladder]:
        return [_of_facts(rung) for rung in facts]
    return [_recorded(applied) for applied in cycle.ladder]


def _of_facts(rung: RungFacts) -> _Rung:
    title, note = (wording.worded(rung.criterion, part) for part in ("says", "note"))
    values = tuple((line.label, line.formula) for line in wording.lines(rung.facts))
    return _Rung(title, values, rung.survivors, note if values else "")


def _recorded(applied: PreemptionCriterionApplied) -> _Rung:
    return _Rung(applied.criterion[:1].upper() + applied.criterion[1:], applied.values, applied.survivors)


def _drawn(rung: _Rung, number: int, chosen: str) -> dict[str, Any]:
    before, after = len(rung.values), len(rung.survivors)
    won = chosen if rung.survivors == (chosen,) else ""
    return {
        "number": number,
        "title": rung.title,
        "change": f"{before} → {after}" if after < before else say("preemption.all-equal", count=before),
        "tokens": [
            {"node": node, "value": value, "fell": node not in rung.survivors, "won": node == won}
            for node, value in rung.values
        ],
        "note": rung.note,
    }
