"""``new-lesson``: write a lesson to start with."""

from __future__ import annotations

from pathlib import Path

import click

from scheduler_engine.cli import NAME, OK
from scheduler_engine.cli.files import Unusable, write
from scheduler_engine.lesson import TEMPLATE


@click.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
def command(file: Path) -> int:
    """Write a small lesson to start with: a prediction, a figure and a task.

    This does not overwrite an existing file.
    """
    if file.exists():
        raise Unusable(f"{file}: File exists")
    write(TEMPLATE.read_text(encoding="utf-8"), file)
    click.echo(str(file))
    click.echo(f"Next: {NAME} check {file}, or see it run as you write: LESSON={file} make run")
    return OK
