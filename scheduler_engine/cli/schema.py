"""``schema``: print the JSON Schema of scenario files."""

from __future__ import annotations

import click

from scheduler_engine.cli import OK
from scheduler_engine.scenario.schema import text


@click.command()
def command() -> int:
    """Print the JSON Schema of scenario files. Editors complete and check files with it."""
    click.echo(text(), nl=False)
    return OK
