"""``diff``: compare two runs: where they differ first and why, where pods end, and how evenly nodes are used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TypeVar

import click

from scheduler_engine.answers.comparing import compare
from scheduler_engine.answers.many_seeds import compare_seeds, played
from scheduler_engine.cli import DIFFERENT, OK
from scheduler_engine.cli.comparison import text_of, unchanged
from scheduler_engine.cli.differing_lines import difference_lines
from scheduler_engine.cli.extenders import with_extenders
from scheduler_engine.cli.files import FILE, Unusable, configuration_of, scenario_of
from scheduler_engine.cli.formats import TEXT, echo_data, in_a_format
from scheduler_engine.cli.plugins import with_plugins
from scheduler_engine.cli.seeds_text import seeds_text
from scheduler_engine.cli.version import KNOWN, parsed
from scheduler_engine.errors import Rejected
from scheduler_engine.own_plugins import OwnPlugins
from scheduler_engine.scenario import Scenario
from scheduler_engine.scenario.version import Version
from scheduler_engine.simulation import Simulation
from scheduler_engine.versions import read_gates, rules_for, version_named
from scheduler_engine.words import say

MOST_SEEDS = 1_000
Value = TypeVar("Value")


def _versions(text: str) -> list[str]:
    """Return one or two versions."""
    named = text.split(",")
    if len(named) > 2:
        raise Rejected("name one or two versions")
    return [*map(version_named, named)]


@click.command()
@click.argument("first", metavar="FILE", type=FILE)
@click.argument("second", metavar="[FILE]", required=False, type=FILE)
@click.option(
    "--config",
    "configurations",
    metavar="FILE",
    type=FILE,
    multiple=True,
    help="Play the second run with this configuration. Twice: one for each run.",
)
@click.option(
    "--kubernetes",
    "versions",
    callback=parsed(_versions),
    metavar="VERSION[,VERSION]",
    help=f"Play the second run under this version of Kubernetes: {KNOWN}. Two: one for each run.",
)
@click.option(
    "--feature-gates",
    "gates",
    callback=parsed(read_gates),
    metavar="GATES",
    multiple=True,
    help="Play the second run with these feature gates, such as OpportunisticBatching=false. Twice: one for each run.",
)
@click.option("--seeds", type=click.IntRange(1, MOST_SEEDS), metavar="N", help="Compare with the seeds 1 to N.")
@click.option("--details", is_flag=True, help="Print every difference, pod by pod, instead of the summary.")
@in_a_format
@with_plugins
@with_extenders
def command(
    first: str,
    second: str | None,
    configurations: Sequence[str],
    versions: Sequence[str] | None,
    gates: Sequence[Mapping[str, bool]],
    seeds: int | None,
    details: bool,
    output: str,
    plugins: OwnPlugins,
) -> int:
    """Play two scenarios, or one with two configurations or under two versions of Kubernetes, and compare.

    Exit status 0: no differences; 1: differences; 2: a file or an option is invalid.
    """
    if details and (seeds is not None or output != TEXT):
        raise Unusable("diff: use --details without --seeds and --output")
    if second is None and not (configurations or versions or gates):
        raise Unusable("diff: name a second file, or use --config or --kubernetes")
    one = scenario_of(first, plugins)
    other = one if second is None else scenario_of(second, plugins)
    one, other = _configured(*_under_versions(one, other, versions or (), gates), configurations)
    if seeds is not None:
        return _with_seeds(one, other, seeds, output)
    runs = played(one), played(other)
    if details:
        return _details(difference_lines(*runs))
    return _summary(*runs, output)


def _under_versions(
    one: Scenario, other: Scenario, versions: Sequence[str], gates: Sequence[Mapping[str, bool]]
) -> tuple[Scenario, Scenario]:
    if len(gates) > 2:
        raise Unusable("diff: use --feature-gates at most twice")
    kubernetes, feature_gates = _for_each(versions), _for_each(gates)
    return Version(kubernetes[0], feature_gates[0]).of(one), Version(kubernetes[1], feature_gates[1]).of(other)


def _configured(one: Scenario, other: Scenario, configurations: Sequence[str]) -> tuple[Scenario, Scenario]:
    if len(configurations) > 2:
        raise Unusable("diff: use --config at most twice")
    first, second = _for_each(configurations)
    return _with(one, first), _with(other, second)


def _for_each(values: Sequence[Value]) -> tuple[Value | None, Value | None]:
    """Return the values for both runs: a single one is for the second."""
    first = values[0] if len(values) == 2 else None
    return first, values[-1] if values else None


def _with(scenario: Scenario, name: str | None) -> Scenario:
    """Return the scenario with the configuration in a file, which its version must accept."""
    if name is None:
        return scenario
    rules = rules_for(scenario.kubernetes, scenario.feature_gates)
    return replace(scenario, configuration=configuration_of(name, rules, scenario.plugins, scenario.extenders))


def _details(lines: Iterable[str]) -> int:
    differ = False
    for text in lines:
        differ = True
        colour = {"-": "red", "+": "green"}.get(text[:1])
        click.echo(click.style(text, fg=colour))
    if not differ:
        click.echo(say("comparison.same"))
    return DIFFERENT if differ else OK


def _summary(one: Simulation, other: Simulation, output: str) -> int:
    comparison = compare(one, other)
    in_details = not comparison.differs and any(difference_lines(one, other))
    if output != TEXT:
        echo_data(output, {"differs": comparison.differs or in_details, **asdict(comparison)})
    elif comparison.differs:
        _echo(text_of(comparison))
    else:
        _echo(unchanged(comparison, in_details))
    return DIFFERENT if comparison.differs or in_details else OK


def _with_seeds(one: Scenario, other: Scenario, seeds: int, output: str) -> int:
    result = compare_seeds(one, other, range(1, seeds + 1))
    if output != TEXT:
        echo_data(output, {"differs": result.differs, **asdict(result)})
    else:
        _echo(seeds_text(result))
    return DIFFERENT if result.differs else OK


def _echo(lines: Iterable[str]) -> None:
    for text in lines:
        click.echo(text)
