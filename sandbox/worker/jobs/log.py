"""Jobs that execute commands and cut a log at a moment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sandbox.limits import quotas
from sandbox.panels.model.moment import Moment
from sandbox.storage.records import Position, Record
from sandbox.worker import rendering
from sandbox.worker.job import executing, probing, reading
from sandbox.worker.live import Executed, Live


@executing
def execute(
    live: Live,
    position: Position,
    commands: Sequence[dict[str, Any]],
    texts: Sequence[str],
    refusals: Sequence[str] = (),
) -> Executed:
    """Execute all ``commands``, whose ``texts`` the log will store. Call ``arrive`` with their records afterwards.

    ``refusals``: as for ``Live.execute``. Raises ``Rejected``, ``OverQuota`` or ``ReplayFailed``, with nothing changed
    in the log.
    """
    live.move_to(position)
    live.check_replayed()

    def check(number: int) -> None:
        quotas.check_objects(commands[number], live.world)

    return live.execute(texts, refusals=refusals, check=check)


@executing
def arrive(live: Live, position: Position, records: list[Record]) -> None:
    """Note that the log has the commands executed at ``position`` as ``records``. Draw ahead for its browsers."""
    if live.arrive_from(position.state, records):
        last = records[-1]
        rendering.draw_ahead(live, position, Position(last.key, last.n, last.n))


@probing
def probe(live: Live, position: Position) -> None:
    """Do nothing: an answer shows that the worker is there."""


@reading
def log_until(live: Live, position: Position, moment: Moment) -> tuple[int, str | None, str]:
    """Return the log that ends at a moment, as ``Live.log_until``, and the mark of the command that ends early.

    Raises ``Rejected``.
    """
    live.move_to(position)
    whole, ended = live.log_until(moment)
    return whole, ended, "" if ended is None else live.mark_until(moment)
