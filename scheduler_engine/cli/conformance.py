"""``conformance``: compare the engine with recordings of the real scheduler."""

from __future__ import annotations

import json
from pathlib import Path

import click

from scheduler_engine.cli import DIFFERENT, OK
from scheduler_engine.cli.files import Unusable, write
from scheduler_engine.conformance.runner import as_json, report, run_paths


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--family", multiple=True, metavar="NAME", help="Run only this family. You can repeat it.")
@click.option(
    "--first", type=click.IntRange(0), default=3, metavar="N", help="Show this many failures per family. Default: 3."
)
@click.option("--full", is_flag=True, help="Also write the tables that the workbench shows.")
@click.option(
    "--json", "output", type=click.Path(path_type=Path), metavar="FILE", help="Also write the result to FILE as JSON."
)
def command(paths: tuple[Path, ...], family: tuple[str, ...], first: int, full: bool, output: Path | None) -> int:
    """Run recordings (*.jsonl, *.jsonl.gz, or folders of these) and report the differences.

    Exit status 0: every recording passes; 1: one fails; 2: there are no recordings, or they cannot be read.
    """
    try:
        results = run_paths([*paths], [*family] or None, full=full)
    except (OSError, ValueError) as problem:
        raise Unusable(f"cannot run: {problem}") from problem
    if not results:
        raise Unusable(f"no recordings found{' of the family ' if family else ''}{' or '.join(family)}")
    for text in report(results, first):
        click.echo(text)
    if output is not None:
        write(json.dumps(as_json(results), indent=1, ensure_ascii=False) + "\n", output)
    return OK if all(result.passed == result.total for result in results) else DIFFERENT
