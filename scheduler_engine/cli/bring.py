"""``import``: create a scenario file from dumps of clusters, manifests, or snapshots of the simulator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from scheduler_engine.cli import OK
from scheduler_engine.cli.files import FILE, MANIFESTS, STDIN, Unusable, all_files, read, shown, to_a_file, write
from scheduler_engine.cli.formats import TEXT, echo_data, in_a_format
from scheduler_engine.cli.version import IMPORT, versioned
from scheduler_engine.config.reading import in_file
from scheduler_engine.errors import Rejected
from scheduler_engine.importing import Choices, Gathered, Import, StandIns, gather, prepare
from scheduler_engine.importing.draft import ORDER
from scheduler_engine.importing.kubelets import newest
from scheduler_engine.scenario.exporting import from_log
from scheduler_engine.scenario.model import RUN
from scheduler_engine.scenario.version import Version
from scheduler_engine.scenario.writing import dump
from scheduler_engine.shapes import did_you_mean

SEED, QUEUE_RULES = 42, "v1.34"
"""The defaults of a scenario."""
MOST_NAMES = 10
"""The most omitted names on standard error."""


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@to_a_file
@click.option("--title", default="", help="The title of the scenario. Default: the name of the first file.")
@click.option("--pod", default="", metavar="NAMESPACE/NAME", help="Schedule this pending pod first.")
@click.option("--without-namespace", multiple=True, metavar="NAME", help="Leave out this namespace. You can repeat it.")
@click.option("--without-kind", multiple=True, metavar="KIND", help="Leave out this kind. You can repeat it.")
@click.option("--anonymous", is_flag=True, help="Replace the names of pods, nodes, namespaces and images.")
@click.option("--quiet", is_flag=True, help="Do not list what is different or left out.")
@in_a_format
@partial(versioned, meaning=IMPORT)
def command(
    files: tuple[str, ...],
    to: Path | None,
    title: str,
    pod: str,
    without_namespace: tuple[str, ...],
    without_kind: tuple[str, ...],
    anonymous: bool,
    quiet: bool,
    output: str,
    version: Version,
) -> int:
    """Create a scenario from the output of kubectl get or cluster-info dump, manifests, or a simulator's snapshot.

    A folder means all YAML and JSON files in it and below. With --output json or yaml, standard output has the report,
    so name the scenario file with --to.

    Exit status 0: the scenario is written; 2: a file cannot be read, or contains nothing to import.
    """
    if output != TEXT and (to is None or quiet):
        raise Unusable("use --output with --to FILE, without --quiet")
    for kind in without_kind:
        if kind not in ORDER:
            raise Unusable(f"--without-kind: an import has no kind {kind!r}{did_you_mean(kind, ORDER)}")
    choices = Choices(
        namespaces=without_namespace,
        kinds=without_kind,
        anonymous=anonymous,
        pod=pod,
        kubernetes=version.name or "",
        feature_gates=version.feature_gates,
    )
    gathered, read_files = _gathered(all_files(files, MANIFESTS))
    imported = prepare(gathered, choices)
    title = title or (Path(files[0]).stem if files[0] != STDIN else "A cluster")
    # Whoever runs it wants to see where the pods without a node go.
    scenario = from_log(
        SEED,
        imported.configuration,
        QUEUE_RULES,
        imported.commands(),
        kubernetes=imported.kubernetes,
        feature_gates=imported.feature_gates,
        title=title,
    )
    write(dump(replace(scenario, then=RUN)), to)
    if output != TEXT:
        echo_data(output, {"file": str(to), "title": title, "read": read_files, **_in_data(imported)})
    elif not quiet:
        for text in _report(imported):
            click.echo(text, err=True)
    return OK


def _gathered(files: Sequence[str]) -> tuple[Gathered, list[dict[str, Any]]]:
    """Return the content of all files, and how many objects each has.

    Raises Unusable or Rejected, which names the file.
    """
    everything, stand_ins, numbers = Gathered(), StandIns(), list[dict[str, Any]]()
    for name in files:
        try:
            gathered = gather(read(name), name, stand_ins=stand_ins)
        except Rejected as problem:
            raise Rejected("\n".join(in_file(shown(name), error) for error in problem.errors)) from problem
        if gathered.scenario:
            raise Rejected(f"{name}: this is already a scenario")
        numbers.append({"file": shown(name), "objects": len(gathered.objects)})
        everything.objects += gathered.objects
        everything.places += (
            [f"{name} {place}".rstrip() for place in gathered.places] if len(files) > 1 else gathered.places
        )
        everything.notes += gathered.notes
        everything.skipped += gathered.skipped
        everything.configurations += gathered.configurations
        everything.secrets += gathered.secrets
        everything.kubelets = newest(everything.kubelets, gathered.kubelets)
    return everything, numbers


def _in_data(imported: Import) -> dict[str, Any]:
    """Return what an import keeps, notices and leaves out, as data for programs."""
    summary = imported.summary
    return {
        "kubernetes": imported.kubernetes,
        "feature_gates": dict(imported.feature_gates or {}),
        "kubelets": imported.kubelets,
        "pods": {"bound": summary.bound, "pending": summary.pending},
        "kinds": summary.kinds,
        "waiting": [asdict(pod) for pod in summary.waiting],
        "notices": [asdict(notice) for notice in imported.notices],
        "left_out": [asdict(item) for item in imported.skipped],
    }


def _report(imported: Import) -> list[str]:
    summary = imported.summary
    pods = f"pods with a node: {summary.bound}, pods without one: {summary.pending}"
    lines = [f"Nodes: {summary.nodes}, {pods}"]
    lines.append(imported.version_in_words())
    lines += [f"{notice.text} {', '.join(notice.examples)}".rstrip() for notice in imported.notices]
    for item in imported.skipped[:MOST_NAMES]:
        more = f" and {item.count - 1} more" if item.count > 1 else ""
        lines.append(f"left out: {item.kind} {item.name}{more}: {item.reason}")
    if len(imported.skipped) > MOST_NAMES:
        lines.append(f"left out: {len(imported.skipped) - MOST_NAMES} more")
    return lines
