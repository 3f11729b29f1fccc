"""``validate``: report what the API server would say about manifests, without applying them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import click

from scheduler_engine.api.checking import Checked, check_text
from scheduler_engine.api.parsing import Limits
from scheduler_engine.cli import DIFFERENT, OK, UNUSABLE
from scheduler_engine.cli.files import FILE, MANIFESTS, Unusable, all_files, read, shown
from scheduler_engine.cli.version import JUDGE, by_rules, version_data, versioned
from scheduler_engine.errors import FieldError
from scheduler_engine.scenario.version import Version
from scheduler_engine.versions import Rules

LIMITS = Limits(size=64 * 1024 * 1024, nodes=5_000_000, documents=100_000)
"""Higher than for pasted text, because only the person at the command line waits for it."""


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of lines.")
@partial(versioned, meaning=JUDGE)
def command(files: tuple[str, ...], as_json: bool, version: Version) -> int:
    """Report what the API server would say about manifests, without applying them.

    A folder means all YAML and JSON files in it and below.

    Exit status 0: all would be accepted; 1: one would be refused; 2: a file cannot be read.
    """
    checked: dict[str, Checked] = {}
    status, rules = OK, version.rules()
    for name in files:
        try:
            for path in all_files([name], MANIFESTS):
                checked[path] = check_text(read(path), LIMITS, rules)
        except Unusable as problem:
            problem.show()
            status = UNUSABLE
    if as_json:
        click.echo(json.dumps(_as_json(checked, rules), indent=1, ensure_ascii=False))
    else:
        for text in _lines(checked):
            click.echo(text)
        click.echo(by_rules(rules))
    refused = any(result.errors for result in checked.values())
    return status or (DIFFERENT if refused else OK)


def _lines(checked: dict[str, Checked]) -> Iterator[str]:
    """Yield ``FILE:LINE:COLUMN: error: OBJECT: PATH: TEXT`` lines in the order of each file, then a summary."""
    for name, result in checked.items():
        problems = [(problem, "error") for problem in result.errors] + [(item, "warning") for item in result.warnings]
        for problem, word in sorted(problems, key=lambda pair: (pair[0].line, pair[0].column)):
            place = f":{problem.line}:{problem.column}" if problem.line else ""
            about = f"{problem.object_name}: " if problem.object_name else ""
            yield f"{shown(name)}{place}: {word}: {about}{problem}"
    results = checked.values()
    counts = (
        _count(sum(len(result.manifests) for result in results), "object"),
        _count(sum(len(result.errors) for result in results), "error", any(result.more_errors for result in results)),
        _count(
            sum(len(result.warnings) for result in results), "warning", any(result.more_warnings for result in results)
        ),
    )
    yield ", ".join(counts)


def _count(number: int, word: str, more: bool = False) -> str:
    return f"{'more than ' if more else ''}{number} {word}{'' if number == 1 else 's'}"


def _as_json(checked: dict[str, Checked], rules: Rules) -> dict[str, Any]:
    files = [
        {
            "file": name,
            "objects": len(result.manifests),
            "errors": [_problem(problem) for problem in result.errors],
            "warnings": [_problem(problem) for problem in result.warnings],
            "more": result.more_errors or result.more_warnings,
        }
        for name, result in checked.items()
    ]
    valid = not any(result.errors for result in checked.values())
    return {"valid": valid, **version_data(rules), "files": files}


def _problem(problem: FieldError) -> dict[str, Any]:
    return {
        "object": problem.object_name,
        "document": problem.document,
        "line": problem.line,
        "column": problem.column,
        "path": problem.path,
        "type": problem.kind,
        "message": problem.message,
    }
