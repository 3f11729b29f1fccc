"""``check``: play many scenarios, and print one line for each."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click

from scheduler_engine.cli import DIFFERENT, OK, UNUSABLE
from scheduler_engine.cli.files import STDIN, Unusable, read, shown, yaml_files
from scheduler_engine.cli.running import played_through
from scheduler_engine.cli.version import versioned
from scheduler_engine.errors import Rejected
from scheduler_engine.lesson import problems_of, read_lesson
from scheduler_engine.lesson.format import KIND as LESSON
from scheduler_engine.scenario import read_scenario
from scheduler_engine.scenario.version import Version
from scheduler_engine.scenario.yaml_file import FILE_LIMITS, document_in


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@versioned
def command(files: tuple[str, ...], version: Version) -> int:
    """Play scenarios and lessons, and check what they expect. A folder means all YAML files in it and below.

    Exit status 0: all is as expected; 1: an expectation fails; 2: a file is not a valid scenario or lesson.
    """
    status = OK
    for name in [*yaml_files(files)]:
        try:
            title, failures = _played(read(name), shown(name) if name == STDIN else Path(name).name, version)
        except (Unusable, Rejected) as problem:
            _tell("error", "red", name, "")
            for text in problem.errors if isinstance(problem, Rejected) else [problem.message]:
                print(f"       {text}", file=sys.stderr)
            status = UNUSABLE
            continue
        _tell("FAIL" if failures else "ok", "red" if failures else "green", name, title)
        for failure in failures:
            click.echo(f"       {failure}")
        status = max(status, DIFFERENT if failures else OK)
    return status


def _played(text: bytes, name: str, version: Version) -> tuple[str, list[str]]:
    """Return the title of a scenario or lesson, and its failures. Raises Rejected."""
    if document_in(text, name, FILE_LIMITS, "scenario").data.get("kind") == LESSON:
        lesson = read_lesson(text, name, FILE_LIMITS)
        return lesson.title, problems_of(replace(lesson, scenario=version.of(lesson.scenario)))
    scenario = version.of(read_scenario(text, name, FILE_LIMITS))
    return scenario.title, [f"{scenario.where(path)}: {text}" for path, text in played_through(scenario)[0]]


def _tell(word: str, colour: str, name: str, title: str) -> None:
    click.echo(f"{click.style(word.ljust(5), fg=colour)}  {name}  {title}".rstrip())
