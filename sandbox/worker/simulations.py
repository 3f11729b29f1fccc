"""Create a simulation from a sandbox's plan, and execute the commands of its log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sandbox.runtime.local import local
from sandbox.storage.commands import text_of
from sandbox.storage.records import Plan
from sandbox.words.say import say
from scheduler_engine import commands
from scheduler_engine.api.gated_fields import dropped_warnings
from scheduler_engine.config.schema import declares_expressions
from scheduler_engine.errors import Rejected
from scheduler_engine.plugins.registry import registry_for
from scheduler_engine.simulation import Simulation, rules_about
from scheduler_engine.trace.events import Entry
from scheduler_engine.versions import VERSIONS, rules_for


def new_simulation(plan: Plan, full: bool = True) -> Simulation:
    """Return a sandbox's simulation at its start. ``full``: with all tables in its trace.

    A simulation that has raised ``OverBudget`` cannot be used any more: replay from a keyframe. Raises ``Rejected``.
    """
    configuration = json.loads(plan.configuration)
    try:
        return Simulation(
            seed=plan.seed,
            configuration=configuration,
            queue_rules=plan.queue_rules,
            full=full,
            undoes=False,
            priority_numbers=plan.priority_numbers,
            kubernetes=plan.kubernetes,
            feature_gates=json.loads(plan.feature_gates),
            plugins=local.plugins,
        )
    except Rejected as refusal:
        if missing := missing_plugins(configuration):
            raise Rejected(say("errors.missing-plugins", refusal=refusal, plugins=", ".join(missing))) from refusal
        raise


def missing_plugins(configuration: Any) -> list[str]:
    """Return the plugins that a configuration enables, and that neither Kubernetes nor this site has."""
    known = {name for version in VERSIONS for name in registry_for(rules_for(version))} | {*local.names, "*"}
    profiles = configuration.get("profiles") if isinstance(configuration, dict) else None
    named = [name for profile in profiles or () for name in _enabled(profile)]
    return [name for name in dict.fromkeys(named) if name not in known]


def _enabled(profile: Any) -> Iterator[str]:
    """Yield the names of plugins that a profile enables without declaring them. It may have any form."""
    declared = {*_declared(profile)}
    points = profile.get("plugins") if isinstance(profile, dict) else None
    for point in points.values() if isinstance(points, dict) else ():
        rows = point.get("enabled") if isinstance(point, dict) else None
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, dict) and isinstance(row.get("name"), str) and row["name"] not in declared:
                yield row["name"]


def _declared(profile: Any) -> Iterator[str]:
    rows = profile.get("pluginConfig") if isinstance(profile, dict) else None
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(row.get("name"), str) and declares_expressions(row.get("args")):
            yield row["name"]


def execute(simulation: Simulation, text: str, is_new: bool = False) -> str | None:
    """Execute a command of a log from its text, so that the first run and every replay have the same input.

    ``is_new``: it is not in the log yet, so it may be refused for its size.

    Return the text that replaces the last command and this one in the log if both are ticks that merge, else None.
    """
    command = commands.from_json(json.loads(text))
    both = simulation.merged(command)
    simulation.execute(command, is_new)
    return None if both is None else text_of(both)


def reason_of(error: Exception, simulation: Simulation, text: str) -> str:
    """Return why a command of a log fails now. Name the fields of its manifests that are dropped before the check,
    because an earlier version of the engine kept them.
    """
    reason = str(error) or type(error).__name__
    if not isinstance(error, Rejected):
        return reason
    data = json.loads(text)
    manifests = data.get("manifests") or () if isinstance(data, dict) else ()
    dropped = (warning for item in manifests for warning in dropped_warnings(item, rules_about(simulation, item)))
    return "; ".join((reason, *(str(warning) for warning in dropped)))


def entries_from(simulation: Simulation, start: int) -> list[Entry]:
    """Return the trace from entry ``start`` (0-based) on."""
    return simulation.recorder.entries[start:]
