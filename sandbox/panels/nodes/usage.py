"""What the pods of one node use compared with their requests; which would be evicted first; OOM scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sandbox.panels.drawing.paging import pager
from sandbox.panels.drawing.shapes import Drawing, rect, tick
from sandbox.panels.facts.node_gauges import amount
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import short_name, signed
from sandbox.words.say import say
from scheduler_engine.api.eviction_order import Ranked, measured
from scheduler_engine.api.eviction_order import rank as eviction_order
from scheduler_engine.api.node_stats import Stats, usage
from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.api.qos import oom_scores
from scheduler_engine.api.quantity import parse_quantity
from scheduler_engine.api.simulated import USAGE, amount_of

MOST, PAGE = 40, 100
MEBIBYTE = 1 << 20
NOTCHES = 128
"""Approximate number of positions of the slider."""
TITLES = {
    "memory": ("usage.memory", "500Mi"),
    "ephemeral_storage": ("usage.storage", "2Gi"),
    "writable_layer": ("usage.writable-layer", "500Mi"),
    "inodes": ("usage.inodes", "10k"),
    "pids": ("usage.processes", "200"),
    "cpu": ("usage.cpu", "250m"),
}
"""What can be used → (key of the title, an example)."""
PLACES = {
    "memory": "usage.of-memory",
    "ephemeral_storage": "usage.of-disk",
    "writable_layer": "usage.of-disk",
    "inodes": "usage.of-inodes",
    "pids": "usage.of-processes",
}


@dataclass(frozen=True, slots=True)
class Focus:
    """The signal by which rows are sorted. ``main``: what each row can change; ``kinds``: all that counts."""

    signal: str
    main: str
    kinds: tuple[str, ...]
    capacity: int

    @property
    def unit(self) -> int:
        """Return the unit of the slider: 1, or a mebibyte in bytes."""
        return 1 if self.main in ("inodes", "pids") else MEBIBYTE

    def text(self, number: int) -> str:
        return amount(self.signal, number)


def users(world: World, stats: Stats, signal: str, view: View) -> dict[str, Any]:
    """Return rows of the running pods, in the order in which ``signal`` evicts them, and of the system daemons.

    Of many pods the first to go are shown at first, and the chosen one.
    """
    observation = stats.observations().get(signal)
    kinds = measured(signal, stats.dedicated_imagefs)
    focus = Focus(signal, kinds[0], kinds, observation.capacity if observation else 0)
    order = list(enumerate(eviction_order(stats.running, signal, stats.dedicated_imagefs), 1))
    pages = pager(len(order), view, "nodes.users", PAGE, few=MOST)
    rows = order[pages.start : pages.stop] + [item for item in order[pages.stop :] if item[1].pod.key == view.pod]
    written = (stats.node.status.get("capacity") or {}).get("memory")
    memory_capacity = parse_quantity(written).value() if written is not None else 0
    largest = focus.capacity // focus.unit
    key, hint = TITLES[focus.main]
    title = say(key)
    return {
        "pods": [_pod(world, row, place, focus, memory_capacity) for place, row in rows],
        "pages": pages,
        "system": {
            "key": stats.node.name,
            "id": f"node:{stats.node.name}",
            "says": say("usage.of-the-system", what=title),
            **_use(stats.node, focus, lambda used: usage_drawing(used, None, focus.capacity, "seg-plain")),
        },
        "main": focus.main,
        "title": title,
        "hint": hint,
        "place": say(PLACES[focus.main]),
        "requests": any(row.has_request for _, row in order),
        "unit": "" if focus.unit == 1 else "Mi",
        "largest": largest,
        "step": 1 << max(0, (largest // NOTCHES).bit_length() - 1),
    }


def _pod(world: World, row: Ranked, place: int, focus: Focus, memory_capacity: int) -> dict[str, Any]:
    pod = row.pod
    state = world.pods[pod.key]
    scores = oom_scores(pod, memory_capacity)
    worst = max(scores, key=lambda score: score[4], default=("", row.qos, 0, 0, 0))
    name, request = short_name(pod.key), row.request if row.has_request else None
    return {
        "key": pod.key,
        "id": f"pod:{pod.key}",
        "name": name,
        "says": say("usage.of-a-pod", what=say(TITLES[focus.main][0]), pod=name),
        "app": state.app,
        "place": say("usage.never") if row.critical else place,
        "priority": pod.priority,
        "qos": row.qos,
        "terminating": state.state == "terminating",
        "exceeds": row.exceeds and row.has_request,
        "request": focus.text(row.request) if row.request else say("usage.no-request"),
        "oom": signed(worst[4]),
        "oom_sum": f"{worst[2]} {'+' if worst[3] >= 0 else '−'} {abs(worst[3])}",
        "oom_says": "; ".join(
            say("usage.oom", container=name, score=score, adjust=signed(adjust), qos=qos)
            for name, qos, score, adjust, _ in scores
        ),
        **_use(pod, focus, lambda used: usage_drawing(used, request, focus.capacity, f"app-{state.app}")),
    }


def _use(item: Pod | Node, focus: Focus, drawing: Callable[[int], Drawing]) -> dict[str, Any]:
    used = sum(usage(item, kind) for kind in focus.kinds)
    return {
        "used": focus.text(used),
        "slide": usage(item, focus.main) // focus.unit,
        "value": item.annotations.get(USAGE[focus.main], ""),
        "others": [
            {"kind": kind, "title": say(title), "hint": hint, "value": item.annotations.get(USAGE[kind], "")}
            for kind, (title, hint) in TITLES.items()
            if kind != focus.main
        ],
        "uses_more": any(amount_of(item.annotations, USAGE[kind]) for kind in TITLES if kind != focus.main),
        "drawing": drawing(used),
    }


def usage_drawing(used: int, request: int | None, capacity: int, classes: str) -> Drawing:
    """Draw the use of the node's capacity; what exceeds the request is hatched, unless ``request`` is None."""
    scale = 100 / capacity if capacity else 0.0
    within = used if request is None else min(used, request)
    shapes = [rect("cap", 0, 100, 4.5, 9), rect(f"seg {classes}", 0, min(within * scale, 100), 5, 8)]
    if used > within:
        shapes.append(rect("over", within * scale, min(used * scale, 100) - within * scale, 5, 8))
    if request:
        shapes.append(tick("limr", min(request * scale, 100), 1.5, 1, 16))
    return Drawing("u-svg", tuple(shapes))
