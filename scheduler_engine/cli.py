"""``run`` and ``replay``: a scenario or a log of commands from the command line, told line by line."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from scheduler_engine.errors import Rejected
from scheduler_engine.replay import replay, trace_digest, trace_lines
from scheduler_engine.scenario import check, load_scenario, play
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace.text import line


def register(commands: Any) -> None:
    """Add both subcommands."""
    run = commands.add_parser("run", help="run a scenario file and check what it expects")
    run.add_argument("scenario", type=Path, help="a YAML file as in fixtures/scenarios")
    run.set_defaults(run=_run)
    again = commands.add_parser("replay", help="replay a log of commands (JSON) and print its trace")
    again.add_argument("log", type=Path)
    for parser in (run, again):
        parser.add_argument("--json", action="store_true", help="print trace entries as JSON lines")
        parser.add_argument("--quiet", action="store_true", help="print no trace, only the result")
    again.set_defaults(run=_replay)


def _run(arguments: argparse.Namespace) -> int:
    try:
        scenario = load_scenario(arguments.scenario)
        simulation = scenario.open()
        play(simulation, scenario.then)
    except (OSError, Rejected) as problem:
        return _refuse(problem)
    _print(simulation, arguments)
    failures = check(simulation, scenario)
    for failure in failures:
        print(f"FAILED: {failure}")
    print(f"{scenario.title}: {'as expected' if not failures else f'{len(failures)} expectations not met'}")
    return 1 if failures else 0


def _replay(arguments: argparse.Namespace) -> int:
    try:
        simulation = replay(json.loads(arguments.log.read_text(encoding="utf-8")))
    except (OSError, ValueError, Rejected) as problem:
        return _refuse(problem)
    _print(simulation, arguments)
    print(f"{len(simulation.recorder.entries)} events, sha256 {trace_digest(simulation)}")
    return 0


def _refuse(problem: Exception) -> int:
    for text in problem.errors if isinstance(problem, Rejected) else [problem]:
        print(text, file=sys.stderr)
    return 2


def _print(simulation: Simulation, arguments: argparse.Namespace) -> None:
    if arguments.quiet:
        return
    if arguments.json:
        print(*trace_lines(simulation), sep="\n")
        return
    for entry in simulation.recorder.entries:
        doer = f"[{entry.replica}] " if entry.replica else ""
        print(f"{entry.n:>5}  {entry.at_us / 1_000_000:>9.3f}s  {doer}{line(entry.event)}")
