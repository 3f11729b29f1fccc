"""Why an attempt refused or scored a node: the facts of the plugins that decided, in words, for a terminal.

Each conclusion is compared with the trace. If they differ, as when a fault answered for a plugin, only that is
reported.
"""

from __future__ import annotations

from collections.abc import Iterator

from scheduler_engine import wording
from scheduler_engine.framework.facts import Facts
from scheduler_engine.scenario.attempts import Attempt
from scheduler_engine.scheduler.explaining import filter_facts, pre_filter_facts, score_facts
from scheduler_engine.scheduler.scheduler import Scheduler
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace.events import Verdict

OTHERWISE = "Another answer was recorded; the plugin itself disagrees."


def refusal(simulation: Simulation, attempt: Attempt, node: str) -> list[str]:
    """Explain a node's refusal, with the arithmetic; nothing if it was not refused, or its plugin gives no facts."""
    verdict = attempt.verdict(node)
    scheduler = _scheduler_of(simulation, attempt) if verdict is not None and verdict[0] else None
    if verdict is None or scheduler is None:
        return []
    if attempt.filter is None:
        facts = pre_filter_facts(scheduler, attempt.cycle, verdict[0])
    else:
        facts = filter_facts(scheduler, attempt.cycle, node, verdict[0])
    if facts is None:
        return []
    if not _is_recorded(facts, verdict):
        return [OTHERWISE]
    return [wording.sentence(facts), *_aligned(wording.lines(facts))]


def _is_recorded(facts: Facts, verdict: Verdict) -> bool:
    """Return True if the plugin said what its facts conclude."""
    _, code, reasons = verdict
    return facts.status is not None and (facts.status.code.value, facts.status.reasons) == (code, reasons)


def scores_in_words(simulation: Simulation, attempt: Attempt, node: str) -> Iterator[str]:
    """Yield a sentence for each plugin that scored the node."""
    scores = attempt.scores(node)
    scheduler = _scheduler_of(simulation, attempt) if scores else None
    if scheduler is None:
        return
    for plugin, columns in scores.items():
        facts = score_facts(scheduler, attempt.cycle, node, plugin)
        if facts is None:
            continue
        same = facts.raw == columns.get("raw") and columns.get("normalized") in (None, facts.normalized)
        yield f"{plugin}: {wording.sentence(facts) if same else OTHERWISE}"


def _scheduler_of(simulation: Simulation, attempt: Attempt) -> Scheduler | None:
    """Return the scheduler that made the attempt; if it has begun another one, its state before that."""
    scheduler = simulation.replicas.scheduler_of(attempt.cycle)
    if scheduler is None and simulation.history is not None:
        scheduler = simulation.as_of(attempt.last_table).replicas.scheduler_of(attempt.cycle)
    return scheduler


def _aligned(lines: tuple[wording.Line, ...]) -> Iterator[str]:
    width = max((len(line.label) for line in lines), default=0)
    for line in lines:
        yield f"  {line.label:{width}}  {line.formula}{f'  ({line.note})' if line.note else ''}"
