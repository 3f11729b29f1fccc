"""``import``: dumps of real clusters, manifests and snapshots of the simulator become a scenario file."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from scheduler_engine.errors import Rejected
from scheduler_engine.importing import Choices, Gathered, Import, gather, prepare
from scheduler_engine.scenario.exporting import from_log
from scheduler_engine.scenario.model import RUN
from scheduler_engine.scenario.writing import dump

DONE, REFUSED = 0, 2
SEED, QUEUE_RULES = 42, "v1.34"
"""Of a scenario that says nothing else."""
MOST_NAMES = 10
"""Of what is left out, on standard error."""


def register(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser("import", help="make a scenario of a dump of a cluster")
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="what kubectl get or cluster-info dump wrote, or manifests; - reads standard input",
    )
    parser.add_argument(
        "--output", "-o", metavar="FILE", type=Path, help="the scenario file; left out: standard output"
    )
    parser.add_argument("--title", default="", help="of the scenario; left out: the name of the first file")
    parser.add_argument(
        "--pod", default="", metavar="NAMESPACE/NAME", help="a pending pod that is to be scheduled first"
    )
    parser.add_argument(
        "--without-namespace", action="append", default=[], metavar="NAME", help="leave it out; may be repeated"
    )
    parser.add_argument(
        "--without-kind", action="append", default=[], metavar="KIND", help="leave it out; may be repeated"
    )
    parser.add_argument(
        "--anonymous", action="store_true", help="make up the names of pods, nodes, namespaces and images"
    )
    parser.add_argument("--keep-secrets", action="store_true", help="keep environment, commands and annotations")
    parser.add_argument("--quiet", action="store_true", help="do not tell what is different or left out")
    parser.set_defaults(run=main)


def main(arguments: argparse.Namespace) -> int:
    """0: the scenario is written, 2: a file cannot be read, or nothing can be made of it."""
    choices = Choices(
        namespaces=tuple(arguments.without_namespace),
        kinds=tuple(arguments.without_kind),
        drop_secrets=not arguments.keep_secrets,
        anonymous=arguments.anonymous,
        pod=arguments.pod,
    )
    try:
        found = prepare(_gathered(arguments.files), choices)
        title = arguments.title or (Path(arguments.files[0]).stem if arguments.files[0] != "-" else "A cluster")
        # Whoever runs it wants to see where the pods go that have no node.
        text = dump(replace(from_log(SEED, found.configuration, QUEUE_RULES, found.commands(), title=title), then=RUN))
        if arguments.output is None:
            print(text, end="")
        else:
            arguments.output.write_text(text, encoding="utf-8")
    except OSError as problem:
        print(f"{problem.filename}: {problem.strerror}", file=sys.stderr)
        return REFUSED
    except Rejected as problem:
        print(*problem.errors, sep="\n", file=sys.stderr)
        return REFUSED
    if not arguments.quiet:
        print(*_told(found), sep="\n", file=sys.stderr)
    return DONE


def _gathered(files: list[str]) -> Gathered:
    """What is in all of them. Raises OSError or Rejected, which names the file."""
    everything = Gathered()
    for name in dict.fromkeys(files):
        content = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        try:
            found = gather(content, name)
        except Rejected as problem:
            shown = "<stdin>" if name == "-" else name
            raise Rejected(
                "\n".join(
                    f"{shown}:{error.line}:{error.column}: {error}" if error.line else f"{shown}: {error}"
                    for error in problem.errors
                )
            ) from problem
        if found.scenario:
            raise Rejected(f"{name}: this is a scenario already")
        everything.objects += found.objects
        everything.places += [f"{name} {place}".rstrip() for place in found.places] if len(files) > 1 else found.places
        everything.skipped += found.skipped
        everything.configurations += found.configurations
        everything.secrets += found.secrets
    return everything


def _told(found: Import) -> list[str]:
    summary = found.summary
    lines = [f"{summary.nodes} nodes, {summary.bound} pods on them, {summary.pending} without a node"]
    lines += [notice.text for notice in found.notices]
    for item in found.skipped[:MOST_NAMES]:
        more = f" and {item.count - 1} more" if item.count > 1 else ""
        lines.append(f"left out: {item.kind} {item.name}{more}: {item.reason}")
    if len(found.skipped) > MOST_NAMES:
        lines.append(f"left out: {len(found.skipped) - MOST_NAMES} more")
    return lines
