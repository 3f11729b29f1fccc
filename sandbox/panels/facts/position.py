"""Where the moment in view stands in the log of commands. Whatever names the position takes it from here."""

from __future__ import annotations

from typing import NamedTuple

from sandbox.panels.model.world import World
from sandbox.words.amounts import clock
from sandbox.words.say import say


class Position(NamedTuple):
    """``number``: the command in view, of ``length`` in the log. ``title`` is "" where nothing is to be explained."""

    number: int
    length: int
    text: str
    title: str
    spoken: str


def position(world: World) -> Position:
    """Return the position of the moment in view: in the past, or where the sandbox stands."""
    head = (world.present or world).head
    number, length = world.head, world.length
    text = say(TEXTS[number < length], number=number, length=length)
    title = ""
    if world.present is not None:
        title = say("timeline.looks-back", number=number, head=head)
    elif head < length:
        title = say("timeline.went-back", first=head + 1, last=length)
    spoken = say(SPOKEN[world.present is not None], text=text, clock=clock(world.clock_us))
    return Position(number, length, text, title, spoken)


TEXTS = {False: "timeline.command", True: "timeline.command-of"}
"""Whether later commands are kept → what is shown."""
SPOKEN = {False: "timeline.spoken-now", True: "timeline.spoken-past"}
"""Whether it is the past → what the knob of the timeline says to a screen reader."""
