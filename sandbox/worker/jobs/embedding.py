"""The job of an embed: panels, the moment's place in the run, and its facts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import replace
from typing import Any

from sandbox.panels.facts.stages import tab_for
from sandbox.panels.frames import END, START
from sandbox.panels.model.moment import Moment
from sandbox.panels.model.world import World
from sandbox.panels.sentence import panel as sentence
from sandbox.panels.view import View
from sandbox.storage.records import Position
from sandbox.words.amounts import clock
from sandbox.worker import rendering
from sandbox.worker.job import reading
from sandbox.worker.live import Live

MOST_PODS = 1000
"""Pods listed in the facts of a moment."""


@reading
def embedded(live: Live, position: Position, view: View, at: str, panels: list[str]) -> dict[str, Any]:
    """Return panels as HTML, the place of the moment ``at`` in the run, and its facts.

    ``at``: a moment, ``START`` or ``END``. Any other text is the present, like ``END``. ``START`` is the moment after
    the scenario's setup, before the first step.
    """
    live.move_to(position)
    present = live.world
    stops = list(dict.fromkeys(entry for entry, _ in present.rests if entry <= len(present.entries)))
    moment = Moment.read(at) if at not in (START, END) else _opened(live, present) if at == START else None
    here = len(present.entries) if moment is None else present.rest_at(present.entry_of(moment))
    past = here < len(present.entries)
    view = replace(view, at=present.moment_of(here) if past else None)
    live.look_up_expected(None)
    drawn = rendering.fragments(live, position, view, panels, False)
    world = live.at(view.at)
    world.look_at(view.replica)
    return {
        "fragments": {panel: fragment.html for panel, fragment in drawn.items()},
        "moment": {**_place(present, stops, here), "clock": clock(world.clock_us), "present": not past},
        "facts": facts(world, view),
        "sentence": sentence.as_text(world, view),
        "tab": tab_for(world.cycle_in_view(view.cycle)),
    }


def _opened(live: Live, present: World) -> Moment:
    """Return the moment at the end of the scenario's setup; without one, the moment before the first step."""
    last = len(present.commands)  # Less than the head, if the log stops here.
    first = next((command.number for command in present.commands if command.command.steps), last + 1)
    command = min(live.guide.setup or first - 1, last)
    return Moment(command, present.end_of(command) - present.starts[command])


def _place(present: World, stops: list[int], here: int) -> dict[str, Any]:
    """Return ``place`` (from 1) of ``of`` moments, and the addresses of this moment and its neighbours, "" = none."""
    before, after = bisect_left(stops, here), bisect_right(stops, here)

    def named(index: int) -> str:
        return str(present.moment_of(stops[index])) if 0 <= index < len(stops) else ""

    return {
        "at": str(present.moment_of(here)),
        "place": max(after, 1),
        "of": max(len(stops), 1),
        "before": named(before - 1),
        "after": named(after),
    }


def facts(world: World, view: View) -> dict[str, Any]:
    """Return where each pod is, and the attempt in view. ``docs/embed.d.ts`` describes the shape."""
    cycle = world.cycle_in_view(view.cycle)
    return {
        "pods": [_pod(world, key) for key in sorted(world.pods)[:MOST_PODS]],
        "more": max(0, len(world.pods) - MOST_PODS),
        "nodes": len(world.existing_nodes()),
        "attempt": None
        if cycle is None
        else {
            "number": cycle.number,
            "pod": cycle.pod,
            "stage": cycle.last_stage,
            "outcome": cycle.outcome,
            "node": cycle.node,
            "message": cycle.message,
        },
    }


def _pod(world: World, key: str) -> dict[str, Any]:
    pod = world.pods[key]
    queued = world.place_of(pod)
    return {
        "name": key,
        "lane": queued.lane if queued is not None else "",
        "node": pod.pod.node_name,
        "assumed": "" if pod.pod.node_name else pod.assumed_on,
    }
