"""Create sandboxes from scenarios and scenario files, and read uploaded lessons."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from sandbox.changes import store
from sandbox.changes.study import begin_at, open_learned, open_lesson
from sandbox.content.scenarios import story_of, story_text
from sandbox.content.shelf import PRACTICE, placed_lesson
from sandbox.limits import quotas
from sandbox.pool import engines
from sandbox.storage.models import Sandbox
from sandbox.worker import jobs
from sandbox.worker.jobs.importing import UploadedScenario, beginning_of
from sandbox.worker.jobs.teaching import Learned, WrittenPart
from scheduler_engine.lesson.practice import round_of
from scheduler_engine.scenario import Scenario, command_of


def open_scenario(scenario: Scenario, token: str = "") -> tuple[Sandbox, str]:
    """Create a sandbox, execute the scenario's setup, and return it with its edit token. ``token``: use this one."""
    return store.create(scenario.title, scenario.slug, token=token, **beginning_of(scenario))


def open_played(scenario: Scenario) -> tuple[UUID, str]:
    """Create a sandbox with setup and steps of a scenario executed. Return its id and its edit token."""
    beginning = beginning_of(scenario)
    beginning["setup"] += [command_of(step) for step in scenario.then]
    sandbox, token = store.create(scenario.title, **beginning)
    return sandbox.pk, token


def open_sides(sides: Iterable[tuple[str, Scenario]]) -> list[tuple[Sandbox, str]]:
    """Create a sandbox for each title and scenario, all or none, with their steps. Return each with its edit token."""
    opened = list[tuple[Sandbox, str]]()
    try:
        for title, scenario in sides:
            story = story_text(story_of(scenario))
            opened.append(store.create(title, story=story, **beginning_of(scenario)))
    except Exception:
        for sandbox, _ in opened:
            sandbox.delete()
        raise
    return opened


def read_uploaded(text: str) -> UploadedScenario:
    """Return the scenario of an uploaded file. Raises ``Rejected``, ``OverQuota`` or ``EngineError``."""
    quotas.check_import(len(text.encode(errors="replace")))
    return engines.of_file(jobs.import_scenario, text, "scenario.yaml")


def open_uploaded(scenario: UploadedScenario, token: str = "") -> tuple[Sandbox, str]:
    """Create a sandbox from an uploaded scenario, execute its setup, and return it with its edit token."""
    return store.create(token=token, **scenario._asdict())


def read_lesson(text: str, name: str = "lesson.yaml") -> Learned:
    """Return the lesson of a file after testing it. Raises ``Rejected`` with all errors, or ``EngineError``."""
    return engines.of_file(jobs.lesson_read, text, name)


def open_written(text: str, part: int) -> tuple[Sandbox, str, list[WrittenPart]]:
    """Create a sandbox of a lesson that is being written, with a part open, the last one if it has fewer.

    Return it with its edit token and the lesson's parts. Raises ``Rejected`` with all errors, or ``EngineError``.
    """
    learned, parts = engines.of_file(jobs.lesson_written, text)
    sandbox, token = open_learned(learned, text=text)
    if part:
        begin_at(sandbox, min(part, len(parts) - 1))
    return sandbox, token, parts


def open_named(name: str) -> tuple[Sandbox, str] | None:
    """Create a sandbox for the lesson of this name, and return it with its edit token. None if there is none.

    A round of practice is drawn in a worker, since it plays many draws.
    """
    if round_of(name):
        text, lesson = engines.of_file(jobs.practice_round, name)
        return open_learned(lesson, PRACTICE, text)
    placed = placed_lesson(name)
    return open_lesson(placed) if placed else None
