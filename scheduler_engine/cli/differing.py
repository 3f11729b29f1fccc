"""``diff``: compare two runs: where they differ first and why, where pods end, and how evenly nodes are used."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace

import click

from scheduler_engine.answers.comparing import compare
from scheduler_engine.answers.many_seeds import compare_seeds, played
from scheduler_engine.cli import DIFFERENT, OK
from scheduler_engine.cli.comparison import text_of
from scheduler_engine.cli.differing_lines import difference_lines
from scheduler_engine.cli.files import Unusable, configuration_of, scenario_of
from scheduler_engine.cli.seeds_text import seeds_text
from scheduler_engine.scenario import Scenario
from scheduler_engine.simulation import Simulation
from scheduler_engine.words import say

TEXT, JSON = FORMATS = ("text", "json")
MOST_SEEDS = 1_000


@click.command()
@click.argument("first", metavar="FILE")
@click.argument("second", metavar="[FILE]", required=False)
@click.option(
    "--config",
    "configurations",
    metavar="FILE",
    multiple=True,
    help="Play the second run with this configuration. Twice: one for each run.",
)
@click.option("--seeds", type=click.IntRange(1, MOST_SEEDS), metavar="N", help="Compare with the seeds 1 to N.")
@click.option("--details", is_flag=True, help="Print every difference, pod by pod, instead of the summary.")
@click.option("--output", type=click.Choice(FORMATS), default=TEXT, show_default=True)
def command(
    first: str, second: str | None, configurations: Sequence[str], seeds: int | None, details: bool, output: str
) -> int:
    """Play two scenarios, or one with two configurations, and compare.

    Exit status 0: no differences; 1: differences; 2: a file or an option is invalid.
    """
    if details and (seeds is not None or output == JSON):
        raise Unusable("diff: use --details without --seeds and --output json")
    one, other = _scenarios(first, second, configurations)
    if seeds is not None:
        return _with_seeds(one, other, seeds, output)
    runs = played(one), played(other)
    if details:
        return _details(difference_lines(*runs))
    return _summary(*runs, output)


def _scenarios(first: str, second: str | None, configurations: Sequence[str]) -> tuple[Scenario, Scenario]:
    if len(configurations) > 2:
        raise Unusable("diff: use --config at most twice")
    if second is None and not configurations:
        raise Unusable("diff: name a second file, or use --config")
    one = scenario_of(first)
    other = one if second is None else scenario_of(second)
    if configurations:
        other = replace(other, configuration=configuration_of(configurations[-1]))
    if len(configurations) == 2:
        one = replace(one, configuration=configuration_of(configurations[0]))
    return one, other


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
    if output == JSON:
        click.echo(json.dumps({"differs": comparison.differs or in_details, **asdict(comparison)}, indent=2))
    elif comparison.differs:
        _echo(text_of(comparison))
    else:
        click.echo(say("comparison.only-details") if in_details else say("comparison.same"))
    return DIFFERENT if comparison.differs or in_details else OK


def _with_seeds(one: Scenario, other: Scenario, seeds: int, output: str) -> int:
    result = compare_seeds(one, other, range(1, seeds + 1))
    if output == JSON:
        click.echo(json.dumps({"differs": result.differs, **asdict(result)}, indent=2))
    else:
        _echo(seeds_text(result))
    return DIFFERENT if result.differs else OK


def _echo(lines: Iterable[str]) -> None:
    for text in lines:
        click.echo(text)
