"""``leave``: tell what becomes of the pods if nodes are drained or lost, and which nodes could be removed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import click

from scheduler_engine.answers import leaving_phrases
from scheduler_engine.answers.leaving import Leaving, drain, lose, removable, removable_together
from scheduler_engine.cli import DIFFERENT, OK
from scheduler_engine.cli.files import FILE, Unusable
from scheduler_engine.cli.fitting import show
from scheduler_engine.cli.formats import in_a_format
from scheduler_engine.cli.plugins import with_plugins
from scheduler_engine.cli.running import simulation_of
from scheduler_engine.cli.version import versioned
from scheduler_engine.own_plugins import OwnPlugins
from scheduler_engine.scenario.version import Version
from scheduler_engine.simulation import Simulation
from scheduler_engine.words import say

ZONE = "topology.kubernetes.io/zone"


@click.command()
@click.argument("scenario", metavar="FILE", type=FILE)
@click.option("--node", metavar="NAME", help="Drain this node.")
@click.option("--zone", metavar="ZONE", help="Lose all nodes of this zone at once.")
@click.option("--removable", "all_nodes", is_flag=True, help="Try to drain each node, then as many as possible.")
@in_a_format
@with_plugins
@versioned
def command(
    scenario: str,
    node: str | None,
    zone: str | None,
    all_nodes: bool,
    output: str,
    version: Version,
    plugins: OwnPlugins,
) -> int:
    """Tell what becomes of the pods at the end of a scenario if nodes leave. The scenario does not change.

    Exit status 0: every pod has a place; 1: some have none, or no node can be removed; 2: an option is invalid.
    """
    if sum((node is not None, zone is not None, all_nodes)) != 1:
        raise Unusable("use one of --node, --zone and --removable")
    simulation = simulation_of(scenario, version, plugins)
    if all_nodes:
        return _removable(simulation, output)
    if node is not None:
        if simulation.api.get("Node", node) is None:
            raise Unusable(f'nodes "{node}" not found')
        left = drain(simulation, node)
    else:
        nodes = [item.name for item in simulation.api.list("Node") if item.labels.get(ZONE) == zone]
        if not nodes:
            raise Unusable(f"no node has the label {ZONE}={zone}")
        left = lose(simulation, nodes)
    show(output, _data(left), _lines(left), simulation.rules)
    return OK if left.is_fine else DIFFERENT


def _removable(simulation: Simulation, output: str) -> int:
    alone, together = dict(removable(simulation)), [node for node, can_go in removable_together(simulation) if can_go]
    answer = {"nodes": {node: _data(left) for node, left in alone.items()}, "together": together}
    show(output, answer, _lines_removable(alone, together), simulation.rules)
    return OK if together else DIFFERENT


def _data(left: Leaving) -> dict[str, Any]:
    return {"fine": left.is_fine, **asdict(left)}


def _lines(left: Leaving) -> Iterator[str]:
    yield from map(leaving_phrases.outcome, left.leavers)
    yield from map(leaving_phrases.displaced, left.displaced)
    yield from leaving_phrases.verdicts(left)


def _lines_removable(alone: Mapping[str, Leaving], together: Sequence[str]) -> Iterator[str]:
    for node, left in alone.items():
        if left.can_go:
            yield say("leaving.can-go", node=node)
            continue
        yield say("leaving.cannot-go", node=node, counts=leaving_phrases.why_not(left))
    if together:
        yield say("leaving.together", count=len(together), nodes=", ".join(together))
    else:
        yield say("leaving.none-together")
