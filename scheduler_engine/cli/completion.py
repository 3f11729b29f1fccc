"""``completion``: print a script that completes commands and options in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from scheduler_engine.cli import NAME, OK, program

SHELLS = ("bash", "zsh", "fish")
VARIABLE = f"_{NAME.replace('-', '_').upper()}_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> int:
    """Print the script that completes commands and options of scheduler-sandbox in a SHELL.

    For bash: scheduler-sandbox completion bash >> ~/.bashrc
    """
    click.echo(script(shell))
    return OK


def script(shell: str) -> str:
    """Return the script for one of ``SHELLS``."""
    completion = get_completion_class(shell)
    assert completion is not None
    return completion(program, {}, NAME, VARIABLE).source()
