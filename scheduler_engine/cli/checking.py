"""``check``: many scenarios, a line each."""

from __future__ import annotations

import sys

import click

from scheduler_engine.cli import DIFFERENT, OK, UNUSABLE
from scheduler_engine.cli.files import Unusable, scenario_of
from scheduler_engine.cli.running import played_through
from scheduler_engine.errors import Rejected


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
def command(files: tuple[str, ...]) -> int:
    """Play scenarios and check what they expect.

    Exit status 0: all is as expected; 1: an expectation does not hold; 2: a file is no scenario.
    """
    status = OK
    for name in files:
        try:
            scenario = scenario_of(name)
            failures = [f"{scenario.where(path)}: {text}" for path, text in played_through(scenario)[0]]
        except (Unusable, Rejected) as problem:
            _tell("error", "red", name, "")
            for text in problem.errors if isinstance(problem, Rejected) else [problem.message]:
                print(f"       {text}", file=sys.stderr)
            status = UNUSABLE
            continue
        _tell("FAIL" if failures else "ok", "red" if failures else "green", name, scenario.title)
        for failure in failures:
            click.echo(f"       {failure}")
        status = max(status, DIFFERENT if failures else OK)
    return status


def _tell(word: str, colour: str, name: str, title: str) -> None:
    click.echo(f"{click.style(word.ljust(5), fg=colour)}  {name}  {title}".rstrip())
