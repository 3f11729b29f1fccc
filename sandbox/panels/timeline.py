"""The time line: a box per cycle with a mark per stage, moves of the queue, people's commands, timers, the playhead.

Every mark leads to its moment. The line is that of the present, also while the past is looked at: what comes later than
the moment in view is there to go to.
"""

from __future__ import annotations

from bisect import bisect_left
from operator import itemgetter
from typing import Any

from sandbox.panels.model.base import Models
from sandbox.panels.model.state import STEPS, Command, Cycle
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.panels.words.amounts import clock, short_clock, short_name
from sandbox.panels.words.phrases import OUTCOMES, plural
from sandbox.panels.words.say import say

MOST = 40
"""Cycles drawn; what is earlier or later is a number."""
MOST_TICKS = 12
"""Moves, or timers, drawn between one cycle and the next."""
LONGEST_NAME = 14
"""Characters of a pod's name: of a longer one the end, which tells it from its siblings, stays."""

GLYPHS = {"bound": "ok", "unschedulable": "no", "nominated": "nominated", "error": "error", "abandoned": "error"}
TALL = ("Filter", "PostFilter", "SelectHost", "Bind")


def stats(world: World, view: View) -> dict[str, Any]:
    whole = world.present or world
    at = len(world.entries)
    begun = len(world.cycles)
    first = max(0, min(begun - MOST // 2, len(whole.cycles) - MOST)) if world.present else len(whole.cycles) - MOST
    first = max(0, first)
    cycles = whole.cycles[first : first + MOST]
    ends = [*(cycle.entry for cycle in whole.cycles[first + 1 : first + MOST + 1]), len(whole.entries) + 1]
    done = _commands(whole, first, first + len(cycles))
    items = []
    for index, (cycle, end) in enumerate(zip(cycles, ends[: len(cycles)], strict=True), first):
        items += _command(whole, done.get(index))
        items.append(_box(whole, cycle, world.cycle, end))
        items += _timers(whole, cycle.last_entry, end)
    if first + len(cycles) == len(whole.cycles):
        items += _command(whole, done.get(len(whole.cycles)))
    if not cycles:
        items += _timers(whole, 0, len(whole.entries) + 1)
    return {
        "items": items,
        "earlier": first,
        "later": len(whole.cycles) - first - len(cycles),
        "at": str(world.moment_of(at)) if world.present else "",
        "entry": at,
        "present": str(whole.moment_of(len(whole.entries))),
        "start": str(whole.moment_of(1)),
        "label": say("timeline.label", cycles=plural(len(whole.cycles), "cycle"), clock=clock(whole.clock_us)),
    }


def _mark(world: Models, entry: int, title: str) -> dict[str, Any]:
    rest = world.rest_at(entry)
    return {"entry": rest, "at": str(world.moment_of(rest)), "title": title}


def _box(world: Models, cycle: Cycle, current: Cycle | None, end: int) -> dict[str, Any]:
    name = short_name(cycle.pod)
    return {
        "kind": "cycle",
        "number": cycle.number,
        "pod": cycle.pod,
        "name": name if len(name) <= LONGEST_NAME else f"…{name[-LONGEST_NAME + 1 :]}",
        "clock": short_clock(cycle.at_us),
        "marks": [
            {**_mark(world, mark.entry, mark.stage), "stage": mark.stage, "tall": mark.stage in TALL}
            for mark in cycle.stages
        ],
        "moves": _moves(world, cycle.entry, end),
        "end": GLYPHS.get(cycle.outcome, ""),
        "now": current is not None and cycle.number == current.number,
        "first_entry": cycle.entry,
        "address": _mark(world, cycle.last_entry, ""),
        "replica": cycle.replica.rpartition("-")[2] if world.election.several else "",
        "title": _title(cycle, name, world.people.get(cycle.command, "")),
    }


def _title(cycle: Cycle, name: str, person: str) -> str:
    """``person``: who set it off, if anybody did."""
    outcome = say(OUTCOMES.get(cycle.outcome, "timeline.running"))
    if cycle.outcome == "bound" and cycle.node:
        outcome = say("timeline.bound-to", node=cycle.node)
    return say(
        CYCLES[bool(cycle.replica), bool(person)],
        number=cycle.number,
        pod=name,
        attempt=cycle.attempt,
        clock=clock(cycle.at_us),
        outcome=outcome,
        replica=cycle.replica,
        person=person,
    )


CYCLES = {
    (False, False): "timeline.cycle",
    (False, True): "timeline.cycle-set-off",
    (True, False): "timeline.cycle-of-a-replica",
    (True, True): "timeline.cycle-of-a-replica-set-off",
}
"""(it is one of several replicas', somebody set it off) → the title of its box."""


def _moves(world: Models, after: int, end: int) -> list[dict[str, Any]]:
    """The last few moves between queues from after entry ``after`` to before entry ``end``."""
    start, stop = (bisect_left(world.moved, number, key=itemgetter(0)) for number in (after + 1, end))
    return [
        _mark(world, entry, f"{short_name(move.pod)}: {move.source} → {move.target}, {move.cause}")
        for entry, move in world.moved[max(start, stop - MOST_TICKS) : stop]
    ]


def _timers(world: Models, after: int, end: int) -> list[dict[str, Any]]:
    """The instants at which something happened after one cycle and before the next."""
    first, last = (bisect_left(world.instants, number, key=itemgetter(0)) for number in (after + 1, end))
    instants = world.instants[first:last]
    stops = [*(number for number, _ in instants[1:]), end]
    found = [
        _mark(world, stop - 1, f"{clock(at_us)}: {plural(stop - number, 'event')}")
        for (number, at_us), stop in zip(instants, stops, strict=False)
    ]
    return [{"kind": "timers", "marks": found[-MOST_TICKS:]}] if found else []


def _commands(world: Models, first: int, last: int) -> dict[int, list[Command]]:
    """Index of a cycle, from ``first`` to ``last`` → what people did (other than stepping) before it."""
    done: dict[int, list[Command]] = {}
    for command in reversed(world.commands):
        if command.after_cycle < first:
            break
        if command.kind not in STEPS and command.after_cycle <= last:
            done.setdefault(command.after_cycle, []).insert(0, command)
    return done


def _command(world: Models, done: list[Command] | None) -> list[dict[str, Any]]:
    if not done:
        return []
    last = done[-1]
    more = len(done) - 1
    text = say("timeline.and-more", summary=last.summary, count=more) if more else last.summary
    return [
        {
            "kind": "command",
            "text": text,
            "command": last.number,
            "commands": " ".join(str(command.number) for command in done),
            "clock": short_clock(last.at_us),
            **_mark(world, world.end_of(last.number), "; ".join(_told(world, command) for command in done)[:400]),
        }
    ]


def _told(world: Models, command: Command) -> str:
    who = world.people.get(command.number, "")
    return say("timeline.done-by", summary=command.summary, person=who) if who else command.summary
