"""Jobs of an import: read a file, preview it, and return the commands for a new sandbox.

All but ``way_to`` are for a sandbox that does not exist yet, and use no simulation.
"""

from __future__ import annotations

import copy
import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from sandbox.content.scenarios import story_of, story_text
from sandbox.limits.quotas import OverQuota
from sandbox.runtime.local import local
from sandbox.storage import failures
from sandbox.storage.models import LONGEST_TITLE, printable
from sandbox.storage.records import Position
from sandbox.words.say import say
from sandbox.worker.job import reading, uploading
from sandbox.worker.live import Live
from scheduler_engine import commands
from scheduler_engine.errors import FieldError, NothingToDo, Rejected
from scheduler_engine.framework.extension_points import STAGES
from scheduler_engine.importing import Choices, Gathered, Import, Notice, Skipped, Summary, gather, prepare
from scheduler_engine.scenario import Scenario, read_scenario
from scheduler_engine.scenario.priority_numbers import gives_numbers
from scheduler_engine.scenario.yaml_file import FILE_LIMITS
from scheduler_engine.shapes import Data
from scheduler_engine.simulation import Simulation

LONGEST_STORY = 200_000
"""Characters of a scenario without its setup. Every page of its sandbox reads them."""
GONE = say("limits.import-expired")
MOST_PODS_BEFORE = 100
"""Pods that may be ahead of the chosen pod in the queue."""


@dataclass(frozen=True, slots=True)
class Preview:
    """An import without its objects, for a page. ``kubernetes``: the version to follow; ``version``: why, in words."""

    notices: tuple[Notice, ...]
    skipped: tuple[Skipped, ...]
    summary: Summary
    terminating: int
    configured: bool
    kubernetes: str
    version: str


class UploadedScenario(NamedTuple):
    """An uploaded scenario, with the arguments for ``store.create``. ``story``: from ``scenarios.story_text``."""

    title: str
    seed: int
    configuration: Data | None
    queue_rules: str
    setup: list[Data]
    story: str
    priority_numbers: bool
    kubernetes: str
    feature_gates: dict[str, bool] | None


class ImportedCluster(NamedTuple):
    """An import, with the commands that create the cluster. ``pod``: the key of the chosen pod, under its name here."""

    preview: Preview
    configuration: Data | None
    commands: list[Data]
    pod: str


@uploading
def import_scenario(live: Live, position: Position, text: str, name: str) -> UploadedScenario:
    """Return the scenario of a file. Raises ``Rejected`` with the lines of the errors."""
    try:
        scenario = read_scenario(text, name, FILE_LIMITS, *local.readers)
    except Rejected as refusal:
        raise Rejected([in_text(error) for error in refusal.errors]) from refusal
    story = story_text(story_of(scenario))
    if len(story) > LONGEST_STORY:
        raise Rejected(say("import.long-story", most=LONGEST_STORY, length=len(story)))
    return UploadedScenario(printable(scenario.title, LONGEST_TITLE), story=story, **beginning_of(scenario))


def beginning_of(scenario: Scenario) -> dict[str, Any]:
    """Return how a scenario begins, as arguments for ``store.create``."""
    return {
        "seed": scenario.seed,
        "configuration": scenario.configuration,
        "queue_rules": scenario.queue_rules,
        "setup": [dict(step) for step in scenario.setup],
        "priority_numbers": gives_numbers(scenario),
        "kubernetes": scenario.kubernetes,
        "feature_gates": scenario.feature_gates,
    }


def in_text(error: FieldError) -> FieldError:
    """Return an error without the name of the file: there is only one."""
    return FieldError(error.path, error.kind, error.message, 0, error.line, error.column, error.object_name)


@uploading
def import_read(live: Live, position: Position, upload: str, path: str, name: str) -> UploadedScenario | None:
    """Read the file ``upload`` and write its objects to ``path``. If it is a scenario, return that instead.

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
def import_preview(live: Live, position: Position, path: str, choices: Choices) -> Preview:
    """Return a preview of the import at ``path``. Raises ``Rejected``."""
    return _preview(prepare(_load(path), choices))


def _preview(prepared: Import) -> Preview:
    terminating, configured = len(prepared.terminating), prepared.configuration is not None
    version = prepared.version_in_words()
    return Preview(
        prepared.notices,
        prepared.skipped,
        prepared.summary,
        terminating,
        configured,
        prepared.kubernetes,
        version,
    )


@uploading
def import_commands(live: Live, position: Position, path: str, choices: Choices) -> ImportedCluster:
    """Return the import at ``path``. Raises ``Rejected``."""
    prepared = prepare(_load(path), choices)
    return ImportedCluster(_preview(prepared), prepared.configuration, prepared.commands(), prepared.pod)


@reading
def way_to(live: Live, position: Position, pod: str) -> list[dict[str, Any]]:
    """Return the commands that step ``pod`` through Filter, or to its failure before it. They are tried on a copy.

    Return an empty list if the pod's turn does not come: it is gated, of another scheduler, or behind too many others.
    """
    live.move_to(position)
    simulation, commands_so_far = copy.deepcopy(live.simulation), list[dict[str, Any]]()
    for _ in range(MOST_PODS_BEFORE):
        if not _do(simulation, "stage", commands_so_far):
            return []
        cycle = simulation.scheduler.cycle
        if cycle is not None and cycle.pod.key == pod:
            _through_filter(simulation, commands_so_far)
            return commands_so_far
        if not _do(simulation, "pod", commands_so_far):
            return []
    return []


def _through_filter(simulation: Simulation, commands_so_far: list[dict[str, Any]]) -> None:
    """Run stages until Filter is done or cannot be reached."""
    names = [stage.name for stage in STAGES]
    while (cycle := simulation.scheduler.cycle) is not None and cycle.stage in names:
        if names.index(cycle.stage) > names.index("Filter") or not _do(simulation, "stage", commands_so_far):
            return


def _do(simulation: Simulation, kind: str, commands_so_far: list[dict[str, Any]]) -> bool:
    try:
        simulation.execute(commands.from_json({"kind": kind}))
    except NothingToDo:
        return False
    commands_so_far.append({"kind": kind})
    return True


def _load(path: str) -> Gathered:
    try:
        return Gathered.from_json(json.loads(gzip.decompress(Path(path).read_bytes())))
    except FileNotFoundError as gone:
        raise Rejected(GONE) from gone
