"""A trace as a story for people: the commands, their effects, and the tables that decided.

It leaves out what only repeats another line: objects that the API server stores and the cache takes over, and stages
without a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from scheduler_engine.trace import events as ev
from scheduler_engine.wording.entries import line
from scheduler_engine.words import say

LEFT_OUT = frozenset(
    (
        ev.Configured,
        ev.ObjectAdded,
        ev.ObjectApplied,
        ev.ObjectModified,
        ev.NodeTreeChanged,
        ev.CacheNodeChanged,
        ev.CachePodChanged,
        ev.StageFinished,
        ev.CycleStateWritten,
        ev.PreScoreRan,
        ev.ScoreRan,
        ev.PodUnschedulable,
    )
)
INSIDE = "    "


def story(entries: Iterable[ev.Entry]) -> Iterator[str]:
    """Yield the lines of a story; a command begins with ``>``, tables are indented."""
    clock = -1
    for entry in entries:
        event = entry.event
        if isinstance(event, ev.CommandGiven):
            yield f"> {event.summary}"
            clock = -1
        elif type(event) not in LEFT_OUT and not _says_nothing(event):
            if entry.at_us != clock:
                clock = entry.at_us
                yield f"{clock / 1_000_000:g} s"
            by = f"{entry.replica}: " if entry.replica else ""
            yield f"  {by}{line(event)}"
            yield from (f"{INSIDE}{text}" for text in TABLES.get(type(event), _no_table)(event))


def _says_nothing(event: ev.Event) -> bool:
    """Return True for plugins that all passed, and for moves that moved no pod."""
    if isinstance(event, ev.PluginsRan):
        return all(code == "Success" for _, code, _ in event.verdicts)
    if isinstance(event, ev.MoveRequested):
        return not event.moved and not event.in_flight
    return isinstance(event, ev.PreFilterRan) and all(code in ("Success", "Skip") for _, code, _ in event.verdicts)


def _no_table(event: Any) -> Iterator[str]:
    return iter(())


def _filter(event: ev.FilterRan) -> Iterator[str]:
    for node, plugin, code, reasons, nominated in event.looked_at:
        beside = f" {say('entries.nominated-there', pods=', '.join(nominated))}" if nominated else ""
        yield (
            f"{node}: {say('entries.fits')}{beside}"
            if not plugin
            else f"{node}: {plugin} {code}, {'; '.join(reasons)}{beside}"
        )


def _totals(event: ev.NormalizeRan) -> Iterator[str]:
    """Yield for each node the plugins that gave it points."""
    for node, total in event.totals:
        addends = [(plugin, dict(scores).get(node, 0)) for plugin, scores in event.weighted]
        yield f"{node}: " + " + ".join(f"{plugin} {score}" for plugin, score in addends if score) + f" = {total}"


def _steps(event: ev.PreemptionNodeTried) -> Iterator[str]:
    keys = {
        ("remove", True): "entries.taken-out",
        ("fits", True): "entries.then-fits",
        ("fits", False): "entries.even-then",
        ("reprieve", True): "entries.reprieved",
        ("reprieve", False): "entries.victim",
    }
    for action, pod, ok, _ in event.steps:
        key = keys.get((action, ok))
        yield say(key, pod=pod) if key else f"{action} {pod}"


def _values(event: ev.PreemptionCriterionApplied) -> Iterator[str]:
    return (f"{node}: {value}" for node, value in event.values)


TABLES: dict[type[ev.Event], Callable[[Any], Iterator[str]]] = {
    ev.FilterRan: _filter,
    ev.NormalizeRan: _totals,
    ev.PreemptionNodeTried: _steps,
    ev.PreemptionCriterionApplied: _values,
}
"""Type of event → the function for its table."""
