"""The time line: a box per cycle with a mark per stage, people's commands, and the playhead."""

from __future__ import annotations

from typing import Any

from .amounts import clock, short_clock, short_name
from .state import Cycle
from .view import View
from .words import OUTCOMES, plural
from .world import World

MOST = 40
"""Cycles drawn; older ones are a number."""

GLYPHS = {"bound": "ok", "unschedulable": "no", "nominated": "no", "error": "no"}
STEPS = ("stage", "pod", "settle", "run", "advance")


def stats(world: World, view: View) -> dict[str, Any]:
    cycles = world.cycles[-MOST:]
    first = len(world.cycles) - len(cycles)
    boxes = []
    for index, cycle in enumerate(cycles, first):
        boxes.extend(_commands(world, index))
        boxes.append(_box(world, cycle, view.cycle))
    boxes.extend(_commands(world, len(world.cycles)))
    chosen = world.by_number.get(view.cycle)
    goto = chosen.last_command if chosen is not None and chosen is not world.cycle else None
    return {
        "items": boxes,
        "earlier": first,
        "cycles": len(world.cycles),
        "events": len(world.entries),
        "clock": clock(world.clock_us),
        "head": world.head,
        "length": world.length,
        "goto": goto,
        "goto_name": short_name(chosen.pod) if chosen and goto is not None else "",
        "goto_cycle": chosen.number if chosen and goto is not None else 0,
        "label": f"{plural(len(world.cycles), 'cycle')}, now {clock(world.clock_us)}",
    }


def _box(world: World, cycle: Cycle, chosen: int) -> dict[str, Any]:
    outcome, name = OUTCOMES.get(cycle.outcome, "running"), short_name(cycle.pod)
    return {
        "kind": "cycle",
        "number": cycle.number,
        "pod": cycle.pod,
        "name": name,
        "at": short_clock(cycle.at_us),
        "marks": [
            {
                "stage": mark.stage,
                "command": mark.command,
                "tall": mark.stage in ("Filter", "PostFilter", "SelectHost", "Bind"),
            }
            for mark in cycle.stages
        ],
        "end": GLYPHS.get(cycle.outcome, ""),
        "now": cycle is world.cycle,
        "chosen": cycle.number == chosen,
        "command": cycle.last_command,
        "title": f"cycle {cycle.number}, {name}, attempt {cycle.attempt}, {clock(cycle.at_us)}: {outcome}"
        + (f" to {cycle.node}" if cycle.outcome == "bound" and cycle.node else ""),
    }


def _commands(world: World, index: int) -> list[dict[str, Any]]:
    """What people did (other than stepping) between two cycles."""
    done = [command for command in world.commands if command.after_cycle == index and command.kind not in STEPS]
    if not done:
        return []
    last = done[-1]
    text = last.summary if len(done) == 1 else f"{last.summary} and {len(done) - 1} more"
    return [
        {
            "kind": "command",
            "text": text,
            "command": last.number,
            "at": short_clock(last.at_us),
            "title": "; ".join(command.summary for command in done)[:400],
        }
    ]
