"""The job that tells what one command did, step by step. It reads what the engine recorded; nothing runs again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sandbox.panels.model.world import World
from sandbox.panels.sentence import panel as sentence
from sandbox.panels.view import View
from sandbox.storage.records import Position
from sandbox.worker import rendering
from sandbox.worker.job import reading
from sandbox.worker.live import Live

MOST = 48
"""Most steps of a story: a page that tells more of them in 20 seconds shows none long enough."""
WHOLE = 24
"""Steps at the start of a long story that are all told. After them it tells only ends of attempts, evenly spread."""


class Step(NamedTuple):
    """A moment's address, and the sentence about it."""

    at: str
    text: str


@reading
def story(live: Live, position: Position, command: int) -> tuple[list[Step], str]:
    """Return at most ``MOST`` steps of a command of the log in their order, and the address of the present.

    Of steps in a row with the same sentence, only the first one is told. An unknown command has no steps.
    """
    live.move_to(position)
    present = live.world
    told = list[Step]()
    for entry in _chosen(present, command):
        view = View(at=None if entry == len(present.entries) else present.moment_of(entry))
        text = sentence.as_text(rendering.world_in_view(live, view), view)
        if not told or told[-1].text != text:
            told.append(Step(str(present.moment_of(entry)), text))
    return told, str(present.moment_of(len(present.entries)))


def _chosen(world: World, command: int) -> Sequence[int]:
    """Return the numbers of entries of the moments to tell: all of a short command, else the first and some ends."""
    if not 0 < command < len(world.starts):
        return ()
    start, end = world.starts[command], world.end_of(command)
    rests = sorted({entry for entry, _ in world.rests if start < entry <= end})
    if len(rests) <= MOST:
        return rests
    first, last = rests[:WHOLE], rests[-1]
    ends = {world.rest_at(cycle.last_entry) for cycle in world.cycles if first[-1] < cycle.last_entry < last}
    later, room = sorted(ends - {last}), MOST - WHOLE - 1
    spread = {later[number * len(later) // room] for number in range(room)} if later else set[int]()
    return [*first, *sorted(spread), last]
