"""Why an attempt found of a node what it found: the facts of the plugins that decided, in words, for a terminal.

What the facts conclude is held against the trace. Should the two differ, as where a fault answered in a plugin's place,
only that is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler_engine import wording
from scheduler_engine.framework.facts import Facts
from scheduler_engine.scenario.attempts import Attempt
from scheduler_engine.scheduler.explaining import filter_facts, pre_filter_facts, score_facts
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace.events import Verdict

OTHERWISE = "this is what the scheduler got for an answer; the plugin itself says otherwise"


def refusal(simulation: Simulation, attempt: Attempt, node: str) -> list[str]:
    """Why a node was refused, with the arithmetic; nothing when it was not, or when its plugin gives no facts."""
    verdict = attempt.verdict(node)
    if verdict is None or not verdict[0]:
        return []
    if attempt.filter is None:
        facts = _asked(simulation, attempt, pre_filter_facts, verdict[0])
    else:
        facts = _asked(simulation, attempt, filter_facts, node, verdict[0])
    if facts is None:
        return []
    if not _is_recorded(facts, verdict):
        return [f"{OTHERWISE[0].upper()}{OTHERWISE[1:]}."]
    return [wording.sentence(facts), *_aligned(wording.lines(facts))]


def _is_recorded(facts: Facts, verdict: Verdict) -> bool:
    """Return True if the plugin said what its facts conclude."""
    _, code, reasons = verdict
    return facts.status is not None and (facts.status.code.value, facts.status.reasons) == (code, reasons)


def scores_in_words(simulation: Simulation, attempt: Attempt, node: str) -> Iterator[str]:
    """A sentence for each plugin that scored the node."""
    for plugin, found in attempt.scores(node).items():
        facts = _asked(simulation, attempt, score_facts, node, plugin)
        if facts is None:
            continue
        same = facts.raw == found.get("raw") and found.get("normalized") in (None, facts.normalized)
        yield f"{plugin}: {wording.sentence(facts) if same else f'{OTHERWISE}.'}"


def _asked(simulation: Simulation, attempt: Attempt, ask: Any, *about: str) -> Facts | None:
    """Of the scheduler that made the attempt; where it has begun another one, as it stood before that."""
    scheduler = simulation.replicas.scheduler_of(attempt.cycle)
    if scheduler is None and simulation.history is not None:
        scheduler = simulation.as_of(attempt.last_table).replicas.scheduler_of(attempt.cycle)
    return None if scheduler is None else ask(scheduler, attempt.cycle, *about)


def _aligned(lines: tuple[wording.Line, ...]) -> Iterator[str]:
    width = max((len(line.label) for line in lines), default=0)
    for line in lines:
        yield f"  {line.label:{width}}  {line.formula}{f'  ({line.note})' if line.note else ''}"
