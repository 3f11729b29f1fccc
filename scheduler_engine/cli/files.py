"""A command's input and output files."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from scheduler_engine.config.reading import read_configuration
from scheduler_engine.framework.extender_calls import NO_CALLS, ExtenderCalls
from scheduler_engine.framework.interface import Plugin
from scheduler_engine.own_plugins import OwnPlugins
from scheduler_engine.scenario import Scenario, read_scenario
from scheduler_engine.scenario.yaml_file import FILE_LIMITS
from scheduler_engine.versions import Rules

STDIN = "-"
YAML = (".yaml", ".yml")
MANIFESTS = (".json", *YAML)
"""Endings of the files to read in a folder: of scenarios, and of manifests, as kubectl does."""

FILE = click.Path(allow_dash=True, readable=False)
"""The type of an argument that names a file, a folder or ``-``. It only tells shells to complete files."""

to_a_file = click.option(
    "--to", type=click.Path(path_type=Path), metavar="FILE", help="The file to write. Default: standard output."
)
"""Gives a command the option, and its function the argument ``to``."""


class Unusable(click.ClickException):
    """An error about a file, shown as one line on standard error."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        print(self.message, file=sys.stderr)


def shown(name: str) -> str:
    """Return a file's name for messages."""
    return "<stdin>" if name == STDIN else name


def all_files(names: Iterable[str], endings: tuple[str, ...] = YAML) -> list[str]:
    """Return the files, each once. A folder means the files in it and below with these endings, without hidden ones.

    Raises Unusable if a folder has none.
    """
    return list(dict.fromkeys(path for name in names for path in _in_a_folder(name, endings) or [name]))


def one_file(name: str, endings: tuple[str, ...] = YAML) -> str:
    """Return the file, or the only one in a folder. Raises Unusable if the folder has several."""
    inside = _in_a_folder(name, endings)
    if len(inside) > 1:
        raise Unusable(f"{name}: this folder has {len(inside)} files. Name one of them, such as {inside[0]}")
    return inside[0] if inside else name


def _in_a_folder(name: str, endings: tuple[str, ...]) -> list[str]:
    """Return the files in a folder and below, sorted; none if it is a file. Raises Unusable if the folder has none."""
    if name == STDIN or not Path(name).is_dir():
        return []
    found = sorted(
        path
        for path in Path(name).rglob("*")
        if path.suffix in endings and path.is_file() and not _is_hidden(path, Path(name))
    )
    if not found:
        raise Unusable(f"{name}: this folder has no files that end in {', '.join(endings)}")
    return [*map(str, found)]


def _is_hidden(path: Path, folder: Path) -> bool:
    """Return True for a file that is hidden, or in an environment of Python, which has scenarios of its own."""
    inside = path.relative_to(folder)
    return any(part.startswith(".") for part in inside.parts) or any(
        (folder / above / "pyvenv.cfg").exists() for above in [*inside.parents][:-1]
    )


def read(name: str) -> bytes:
    """Return the content of a file, or of standard input. Raises Unusable."""
    try:
        return sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
    except OSError as problem:
        raise Unusable(f"{shown(name)}: {problem.strerror}") from problem


def write(text: str, to: Path | None) -> None:
    """Write to a file, or to standard output. Raises Unusable."""
    if to is None:
        click.echo(text, nl=False)
        return
    try:
        to.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise Unusable(f"{to}: {problem.strerror}") from problem


def scenario_of(name: str, own: OwnPlugins) -> Scenario:
    """Return the scenario in a file. Raises Unusable or Rejected, which name file, line and column."""
    path = one_file(name)
    return read_scenario(read(path), shown(path), FILE_LIMITS, own)


def configuration_of(
    name: str, rules: Rules, own: Sequence[type[Plugin]], calls: ExtenderCalls = NO_CALLS
) -> dict[str, Any]:
    """Return a file's KubeSchedulerConfiguration. Raises Unusable or Rejected, which name file, line and column."""
    path = one_file(name, MANIFESTS)
    return read_configuration(read(path), shown(path), rules, own, calls)
