"""Create sandboxes from scenarios and scenario files, and read uploaded lessons."""

from __future__ import annotations

from sandbox.changes import store
from sandbox.limits import quotas
from sandbox.pool import engines
from sandbox.storage.models import Sandbox
from sandbox.worker import jobs
from sandbox.worker.jobs.importing import UploadedScenario, beginning_of
from sandbox.worker.jobs.teaching import Learned
from scheduler_engine.scenario import Scenario


def open_scenario(scenario: Scenario, token: str = "") -> tuple[Sandbox, str]:
    """Create a sandbox, execute the scenario's setup, and return it with its edit token. ``token``: use this one."""
    return store.create(scenario.title, scenario.slug, token=token, **beginning_of(scenario))


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
