"""``run``: play a scenario, and show what happens line by line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from scheduler_engine.cli import DIFFERENT, OK
from scheduler_engine.cli.extenders import with_extenders
from scheduler_engine.cli.files import FILE, scenario_of
from scheduler_engine.cli.plugins import note_unused, with_plugins
from scheduler_engine.cli.version import by_rules, versioned
from scheduler_engine.own_plugins import OwnPlugins
from scheduler_engine.replay import entry_line
from scheduler_engine.scenario import Point, Scenario, run
from scheduler_engine.scenario.attempts import Attempt, RunView, attempts_in
from scheduler_engine.scenario.decision import decision
from scheduler_engine.scenario.failing import reasons
from scheduler_engine.scenario.version import Version
from scheduler_engine.scenario.why import idle_jobs, nobodys
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace import events as ev
from scheduler_engine.wording.entries import line

TABLED = (ev.FilterRan, ev.PreScoreRan, ev.ScoreRan, ev.NormalizeRan)
"""Events that are shown in the table of an attempt."""
DECIDED = (ev.HostSelected, ev.PodUnschedulable)
"""Events after which the table of an attempt is shown."""
EXPECTS_NOTHING = "it expects nothing"
COLOURS: dict[type[ev.Event], str] = {
    ev.CommandGiven: "cyan",
    ev.HostSelected: "green",
    ev.PodUnschedulable: "red",
}


@click.command()
@click.argument("scenario", metavar="FILE", type=FILE)
@click.option("--quiet", is_flag=True, help="Print only the result.")
@click.option("--json", "as_json", is_flag=True, help="Print the trace as JSON lines instead.")
@with_plugins
@with_extenders
@versioned
def command(scenario: str, quiet: bool, as_json: bool, version: Version, plugins: OwnPlugins) -> int:
    """Play a scenario, show what happens, and check what it expects.

    Exit status 0: as expected; 1: an expectation fails; 2: the file is invalid.
    """
    played = version.of(scenario_of(scenario, plugins))
    points, simulation = played_through(played)
    note_unused(simulation, plugins)
    if as_json and not quiet:
        for entry in simulation.recorder.entries:
            click.echo(entry_line(entry))
    elif not quiet:
        for text in transcript(simulation):
            click.echo(text)
        for text in (*nobodys(simulation).values(), *idle_jobs(simulation).values()):
            click.echo(click.style(text, fg="red"))
        click.echo(by_rules(simulation.rules))
    failures = [f"{played.where(path)}: {text}" for path, text in points]
    for failure in failures:
        click.echo(click.style("FAILED", fg="red", bold=True) + f": {failure}", err=as_json)
    said = EXPECTS_NOTHING if played.expects_nothing else result(len(failures))
    click.echo(f"{played.title}: {said}", err=as_json)
    return DIFFERENT if failures else OK


def played_through(scenario: Scenario) -> tuple[list[tuple[str, str]], Simulation]:
    """Return (path, text) of each failure, and the simulation at the end. Raises Rejected.

    The lines of a text after its first one say why.
    """
    failures: list[tuple[str, str]] = []
    last: Point | None = None
    for point in run(scenario):
        view = RunView(point.simulation)
        for failure in point.failures:
            lines = [failure.text, *(f"  {text}" for text in reasons(view, failure.expectation))]
            failures.append((failure.path, "\n".join(lines)))
        last = point
    assert last is not None
    return failures, last.simulation


def simulation_of(name: str, version: Version, own: OwnPlugins) -> Simulation:
    """Return the simulation at the end of the scenario in a file. Raises Unusable and Rejected."""
    simulation = played_through(version.of(scenario_of(name, own)))[1]
    note_unused(simulation, own)
    return simulation


def result(failures: int) -> str:
    """Return the result in words."""
    if not failures:
        return click.style("as expected", fg="green")
    return click.style("1 expectation not met" if failures == 1 else f"{failures} expectations not met", fg="red")


def transcript(simulation: Simulation) -> Iterator[str]:
    """Yield the trace line by line, with each attempt's results per node as a table."""
    by_cycle = {
        attempt.cycle: attempt for attempts in attempts_in(simulation.recorder.entries).values() for attempt in attempts
    }
    for entry in simulation.recorder.entries:
        event = entry.event
        if isinstance(event, TABLED):
            continue
        doer = f"[{entry.replica}] " if entry.replica else ""
        row = f"{entry.n:>5}  {entry.at_us / 1_000_000:>9.3f}s  {doer}{line(event)}"
        yield click.style(row, fg=COLOURS.get(type(event)))
        if isinstance(event, DECIDED):
            yield from (f"{'':19}{text}" for text in _table(by_cycle[event.cycle]))


def _table(attempt: Attempt) -> Sequence[str]:
    """Return the table without its first line, which the trace already shows."""
    return decision(attempt)[1:]
