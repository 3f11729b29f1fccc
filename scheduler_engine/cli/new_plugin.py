"""``new-plugin``: write a small repository with a plugin, to start with."""

from __future__ import annotations

from pathlib import Path

import click

from scheduler_engine.cli import NAME, OK
from scheduler_engine.cli.files import Unusable, write

TEMPLATE = Path(__file__).parent / "plugin_template"
PLUGIN = "maintenance:Maintenance"
ENDING = ".txt"
"""The end of a template's name, which the file that is written does not have."""


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def command(folder: Path) -> int:
    """Write a small repository to start with: a plugin of your own, its tests, a scenario and its settings.

    DIR must not exist, or be empty.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        in_use = any(folder.iterdir())
    except OSError as problem:
        raise Unusable(f"{folder}: {problem.strerror}") from problem
    if in_use:
        raise Unusable(f"{folder}: the folder is not empty")
    for path in sorted(TEMPLATE.glob(f"*{ENDING}")):
        written = folder / path.name.removesuffix(ENDING)
        write(path.read_text(encoding="utf-8"), written)
        click.echo(str(written))
    click.echo(f"Next: cd {folder}, then python -m pytest, and {NAME} run maintenance.scenario.yaml --plugin {PLUGIN}")
    return OK
