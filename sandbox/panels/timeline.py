"""The timeline: a box per cycle with a mark per stage, moves in the queue, people's commands, timers, the playhead.

Every mark leads to its moment. While the past is in view, the line still reaches to the present, so that later moments
can be chosen.
"""

from __future__ import annotations

from bisect import bisect_left
from operator import itemgetter
from typing import Any, NamedTuple

from sandbox.panels.facts.moves import source_of
from sandbox.panels.facts.position import position
from sandbox.panels.model.base import Models
from sandbox.panels.model.state import Command, Cycle
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import clock, short_clock, short_name
from sandbox.words.phrases import OUTCOMES, plural
from sandbox.words.say import say

MOST = 40
"""Cycles that are drawn; earlier and later ones are only counted."""
MOST_TICKS = 12
"""Moves, or timers, that are drawn between one cycle and the next."""
LONGEST_NAME = 14
"""Characters of a pod's name; of a longer one the end is shown, which differs from its siblings."""
GLYPHS = {"bound": "ok", "unschedulable": "no", "nominated": "nominated", "error": "error", "abandoned": "error"}
TALL = ("Filter", "PostFilter", "SelectHost", "Bind")


class Tick(NamedTuple):
    """A small mark. ``kind``: its class in the stylesheet; ``at``: its moment; ``later`` than the moment in view."""

    kind: str
    at: str
    entry: int
    title: str
    later: bool


class Box(NamedTuple):
    """A cycle with a tick per stage and per move in the queue. ``at``, ``entry``: its end."""

    kind: str
    number: int
    pod: str
    name: str
    clock: str
    marks: tuple[Tick, ...]
    moves: tuple[Tick, ...]
    end: str
    now: bool
    later: bool
    at: str
    entry: int
    replica: str
    title: str


class Timers(NamedTuple):
    kind: str
    marks: tuple[Tick, ...]


class Did(NamedTuple):
    """What people did between two cycles. ``command``: the last number, ``commands``: all numbers."""

    kind: str
    text: str
    command: int
    commands: str
    clock: str
    at: str
    entry: int
    title: str
    later: bool


Item = Box | Timers | Did


def stats(world: World, view: View) -> dict[str, Any]:
    whole = world.present or world
    at = len(world.entries)
    first = len(whole.cycles) - MOST
    first = max(0, min(len(world.cycles) - MOST // 2, first) if world.present else first)
    cycles = whole.cycles[first : first + MOST]
    ends = [*(cycle.entry for cycle in whole.cycles[first + 1 : first + MOST + 1]), len(whole.entries) + 1]
    done = _commands(whole, first, first + len(cycles))
    items: list[Item] = []
    boxes = {}
    for index, (cycle, end) in enumerate(zip(cycles, ends[: len(cycles)], strict=True), first):
        items += _command(whole, done.get(index), at)
        _, box = boxes[cycle.number] = _cached_box(whole, cycle, end, at)
        items.append(box._replace(now=True) if world.cycle is not None and cycle.number == world.cycle.number else box)
        items += _timers(whole, cycle.last_entry, end, at)
    if whole is world:
        whole.boxes = boxes
    if first + len(cycles) == len(whole.cycles):
        items += _command(whole, done.get(len(whole.cycles)), at)
    if not cycles:
        items += _timers(whole, 0, len(whole.entries) + 1, at)
    return {
        "items": items,
        "earlier": first,
        "later": len(whole.cycles) - first - len(cycles),
        "at": str(world.moment_of(at)) if world.present else "",
        "entry": at,
        "asked": str(view.at or ""),
        "position": position(world),
        "present": str(whole.moment_of(len(whole.entries))),
        "start": str(whole.moment_of(1)),
        "label": say("timeline.label", cycles=plural(len(whole.cycles), "cycle"), clock=clock(whole.clock_us)),
    }


def _tick(world: Models, kind: str, entry: int, title: str, at: int) -> Tick:
    rest = world.rest_at(entry)
    return Tick(kind, str(world.moment_of(rest)), rest, title, rest > at)


def _cached_box(world: Models, cycle: Cycle, end: int, at: int) -> tuple[object, Box]:
    """Return (what a cycle's box depends on, the box). Most boxes are reused from the step before."""
    person = world.people.get(cycle.command, "")
    several = world.election.several
    now = (cycle.outcome, cycle.node, cycle.last_entry, len(cycle.stages), end, at >= end, several, person)
    before = world.boxes.get(cycle.number)
    return before if before is not None and before[0] == now and at >= end else (now, _box(world, cycle, end, at))


def _box(world: Models, cycle: Cycle, end: int, at: int) -> Box:
    name = short_name(cycle.pod)
    rest = world.rest_at(cycle.last_entry)
    return Box(
        kind="cycle",
        number=cycle.number,
        pod=cycle.pod,
        name=name if len(name) <= LONGEST_NAME else f"…{name[-LONGEST_NAME + 1 :]}",
        clock=short_clock(cycle.at_us),
        marks=tuple(
            _tick(world, "is-tall" if mark.stage in TALL else "", mark.entry, mark.stage, at) for mark in cycle.stages
        ),
        moves=_moves(world, cycle.entry, end, at),
        end=GLYPHS.get(cycle.outcome, ""),
        now=False,
        later=cycle.entry > at,
        at=str(world.moment_of(rest)),
        entry=rest,
        replica=cycle.replica.rpartition("-")[2] if world.election.several else "",
        title=_title(cycle, name, world.people.get(cycle.command, "")),
    )


def _title(cycle: Cycle, name: str, person: str) -> str:
    """Return the title of a box. ``person``: who caused the cycle, "" if nobody did."""
    outcome = say(OUTCOMES.get(cycle.outcome, "timeline.running"))
    if cycle.outcome == "bound" and cycle.node:
        outcome = say("timeline.bound-to", node=cycle.node)
    about = {"number": cycle.number, "pod": name, "attempt": cycle.attempt, "clock": clock(cycle.at_us)}
    about |= {"outcome": outcome, "replica": cycle.replica, "person": person}
    return say(CYCLES[bool(cycle.replica), bool(person)], **about)


CYCLES = {
    (False, False): "timeline.cycle",
    (False, True): "timeline.cycle-set-off",
    (True, False): "timeline.cycle-of-a-replica",
    (True, True): "timeline.cycle-of-a-replica-set-off",
}
"""(it belongs to one of several replicas, a person caused it) → key of the title of its box."""


def _moves(world: Models, after: int, end: int, at: int) -> tuple[Tick, ...]:
    """Return ticks for the last few moves between queues after entry ``after`` and before entry ``end``."""
    start, stop = (bisect_left(world.moved, number, key=itemgetter(0)) for number in (after + 1, end))
    return tuple(
        _tick(world, "tk-mv", entry, f"{short_name(move.pod)}: {source_of(move)} → {move.target}, {move.cause}", at)
        for entry, move in world.moved[max(start, stop - MOST_TICKS) : stop]
    )


def _timers(world: Models, after: int, end: int, at: int) -> list[Item]:
    """Return the instants at which something happened after one cycle and before the next."""
    first, last = (bisect_left(world.instants, number, key=itemgetter(0)) for number in (after + 1, end))
    instants = world.instants[first:last]
    stops = [*(number for number, _ in instants[1:]), end]
    ticks = [
        _tick(world, "tk-tm", stop - 1, f"{clock(at_us)}: {plural(stop - number, 'event')}", at)
        for (number, at_us), stop in list(zip(instants, stops, strict=False))[-MOST_TICKS:]
    ]
    return [Timers("timers", tuple(ticks))] if ticks else []


def _commands(world: Models, first: int, last: int) -> dict[int, list[Command]]:
    """Return index of a cycle, from ``first`` to ``last`` → what people did (other than stepping) before it."""
    done: dict[int, list[Command]] = {}
    for command in reversed(world.commands):
        if command.after_cycle < first:
            break
        if not command.command.steps and command.after_cycle <= last:
            done.setdefault(command.after_cycle, []).insert(0, command)
    return done


def _command(world: Models, done: list[Command] | None, at: int) -> list[Item]:
    if not done:
        return []
    last, more = done[-1], len(done) - 1
    rest = world.rest_at(world.end_of(last.number))
    return [
        Did(
            kind="command",
            text=say("timeline.and-more", summary=last.summary, count=more) if more else last.summary,
            command=last.number,
            commands=" ".join(str(command.number) for command in done),
            clock=short_clock(last.at_us),
            at=str(world.moment_of(rest)),
            entry=rest,
            title="; ".join(_command_text(world, command) for command in done)[:400],
            later=rest > at,
        )
    ]


def _command_text(world: Models, command: Command) -> str:
    who = world.people.get(command.number, "")
    return say("timeline.done-by", summary=command.summary, person=who) if who else command.summary
