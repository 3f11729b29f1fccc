"""All differences between two runs as lines: pods, their last attempts, Kubernetes' events."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff

from scheduler_engine.scenario.attempts import Attempt, RunView
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace import events as ev

NOTHING = "-"


def difference_lines(one: Simulation, other: Simulation) -> Iterator[str]:
    """Yield the differences pod by pod, then the events as a diff."""
    mine, theirs = RunView(one), RunView(other)
    pods = [pod.key for simulation in (one, other) for pod in simulation.api.pods()]
    for key in dict.fromkeys([*pods, *mine.attempts, *theirs.attempts]):
        parts = [
            *_pair("", _place(one, key), _place(other, key)),
            *_attempt(mine.attempt(key), theirs.attempt(key)),
        ]
        if parts:
            yield f"pod {key}"
            yield from (f"  {part}" for part in parts)
    changed = [*unified_diff([*_events(one)], [*_events(other)], lineterm="", n=0)][2:]
    if changed:
        yield "events"
        yield from (text for text in changed if not text.startswith("@@"))


def _pair(what: str, one: object, other: object) -> list[str]:
    return [] if one == other else [f"{what}{_shown(one)} | {_shown(other)}"]


def _shown(value: object) -> str:
    return NOTHING if value in (None, "") else str(value)


def _place(simulation: Simulation, key: str) -> str:
    pod = simulation.api.pod(key)
    return "gone" if pod is None else f"on {pod.node_name}" if pod.node_name else "without a node"


def _attempt(one: Attempt | None, other: Attempt | None) -> Iterator[str]:
    """Compare the last attempts."""
    yield from _pair("attempts: ", one.number if one else 0, other.number if other else 0)
    if one is None or other is None:
        return
    yield from _pair("message: ", _message(one), _message(other))
    nodes = [row[0] for attempt in (one, other) if attempt.filter for row in attempt.filter.looked_at]
    for node in dict.fromkeys(nodes):
        yield from _pair(f"{node}: ", _verdict(one, node), _verdict(other, node))
        scores, others = one.scores(node), other.scores(node)
        for plugin in dict.fromkeys([*scores, *others]):
            weighted = [by_plugin.get(plugin, {}).get("weighted") for by_plugin in (scores, others)]
            yield from _pair(f"{node}, {plugin}: ", *weighted)
        yield from _pair(f"{node}, total: ", one.totals.get(node), other.totals.get(node))


def _message(attempt: Attempt) -> str:
    return attempt.finished.message if attempt.finished and attempt.failed else ""


def _verdict(attempt: Attempt, node: str) -> str:
    verdict = attempt.verdict(node)
    if verdict is None:
        return "not checked"
    return f"{verdict[0]}: {'; '.join(verdict[2])}" if verdict[0] else "passes"


def _events(simulation: Simulation) -> Iterator[str]:
    for entry in simulation.recorder.entries:
        if isinstance(entry.event, ev.EventRecorded):
            event = entry.event
            yield f"{entry.at_us / 1_000_000:.3f}s {event.reason} {event.regarding}: {event.message}"
