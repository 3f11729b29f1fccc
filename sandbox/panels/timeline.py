"""The time line: a box per cycle with a mark per stage, people's commands, and the playhead."""

from __future__ import annotations

from typing import Any

from sandbox.panels.drawing.markup import esc, join
from sandbox.panels.model.state import STEPS, Command, Cycle
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.panels.words.amounts import clock, short_clock, short_name
from sandbox.panels.words.phrases import OUTCOMES, plural

MOST = 40
"""Cycles drawn; older ones are a number."""

GLYPHS = {"bound": "ok", "unschedulable": "no", "nominated": "no", "error": "no", "abandoned": "no"}


def stats(world: World, view: View) -> dict[str, Any]:
    cycles = world.cycles[-MOST:]
    first = len(world.cycles) - len(cycles)
    done = _commands(world, first)
    boxes = []
    for index, cycle in enumerate(cycles, first):
        boxes.extend(_command(done.get(index)))
        boxes.append(_box(world, cycle, view.cycle))
    boxes.extend(_command(done.get(len(world.cycles))))
    chosen = world.by_number.get(view.cycle)
    goto = chosen.last_command if chosen is not None and chosen is not world.cycle else None
    return {
        "items": boxes,
        "html": join(_cycle_html(item) if item["kind"] == "cycle" else _command_html(item) for item in boxes),
        "earlier": first,
        "goto": goto,
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
        "replica": cycle.replica.rpartition("-")[2] if world.election.several else "",
        "title": f"cycle {cycle.number}, {name}, attempt {cycle.attempt}, {clock(cycle.at_us)}: {outcome}"
        + (f" to {cycle.node}" if cycle.outcome == "bound" and cycle.node else "")
        + (f", by {cycle.replica}" if cycle.replica else ""),
    }


def _commands(world: World, first: int) -> dict[int, list[Command]]:
    """Index of a cycle, from ``first`` on → what people did (other than stepping) before it."""
    done: dict[int, list[Command]] = {}
    for command in reversed(world.commands):
        if command.after_cycle < first:
            break
        if command.kind not in STEPS:
            done.setdefault(command.after_cycle, []).insert(0, command)
    return done


def _command(done: list[Command] | None) -> list[dict[str, Any]]:
    if not done:
        return []
    last = done[-1]
    text = last.summary if len(done) == 1 else f"{last.summary} and {len(done) - 1} more"
    return [
        {
            "kind": "command",
            "text": text,
            "command": last.number,
            "commands": " ".join(str(command.number) for command in done),
            "at": short_clock(last.at_us),
            "title": "; ".join(command.summary for command in done)[:400],
        }
    ]


# --- HTML: f-strings, because the whole line is drawn anew at every step ----------------------------------------


def _cycle_html(box: dict[str, Any]) -> str:
    on = ((" is-now", box["now"]), (" is-over", box["end"]), (" is-chosen", box["chosen"]))
    classes = "".join(name for name, holds in on if holds)
    title, now = esc(box["title"]), ' aria-current="true"' if box["now"] else ""
    marks = "".join(
        f'<i class="tk{" is-tall" if mark["tall"] else ""}" title="{esc(mark["stage"])}"></i>' for mark in box["marks"]
    )
    end = f'<i class="end-{box["end"]}"></i>' if box["end"] else ""
    by = f'<span class="by-r">{esc(box["replica"])}</span>' if box["replica"] else ""
    return (
        f'<li class="cyc{classes}"><button type="button" id="cyc-{box["number"]}" data-cycle="{box["number"]}" '
        f'data-pod="{esc(box["pod"])}" title="{title}" aria-label="{title}"{now}>'
        f'<span class="cyc-t">{by}{esc(box["name"])}</span><span class="cyc-b">{marks}{end}</span>'
        f'<span class="cyc-c num">{box["at"]}</span></button></li>'
    )


def _command_html(item: dict[str, Any]) -> str:
    return (
        f'<li class="cmd" data-commands="{item["commands"]}" title="{esc(item["title"])}">'
        f'<span class="cmd-m" aria-hidden="true"></span><span class="cmd-t">{esc(item["text"])}</span>'
        f'<span class="cyc-c num">{item["at"]}</span></li>'
    )
