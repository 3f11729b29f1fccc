"""``replay``: replay a log of commands, and print its trace."""

from __future__ import annotations

import json

import click

from scheduler_engine.cli import OK
from scheduler_engine.cli.files import FILE, Unusable, one_file, read, shown
from scheduler_engine.cli.plugins import with_plugins
from scheduler_engine.cli.running import transcript
from scheduler_engine.own_plugins import OwnPlugins
from scheduler_engine.replay import replay, trace_digest, trace_lines


@click.command()
@click.argument("log", metavar="FILE", type=FILE)
@click.option("--quiet", is_flag=True, help="Print only the result.")
@click.option("--json", "as_json", is_flag=True, help="Print the trace as JSON lines instead.")
@with_plugins
def command(log: str, quiet: bool, as_json: bool, plugins: OwnPlugins) -> int:
    """Replay a log of commands (JSON) and print its trace. The last line has the SHA-256 of the trace.

    Exit status 0: the log was replayed; 2: the file is not a valid log, or one of its commands is refused.
    """
    log = one_file(log, (".json",))
    try:
        data = json.loads(read(log))
    except UnicodeDecodeError as problem:
        raise Unusable(f"{shown(log)}: the text is not UTF-8") from problem
    except (ValueError, RecursionError) as problem:
        raise Unusable(f"{shown(log)}: this is not valid JSON: {problem}") from problem
    if not isinstance(data, dict):
        raise Unusable(f"{shown(log)}: a log must be a JSON object with commands")
    simulation = replay(data, own=plugins.known)
    if not quiet:
        for text in trace_lines(simulation) if as_json else transcript(simulation):
            click.echo(text)
    summary = f"{len(simulation.recorder.entries)} events, sha256 {trace_digest(simulation)}"
    click.echo(summary, err=as_json and not quiet)
    return OK
