"""The position of the moment in view in the log of commands. All parts of the page take it from here."""

from __future__ import annotations

from typing import NamedTuple

from sandbox.panels.model.world import World
from sandbox.words.amounts import clock
from sandbox.words.say import say


class Position(NamedTuple):
    """``number``: the command in view, of ``length`` in the log. ``title``: an explanation, "" if none is needed.

    ``spoken``: what the knob of the timeline says to a screen reader.
    """

    number: int
    length: int
    text: str
    title: str
    spoken: str


def position(world: World) -> Position:
    """Return the position of the moment in view, in the past or at the present."""
    stuck = (world.present or world).stuck
    head = stuck.command - 1 if stuck is not None else (world.present or world).head
    number, length = head if world.present is None else world.head, world.length
    text = say("timeline.command-of" if number < length else "timeline.command", number=number, length=length)
    title = ""
    if world.present is not None:
        title = say("timeline.looks-back", number=number, head=head)
    elif stuck is not None:
        title = stuck.text
    elif head < length:
        title = say("timeline.went-back", first=head + 1, last=length)
    spoken = "timeline.spoken-now" if world.present is None else "timeline.spoken-past"
    return Position(number, length, text, title, say(spoken, text=text, clock=clock(world.clock_us)))
