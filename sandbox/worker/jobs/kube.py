"""Jobs of the API server that kubectl sees."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from sandbox.kube import reading, watching, writing
from sandbox.kube.bodies import Write
from sandbox.kube.plans import Planned
from sandbox.kube.statuses import Refused, failure
from sandbox.kube.versions import Told, Versions
from sandbox.limits import quotas
from sandbox.storage.commands import to_text
from sandbox.storage.records import Position
from sandbox.worker.job import executing, listing
from sandbox.worker.job import reading as reading_job
from sandbox.worker.live import Executed, Live
from scheduler_engine.commands import from_json
from scheduler_engine.errors import OverBudget, Rejected
from scheduler_engine.simulation import Simulation

Answer = tuple[int, str, tuple[str, ...]]
"""HTTP status, document, warnings."""


@listing
def kube_read(live: Live, position: Position, turns: str, request: reading.Request) -> tuple[str, tuple[str, ...]]:
    """Return the JSON document that answers a request, and a warning if the log stops here. Raises ``kube.Refused``.

    ``turns``: as ``models.Sandbox``.
    """
    live.move_to(position)
    _told(live).note(turns)
    return _text(reading.answer(live.world, request, turns)), tuple(filter(None, [live.world.stopped]))


@reading_job
def kube_watch(live: Live, position: Position, turns: str, request: reading.Request, seen: int | None) -> watching.News:
    """Return what a watch sends next. Raises ``kube.Refused``."""
    live.move_to(position)
    histories = [_told(live), *(Told(*left) for left in live.left)]
    news = watching.news(live.world, request, turns, seen, histories)
    histories[0].note(turns)
    return news


def _told(live: Live) -> Told:
    """Return the present history as clients know it."""
    return Told(live.world, live.told)


@executing
def kube_write(live: Live, position: Position, request: Write, turns: str) -> tuple[Executed | None, Answer]:
    """Execute what a request asks for. Return what was executed, None if nothing, and the answer.

    Raises ``kube.Refused``, ``OverQuota`` or ``ReplayFailed``, with nothing changed in the log.
    """
    live.move_to(position)
    live.check_replayed()
    versions = Versions.of_objects(live.world, turns)
    planned = writing.plan(live.simulation, replace(request, versions=versions))
    for command in planned.commands:
        quotas.check_objects(command, live.world)
    try:
        if planned.dry_run:
            with live.simulation.tried(from_json(command) for command in planned.commands):
                return None, _answer(planned, live.simulation, versions)
        texts = [to_text(command) for command in planned.commands]
        executed = live.execute(texts) if texts else None
    except OverBudget:
        raise
    except Rejected as error:
        raise writing.of_rejected(error, request) from error
    versions = Versions.of_objects(live.world, turns)
    return executed, _answer(planned, live.simulation, versions)


def _answer(planned: Planned, simulation: Simulation, versions: Versions) -> Answer:
    try:
        code, document = planned.answer(simulation)
    except Refused as refused:
        # The commands are in the log all the same, such as an eviction that a budget forbids.
        code = refused.code
        document = failure(code, refused.message, refused.details, refused.reason)
    return code, _text(versions.document(document)), planned.warnings


def _text(document: dict[str, Any]) -> str:
    return json.dumps(document, separators=(",", ":"))
