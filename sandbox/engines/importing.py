"""What an engine does for an import: it reads a file, says what would come of it, and makes the commands.

These are jobs of a sandbox that does not exist yet: nothing of them reaches a simulation.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.live import Live
from sandbox.records import Position
from scheduler_engine import commands
from scheduler_engine.errors import NothingToDo, Rejected
from scheduler_engine.framework.extension_points import STAGES
from scheduler_engine.importing import Choices, Gathered, Notice, Skipped, Summary, gather, prepare
from scheduler_engine.simulation import Simulation

MOST_PODS_BEFORE = 100
"""Pods of higher priority whose turn comes before that of the chosen one."""
SCENARIO = "This is a scenario file, not a dump of a cluster. The command line runs it: see docs/scenarios.md."


@dataclass(frozen=True, slots=True)
class Outlook:
    """An import without its objects: what a page tells of it."""

    notices: tuple[Notice, ...]
    skipped: tuple[Skipped, ...]
    summary: Summary
    terminating: int
    configured: bool


def import_read(live: Live, position: Position, path: str, name: str) -> None:
    """Put what stands in an uploaded file in its place, as JSON that is read in no time. Raises ``Rejected``."""
    file = Path(path)
    gathered = gather(file.read_bytes(), name)
    if gathered.scenario:
        raise Rejected(SCENARIO)
    written = file.with_suffix(".part")
    written.write_text(json.dumps(gathered.as_json()), encoding="utf-8")
    written.chmod(0o600)
    written.replace(file)


def import_outlook(live: Live, position: Position, path: str, choices: Choices) -> Outlook:
    """What would come of a file that was read. Raises ``Rejected``."""
    made = prepare(_gathered(path), choices)
    terminating, configured = len(made.terminating), made.configuration is not None
    return Outlook(made.notices, made.skipped, made.summary, terminating, configured)


def import_commands(
    live: Live, position: Position, path: str, choices: Choices
) -> tuple[dict[str, Any] | None, list[dict[str, Any]], str]:
    """The scheduler's configuration, the commands that make the cluster, and the chosen pod. Raises ``Rejected``."""
    made = prepare(_gathered(path), choices)
    return made.configuration, made.commands(), made.pod


def way_to(live: Live, position: Position, pod: str) -> list[dict[str, Any]]:
    """The commands that lead to where ``pod`` has been through Filter, or was refused before it; tried on a copy.

    None where its turn does not come: it is gated, another scheduler's, or behind too many others.
    """
    live.move_to(position)
    simulation, way = copy.deepcopy(live.simulation), list[dict[str, Any]]()
    for _ in range(MOST_PODS_BEFORE):
        if not _do(simulation, "stage", way):
            return []
        cycle = simulation.scheduler.cycle
        if cycle is not None and cycle.pod.key == pod:
            _through_filter(simulation, way)
            return way
        if not _do(simulation, "pod", way):
            return []
    return []


def _through_filter(simulation: Simulation, way: list[dict[str, Any]]) -> None:
    """As long as Filter lies ahead."""
    names = [stage.name for stage in STAGES]
    while (cycle := simulation.scheduler.cycle) is not None and cycle.stage in names:
        if names.index(cycle.stage) > names.index("Filter") or not _do(simulation, "stage", way):
            return


def _do(simulation: Simulation, kind: str, way: list[dict[str, Any]]) -> bool:
    try:
        simulation.execute(commands.from_json({"kind": kind}))
    except NothingToDo:
        return False
    way.append({"kind": kind})
    return True


def _gathered(path: str) -> Gathered:
    try:
        return Gathered.from_json(json.loads(Path(path).read_bytes()))
    except FileNotFoundError as gone:
        raise Rejected("This import is no longer kept. Bring the file again.") from gone
