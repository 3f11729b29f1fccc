"""Why an attempt found of a node what it found: the facts of the plugins that decided, in words, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler_engine import wording
from scheduler_engine.framework.facts import Facts
from scheduler_engine.scenario.attempts import Attempt
from scheduler_engine.scheduler.explaining import filter_facts, score_facts
from scheduler_engine.simulation import Simulation


def refusal(simulation: Simulation, attempt: Attempt, node: str) -> list[str]:
    """Why a node was refused, with the arithmetic; nothing when it was not, or when its plugin gives no facts."""
    verdict = attempt.verdict(node) if attempt.filter else None
    if verdict is None or not verdict[0]:
        return []
    facts = _asked(simulation, attempt, filter_facts, node, verdict[0])
    return [] if facts is None else [wording.sentence(facts), *_aligned(wording.lines(facts))]


def scores_in_words(simulation: Simulation, attempt: Attempt, node: str) -> Iterator[str]:
    """A sentence for each plugin that scored the node."""
    for plugin in attempt.scores(node):
        facts = _asked(simulation, attempt, score_facts, node, plugin)
        if facts is not None:
            yield f"{plugin}: {wording.sentence(facts)}"


def _asked(simulation: Simulation, attempt: Attempt, ask: Any, node: str, plugin: str) -> Facts | None:
    """Of the scheduler that made the attempt; where it has begun another one, as it stood before that."""
    scheduler = simulation.replicas.scheduler_of(attempt.cycle)
    if scheduler is None and simulation.history is not None:
        scheduler = simulation.as_of(attempt.last_table).replicas.scheduler_of(attempt.cycle)
    return None if scheduler is None else ask(scheduler, attempt.cycle, node, plugin)


def _aligned(lines: tuple[wording.Line, ...]) -> Iterator[str]:
    width = max((len(line.label) for line in lines), default=0)
    for line in lines:
        yield f"  {line.label:{width}}  {line.formula}{f'  ({line.note})' if line.note else ''}"
