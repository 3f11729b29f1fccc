"""``python -m scheduler_engine conformance``: run recordings of the real scheduler and report what differs.

A recording is a file of JSON lines (gzip or not), one scenario per line; a line's content shows its kind.
"""

from __future__ import annotations

import gzip
import json
import sys
import traceback
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from scheduler_engine.conformance import api, cache, config, cycle, e2e, leaderelection, queue

Case = dict[str, Any]

STDIN = Path("-")
"""The name of standard input."""
SHOWN_LINES = 8
"""Differences printed per scenario."""


@dataclass(frozen=True, slots=True)
class Kind:
    """``detects`` recognises a scenario; ``run`` returns its differences. ``in_full``: the same with tables in the
    trace, for kinds in which the engine then does more.
    """

    name: str
    detects: Callable[[Case], bool]
    run: Callable[[Case], list[str]]
    in_full: Callable[[Case], list[str]] | None = None


KINDS: tuple[Kind, ...] = (
    Kind("cycle", lambda case: "pending" in case and "expect" in case, cycle.run, partial(cycle.run, full=True)),
    Kind("config", lambda case: case.get("op") == "config", config.run),
    Kind("leaderelection", lambda case: "electors" in case or "lockError" in case, leaderelection.run),
    Kind("cache", lambda case: "ttl" in case, cache.run),
    Kind("queue", lambda case: "ops" in case, queue.run),
    Kind("e2e", lambda case: "commands" in case, e2e.run, partial(e2e.run, full=True)),
    Kind("api", lambda case: case.get("op") in api.OPS, api.run),
)
"""In the order of trying."""


@dataclass(slots=True)
class Family:
    """The result of one family; ``failures`` are (scenario, differences)."""

    kind: str
    name: str
    total: int = 0
    passed: int = 0
    failures: list[tuple[str, list[str]]] = field(default_factory=list)


def run_paths(paths: list[Path], families: list[str] | None = None, *, full: bool = False) -> list[Family]:
    """Run every scenario in ``paths`` (only of ``families``, if given). ``full``: with tables in the trace.

    Raises OSError or ValueError for a file that cannot be read as a recording.
    """
    results: dict[tuple[str, str], Family] = {}
    for file in recordings(paths):
        for case in read_cases(file):
            if families and case.get("family") not in families:
                continue
            kind = kind_of(case)
            if kind is None:
                raise ValueError(f"{file}: scenario {case.get('id')} is of no known kind")
            name = str(case.get("family", file.name.split(".")[0]))
            result = results.setdefault((kind.name, name), Family(kind.name, name))
            _count(result, (kind.in_full if full else None) or kind.run, case)
    return list(results.values())


def _count(result: Family, run: Callable[[Case], list[str]], case: Case) -> None:
    result.total += 1
    lines = run_case(run, case)
    if lines:
        result.failures.append((str(case.get("id")), lines))
    else:
        result.passed += 1


def run_case(run: Callable[[Case], list[str]], case: Case) -> list[str]:
    """Return the differences; an exception counts as one, so that the other scenarios still run."""
    try:
        return run(case)
    except Exception as problem:  # noqa: BLE001 - reported as a failure of the scenario, with its place
        frame = traceback.extract_tb(problem.__traceback__)[-1]
        return [f"{type(problem).__name__}: {problem} ({Path(frame.filename).name}:{frame.lineno} in {frame.name})"]


def kind_of(case: Case) -> Kind | None:
    return next((kind for kind in KINDS if kind.detects(case)), None)


def recordings(paths: list[Path]) -> list[Path]:
    """Return the recording files in ``paths`` (files and folders), sorted by name within a folder."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            files += sorted(file for file in path.rglob("*") if file.name.endswith((".jsonl", ".jsonl.gz")))
        else:
            files.append(path)
    return files


def read_cases(file: Path) -> Iterator[Case]:
    """Yield the scenarios of one file. Raises OSError or ValueError when it cannot be read."""
    raw = sys.stdin.buffer.read() if file == STDIN else file.read_bytes()
    try:
        text = (gzip.decompress(raw) if file.suffix == ".gz" else raw).decode()
    except (EOFError, UnicodeDecodeError, zlib.error) as problem:
        raise ValueError(f"{file}: {problem}") from problem
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                case = json.loads(line)
            except (ValueError, RecursionError) as problem:
                raise ValueError(f"{file}:{number}: this is not valid JSON: {problem}") from problem
            if not isinstance(case, dict):
                raise ValueError(f"{file}:{number}: this line is not a scenario")
            yield case


def report(results: list[Family], first: int) -> Iterator[str]:
    """Yield the lines to print: each family, its first ``first`` failing scenarios, the total last."""
    for family in results:
        yield f"{family.kind:15} {family.name:25} {family.passed}/{family.total}"
        for name, lines in family.failures[:first]:
            yield f"    {name}"
            yield from (f"        {line}" for line in lines[:SHOWN_LINES])
            if len(lines) > SHOWN_LINES:
                yield f"        … and {len(lines) - SHOWN_LINES} more"
        if len(family.failures) > first:
            yield f"    … and {len(family.failures) - first} more scenarios"
    yield f"total {sum(family.passed for family in results)}/{sum(family.total for family in results)}"


def as_json(results: list[Family]) -> dict[str, Any]:
    return {
        "passed": sum(family.passed for family in results),
        "total": sum(family.total for family in results),
        "families": [
            {
                "kind": family.kind,
                "family": family.name,
                "passed": family.passed,
                "total": family.total,
                "failures": [{"id": name, "differences": lines} for name, lines in family.failures],
            }
            for family in results
        ],
    }
