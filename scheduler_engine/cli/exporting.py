"""``export``: write the result of a scenario in another format."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import click

from scheduler_engine.cli import OK
from scheduler_engine.cli.files import FILE, Unusable, scenario_of, to_a_file, write
from scheduler_engine.cli.plugins import with_plugins
from scheduler_engine.cli.running import played_through
from scheduler_engine.cli.version import versioned
from scheduler_engine.own_plugins import OwnPlugins
from scheduler_engine.replay import trace_lines
from scheduler_engine.scenario import Scenario
from scheduler_engine.scenario.facts import STRICTNESS, expect_everything
from scheduler_engine.scenario.manifests import manifests, manifests_text, simulator_snapshot
from scheduler_engine.scenario.version import Version
from scheduler_engine.scenario.writing import dump
from scheduler_engine.simulation import Simulation


def _manifests(simulation: Simulation, **form: bool) -> str:
    return manifests_text(manifests(simulation, **form), simulation.rules)


FORMS: dict[str, Callable[[Simulation], str]] = {
    "manifests": lambda simulation: _manifests(simulation),
    "stored": lambda simulation: _manifests(simulation, added=True),
    "kwok": lambda simulation: _manifests(simulation, kwok=True),
    "simulator": lambda simulation: json.dumps(simulator_snapshot(simulation), indent=1, ensure_ascii=False) + "\n",
    "trace": lambda simulation: "".join(f"{line}\n" for line in trace_lines(simulation)),
}
"""Form → the function for its text."""


@click.command()
@click.argument("scenario", metavar="FILE", type=FILE)
@click.option(
    "--as",
    "form",
    type=click.Choice(["scenario", *FORMS]),
    metavar="FORM",
    default="scenario",
    help="The form. scenario: the scenario itself, the default. manifests: for kubectl apply, as a person would write "
    "them. stored: as the API server holds them. kwok: with nodes that KWOK simulates. simulator: a snapshot for "
    "kube-scheduler-simulator. trace: JSON lines.",
)
@click.option(
    "--expect",
    type=click.Choice(STRICTNESS),
    default=None,
    help="Make the scenario expect everything that holds at its end. placements: where pods are. queues: also where "
    "pods wait, and why. verdicts: also every verdict and score.",
)
@to_a_file
@with_plugins
@versioned
def command(
    scenario: str, form: str, expect: str | None, to: Path | None, version: Version, plugins: OwnPlugins
) -> int:
    """Play a scenario, and write the result."""
    if form != "scenario" and expect is not None:
        raise Unusable("use --expect with --as scenario")
    played = version.of(scenario_of(scenario, plugins))
    simulation = played_through(played)[1]
    write(_written(played, simulation, expect) if form == "scenario" else FORMS[form](simulation), to)
    return OK


def _written(scenario: Scenario, simulation: Simulation, strictness: str | None) -> str:
    expect = scenario.expect if strictness is None else tuple(expect_everything(simulation, strictness))
    return dump(replace(scenario, expect=expect))
