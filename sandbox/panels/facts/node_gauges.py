"""The eviction signals of one node as gauges: what is left, the thresholds, and their state for the kubelet."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from sandbox.panels.drawing.shapes import Drawing, Rect, percent
from sandbox.panels.model.node_health import NodeHealth
from sandbox.panels.model.state import NodeState
from sandbox.panels.model.world import World
from sandbox.words.amounts import duration, memory, seconds, short_clock
from sandbox.words.say import say
from scheduler_engine.api.node_stats import Observation, Stats, says_usage
from scheduler_engine.api.simulated import KUBELET_CONFIGURATION
from scheduler_engine.config.kubelet import (
    HOUSEKEEPING_US,
    EvictionConfiguration,
    Threshold,
    default_configuration,
    load_kubelet_configuration,
)
from scheduler_engine.errors import Rejected
from scheduler_engine.trace import events as ev

MILLION = 1_000_000
TITLES = {
    "memory.available": "gauges.memory",
    "nodefs.available": "gauges.disk",
    "nodefs.inodesFree": "gauges.inodes",
    "imagefs.available": "gauges.image-disk",
    "imagefs.inodesFree": "gauges.image-inodes",
    "pid.available": "gauges.processes",
}
URGENCY = ("met", "waits", "reclaiming", "below", "freed", "quiet")
"""States of a threshold, the most urgent first. ``below``: the signal is, but the kubelet has not checked yet;
``freed``: it was met, and what the kubelet removed was enough.
"""


def written_configuration(node: NodeState) -> dict[str, Any] | None:
    """Return the KubeletConfiguration in the node's annotation, None if there is none or it is invalid."""
    written = node.node.annotations.get(KUBELET_CONFIGURATION)
    try:
        data = json.loads(written) if written is not None else None
        load_kubelet_configuration(data if isinstance(data, dict) else None)
    except (ValueError, Rejected):
        return None
    return data if isinstance(data, dict) else None


def configuration_of(node: NodeState) -> EvictionConfiguration:
    """Return the configuration of the node's kubelet: the default one unless a valid one is written."""
    written = written_configuration(node)
    return default_configuration() if written is None else load_kubelet_configuration(written)


def stats_of(world: World, node: NodeState, health: NodeHealth) -> Stats:
    """Return what the kubelet would measure now."""
    pods = [state.pod for state in world.pods.values() if state.pod.node_name == node.name]
    dead = (pod for pod in pods if pod.finished and health.collected.get(pod.key) != pod.uid)
    return Stats(node.node, tuple(pod for pod in pods if pod.phase == "Running"), tuple(dead))


def amount(signal: str, number: int) -> str:
    """Return a number in words: ``1.5Gi`` for memory and disks, ``32,768`` or ``6.55M`` for processes and inodes."""
    if signal.endswith("available") and signal != "pid.available":
        return memory(number)
    return f"{number:,}" if number < MILLION else f"{number / MILLION:.2f}M"


def threshold_text(threshold: Threshold) -> str:
    """Return a threshold as ``memory.available<1.5Gi for 1m30s``."""
    if threshold.hard:
        return str(threshold)
    return say("gauges.soft-threshold", threshold=threshold, grace=duration(threshold.grace_us))


def gauges(world: World, measured: Stats, configuration: EvictionConfiguration, health: NodeHealth) -> dict[str, Any]:
    """Return the gauges. ``focus``: the most urgent signal; ``news``: the kubelet will see something new."""
    observed = {name: available for name, available, _ in health.observation.signals} if health.observation else {}
    rows = []
    for signal, observation in measured.observations().items():
        if signal.startswith("imagefs") and not measured.dedicated_imagefs:
            continue
        twin = signal.replace("nodefs", "imagefs") if not measured.dedicated_imagefs else signal
        thresholds = [item for item in configuration.thresholds if item.signal in (signal, twin)]
        rows.append(_gauge(world, signal, observation, thresholds, health, observed.get(signal)))
    items = (measured.node, *measured.running)
    urgent = min(rows, key=lambda row: URGENCY.index(row["state"]))
    if urgent["state"] == "quiet":
        urgent = next((row for row in rows if row["limits"]), rows[0])
    awake = KUBELET_CONFIGURATION in measured.node.annotations or any(says_usage(item.annotations) for item in items)
    removed = health.relief.removed if health.relief is not None else ()
    freed, disk = sum(event.freed for event in removed), "imagefs" if measured.dedicated_imagefs else "nodefs"
    expected = {name: left + (freed if name == f"{disk}.available" else 0) for name, left in observed.items()}
    now = {name: item.available for name, item in measured.observations().items()}
    news = any(expected[name] != now[name] for name in expected if name in now)
    news = news or (health.observation is None and awake)
    return {"rows": rows, "focus": urgent["signal"], "news": news, "looks": _next_look(world, health)}


def _next_look(world: World, health: NodeHealth) -> str:
    last = health.deeds[-1] if health.deeds else None
    if last is not None and isinstance(last.event, ev.PodEvicted) and last.at_us >= health.observed_us:
        return say("gauges.checks-after-its-victim")
    at_us = (world.clock_us // HOUSEKEEPING_US + 1) * HOUSEKEEPING_US
    return say("gauges.looks", at=short_clock(at_us))


def _gauge(
    world: World, signal: str, now: Observation, thresholds: list[Threshold], health: NodeHealth, observed: int | None
) -> dict[str, Any]:
    limits = [_limit(world, item, now, health) for item in thresholds]
    state = min((limit["state"] for limit in limits), key=URGENCY.index, default="quiet")
    return {
        "signal": signal,
        "title": say(TITLES[signal]),
        "left": amount(signal, now.available),
        "capacity": amount(signal, now.capacity),
        "state": state,
        "limits": limits,
        "news": observed is not None and observed != now.available,
        "observed": amount(signal, observed) if observed is not None else "",
        "drawing": gauge_drawing(now, thresholds, observed, state),
    }


def _limit(world: World, item: Threshold, now: Observation, health: NodeHealth) -> dict[str, Any]:
    limit, extra = item.amount.of(now.capacity), item.min_reclaim.of(now.capacity)
    thresholds = health.observation.thresholds if health.observation is not None else ()
    state = next((row[4] for row in thresholds if row[:2] == (str(item), item.signal)), "quiet")
    if state in ("met", "reclaiming") and health.relief is not None:
        state = "freed"
    if state in ("freed", "quiet") and now.available < limit:
        state = "below"
    words = {
        "quiet": say("gauges.quiet"),
        "below": say("gauges.below"),
        "met": say("gauges.met"),
        "freed": say("gauges.freed"),
        "waits": _patience(world, item, health),
        "reclaiming": say("gauges.reclaiming", until=amount(item.signal, limit + extra)),
    }
    return {
        "text": threshold_text(item),
        "kind": "hard" if item.hard else "soft",
        "state": state,
        "words": words[state],
        "reclaim": say("gauges.then-more", amount=amount(item.signal, extra)) if extra else "",
    }


def _patience(world: World, item: Threshold, health: NodeHealth) -> str:
    ends = dict(health.observation.until).get(str(item), world.clock_us) if health.observation else world.clock_us
    left = ends - world.clock_us
    return say("gauges.in-grace", left=seconds(left)) if left > 0 else say("gauges.grace-over")


def gauge_drawing(now: Observation, thresholds: Iterable[Threshold], observed: int | None, state: str) -> Drawing:
    """Draw a gauge from nothing left (0) to all: zones below the thresholds, the level, the last measurement."""
    capacity = max(now.capacity, 1)
    shapes = [_bar("ga-room", 0, 100, 0, 100)]
    by_size = sorted(thresholds, key=lambda item: -item.amount.of(capacity))
    for item in by_size:
        width = _share(item.amount.of(capacity), capacity)
        shapes.append(_bar(f"ga-zone {_kind(item)}", 0, width, 6, 88))
    shapes.append(_bar(f"ga-level is-{state}", 0, _share(now.available, capacity), 28, 44))
    for item in by_size:
        limit, extra = item.amount.of(capacity), item.min_reclaim.of(capacity)
        if extra:
            shapes.append(_bar("ga-goal", _share(limit, capacity), _share(extra, capacity), 88, 24))
        shapes.append(_tick(f"ga-mark {_kind(item)}", limit, capacity, -14, 128))
    if observed is not None and observed != now.available:
        shapes.append(_tick("ga-observed", observed, capacity, 14, 72))
    return Drawing("ga-svg", tuple(shapes))


def _kind(item: Threshold) -> str:
    return "is-hard" if item.hard else "is-soft"


def _bar(classes: str, x: float, width: float, y: int, height: int) -> Rect:
    """Return a bar; all lengths in percent, as gauges have two sizes."""
    return Rect(classes, percent(x), percent(width), f"{y}%", f"{height}%")


def _tick(classes: str, part: int, whole: int, y: int, height: int) -> Rect:
    return Rect(classes, percent(_share(part, whole)), "2", f"{y}%", f"{height}%")


def _share(part: int, whole: int) -> float:
    return min(100 * part / whole, 100.0)
