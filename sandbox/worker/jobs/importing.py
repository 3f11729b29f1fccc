"""What an engine does for an import: it reads a file, says what would come of it, and makes the commands.

These are jobs of a sandbox that does not exist yet: nothing of them reaches a simulation.
"""

from __future__ import annotations

import copy
import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.library.scenarios import story_of, written
from sandbox.limits.quotas import OverQuota
from sandbox.storage import failures
from sandbox.storage.models import LONGEST_TITLE, printable
from sandbox.storage.records import Position
from sandbox.words.say import say
from sandbox.worker.job import reading, uploading
from sandbox.worker.live import Live
from scheduler_engine import commands
from scheduler_engine.errors import FieldError, NothingToDo, Rejected
from scheduler_engine.framework.extension_points import STAGES
from scheduler_engine.importing import Choices, Gathered, Notice, Skipped, Summary, gather, prepare
from scheduler_engine.scenario import read_scenario
from scheduler_engine.scenario.priority_numbers import gives_numbers
from scheduler_engine.scenario.yaml_file import FILE_LIMITS
from scheduler_engine.shapes import Data
from scheduler_engine.simulation import Simulation

LONGEST_STORY = 200_000
"""Characters of a scenario without its setup, which every page of its sandbox reads."""
GONE = "This import has expired: it was opened, or an hour has passed. Upload the file again."
MOST_PODS_BEFORE = 100
"""Pods of higher priority whose turn comes before that of the chosen one."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """An import without its objects: what a page tells of it."""

    notices: tuple[Notice, ...]
    skipped: tuple[Skipped, ...]
    summary: Summary
    terminating: int
    configured: bool


@dataclass(frozen=True, slots=True)
class Brought:
    """A scenario that somebody brought: what ``store.create`` makes a sandbox of. ``story``: as ``guide.written``."""

    title: str
    seed: int
    configuration: Data | None
    queue_rules: str
    setup: list[Data]
    story: str
    priority_numbers: bool


@uploading
def import_scenario(live: Live, position: Position, text: str, name: str) -> Brought:
    """What stands in a scenario file. Raises ``Rejected``, with lines."""
    try:
        scenario = read_scenario(text, name, FILE_LIMITS)
    except Rejected as refusal:
        raise Rejected([in_text(error) for error in refusal.errors]) from refusal
    story = written(story_of(scenario))
    if len(story) > LONGEST_STORY:
        raise Rejected(say("import.long-story", most=LONGEST_STORY, found=len(story)))
    setup = [dict(step) for step in scenario.setup]
    title = printable(scenario.title, LONGEST_TITLE)
    told = title, scenario.seed, scenario.configuration, scenario.queue_rules, setup, story
    return Brought(*told, gives_numbers(scenario))


def in_text(error: FieldError) -> FieldError:
    """Without the name of the file, as there is but one."""
    return FieldError(error.path, error.kind, error.message, 0, error.line, error.column, error.object_name)


@uploading
def import_read(live: Live, position: Position, upload: str, path: str, name: str) -> Brought | None:
    """Read the file ``upload`` and write what is kept of it to ``path``; or return the scenario that it holds.

    Raises ``Rejected``, or ``OverQuota`` if the disk is full.
    """
    content = Path(upload).read_bytes()
    gathered = gather(content, name)
    if gathered.scenario:
        return import_scenario(live, position, gathered.scenario, name)
    part = Path(f"{path}.part")
    try:
        part.touch(0o600)
        part.write_bytes(gzip.compress(json.dumps(gathered.as_json()).encode(), compresslevel=1))
        part.replace(path)
    except OSError as error:
        raise OverQuota(failures.no_room(error), 507) from error
    finally:
        part.unlink(missing_ok=True)
    return None


@uploading
def import_outlook(live: Live, position: Position, path: str, choices: Choices) -> Outlook:
    """What would come of a file that was read. Raises ``Rejected``."""
    made = prepare(_gathered(path), choices)
    terminating, configured = len(made.terminating), made.configuration is not None
    return Outlook(made.notices, made.skipped, made.summary, terminating, configured)


@uploading
def import_commands(
    live: Live, position: Position, path: str, choices: Choices
) -> tuple[dict[str, Any] | None, list[dict[str, Any]], str]:
    """The scheduler's configuration, the commands that make the cluster, and the chosen pod. Raises ``Rejected``."""
    made = prepare(_gathered(path), choices)
    return made.configuration, made.commands(), made.pod


@reading
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
        return Gathered.from_json(json.loads(gzip.decompress(Path(path).read_bytes())))
    except FileNotFoundError as gone:
        raise Rejected(GONE) from gone
