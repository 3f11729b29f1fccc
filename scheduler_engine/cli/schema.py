"""``schema``: print the JSON Schema of scenario files, lessons or figures."""

from __future__ import annotations

import click

from scheduler_engine.cli import OK
from scheduler_engine.lesson.schema import SCHEMAS
from scheduler_engine.scenario.schema import text_of


@click.command()
@click.argument("kind", type=click.Choice([*SCHEMAS]), default="scenario")
def command(kind: str) -> int:
    """Print the JSON Schema of scenario files, or of lessons or figures. Editors complete and check files with it."""
    click.echo(text_of(SCHEMAS[kind]()), nl=False)
    return OK
