"""``convert-policy``: convert a Scheduling Policy to a KubeSchedulerConfiguration."""

from __future__ import annotations

from pathlib import Path

import click

from scheduler_engine.cli import OK
from scheduler_engine.cli.files import FILE, MANIFESTS, Unusable, one_file, read, shown, to_a_file, write
from scheduler_engine.config.policy import Notice, read_policy
from scheduler_engine.config.reading import in_file
from scheduler_engine.errors import Rejected
from scheduler_engine.scenario.yaml_text import documents


@click.command()
@click.argument("file", metavar="FILE", type=FILE)
@to_a_file
@click.option("--quiet", is_flag=True, help="Do not list what was implied, what is different and what is gone.")
def command(file: str, to: Path | None, quiet: bool) -> int:
    """Convert a scheduling policy, which kube-scheduler read before v1.23, to a KubeSchedulerConfiguration.

    Exit status 0: the configuration is written; 2: the file cannot be read, or is not a valid policy.
    """
    file = one_file(file, MANIFESTS)
    try:
        converted = read_policy(read(file).decode())
    except UnicodeDecodeError as problem:
        raise Unusable(f"{shown(file)}: the text is not UTF-8") from problem
    except Rejected as refusal:
        raise Rejected("\n".join(in_file(shown(file), error) for error in refusal.errors)) from refusal
    write(documents([converted.configuration]), to)
    if not quiet:
        for notice in converted.notices:
            click.echo(f"{shown(file)}{_place(notice)}", err=True)
    return OK


def _place(notice: Notice) -> str:
    """Return ``:7: predicates[1]: text``, or ``: text`` for the whole file."""
    return f":{notice.line}: {notice.path}: {notice.text}" if notice.path else f": {notice.text}"
