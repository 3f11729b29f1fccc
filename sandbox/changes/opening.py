"""New sandboxes from what somebody chose or brought: a scenario, a scenario file, a lesson file."""

from __future__ import annotations

from sandbox.changes import store
from sandbox.limits import quotas
from sandbox.pool import engines
from sandbox.storage.models import Sandbox
from sandbox.worker import jobs
from sandbox.worker.jobs.importing import Brought
from sandbox.worker.jobs.teaching import Learned
from scheduler_engine.scenario import Scenario
from scheduler_engine.scenario.priority_numbers import gives_numbers


def open_scenario(scenario: Scenario, token: str = "") -> tuple[Sandbox, str]:
    """Create a sandbox, execute the scenario's setup, and return it with its edit token: ``token``, if any."""
    return store.create(
        scenario.title,
        scenario.slug,
        scenario.seed,
        scenario.configuration,
        [dict(step) for step in scenario.setup],
        scenario.queue_rules,
        token=token,
        priority_numbers=gives_numbers(scenario),
    )


def read_brought(text: str) -> Brought:
    """Return the scenario in the text of a file. Raises ``Rejected``, ``OverQuota`` or ``EngineError``."""
    quotas.check_import(len(text.encode(errors="replace")))
    return engines.of_file(jobs.import_scenario, text, "scenario.yaml")


def open_brought(scenario: Brought, token: str = "") -> tuple[Sandbox, str]:
    """Create a sandbox, execute the setup, and return it with its edit token."""
    return store.create(
        scenario.title,
        seed=scenario.seed,
        configuration=scenario.configuration,
        setup=scenario.setup,
        queue_rules=scenario.queue_rules,
        story=scenario.story,
        token=token,
        priority_numbers=scenario.priority_numbers,
    )


def read_lesson(text: str, name: str = "lesson.yaml") -> Learned:
    """Return a lesson that holds. Raises ``Rejected`` with everything that is wrong in it, or ``EngineError``."""
    return engines.of_file(jobs.lesson_read, text, name)
