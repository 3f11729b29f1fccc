"""``replay``: a log of commands, and its trace."""

from __future__ import annotations

import json

import click

from scheduler_engine.cli import OK
from scheduler_engine.cli.files import Unusable, read, shown
from scheduler_engine.cli.running import transcript
from scheduler_engine.replay import replay, trace_digest, trace_lines


@click.command()
@click.argument("log", metavar="FILE")
@click.option("--quiet", is_flag=True, help="Print the result only.")
@click.option("--json", "as_json", is_flag=True, help="Print the trace as JSON lines instead.")
def command(log: str, quiet: bool, as_json: bool) -> int:
    """Replay a log of commands (JSON) and print its trace; the last line holds the trace's SHA-256.

    Exit status 0: it was replayed; 2: the file is no log, or a command of it is refused.
    """
    try:
        data = json.loads(read(log))
    except (ValueError, RecursionError) as problem:
        raise Unusable(f"{shown(log)}: this is not valid JSON: {problem}") from problem
    if not isinstance(data, dict):
        raise Unusable(f"{shown(log)}: a log is an object with commands")
    simulation = replay(data)
    if not quiet:
        for text in trace_lines(simulation) if as_json else transcript(simulation):
            click.echo(text)
    told = f"{len(simulation.recorder.entries)} events, sha256 {trace_digest(simulation)}"
    click.echo(told, err=as_json and not quiet)
    return OK
