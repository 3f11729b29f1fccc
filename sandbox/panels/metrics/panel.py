"""The scheduler's metrics as small charts over simulated time, each with a table of the same lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from sandbox.panels.drawing.paging import on_page, pager
from sandbox.panels.metrics.series import Line, Series, series_of
from sandbox.panels.metrics.usage import Usage, Value
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import SECOND, cores, memory, short_clock
from sandbox.words.phrases import zone_title
from sandbox.words.say import say
from scheduler_engine.trace.counters import QUEUES, Histogram

MOST = 8
"""Lines per chart: as many as can be distinguished. The others are on the next page."""
LOOKS = tuple(f"l{number}" for number in range(1, MOST + 1))
MEANING = {"scheduled": "ok", "unschedulable": "no", "error": "err"}
NOTES = {"active": "metrics.in-active", "backoff": "metrics.in-backoff", "gated": "metrics.gated"}
"""Queue → key of a few words about it."""
LANES = {
    "active": "metrics.came-into-active",
    "backoff": "metrics.came-into-backoff",
    "unschedulable": "metrics.came-into-unschedulable",
}
PREEMPTION = {"attempts": "metrics.preemption-attempts", "victims": "metrics.preemption-victims"}
SHARES = {
    ("cpu", "zone"): "metrics.cpu-by-zone",
    ("memory", "zone"): "metrics.memory-by-zone",
    ("cpu", "node"): "metrics.cpu-by-node",
    ("memory", "node"): "metrics.memory-by-node",
}


def stats(world: World, view: View) -> dict[str, Any]:
    series = series_of(world)
    if not series.lines:
        return {"has": False, "charts": [], "data": None}
    charts = [
        _pending(series, view),
        *(_incoming(series, queue, view) for queue in LANES),
        _attempts(series, view),
        _per_pod(series.counters.attempts_per_pod),
        _preemption(series, view),
        *(_usage(series, resource, scope, view) for scope in ("zone", "node") for resource in ("cpu", "memory")),
    ]
    end = {"end": world.clock_us / SECOND}
    data = {chart["id"]: chart.pop("drawn") | end for chart in charts}
    return {
        "has": True,
        "clock": short_clock(world.clock_us),
        "replicas": len(world.election.replicas) if world.election.several else 0,
        "charts": charts,
        "data": data,
    }


# --- the charts -------------------------------------------------------------------------------------------------------


def _pending(series: Series, view: View) -> dict[str, Any]:
    lines = series.of("pending")
    notes = {queue: say(key) for queue, key in NOTES.items()}
    labelled = [(queue, notes.get(queue, ""), lines[queue]) for queue in QUEUES if queue in lines]
    return _chart(view, "pending", say("metrics.pending"), "scheduler_pending_pods", say("metrics.by-queue"), labelled)


def _incoming(series: Series, queue: str, view: View) -> dict[str, Any]:
    lines = {event: line for (into, event), line in series.of("incoming").items() if into == queue}
    labelled = [(event, "", line) for event, line in sorted(lines.items(), key=lambda item: -(item[1].last or 0))]
    title, note = say(LANES[queue]), say("metrics.by-event")
    return _chart(view, f"incoming-{queue}", title, "scheduler_queue_incoming_pods_total", note, labelled, counted=True)


def _attempts(series: Series, view: View) -> dict[str, Any]:
    lines = series.of("attempts")
    several = len({profile for _, profile in lines}) > 1
    labelled = [(result, profile if several else "", lines[result, profile]) for result, profile in sorted(lines)]
    looks = [MEANING[label] for label, _, _ in labelled] if not several else LOOKS
    title, note = say("metrics.attempts"), say("metrics.by-result")
    return _chart(view, "attempts", title, "scheduler_schedule_attempts_total", note, labelled, looks, counted=True)


def _preemption(series: Series, view: View) -> dict[str, Any]:
    labelled = [(say(PREEMPTION[label]), "", line) for label, line in series.of("preemption").items()]
    metric = "scheduler_preemption_attempts_total, …_victims"
    title, note = say("metrics.preemption"), say("metrics.preemption-note")
    return _chart(view, "preemption", title, metric, note, labelled, counted=True)


def _usage(series: Series, resource: str, scope: str, view: View) -> dict[str, Any]:
    present = [(name, line) for name, line in series.of(f"{resource}/{scope}").items() if line.last is not None]
    present.sort(key=lambda item: -(item[1].last or 0))
    labelled = [(name or zone_title(""), name, line) for name, line in present]
    note = say("metrics.requested-fullest-first" if len(labelled) > MOST else "metrics.requested")
    says = partial(_room, series.usage, resource, scope)
    return _chart(view, f"{resource}-{scope}", say(SHARES[resource, scope]), "", note, labelled, unit="%", says=says)


def _room(usage: Usage, resource: str, scope: str, name: str) -> str:
    """Return ``2.5 of 4``: cores, or memory in binary units."""
    if scope == "zone":
        requested, total = usage.zones[name, resource]
    else:
        requested = usage.requested.get(name, {}).get(resource, 0)
        total = usage.nodes[name].allocatable[resource]
    show = cores if resource == "cpu" else memory
    return say("metrics.room", asked=show(requested), total=show(total))


def _per_pod(histogram: Histogram) -> dict[str, Any]:
    """Return bars: how many pods were bound at which attempt."""
    lows = (1, *(bound + 1 for bound in histogram.bounds[:-1]))
    labels = [str(low) if low == high else f"{low}–{high}" for low, high in zip(lows, histogram.bounds, strict=True)]
    labels.append(say("metrics.over", number=histogram.bounds[-1]))
    rows = [
        {"look": "", "name": label, "note": "", "now": str(count), "highest": ""}
        for label, count in zip(labels, histogram.counts, strict=True)
    ]
    return {
        "id": "per-pod",
        "title": say("metrics.per-pod"),
        "metric": "scheduler_pod_scheduling_attempts",
        "note": say("metrics.per-pod-note"),
        "pages": None,
        "rows": rows if histogram.count else [],
        "heads": (say("metrics.attempts-column"), say("metrics.pods-column")),
        "drawn": {"bars": labels, "counts": histogram.counts, "top": max(histogram.counts), "unit": ""},
    }


# --- their parts ------------------------------------------------------------------------------------------------------


def _chart(
    view: View,
    name: str,
    title: str,
    metric: str,
    note: str,
    labelled: list[tuple[str, str, Line]],
    looks: Iterable[str] = LOOKS,
    unit: str = "",
    says: Callable[[str], str] = str,
    counted: bool = False,
) -> dict[str, Any]:
    """Return a chart of ``labelled``: (label, a few words or the argument of ``says``, line), the page in view.

    ``counted``: the lines are counters, so their highest value is the current one.
    """
    rows, lines = [], []
    pages = pager(len(labelled), view, f"metrics.{name}", MOST)
    top: int | float = 100 if unit else 0
    for (label, words, line), look in zip(on_page(labelled, pages), looks, strict=False):
        top = max(top, line.highest or 0)
        rows.append(
            {
                "look": look,
                "name": label,
                "note": says(words),
                "now": _shown(line.last, unit),
                "highest": "" if counted else _shown(line.highest, unit),
            }
        )
        lines.append({"name": label, "look": look, **_points(line)})
    drawn = {"lines": lines, "top": top, "unit": unit}
    heads = ("metrics.total-column",) if counted else ("metrics.now-column", "metrics.highest-column")
    chart = {"id": name, "title": title, "metric": metric, "note": note, "heads": ("", *map(say, heads))}
    return chart | {"rows": rows, "pages": pages, "drawn": drawn}


def _shown(value: Value, unit: str) -> str:
    return "–" if value is None else f"{value:,}".removesuffix(".0") + unit


def _points(line: Line) -> dict[str, list[Any]]:
    """Return ``x`` in simulated seconds and ``y``; a peak is a point before the value that follows it."""
    x: list[float] = []
    y: list[Value] = []
    for point in line.points:
        values = [point.last] if point.highest == point.last else [point.highest, point.last]
        x += [point.at_us / SECOND] * len(values)
        y += values
    return {"x": x, "y": y}
