"""A command's input and output files."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from scheduler_engine.config.reading import read_configuration
from scheduler_engine.framework.interface import Plugin
from scheduler_engine.own_plugins import OwnPlugins
from scheduler_engine.scenario import Scenario, read_scenario
from scheduler_engine.scenario.yaml_file import FILE_LIMITS
from scheduler_engine.versions import Rules

STDIN = "-"
ENDINGS = (".yaml", ".yml")
"""Endings of the files to read in a folder."""


class Unusable(click.ClickException):
    """An error about a file, shown as one line on standard error."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        print(self.message, file=sys.stderr)


def shown(name: str) -> str:
    """Return a file's name for messages."""
    return "<stdin>" if name == STDIN else name


def yaml_files(names: Iterable[str]) -> Iterator[str]:
    """Yield the files, with a folder replaced by its YAML files at any depth, sorted; itself if it has none."""
    for name in names:
        if name == STDIN or not Path(name).is_dir():
            yield name
            continue
        inside = sorted(path for path in Path(name).rglob("*") if path.suffix in ENDINGS and path.is_file())
        yield from map(str, inside or [Path(name)])


def read(name: str) -> bytes:
    """Return the content of a file, or of standard input. Raises Unusable."""
    try:
        return sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
    except IsADirectoryError as problem:
        raise Unusable(f"{name}: this is a folder. Name a YAML file in it.") from problem
    except OSError as problem:
        raise Unusable(f"{shown(name)}: {problem.strerror}") from problem


def write(text: str, output: Path | None) -> None:
    """Write to a file, or to standard output. Raises Unusable."""
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise Unusable(f"{output}: {problem.strerror}") from problem


def scenario_of(name: str, own: OwnPlugins) -> Scenario:
    """Return the scenario in a file. Raises Unusable or Rejected, which name file, line and column."""
    return read_scenario(read(name), shown(name), FILE_LIMITS, own)


def configuration_of(name: str, rules: Rules, own: Sequence[type[Plugin]]) -> dict[str, Any]:
    """Return a file's KubeSchedulerConfiguration. Raises Unusable or Rejected, which name file, line and column."""
    return read_configuration(read(name), shown(name), rules, own)
