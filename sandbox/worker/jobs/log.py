"""Jobs that execute commands, and where a log ends."""

from __future__ import annotations

from typing import Any

from sandbox.limits import quotas
from sandbox.panels.model.moment import Moment
from sandbox.storage.records import Position, Record
from sandbox.worker import rendering
from sandbox.worker.job import executing, reading
from sandbox.worker.live import Live


@executing
def execute(live: Live, position: Position, commands: list[dict[str, Any]], texts: list[str]) -> list[str | None]:
    """Execute commands, given as what they say and as they will be kept; ``arrive`` is to follow.

    For each: what is to be kept in place of the last one and itself, if the two merge.

    Raises ``Rejected``, ``OverQuota`` or ``ReplayFailed``, with nothing changed.
    """
    live.move_to(position)
    live.check_whole()
    for command in commands:
        quotas.check_objects(command, live.world)
    return live.execute(texts)


@executing
def arrive(live: Live, position: Position, records: list[Record]) -> None:
    """What was executed at ``position`` stands in the log, at its end. Who looks on will ask for it at once."""
    if live.arrive_from(position.state, records):
        last = records[-1]
        rendering.draw_ahead(live, position, Position(last.key, last.n, last.n))


@reading
def log_until(live: Live, position: Position, moment: Moment) -> tuple[int, str | None]:
    """The log that ends at a moment: how many commands, and the text of one more that ends early; None: there is none.

    Raises ``Rejected``.
    """
    live.move_to(position)
    return live.log_until(moment)
